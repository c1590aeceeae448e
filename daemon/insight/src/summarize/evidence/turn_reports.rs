//! Keeps the report of each turn.

use crate::{
    model::evidence::TurnReport,
    summarize::{
        evidence::{bounds, collector::Collector, moment::Moment, notes},
        text::{kept_lines, with_short_code},
    },
};

impl Collector {
    /// Keeps the text of a file that describes the progress as a part of the turn's report.
    pub(super) fn keep_document(&mut self, path: &str, text: &str, moment: Moment) {
        let prompt = self.evidence.prompts.last().map_or("", |prompt| prompt.text.as_str());
        if notes::describes_progress(path, prompt) {
            text.clone_into(&mut self.pending.document);
            self.pending.turn_changed = true;
            self.keep_report("", false, moment);
        }
    }

    /// Keeps `text` as the report of the turn, with the document that the turn wrote. It replaces
    /// an earlier report of the same turn.
    pub(super) fn keep_report(&mut self, text: &str, answers: bool, moment: Moment) {
        let mut whole = kept_lines(&with_short_code(text), bounds::TURN_REPORT);
        if !self.pending.document.is_empty() {
            whole = format!("{whole}\n\n{}", with_short_code(&self.pending.document));
        }
        let evidence = &mut self.evidence;
        if self.pending.reporting {
            evidence.reports.pop();
        } else if evidence.reports.len() >= bounds::REPORTS {
            evidence.reports.remove(bounds::FIRST_REPORTS);
            evidence.reports_left_out = evidence.reports_left_out.saturating_add(1);
        }
        self.pending.reporting = true;
        evidence.reports.push(TurnReport {
            text: whole,
            origin: moment.origin,
            at: moment.at,
            changed: self.pending.turn_changed,
            answers,
        });
    }
}
