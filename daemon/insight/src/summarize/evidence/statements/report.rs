//! Reads the reply that ends a turn: the work that was done, the findings, the open tasks.

use std::{borrow::Cow, cell::LazyCell};

use crate::{
    model::evidence::StatementKind,
    summarize::evidence::statements::{ExtractedStatement, LENGTH, claims, clean_sentences},
    text::{Block, blocks, has_label, one_line, pattern, patterns, sentences, without_list_colon},
};

/// Maximum number of statements of one kind from one report.
const OF_A_KIND: usize = 5;

/// Returns the statements of a turn's report.
///
/// `answers` is true if the user asked a question and nothing was changed. In this case, the report
/// is an answer. If it has no other discoveries, its statements about the subject count as
/// discoveries.
pub(in crate::summarize::evidence) fn in_report(
    text: &str,
    answers: bool,
) -> Vec<ExtractedStatement> {
    let mut report = ReportReader { found: Vec::new(), section: ReportSection::None, faults: 0 };
    let blocks = blocks(text);
    let ticked = LazyCell::new(|| ticked_lines(text));
    for (at, block) in blocks.iter().enumerate() {
        match block {
            Block::Heading(heading) => report.section = ReportSection::of(heading),
            Block::Item(item) if report.section == ReportSection::Left => {
                let has_lines = matches!(item, Cow::Owned(_));
                if !is_ticked(&ticked, item, has_lines)
                    && !says_that_nothing_is_left(&one_line(item))
                {
                    report.item(item);
                }
            }
            Block::Item(item) => report.item(item),
            Block::Paragraph(paragraph) => {
                // A paragraph after a list ends the section of the list.
                if at > 0 && matches!(blocks[at - 1], Block::Item(_)) {
                    report.section = ReportSection::None;
                }
                report.paragraph(paragraph);
            }
        }
    }
    if answers && !report.found.iter().any(|found| found.kind == StatementKind::Discovery) {
        report.answer(&blocks);
    }
    report.found
}

#[derive(Clone, Copy, PartialEq)]
enum ReportSection {
    None,
    Done,
    Left,
    Cause,
    Decisions,
    Findings,
    /// Proposals and instructions, which are not statements about the present state.
    Proposal,
    Other,
}

impl ReportSection {
    fn of(heading: &str) -> ReportSection {
        let heading = one_line(heading);
        let is = |pattern: &regex::Regex| pattern.is_match(&heading);
        if is(&*pattern!(
            r"(?i)\b(?:how|example|usage|option|alternative|recommend|suggest|verification|test plan|proposed|plan)s?\b"
        )) {
            ReportSection::Proposal
        } else if is(&*pattern!(
            r"(?i)^(?:(?:suggested |possible |immediate |your )?next steps?|remaining(?: \w+)?|what(?:'s| is) (?:left|next|missing)|still (?:to do|open|needed|missing|pending)|to-?do|open (?:questions?|items?|ends?|issues?)|follow[- ]?ups?(?: \w+)?|outstanding.*|pending(?: \w+)?|not (?:done|yet done|included|covered|fixed).*|known (?:issues|limitations|gaps)|(?:manual |required )?actions? (?:needed|required|items?)|left to do)$"
        )) {
            ReportSection::Left
        } else if is(&*pattern!(
            r"(?i)^(?:the )?(?:root causes?|cause|why it (?:failed|broke)|the problem|problem)\b"
        )) {
            ReportSection::Cause
        } else if is(&*pattern!(r"(?i)\bdecisions?\b")) {
            ReportSection::Decisions
        } else if is(&*pattern!(
            r"(?i)^(?:key |main |my )?(?:findings?|insights?|takeaways?|what i (?:found|learned)|discover(?:y|ies)|observations?)\b"
        )) {
            ReportSection::Findings
        } else if is(&*pattern!(
            r"(?i)\b(?:what (?:was|i|changed|we)|changes?(?: made)?|summary|done|completed?|fix(?:es|ed)?|added|updated|created|implemented|accomplished|improvements?|committed)\b"
        )) {
            ReportSection::Done
        } else {
            ReportSection::Other
        }
    }
}

struct ReportReader {
    found: Vec<ExtractedStatement>,
    section: ReportSection,
    /// Number of causes below a heading about causes, or after an announcement.
    faults: usize,
}

impl ReportReader {
    fn add(&mut self, kind: StatementKind, text: String) {
        let same_kind = self.found.iter().filter(|found| found.kind == kind).count();
        if same_kind < OF_A_KIND && LENGTH.contains(&text.len()) {
            self.found.push(ExtractedStatement { kind, text });
        }
    }

    fn item(&mut self, item: &str) {
        let line = one_line(item);
        let first = sentences(&line)
            .first()
            .and_then(|first| without_list_colon(first))
            .unwrap_or_default();
        if first.ends_with('?') || item.starts_with(['❌', '✗']) {
            return;
        }
        match self.section {
            ReportSection::Proposal => {}
            ReportSection::Left => self.add(StatementKind::OpenEnd, first_sentence_if_long(&line)),
            ReportSection::Decisions => {
                self.add(StatementKind::Decision, first_sentence_if_long(&line));
            }
            ReportSection::Findings => {
                self.add(StatementKind::Discovery, first_sentence_if_long(&line));
            }
            ReportSection::Done | ReportSection::None
                if is_done(&first) || is_done(without_label(&first)) =>
            {
                self.add(StatementKind::Done, first);
            }
            _ => self.sentence(&first),
        }
    }

    fn paragraph(&mut self, paragraph: &str) {
        let mut announced = false;
        for sentence in clean_sentences(paragraph) {
            let under_heading = self.section == ReportSection::Cause
                && self.faults == 0
                && !claims::is_not_firm(&sentence)
                && !sentence.starts_with(['I', '*']);
            if under_heading || (announced && claims::is_fault(&sentence)) {
                self.faults += 1;
                self.add(StatementKind::Cause, sentence.clone());
            } else {
                self.sentence(&sentence);
            }
            announced = claims::announces_cause(&sentence);
        }
    }

    fn sentence(&mut self, sentence: &str) {
        let claim = claims::statement_kind(sentence, false);
        // Completed work may be about such a state: `Fixed the case where it still fails`.
        let is_fixed_case = is_done(sentence) && is_of_case(sentence);
        let open = if is_fixed_case { after_completed_work(sentence) } else { Some(sentence) };
        if open.is_some_and(is_left) {
            self.add(StatementKind::OpenEnd, sentence.to_owned());
        } else if let Some(kind) = claim
            .filter(|kind| *kind != StatementKind::Cause || !is_done(without_verdict(sentence)))
        {
            self.add(kind, sentence.to_owned());
        } else if is_done(sentence) {
            self.add(StatementKind::Done, sentence.to_owned());
        }
    }

    /// Adds the first two plain statements in the paragraphs of an answer as discoveries. Lists are
    /// examples, options and steps, and do not count.
    fn answer(&mut self, blocks: &[Block<'_>]) {
        let sentences = blocks.iter().filter_map(|block| match block {
            Block::Paragraph(text) => Some(clean_sentences(text)),
            Block::Item(_) | Block::Heading(_) => None,
        });
        let plain: Vec<String> = sentences
            .flatten()
            .filter(|sentence| sentence.len() >= 45 && is_answer(sentence))
            .filter(|sentence| !self.found.iter().any(|found| found.text == *sentence))
            .take(2)
            .collect();
        for sentence in plain {
            self.add(StatementKind::Discovery, sentence);
        }
    }
}

/// Whether a sentence is about the subject and not about the conversation: it mentions code or a
/// file, and states a property or an action.
fn is_answer(sentence: &str) -> bool {
    !claims::is_not_firm(sentence)
        && claims::is_about_code(sentence)
        && sentence.ends_with(['.', ')', '!', '`'])
        && !has_label(sentence, 3..=25)
        && !pattern!(
            r"(?i)^(?:i|i'm|i've|we|we're|you|your|you'll|here|here's|yes|no|sure|great|good|perfect|done|based on|looking at|both|all|this|that|it|these|those|so|and|but|also|there|then|or|after|before|type|run|add|use|create|push|set|my|given|since|with|worth|summary|spec)\b"
        )
        .is_match(sentence)
        && !pattern!(r"(?i)\b(?:you|your|you'd|we|would|could|should|must|let's|I'm|I|recommend|proposal|option|approach)\b|^[A-Z]\)|→|^\[|^(?:the beauty|same|actually|for each|open|click|go|yes|otherwise)\b").is_match(sentence)
        && pattern!(
            r"(?i)\b(?:is|are|was|were|has|have|uses?|does|doesn't|don't|cannot|can't|can|supports?|requires?|returns?|reads?|writes?|stores?|loads?|runs?|calls?|handles?|expects?|ignores?|falls? back|defaults?|means|contains?|validates?|merges?|exposes?|overrides?|overwrites|takes|lives?|sits|matches|creates?|provides?|fails?|works?|looks?|keeps?|holds?|locks?|parses?|scans?|treats?|sends?|picks?|checks?|tracks?|finds?|resolves?|relies|depends|starts|exits|skips)\b"
        )
        .is_match(sentence)
}

/// Returns a sentence without a first word that states the outcome: `Fixed: the cause was …`.
fn without_verdict(sentence: &str) -> &str {
    let verdict = pattern!(r"(?i)^(?:fixed|resolved|solved|done)[:!] ");
    verdict.find(sentence).map_or(sentence, |found| &sentence[found.end()..])
}

/// Whether a sentence describes an open task.
fn is_left(sentence: &str) -> bool {
    pattern!(
        r"(?i)^(?:next(?: steps?)?|still open|open|left)(?: to do)?: |\bstill (?:needs?|need(?:s|ed)? to|requires?|fails?|failing|missing|pending|open|outstanding|unresolved)\b|\b(?:is|are|was|were|has|have|am) not yet\b|\bnot yet (?:implemented|done|tested|covered|supported|wired|deployed|committed|pushed|configured)\b|\b(?:remains?|left) to (?:be )?\w+|\bneeds? to be (?:done|added|updated|configured|set|run|tested|created|merged|deployed|pushed)\b|^(?:to complete|remaining|todo)\b|\byou(?:'ll| will)? (?:still |now )?need to\b|\b(?:wasn't|was not|couldn't|could not|weren't|not) able to\b|\bhaven't (?:been )?(?:run|tested|added|committed|pushed|verified|updated|done|implemented|touched)\b|\bas a follow-?up\b|\bin a follow-?up\b"
    )
    .is_match(sentence)
        && !sentence.ends_with('?')
        && !pattern!(r"(?i)^(?:if|when|once|let me|i'll|no|now|all)\b|\bno longer\b|\bno remaining\b|\bnothing (?:left|remain)").is_match(sentence)
        && !pattern!(r"(?i)\b(?:don't|doesn't|do not|does not|didn't|no) (?:longer )?(?:still )?need\b|\b(?:when|if|whenever|unless|in case) (?:you|we|it)\b").is_match(sentence)
        && !describes_rule(sentence)
}

/// Whether a sentence says what the program does in a state, or no longer allows, and not what is
/// left to do: `Rows that are not yet loaded are skipped`.
pub(in crate::summarize) fn describes_rule(sentence: &str) -> bool {
    let of_state = pattern!(
        r"(?i)\b(?:that|which|who) (?:is|are|was|were|has|have|had) not yet\b|\b(?:where|while|when|whenever|if|until|as long as) [^,;]{1,60}\bnot yet\b"
    );
    let lists =
        pattern!(r"(?i)^(?:there (?:is|are|was|were)|(?:the )?(?:only|remaining)|what|i|we)\b|: ");
    let is_left = pattern!(
        r"(?i)\bstill\b|\bneeds? to\b|\bleft to\b|\bnot yet (?:implemented|done|tested|covered|supported|wired|deployed|committed|pushed|configured)\b"
    );
    let forbids = pattern!(r"(?i)\b(?:is|are) not able to\b.*\b(?:anymore|any more|any longer)\b");
    !is_left.is_match(sentence)
        && (of_state.is_match(sentence) && !lists.is_match(sentence) || forbids.is_match(sentence))
}

/// Returns the part of a sentence that follows the part about completed work.
fn after_completed_work(sentence: &str) -> Option<&str> {
    let end = pattern!(
        r"(?i)(?:,? but|, (?:and|so|though|although)|;| [\u{2014}\u{2013}-]| and (?:the|it|they|you|there)) "
    )
    .find(sentence)?;
    Some(&sentence[end.start()..])
}

/// Whether an item in a section about open work says that no work is open.
pub(in crate::summarize) fn says_that_nothing_is_left(item: &str) -> bool {
    patterns!(
        r"(?i)^(?:none|nothing|n/a)(?:[.!;]| ?[(\u{2014}\u{2013}-]|$)",
        r"(?i)^none (?:(?:explicitly )?(?:specified|requested|stated|mentioned|listed|noted)|currently|yet)[.]?$",
        r"(?i)^(?:none|nothing)(?: (?:else|more|further))?(?: (?:is|are|was))? (?:left|remains?|remaining|open|outstanding|pending|planned|known|blocking|at (?:this|the)|that i|so far|for now|to do|(?:needed|required)[.!]?$)\b[^,;]*$",
        r"(?i)^(?:there (?:is|are) )?no (?:\w+ )?(?:open|further|remaining|known|pending|outstanding)(?: \w+)? (?:work|steps?|tasks?|items?|issues?|questions?|requests?|actions?|changes|problems?|limitations?|bugs?|gaps?|blockers?)\b(?:[^,;]*$|, (?:all|everything)\b[^,;]*$)",
        r"(?i)^(?:there (?:is|are) )?no explicit(?:ly)? (?:\w+ )?(?:work|steps?|tasks?|items?|requests?)(?: (?:remain(?:s|ing)?|left|pending|open|outstanding|requested|stated))?[.]?$",
    )
    .is_match(item)
        && !pattern!(r"(?i)\b(?:but|except|apart from|other than|besides)\b|^no (?:\w+ )?(?:open|known) (?:issue|bug|question|task) (?:tracks?|covers?|describes?|mentions?)\b")
            .is_match(item)
}

/// Returns the first lines of the items of a report that have a ticked box.
fn ticked_lines(report: &str) -> Vec<&str> {
    let ticked = pattern!(r"(?m)^\s*(?:[-*+•–]|\d+[.)])\s+\[[xX]\] +(\S.*?)\s*$");
    let lines = ticked.captures_iter(report);
    lines.filter_map(|line| line.get(1)).map(|line| line.as_str()).collect()
}

/// Whether an item is one of the ticked lines, or begins with one if the item `has_lines`. Blocks do
/// not contain the box.
fn is_ticked(ticked: &[&str], item: &str, has_lines: bool) -> bool {
    ticked.iter().any(|line| match item.strip_prefix(line) {
        Some(rest) => rest.is_empty() || has_lines && rest.starts_with(' '),
        None => false,
    })
}

/// Whether a sentence reports completed work: it begins with a verb such as `Added` or `Fixed`.
fn is_done(sentence: &str) -> bool {
    let done = pattern!(
        r"(?i)^(?:(?:I|we)(?:'ve| have)? |the fix (?:is|was) |successfully |also |now |then )*(?:successfully |also |now |just )?(?:added|addressed|applied|built|bumped|changed|cleaned up|committed|configured|consolidated|converted|corrected|created|deduplicated|deleted|disabled|documented|enabled|expanded|exported|extended|extracted|fixed|implemented|improved|increased|installed|integrated|introduced|merged|migrated|modified|moved|optimi[sz]ed|ported|published|pushed|rebased|refactored|registered|released|removed|renamed|reorgani[sz]ed|replaced|resolved|restored|restructured|reworked|rewrote|set up|simplified|split|standardi[sz]ed|switched|synced|unified|updated|upgraded|wired|wrapped|wrote|updating|adding|removing|changing|a (?:single-line|one-line|small))\b"
    );
    let failed = pattern!(r"(?i)\bstill (?:nothing|fails?|failing|not|broken)\b|\bto no avail\b");
    done.is_match(sentence)
        && (!failed.is_match(sentence) || is_of_case(sentence))
        && sentence.split_whitespace().count() >= 4
        && !sentence.ends_with('?')
}

/// Whether a sentence names a case that fails: `Fixed the case where the worker still fails`.
fn is_of_case(sentence: &str) -> bool {
    pattern!(
        r"(?i)\b(?:where|when|in which) (?:[\w`'.()-]+ ){1,6}still (?:fails?|failing|broken)\b|\b(?:that|which) still (?:fails?|failing|broken)\b"
    )
    .is_match(sentence)
}

/// Returns the text after the label of an item such as `parser.rs:12 - Added a check`.
fn without_label(item: &str) -> &str {
    let split =
        item.split_once(" - ").or_else(|| item.split_once(" — ")).or_else(|| item.split_once(": "));
    split.map_or(item, |(_, rest)| rest)
}

/// Returns an item's line, or only its first sentence if the line is longer than 200 bytes.
fn first_sentence_if_long(line: &str) -> String {
    let all = sentences(line);
    match all.get(1) {
        Some(_) if line.len() > 200 => all[0].to_owned(),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, answers: bool, wanted: &[(StatementKind, &str)]) {
        let found: Vec<(StatementKind, String)> =
            in_report(text, answers).into_iter().map(|found| (found.kind, found.text)).collect();
        let wanted: Vec<(StatementKind, String)> =
            wanted.iter().map(|(kind, text)| (*kind, (*text).to_owned())).collect();
        assert_eq!(found, wanted, "{text}");
    }

    #[test]
    fn done_and_open_work_is_read_from_a_report() {
        check(
            "Done! All tests pass.\n\n## What changed\n- **Fixed the parser** so that it keeps the last line\n\
             - `a.rs` is shorter\n\n## Next steps\n1. Add a migration for old files\n2. Should we also rename it?\n\n\
             The importer still needs a test for empty input. Want me to do that?",
            false,
            &[
                (StatementKind::Done, "Fixed the parser so that it keeps the last line"),
                (StatementKind::OpenEnd, "Add a migration for old files"),
                (StatementKind::OpenEnd, "The importer still needs a test for empty input."),
            ],
        );
    }

    fn open_ends(text: &str) -> Vec<String> {
        let open = in_report(text, false).into_iter();
        open.filter(|one| one.kind == StatementKind::OpenEnd).map(|one| one.text).collect()
    }

    #[test]
    fn an_empty_list_and_ticked_items_are_not_open() {
        for text in [
            "## Next steps\n\n- None. The work of this ticket is complete.",
            "## Follow-ups\n\n- Nothing is left to do for this ticket",
            "## Known issues\n\n- None that I know of in this version of the parser",
            "## Known issues\n\n- **None** - all known cases are handled",
            "## Known issues\n\n- No known issues in this version of the parser",
            "## TODO\n\n- [x] Convert the importer to the new reader",
            "## TODO\n\n- [x] Convert the importer\n  to the new reader",
            "## Pending tasks\n\n- No pending tasks, all requested work was completed",
        ] {
            assert_eq!(open_ends(text), [""; 0], "{text}");
        }
        for item in [
            "None of the tests cover the importer of rows",
            "Nothing tests the importer of the rows",
            "None, but the importer needs a test of the rows",
            "No known workaround for the crash on Windows",
            "No test covers the open rows of the importer",
            "Convert the importer to the new reader",
            "Convert the list to the new reader of rows",
            "No open issue tracks the crash on Windows",
        ] {
            let text =
                format!("## Next steps\n\n- {item}\n- [x] Convert the list to the new reader");
            assert_eq!(open_ends(&text), [item], "{text}");
        }
    }

    #[test]
    fn a_state_that_the_work_handles_is_not_open() {
        for text in [
            "I fixed the case where the second worker still fails after a restart.",
            "The store handles rows that are not yet loaded.",
            "Rows that are not yet loaded are skipped.",
            "The page waits while the rows are not yet loaded.",
            "Guests are not able to edit the list anymore.",
        ] {
            assert_eq!(open_ends(text), [""; 0], "{text}");
        }
        for text in [
            "Updated the mock and the test still fails in the second worker.",
            "I fixed the first worker, but the second worker still fails after a restart.",
            "Added the list and the importer still needs a test for empty input.",
            "Note that the importer is not yet deployed to the server.",
            "The new importer of the rows is not yet deployed.",
            "There are two routes that are not yet covered by tests.",
            "The dashboard calls two endpoints that are not yet implemented.",
            "Note that the worker uses a queue which is not yet configured.",
            "Committed the fix locally, not yet pushed.",
            "Fixed the parser, haven't tested it on Windows.",
            "Implemented the cache (not yet deployed).",
            "Added the endpoint, you still need to configure the token.",
            "Added the migration, which still needs to be run on staging.",
            "Added the SMTP_HOST variable that needs to be set on production.",
            "The rows that are not yet loaded still need a test for empty input.",
            "I was not able to run the tests of the importer anymore.",
            "The second worker still fails after a restart.",
        ] {
            assert_eq!(open_ends(text), [text], "{text}");
        }
        let done = in_report("I fixed the case where the second worker still fails.", false);
        assert_eq!(done[0].kind, StatementKind::Done);
    }

    #[test]
    fn an_answer_is_a_discovery() {
        let text = "Good question. `SessionStore` keeps one file per session and locks it with `flock`.\n\nYou can call it directly.";
        check(
            text,
            true,
            &[(
                StatementKind::Discovery,
                "`SessionStore` keeps one file per session and locks it with `flock`.",
            )],
        );
        check(text, false, &[]);
    }

    #[test]
    fn the_text_below_a_heading_about_causes_is_a_cause() {
        check(
            "### Root cause\n\nThe hook exits before the file is flushed.\n",
            false,
            &[(StatementKind::Cause, "The hook exits before the file is flushed.")],
        );
    }

    #[test]
    fn an_item_below_trade_offs_is_a_decision_only_by_its_words() {
        let slow = "The first request is slower, because the cache is empty at the start";
        check(&format!("## Trade-offs\n\n- {slow}"), false, &[]);
        let kept = "I chose one file over a database because it is easier to lock";
        for text in [
            format!("## Trade-offs\n\n- {kept}"),
            format!("## Decisions and trade-offs\n\n- {kept}"),
        ] {
            check(&text, false, &[(StatementKind::Decision, kept)]);
        }
        check(
            &format!("## Design decisions\n\n- {slow}"),
            false,
            &[(StatementKind::Decision, slow)],
        );
    }

    #[test]
    fn small_talk_and_options_are_ignored() {
        check(
            "Great! I can do either of these:\n\n## Options\n- Use a map instead of a list because it is faster\n\nWhich one do you prefer?",
            true,
            &[],
        );
    }
}
