//! Removes noise from text (terminal colours, Markdown marks, tags of the agent program, emoji,
//! code), and shortens text.

use std::borrow::Cow;

use crate::{pattern::pattern, text::sentences::sentence_ends};

/// Returns `text` as one line without Markdown marks, tags, emoji and repeated spaces.
///
/// Code in back quotes stays quoted unless the closing quote is missing.
pub(crate) fn one_line(text: &str) -> String {
    // Most texts have no tags and no links.
    let text = if text.contains('<') { without_tags(text).into() } else { Cow::Borrowed(text) };
    let text = if text.contains('[') { without_links(&text).into() } else { text };
    let text = if has_marks(&text) { without_marks(&text) } else { Cow::Borrowed(&*text) };
    let mut line = String::with_capacity(text.len().min(4096));
    let mut is_dropped = false;
    let mut rest = &*text;
    while let Some(c) = rest.chars().next() {
        let plain = rest.bytes().take_while(u8::is_ascii_graphic).count();
        if plain > 0 && !is_dropped {
            line.push_str(&rest[..plain]);
            rest = &rest[plain..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        // `(🪙 icon)` becomes `(icon)`, and `(🪙)` is removed.
        let was_dropped = std::mem::replace(&mut is_dropped, is_symbol(c));
        if was_dropped && line.ends_with('(') {
            is_dropped |= c.is_whitespace();
            if c == ')' {
                line.pop();
            }
            if c == ')' || c.is_whitespace() {
                continue;
            }
        }
        if is_dropped {
            continue;
        }
        if !c.is_whitespace() && !c.is_control() && !is_ruler(c) {
            line.push(c);
        } else if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
    }
    if has_open_quote(&line) {
        line.retain(|c| c != '`');
    }
    line.truncate(line.trim_end().len());
    line
}

/// Removes texts that the agent program added, and tags outside of code. In code, `<temp-file>` is
/// a placeholder.
fn without_tags(text: &str) -> String {
    let text =
        pattern!(r"(?s)<(?:system-reminder|ide_[a-z_]+|local-command-[a-z]+)>.*?(?:</[a-z_-]+>|$)")
            .replace_all(text, " ");
    let tag = pattern!(
        r"</?(?:[a-z]+(?:[-_][a-z]+)+|summary|analysis|thinking|answer|result|example|context|task)>"
    );
    replaced_outside_code(&text, &tag, |_| " ".to_owned()).into_owned()
}

/// Removes the marks of pasted images and texts, and replaces links outside of code by their texts
/// and positions in files.
fn without_links(text: &str) -> String {
    let text =
        pattern!(r"\[(?:Image|Pasted text|Screenshot|\.\.\.)[^\]\n]*\]").replace_all(text, " ");
    let link = pattern!(r"!?\[([^\]\[]*)\]\(([^()\s]*(?:\([^()]*\)[^()\s]*)?)\)");
    let shown = |found: &regex::Captures<'_>| {
        format!("{}{}", &found[1], position_of_link(&found[1], &found[2]))
    };
    replaced_outside_code(&text, &link, shown).into_owned()
}

/// Replaces each match of `pattern` that is not in a code span. If a back quote has no partner, no
/// text counts as code.
fn replaced_outside_code<'t>(
    text: &'t str,
    pattern: &regex::Regex,
    replacement: impl Fn(&regex::Captures<'_>) -> String,
) -> Cow<'t, str> {
    let is_balanced = !has_open_quote(text);
    let (mut read, mut in_code) = (0, false);
    pattern.replace_all(text, |found: &regex::Captures<'_>| {
        let range = found.get(0).map_or(0..0, |whole| whole.range());
        in_code ^= has_open_quote(&text[read..range.start]);
        read = range.start;
        if in_code && is_balanced { found[0].to_owned() } else { replacement(found) }
    })
}

/// Returns the position in a file to which a link points, such as `:23`, if the text of the link
/// ends with the name of the file. Otherwise returns an empty text.
pub(crate) fn position_of_link<'l>(text: &str, target: &'l str) -> &'l str {
    let Some(found) = pattern!(r"(\w\.\w{1,8})(:[0-9]{1,6})(?::[0-9]{1,4})?$").captures(target)
    else {
        return "";
    };
    let position = found.get(2).map_or("", |position| position.as_str());
    if text.trim_end_matches('`').ends_with(&found[1]) { position } else { "" }
}

/// Whether [`without_marks`] may find a mark in `text`. Most texts have no marks.
fn has_marks(text: &str) -> bool {
    let begins_with_mark = |line: &str| {
        line.trim_start_matches([' ', '\t']).starts_with(['#', '>', '-', '*', '•', '+'])
    };
    text.contains("**") || text.contains("~~") || text.split('\n').any(begins_with_mark)
}

/// Removes the marks of bold and struck text, lists, quotes and headings. Double stars in code and
/// in path patterns stay.
fn without_marks(text: &str) -> Cow<'_, str> {
    let is_balanced = !has_open_quote(text);
    let (mut read, mut in_code) = (0, false);
    pattern!(r"\*\*|~~|(?m:^[ \t]*(?:#{1,6}|>|[-*•+])[ \t]+)").replace_all(
        text,
        |found: &regex::Captures<'_>| {
            let range = found.get(0).map_or(0..0, |mark| mark.range());
            let quotes = text[read..range.start].bytes().filter(|byte| *byte == b'`').count();
            in_code ^= quotes % 2 == 1;
            read = range.start;
            let stays = &found[0] == "**" && (in_code && is_balanced || is_in_glob(text, &range));
            if stays { "**" } else { "" }
        },
    )
}

/// Maximum number of bytes on each side of a mark that are searched for the rest of the word.
const MAX_WORD_BYTES: usize = 200;

/// Whether the stars at `range` are part of a path pattern.
fn is_in_glob(text: &str, range: &std::ops::Range<usize>) -> bool {
    let (before, behind) = (&text[..range.start], &text[range.end..]);
    if !before.ends_with('/') && !behind.starts_with('/') {
        return false;
    }
    let before = &before[before.floor_char_boundary(before.len().saturating_sub(MAX_WORD_BYTES))..];
    let behind = &behind[..behind.floor_char_boundary(MAX_WORD_BYTES)];
    let start = before.rfind(char::is_whitespace).map_or(before, |at| &before[at..]);
    let end = behind.find(char::is_whitespace).map_or(behind, |at| &behind[..at]);
    is_glob(&format!("{start}**{end}"))
}

/// Returns whether a word with `**` is a path pattern such as `!**/dist/**` rather than bold text
/// such as `**src/**` or `**/commit**`.
pub(crate) fn is_glob(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !matches!(c, '*' | '/') && !c.is_alphanumeric());
    let is_bold = bare.starts_with("**") && !bare.starts_with("**/") && bare.ends_with("**");
    !is_bold
        && (bare.contains("/**")
            || bare.contains("**/*")
            || bare.starts_with("**/") && bare.matches("**").count() == 1)
}

/// Returns whether the character draws a line, such as the frame of a banner or of a pasted screen.
fn is_ruler(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{257f}')
}

/// Cuts `text` to at most `limit` characters, or one more if a back quote has to be closed. Cuts at
/// the end of a sentence if the result has at least half of the allowed length. Otherwise cuts
/// after a word, or inside a very long word, and adds an ellipsis.
pub fn cut(text: &str, limit: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(limit) else { return text.to_owned() };
    let sentence = sentence_ends(text).take_while(|at| *at <= end).last();
    if let Some(at) = sentence.filter(|at| *at * 2 >= end) {
        return text[..at].trim_end().to_owned();
    }
    let budget = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    let word = text[..budget].rfind(' ').filter(|at| *at * 2 >= end).unwrap_or(budget);
    let mut cut = text[..word].trim_end_matches([' ', ',', ';', ':', '-', '(', '—']).to_owned();
    if has_open_quote(&cut) {
        cut.push('`');
    }
    cut.push('…');
    cut
}

/// The mark with which [`kept`] replaces the middle of a text.
const GAP: &str = " … ";

/// Returns the texts before and after the gap; `None` for a whole text.
pub(crate) fn around_gap(text: &str) -> Option<(&str, &str)> {
    text.split_once(GAP)
}

/// If the middle of a command line was removed, returns the line up to the last whole command or
/// word before the gap, with an ellipsis.
pub(crate) fn before_gap(line: &str) -> Cow<'_, str> {
    let Some((head, _)) = around_gap(line) else { return Cow::Borrowed(line) };
    let end = head.rfind(" && ").or_else(|| head.rfind([' ', '|', ',']));
    let head = end.map_or(head, |end| &head[..end]).trim_end_matches([' ', '|', '&', ';', ',']);
    let open = ['"', '\''].into_iter().find(|quote| head.matches(*quote).count() % 2 == 1);
    Cow::Owned(match open {
        Some(quote) => format!("{head}…{quote}"),
        None => format!("{head} …"),
    })
}

/// Cuts `text` to at most `limit` bytes of JSON by removing its middle, and removes control
/// characters other than line breaks and tabs. Evidence stores texts in this form.
pub(crate) fn kept(text: &str, limit: usize) -> String {
    let text = text.trim();
    let tidy = |part: &str| -> String { part.chars().filter(|c| json_cost(*c) > 0).collect() };
    if text.len() <= limit && text.chars().map(json_cost).sum::<usize>() <= limit {
        return tidy(text);
    }
    let budget = limit.saturating_sub(GAP.len());
    let head_budget = budget * 2 / 3;
    let head = fitting(text.char_indices(), head_budget).map_or(0, |(at, c)| at + c.len_utf8());
    let rest = &text[head..];
    let tail =
        fitting(rest.char_indices().rev(), budget - head_budget).map_or(rest.len(), |(at, _)| at);
    format!("{}{GAP}{}", tidy(text[..head].trim_end()), tidy(rest[tail..].trim_start()))
}

/// Maximum length, in bytes, of a part of a word beside the gap that [`kept_words`] removes.
const MAX_CUT_WORD: usize = 30;

/// Same as [`kept`], but removes the words of which a part is in the gap.
pub(crate) fn kept_words(text: &str, limit: usize) -> String {
    let kept = kept(text, limit);
    let cut = kept.split_once(GAP).filter(|_| kept.len() < text.trim().len());
    let Some((head, tail)) = cut else { return kept };
    let text = text.trim();
    let is_head_whole = text.strip_prefix(head).is_some_and(|rest| rest.starts_with(' '));
    let is_tail_whole = text.strip_suffix(tail).is_some_and(|start| start.ends_with(' '));
    let end = head.rfind(' ').filter(|end| !is_head_whole && head.len() - end <= MAX_CUT_WORD);
    let start = tail.find(' ').filter(|start| !is_tail_whole && *start <= MAX_CUT_WORD);
    let head = end.map_or(head, |end| &head[..end]);
    let tail = start.map_or(tail, |start| &tail[start + 1..]);
    format!("{}{GAP}{}", head.trim_end(), tail.trim_start())
}

/// Maximum length, in bytes, of all headings that [`kept_lines`] repeats.
const MAX_HEADINGS_BYTES: usize = 300;

/// Same as [`kept`], but removes only whole lines of a Markdown text, and keeps the headings that
/// apply to the lines after the gap.
pub(crate) fn kept_lines(text: &str, limit: usize) -> String {
    const GAP: &str = "\n\n…\n\n";
    let lines: Vec<&str> = text.trim().lines().collect();
    let cost = |line: &&str| line.chars().map(json_cost).sum::<usize>() + json_cost('\n');
    if lines.iter().map(cost).sum::<usize>() <= limit {
        return kept(text, limit);
    }
    let budget = limit.saturating_sub(MAX_HEADINGS_BYTES + 2 * GAP.len() + GAP.len());
    let fitting = |lines: &mut dyn Iterator<Item = &&str>, budget: usize| {
        let mut spent = 0;
        lines
            .take_while(|line| {
                spent += cost(line);
                spent <= budget
            })
            .count()
    };
    let head = fitting(&mut lines.iter(), budget * 2 / 3);
    let tail = fitting(&mut lines.iter().rev(), budget / 3);
    let mut tail = lines.len() - tail;
    // Indented lines continue an item whose start is in the gap.
    while lines.get(tail).is_some_and(|line| line.starts_with([' ', '\t'])) {
        tail += 1;
    }
    // A single line may be longer than the limit.
    if head == 0 || tail >= lines.len() || head >= tail {
        return kept(text, limit);
    }
    let headings = headings_above(&lines[head..tail]);
    let headings = headings.join("\n\n");
    let headings = if headings.len() <= MAX_HEADINGS_BYTES { headings } else { String::new() };
    let (head, tail) = (lines[..head].join("\n"), lines[tail..].join("\n"));
    kept(&format!("{}{GAP}{headings}\n\n{tail}", head.trim_end()), limit)
}

/// Returns the headings that apply to the text below `lines`, the outermost first.
fn headings_above<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    const BOLD: usize = 7;
    let mut found: Vec<(usize, &str)> = Vec::new();
    for line in lines {
        let marks = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_bold = pattern!(r"^\*\*[^*]+\*\*(?: ?\([^()]+\))? ?:?$").is_match(line);
        let level = match marks {
            1..=6 if line[marks..].starts_with(' ') => marks,
            _ if is_bold => BOLD,
            _ => continue,
        };
        found.retain(|(known, _)| *known < level);
        found.push((level, line));
    }
    found.into_iter().map(|(_, line)| line).collect()
}

/// Returns the last character, with its index, of the start of `chars` that fits into `budget`
/// bytes of JSON.
fn fitting(chars: impl Iterator<Item = (usize, char)>, budget: usize) -> Option<(usize, char)> {
    let mut spent = 0;
    chars
        .take_while(|(_, c)| {
            spent += json_cost(*c);
            spent <= budget
        })
        .last()
}

/// Returns the bytes of a character within a JSON string; 0 for a character that is not kept.
fn json_cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\t' => 2,
        c if c.is_control() => 0,
        c => c.len_utf8(),
    }
}

/// Removes terminal colours and cursor movements. Of a line that carriage returns overwrite, only
/// the last version remains.
pub(crate) fn without_ansi(text: &str) -> Cow<'_, str> {
    if !text.contains(['\x1b', '\r']) {
        return Cow::Borrowed(text);
    }
    let plain = pattern!(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
        .replace_all(text, "");
    let last = pattern!(r"(?m)^[^\n]*\r([^\r\n])").replace_all(&plain, "$1");
    Cow::Owned(last.replace('\r', ""))
}

fn has_open_quote(text: &str) -> bool {
    text.bytes().filter(|byte| *byte == b'`').count() % 2 == 1
}

/// Returns whether the character is an emoji, a tick or a joiner of emoji.
pub(crate) fn is_symbol(c: char) -> bool {
    matches!(c,
        '\u{2600}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{200B}'..='\u{200D}' | '\u{23E9}'..='\u{23FA}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tags_and_symbols_are_removed() {
        for (given, wanted) in [
            ("## **Done!** ✅ All good", "Done! All good"),
            ("see [the file](src/a(b).rs) now", "see the file now"),
            (
                "<system-reminder>x\ny</system-reminder>fix  `Vec<String>`\n please",
                "fix `Vec<String>` please",
            ),
            ("see [a.md](/app/a.md:23) and `x[i](y)`", "see a.md:23 and `x[i](y)`"),
            ("top (\u{1FA99} icon) and (\u{2705})", "top (icon) and"),
            ("ssh `-F <temp-file>`<user-note> a", "ssh `-F <temp-file>` a"),
            ("[Image #1] Can you\\see `this", "Can you\\see this"),
            ("- one\n- two", "one two"),
            ("a -> b * c", "a -> b * c"),
            ("skip **all** of !**/dist/**/*", "skip all of !**/dist/**/*"),
            ("- **src/**: `f(**options)` in **/lib/*.ts", "src/: `f(**options)` in **/lib/*.ts"),
            ("━━━━ PHASE 3 DONE ━━━━ ready", "PHASE 3 DONE ready"),
            ("┃ │ cd app\n┃ └ Denied", "cd app Denied"),
        ] {
            assert_eq!(one_line(given), wanted, "{given:?}");
        }
    }

    #[test]
    fn a_cut_prefers_a_sentence_then_a_word() {
        assert_eq!(cut("Short.", 20), "Short.");
        assert_eq!(cut("One sentence here. Another one follows it.", 25), "One sentence here.");
        assert_eq!(cut("No. word after word after word after word", 25), "No. word after word…");
        assert_eq!(cut("ééééééééééé", 5), "éééé…");
        assert_eq!(cut("run `cargo test --workspace` now", 18), "run `cargo test`…");
    }

    #[test]
    fn a_command_with_a_gap_ends_before_the_gap() {
        for (given, wanted) in [
            ("make test", "make test"),
            ("npm view a --json && npm view b dis … c --json", "npm view a --json …"),
            ("-t=\"list.spec|rows.sp … page.spec\"", "-t=\"list.spec…\""),
            ("go test ./interna … /list", "go test …"),
        ] {
            assert_eq!(before_gap(given), wanted, "{given}");
        }
    }

    #[test]
    fn no_word_is_cut_beside_the_gap_of_a_kept_text() {
        let text = "error: the connection to the database was refused because of the settings";
        assert_eq!(kept(text, 40), "error: the connection t … the settings");
        assert_eq!(kept_words(text, 40), "error: the connection … the settings");
        assert_eq!(kept_words(text, 37), "error: the connection … settings");
        assert_eq!(kept_words(text, 80), text);
        let path = format!("cannot read {} at all", "x".repeat(200));
        assert!(kept_words(&path, 100).starts_with("cannot read xxx"));
    }

    #[test]
    fn a_kept_text_fits_its_limit_as_json() {
        let nasty = "\u{1}\"\\\n".repeat(500) + "end";
        for limit in [20, 100, 1000] {
            let text = kept(&nasty, limit);
            let json = serde_json::to_string(&text).unwrap();
            assert!(json.len() <= limit + 2, "{} > {limit}", json.len());
            assert!(text.ends_with("end"));
        }
        assert_eq!(kept("  short\u{7} ", 20), "short");
    }

    #[test]
    fn a_long_report_loses_whole_lines_and_keeps_the_headings_of_the_rest() {
        let items = "- an item of the section\n".repeat(12);
        let text = format!(
            "## Done\n\n**1. Reader** (`a.rs`):\n{items}\n## Checked\n\n{items}\n### Left\n\n**2. Writer**:\n{items}- the end\n"
        );
        let short = kept_lines(&text, 700);
        assert!(serde_json::to_string(&short).unwrap().len() <= 702, "{short}");
        assert!(short.starts_with("## Done\n\n**1. Reader** (`a.rs`):\n- an item"), "{short}");
        let gap = "- an item of the section\n\n…\n\n## Checked\n\n### Left\n\n**2. Writer**:\n\n- an item of the section\n";
        assert!(short.contains(gap) && short.ends_with("\n- the end"), "{short}");
        assert_eq!(kept_lines("- one\n- two\n", 700), "- one\n- two");
        assert!(kept_lines(&"word ".repeat(300), 200).len() <= 200);
    }

    #[test]
    fn colours_and_overwritten_text_are_removed() {
        assert_eq!(without_ansi("\x1b[1;31mred\x1b[0m 10%\r100%\r\nok"), "100%\nok");
        assert_eq!(without_ansi("\x1b]8;;http://x\x07link\x1b]8;;\x07"), "link");
    }
}
