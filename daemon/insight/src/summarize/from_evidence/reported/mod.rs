//! Selects text from the reports of all turns: results from turns that changed something, and
//! findings from the others. The last report gets the most space. Text that a later report repeats,
//! or that the user rejected, is left out.

pub(super) mod answers;
pub(super) mod fate;
pub(super) mod fixed_later;
pub(super) mod introductions;
pub(super) mod items;
mod known;
pub(super) mod overtaken;
#[cfg(test)]
pub(crate) mod overtaken_scenarios;
mod published;
pub(super) mod quotable;
pub(super) mod quote_collector;
pub(super) mod quoted;
pub(super) mod quoted_report;
#[cfg(test)]
pub(crate) mod quoting_scenarios;
pub(super) mod redescribed;
pub(super) mod restored;
pub(super) mod review;
#[cfg(test)]
pub(crate) mod series_scenarios;
pub(super) mod transient;
pub(super) mod verdicts;
pub(super) mod withdrawn;

use crate::{
    report::{Report, Topic, is_phrase},
    summarize::from_evidence::{
        entries::Entries,
        reported::{
            fate::{Fate, fate},
            known::KnownTexts,
            quotable::{depends_on_previous, is_balanced, is_list_of_addresses},
            quoted::QuotedPassage,
            quoted_report::QuotedReport,
        },
    },
    text::{capitalised, pattern, sentences},
};

/// Minimum number of words of a sentence that is quoted without the `yes` or `no` before it.
const CLEAR_WORDS: usize = 6;
/// Maximum length, in bytes, of all results together.
const RESULTS: usize = 2_800;
/// Maximum length, in bytes, of all findings together.
const FINDINGS: usize = 2_400;
/// Maximum total length, in bytes, of the beginnings of the reports that no longer fit into
/// [`RESULTS`] or [`FINDINGS`].
const BEGINNINGS: usize = 2_000;
/// Minimum and maximum length, in bytes, of the beginning of one such report.
const BEGINNING: std::ops::RangeInclusive<usize> = 160..=300;
/// If the quoted text of the last report has fewer bytes, for example `Committed.`, the report
/// before it gets the limit of a last report, too.
const SUBSTANCE: usize = 200;

/// The passages that can be quoted from the reports of a session. Results and findings are selected
/// from the same passages.
pub(super) struct ReportQuotes<'e> {
    entries: &'e Entries<'e>,
    /// The texts that other sections of the summary contain.
    known: KnownTexts,
    /// The reports in order, without those that later turns made obsolete, and without those that
    /// only name the source of an earlier answer.
    reports: Vec<QuotedReport<'e>>,
}

impl<'e> ReportQuotes<'e> {
    pub(super) fn of(entries: &'e Entries<'e>) -> ReportQuotes<'e> {
        let reports = entries.reports.reports.iter().enumerate();
        let reports = reports.filter_map(|(earlier, report)| {
            let fate = fate(entries, report);
            (fate != Fate::Discarded && !answers::names_sources(entries, report))
                .then(|| QuotedReport::of(entries, report, earlier, fate))
        });
        ReportQuotes { entries, known: KnownTexts::of(entries), reports: reports.collect() }
    }

    /// Returns the results that the reports of turns with changes describe.
    pub(super) fn results(&self) -> Vec<String> {
        self.selected(RESULTS, |report, quoted| {
            report.changed && !is_finding(quoted) && !is_under_way(quoted)
        })
    }

    /// Returns the findings: the text of the other reports, and text under headings such as
    /// `Root cause`.
    pub(super) fn findings(&self) -> Vec<String> {
        self.selected(FINDINGS, |report, quoted| !report.changed || is_finding(quoted))
    }

    /// Returns the lines of the wanted passages in order. The latest reports are chosen first. When
    /// they have used up `budget`, only the beginning of each earlier report is quoted, because
    /// each report answers another request.
    fn selected(
        &self,
        budget: usize,
        is_wanted: fn(&Report, &QuotedPassage) -> bool,
    ) -> Vec<String> {
        let mut known = self.known.clone();
        let mut chosen: Vec<Vec<String>> = Vec::new();
        let (mut left, mut beginnings) = (budget, BEGINNINGS);
        let mut is_last = true;
        for report in self.reports.iter().rev() {
            let share =
                (beginnings / (report.earlier + 1)).clamp(*BEGINNING.start(), *BEGINNING.end());
            let is_beginning = left < share;
            let limit = match is_beginning {
                true => share.min(beginnings),
                false => report.limit(is_last).min(left),
            };
            let mut lines =
                LineCollector { limit, is_beginning, taken: 0, known, lines: Vec::new() };
            lines.add(self.entries, report, is_wanted);
            let spent = if is_beginning { &mut beginnings } else { &mut left };
            *spent = spent.saturating_sub(lines.taken);
            is_last &= lines.taken < SUBSTANCE;
            chosen.push(lines.lines);
            known = lines.known;
        }
        chosen.into_iter().rev().flatten().collect()
    }
}

fn is_finding(quoted: &QuotedPassage) -> bool {
    matches!(quoted.topic, Some(Topic::Finding | Topic::Cause))
}

/// Whether a passage describes work that went on when the agent reported it.
fn is_under_way(quoted: &QuotedPassage) -> bool {
    let goes_on =
        pattern!(r"(?i)\b(?:status|state):? `?in[ _-]progress\b|(?-i:, `?IN_PROGRESS`?\.?$)");
    quoted.parts.iter().any(|part| goes_on.is_match(part))
}

/// Collects the lines that are quoted from one report.
struct LineCollector {
    /// Maximum length, in bytes, of all lines.
    limit: usize,
    /// Whether only the beginning of each passage is quoted.
    is_beginning: bool,
    /// The length, in bytes, of `lines`.
    taken: usize,
    /// The texts that are already in the summary.
    known: KnownTexts,
    lines: Vec<String>,
}

impl LineCollector {
    /// Adds the wanted passages of a report that fit and repeat nothing.
    fn add(
        &mut self,
        entries: &Entries<'_>,
        report: &QuotedReport<'_>,
        is_wanted: fn(&Report, &QuotedPassage) -> bool,
    ) {
        for passage in report.wanted(entries, &self.known, is_wanted) {
            let free = self.limit.saturating_sub(self.taken);
            let line = if self.is_beginning { passage.beginning(free) } else { passage.line(free) };
            let Some(line) = line.map(without_verdict) else { continue };
            let longest =
                if self.taken > 0 { self.limit } else { self.limit.max(*BEGINNING.end()) };
            if self.taken + line.len() > longest {
                break;
            }
            if !is_clear_alone(&line)
                || self.known.repeats(&line)
                || report.describes_changes(&passage) && self.known.is_in_commit(&line)
            {
                continue;
            }
            self.taken += line.len();
            self.known.add(&line);
            self.lines.push(line);
        }
    }
}

/// Returns a line without the `yes` or `no` at its start, and without a `you are right` after it,
/// if the line has no question and the next sentence can be understood alone. Other verdicts, such
/// as `mostly`, stay, because they limit the statement.
fn without_verdict(line: String) -> String {
    let verdict = pattern!(
        r"(?i)^(?:yes|yep|no|nope|correct|exactly)(?:[,.:]| [—–-]) (?:you(?:['\u{2019}]re| are) [^.`]{0,40}\b(?:right|correct(?:ly)?)\b[^.`]{0,40}\. )?"
    );
    let Some(verdict) = verdict.find(&line) else { return line };
    let rest = &line[verdict.end()..];
    let first = sentences(rest).first().copied().unwrap_or_default();
    let prose: String = first.split('`').step_by(2).collect();
    let has_subject = pattern!(r"(?i)^(?:(?:the|each|every|all|an?|our) [\w`]|`)").is_match(first);
    // The noun of a pronoun may be in the question.
    let refers_to_question = pattern!(r"(?i)\b(?:it|them|they|that|those|these|this|there|you|your|i|we|ones?|both|either|neither|same|other|latter|former)\b")
        .is_match(&prose);
    let is_clear = has_subject
        && !refers_to_question
        && first.split_whitespace().count() >= CLEAR_WORDS
        && !depends_on_previous(&capitalised(first));
    if is_clear { capitalised(rest) } else { line }
}

/// Whether a line can be understood alone.
fn is_clear_alone(line: &str) -> bool {
    let answer = line.split_once(" Answer: ").map(|(_, answer)| answer);
    if answer.is_none() && answers::is_bare_answer(line) {
        return false;
    }
    if answer.is_some_and(|answer| is_phrase(Topic::Resolved, answer)) {
        return true;
    }
    let line = answer.unwrap_or(line);
    let prose = line.split('`').step_by(2).flat_map(str::split_whitespace);
    // A very short answer is useful only at the time of the question.
    let least = if answer.is_some() { 4 } else { 2 };
    let prose = prose.filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 3);
    // An answer may consist of names.
    let names = if answer.is_some() { line.matches('`').count() / 2 } else { 0 };
    // `It` or `Those` in an answer refers to the question.
    let is_understood =
        pattern!(r"^(?:It|They|Those|These) ").is_match(line) || answers::is_bare_answer(line);
    (!depends_on_previous(line) || answer.is_some() && is_understood)
        && !counts_unnamed(line)
        && !is_list_of_addresses(line)
        && is_balanced(line)
        && !line.ends_with([':', ',', '…', '('])
        && line.len() >= 20
        && (line.contains('`') || !line.is_ascii() || line.split_whitespace().count() >= 5)
        && (prose.count() + names >= least || !line.is_ascii())
}

/// Whether a short line only counts things, for example `I removed both wrong checks`.
fn counts_unnamed(line: &str) -> bool {
    !line.contains(['`', ':'])
        && pattern!(r"(?i)^(?:(?:i|we)(?:['’]ve| have)? )?(?:now |also )?\w+ed (?:both|these|those|the (?:two|three|four))(?: \w+){1,2}\b(?: to\b| now\b|[.!]?$)")
            .is_match(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_its_question_loses_its_yes_or_no() {
        for (line, wanted) in [
            (
                "Yes, the reader opens all `pages` of the list.",
                "The reader opens all `pages` of the list.",
            ),
            ("No. Each folder gets a key of its own.", "Each folder gets a key of its own."),
            (
                "Yes, you're reading it correctly. Each folder gets a key of its own.",
                "Each folder gets a key of its own.",
            ),
            (
                "Correct \u{2014} `list.rs` reads the day of each row twice.",
                "`list.rs` reads the day of each row twice.",
            ),
        ] {
            assert_eq!(without_verdict(line.to_owned()), wanted, "{line}");
        }
        for line in [
            "Short answer: the parser drops the zone. The index is rebuilt on each start.",
            "Mostly, the rows are sorted by the day.",
            "Not exactly: the key is public in all debug builds.",
            "Not yet. The export writes both files at the end.",
            "Yes, three of them are read twice for each row.",
            "No, the reader does it after each write.",
            "Yes, but only in a narrow sense.",
            "Yes, in all places that the reader knows.",
            "Yes, the old reader.",
            "Yes, you're right. They are read twice for each row.",
            "No key is read by the index.",
            "Asked: is it read? Answer: Yes, the index reads it once.",
        ] {
            assert_eq!(without_verdict(line.to_owned()), line);
        }
    }

    #[test]
    fn a_pronoun_in_an_answer_refers_to_the_question() {
        let answer = "Those were made by the editor, and the index does not know them.";
        assert!(is_clear_alone(&format!("Asked: why are there two files? Answer: {answer}")));
        assert!(!is_clear_alone(answer));
        assert!(!is_clear_alone(
            "Asked: why are there two? Answer: So they are read by the index."
        ));
    }

    #[test]
    fn an_answer_may_consist_of_names() {
        let answer = "Asked: what does the reader accept? Answer: Yes.";
        assert!(is_clear_alone(&format!("{answer} `list.rs` accepts both: `csv`, `tsv`")));
        assert!(!is_clear_alone(&format!("{answer} `145307` now")));
        assert!(!is_clear_alone("`list.rs`, `csv`, `tsv`"));
    }
}
