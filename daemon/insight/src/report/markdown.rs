//! Parses Markdown into a flat list of passages, each with the headings above it.

mod headings;
mod rows;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::report::inline::{
    STRUCK, is_aside, is_label_line, is_line_alone, is_numbered, is_placeholder, is_plan_column,
    is_stated, is_struck_out, is_unfinished, may_precede_label, split_label, ticked, with_code,
};
use crate::report::phrases::topic_of_heading;
use crate::report::source::{with_globs_escaped, with_list_marks};
use crate::report::topic::Topic;
use crate::text::{one_line, pattern, position_of_link};

/// Maximum number of bytes of a report that are parsed. Deep nesting costs more than linear time.
const MAX_PARSED_BYTES: usize = 16_000;
/// Maximum number of passages in one report; the rest is ignored.
const MAX_PASSAGES: usize = 160;
/// Maximum length, in bytes, of a bold heading, and of a line that is a heading because of its
/// final colon. A bold heading with an aside in brackets may be twice as long.
const MAX_HEADING_BYTES: usize = 70;
/// The level of a bold paragraph.
const BOLD: usize = 8;
/// The level of any other introduction of passages.
const LEAD_IN: usize = 9;
/// Number of bytes of a code block, or of the struck text of an item, after which more text is
/// ignored.
const MAX_CODE_BYTES: usize = 80;

/// A paragraph, list item or table row of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The headings above the passage, the outermost first.
    pub(crate) headings: Vec<String>,
    pub(crate) form: Form,
    /// The number in an ordered list, or the number or letter at the start of a table row.
    pub(crate) mark: Option<String>,
    /// The bold start of the passage without punctuation, as `Cause` in `**Cause**: the lock`.
    pub(crate) label: Option<String>,
    /// The text as one line, without the label.
    pub(crate) text: String,
    /// The short form of the item above a nested item: its label, or its text.
    pub(crate) parent: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Paragraph,
    Item {
        /// Number of lists around the item, at least 1.
        depth: usize,
        /// Whether the check box is ticked; `None` without a check box.
        ticked: Option<bool>,
    },
    /// A table row with its cells joined.
    Row,
}

/// Returns the passages of `markdown`, in order. Quotes, struck text, HTML other than placeholders,
/// and code blocks are omitted, but a code block of one short line completes the sentence before
/// it.
pub(crate) fn passages(markdown: &str) -> Vec<Passage> {
    let markdown = with_list_marks(&markdown[..markdown.floor_char_boundary(MAX_PARSED_BYTES)]);
    let markdown = with_globs_escaped(&markdown);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
    let mut parser = PassageParser::default();
    for (event, range) in Parser::new_ext(&markdown, options).into_offset_iter() {
        if parser.passages.len() >= MAX_PASSAGES {
            break;
        }
        let is_struck =
            matches!(event, Event::Start(Tag::Strikethrough) | Event::End(TagEnd::Strikethrough));
        // In `5~10 s and 3~4 s`, a single tilde strikes out nothing.
        match is_struck && !markdown[range].starts_with(STRUCK) {
            true => parser.handle(Event::Text("~".into())),
            false => parser.handle(event),
        }
    }
    parser.passages
}

#[derive(Default)]
struct PassageParser {
    passages: Vec<Passage>,
    headings: Vec<(usize, String)>,
    /// Number of passages when the newest heading was added.
    at_heading: usize,
    text: String,
    /// Where the bold text at the start of `text` ends; 0 if other text comes before the bold text.
    label_end: Option<usize>,
    /// Number of bold spans that are open.
    bold: usize,
    lists: usize,
    /// The next number of each open list; `None` for a bulleted list.
    numbers: Vec<Option<u64>>,
    /// For each open list, the short form of the item that contains it, if such an item has text.
    parents: Vec<Option<String>>,
    mark: Option<String>,
    ticked: Option<bool>,
    /// Number of open code blocks, HTML blocks and struck texts, whose text is omitted.
    hidden: usize,
    /// The struck text of the open item.
    struck: String,
    /// Number of open quotes. All parts of a quote are omitted, including its headings and lists.
    quotes: usize,
    /// The start of the open code block.
    code: Option<String>,
    link: Option<String>,
    columns: Vec<String>,
    cells: Vec<String>,
}

impl PassageParser {
    fn handle(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => self.quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => self.quotes = self.quotes.saturating_sub(1),
            _ if self.quotes > 0 => {}
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.hidden == 0 => self.text.push_str(&text),
            Event::Text(text) => {
                let hidden = self.code.as_mut().unwrap_or(&mut self.struck);
                if hidden.len() <= MAX_CODE_BYTES {
                    hidden.push_str(&text);
                }
            }
            // `one_line` would replace the tab by a space.
            Event::Code(code) if self.hidden == 0 => {
                self.text.extend(["`", &code.replace('\t', "\\t"), "`"]);
            }
            Event::Code(code) => self.struck.extend(["`", &code, "`"]),
            // The `<TAB>` in `path<TAB>sum` is a placeholder, not an HTML element.
            Event::InlineHtml(html) if self.hidden == 0 && is_placeholder(&html) => {
                self.text.push_str(&html);
            }
            // `join_lines` joins the lines later.
            Event::SoftBreak | Event::HardBreak => self.text.push('\n'),
            Event::TaskListMarker(ticked) => self.ticked = Some(ticked),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Strong => {
                if self.bold == 0 && !may_precede_label(&self.text) {
                    self.label_end = self.label_end.or(Some(0));
                }
                self.bold += 1;
            }
            Tag::Link { dest_url, .. } => self.link = Some(dest_url.to_string()),
            Tag::CodeBlock(_) => {
                self.hidden += 1;
                self.code = Some(String::new());
            }
            Tag::HtmlBlock => self.hidden += 1,
            Tag::Strikethrough => {
                self.text.push_str(STRUCK);
                self.hidden += 1;
            }
            Tag::Table(_) if self.lists == 0 => self.lead_in(),
            // The text of an item ends where a table begins.
            Tag::Table(_) => self.finish(),
            Tag::List(first) => {
                if self.lists == 0 {
                    self.lead_in();
                }
                // The text of an item ends where a nested list begins.
                self.finish();
                self.parents.push(self.open_item());
                self.lists += 1;
                self.numbers.push(*first);
            }
            Tag::Item => {
                self.clear();
                let number = self.numbers.last_mut().and_then(Option::as_mut);
                self.mark = number.map(|number| {
                    *number += 1;
                    (*number - 1).to_string()
                });
            }
            Tag::Heading { .. } | Tag::Paragraph | Tag::TableCell => {
                if matches!(tag, Tag::TableCell) || self.lists == 0 {
                    self.clear();
                } else if !self.text.is_empty() {
                    self.finish();
                }
            }
            Tag::TableHead => self.columns.clear(),
            Tag::TableRow => self.cells.clear(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong => {
                self.bold = self.bold.saturating_sub(1);
                if self.bold == 0 && self.label_end.is_none() {
                    self.label_end = Some(self.text.len());
                }
            }
            TagEnd::Link if self.hidden == 0 => {
                let link = self.link.take().unwrap_or_default();
                self.text.push_str(position_of_link(&self.text, &link));
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                self.hidden = self.hidden.saturating_sub(1);
                if let Some(code) = self.code.take() {
                    self.complete_before_code(&code);
                }
            }
            TagEnd::Strikethrough => self.hidden = self.hidden.saturating_sub(1),
            TagEnd::Heading(level) => self.heading(level as usize),
            TagEnd::Paragraph if self.lists == 0 => self.paragraph(),
            TagEnd::Item => self.finish(),
            TagEnd::List(_) => {
                self.lists = self.lists.saturating_sub(1);
                self.numbers.pop();
                self.parents.pop();
                if self.lists == 0 {
                    self.headings.retain(|(depth, _)| *depth < LEAD_IN);
                }
            }
            TagEnd::TableCell => self.cells.push(std::mem::take(&mut self.text)),
            TagEnd::TableHead => {
                self.columns = std::mem::take(&mut self.cells);
                // The rows of a plan are not completed work.
                if self.columns.iter().any(|column| is_plan_column(column)) {
                    self.headings.retain(|(depth, _)| *depth < LEAD_IN);
                    self.headings.push((LEAD_IN, "Plan".to_owned()));
                }
            }
            TagEnd::Table => self.headings.retain(|(depth, _)| *depth < LEAD_IN),
            TagEnd::TableRow => self.row(),
            _ => {}
        }
    }

    /// Returns the short form of the item whose text has just ended.
    fn open_item(&self) -> Option<String> {
        let item = self
            .passages
            .last()
            .filter(|last| matches!(last.form, Form::Item { depth, .. } if depth == self.lists))?;
        let text = item.label.as_deref().unwrap_or(&item.text);
        Some(text.trim_end_matches([':', '.']).trim().to_owned())
    }

    fn clear(&mut self) {
        self.text.clear();
        self.struck.clear();
        self.label_end = None;
        self.ticked = None;
        self.mark = None;
    }

    /// Adds a paragraph outside of lists, as text or as a heading.
    fn paragraph(&mut self) {
        self.trim();
        if let Some(end) =
            self.label_end.filter(|end| is_label_line(&self.text, *end, MAX_HEADING_BYTES))
        {
            self.text.replace_range(end..=end, ": ");
        }
        self.join_lines();
        let text = self.text.as_str();
        let behind = self.label_end.and_then(|end| text.get(end..));
        let is_bold = behind.is_some_and(|rest| rest.trim_matches([':', ' ']).is_empty());
        let is_short = text.len() <= MAX_HEADING_BYTES;
        let is_headline = is_short && is_bold
            || behind.is_some_and(|rest| text.len() <= 2 * MAX_HEADING_BYTES && is_aside(rest));
        if is_headline && self.starts_bold() && !is_stated(text) {
            self.heading(BOLD);
        } else if is_short && text.ends_with(':') && !(self.starts_bold() && is_numbered(text)) {
            self.heading_after_statement();
        } else {
            self.finish();
        }
    }

    /// Completes the sentence before a code block, or shortens it, as [`with_code`] does.
    fn complete_before_code(&mut self, code: &str) {
        self.join_lines();
        let ended = |text: &str| with_code(text, code);
        if self.lists > 0 {
            if is_unfinished(&self.text) {
                self.text = ended(&self.text);
                self.label_end = self.label_end.filter(|end| *end <= self.text.len());
            }
            return;
        }
        // A short line with a colon was parsed as the heading of the next passages.
        let is_next = self.at_heading == self.passages.len();
        let heading = self.headings.pop_if(|(depth, _)| *depth == LEAD_IN && is_next);
        let completed = heading.map(|(_, heading)| (ended(&heading), heading));
        let is_complete = |(text, heading): &(String, String)| text.len() >= heading.len();
        if let Some((text, _)) = completed.filter(is_complete) {
            self.push(Form::Paragraph, None, None, &text);
        } else if let Some(last) = self.passages.last_mut()
            && last.form == Form::Paragraph
            && is_unfinished(&last.text)
        {
            last.text = ended(&last.text);
        }
    }

    /// Removes the blanks at both ends of the text.
    fn trim(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        let blank = self.text.len() - self.text.trim_start().len();
        self.text.drain(..blank);
        let length = self.text.len();
        self.label_end = self.label_end.map(|end| end.saturating_sub(blank).min(length));
    }

    fn starts_bold(&self) -> bool {
        self.label_end.is_some_and(|end| end > 0 && end <= self.text.len())
    }

    /// Joins the lines of the text, with a semicolon between lines that are separate statements.
    fn join_lines(&mut self) {
        while let Some(at) = self.text.find('\n') {
            let (before, after) = (&self.text[..at], &self.text[at + 1..]);
            let mark = if is_line_alone(before, after) { "; " } else { " " };
            self.text.replace_range(at..=at, mark);
            self.label_end =
                self.label_end.map(|end| if end > at { end + mark.len() - 1 } else { end });
        }
    }

    fn finish(&mut self) {
        if is_struck_out(&self.text) {
            let struck = std::mem::take(&mut self.struck);
            self.clear();
            // In a list of finished work, struck text is finished.
            let topic =
                self.headings.iter().rev().find_map(|(_, heading)| topic_of_heading(heading));
            if self.lists > 0 && topic == Some(Topic::Done) {
                self.text = struck;
                self.ticked = Some(true);
            }
        }
        self.join_lines();
        let form = match self.lists {
            0 => Form::Paragraph,
            depth => Form::Item { depth, ticked: self.ticked.or_else(|| ticked(&self.text)) },
        };
        let (label, text) = split_label(&self.text, self.label_end);
        let mark = self.mark.take();
        self.clear();
        self.push(form, mark, label, &text);
    }

    fn push(&mut self, form: Form, mark: Option<String>, label: Option<String>, text: &str) {
        let text = one_line(text);
        // `([github.com](https://github.com/…))` only cites a source.
        let text =
            pattern!(r" \((?:www\.)?(?:github|gitlab|stackoverflow)\.com\)").replace_all(&text, "");
        if text.is_empty() && label.is_none() {
            return;
        }
        let headings = self.headings.iter().map(|(_, heading)| heading.clone()).collect();
        let is_nested = matches!(form, Form::Item { depth, .. } if depth > 1);
        let parent = self.parents.last().cloned().flatten().filter(|_| is_nested);
        self.passages.push(Passage {
            headings,
            form,
            mark,
            label,
            text: text.into_owned(),
            parent,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats each passage as `headings > label | text`.
    fn shown(markdown: &str) -> Vec<String> {
        let show = |passage: Passage| {
            let label = passage.label.map_or(String::new(), |label| format!("{label} | "));
            format!("{} > {label}{}", passage.headings.join("/"), passage.text)
        };
        passages(markdown).into_iter().map(show).collect()
    }

    #[test]
    fn a_bold_line_is_the_label_of_the_lines_below_it() {
        assert_eq!(
            shown(
                "**Main commands**\n`list sync` reads all rows.\n\nSee ([github.com](https://acme.org/a)) it.\n"
            ),
            [" > Main commands | `list sync` reads all rows.", " > See it."]
        );
    }

    #[test]
    fn a_statement_before_a_short_introduction_is_a_paragraph() {
        assert_eq!(
            shown("The list is enough for it. The page covers:\n\n- rows\n"),
            [" > The list is enough for it.", "The page covers > rows"]
        );
        assert_eq!(shown("Done. Two notes:\n\n- rows\n"), ["Done. Two notes > rows"]);
        assert_eq!(
            shown("Both lists are sorted now. Here's how:\n\n- rows\n"),
            [" > Both lists are sorted now.", "Here's how > rows"]
        );
        assert_eq!(
            shown("The fix of it is complete. Here's a summary:\n\n- rows\n"),
            ["The fix of it is complete. Here's a summary > rows"]
        );
    }

    #[test]
    fn a_bold_start_may_end_within_the_statement_before_a_list() {
        let found = shown("**已修复 a b c 问题。所有测试通过**。说明:\n\n- 一\n");
        assert!(found.iter().any(|one| one.contains("所有测试通过")), "{found:?}");
    }

    #[test]
    fn blanks_of_several_bytes_before_bold_text_do_not_count() {
        assert_eq!(
            shown("Both.\n\n&nbsp;**Done** — all tests pass.\n\n\u{3000}**Done** ✅ works\n"),
            [" > Both.", " > Done | all tests pass.", " > Done works"]
        );
        assert_eq!(shown("&nbsp;**Still open:**&nbsp;\n\n- Index\n"), ["Still open > Index"]);
        // Each combination of blanks, bold text, marks and breaks is parsed without a panic.
        let parts = ["&nbsp;", "\u{3000}", "**更 b**", "**", " ", "\n", "— é", ":", "`ü`", "(a) "];
        for number in 0..10_000_usize {
            let digits = [number / 1000, number / 100 % 10, number / 10 % 10, number % 10];
            let text: String = digits.iter().map(|digit| parts[*digit]).collect();
            passages(&format!("**{text}\n\n{text}\n\n- {text}\n  ```\n  ü\n  ```\n  {text}:\n"));
        }
    }

    #[test]
    fn completed_work_before_long_code_is_kept_and_code_keeps_its_tabs() {
        let text = "Updated `a.json` to remove the old switch of the list:\n\n```json\n{\n  \"a\": 1\n}\n```\n\nChanged the check so that it is:\n\n```\na\nb\n```\n\nEach row is `a\tb`.\n";
        assert_eq!(
            shown(text),
            [" > Updated `a.json` to remove the old switch of the list", " > Each row is `a\\tb`."]
        );
    }

    #[test]
    fn patterns_of_paths_keep_their_stars() {
        let text = "- **src/**: Skip files of !**/dist/**/* in `a/**`\n- **/commit** works\n";
        assert_eq!(
            shown(text),
            [" > src/ | Skip files of !**/dist/**/* in `a/**`", " > /commit works"]
        );
    }

    #[test]
    fn headings_apply_to_the_passages_below() {
        let text = "Done.\n\n## What changed\n\n- **Parser**: keeps the last line\n- plain\n\n**Still open:**\n\n1. Measure it\n\nNext steps:\n- one\n\nAfterwards.\n";
        assert_eq!(
            shown(text),
            [
                " > Done.",
                "What changed > Parser | keeps the last line",
                "What changed > plain",
                "What changed/Still open > Measure it",
                "What changed/Still open/Next steps > one",
                "What changed/Still open > Afterwards.",
            ]
        );
    }

    #[test]
    fn rows_of_tables_are_read_and_code_is_not() {
        let text = "| Finding | Verdict |\n|---|---|\n| Lock | wrong: it is held |\n\n```\n- no\n```\n> quoted\n";
        assert_eq!(shown(text), [" > Lock | wrong: it is held"]);
    }

    #[test]
    fn a_sentence_before_code_is_completed_or_shortened() {
        let text = "- Added a loader, registering:\n\n  ```go\n  load(empty)\n  ```\n- Added a file, calling\n\n  ```go\n  a()\n  b()\n  ```\n\nIt runs as:\n```\nmake all\n```\nIt is set in:\n```\na = 1\nb = 2\n```\n";
        assert_eq!(
            shown(text),
            [
                " > Added a loader, registering `load(empty)`",
                " > Added a file",
                " > It runs as `make all`",
            ]
        );
    }

    #[test]
    fn a_label_that_introduces_a_list_is_its_heading() {
        let opening = "Here is what the reader of the page and the writer of its index do now:";
        let label = "2. Fixed `pages/reader.md`";
        let gaps = "two gaps that the last review of the page had named";
        let text = format!("{opening}\n\n## Reader\n\n**{label}** - {gaps}:\n\n- one\n- two\n");
        assert_eq!(
            shown(&text),
            [
                format!(" > {opening}"),
                format!("Reader/{label}: {gaps} > one"),
                format!("Reader/{label}: {gaps} > two"),
            ]
        );
    }

    #[test]
    fn bold_numbers_with_a_file_are_headings() {
        let long = "`pages/of/the/reader_and_writer_of_the_index.rs` lines 154-163";
        let text = format!(
            "**1. The reader**\n\n- one\n\n**2. The writer** (`w.rs`):\n- two\n\n**3. The index** ({long}):\n- three\n"
        );
        assert_eq!(
            shown(&text),
            [
                "1. The reader > one".to_owned(),
                "2. The writer (`w.rs`) > two".to_owned(),
                format!("3. The index ({long}) > three"),
            ]
        );
    }

    #[test]
    fn an_introduction_is_a_heading_of_the_bold_headings_below() {
        let text = "Where `log` is missing:\n\n**1. `a.rs`** - the best place:\n```go\na()\nb()\n```\n\n**2. `b.rs`** - not needed\n";
        assert_eq!(
            shown(text),
            [
                "Where `log` is missing > 1. `a.rs` | ",
                "Where `log` is missing > 2. `b.rs` | not needed",
            ]
        );
        let text = "A few points:\n\n**What breaks:**\n- one\n\n**What stays:**\n- two\n\n## Next\n\n- three\n";
        assert_eq!(
            shown(text),
            ["A few points/What breaks > one", "A few points/What stays > two", "Next > three"]
        );
    }

    #[test]
    fn a_bold_verdict_is_text_and_bold_words_before_brackets_are_not_a_label() {
        assert_eq!(shown("**Verdict: Ship it.**"), [" > Verdict: Ship it | "]);
        assert_eq!(
            shown("- **Reinstall** (`a --force`) removes hooks\n- **Table** (line 14): changed\n"),
            [" > Reinstall (`a --force`) removes hooks", " > Table (line 14) | changed"]
        );
    }

    #[test]
    fn links_keep_their_line_and_labelled_lines_stay_apart() {
        assert_eq!(
            shown(
                "- See [docs/a.md](/app/docs/a.md:23), [b.md:4](b.md:4) and [c](https://c.d/e)\n"
            ),
            [" > See docs/a.md:23, b.md:4 and c"]
        );
        assert_eq!(
            shown("Area: api\nFiles: 3 kept\n\nA line that is wrapped\nNote: it goes on"),
            [" > Area: api; Files: 3 kept", " > A line that is wrapped; Note: it goes on"]
        );
    }

    #[test]
    fn the_last_sentence_before_a_list_is_the_heading_of_its_items() {
        let text = "The branch is fine. The gaps that I would close before calling it well covered are these:\n\n1. No test of a race\n";
        assert_eq!(
            shown(text),
            [
                " > The branch is fine.",
                "The gaps that I would close before calling it well covered are these > No test of a race",
            ]
        );
    }

    #[test]
    fn a_cell_that_only_answers_keeps_its_column() {
        let text = "| Job | Needs a lock? | Runs |\n|---|---|---|\n| Import | Yes - for each file | 3 |\n| Sweep | holds its own | at night |\n";
        assert_eq!(
            shown(text),
            [
                " > Import | Needs a lock: Yes - for each file – Runs: 3",
                " > Sweep | Needs a lock: holds its own – at night"
            ]
        );
    }

    #[test]
    fn lists_side_by_side_are_two_lists() {
        let found = passages(
            "| Completed | Remaining |\n|---|---|\n| The reader | The writer |\n| | The index |\n",
        );
        let items: Vec<String> =
            found.iter().map(|one| format!("{}: {}", one.headings.join("/"), one.text)).collect();
        assert_eq!(
            items,
            ["Completed: The reader", "Remaining: The writer", "Remaining: The index"]
        );
    }

    #[test]
    fn figures_keep_their_columns_and_dashes_are_empty_cells() {
        let text = "| Bench | Time | Bytes |\n|---|---|---|\n| Read | -16% | 1844 (-39%) |\n| Key | \u{2014} | - |\n";
        assert_eq!(shown(text), [" > Read | Time: -16% \u{2013} Bytes: 1844 (-39%)", " > Key"]);
    }

    #[test]
    fn a_bold_sentence_is_text() {
        assert_eq!(
            shown(
                "**No, the mail of the shop is not logged anywhere.**\n\n**The list.**\n\n- one\n"
            ),
            [" > No, the mail of the shop is not logged anywhere.", "The list > one"]
        );
    }

    #[test]
    fn bold_words_at_the_end_of_a_sentence_are_not_a_heading() {
        let text = "Request open: **https://x.org/a/pull/9**\n\nThe two are **not the same** - they differ in time:\n\n**Size** and rows\n\n[P1] **Race**: the lock\n";
        assert_eq!(
            shown(text),
            [
                " > Request open: https://x.org/a/pull/9",
                "The two are not the same - they differ in time > Size and rows",
                "The two are not the same - they differ in time > [P1] Race | the lock",
            ]
        );
    }

    #[test]
    fn nested_items_have_the_item_above_as_parent() {
        let text = "1. **Guide section** (lines 3-9):\n   - Removed step 4\n     - for good\n2. Plain text:\n   - Added a note\n- top\n";
        let parents: Vec<_> = passages(text).into_iter().map(|one| one.parent).collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            parents,
            [
                None,
                some("Guide section (lines 3-9)"),
                some("Removed step 4"),
                None,
                some("Plain text"),
                None
            ]
        );
    }

    #[test]
    fn items_and_rows_keep_their_numbers() {
        let text = "3. three\n4. four\n   - inner\n\n| # | Title |\n|---|---|\n| 5 | Fix it |\n";
        let marks: Vec<_> = passages(text).into_iter().map(|one| (one.mark, one.text)).collect();
        let mark = |mark: &str, text: &str| (Some(mark.to_owned()), text.to_owned());
        assert_eq!(
            marks,
            [
                mark("3", "three"),
                mark("4", "four"),
                (None, "inner".to_owned()),
                mark("5", "Fix it")
            ]
        );
    }

    #[test]
    fn bold_words_within_a_sentence_are_not_a_label() {
        assert_eq!(
            shown("It **never** holds.\n\n- **all** of them"),
            [" > It never holds.", " > all of them"]
        );
    }

    #[test]
    fn a_bold_negation_or_amount_is_not_a_label() {
        let text = "**No** API changes were made.\n\n## Still open\n\n- **No** CI job runs it\n- **All** JSON files\n";
        assert_eq!(
            shown(text),
            [
                " > No API changes were made.",
                "Still open > No CI job runs it",
                "Still open > All JSON files",
            ]
        );
        let text = "- **No:** API 2 stays\n- **No** - API 2 stays\n- **No.** API 2 stays\n- **Both sides** API 2\n";
        assert_eq!(
            shown(text),
            [
                " > No | API 2 stays",
                " > No | API 2 stays",
                " > No | API 2 stays",
                " > Both sides | API 2",
            ]
        );
    }

    #[test]
    fn an_item_ends_where_a_nested_list_begins() {
        assert_eq!(
            shown("- outer\n  - inner\n- [x] ticked"),
            [" > outer", " > inner", " > ticked"]
        );
    }

    #[test]
    fn an_item_ends_where_a_table_or_a_heading_begins() {
        let text = "1. All are faster:\n\n   | Bench | Time |\n   |---|---|\n   | Read | 3 ms |\n\n2. Renamed it\n   # Later\n   - Index\n";
        assert_eq!(
            shown(text),
            [" > All are faster:", " > Read | Time: 3 ms", " > Renamed it", "Later > Index"]
        );
    }

    #[test]
    fn the_parts_of_a_quote_are_omitted() {
        let text = "## Remaining work\n\n> ## Acceptance\n> must pass\n>\n> - a\n\n- Wire the parser\n  > **now**\n  > `soon`\n- Index\n\n> first\n> **second**\n\nLast.\n";
        assert_eq!(
            shown(text),
            [
                "Remaining work > Wire the parser",
                "Remaining work > Index",
                "Remaining work > Last.",
            ]
        );
    }

    #[test]
    fn struck_text_is_omitted() {
        let text = "## Remaining\n\n- ~~Add retry~~\n- ~~Add `b`~~ (done)\n- ~~**Old**~~ \u{2014} fixed in `a1`\n- [ ] ~~Cut it~~: no longer needed\n- Measure the import\n\n~~Use Redis~~ SQLite is enough\n\n| Task | State |\n|---|---|\n| ~~Index~~ | done |\n| Lists | ~~open~~ now |\n";
        assert_eq!(
            shown(text),
            [
                "Remaining > Measure the import",
                "Remaining > SQLite is enough",
                "Remaining > Lists | now",
            ]
        );
    }

    #[test]
    fn struck_items_of_finished_work_are_finished() {
        let text = "## Done\n- ~~Add the `retry`~~ ✅\n- ~~Cache the list~~ (done)\n\n~~No~~\n\n## Next\n- ~~Sort it~~\n";
        let found = passages(text);
        assert_eq!(shown(text), ["Done > Add the `retry`", "Done > Cache the list"]);
        assert!(found.iter().all(|one| one.form == Form::Item { depth: 1, ticked: Some(true) }));
    }

    #[test]
    fn text_beside_struck_text_is_kept() {
        let text = "- ~~Redis~~ Completed the switch to SQLite\n- ~~Redis~~ (SQLite) in `a.rs`\n- Keep ~~nothing~~ all\n- it takes 5~10 s, then 3~4 s\n";
        assert_eq!(
            shown(text),
            [
                " > Completed the switch to SQLite",
                " > (SQLite) in `a.rs`",
                " > Keep all",
                " > it takes 5~10 s, then 3~4 s",
            ]
        );
    }

    #[test]
    fn the_number_of_passages_is_limited() {
        let text = format!("{}**open `code\n\n{}", "> ".repeat(400), "- ".repeat(4_000));
        assert!(passages(&text).len() <= MAX_PASSAGES);
        assert!(passages(&"- item\n".repeat(10_000)).len() <= MAX_PASSAGES);
    }
}
