//! Dates as people write them, relative to a moment that is given.
//!
//! [`mentions`] finds them inside a question ("what did we decide last week", "since 3 March");
//! [`value`] reads a text that is meant as one (`date:2026-01`, `after:"last monday"`). What is not
//! understood is no date: never an error.

mod calendar;
mod lexer;
mod point;

use std::{ops::Range, time::Duration};

use jiff::Zoned;

use self::{calendar::Days, lexer::Lexeme, point::Lead};
use crate::model::Timestamp;

/// A stretch of time: from its start, up to but without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    pub from: Timestamp,
    /// Where it is over.
    pub to: Timestamp,
}

impl TimeRange {
    /// Whether `at` lies in it.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }

    /// Whether anything from `first` to `last`, both included, lies in it.
    pub fn overlaps(&self, first: Timestamp, last: Timestamp) -> bool {
        self.from <= last && first < self.to
    }
}

/// A date named in a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mention {
    /// The bytes that name it.
    pub(crate) span: Range<usize>,
    pub(crate) range: TimeRange,
    /// Whether the words may also stand in what was written then: `March` may, `last week` not.
    pub(crate) is_literal: bool,
}

/// The dates named in `text`, in order, as seen from `now` and its time zone.
pub(crate) fn mentions(text: &str, now: &Zoned) -> Vec<Mention> {
    let lexemes = lexer::lexemes(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < lexemes.len() {
        match mention(&lexemes[at..], now) {
            Some(read) => {
                found.push(Mention {
                    span: lexemes[at].span.start..lexemes[at + read.length - 1].span.end,
                    range: read.days.range(now),
                    is_literal: read.is_literal,
                });
                at += read.length;
            }
            None => at += 1,
        }
    }
    found
}

/// A longer text is no date.
const LONGEST: usize = 200;

/// The stretch of time that the whole of `text` names, as the value of a filter.
pub fn value(text: &str, now: &Zoned) -> Option<TimeRange> {
    if let Some((from, to)) = text.split_once("..") {
        let (from, to) = (moment(from, now), moment(to, now));
        return match (from, to) {
            (Some(from), Some(to)) => Some(TimeRange { from: from.from, to: to.to }),
            (Some(from), None) => Some(TimeRange { from: from.from, to: Timestamp::MAX }),
            (None, Some(to)) => Some(TimeRange { from: Timestamp::MIN, to: to.to }),
            (None, None) => None,
        };
    }
    moment(text, now)
}

/// The same, without an end of its own.
fn moment(text: &str, now: &Zoned) -> Option<TimeRange> {
    if text.len() > LONGEST {
        return None;
    }
    if let Some(from) = Timestamp::parse(text.trim()) {
        return Some(TimeRange { from, to: from.plus(Duration::from_secs(1)) });
    }
    if let Some(days) = calendar::short_span(text, now) {
        return Some(days.range(now));
    }
    let spaced = lexer::spaced(text);
    let lexemes = lexer::lexemes(&spaced);
    let read = point::read(&lexemes, Lead::Preposition, now)
        .filter(|read| read.length == lexemes.len())
        .or_else(|| mention(&lexemes, now).filter(|read| read.length == lexemes.len()))?;
    Some(read.days.range(now))
}

/// A date expression at the start of some lexemes.
struct DateMatch {
    /// Lexemes that it takes up, at least one.
    length: usize,
    days: Days,
    is_literal: bool,
}

/// A date with the word that leads to it, if any.
fn mention(lexemes: &[Lexeme<'_>], now: &Zoned) -> Option<DateMatch> {
    let lead = lexemes.first()?.text.as_str();
    let after = |skip: usize, lead: Lead| {
        let mut read = point::read(lexemes.get(skip..)?, lead, now)?;
        read.length += skip;
        Some(read)
    };
    match lead {
        "between" | "from" => {
            let first = after(1, Lead::Preposition)?;
            match through(&lexemes[first.length..], now) {
                Some((length, last)) => Some(DateMatch {
                    length: first.length + length,
                    days: first.days.until_end_of(last),
                    ..first
                }),
                None => Some(first),
            }
        }
        "since" | "after" => {
            after(1, Lead::Preposition).map(|read| DateMatch { days: read.days.onwards(), ..read })
        }
        "before" => {
            after(1, Lead::Preposition).map(|read| DateMatch { days: read.days.earlier(), ..read })
        }
        "until" | "till" => {
            after(1, Lead::Preposition).map(|read| DateMatch { days: read.days.so_far(), ..read })
        }
        "early" | "late" | "mid" | "around" | "about" | "earlier" | "later" => {
            after(1, Lead::Preposition)
        }
        "in" | "on" | "during" | "of" | "by" | "for" | "at" => {
            let vague = lexemes.get(1).is_some_and(|lexeme| VAGUE.contains(&lexeme.text.as_str()));
            after(1 + usize::from(vague), Lead::of(lead))
        }
        _ => after(0, Lead::None),
    }
}

const VAGUE: &[&str] = &["early", "late", "mid", "about", "around"];

/// `and`, `to` or `until` with the date after it.
fn through(lexemes: &[Lexeme<'_>], now: &Zoned) -> Option<(usize, Days)> {
    let joins = ["and", "to", "until", "till", "through"];
    lexemes.first().filter(|lexeme| joins.contains(&lexeme.text.as_str()))?;
    let read = point::read(&lexemes[1..], Lead::Preposition, now)?;
    Some((1 + read.length, read.days))
}

#[cfg(test)]
mod tests;
