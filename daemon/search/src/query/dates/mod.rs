//! Parses dates as people write them, relative to a given time.
//!
//! [`mentions`] finds dates inside a query ("what did we decide last week", "since 3 March").
//! [`value`] parses the value of a filter (`date:2026-01`, `after:"last monday"`). Text that cannot
//! be parsed is not a date and never an error. "2 weeks ago" is exactly one day as a value, because
//! values also select the sessions to delete. Inside a query, it has some tolerance. A value may
//! also be a span up to now: `30min`, `24h`, `7d`, `2w`, `3mo`, `1y`.
//!
//! [`point`] parses dates in English, [`parts`] parses parts of months, and [`foreign`] parses
//! dates in the languages of [`languages`]. [`names`] recognises identifiers with words of dates.

mod calendar;
mod foreign;
mod languages;
mod lexer;
mod names;
mod parts;
mod point;
mod unspaced;

use std::{ops::Range, time::Duration};

use jiff::Zoned;

use self::{
    calendar::{DateContext, Days, Unit},
    lexer::Lexeme,
    point::PrecedingWord,
};
use crate::{
    model::Timestamp,
    text::{self, language::LanguageSet},
};

/// A period from its start (inclusive) to its end (exclusive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl TimeRange {
    /// Returns the start; `None` if the start is open, as in "until yesterday".
    pub fn start(&self) -> Option<Timestamp> {
        (self.from != Timestamp::MIN).then_some(self.from)
    }

    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }

    /// Returns the length, which is many years if the start or the end is open.
    pub(crate) fn length(&self) -> Duration {
        let micros = self.to.micros().saturating_sub(self.from.micros());
        Duration::from_micros(micros.unsigned_abs())
    }

    /// Whether the period overlaps the time from `first` to `last`, both inclusive.
    pub fn overlaps(&self, first: Timestamp, last: Timestamp) -> bool {
        self.from <= last && first < self.to
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mention {
    pub(crate) span: Range<usize>,
    pub(crate) range: TimeRange,
    /// Whether sessions of that time may contain the words of the date. True for `March`, false for
    /// `last week`.
    pub(crate) is_literal: bool,
    /// The languages other than English that have this expression.
    pub(crate) languages: LanguageSet,
}

/// Returns the dates in `text`, in order, relative to `now` in its time zone.
pub(crate) fn mentions(text: &str, now: &Zoned) -> Vec<Mention> {
    let context = DateContext { today: now.date(), is_exact: false };
    let lexemes = lexer::lexemes(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < lexemes.len() {
        let here = &lexemes[at..];
        let english = mention(here, context).map(|read| (languages_of(&read), read));
        let read = english.or_else(|| {
            let foreign = foreign::read(here, Some(&lexemes), context)?;
            Some((foreign.languages, foreign.read))
        });
        let is_date = |read: &DateMatch| {
            let weekday = here.first().filter(|_| read.is_weekday() && read.length == 1);
            let before = at.checked_sub(1).map(|before| &lexemes[before]);
            let is_no_date =
                before.zip(weekday).is_some_and(|(one, day)| names::is_no_date(text, one, day));
            let end_before = before.map(|before| before.span.end);
            let follows_date =
                found.last().is_some_and(|date: &Mention| Some(date.span.end) == end_before);
            let range = at..at + read.length;
            !is_no_date && !names::is_in_name(text, &lexemes, range, follows_date, context)
        };
        let Some((languages, read)) = read.filter(|(_, read)| is_date(read)) else {
            unspaced_mentions(&here[0], context, now, &mut found);
            at += 1;
            continue;
        };
        found.push(Mention {
            span: here[0].span.start..here[read.length - 1].span.end,
            range: read.days.range(now),
            is_literal: read.is_literal,
            languages,
        });
        at += read.length;
    }
    found
}

/// Returns the languages other than English to which a date that was read as English may also
/// belong. A date in digits, or with the name of a month, may belong to all languages.
fn languages_of(read: &DateMatch) -> LanguageSet {
    if read.is_literal && !read.is_weekday() { LanguageSet::all() } else { LanguageSet::default() }
}

/// Adds the dates in a lexeme of a script without spaces, which may be a whole sentence.
fn unspaced_mentions(
    lexeme: &Lexeme<'_>,
    context: DateContext,
    now: &Zoned,
    found: &mut Vec<Mention>,
) {
    if lexeme.raw.is_ascii() || !lexeme.raw.contains(text::is_unspaced) {
        return;
    }
    let start = lexeme.span.start;
    found.extend(unspaced::dates(lexeme.raw, context).into_iter().map(|date| Mention {
        span: start + date.span.start..start + date.span.end,
        range: date.days.range(now),
        is_literal: date.is_literal,
        languages: LanguageSet::default(),
    }));
}

/// Maximum length, in bytes, of a date; a longer text is not a date.
const LONGEST: usize = 200;

/// Parses the whole of `text` as a period, for the value of a filter.
pub fn value(text: &str, now: &Zoned) -> Option<TimeRange> {
    let Some((from, to)) = text.split_once("..") else { return moment(text, now) };
    let (is_open, is_endless) = (from.trim().is_empty(), to.trim().is_empty());
    match (moment(from, now), moment(to, now)) {
        (Some(from), Some(to)) if from.from < to.to => {
            Some(TimeRange { from: from.from, to: to.to })
        }
        (Some(from), None) if is_endless => Some(TimeRange { from: from.from, to: Timestamp::MAX }),
        (None, Some(to)) if is_open => Some(TimeRange { from: Timestamp::MIN, to: to.to }),
        _ => None,
    }
}

/// Parses the whole of `text` as one period, without `..`.
fn moment(text: &str, now: &Zoned) -> Option<TimeRange> {
    if text.len() > LONGEST {
        return None;
    }
    if let Some(from) = Timestamp::parse(text.trim()) {
        return Some(TimeRange { from, to: from.plus(Duration::from_secs(1)) });
    }
    let context = DateContext { today: now.date(), is_exact: true };
    if let Some(days) = calendar::short_span(text, context.today) {
        return Some(days.range(now));
    }
    let spaced = lexer::spaced(text);
    let lexemes = lexer::lexemes(&spaced);
    let is_whole = |read: &DateMatch| read.length == lexemes.len();
    let read = point::read(&lexemes, PrecedingWord::Preposition, context)
        .filter(is_whole)
        .or_else(|| mention(&lexemes, context).filter(is_whole))
        .or_else(|| Some(foreign::read(&lexemes, None, context)?.read).filter(is_whole));
    let days = read.map(|read| read.days).or_else(|| {
        let date = unspaced::dates(&spaced, context).pop()?;
        (date.span == (0..spaced.len())).then_some(date.days)
    });
    Some(days?.range(now))
}

/// A date expression at the start of a list of lexemes.
struct DateMatch {
    /// Number of lexemes, at least one.
    length: usize,
    days: Days,
    is_literal: bool,
    /// The unit after which the date recurs, if it has no year: a week for `Monday`, a year for
    /// `March`.
    recurrence: Option<Unit>,
}

impl DateMatch {
    /// Whether the date is a weekday of no certain week.
    fn is_weekday(&self) -> bool {
        self.recurrence == Some(Unit::Week)
    }
}

/// Parses a date, and the word before it that introduces the date, if any.
fn mention(lexemes: &[Lexeme<'_>], context: DateContext) -> Option<DateMatch> {
    let preceding = lexemes.first()?.text.as_str();
    let after = |skip: usize, preceding: PrecedingWord| {
        let mut read = point::read(lexemes.get(skip..)?, preceding, context)?;
        read.length += skip;
        Some(read)
    };
    if let Some(read) = parts::read(lexemes, context) {
        return Some(read);
    }
    if matches!(preceding, "in" | "on" | "during" | "at" | "around")
        && let Some(read) = parts::read(lexemes.get(1..)?, context)
    {
        return Some(DateMatch { length: 1 + read.length, ..read });
    }
    match preceding {
        "between" | "from" => {
            let first = after(1, PrecedingWord::Preposition)?;
            match through(&lexemes[first.length..], context) {
                Some((length, last)) => Some(DateMatch {
                    length: first.length + length,
                    days: first.days.until_end_of(last, first.recurrence),
                    ..first
                }),
                None => Some(first),
            }
        }
        "since" | "after" => after(1, PrecedingWord::Preposition)
            .map(|read| DateMatch { days: read.days.onwards(), ..read }),
        "before" => after(1, PrecedingWord::Preposition)
            .map(|read| DateMatch { days: read.days.earlier(), ..read }),
        "until" | "till" => after(1, PrecedingWord::Preposition)
            .map(|read| DateMatch { days: read.days.so_far(), ..read }),
        "around" | "about" | "earlier" | "later" => after(1, PrecedingWord::Preposition),
        "in" | "on" | "during" | "of" | "by" | "for" | "at" => {
            let vague =
                lexemes.get(1).is_some_and(|lexeme| matches!(&*lexeme.text, "about" | "around"));
            after(1 + usize::from(vague), PrecedingWord::of(preceding))
        }
        _ => after(0, PrecedingWord::None),
    }
}

/// Parses a word such as `and` or `until`, and the date after it.
fn through(lexemes: &[Lexeme<'_>], context: DateContext) -> Option<(usize, Days)> {
    let joins = ["and", "to", "until", "till", "through"];
    lexemes.first().filter(|lexeme| joins.contains(&lexeme.text.as_str()))?;
    let read = point::read(&lexemes[1..], PrecedingWord::Preposition, context)?;
    let days = match read.days {
        // "from Monday to Wednesday", asked on a Wednesday, ends today.
        Days::Span(from, to)
            if read.is_weekday() && calendar::plus_days(to, 6) == context.today =>
        {
            Days::Span(from, calendar::plus_days(context.today, 1))
        }
        days => days,
    };
    Some((1 + read.length, days))
}

#[cfg(test)]
mod tests;
