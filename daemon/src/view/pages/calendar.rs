//! The page of the activity by day, with one grid for each month.

use std::collections::BTreeMap;

use axum::extract::{Query, State};
use maud::{Markup, html};
use serde::Deserialize;

use super::{PageAnswer, parts::address};
use crate::{
    clock,
    view::{
        dates::Day,
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct YearQuery {
    year: Option<i64>,
}

/// The number of sessions of each day.
type DayCounts = BTreeMap<Day, usize>;

pub(in crate::view) async fn page(
    State(view): State<SharedView>,
    Query(query): Query<YearQuery>,
) -> PageAnswer {
    let entries = view.catalogue.entries(&*view.daemon()?).await?;
    let mut counts = DayCounts::new();
    for entry in entries.iter() {
        *counts.entry(Day::of(entry.last_activity)).or_default() += 1;
    }
    let today = Day::of(clock::now());
    let year = query.year.unwrap_or(today.civil().year).clamp(1_970, 9_998);
    let (first, next) = (Day::from_civil(year, 1, 1), Day::from_civil(year + 1, 1, 1));
    let total: usize = counts.range(first..next).map(|(_, count)| count).sum();
    let most = counts.range(first..next).map(|(_, count)| *count).max().unwrap_or(0);
    let has_earlier = counts.range(..first).next().is_some();
    let has_later = counts.range(next..).next().is_some() || year < today.civil().year;
    let link = |year: i64| address("calendar", &[("year", &year.to_string())]);
    let body = html! {
        h1 { (T.calendar) " " (year) " " span .count { (texts::sessions(total)) } }
        nav .pager aria-label=(T.years) {
            @if has_earlier { a rel="prev" href=(link(year - 1)) { "← " (year - 1) } }
            @if has_later { a rel="next" href=(link(year + 1)) { (year + 1) " →" } }
        }
        div .months #months data-live="" { @for month in 1..=12 { (month_grid(year, month, &counts, most)) } }
    };
    Ok(ViewPage::new(T.calendar, NavItem::Calendar, body))
}

fn month_grid(year: i64, month: i64, counts: &DayCounts, most: usize) -> Markup {
    let first = Day::from_civil(year, month, 1);
    let next = if month == 12 {
        Day::from_civil(year + 1, 1, 1)
    } else {
        Day::from_civil(year, month + 1, 1)
    };
    let monday = first.0 - first.weekday();
    let weeks = (next.0 - monday + 6) / 7;
    html! {
        table .month {
            caption { (texts::month(month)) }
            thead { tr { @for name in T.weekdays.split(' ') { th scope="col" { (name) } } } }
            tbody {
                @for week in 0..weeks {
                    tr {
                        @for weekday in 0..7 {
                            (day_cell(Day(monday + week * 7 + weekday), first..next, counts, most))
                        }
                    }
                }
            }
        }
    }
}

fn day_cell(day: Day, month: std::ops::Range<Day>, counts: &DayCounts, most: usize) -> Markup {
    if !month.contains(&day) {
        return html! { td {} };
    }
    let number = day.civil().day;
    let count = counts.get(&day).copied().unwrap_or(0);
    // There are four shades; the busiest day of the year has the darkest.
    let shade = (count * 4).div_ceil(most.max(1));
    html! {
        td {
            @if count == 0 { span { (number) } }
            @else {
                a .{ "heat-" (shade) } href=(address("sessions", &[("day", &day.to_string())])) title=(texts::sessions(count)) {
                    (number) span .hidden { ", " (texts::sessions(count)) }
                }
            }
        }
    }
}
