//! Keeps the report of each turn.

use crate::{
    model::evidence::TurnReport,
    summarize::evidence::{bounds, collector::Collector, moment::EntryPosition},
    text::{kept_lines, pattern, with_short_code},
};

impl Collector {
    /// Adds `text`, the content of a file that describes the progress, to the report of the turn.
    /// `text` replaces the content of such a file that was added earlier in the same turn. Shortens
    /// the reports of earlier turns, because the latest text usually covers their content.
    pub(super) fn keep_document(&mut self, text: &str, moment: EntryPosition) {
        let earlier = self.evidence.reports.len() - usize::from(self.pending.reporting);
        let reports = self.evidence.reports.iter_mut().take(earlier);
        for earlier in reports.filter(|report| report.text.len() > bounds::EARLIER_REPORT) {
            earlier.text = kept_lines(&earlier.text, bounds::EARLIER_REPORT);
        }
        if !self.pending.reporting {
            self.keep_report("", false, moment);
        }
        let Some(report) = self.evidence.reports.last_mut() else { return };
        let reply = report.text.len().saturating_sub(self.pending.document_bytes);
        let reply = &report.text[..report.text.floor_char_boundary(reply)];
        report.text = with_document(reply.trim_end(), text);
        report.changed = true;
        report.has_document = true;
        self.pending.document_bytes = text.len();
    }

    /// Keeps `text` as the report of the turn, with the document that the turn wrote. `text`
    /// replaces an earlier reply of the same turn.
    pub(super) fn keep_report(&mut self, text: &str, answers: bool, moment: EntryPosition) {
        let text = unfenced(text).unwrap_or(text);
        let mut whole = kept_lines(&with_short_code(text), bounds::TURN_REPORT);
        let mut has_document = false;
        let evidence = &mut self.evidence;
        if self.pending.reporting {
            let before = evidence.reports.pop().map_or(String::new(), |report| report.text);
            let reply = before.len().saturating_sub(self.pending.document_bytes);
            let document = &before[before.floor_char_boundary(reply)..];
            if !document.is_empty() {
                whole = with_document(&whole, document);
                has_document = true;
            }
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
            has_document,
        });
        shorten_earlier(&mut evidence.reports);
    }
}

/// If the reports are too long together, shortens the long ones: first those without a document,
/// and of these the oldest first. The last report stays.
fn shorten_earlier(reports: &mut [TurnReport]) {
    let mut total: usize = reports.iter().map(|report| report.text.len()).sum();
    let Some((_, earlier)) = reports.split_last_mut() else { return };
    let (with_document, without): (Vec<_>, Vec<_>) =
        earlier.iter_mut().partition(|report| report.has_document);
    for report in without.into_iter().chain(with_document) {
        if total <= bounds::REPORT_TEXTS {
            return;
        }
        let length = report.text.len();
        if length > bounds::EARLIER_REPORT {
            report.text = kept_lines(&report.text, bounds::EARLIER_REPORT);
            total -= length - report.text.len();
        }
    }
}

/// Returns a shortened reply, followed by the document that the turn wrote.
fn with_document(reply: &str, document: &str) -> String {
    format!("{}\n\n{document}", kept_lines(reply, bounds::REPLY_BEFORE_DOCUMENT))
}

/// Maximum length, in bytes, of the text around a block of code that is nearly the whole report.
const AROUND: usize = 80;

/// Returns the content of the only fenced block, if the block is nearly the whole report and
/// contains Markdown, such as the text of a pull request.
fn unfenced(text: &str) -> Option<&str> {
    let fence = pattern!(r"(?m)^```[^\n`]*$");
    let mut fences = fence.find_iter(text);
    let (start, end) = (fences.next()?, fences.next()?);
    let inside = text.get(start.end()..end.start())?.trim();
    let around = text.len() - inside.len();
    let is_markdown = match start.as_str().trim_start_matches('`').trim() {
        "markdown" | "md" => true,
        "" => pattern!(r"(?m)^(?:#{1,4} |[-*] )").is_match(inside),
        _ => false,
    };
    let is_prose = inside.lines().filter(|line| line.split_whitespace().count() >= 4).count() >= 3;
    let is_whole = fences.next().is_none() && around <= AROUND;
    (is_whole && is_markdown && is_prose).then(|| inside.strip_prefix("Title: ").unwrap_or(inside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::transcript::{ChangeKind, Outcome},
        summarize::evidence::scenarios::{Script, change},
    };

    #[test]
    fn a_report_has_the_reply_and_the_last_text_of_the_document() {
        let mut script = Script::default();
        script.prompt("Read each row only once");
        script.reply("m", "The lock is missing.");
        for (call, text) in [("a", "# First"), ("b", "# Second")] {
            script.call(call, "Write", change("/app/wip-rows.md", ChangeKind::Written, "", text));
            script.result(call, Outcome::Succeeded, "");
        }
        let report = |script: &Script| script.collect().reports.remove(0).text;
        assert_eq!(report(&script), "The lock is missing.\n\n# Second");
        script.reply("n", "Wrote it down.");
        assert_eq!(report(&script), "Wrote it down.\n\n# Second");
    }

    #[test]
    fn long_earlier_reports_are_shortened_only_if_all_are_too_long_together() {
        let long = |count: usize| {
            let report = "The reader opens the list.\n".repeat(bounds::TURN_REPORT / 28);
            let mut reports = vec![TurnReport { text: report, ..TurnReport::default() }; count];
            shorten_earlier(&mut reports);
            reports.iter().map(|report| report.text.len()).collect::<Vec<_>>()
        };
        let whole = long(1)[0];
        assert!(whole > bounds::EARLIER_REPORT);
        let fits = bounds::REPORT_TEXTS / whole;
        assert_eq!(long(fits), vec![whole; fits]);
        let shortened = long(fits + 2);
        assert!(shortened[0] <= bounds::EARLIER_REPORT);
        assert_eq!(shortened[fits..], [whole, whole]);
        assert!(shortened.iter().sum::<usize>() <= bounds::REPORT_TEXTS);
    }

    #[test]
    fn reports_without_a_document_are_shortened_first() {
        let mut script = Script::default();
        let document = "- Read each row only once\n".repeat(bounds::DOCUMENT / 27);
        script.prompt("Write the plan");
        script.call("a", "Write", change("/app/wip-rows.md", ChangeKind::Written, "", &document));
        script.result("a", Outcome::Succeeded, "");
        script.reply("m", "Wrote it down.");
        let reply = "The reader opens the list.\n".repeat(bounds::TURN_REPORT / 28);
        for turn in 0..bounds::REPORT_TEXTS / reply.len() + 1 {
            script.prompt(&format!("Go on with part {turn}"));
            script.reply(&format!("n{turn}"), &reply);
        }
        let reports = script.collect().reports;
        assert!(reports[0].text.ends_with(document.trim_end()));
        assert!(reports[1].text.len() <= bounds::EARLIER_REPORT);
    }

    #[test]
    fn a_report_may_be_one_block() {
        let prose = "- Sorts the list by its date\n- Reads each row only once\n- Skips the rows without dates";
        let block = |language: &str| format!("Here it is:\n\n```{language}\nTitle: {prose}\n```\n");
        assert_eq!(unfenced(&block("markdown")), Some(prose));
        assert_eq!(unfenced(&block("rust")), None);
        assert_eq!(unfenced(&format!("{prose}\n\n{prose}\n\n{}", block(""))), None);
    }
}
