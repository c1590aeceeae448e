//! Parses one date expression: "yesterday", "3 weeks ago", "21 January 2026", `2026-01-21`.

use std::iter;

use jiff::civil::{Date, Weekday};

use crate::query::dates::{
    DateMatch,
    calendar::{self, DateContext, Days, Unit},
    lexer::Lexeme,
};

/// The word before the expression; some words are dates only after a preposition ("in May").
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PrecedingWord {
    /// No preposition, or a preposition that rarely introduces a date: `at`, `for`.
    None,
    /// A preposition that a month may follow.
    Preposition,
    /// `on`, which a day may follow.
    On,
}

impl PrecedingWord {
    pub(super) fn of(word: &str) -> PrecedingWord {
        match word {
            "on" => PrecedingWord::On,
            "at" | "for" => PrecedingWord::None,
            _ => PrecedingWord::Preposition,
        }
    }
}

/// Parses the expression at the start of `lexemes`.
pub(super) fn read(
    lexemes: &[Lexeme<'_>],
    preceding: PrecedingWord,
    context: DateContext,
) -> Option<DateMatch> {
    let article = usize::from(lexemes.first()?.text == "the");
    let lexemes = lexemes.get(article..)?;
    let text = |at: usize| lexemes.get(at).map(|lexeme| lexeme.text.as_str()).unwrap_or_default();
    let today = context.today;
    let mut read = relative_day(text(0), text(1), text(2), today)
        .or_else(|| relative_unit(lexemes, today))
        .or_else(|| ago(lexemes, context))
        .or_else(|| digits(text(0), today))
        .or_else(|| day_and_month(lexemes, preceding, today))
        .or_else(|| named_day(lexemes, today))
        .or_else(|| month(lexemes.first()?, text(1), preceding, today))
        .or_else(|| single_word(lexemes, article > 0, preceding, today))?;
    read.length += article;
    Some(read)
}

pub(super) fn relative(length: usize, days: Days) -> Option<DateMatch> {
    Some(DateMatch { length, days, is_literal: false, recurrence: None })
}

fn literal(length: usize, days: Days) -> Option<DateMatch> {
    Some(DateMatch { length, days, is_literal: true, recurrence: None })
}

/// Same as [`literal`], for a date that recurs after a `recurrence`, because it has no year.
fn recurring(length: usize, days: Days, recurrence: Unit) -> Option<DateMatch> {
    Some(DateMatch { length, days, is_literal: true, recurrence: Some(recurrence) })
}

fn relative_day(first: &str, second: &str, third: &str, today: Date) -> Option<DateMatch> {
    let back = |days: i64| Days::one(calendar::plus_days(today, -days));
    match (first, second, third) {
        ("day", "before", "yesterday") => relative(3, back(2)),
        ("today" | "tonight", ..) => relative(1, back(0)),
        ("this", "morning" | "afternoon" | "evening", _) => relative(2, back(0)),
        ("yesterday", "morning" | "afternoon" | "evening" | "night", _) => relative(2, back(1)),
        ("yesterday", ..) => relative(1, back(1)),
        ("last", "night" | "evening", _) => relative(2, back(1)),
        ("other", "day", _) => relative(2, Unit::Day.latest(today, 7)),
        _ => None,
    }
}

/// Parses `last week`, `this month`, `past 3 days`, `last Tuesday`, `last March`.
fn relative_unit(lexemes: &[Lexeme<'_>], today: Date) -> Option<DateMatch> {
    let text = |at: usize| lexemes.get(at).map(|lexeme| lexeme.text.as_str()).unwrap_or_default();
    let (which, second) = (text(0), text(1));
    let back = match which {
        "this" | "current" => 0,
        "last" | "past" | "previous" => 1,
        _ => return None,
    };
    if second == "weekend" && back == 1 {
        return relative(2, calendar::last_weekend(today));
    }
    if second == "weekend" {
        let saturday = calendar::last_weekday(calendar::plus_days(today, 1), Weekday::Saturday);
        return relative(2, Days::Span(saturday, calendar::plus_days(saturday, 2)));
    }
    // "last minute" is an adjective.
    if let Some(unit) = Unit::parse(second).filter(|unit| *unit != Unit::Minute) {
        let days = match (unit, which) {
            (Unit::Hour | Unit::Day, "past" | "last") => unit.latest(today, 1),
            (_, "past") => unit.latest(today, 1),
            _ => unit.before(today, back),
        };
        return relative(2, days);
    }
    if back == 1
        && let Some(time) = units(&lexemes[1..])
    {
        // "the last 5 minutes of the log" is a part of the log.
        let is_part = time.unit == Unit::Minute && text(1 + time.length) == "of";
        let days = time.unit.latest(today, time.count);
        return (!is_part).then(|| relative(1 + time.length, days))?;
    }
    if let Some(weekday) = weekday(second) {
        let end = calendar::plus_days(today, 1 - back);
        return relative(2, Days::one(calendar::last_weekday(end, weekday)));
    }
    let month = month_number(second)?;
    let day = if back == 1 && month == today.month() {
        calendar::plus_days(today.first_of_month(), -1)
    } else {
        today
    };
    literal(2, calendar::latest_month(day, month))
}

/// Parses `3 days ago`, `a couple of weeks ago`, `two months back`, `two weeks ago today`.
fn ago(lexemes: &[Lexeme<'_>], context: DateContext) -> Option<DateMatch> {
    let text = |at: usize| lexemes.get(at).map(|lexeme| lexeme.text.as_str()).unwrap_or_default();
    let TimeAmount { count, unit, length } = units(lexemes)?;
    if (text(length), text(length + 1)) == ("ago", "today") {
        let days = if unit == Unit::Week { 7 * count } else { count };
        let day = calendar::plus_days(context.today, -days);
        return matches!(unit, Unit::Day | Unit::Week)
            .then(|| relative(length + 2, Days::one(day)))?;
    }
    matches!(text(length), "ago" | "back" | "earlier")
        .then(|| relative(length + 1, context.ago(unit, count)))?
}

/// A number of units, such as `a couple of weeks`.
struct TimeAmount {
    count: i64,
    unit: Unit,
    /// Number of lexemes.
    length: usize,
}

/// Parses `3 days`, `a couple of weeks`, `few hours`, `half an hour`.
fn units(lexemes: &[Lexeme<'_>]) -> Option<TimeAmount> {
    let text = |at: usize| lexemes.get(at).map(|lexeme| lexeme.text.as_str()).unwrap_or_default();
    let article = usize::from(text(0) == "a" && matches!(text(1), "couple" | "few" | "half"));
    if text(article) == "half" {
        let skip = article + 1 + usize::from(text(article + 1) == "an");
        let half_hour = TimeAmount { count: 30, unit: Unit::Minute, length: skip + 1 };
        return (text(skip) == "hour").then_some(half_hour);
    }
    let count = count(text(article))?;
    let of = usize::from(matches!(text(article), "couple" | "few") && text(article + 1) == "of");
    let at = article + 1 + of;
    Some(TimeAmount { count, unit: Unit::parse(text(at))?, length: at + 1 })
}

/// Parses `Monday 3 November`, `Mon, 2025-11-03`. The weekday is ignored.
fn named_day(lexemes: &[Lexeme<'_>], today: Date) -> Option<DateMatch> {
    weekday(&lexemes.first()?.text)?;
    let rest = lexemes.get(1..)?;
    let read = digits(&rest.first()?.text, today)
        .or_else(|| day_and_month(rest, PrecedingWord::On, today))?;
    Some(DateMatch { length: 1 + read.length, ..read })
}

/// Parses `2026-01-21`, `2026/01/21`, `21.01.2026`, `01/21/2026`, `2026-01`.
fn digits(text: &str, today: Date) -> Option<DateMatch> {
    let date = text.split_once('t').map_or(text, |(date, _)| date);
    let numbers: Option<Vec<i16>> =
        date.split(['-', '/', '.']).map(|number| number.parse().ok()).collect();
    let is_year = |year: i16| (1990..=today.year() + 1).contains(&year);
    let one = |year, month: i16, day: i16| {
        let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
        literal(1, Days::one(date))
    };
    match numbers?[..] {
        [year, month, day] if is_year(year) => one(year, month, day),
        [first, second, year] if is_year(year) => {
            let american = date.contains('/') && first <= 12;
            if american { one(year, first, second) } else { one(year, second, first) }
        }
        [year, month @ 1..=12] if is_year(year) && date.contains(['-', '/']) => {
            literal(1, calendar::whole_month(year, i8::try_from(month).ok()?))
        }
        _ => None,
    }
}

/// Parses `January 21`, `21 January 2026`, `the 21st of January`, `Jan 21st, 2026`.
fn day_and_month(
    lexemes: &[Lexeme<'_>],
    preceding: PrecedingWord,
    today: Date,
) -> Option<DateMatch> {
    let text = |at: usize| lexemes.get(at).map(|lexeme| lexeme.text.as_str()).unwrap_or_default();
    let (month, day, length) = if let Some(month) = month_number(text(0)) {
        (month, day_number(text(1))?, 2)
    } else {
        let of = usize::from(text(1) == "of");
        (month_number(text(1 + of))?, day_number(text(0))?, 2 + of)
    };
    let year = year(text(length), today);
    // In "node 18 may break", "may" is a verb.
    let is_verb = length == 2
        && text(1) == "may"
        && lexemes[1].raw == "may"
        && preceding == PrecedingWord::None
        && year.is_none();
    if is_verb {
        return None;
    }
    let date = day_of_month(day, month, year, today)?;
    match year {
        Some(_) => literal(length + 1, Days::one(date)),
        None => recurring(length, Days::one(date), Unit::Year),
    }
}

/// Returns a date; without a year, the latest date of this day and month up to today.
pub(super) fn day_of_month(day: i8, month: i8, year: Option<i16>, today: Date) -> Option<Date> {
    let at = |year| Date::new(year, month, day).ok();
    match year {
        Some(year) => at(year),
        // Two leap years are at most eight years apart.
        None => (0..=8).filter_map(|ago| at(today.year() - ago)).find(|date| *date <= today),
    }
}

/// Parses a month: `March`, `March 2026`.
fn month(
    first: &Lexeme<'_>,
    second: &str,
    preceding: PrecedingWord,
    today: Date,
) -> Option<DateMatch> {
    let month = month_number(&first.text)?;
    if let Some(year) = year(second, today) {
        return literal(2, calendar::whole_month(year, month));
    }
    let is_name =
        preceding == PrecedingWord::Preposition && (first.text.len() > 3 || first.text == "may");
    let is_abbreviation =
        preceding == PrecedingWord::Preposition && first.raw.starts_with(char::is_uppercase);
    // Without a preposition, "may" and "march" are verbs far more often than months.
    let is_plain = !["may", "march"].contains(&first.text.as_str())
        && first.text.len() > 3
        && first.raw.starts_with(char::is_uppercase);
    (is_name || is_abbreviation || is_plain)
        .then(|| recurring(1, calendar::latest_month(today, month), Unit::Year))?
}

/// Parses a weekday (`Monday`), or a year or day after a preposition (`in 2025`, `on the 21st`).
fn single_word(
    lexemes: &[Lexeme<'_>],
    has_article: bool,
    preceding: PrecedingWord,
    today: Date,
) -> Option<DateMatch> {
    let text = lexemes.first()?.text.as_str();
    if let Some(weekday) = weekday(text)
        && (preceding != PrecedingWord::None || text.len() > 3)
    {
        let day = calendar::last_weekday(today, weekday);
        // Without a preposition, the weekday may be a part of a name: "Sunday scheduler".
        let is_literal = preceding == PrecedingWord::None;
        let recurring = recurring(1, Days::one(day), Unit::Week)?;
        return Some(DateMatch { is_literal, ..recurring });
    }
    if preceding == PrecedingWord::Preposition
        && let Some(year) = year(text, today)
    {
        let is_quantity = lexemes.get(1).is_some_and(|next| QUANTITIES.contains(&&*next.text));
        return (!is_quantity).then(|| literal(1, calendar::whole_year(year)))?;
    }
    if preceding != PrecedingWord::None
        && has_article
        && text.ends_with(|c: char| c.is_ascii_alphabetic())
    {
        let day = day_number(text)?;
        let months = iter::successors(Some(today.first_of_month()), |month| {
            Some(calendar::plus_days(*month, -1).first_of_month())
        });
        // Of three consecutive months, at least one has 31 days.
        let mut days =
            months.take(3).filter_map(|month| Date::new(month.year(), month.month(), day).ok());
        return recurring(1, Days::one(days.find(|date| *date <= today)?), Unit::Month);
    }
    None
}

/// Words that follow a number that is not a year: `batches of 2000 rows`.
const QUANTITIES: &[&str] = &[
    "bytes",
    "calls",
    "characters",
    "chars",
    "entries",
    "events",
    "files",
    "items",
    "iterations",
    "kb",
    "keys",
    "lines",
    "mb",
    "messages",
    "ms",
    "points",
    "px",
    "records",
    "requests",
    "retries",
    "rows",
    "s",
    "samples",
    "sec",
    "seconds",
    "steps",
    "tests",
    "times",
    "tokens",
    "users",
    "words",
];

pub(super) fn count(word: &str) -> Option<i64> {
    const NAMES: [&str; 12] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    match word {
        "a" | "an" => Some(1),
        "couple" => Some(2),
        "few" => Some(3),
        "several" => Some(4),
        _ => match NAMES.iter().position(|name| *name == word) {
            Some(at) => i64::try_from(at + 1).ok(),
            None => count_of_digits(word),
        },
    }
}

pub(super) fn count_of_digits(word: &str) -> Option<i64> {
    word.parse().ok().filter(|count| (1..5_000).contains(count))
}

fn weekday(word: &str) -> Option<Weekday> {
    const NAMES: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let short = ["mon", "tue", "wed", "thu", "fri"];
    let at = NAMES
        .iter()
        .position(|name| *name == word)
        .or_else(|| short.iter().position(|name| *name == word))?;
    Weekday::from_monday_zero_offset(i8::try_from(at).ok()?).ok()
}

fn month_number(word: &str) -> Option<i8> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let is = |name: &&str| *name == word || (word.len() == 3 && name.starts_with(word));
    let at = NAMES.iter().position(is).or((word == "sept").then_some(8))?;
    i8::try_from(at + 1).ok()
}

fn day_number(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_ordinal = matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th");
    digits.parse().ok().filter(|day| is_ordinal && (1..=31).contains(day))
}

pub(super) fn year(word: &str, today: Date) -> Option<i16> {
    if word.len() != 4 {
        return None;
    }
    word.parse().ok().filter(|year| (1990..=today.year() + 1).contains(year))
}
