//! Splits a report in Markdown into sentences, list items, table rows and blocks of code.

use std::{borrow::Cow, mem};

use crate::{pattern::pattern, text::sentences};

/// Maximum length, in characters, of a block of code that no sentence introduces. A longer block is
/// omitted.
const MAX_CODE_CHARS: usize = 100;
/// Maximum length, in characters, of a block of code that a sentence introduces. A longer block is
/// reduced to its first lines.
const MAX_INTRODUCED_CODE_CHARS: usize = 240;
/// A line of at least this number of characters may continue on the next line.
const MIN_WRAPPED_CHARS: usize = 60;
/// The level of a heading that is written as bold text.
const BOLD_LEVEL: usize = 7;

/// A sentence, a list item, a table row or a block of code.
#[derive(Debug, Default)]
pub(super) struct ReportPart {
    pub(super) text: String,
    /// The heading above the part, if the part is the first one below that heading.
    pub(super) heading: Option<String>,
    pub(super) is_item: bool,
    /// Whether the part follows another sentence of its paragraph.
    pub(super) follows: bool,
}

pub(super) fn parts(markdown: &str) -> Vec<ReportPart> {
    let mut reader = ReportReader::default();
    let lines: Vec<&str> = markdown.lines().collect();
    let is_fence = |at: &usize| lines[*at].trim_start().starts_with("```");
    let fences: Vec<usize> = (0..lines.len()).filter(is_fence).collect();
    // The lines below a fence without an end are text.
    let unclosed = fences.last().copied().filter(|_| fences.len() % 2 == 1);
    for at in (0..lines.len()).filter(|at| Some(*at) != unclosed) {
        reader.read(lines[at], lines.get(at + 1).map_or("", |next| next.trim()));
    }
    reader.end_paragraph();
    reader.parts
}

pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

#[derive(Default)]
struct ReportReader {
    parts: Vec<ReportPart>,
    heading: Option<Heading>,
    paragraph: String,
    /// Whether the next line may begin a new sentence, because the last line of the paragraph is
    /// short or ends with a line break of Markdown.
    is_line_ended: bool,
    /// Whether the line before belongs to a list item.
    is_in_item: bool,
    /// Whether the lines below the last heading are a list of sources.
    is_sources: bool,
    /// The lines of a block of code so far.
    code: Option<Vec<String>>,
}

struct Heading {
    text: String,
    level: usize,
    /// Whether a block of code below the heading was omitted.
    had_code: bool,
}

impl ReportReader {
    fn read(&mut self, raw: &str, next: &str) {
        let line = raw.trim();
        if line.starts_with("```") {
            return self.toggle_code();
        }
        if let Some(code) = &mut self.code {
            code.push(line.to_owned());
            return;
        }
        let was_in_item = mem::take(&mut self.is_in_item);
        let heading = pattern!(r"^(?:(#{1,6}) +(.+?)(?: +#+)?|\*\*([^*]+?):?\*\*:?)$");
        let item = pattern!(
            r"^(?:[-*+•] +|\d{1,2}[.)] +|[✅✔✓☑]\u{FE0F}? *|(?P<sign>[❌✗✘❗⚠🔴🟡🟢]\u{FE0F}? *)|(?P<bold>\*\*\d{1,2}[.)] ))(?:\[(?P<box>[ xX])\] +)?(?P<text>.+)$"
        );
        if line.is_empty() || pattern!(r"^(?:[-*_] ?){3,}$|^[━─═]+$").is_match(line) {
            self.end_paragraph();
        } else if let Some(found) = heading.captures(line) {
            self.end_paragraph();
            let level = found.get(1).map_or(BOLD_LEVEL, |marks| marks.len());
            let text = found.get(2).or(found.get(3)).map_or("", |text| text.as_str());
            self.set_heading(plain(text).trim_end_matches(':').trim(), level);
        } else if let Some(found) = item.captures(line) {
            self.end_paragraph();
            let is_open = found.name("box").is_some_and(|mark| mark.as_str() == " ");
            let open = if is_open { "(open) " } else { "" };
            let bold = if found.name("bold").is_some() { "**" } else { "" };
            // A sign of success is dropped, because an item without a sign means the same.
            let sign = found.name("sign").map_or("", |sign| sign.as_str());
            self.item(format!("{open}{sign}{}", plain(&format!("{bold}{}", &found["text"]))));
            self.is_in_item = !self.is_sources;
        } else if line.starts_with('|') {
            self.end_paragraph();
            // The names of the columns are meaningless without the table.
            if !is_rule(line) && !is_rule(next) {
                self.item(plain(&cells(line)).into_owned());
            }
        } else if was_in_item && raw.starts_with("  ") {
            self.is_in_item = true;
            self.continue_item(&plain(line));
        } else {
            self.continue_paragraph(raw, line);
        }
    }

    fn set_heading(&mut self, text: &str, level: usize) {
        self.is_sources =
            pattern!(r"(?i)^(?:sources?|references|quellen|fuentes|参考|出典)$").is_match(text);
        let above = self.heading.take().filter(|above| {
            let is_empty_section = level <= above.level && above.level < BOLD_LEVEL;
            !is_empty_section && !above.had_code
        });
        // A heading directly below another heading is a subheading.
        let text = match above {
            Some(above) if above.text.ends_with(['.', '!', '?']) => {
                format!("{} {text}", above.text)
            }
            Some(above) => format!("{}: {text}", above.text),
            None => text.to_owned(),
        };
        self.heading = Some(Heading { text, level, had_code: false });
    }

    /// Appends an indented line to the list item above it.
    fn continue_item(&mut self, line: &str) {
        let Some(item) = self.parts.last_mut() else { return };
        let is_ended = item.text.ends_with(['.', '!', '?', ':', ';', ',']);
        // A line that starts with a capital letter is a new sentence about the item.
        let is_new = !is_ended
            && length(&item.text) < MIN_WRAPPED_CHARS
            && line.starts_with(|c: char| c.is_uppercase());
        item.text.push_str(if is_new { ": " } else { " " });
        item.text.push_str(line);
    }

    fn continue_paragraph(&mut self, raw: &str, line: &str) {
        let is_start = line
            .starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || "`*\"“".contains(c));
        if !self.paragraph.is_empty() {
            let is_open = self.paragraph.ends_with(|c: char| {
                c.is_alphanumeric() || matches!(c, '`' | ')' | '"' | '”' | '%')
            });
            let gap = if self.is_line_ended && is_open && is_start { "; " } else { " " };
            self.paragraph.push_str(gap);
        }
        self.paragraph.push_str(&plain(line));
        // Two spaces or a backslash at the end of a line end this line in Markdown.
        self.is_line_ended =
            raw.ends_with("  ") || raw.ends_with('\\') || length(line) < MIN_WRAPPED_CHARS;
    }

    fn toggle_code(&mut self) {
        self.is_in_item = false;
        let Some(code) = self.code.take() else {
            self.end_paragraph();
            self.code = Some(Vec::new());
            return;
        };
        let code = code.iter().map(|line| line.trim().replace('`', "'"));
        let code: Vec<String> = code.filter(|line| !line.is_empty()).collect();
        let last = self.parts.last();
        let is_introduced = last.map_or(self.heading.is_none(), |part| part.text.ends_with(':'));
        let shown = match is_introduced {
            true => shortened_code(&code),
            false => Some(code.join("; ")).filter(|code| length(code) <= MAX_CODE_CHARS),
        };
        match shown.filter(|code| !code.is_empty()) {
            Some(code) => self.item(format!("`{code}`")),
            None => {
                // The sentence announces code. An ellipsis replaces the omitted code.
                if let Some(part) = self.parts.last_mut().filter(|_| is_introduced) {
                    part.text.push_str(" …");
                }
                if let Some(heading) = &mut self.heading {
                    heading.had_code = true;
                }
            }
        }
    }

    fn item(&mut self, text: String) {
        let heading = self.heading.take().map(|heading| heading.text);
        if !self.is_sources {
            self.parts.push(ReportPart { text, heading, is_item: true, follows: false });
        }
    }

    fn end_paragraph(&mut self) {
        self.is_line_ended = false;
        let paragraph = mem::take(&mut self.paragraph);
        for (at, sentence) in sentences(&paragraph).into_iter().enumerate() {
            let heading = self.heading.take().map(|heading| heading.text);
            let text = sentence.to_owned();
            self.parts.push(ReportPart { text, heading, is_item: false, follows: at > 0 });
        }
    }
}

/// Returns the lines of a block of code in one line. A longer block is reduced to its first whole
/// lines, without a line that opens a block. Returns `None` if not even the first line fits, or if
/// the code is part of a program.
fn shortened_code(code: &[String]) -> Option<String> {
    let whole = code.join("; ");
    if length(&whole) <= MAX_INTRODUCED_CODE_CHARS {
        return Some(whole);
    }
    let fits = |count: &usize| length(&code[..*count].join("; ")) <= MAX_INTRODUCED_CODE_CHARS - 3;
    let count = (1..code.len()).rev().find(fits)?;
    let opens = |line: &&String| line.ends_with(['{', '(', '[', ':', ',', '\\']);
    let opening = code[..count].iter().rev().take_while(opens).count();
    let kept = &code[..count - opening];
    // Half of a function, for example, does not say what the function does.
    let is_program = code.iter().any(|line| line.ends_with(['{', '}', ';']));
    (!kept.is_empty() && !is_program).then(|| format!("{}; …", kept.join("; ")))
}

/// Whether a line separates the header of a table from its rows.
fn is_rule(line: &str) -> bool {
    pattern!(r"^\|[\s:|-]*-[\s:|-]*$").is_match(line)
}

fn cells(row: &str) -> String {
    let cells = row.trim_matches('|').split('|').map(str::trim).filter(|cell| !cell.is_empty());
    cells.collect::<Vec<_>>().join(" – ")
}

/// Returns a line without bold marks, without tags of HTML that only format, without the addresses
/// of links, and without references such as `(see below)`.
fn plain(line: &str) -> Cow<'_, str> {
    let emphasis = pattern!(
        r"\*\*([^*]+)\*\*| *[✅✔✓☑]\u{FE0F}?$| ?\((?:see|as) (?:above|below)\)|</?(?:sub|sup|kbd|small|details|summary|br)\b[^<>]*>"
    );
    let link = pattern!(r"\[([^\]]+)\]\([^)]+\)");
    match emphasis.replace_all(line, "$1") {
        Cow::Borrowed(line) => link.replace_all(line, "$1"),
        Cow::Owned(line) => Cow::Owned(link.replace_all(&line, "$1").into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(markdown: &str) -> Vec<String> {
        let text = |part: ReportPart| match part.heading {
            Some(heading) => format!("{heading}: {}", part.text),
            None => part.text,
        };
        parts(markdown).into_iter().map(text).collect()
    }

    #[test]
    fn a_heading_without_text_is_left_out() {
        let code = "let a_long_name = another_long_name;\n".repeat(4);
        for (report, wanted) in [
            (
                format!("### The fix\n```rust\n{code}```\n\n### Result\nBoth are off."),
                vec!["Result: Both are off."],
            ),
            ("## Open\n\n## Done\nAll.".to_owned(), vec!["Done: All."]),
            (format!("## Deferred\n```rust\n{code}```\nThe cache."), vec!["Deferred: The cache."]),
            ("## Done!\n**Parser**\n- Dates".to_owned(), vec!["Done! Parser: Dates"]),
            ("\u{2705} Linux\n\u{274c} Windows".to_owned(), vec!["Linux", "\u{274c} Windows"]),
        ] {
            assert_eq!(texts(&report), wanted, "{report}");
        }
    }

    #[test]
    fn short_lines_of_a_paragraph_are_separated() {
        for (report, wanted) in [
            ("Area: api\nFiles: 3 read\nBoth pushed", "Area: api; Files: 3 read; Both pushed"),
            ("The parser reads\nold dates.", "The parser reads old dates."),
            (
                "The parser of dates reads the zone of every date before\u{20}\u{20}\nBerlin keeps its zone",
                "The parser of dates reads the zone of every date before; Berlin keeps its zone",
            ),
            (
                "The parser of dates reads the zone of every date that is near\nBerlin",
                "The parser of dates reads the zone of every date that is near Berlin",
            ),
        ] {
            assert_eq!(texts(report), [wanted], "{report}");
        }
    }

    #[test]
    fn lines_with_a_mark_are_items_and_indented_lines_belong_to_them() {
        let report =
            "✅ Off by default\n✅ Safe\n**1. Login** - fixed\n- lint/go\n  Uses `/tmp`.\n";
        assert_eq!(
            texts(report),
            ["Off by default", "Safe", "Login - fixed", "lint/go: Uses `/tmp`."]
        );
        assert!(parts(report).iter().all(|part| part.is_item));
    }

    #[test]
    fn introduced_code_is_whole_or_ends_after_a_line() {
        let long = "copy --from a_long_name --to another_long_name --keep-going --verbose";
        for (code, wanted) in [
            ("make a\nmake b".to_owned(), vec!["Run:", "`make a; make b`"]),
            (format!("{long}\n").repeat(4), vec!["Run:", &format!("`{long}; {long}; {long}; …`")]),
            (format!("fn a() {{\n{}}}", format!("{long};\n").repeat(4)), vec!["Run: …"]),
        ] {
            assert_eq!(texts(&format!("Run:\n```\n{code}\n```")), wanted, "{code}");
        }
    }
}
