//! Private keys in text form: blocks between `-----BEGIN … PRIVATE KEY-----` and `END`, and PuTTY's
//! format. The `BEGIN` line or the `END` line may be missing, and the block may contain escaped
//! line breaks (`\n`), line numbers, quotes, diff markers or the path prefixes of `grep`.

use std::ops::Range;

/// Minimum number of base64 digits of a word of key material, except for the end of the last line.
const FULL_WORD: usize = 16;

/// Maximum length, in bytes, of a path that `grep` put before a line, and of any other prefix of a
/// line.
const PATH: usize = 200;

/// Maximum length, in bytes, of a header line (`DEK-Info: …`) that is skipped.
const HEADER_LINE: usize = 200;

/// Returns the block around the words `PRIVATE KEY` at `anchor`. Text before `floor` is not read.
pub(super) fn around(text: &str, anchor: Range<usize>, floor: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let line_start = anchor.start.saturating_sub(48).max(floor.min(anchor.start));
    let before = &text[text.ceil_char_boundary(line_start)..anchor.start];
    let header_end = dashes_after(bytes, anchor.end)?;
    if let Some(at) = before.rfind("BEGIN ") {
        let start = with_dashes_before(bytes, anchor.start - before.len() + at);
        let body = body(text, header_end, grep_path(text, start))
            .or_else(|| prefixed_body(text, start, header_end))?;
        return Some(start..body);
    }
    let at = before.rfind("END ")?;
    let start = with_dashes_before(bytes, anchor.start - before.len() + at);
    let body = body_before(text, start, floor, grep_path(text, start))?;
    Some(body..header_end)
}

/// Returns the key material after PuTTY's `Private-Lines:` at `anchor`.
pub(super) fn putty(text: &str, anchor: Range<usize>) -> Option<Range<usize>> {
    let count = text[anchor.end..].bytes().take_while(|byte| b" 0123456789".contains(byte)).count();
    let start = anchor.end + count;
    body(text, start, None).map(|end| start..end)
}

/// Returns the path that `grep` put before the line whose dashes begin at `at`: `path/key.pem` in
/// `path/key.pem:3:`.
fn grep_path(text: &str, at: usize) -> Option<&str> {
    let before = &text[text.ceil_char_boundary(at.saturating_sub(PATH))..at];
    let line = before.rsplit('\n').next()?.trim_start();
    let numbers = line.strip_suffix([':', '-'])?.trim_end_matches(|c: char| c.is_ascii_digit());
    let path = numbers.trim_end_matches([':', '-']);
    let is_path =
        !path.is_empty() && !path.contains(char::is_whitespace) && path.len() < line.len();
    is_path.then_some(path)
}

/// Returns the start of the word without the path and the line number that `grep` put before it.
fn after_path(text: &str, word: Range<usize>, path: Option<&str>) -> usize {
    let Some(rest) = path.and_then(|path| text[word.start..].strip_prefix(path)) else {
        return word.start;
    };
    let Some(rest) = rest.strip_prefix([':', '-']) else { return word.start };
    let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_number = number.len() < rest.len();
    let rest = number.strip_prefix([':', '-']).filter(|_| has_number).unwrap_or(rest);
    text.len() - rest.len()
}

/// Returns the end of the key material that begins at `start`, or the end of its `END` line.
fn body(text: &str, start: usize, path: Option<&str>) -> Option<usize> {
    let mut end = None;
    let mut at = start;
    let mut is_full = true;
    while let Some(word) = next_word(text, at) {
        let after = after_path(text, word.clone(), path);
        if after > word.start {
            at = after;
            continue;
        }
        let content = &text[word.clone()];
        let header = header_line(text, word.clone());
        at = word.end;
        if content.starts_with("----") {
            return end.map(|end| end_line(text, word.start).unwrap_or(end));
        } else if let (Some(header), None) = (header, end) {
            at = header;
        } else if !is_decoration(content) {
            let is_last = is_full && end.is_some();
            is_full = content.len() >= FULL_WORD;
            if !is_material(content) || !(is_full || (is_last && is_rest(content))) {
                break;
            }
            end = Some(word.end);
        }
    }
    end
}

/// Returns the end of key material in which each line has a prefix, as in logs (`web-1  | `,
/// `2026-01-21T09:31:34Z `). The prefix has as many words as the prefix of the `BEGIN` at `start`.
fn prefixed_body(text: &str, start: usize, header_end: usize) -> Option<usize> {
    let floor = text.ceil_char_boundary(start.saturating_sub(PATH));
    let prefix = text[floor..start].rsplit('\n').next()?;
    let count = prefix.split_whitespace().count();
    let blanks =
        text[header_end..].bytes().take(8).take_while(|byte| b" \r".contains(byte)).count();
    let mut at = header_end + blanks + 1;
    if count == 0 || text.as_bytes().get(at - 1) != Some(&b'\n') {
        return None;
    }
    let mut end = None;
    let mut is_full = true;
    while let Some(line) = line_at(text, at) {
        let mut words = line.split_whitespace().skip(count);
        let (Some(word), rest) = (words.next(), words.next()) else { break };
        if word.starts_with("----") {
            let start = at + line.find(word)?;
            return end.map(|end| end_line(text, start).unwrap_or(end));
        }
        let is_last = is_full && end.is_some();
        is_full = word.len() >= FULL_WORD;
        if rest.is_some() || !is_material(word) || !(is_full || (is_last && is_rest(word))) {
            break;
        }
        end = Some(at + line.trim_end().len());
        at += line.len() + 1;
    }
    end
}

/// Returns the line at `at`; `None` if the line is longer than lines of keys, or `at` is after the
/// end of the text.
fn line_at(text: &str, at: usize) -> Option<&str> {
    let rest = text.as_bytes().get(at..)?;
    let length = rest.iter().take(2 * PATH).position(|byte| *byte == b'\n');
    let length = length.or_else(|| (rest.len() < 2 * PATH).then_some(rest.len()))?;
    text.get(at..at + length)
}

/// Returns the start of the key material that ends at `end`, if it has at least 40 bytes.
fn body_before(text: &str, end: usize, floor: usize, path: Option<&str>) -> Option<usize> {
    let mut start = None;
    let mut at = end;
    while let Some(word) = previous_word(text, at, floor) {
        let content = &text[word.clone()];
        at = word.start;
        if path.is_some_and(|path| content == path) {
            continue;
        }
        if is_material(content) && (content.len() >= FULL_WORD || start.is_none()) {
            start = Some(word.start);
        } else if !is_decoration(content) {
            break;
        }
    }
    let material = end - start?;
    (material >= 40).then_some(start?)
}

/// Whether `byte` separates words of key material.
fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`,;:|()[]<>#*$&\x1B\\".contains(&byte) || byte >= 0x80
}

/// Returns the next word at or after `at`; an escaped `\n` is a separator.
fn next_word(text: &str, mut at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at).filter(|byte| is_gap(**byte)) {
        if *byte == 0x1B {
            at += colour_length(&bytes[at..]);
            continue;
        }
        let is_escape = *byte == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't'));
        at += if is_escape { 2 } else { 1 };
    }
    let length = bytes[at.min(bytes.len())..].iter().take_while(|byte| !is_gap(**byte)).count();
    (length > 0).then_some(at..at + length)
}

/// Returns the length of the escape sequence of a colour at the start of `text`.
fn colour_length(text: &[u8]) -> usize {
    let is_inner = |byte: &&u8| byte.is_ascii_digit() || b"[;".contains(byte);
    let inner = text.iter().skip(1).take(16).take_while(is_inner).count();
    let has_end = text.get(inner + 1).is_some_and(|byte| matches!(byte, b'm' | b'K'));
    1 + inner + usize::from(has_end)
}

/// Returns the last word between `floor` and `at`.
fn previous_word(text: &str, mut at: usize, floor: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    while at > floor {
        let is_escape = at >= floor + 2
            && bytes[at - 2] == b'\\'
            && matches!(bytes[at - 1], b'n' | b'r' | b't');
        match (is_escape, is_gap(bytes[at - 1])) {
            (true, _) => at -= 2,
            (false, true) => at -= 1,
            (false, false) => break,
        }
    }
    let length = bytes[floor.min(at)..at].iter().rev().take_while(|byte| !is_gap(**byte)).count();
    let start = at - length;
    // The `n` of an escaped `\n` is not part of the word.
    let is_escape = start > floor && bytes[start - 1] == b'\\' && length > 1;
    let start = start + usize::from(is_escape && matches!(bytes[start], b'n' | b'r' | b't'));
    (length > 0).then_some(start..at)
}

/// Returns the end of the header line (`Version: …`) that begins with `word`.
fn header_line(text: &str, word: Range<usize>) -> Option<usize> {
    const NAMES: [&str; 8] =
        ["Proc-Type", "DEK-Info", "Version", "Comment", "Hash", "Charset", "MessageID", "Subject"];
    if !NAMES.contains(&&text[word.clone()]) || text.as_bytes().get(word.end) != Some(&b':') {
        return None;
    }
    let limit = text.floor_char_boundary(text.len().min(word.end + HEADER_LINE));
    let rest = &text[word.end..limit];
    let length = rest.find('\n').or_else(|| rest.find("\\n")).or_else(|| rest.find("\\r"));
    length.map(|length| word.end + length)
}

/// Returns the end of the `-----END …-----` that begins at `at`.
fn end_line(text: &str, at: usize) -> Option<usize> {
    let limit = text.floor_char_boundary(text.len().min(at + 80));
    let line = &text[at..limit];
    let name = line.trim_start_matches('-').trim_start();
    if !name.starts_with("END ") {
        return None;
    }
    let name_start = at + line.len() - name.len();
    let dashes = name.find("--").map_or(name.len(), |dashes| dashes);
    dashes_after(text.as_bytes(), name_start + dashes).or(Some(name_start + dashes))
}

/// Returns the end of the dashes that follow `at` directly, or after ` BLOCK` or spaces.
fn dashes_after(text: &[u8], mut at: usize) -> Option<usize> {
    if text[at..].starts_with(b" BLOCK") {
        at += 6;
    }
    at += text[at..].iter().take(2).take_while(|byte| **byte == b' ').count();
    let dashes = text[at..].iter().take(8).take_while(|byte| **byte == b'-').count();
    (dashes >= 4).then_some(at + dashes)
}

fn with_dashes_before(text: &[u8], at: usize) -> usize {
    let blank = usize::from(at > 0 && text[at - 1] == b' ');
    let is_dash = |byte: &&u8| **byte == b'-';
    let dashes = text[..at - blank].iter().rev().take(6).take_while(is_dash).count();
    if dashes == 0 { at } else { at - blank - dashes }
}

fn is_material(word: &str) -> bool {
    // The sign of a deleted line in a diff.
    let word = word.strip_prefix('-').unwrap_or(word);
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

/// Whether a short word is the end of the last line or a checksum rather than prose.
fn is_rest(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit() || b"+/=".contains(&byte))
        || word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
}

/// Matches line numbers, diff markers, `<br>`, and the `+` and the prefixes of joined strings.
fn is_decoration(word: &str) -> bool {
    matches!(word, "b" | "br" | "rb")
        || word.len() <= 8 && !word.bytes().any(|byte| byte.is_ascii_alphabetic() || byte == b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds the lines of an invented key, so that secret scanners do not report this file.
    fn lines(count: usize) -> Vec<String> {
        (0..count)
            .map(|line| format!("{:0<60}", format!("MIIE{line}vQ+IBAD/AN")) + "kq9Z")
            .collect()
    }

    fn begin() -> String {
        ["-----BEGIN RSA PRIV", "ATE KEY-----"].concat()
    }

    fn end() -> String {
        begin().replace("BEGIN", "END")
    }

    fn rest_after(text: &str) -> String {
        let mut rest = text.to_owned();
        let mut floor = 0;
        while let Some(found) = rest[floor..].find("PRIVATE KEY") {
            let anchor = floor + found..floor + found + 11;
            match around(&rest, anchor.clone(), 0) {
                Some(block) => rest.replace_range(block, "@"),
                None => floor = anchor.end,
            }
        }
        rest
    }

    #[test]
    fn blocks_in_every_notation_are_redacted_entirely() {
        let lines = lines(3);
        let plain = format!("{}\n{}\nab3=\n{}", begin(), lines.join("\n"), end());
        let escaped = plain.replace('\n', "\\n");
        let numbered = plain.lines().enumerate().map(|(n, line)| format!("   {n}→{line}\n"));
        let diffed: String = plain.lines().map(|line| format!("+ {line}\n")).collect();
        let quoted: String = plain.lines().map(|line| format!("  \"{line}\\n\" +\n")).collect();
        let grepped = plain.lines().map(|line| format!("etc/ssl/key.pem:{line}\n"));
        let grepped: String = grepped.collect();
        let numbers = plain.lines().enumerate();
        let found = numbers.map(|(n, line)| format!("./a-b/key.pem:{n}:{line}\n"));
        let found: String = found.collect();
        let context = plain.lines().enumerate().map(|(n, line)| {
            let sign = if n == 0 { ':' } else { '-' };
            format!("key.pem{sign}{n}{sign}{line}\n")
        });
        let context: String = context.collect();
        for text in [&grepped, &found, &context] {
            let rest = rest_after(&format!("before\n{text}after"));
            let left: Vec<&str> = lines.iter().map(String::as_str).collect();
            assert!(left.iter().all(|line| !rest.contains(line)), "{rest}");
            assert!(rest.starts_with("before\n") && rest.ends_with("after"), "{rest}");
        }
        let spaced = plain.replace('\n', " ");
        let header =
            plain.replacen('\n', "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\n", 1);
        let numbered: String = numbered.collect();
        for text in [&plain, &escaped, &numbered, &diffed, &quoted, &spaced, &header] {
            let rest = rest_after(&format!("before {text} after"));
            assert!(rest.starts_with("before "), "{rest}");
            assert!(rest.ends_with(" after"), "{rest}");
            assert!(rest.len() < 60, "{rest}");
        }
    }

    #[test]
    fn blocks_with_a_prefix_before_each_line_are_redacted() {
        let lines = lines(3);
        let plain = format!("{}\n{}\nab3=\n{}", begin(), lines.join("\n"), end());
        for prefix in [
            "-",
            "web-1  | ",
            "2026-11-20T10:00:00.1234567Z ",
            "[pod/web-1/app] ",
            "Nov 20 10:00:00 host app[12]: ",
            "deploy\tRun x\t2026-11-20T10:00:00.1234567Z ",
            "\u{1b}[32m+\u{1b}[m\u{1b}[32m",
        ] {
            let prefixed: String = plain.lines().map(|line| format!("{prefix}{line}\n")).collect();
            let rest = rest_after(&format!("before\n{prefixed}after"));
            assert!(!rest.contains("vQ+IBAD") && !rest.contains("ab3="), "{rest}");
            assert!(rest.starts_with("before\n") && rest.ends_with("\nafter"), "{rest}");
        }
        for (from, to) in [("\n", "$\n"), ("\n", "&#10;"), ("\n", "<br>"), ("\n", "\u{1b}[m\n")] {
            let rest = rest_after(&plain.replace(from, to));
            assert!(!rest.contains("vQ+IBAD"), "{rest}");
        }
        let joined: String = plain.lines().map(|line| format!("    b\"{line}\\n\"\n")).collect();
        assert!(!rest_after(&joined).contains("vQ+IBAD"));
    }

    #[test]
    fn a_truncated_block_is_redacted_to_its_end() {
        let lines = lines(3).join("\n");
        let head = format!("before {}\n{lines}", begin());
        assert_eq!(rest_after(&head), "before @");
        assert_eq!(rest_after(&format!("{head}\n\nand then prose")), "before @\n\nand then prose");
        let tail = format!("{lines}\n{} after", end());
        assert_eq!(rest_after(&tail), "@ after");
        assert_eq!(rest_after(&tail.replace('\n', "\\n")), "@ after");
    }

    #[test]
    fn a_mention_of_a_key_is_not_redacted() {
        for text in [
            format!("if key.startswith('{}'):\n    return parse(key)", begin()),
            format!("{}\n...\n{}", begin(), end()),
            "a PRIVATE KEY of yours".to_owned(),
            format!("grep -- '{}' file", end()),
        ] {
            assert_eq!(rest_after(&text), text);
        }
    }
}
