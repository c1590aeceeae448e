//! Replaces control characters in external text, because a terminal would execute them.

use graphiti_proto::clean::{is_unsafe_to_display, single_spaced};

/// Returns one line: runs of white space become one space, and characters that a terminal executes
/// or a person does not see ([`is_unsafe_to_display`]) are replaced.
pub(crate) fn line(text: &str) -> String {
    single_spaced(text).chars().map(visible).collect()
}

/// Replaces the same characters as [`line()`], but keeps line ends and spaces. A tab becomes a
/// space.
pub(crate) fn block(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| match c {
            '\n' => '\n',
            '\t' => ' ',
            c => visible(c),
        })
        .collect()
}

/// Returns equivalent JSON with control characters and invisible characters escaped. Outside of
/// strings, the JSON of `serde_json` contains no control characters except line feeds.
pub(super) fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || visible(c) == c {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            shown.push_str(&format!("\\u{unit:04x}"));
        }
    }
    shown
}

fn visible(c: char) -> char {
    if is_unsafe_to_display(c) { '\u{fffd}' } else { c }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Whether the character must be escaped in printed JSON.
    fn is_escaped(c: char) -> bool {
        c != '\n' && visible(c) != c
    }

    #[test]
    fn control_characters_and_invisible_characters_are_replaced() {
        let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7} b\u{202e}c\r\nd\u{9b}31m\u{200b}e";
        assert_eq!(
            line(hostile),
            "a\u{fffd}[2J\u{fffd}]0;title\u{fffd} b\u{fffd}c d\u{fffd}31m\u{fffd}e"
        );
        assert_eq!(block("a\n\tb\u{8}"), "a\n b\u{fffd}");
        assert_eq!(block("a\u{61c}b\u{2028}\u{e0041}"), "a\u{fffd}b\u{fffd}\u{fffd}");
    }

    #[test]
    fn json_keeps_its_meaning_without_control_characters() {
        let low = ('\0'..='\u{2fff}').chain('\u{fe00}'..='\u{ffff}');
        let hostile: String = low.chain('\u{e0000}'..='\u{e0fff}').collect();
        let answer =
            json!({ (hostile.clone()): [hostile, 1.5, null, "\u{fffd} \\u009b \\\u{9b}"] });
        for text in [answer.to_string(), serde_json::to_string_pretty(&answer).unwrap()] {
            assert!(text.contains(is_escaped));
            let shown = super::json(&text);
            assert!(!shown.contains(is_escaped));
            assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), answer);
        }
    }

    #[test]
    fn unsafe_characters_in_json_are_escaped_as_utf_16() {
        let hostile = "\u{7f}\u{9b}31m\u{61c}\u{2028}\u{202e}\u{2066}\u{feff}\u{fffb}\u{e0041}";
        assert_eq!(
            super::json(&format!("[\"{hostile}\"]")),
            r#"["\u007f\u009b31m\u061c\u2028\u202e\u2066\ufeff\ufffb\udb40\udc41"]"#
        );
        let plain = "{\n  \"naïve\": \"日本語 👍 \\u001b[2J\"\n}";
        assert_eq!(super::json(plain), plain);
    }

    #[test]
    fn ordinary_text_of_any_language_stays() {
        for text in ["naïve café", "日本語 👍", "שלום עולם"] {
            assert_eq!(line(text), text);
        }
    }
}
