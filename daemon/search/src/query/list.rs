//! Recognises a query that has dates or filters but no words to rank by, so that its result is a
//! list of sessions: "what did we do yesterday", `project:api`.

use std::time::Duration;

use crate::{
    model::Timestamp,
    query::{Filter, FilterClause, Query, QueryWord, WordRole, dates::TimeRange},
    text::{everyday, language::LanguageSet, stop},
};

/// If a query is a single word for a time of more than a day (`march`), the word is searched. Other
/// queries that consist only of dates list all sessions of these dates.
const ONE_DAY: Duration = Duration::from_secs(24 * 3_600);
/// Minimum number of words by which a language other than English is recognised, if the date in the
/// query is in digits and does not show the language.
const MIN_FOREIGN_WORDS: usize = 2;

impl Query {
    /// Turns a query without meaningful words into a list of all sessions that match its dates and
    /// filters. Without filters, a single word for a time of more than a day (`march`) remains a
    /// word.
    pub(super) fn convert_to_list(&mut self) {
        let has_date = !self.dates.is_empty();
        let is_long = self.dates.iter().any(|range| range.length() > ONE_DAY);
        let is_a_word =
            |words: &[QueryWord]| words.len() == 1 && is_long && words[0].role == WordRole::InDate;
        if !self.phrases.is_empty()
            || !self.has_no_subject()
            || self.conditions.is_empty() && (!has_date || is_a_word(&self.words))
        {
            return;
        }
        self.words.clear();
        self.add_filters_of_dates();
    }

    /// Turns the dates of the query into filters: the time from the first to the last date, without
    /// the gaps between dates.
    fn add_filters_of_dates(&mut self) {
        self.dates.sort_by_key(|range| range.from);
        let mut dates = self.dates.drain(..);
        let Some(TimeRange { from, mut to }) = dates.next() else { return };
        for next in dates {
            if to < next.from {
                let gap = Filter::During(TimeRange { from: to, to: next.from });
                self.conditions.push(FilterClause { filter: gap, is_negated: true });
            }
            to = to.max(next.to);
        }
        let filter = Filter::During(TimeRange { from, to });
        self.conditions.push(FilterClause { filter, is_negated: false });
    }

    /// Whether no words are left to rank by, so that the result is a list, newest first.
    pub fn is_list(&self) -> bool {
        self.words.is_empty() && self.phrases.is_empty()
    }

    /// If the query consists only of a time, and this time has a start and an end, returns the
    /// time. The gaps between two dates are ignored.
    pub fn only_time(&self) -> Option<TimeRange> {
        let is_gap = |clause: &&FilterClause| {
            clause.is_negated && matches!(clause.filter, Filter::During(_))
        };
        let mut others = self.conditions.iter().filter(|clause| !is_gap(clause));
        let Some(FilterClause { filter: Filter::During(time), .. }) = others.next() else {
            return None;
        };
        if others.next().is_some() {
            return None;
        }
        let is_bounded = time.from != Timestamp::MIN && time.to != Timestamp::MAX;
        (self.is_list() && self.excluded.is_empty() && is_bounded).then_some(*time)
    }

    /// Whether no word describes a subject, in English or in one of the languages in which the date
    /// may be written.
    fn has_no_subject(&self) -> bool {
        let has_date = !self.dates.is_empty();
        let is_meaningless = |word: &QueryWord| {
            matches!(word.role, WordRole::Stop | WordRole::InDate)
                || has_date && (word.role == WordRole::Faint || stop::is_of_every_day(&word.text))
        };
        let (mut languages, mut count) = (self.date_languages, 0);
        for word in self.words.iter().filter(|word| !is_meaningless(word)) {
            languages = languages.intersection(everyday::languages_with(&word.text));
            count += 1;
            if !has_date || languages.is_empty() {
                return false;
            }
        }
        count == 0 || count >= MIN_FOREIGN_WORDS || self.date_languages != LanguageSet::all()
    }
}
