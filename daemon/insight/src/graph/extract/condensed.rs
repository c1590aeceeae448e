//! Shortens a report in Markdown to one line, for a reader who only wants to know the result.

use super::report_parts::{ReportPart, length, parts};
use crate::{
    graph::text,
    pattern::pattern,
    report::{Topic, is_phrase},
    text::sentences,
};

/// Replaces the omitted middle of a section.
const GAP: &str = " … ";
/// Number of characters that are reserved for the number of missing items.
const COUNT_CHARS: usize = 13;
/// Maximum number of characters that are reserved for the end of a shortened section.
const MAX_END_CHARS: usize = 200;
/// Minimum length, in characters, of an item that is cut.
const MIN_ITEM_CHARS: usize = 64;
/// A shorter beginning of an item is only its name.
const MIN_NAME_BYTES: usize = 40;
/// Minimum length, in characters, of the excerpt of a section whose first part does not fit. With
/// less space, only the heading is kept.
const MIN_EXCERPT_CHARS: usize = 40;

/// Returns a report on one line of at most `limit` characters, without courtesies. If the report
/// does not fit, long sections are reduced to their beginning and their end, where possible in
/// whole sentences and items.
pub(super) fn condensed(markdown: &str, limit: usize) -> String {
    let mut kept: Vec<ReportPart> = Vec::new();
    for part in parts(markdown) {
        // The first sentence says what the list below it is.
        let is_introduction = part.text.ends_with(':') && kept.is_empty();
        if part.heading.is_some() || is_introduction || !is_phrase(Topic::Courtesy, &part.text) {
            kept.push(part);
        }
    }
    if kept.is_empty() {
        kept = parts(markdown);
    }
    fitted(&kept, limit)
}

/// Same as [`condensed`], but always omits questions and offers to the reader, and keeps other
/// courtesies even if the report does not fit.
pub(super) fn condensed_statements(markdown: &str, limit: usize) -> String {
    let mut is_offered = false;
    let mut parts = parts(markdown);
    parts.retain(|part| {
        // The items below a question or an offer are its options.
        is_offered = part.is_item && part.heading.is_none() && is_offered
            || part.text.ends_with(['?', '？'])
            || is_phrase(Topic::Offer, &part.text);
        !is_offered
    });
    fitted(&parts, limit)
}

/// A paragraph, a list item, a table row or a block of code of a report.
pub(super) struct ReportBlock {
    /// The heading above the block, if the block is the first one below that heading.
    pub(super) heading: Option<String>,
    pub(super) sentences: Vec<String>,
    /// The sentences in the form of [`text::plain`].
    pub(super) plain: Vec<String>,
}

pub(super) fn blocks(markdown: &str) -> Vec<ReportBlock> {
    let mut blocks: Vec<ReportBlock> = Vec::new();
    for part in parts(markdown) {
        let sentences = sentences(&part.text).into_iter().map(str::to_owned);
        let plain = sentences.clone().map(|sentence| text::plain(&sentence));
        match blocks.last_mut().filter(|_| part.follows && part.heading.is_none()) {
            Some(block) => {
                block.plain.extend(plain);
                block.sentences.extend(sentences);
            }
            None => blocks.push(ReportBlock {
                heading: part.heading,
                plain: plain.collect(),
                sentences: sentences.collect(),
            }),
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
    let introductions =
        parts.iter().rev().take_while(|part| part.text.ends_with(':') && !part.is_item).count();
    // At the end, nothing follows the text that a colon introduces.
    let parts = match parts.len() - introductions {
        0 => parts,
        length => &parts[..length],
    };
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
    if let Some(line) = with_short_items(section, limit) {
        return line;
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

/// Returns a section in which every item that is too long is reduced to its first sentences, or to
/// its beginning, so that no item is left out. Returns `None` if this is not possible.
fn with_short_items(section: &[ReportPart], limit: usize) -> Option<String> {
    let items = section.iter().filter(|part| part.is_item).count();
    let reduced = |to: &dyn Fn(&str) -> String| -> Option<String> {
        let texts = section.iter().map(|part| ReportPart {
            text: if part.is_item { to(&part.text) } else { part.text.clone() },
            heading: part.heading.clone(),
            ..*part
        });
        let texts: Vec<ReportPart> = texts.collect();
        Some(line(&texts)).filter(|line| length(line) <= limit)
    };
    let lists =
        section.chunk_by(|one, next| one.is_item == next.is_item).filter(|run| run[0].is_item);
    if items < 2 || lists.count() > 1 {
        return None;
    }
    let left = limit - length(&reduced(&|_| String::new())?);
    let share = (left / items).saturating_sub(2);
    reduced(&|item| first_sentences(item, share).to_owned()).or_else(|| {
        if share < MIN_ITEM_CHARS {
            return None;
        }
        reduced(&|item| cut_item(first_sentences(item, share), share))
    })
}

/// Returns the beginning of an item, without a name in backticks that is cut.
fn cut_item(item: &str, limit: usize) -> String {
    let cut = text::cut(item, limit);
    match cut.rfind('`').filter(|_| cut.matches('`').count() % 2 == 1) {
        Some(at) => format!("{}…", cut[..at].trim_end_matches([' ', '/', '('])),
        None => cut,
    }
}

/// Returns the first sentence of an item, and the sentences after it that fit into `limit`
/// characters. A name at the beginning is not a sentence.
fn first_sentences(item: &str, limit: usize) -> &str {
    let mut end = 0;
    for sentence in sentences(item) {
        let next = item[end..].find(sentence).map_or(end, |at| end + at + sentence.len());
        let is_name = end < MIN_NAME_BYTES || item[..end].ends_with(':');
        if !is_name && length(&item[..next]) > limit {
            break;
        }
        end = next;
    }
    &item[..end]
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
            let is_new = !part.follows && !follows_item;
            let is_open = line.ends_with(|c: char| c.is_alphanumeric() || "`)\"”%".contains(c));
            line.push_str(if is_new && is_open { ". " } else { " " });
        }
        if let Some(heading) = &part.heading {
            let is_ended = heading.ends_with(['.', '!', '?']);
            line.push_str(heading);
            line.push_str(if is_ended { " " } else { ": " });
        }
        line.push_str(&part.text);
        follows_item = part.is_item;
    }
    line
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
    fn a_report_loses_its_courtesies() {
        let report = "Perfect! The parser reads dates (see below).\n\nHere's a summary of what I did:\n- Dates before 1970 are read\n\nSay the word if you'd rather have a note.";
        assert_eq!(condensed(report, 400), "The parser reads dates. Dates before 1970 are read");
        assert_eq!(condensed("Perfect!", 400), "Perfect!", "nothing else is known");
    }

    #[test]
    fn paragraphs_end_with_a_full_stop_and_nothing_is_announced_at_the_end() {
        let report = "Next after the lexer:\n\n`make plan`\n\n`/clear` first for more room\n\n---\n\n**Also open:**\n- Dates\n\nVerified with:";
        assert_eq!(condensed(report, 400), "Next after the lexer: `make plan`. Also open: Dates");
        assert_eq!(condensed("Now I run the tests:", 400), "Now I run the tests:");
    }

    #[test]
    fn findings_are_shortened_before_one_is_left_out() {
        let finding = |at: u8| {
            let first =
                format!("src/key{at}.rs:7 reads the key of the store twice in each session");
            format!("{at}. {first}. {}\n\n", "This is slow. ".repeat(9))
        };
        let report =
            format!("**Findings**\n\n{}{}{}\nAll pass.", finding(1), finding(2), finding(3));
        let line = |end: &str| {
            let first = |at: u8| format!("src/key{at}.rs:7 reads the key of the store{end}");
            format!("Findings: {}; {}; {}. All pass.", first(1), first(2), first(3))
        };
        assert_eq!(condensed(&report, 260), line(" twice in each session"));
        assert_eq!(
            condensed(&report, 310),
            line(" twice in each session. This is slow. This is slow")
        );
        let result = condensed(&report, 240);
        assert!(result.contains("src/key3.rs:7 reads the key of the store"), "{result}");
        assert_eq!(
            cut_item("It reads `find()` and `parse()` of dates", 26),
            "It reads `find()` and…"
        );
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
