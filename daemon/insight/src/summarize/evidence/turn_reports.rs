//! Keeps the report of each turn.

use crate::{
    model::evidence::TurnReport,
    summarize::{
        evidence::{bounds, collector::Collector, moment::Moment, notes},
        text::{kept_lines, pattern, with_short_code},
    },
};

impl Collector {
    /// Keeps the text of a file that describes the progress as a part of the turn's report.
    pub(super) fn keep_document(&mut self, path: &str, text: &str, moment: Moment) {
        let prompt = self.evidence.prompts.last().map_or("", |prompt| prompt.text.as_str());
        if notes::describes_progress(path, prompt) {
            text.clone_into(&mut self.pending.document);
            self.pending.turn_changed = true;
            match self.evidence.reports.last_mut().filter(|_| self.pending.reporting) {
                Some(report) => {
                    report.text = format!("{}\n\n{}", report.text, text);
                    report.changed = true;
                }
                None => self.keep_report("", false, moment),
            }
        }
    }

    /// Keeps `text` as the report of the turn, with the document that the turn wrote. It replaces
    /// an earlier report of the same turn.
    pub(super) fn keep_report(&mut self, text: &str, answers: bool, moment: Moment) {
        let text = unfenced(text).unwrap_or(text);
        let mut whole = kept_lines(&with_short_code(text), bounds::TURN_REPORT);
        if !self.pending.document.is_empty() {
            whole = format!("{whole}\n\n{}", self.pending.document);
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

/// Maximum length, in bytes, of the text around a block of code that is the whole report.
const AROUND: usize = 80;

/// Returns the content of the only fenced block, if that is the whole report and Markdown, such as
/// the text of a pull request.
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

    #[test]
    fn a_report_may_be_one_block() {
        let prose = "- Sorts the list by its date\n- Reads each row only once\n- Skips the rows without dates";
        let block = |language: &str| format!("Here it is:\n\n```{language}\nTitle: {prose}\n```\n");
        assert_eq!(unfenced(&block("markdown")), Some(prose));
        assert_eq!(unfenced(&block("rust")), None);
        assert_eq!(unfenced(&format!("{prose}\n\n{prose}\n\n{}", block(""))), None);
    }
}
