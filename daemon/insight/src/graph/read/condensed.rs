//! Shortens a report in Markdown to one line, for a reader who wants to know what it comes to.

use std::{borrow::Cow, mem};

use crate::{graph::text, pattern::pattern};

/// Marks where the middle of a report was left out.
const GAP: &str = " … ";
/// Maximum characters of a block of code that is kept.
const CODE: usize = 100;

/// Returns a report on one line of at most `limit` characters: whole where it fits, else its
/// beginning and its end, in whole sentences and items.
pub(super) fn condensed(markdown: &str, limit: usize) -> String {
    fitted(&parts(markdown), limit)
}

/// Same as [`condensed`], without what a report asks and offers.
pub(super) fn condensed_statements(markdown: &str, limit: usize) -> String {
    let offer = pattern!(
        r"(?i)^(?:if you(?:.d)? (?:want|like|prefer|wish)|let me know|want me|would you|do you want|shall i|should i|ready (?:to|for|when)|just (?:say|tell)|say the word|wenn du (?:willst|möchtest)|soll ich|si quieres|quieres que|si tu veux|veux-tu)\b"
    );
    let mut parts = parts(markdown);
    parts.retain(|part| !part.text.ends_with(['?', '？']) && !offer.is_match(&part.text));
    fitted(&parts, limit)
}

/// Returns the line of all parts, or of the first and the last ones.
fn fitted(parts: &[ReportPart], limit: usize) -> String {
    let whole = line(parts);
    if whole.chars().count() <= limit {
        return whole;
    }
    let head = longest(parts, limit * 2 / 3, |length| &parts[..length]);
    // A first part without an end, such as a pasted log.
    if head.is_empty() {
        return text::cut(&whole, limit.saturating_sub(1));
    }
    let rest = &parts[head.len()..];
    let room = limit.saturating_sub(line(head).chars().count() + GAP.chars().count());
    let tail = longest(rest, room, |length| &rest[rest.len() - length..]);
    let gap = if tail.is_empty() { " …" } else { GAP };
    format!("{}{gap}{}", line(head), line(tail))
}

/// Returns the longest slice whose line has at most `room` characters.
fn longest<'p>(
    parts: &'p [ReportPart],
    room: usize,
    slice: impl Fn(usize) -> &'p [ReportPart],
) -> &'p [ReportPart] {
    let lengths = (0..=parts.len()).rev();
    let mut slices = lengths.map(slice);
    slices.find(|parts| line(parts).chars().count() <= room).unwrap_or_default()
}

/// A sentence, an item of a list, or a row of a table.
#[derive(Debug, Default)]
struct ReportPart {
    text: String,
    /// The heading above it, if it is the first part below it.
    heading: Option<String>,
    is_item: bool,
}

fn line(parts: &[ReportPart]) -> String {
    let mut line = String::new();
    let mut follows_item = false;
    for part in parts {
        if follows_item {
            let ended = line.trim_end_matches('.').len();
            let is_listed = part.is_item && part.heading.is_none();
            let is_ended = line.ends_with(['?', '!', ':', '…']);
            match (is_listed, is_ended) {
                (true, false) => line.replace_range(ended.., ";"),
                (false, false) => line.replace_range(ended.., "."),
                (_, true) => {}
            }
        }
        if !line.is_empty() {
            line.push(' ');
        }
        if let Some(heading) = &part.heading {
            line.push_str(&format!("{heading}: "));
        }
        line.push_str(&part.text);
        follows_item = part.is_item;
    }
    line
}

fn parts(markdown: &str) -> Vec<ReportPart> {
    let mut reader = ReportReader::default();
    let mut lines = markdown.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        reader.read(line, next);
    }
    reader.end_paragraph();
    reader.parts
}

#[derive(Default)]
struct ReportReader {
    parts: Vec<ReportPart>,
    heading: Option<String>,
    paragraph: String,
    /// Whether what follows is a list of sources.
    is_sources: bool,
    /// The lines of a block of code so far.
    code: Option<Vec<String>>,
}

impl ReportReader {
    fn read(&mut self, line: &str, next: &str) {
        if line.starts_with("```") {
            return self.toggle_code();
        }
        if let Some(code) = &mut self.code {
            code.push(line.to_owned());
            return;
        }
        let heading = pattern!(r"^(?:#{1,6} +(.+?)(?: +#+)?|\*\*([^*]+?):?\*\*:?)$");
        let item = pattern!(r"^(?:[-*+•] +|\d{1,2}[.)] +)(?:\[([ xX])\] +)?(.+)$");
        if line.is_empty() || pattern!(r"^(?:[-*_] ?){3,}$").is_match(line) {
            self.end_paragraph();
        } else if let Some(found) = heading.captures(line) {
            self.end_paragraph();
            let text = found.get(1).or(found.get(2)).map_or("", |text| text.as_str());
            let text = plain(text).trim_end_matches(':').to_owned();
            self.is_sources = pattern!(r"(?i)^(?:sources?|references|quellen|fuentes|参考|出典)$")
                .is_match(&text);
            self.heading = Some(text);
        } else if let Some(found) = item.captures(line) {
            self.end_paragraph();
            let is_open = found.get(1).is_some_and(|mark| mark.as_str() == " ");
            let open = if is_open { "(open) " } else { "" };
            self.item(format!("{open}{}", plain(&found[2])));
        } else if line.starts_with('|') {
            self.end_paragraph();
            // The names of the columns say nothing without the table.
            if !is_rule(line) && !is_rule(next) {
                self.item(plain(&cells(line)).into_owned());
            }
        } else {
            let gap = if self.paragraph.is_empty() { "" } else { " " };
            self.paragraph.push_str(&format!("{gap}{}", plain(line)));
        }
    }

    fn toggle_code(&mut self) {
        let Some(code) = self.code.take() else {
            self.end_paragraph();
            self.code = Some(Vec::new());
            return;
        };
        let code = code.join("; ");
        if !code.is_empty() && code.chars().count() <= CODE && !code.contains('`') {
            self.item(format!("`{code}`"));
        }
    }

    fn item(&mut self, text: String) {
        let heading = self.heading.take();
        if !self.is_sources {
            self.parts.push(ReportPart { text, heading, is_item: true });
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = mem::take(&mut self.paragraph);
        for sentence in sentences(&paragraph) {
            let heading = self.heading.take();
            self.parts.push(ReportPart { text: sentence.to_owned(), heading, is_item: false });
        }
    }
}

/// Whether a line separates the names of a table's columns from its rows.
fn is_rule(line: &str) -> bool {
    pattern!(r"^\|[\s:|-]*-[\s:|-]*$").is_match(line)
}

fn cells(row: &str) -> String {
    let cells = row.trim_matches('|').split('|').map(str::trim).filter(|cell| !cell.is_empty());
    cells.collect::<Vec<_>>().join(" – ")
}

/// Returns a line without emphasis and addresses of links.
fn plain(line: &str) -> Cow<'_, str> {
    let emphasis = pattern!(r"\*\*([^*]+)\*\*");
    let link = pattern!(r"\[([^\]]+)\]\([^)]+\)");
    match emphasis.replace_all(line, "$1") {
        Cow::Borrowed(line) => link.replace_all(line, "$1"),
        Cow::Owned(line) => Cow::Owned(link.replace_all(&line, "$1").into_owned()),
    }
}

fn sentences(paragraph: &str) -> Vec<&str> {
    let ends =
        pattern!("(?:[.!?][\"')]*|:) +(?:[A-Z`\"(“\u{2600}-\u{27BF}\u{1F300}-\u{1FAFF}])|[。！？]");
    let mut found = Vec::new();
    let mut start = 0;
    for end in ends.find_iter(paragraph) {
        let end = match paragraph[end.range()].find(' ') {
            Some(at) => end.start() + at,
            None => end.end(),
        };
        found.push(paragraph[start..end].trim());
        start = end;
    }
    found.push(paragraph[start..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
The lookup is fixed. `find()` read the old key.

## Changes
- **Parser**: reads [the key](src/key.rs) once
- Removed the cache.

| File | Lines |
|------|-------|
| `a.rs` | 12 |

```sh
cargo test
```

### Sources
- [The manual](https://example.com)

**Open**
1. [ ] Rotate the keys

Shall I push it?";

    #[test]
    fn a_short_report_is_told_whole_without_its_marks() {
        assert_eq!(
            condensed(REPORT, 400),
            "The lookup is fixed. `find()` read the old key. Changes: Parser: reads the key once; \
             Removed the cache; `a.rs` – 12; `cargo test`. Open: (open) Rotate the keys. Shall I push it?"
        );
    }

    #[test]
    fn a_report_is_told_without_what_it_asks() {
        let told = condensed_statements(
            "Fixed `find()`. Shall I push it?\n\nIf you want, I can tag it.",
            200,
        );
        assert_eq!(told, "Fixed `find()`.");
    }

    #[test]
    fn of_a_long_report_the_beginning_and_the_end_are_told() {
        assert_eq!(
            condensed(REPORT, 100),
            "The lookup is fixed. `find()` read the old key. … Open: (open) Rotate the keys. Shall I push it?"
        );
        for limit in 1..250 {
            let told = condensed(REPORT, limit);
            assert!(told.chars().count() <= limit, "{limit}: {told}");
        }
    }

    #[test]
    fn sentences_end_where_another_one_begins() {
        assert_eq!(
            sentences("It reads v1.2 of a.rs now. Done"),
            ["It reads v1.2 of a.rs now.", "Done"]
        );
        assert_eq!(sentences("缓存在最后写入。测试通过。"), ["缓存在最后写入。", "测试通过。"]);
        assert_eq!(sentences(""), Vec::<&str>::new());
    }
}
