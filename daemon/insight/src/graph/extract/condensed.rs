//! Shortens a report in Markdown to one line, for a reader who only wants to know the result.

use std::{borrow::Cow, mem};

use crate::{graph::text, pattern::pattern};

/// Replaces the omitted middle of a section.
const GAP: &str = " … ";
/// Number of characters that are reserved for the number of missing items.
const COUNT_CHARS: usize = 13;
/// Maximum length, in characters, of a block of code. A longer block is cut if a sentence
/// introduces it or nothing precedes it, and omitted otherwise.
const MAX_CODE_CHARS: usize = 100;
/// Maximum number of characters that are reserved for the end of a shortened section.
const MAX_END_CHARS: usize = 200;
/// Minimum length, in characters, of the excerpt of a section whose first part does not fit. With
/// less space, only the heading is kept.
const MIN_EXCERPT_CHARS: usize = 40;

/// Returns a report on one line of at most `limit` characters. If the report does not fit,
/// courtesies are left out. If it still does not fit, long sections are reduced to their beginning
/// and their end, where possible in whole sentences and items.
pub(super) fn condensed(markdown: &str, limit: usize) -> String {
    let mut parts = parts(markdown);
    if length(&line(&parts)) > limit {
        parts.retain(|part| part.heading.is_some() || !is_courtesy(&part.text));
    }
    fitted(&parts, limit)
}

/// Whether a sentence of a report says nothing about the work: praise, an announcement of the
/// report, or an offer that is not a question.
fn is_courtesy(sentence: &str) -> bool {
    pattern!(
        r"(?i)^(?:perfect|excellent|great(?: news| job| work)?|awesome|wonderful|fantastic|all set)[!.]$|^(?:here.s|here is|here are|below is) (?:(?:a|an|the|my) )?(?:[a-z]+ )?(?:summary|overview|recap|breakdown|changes|what (?:i|was|we|changed))\b[a-z ,'’]*:$|^(?:say the word|let me know|just (?:say|tell|ask)|feel free|happy to)\b[^?]*$"
    )
    .is_match(sentence)
}

/// Same as [`condensed`], but always omits questions and offers to the reader, and keeps other
/// courtesies even if the report does not fit.
pub(super) fn condensed_statements(markdown: &str, limit: usize) -> String {
    let offer = pattern!(
        r"(?i)^(?:if you(?:.d)? (?:want|like|prefer|wish)|let me know|want me|would you|do you want|shall i|should i|ready (?:to|for|when)|just (?:say|tell)|say the word|wenn du (?:willst|möchtest)|soll ich|si quieres|quieres que|si tu veux|veux-tu|please|(?:reply|respond|answer) with|(?:pick|select|choose|type|enter) (?:a|an|one|the|your)|bitte|por favor)\b"
    );
    let mut is_offered = false;
    let mut parts = parts(markdown);
    parts.retain(|part| {
        // The items below a question or an offer are its options.
        is_offered = part.is_item && part.heading.is_none() && is_offered
            || part.text.ends_with(['?', '？'])
            || offer.is_match(&part.text);
        !is_offered
    });
    fitted(&parts, limit)
}

/// A paragraph, a list item, a table row or a block of code of a report.
pub(super) struct ReportBlock {
    /// The heading above the block, if the block is the first one below that heading.
    pub(super) heading: Option<String>,
    pub(super) sentences: Vec<String>,
}

pub(super) fn blocks(markdown: &str) -> Vec<ReportBlock> {
    let mut blocks: Vec<ReportBlock> = Vec::new();
    for part in parts(markdown) {
        let texts = sentences(&part.text).into_iter().map(str::to_owned);
        match blocks.last_mut().filter(|_| part.follows && part.heading.is_none()) {
            Some(block) => block.sentences.extend(texts),
            None => {
                blocks.push(ReportBlock { heading: part.heading, sentences: texts.collect() });
            }
        }
    }
    blocks
}

/// Returns the question with which a report ends. Only a list of its options may follow the
/// question. Returns `None` for a courtesy such as `Anything else?`.
pub(super) fn last_question(markdown: &str, limit: usize) -> Option<String> {
    let parts = parts(markdown);
    let is_question = |part: &ReportPart| part.text.ends_with(['?', '？']);
    let at = parts.iter().rposition(is_question)?;
    let is_last = parts[at + 1..].iter().all(|part| part.is_item && part.heading.is_none());
    let courtesy = pattern!(
        r"(?i)\banything else\b|\bwhat (?:would|do) you (?:like|want)(?: me)? to (?:do|work on)(?: next)?\b|\bwhat.s next\b|\bhow can i help\b"
    );
    let question = &parts[at].text;
    (is_last && !courtesy.is_match(question)).then(|| text::cut(question, limit))
}

/// Returns the line of all parts, if it fits. Otherwise shortens every section to its share of the
/// limit, so that, if possible, no section loses its heading. Without the heading `Deferred`,
/// deferred work would read as done.
fn fitted(parts: &[ReportPart], limit: usize) -> String {
    let whole = line(parts);
    if length(&whole) <= limit {
        return whole;
    }
    let starts: Vec<usize> =
        (0..parts.len()).filter(|at| *at == 0 || parts[*at].heading.is_some()).collect();
    let ends = starts.iter().skip(1).copied().chain([parts.len()]);
    let sections: Vec<&[ReportPart]> =
        starts.iter().copied().zip(ends).map(|(start, end)| &parts[start..end]).collect();
    let wanted: Vec<usize> = sections.iter().map(|section| length(&line(section)) + 1).collect();
    let result: Vec<String> = shares(&wanted, limit)
        .into_iter()
        .zip(&sections)
        .map(|(share, section)| shortened(section, share.saturating_sub(1)))
        .filter(|result| !result.is_empty())
        .collect();
    let result = joined(&result);
    // The first part may be one long text without sentences, such as a pasted log, or the headings
    // alone may be too long.
    if result.is_empty() || length(&result) > limit {
        return text::cut(&whole, limit.saturating_sub(1));
    }
    result
}

/// Splits `limit` among sections that need `wanted` characters. The characters that one section
/// does not need are available to the others. The first section counts twice. The last section
/// counts three times, because it contains the question or the conclusion.
fn shares(wanted: &[usize], limit: usize) -> Vec<usize> {
    let weight = |at: usize| match at {
        _ if at + 1 == wanted.len() => 3,
        0 => 2,
        _ => 1,
    };
    let mut shares = vec![0; wanted.len()];
    let mut open: Vec<usize> = (0..wanted.len()).collect();
    let mut left = limit;
    loop {
        let weights: usize = open.iter().map(|at| weight(*at)).sum();
        let share = |at: usize| left * weight(at) / weights.max(1);
        let (fitting, others): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|at| wanted[**at] <= share(**at));
        if fitting.is_empty() {
            others.iter().for_each(|at| shares[*at] = share(*at));
            return shares;
        }
        for at in fitting {
            shares[at] = wanted[at];
            left -= wanted[at];
        }
        open = others;
    }
}

/// Returns a section within `limit` characters: its beginning and its end, where possible in whole
/// parts. Returns at least its heading, if that fits.
fn shortened(section: &[ReportPart], limit: usize) -> String {
    let whole = line(section);
    if length(&whole) <= limit {
        return whole;
    }
    let head_limit = (limit * 2 / 3)
        .max(limit.saturating_sub(MAX_END_CHARS))
        .min(limit.saturating_sub(COUNT_CHARS));
    let head = longest(section, head_limit, |length| {
        let head = &section[..length];
        // A text that ends in a colon is incomplete without the text after the colon.
        let is_cut = head.last().is_some_and(|part| part.text.ends_with(':'));
        (!is_cut).then_some(head)
    });
    if head.is_empty() {
        let heading = section.first().and_then(|part| part.heading.as_deref());
        return match heading.map(|heading| format!("{heading}: …")) {
            _ if limit >= MIN_EXCERPT_CHARS => text::cut(&whole, limit.saturating_sub(1)),
            Some(heading) if length(&heading) <= limit => heading,
            _ => String::new(),
        };
    }
    let rest = &section[head.len()..];
    let tail_limit = limit.saturating_sub(length(&line(head)) + length(GAP) + COUNT_CHARS);
    let tail = longest(rest, tail_limit, |length| {
        let at = rest.len() - length;
        let is_alone = rest.get(at).is_none_or(|part| !part.is_item);
        is_alone.then_some(&rest[at..])
    });
    let missing = &rest[..rest.len() - tail.len()];
    let items = missing.iter().take_while(|part| part.is_item).count();
    let is_list = items > 0 && head.last().is_some_and(|part| part.is_item);
    let result = line(head);
    // A list that is cut ends with the number of missing items.
    let result = match is_list {
        true => format!("{}; +{items} more", result.trim_end_matches(['.', ';'])),
        false => result,
    };
    let gap = match (is_list && items == missing.len(), tail.is_empty()) {
        (true, true) => "",
        (true, false) => ". ",
        (false, true) => " …",
        (false, false) => GAP,
    };
    format!("{result}{gap}{}", line(tail))
}

fn joined(sections: &[String]) -> String {
    let mut line = String::new();
    for section in sections {
        if !line.is_empty() {
            let is_ended = line.ends_with(['.', '?', '!', ':', '…']);
            line.push_str(if is_ended { " " } else { ". " });
        }
        line.push_str(section);
    }
    line
}

/// Returns the longest slice whose line has at most `limit` characters. `slice` returns the slice
/// of a given number of parts; `None` if this slice is not allowed.
fn longest<'p>(
    parts: &'p [ReportPart],
    limit: usize,
    slice: impl Fn(usize) -> Option<&'p [ReportPart]>,
) -> &'p [ReportPart] {
    let lengths = (0..=parts.len()).rev();
    let mut slices = lengths.filter_map(slice);
    slices.find(|parts| length(&line(parts)) <= limit).unwrap_or_default()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// A sentence, a list item, a table row or a block of code.
#[derive(Debug, Default)]
struct ReportPart {
    text: String,
    /// The heading above the part, if the part is the first one below that heading.
    heading: Option<String>,
    is_item: bool,
    /// Whether the part follows another sentence of its paragraph.
    follows: bool,
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
    let lines: Vec<&str> = markdown.lines().map(str::trim).collect();
    let fences = (0..lines.len()).filter(|at| lines[*at].starts_with("```"));
    let fences: Vec<usize> = fences.collect();
    // The lines below a fence without an end are text.
    let unclosed = fences.last().copied().filter(|_| fences.len() % 2 == 1);
    for at in (0..lines.len()).filter(|at| Some(*at) != unclosed) {
        reader.read(lines[at], lines.get(at + 1).copied().unwrap_or_default());
    }
    reader.end_paragraph();
    reader.parts
}

#[derive(Default)]
struct ReportReader {
    parts: Vec<ReportPart>,
    heading: Option<String>,
    paragraph: String,
    /// Whether the lines below the last heading are a list of sources.
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
            // A heading directly below another heading is a subheading.
            self.heading = match self.heading.take() {
                Some(above) => Some(format!("{above}: {text}")),
                None => Some(text),
            };
        } else if let Some(found) = item.captures(line) {
            self.end_paragraph();
            let is_open = found.get(1).is_some_and(|mark| mark.as_str() == " ");
            let open = if is_open { "(open) " } else { "" };
            self.item(format!("{open}{}", plain(&found[2])));
        } else if line.starts_with('|') {
            self.end_paragraph();
            // The names of the columns are meaningless without the table.
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
        let code = code.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
        let code = code.collect::<Vec<_>>().join("; ").replace('`', "'");
        let is_wanted = self.parts.last().is_none_or(|part| part.text.ends_with(':'));
        if !code.is_empty() && (is_wanted || length(&code) <= MAX_CODE_CHARS) {
            self.item(format!("`{}`", text::cut(&code, MAX_CODE_CHARS)));
        }
    }

    fn item(&mut self, text: String) {
        let heading = self.heading.take();
        if !self.is_sources {
            self.parts.push(ReportPart { text, heading, is_item: true, follows: false });
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = mem::take(&mut self.paragraph);
        for (at, sentence) in sentences(&paragraph).into_iter().enumerate() {
            let (text, heading) = (sentence.to_owned(), self.heading.take());
            self.parts.push(ReportPart { text, heading, is_item: false, follows: at > 0 });
        }
    }
}

/// Whether a line separates the header of a table from its rows.
fn is_rule(line: &str) -> bool {
    pattern!(r"^\|[\s:|-]*-[\s:|-]*$").is_match(line)
}

fn cells(row: &str) -> String {
    let cells = row.trim_matches('|').split('|').map(str::trim).filter(|cell| !cell.is_empty());
    cells.collect::<Vec<_>>().join(" – ")
}

/// Returns a line without bold marks, without the addresses of links, and without references such
/// as `(see below)`.
fn plain(line: &str) -> Cow<'_, str> {
    let emphasis = pattern!(r"\*\*([^*]+)\*\*| ?\((?:see|as) (?:above|below)\)");
    let link = pattern!(r"\[([^\]]+)\]\([^)]+\)");
    match emphasis.replace_all(line, "$1") {
        Cow::Borrowed(line) => link.replace_all(line, "$1"),
        Cow::Owned(line) => Cow::Owned(link.replace_all(&line, "$1").into_owned()),
    }
}

pub(super) fn sentences(paragraph: &str) -> Vec<&str> {
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
    fn the_text_below_a_fence_without_an_end_is_kept() {
        let report = "It is fixed.\n```sh\nmake\n```\n\n```\nThe cache was stale.";
        assert_eq!(condensed(report, 400), "It is fixed. `make`. The cache was stale.");
    }

    #[test]
    fn a_short_report_is_complete_but_without_markdown_marks() {
        assert_eq!(
            condensed(REPORT, 400),
            "The lookup is fixed. `find()` read the old key. Changes: Parser: reads the key once; \
             Removed the cache; `a.rs` – 12; `cargo test`. Open: (open) Rotate the keys. Shall I push it?"
        );
    }

    #[test]
    fn statements_of_a_report_exclude_questions_and_offers() {
        let result = condensed_statements(
            "Fixed `find()`. Shall I push it?\n\nIf you want, I can tag it.\n\n\
             Please save the file.\n\nReply with a number, or:\n- `q` to quit",
            200,
        );
        assert_eq!(result, "Fixed `find()`.");
    }

    #[test]
    fn a_shortened_report_has_a_heading_and_text_of_every_section() {
        assert_eq!(
            condensed(REPORT, 100),
            "The lookup is fixed. … Changes: … Open: (open) Rotate the keys. Shall I push it?"
        );
        for limit in 1..250 {
            let result = condensed(REPORT, limit);
            assert!(result.chars().count() <= limit, "{limit}: {result}");
        }
    }

    #[test]
    fn a_shortened_report_keeps_the_heading_of_each_item_and_what_a_colon_introduces() {
        let items = |name: &str| {
            (1..9).map(|at| format!("- {name} number {at} of the list\n")).collect::<String>()
        };
        let report = format!(
            "All is merged. Two things changed:\n{}\n## Intentionally deferred\n{}\n## Tests\nAll pass.",
            items("Parser"),
            items("Cache")
        );
        let result = condensed(&report, 260);
        assert!(
            result.starts_with("All is merged. Two things changed: Parser number 1"),
            "{result}"
        );
        assert!(result.contains("Intentionally deferred: Cache number 1 of the list"), "{result}");
        assert!(result.ends_with("Tests: All pass."), "{result}");
        let result = condensed(&report, 120);
        assert!(
            result.starts_with("All is merged. …") && result.contains("Intentionally deferred: …"),
            "{result}"
        );
    }

    #[test]
    fn a_report_that_is_too_long_loses_its_courtesies_first() {
        let report = "Perfect! The parser reads dates (see below).\n\nHere's a summary of what I did:\n- Dates before 1970 are read\n\nSay the word if you'd rather have a note.";
        assert!(condensed(report, 400).starts_with("Perfect! The parser reads dates. Here's"));
        assert_eq!(condensed(report, 100), "The parser reads dates. Dates before 1970 are read");
    }

    #[test]
    fn a_heading_below_another_one_keeps_it() {
        let result = condensed("# Deferred\n## Parser\n- Dates", 100);
        assert_eq!(result, "Deferred: Parser: Dates");
    }

    #[test]
    fn a_report_may_end_with_a_question_to_the_user() {
        for (report, wanted) in [
            ("Done. Shall I push it?", Some("Shall I push it?")),
            ("Which one?\n1. The parser\n2. The lexer", Some("Which one?")),
            ("Why does it fail? The key is old.", None),
            ("Done. Anything else?", None),
            ("Done.", None),
        ] {
            assert_eq!(last_question(report, 200).as_deref(), wanted, "{report}");
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

    #[test]
    fn a_shortened_list_ends_with_the_number_of_missing_items() {
        let items: String =
            (1..9).map(|at| format!("- Parser number {at} of the list\n")).collect();
        let result = condensed(&format!("Changed:\n{items}\nAll pass."), 150);
        assert!(
            result.contains("of the list; +4 more") || result.contains("of the list; +5 more"),
            "{result}"
        );
        assert!(result.ends_with("All pass."), "{result}");
    }
}
