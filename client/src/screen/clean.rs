//! Text of others, made harmless: a transcript may hold anything, and a terminal obeys.

/// On one line: whitespace joined, nothing that moves the cursor or turns the direction of writing.
pub(crate) fn line(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.chars().map(visible).collect()
}

/// On several lines, otherwise as [`line()`].
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

fn visible(c: char) -> char {
    // Bidirectional controls, invisible operators and the byte order mark.
    let hidden = matches!(c,
        '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}');
    // Letters that nobody sees and models read.
    let is_tag = matches!(c, '\u{e0000}'..='\u{e007f}');
    if c.is_control() || hidden || is_tag { '\u{fffd}' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor_or_turns_the_text() {
        let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7} b\u{202e}c\r\nd\u{9b}31m\u{200b}e";
        assert_eq!(
            line(hostile),
            "a\u{fffd}[2J\u{fffd}]0;title\u{fffd} b\u{fffd}c d\u{fffd}31m\u{fffd}e"
        );
        assert_eq!(block("a\n\tb\u{8}"), "a\n b\u{fffd}");
        assert_eq!(block("a\u{61c}b\u{2028}\u{e0041}"), "a\u{fffd}b\u{fffd}\u{fffd}");
    }

    #[test]
    fn ordinary_text_of_any_language_stays() {
        for text in ["naïve café", "日本語 👍", "שלום עולם"] {
            assert_eq!(line(text), text);
        }
    }
}
