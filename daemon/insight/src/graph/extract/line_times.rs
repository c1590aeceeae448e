//! Determines when a line of a transcript was written.

use std::collections::BTreeMap;

use crate::model::{Episode, Evidence, Timestamp, transcript::Origin};

/// The times of lines, as far as the evidence contains them.
pub(super) struct LineTimes {
    known: BTreeMap<Origin, Timestamp>,
    started_at: Timestamp,
    ended_at: Timestamp,
}

impl LineTimes {
    pub(super) fn new(episode: &Episode, evidence: &Evidence) -> LineTimes {
        let prompts = evidence.prompts.iter().chain(&evidence.last_reply);
        let dated = (prompts.map(|quote| (quote.origin, quote.at)))
            .chain(evidence.commands.iter().map(|run| (run.origin, run.at)))
            .chain(evidence.tests.iter().map(|run| (run.origin, run.at)))
            .chain(evidence.errors.iter().map(|error| (error.origin, error.at)))
            .chain(evidence.choices.iter().map(|choice| (choice.origin, choice.at)))
            .chain(evidence.commits.iter().map(|commit| (commit.origin, commit.at)))
            .chain(evidence.settings.iter().map(|change| (change.origin, change.at)))
            .chain(evidence.recaps.iter().map(|recap| (recap.origin, recap.at)))
            .chain(evidence.reports.iter().map(|report| (report.origin, report.at)));
        LineTimes {
            known: dated.filter_map(|(origin, at)| Some((origin, at?))).collect(),
            started_at: episode.started_at,
            ended_at: episode.ended_at,
        }
    }

    /// Returns the last known time up to `origin` in its file, or the start of the session if no
    /// time is known. Each line after the known time adds one microsecond, so that later lines have
    /// later times.
    pub(super) fn at(&self, origin: Origin) -> Timestamp {
        let first = Origin { source: origin.source, line: 0 };
        let before = self.known.range(first..=origin).next_back();
        let (line, at) = before.map_or((0, self.started_at), |(known, at)| (known.line, *at));
        let later = i64::try_from(origin.line - line).unwrap_or(i64::MAX);
        Timestamp::from_micros(at.micros().saturating_add(later))
    }

    /// Returns the time of the earliest of `origins`, or the end of the session if there are no
    /// origins.
    pub(super) fn of(&self, origins: &[Origin]) -> Timestamp {
        origins.iter().min().map_or(self.ended_at, |origin| self.at(*origin))
    }
}
