//! Collects the paragraphs and lists of a report for quotation.
//!
//! A sentence that cannot be understood alone is quoted together with the previous one or left out.
//! Items are quoted with the heading or sentence that introduces them.

use crate::{
    report::{Form, Passage, Report, Topic, is_phrase, is_result, topic_of_heading},
    summarize::from_evidence::{
        entries::{Entries, is_generic, without_number},
        reported::{
            answers::{announces_answer, is_below_answer},
            introductions::{Introduction, name_of_added_thing, with_name},
            items::{NEST, is_case_of_plan, is_numbered, item_text},
            quotable::{
                announces_no_fact, announces_obsolete_state, depends_on_previous,
                is_specific_heading, is_statement, offers_choices, states_result,
            },
            quoted::QuotedPassage,
            review, transient,
        },
    },
    text::{capitalised, pattern, sentences, without_full_stop},
};

/// Minimum number of paragraphs and lists of a report whose last paragraph may be a conclusion
/// without a label.
const LONG: usize = 4;
/// Minimum length, in bytes, of the text after `Also` at the start of a sentence.
const ALSO: usize = 20;

/// Returns the paragraphs and lists of a report that can be quoted, in order.
pub(crate) fn quoted<'e>(entries: &'e Entries<'e>, report: &'e Report) -> Vec<QuotedPassage> {
    let mut reader = QuoteCollector {
        entries,
        report,
        has_places: review::has_places(entries, report),
        found: Vec::new(),
        introduction: None,
        skipped_list_headings: None,
        is_previous_omitted: true,
        added_name: None,
        section_start: 0,
        headings: &[],
        awaits_items: false,
        is_head: false,
        leads_to_items: false,
    };
    for (at, passage) in report.passages.iter().enumerate() {
        let next = report.passages.get(at + 1);
        // Only a report without other text is quoted with its opening remark.
        if at == 0 && next.is_some() && !report.changed && announces_answer(passage) {
            continue;
        }
        reader.leads_to_items = next
            .is_some_and(|next| next.form != Form::Paragraph && next.headings == passage.headings);
        reader.take(passage);
    }
    reader.found.retain(|one| !one.is_empty());
    let is_long = reader.found.len() >= LONG;
    if let Some(last) = reader.found.last_mut().filter(|_| is_long) {
        last.concludes |= !last.listed && last.first().is_some_and(sums_up);
    }
    reader.found
}

struct QuoteCollector<'e> {
    entries: &'e Entries<'e>,
    report: &'e Report,
    /// Whether items that mention a place in the code are quoted whole.
    has_places: bool,
    found: Vec<QuotedPassage>,
    /// The previous sentence, if it ends in a colon, and the headings above it.
    introduction: Option<(String, Vec<String>)>,
    /// The headings above a list whose introduction announces plans, guesses or instructions. Such
    /// a list is not quoted.
    skipped_list_headings: Option<Vec<String>>,
    /// Whether the text directly before is left out. Then a sentence that depends on it cannot
    /// stay.
    is_previous_omitted: bool,
    /// The only name in the previous sentence, if that sentence says that the named thing was
    /// added.
    added_name: Option<String>,
    /// The length of `found` when the current section began: at the last heading, label such as
    /// `Problem`, or result of a fix.
    section_start: usize,
    /// The headings above the passage directly before.
    headings: &'e [String],
    /// Whether the numbered item directly before introduces items.
    awaits_items: bool,
    /// Whether `awaits_items` is true and no nested item followed yet.
    is_head: bool,
    /// Whether an item or a row of the same section follows. If not, a final colon announces
    /// omitted code.
    leads_to_items: bool,
}

impl<'e> QuoteCollector<'e> {
    fn take(&mut self, passage: &'e Passage) {
        // A sentence below another heading does not continue the text above it.
        if self.headings != passage.headings {
            // `It` in an answer refers to the question.
            self.is_previous_omitted = !is_below_answer(passage);
            self.section_start = self.found.len();
        }
        // A label such as `Problem` begins another fix, with its own result.
        if passage
            .label
            .as_deref()
            .is_some_and(|label| topic_of_heading(label) == Some(Topic::Cause))
        {
            self.section_start = self.found.len();
        }
        self.headings = &passage.headings;
        let topic = passage.headings.iter().rev().find_map(|heading| topic_of_heading(heading));
        // Decisions, open ends and known failures have separate sections; proposals and
        // instructions state no fact.
        if matches!(
            topic,
            Some(
                Topic::Proposal
                    | Topic::Instruction
                    | Topic::Open
                    | Topic::KnownFailure
                    | Topic::Decision
            )
        ) {
            self.is_previous_omitted = true;
            self.introduction = None;
            return;
        }
        let is_skipped = passage.form != Form::Paragraph
            && (self.skipped_list_headings.as_ref() == Some(&passage.headings)
                || passage.headings.last().is_some_and(|heading| {
                    announces_no_fact(heading) || !self.report.changed && offers_choices(heading)
                }));
        if is_skipped {
            return;
        }
        match passage.form {
            // `**1. Name:** text` is an item, too.
            Form::Paragraph if is_numbered(passage) => self.item(passage, topic),
            Form::Paragraph => self.paragraph(passage, topic),
            Form::Item { ticked: Some(false), .. } => {}
            Form::Item { depth, .. } if depth > 1 => self.nested(passage),
            // The parser reads nested items with too little indentation as a separate list.
            Form::Item { .. } if self.awaits_items && passage.mark.is_none() => {
                self.nested(passage);
            }
            Form::Item { .. } | Form::Row => self.item(passage, topic),
        }
    }

    fn paragraph(&mut self, passage: &Passage, topic: Option<Topic>) {
        self.awaits_items = false;
        self.introduction = None;
        self.skipped_list_headings = None;
        let made = self.added_name.take();
        let of_label = passage.label.as_deref().and_then(topic_of_heading);
        let is_result = passage.label.as_deref().is_some_and(is_result);
        // A result below the heading of its work says nothing without this heading.
        let work = passage.headings.last().filter(|work| is_result && is_specific_heading(work));
        let work = work.map(|work| without_number(work));
        // A fix whose result is `Not working yet` fixed nothing, so it is left out.
        let has_failed = is_result && says_failed(&passage.text);
        if has_failed {
            self.found.truncate(self.section_start);
        }
        if has_failed
            || matches!(of_label, Some(Topic::Proposal | Topic::Instruction | Topic::Open))
        {
            self.is_previous_omitted = true;
            return;
        }
        let text = self.entries.tidy_line(&passage.text);
        // Without the label `Before` or `Problem`, the text would read as the present state.
        let label = passage.label.as_deref();
        let label = label.filter(|label| !is_generic(label) || announces_obsolete_state(label));
        let text = match label.or(work) {
            // A label without text is the heading of the passages after it.
            Some(label) if text.is_empty() => format!("{label}:"),
            Some(label) => format!("{label}: {text}"),
            None => with_name(text, made.as_deref()),
        };
        if transient::is_metadata(&text) {
            self.is_previous_omitted = true;
            return;
        }
        self.added_name = sentences(&text).last().and_then(|last| name_of_added_thing(last));
        let parts = self.statements(&text, &passage.headings);
        self.add_paragraph(passage, of_label.or(topic), parts);
        // A fix with a result stays, even if the next one below the same heading failed.
        if is_result {
            self.section_start = self.found.len();
        }
    }

    /// Returns the sentences of a paragraph that can be quoted. Keeps a final introduction for the
    /// list after it.
    fn statements(&mut self, text: &str, headings: &[String]) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        for sentence in sentences(text) {
            let alone = without_also(sentence);
            let sentence = if self.is_previous_omitted || parts.is_empty() {
                alone.as_str()
            } else {
                sentence
            };
            if sentence.ends_with(':') {
                parts.extend(self.introduce(sentence, headings));
                self.is_previous_omitted = true;
            } else if (is_statement(sentence) || is_phrase(Topic::Resolved, sentence))
                && !(self.is_previous_omitted && depends_on_previous(sentence))
            {
                parts.push(sentence.to_owned());
                self.is_previous_omitted = false;
            } else {
                self.is_previous_omitted = true;
            }
        }
        parts
    }

    /// Uses a sentence that ends in a colon as the introduction of the list after it. Returns the
    /// statement in the sentence, if it contains one.
    fn introduce(&mut self, sentence: &str, headings: &[String]) -> Option<String> {
        let is_quoted = !(is_phrase(Topic::Talk, sentence)
            || self.is_previous_omitted && depends_on_previous(sentence));
        let text = sentence.trim_end_matches(':').to_owned();
        if is_quoted && !self.leads_to_items && names_deed(&text) {
            return Some(format!("{text}."));
        }
        if announces_no_fact(&text) || is_phrase(Topic::Instruction, &text) {
            self.skipped_list_headings = Some(headings.to_vec());
        }
        let clause = main_clause(&text).filter(|one| is_quoted && is_statement(one));
        let clause = clause.map(|clause| format!("{clause}."));
        self.introduction = is_quoted.then(|| (text, headings.to_vec()));
        clause
    }

    /// Adds the sentences of a paragraph. If they begin with a word such as `However`, adds them to
    /// the previous paragraph.
    fn add_paragraph(&mut self, passage: &Passage, topic: Option<Topic>, parts: Vec<String>) {
        let is_continuation = parts.first().is_some_and(|first| continues(first));
        let before = self.found.last_mut().filter(|last| {
            is_continuation && !last.listed && !last.is_of_review && last.topic == topic
        });
        match before {
            Some(before) => before.parts.extend(parts),
            None => {
                let concludes = passage.label.as_deref().is_some_and(concludes);
                let is_answer = is_below_answer(passage);
                self.found.push(QuotedPassage {
                    topic,
                    parts,
                    concludes,
                    is_answer,
                    ..QuotedPassage::default()
                });
            }
        }
    }

    fn item(&mut self, passage: &Passage, topic: Option<Topic>) {
        self.is_previous_omitted = true;
        self.awaits_items = passage.mark.is_some() && awaits_items(passage);
        self.is_head = self.awaits_items;
        if self.has_places && review::place(self.entries, passage).is_some() {
            let parts = review::parts(self.entries, passage, NEST);
            self.found.push(QuotedPassage {
                topic,
                parts,
                is_of_review: true,
                ..QuotedPassage::default()
            });
            return;
        }
        if !self.report.changed && is_case_of_plan(passage) {
            return;
        }
        let introduction = self.introduced(passage);
        let continues = self.found.last().is_some_and(|last| {
            last.listed && last.introduction == introduction && last.topic == topic
        });
        if !continues {
            self.found.push(QuotedPassage {
                topic,
                listed: true,
                introduction,
                ..QuotedPassage::default()
            });
        }
        if let Some(list) = self.found.last_mut() {
            match item_text(self.entries, passage) {
                Some(text) => list.parts.push(text),
                None => list.left_out += 1,
            }
        }
    }

    /// Returns the introduction of the list to which a passage belongs.
    fn introduced(&self, passage: &Passage) -> Option<Introduction> {
        let sentence = self.introduction.as_ref();
        let sentence = sentence.filter(|(_, headings)| *headings == passage.headings);
        let sentence = sentence.map(|(text, _)| text.as_str());
        Introduction::of(self.entries, sentence, &passage.headings)
    }

    /// Adds a nested item to the item above it, if both fit into [`NEST`] bytes.
    fn nested(&mut self, passage: &Passage) {
        let Some(text) = item_text(self.entries, passage) else { return };
        if self.found.last().is_some_and(|last| last.is_of_review) {
            return;
        }
        let Some(above) = self.found.last_mut().and_then(|list| list.parts.last_mut()) else {
            return;
        };
        if above.len() + text.len() <= NEST {
            let is_first = passage.parent.as_deref().is_some_and(|parent| {
                above.trim_end_matches([':', '.']).ends_with(parent.trim_end_matches([':', '.']))
            });
            let is_head = std::mem::take(&mut self.is_head);
            let is_first = is_first || is_head || above.ends_with(':');
            let mark = if is_first { ": " } else { ", " };
            // `Added a list with:` becomes `Added a list: `, with the nested items after it.
            let above_items = without_full_stop(above);
            let open = open_end().find(above_items);
            let head = open.map_or(above_items, |end| &above_items[..end.start()]);
            *above = format!("{head}{mark}{text}");
        }
    }
}

/// Whether the text of a result says that the work does not help yet.
fn says_failed(text: &str) -> bool {
    pattern!(r"(?i)^\W*(?:not (?:yet )?working|(?:still )?fail(?:s|ed|ing)|(?:this |it )?(?:does(?:n.t| not) work|did(?:n.t| not) (?:work|help)))\b")
        .is_match(text)
}

/// Whether a sentence says what was done, and contains code.
fn names_deed(sentence: &str) -> bool {
    sentence.contains('`')
        && states_result(sentence)
        && !pattern!(r"(?i)\b(?:following|follows|below|like this|for example)\b")
            .is_match(sentence)
}

/// Returns a sentence without `Also` at its start: `Also saved a note` does not depend on the
/// sentence before it.
fn without_also(sentence: &str) -> String {
    let also = pattern!(r"^Also,? ").find(sentence);
    let rest = also.map(|also| &sentence[also.end()..]).filter(|rest| rest.len() >= ALSO);
    rest.map_or(sentence.to_owned(), capitalised)
}

/// Whether an item introduces other items: it ends in a colon or a preposition, or is only a label.
fn awaits_items(passage: &Passage) -> bool {
    let text = passage.text.trim_end();
    text.is_empty() || text.ends_with(':') || open_end().is_match(text)
}

/// Matches the end of a text such as `Added a list with:`.
fn open_end() -> std::sync::Arc<regex::Regex> {
    pattern!(r"(?i),? (?:with|including|for|by|in|such as|e\.g\.):?$")
}

/// Whether a label announces the conclusion of a report.
fn concludes(label: &str) -> bool {
    pattern!(
        r"(?i)^(?:in )?(?:conclusion|summary|short|short answer|bottom line|net|result|tl;?dr)$"
    )
    .is_match(label)
}

/// Whether a sentence at the end of a report draws its conclusion.
fn sums_up(sentence: &str) -> bool {
    pattern!(
        r"(?i)^(?:so,? |overall\b|in (?:short|practice|summary|effect|other words)\b|therefore\b|thus\b|net\b|(?:this|that|which) means\b|(?:the|my) (?:main|key|real|important|practical|only|biggest|short|bottom|upshot|takeaway|catch|conclusion|result|risk|downside|trade-?off)\b|unless\b)"
    )
    .is_match(sentence)
}

/// Whether a sentence continues the paragraph before it.
fn continues(sentence: &str) -> bool {
    depends_on_previous(sentence)
        && pattern!(r"(?i)^(?:however|but|that said|though|except|on the other hand|in contrast|so|that|this|these|those|they|it|its)\b")
            .is_match(sentence)
}

/// Returns the statement before the clause that introduces a list, for example the first half of
/// `They are not the same - they test two things`.
fn main_clause(introduction: &str) -> Option<&str> {
    let joints = [" - ", " — ", " – ", "; "];
    let end = joints.iter().filter_map(|joint| introduction.rfind(joint)).max()?;
    let clause = &introduction[..end];
    (clause.split(' ').count() >= 5 && !clause.contains(": ")).then_some(clause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::evidence::{Evidence, TurnReport},
        report::Reports,
        summarize::from_evidence::reported::quoted::complete_answer,
    };

    fn quoted_lines(text: &str) -> Vec<String> {
        let report = TurnReport { text: text.to_owned(), ..TurnReport::default() };
        let (evidence, reports) = (Evidence::default(), Reports::default());
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        quoted(&entries, &Report::of(&report)).iter().filter_map(|one| one.line(400)).collect()
    }

    #[test]
    fn a_paragraph_that_limits_another_is_joined_to_it() {
        assert_eq!(
            quoted_lines(
                "The list is sorted.\n\nHowever, the rows of one day keep their old order.\n"
            ),
            ["The list is sorted. However, the rows of one day keep their old order."]
        );
        assert_eq!(
            quoted_lines(
                "The list is sorted.\n\n## Rows\n\nThis is slow at first. The index is read.\n"
            ),
            ["The list is sorted.", "The index is read."]
        );
    }

    #[test]
    fn a_statement_before_omitted_code_is_kept() {
        let problem = "### Rows\n\n**Problem**: Each row of the list was read twice.\n\n";
        let fix = "**Fix**: Added `next_row()` to skip all the rows that an earlier reader has already read:\n\n\n\n";
        let after_problem =
            |rest: &str| quoted_lines(&format!("{problem}{fix}{rest}"))[1..].to_vec();
        assert_eq!(
            after_problem("**Result**: The list of the rows is short.\n"),
            [
                "Fix: Added `next_row()` to skip all the rows that an earlier reader has already read.",
                "Rows: The list of the rows is short."
            ]
        );
        assert_eq!(
            after_problem("- empty rows\n- comments\n"),
            [
                "Fix: Added `next_row()` to skip all the rows that an earlier reader has already read: empty rows; comments"
            ]
        );
    }

    #[test]
    fn an_announcement_before_the_answer_is_left_out() {
        assert_eq!(
            quoted_lines(
                "The skill reads archives, which nobody asked for. Let me explain it directly.\n\n`list@1` is a reference to a plugin.\n"
            ),
            ["`list@1` is a reference to a plugin."]
        );
        assert_eq!(
            quoted_lines(
                "The list of all the rows has no index at all. Here's what I found in the files:\n\n- Rows stand in one file\n"
            )[0],
            "The list of all the rows has no index at all."
        );
    }

    #[test]
    fn an_answer_below_its_heading_may_begin_with_a_pronoun() {
        let text = "The question is odd.\n\nAnswer:\n\nIt reads the complete list. It has no cache of rows.\n";
        let report = TurnReport { text: text.to_owned(), ..TurnReport::default() };
        let (evidence, reports) = (Evidence::default(), Reports::default());
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let found = quoted(&entries, &Report::of(&report));
        let answer = found.iter().find(|one| one.is_answer).unwrap();
        assert_eq!(
            answer.line(400).unwrap(),
            "It reads the complete list. It has no cache of rows."
        );
    }

    #[test]
    fn a_possible_case_and_a_reference_to_a_letter_are_no_facts() {
        assert_eq!(
            quoted_lines(
                "Look at the list:\n\n- **Present** → the reader works. Remove the row.\n- **Absent** → the reader is broken.\n"
            ),
            Vec::<String>::new()
        );
        assert_eq!(
            quoted_lines("- **C — Two pages.** The reader opens both pages of the list.\n"),
            Vec::<String>::new()
        );
        assert_eq!(
            quoted_lines(
                "- **(a)** makes sense for the list\n- **(b)** is only for the archive of all rows\n"
            ),
            Vec::<String>::new()
        );
        assert_eq!(
            quoted_lines(
                "**Reporter:** Ada Byron, on `acme/app`. You already replied to it.\n\nThe list has no index.\n"
            ),
            ["The list has no index."]
        );
    }

    #[test]
    fn a_result_is_quoted_with_the_heading_of_its_work() {
        assert_eq!(
            quoted_lines(
                "### 1. Numbers of lists\n\n**Result**: The first is 1, the second is 2.\n"
            ),
            ["Numbers of lists: The first is 1, the second is 2."]
        );
    }

    #[test]
    fn a_sentence_loses_the_word_also() {
        assert_eq!(
            quoted_lines("Committed.\n\nAlso saved a `note.md` with the order of the days.\n"),
            ["Saved a `note.md` with the order of the days."]
        );
    }

    #[test]
    fn a_conclusion_is_quoted_without_its_label() {
        assert_eq!(
            quoted_lines("**Conclusion:** The format of the archive stays as it is.\n"),
            ["The format of the archive stays as it is."]
        );
    }

    #[test]
    fn the_paragraph_that_sums_a_long_report_up_is_its_conclusion() {
        let end = "The main limit is the order of the file.";
        let concludes = |text: &str| {
            let report = TurnReport { text: text.to_owned(), ..TurnReport::default() };
            let (evidence, reports) = (Evidence::default(), Reports::default());
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            quoted(&entries, &Report::of(&report)).last().unwrap().concludes
        };
        let long = "The list is sorted.\n\nThe reader is fast.\n\nThe writer is slow.\n\n";
        assert!(concludes(&format!("{long}{end}\n")));
        assert!(!concludes(&format!("{long}The index is read.\n")));
        assert!(!concludes(&format!("The list is sorted.\n\n{end}\n")));
    }

    #[test]
    fn a_statement_in_an_introduction_is_kept() {
        assert_eq!(
            quoted_lines(
                "Both files of the list stay as they are, they are not the same - they test two things:\n\n**`a.rs`** tests the list:\n- Rows are sorted by the day\n"
            ),
            [
                "Both files of the list stay as they are, they are not the same.",
                "`a.rs` tests the list: Rows are sorted by the day"
            ]
        );
    }

    #[test]
    fn an_item_keeps_the_text_after_an_omitted_sentence() {
        assert_eq!(
            quoted_lines(
                "Two parts stay:\n\n- Want it gone? The reader closes the file.\n- Is it fast? It is.\n"
            ),
            ["Two parts stay: The reader closes the file; +1 more"]
        );
        assert_eq!(
            quoted_lines(
                "**1. Speed:** The index is read once.\n\n**2. Size:** A row has ten bytes.\n"
            ),
            ["Speed: The index is read once; Size: A row has ten bytes"]
        );
    }

    #[test]
    fn an_item_that_ends_with_a_preposition_continues_with_its_nested_items() {
        assert_eq!(
            quoted_lines(
                "Changes:\n\n- Added a list of archives with:\n  - Nested archives\n  - Times\n- Added a test of it all\n"
            ),
            ["Added a list of archives: Nested archives, Times; Added a test of it all"]
        );
    }

    #[test]
    fn items_below_a_bold_line_with_a_symbol_belong_to_it() {
        assert_eq!(
            quoted_lines(
                "## \u{1F3AF} What is new\n\n**\u{1F4C4} 4 kinds of pages:**\n- Lists of all orders\n- Orders of a day\n\n**\u{1F504} Names of the pages:**\n- Each page has a name\n- Names are sorted\n"
            ),
            [
                "4 kinds of pages: Lists of all orders; Orders of a day",
                "Names of the pages: Each page has a name; Names are sorted"
            ]
        );
        assert_eq!(
            quoted_lines(
                "Results:\n\n\u{2705} The list of orders is sorted\n\u{2705} The page of orders has a name\n"
            ),
            ["The list of orders is sorted; The page of orders has a name"]
        );
    }

    #[test]
    fn choices_before_any_change_are_no_findings() {
        let choices = "- **Simplest**: Plain pages without a framework\n- **With data**: Store the recipes in a file and render them\n";
        for heading in ["Tech Choices", "Choices", "Ways to pick from"] {
            assert_eq!(quoted_lines(&format!("## {heading}\n\n{choices}")), [""; 0], "{heading}");
        }
        for heading in ["Pages of the recipes", "The dialog of all recipes"] {
            assert_eq!(quoted_lines(&format!("## {heading}\n\n{choices}")).len(), 1, "{heading}");
        }
    }

    #[test]
    fn bullets_below_a_numbered_introduction_belong_to_it() {
        assert_eq!(
            quoted_lines(
                "1. Created the shop with:\n  - A list of orders\n  - A page of help\n2. **Archive**\n  - Old orders of all years\n3. Removed the old page of the shop\n"
            ),
            [
                "Created the shop: A list of orders, A page of help; Archive: Old orders of all years; Removed the old page of the shop"
            ]
        );
    }

    #[test]
    fn a_pronoun_is_replaced_by_its_noun() {
        assert_eq!(
            quoted_lines(
                "Added `max_size` for uploads.\n\nIt limits each file to ten megabytes.\n"
            ),
            ["Added `max_size` for uploads.", "`max_size` limits each file to ten megabytes."]
        );
    }

    #[test]
    fn an_answer_has_its_verdict_and_its_reason() {
        let answer = |text: &str, verdict: &str| {
            let report = TurnReport { text: text.to_owned(), ..TurnReport::default() };
            let (evidence, reports) = (Evidence::default(), Reports::default());
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            let report = Report::of(&report);
            let mut found = quoted(&entries, &report);
            complete_answer(&mut found, Some(verdict.to_owned()));
            found.remove(0).answering("Is it read?").line(400).unwrap()
        };
        assert_eq!(
            answer("No. The key is only written.\n\nThe reader takes the name.\n", "No"),
            "Asked: Is it read? Answer: No. The key is only written. The reader takes the name."
        );
        assert_eq!(
            answer("No, the key is only written to the list.\n\n- `a.rs` reads it\n", "No"),
            "Asked: Is it read? Answer: No, the key is only written to the list."
        );
    }

    #[test]
    fn a_failed_fix_does_not_remove_an_earlier_one() {
        let first = "**Fix**: The reader of the list skips the empty rows.\n\n**Result**: The list of the rows is short.\n\n";
        let failed = "**Fix**: The writer of the list sorts the rows by their days.\n\n**Result**: Not working yet.\n";
        let quoted_lines = quoted_lines(&format!("### Rows\n\n{first}{failed}"));
        assert_eq!(
            quoted_lines,
            [
                "Fix: The reader of the list skips the empty rows.",
                "Rows: The list of the rows is short."
            ]
        );
    }
}
