//! The page of the sessions by the day of their last activity, with one grid for each month.

use std::collections::BTreeMap;

use axum::extract::{Query, State};
use jiff::civil::{Date, date};
use maud::{Markup, html};
use serde::Deserialize;

use super::{PageAnswer, parts::address};
use crate::{
    clock,
    view::{
        dates::day_of,
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

/// For each day, the number of sessions whose last activity was on this day.
type DayCounts = BTreeMap<Date, usize>;

pub(in crate::view) async fn page(
    State(view): State<SharedView>,
    Query(query): Query<YearQuery>,
) -> PageAnswer {
    let entries = view.catalogue.entries(&*view.daemon()?).await?;
    let mut counts = DayCounts::new();
    for entry in entries.iter() {
        *counts.entry(day_of(entry.last_activity)).or_default() += 1;
    }
    let today = day_of(clock::now());
    let year = query.year.unwrap_or(today.year().into()).clamp(1_970, 9_998) as i16;
    let (first, next) = (date(year, 1, 1), date(year + 1, 1, 1));
    let total: usize = counts.range(first..next).map(|(_, count)| count).sum();
    let most = counts.range(first..next).map(|(_, count)| *count).max().unwrap_or(0);
    let has_earlier = counts.range(..first).next().is_some();
    let has_later = counts.range(next..).next().is_some() || year < today.year();
    let link = |year: i16| address("calendar", &[("year", &year.to_string())]);
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

fn month_grid(year: i16, month: i8, counts: &DayCounts, most: usize) -> Markup {
    let first = date(year, month, 1);
    let (before, days) = (first.weekday().to_monday_zero_offset(), first.days_in_month());
    let weeks = (before + days + 6) / 7;
    html! {
        table .month {
            caption { (texts::month(month)) }
            thead { tr { @for name in T.weekdays.split(' ') { th scope="col" { (name) } } } }
            tbody {
                @for week in 0..weeks {
                    tr {
                        @for weekday in 0..7 {
                            @let number = week * 7 + weekday - before + 1;
                            @if (1..=days).contains(&number) {
                                (day_cell(date(year, month, number), counts, most))
                            } @else { td {} }
                        }
                    }
                }
            }
        }
    }
}

fn day_cell(day: Date, counts: &DayCounts, most: usize) -> Markup {
    let number = day.day();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_has_a_row_for_each_week_from_monday() {
        for (year, month, weeks, before) in [(2026, 2, 5, 6), (2027, 2, 4, 0), (2026, 3, 6, 6)] {
            let grid = month_grid(year, month, &DayCounts::new(), 0).into_string();
            assert_eq!(grid.matches("<tr>").count(), 1 + weeks, "{grid}");
            let (head, _) = grid.split_once("<td><span>1</span></td>").unwrap();
            assert_eq!(head.matches("<td></td>").count(), before, "{grid}");
        }
    }
}
