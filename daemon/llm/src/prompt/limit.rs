//! Enforces the maximum length of a summary, which the prompt only requests.

/// Trims a summary that a model wrote, and shortens it to `max_chars` characters.
///
/// A longer summary is cut after the last sentence that ends in the second half of its first
/// `max_chars` characters. If there is no such sentence, the summary is cut after a word, or within
/// a very long word, and ends with an ellipsis. The ellipsis counts as one of the characters.
pub fn within(summary: &str, max_chars: u32) -> String {
    let summary = summary.trim();
    let limit = usize::try_from(max_chars).unwrap_or(usize::MAX);
    let Some(limit_bytes) = prefix(summary, limit) else { return summary.to_owned() };
    if let Some(end) = sentence_end(summary, limit_bytes.len())
        && end * 2 >= limit_bytes.len()
    {
        return summary[..end].to_owned();
    }
    // One character less, for the ellipsis.
    let Some(limit_bytes) = limit.checked_sub(1).and_then(|limit| prefix(summary, limit)) else {
        return String::new();
    };
    let word = word_end(summary, limit_bytes.len());
    let kept = if word * 2 >= limit_bytes.len() { &limit_bytes[..word] } else { limit_bytes };
    let kept = kept.trim_end_matches(|c: char| c.is_whitespace() || ",;:-–—(".contains(c));
    format!("{kept}…")
}

/// Returns the first `chars` characters; `None` if the text is not longer.
fn prefix(text: &str, chars: usize) -> Option<&str> {
    let (end, _) = text.char_indices().nth(chars)?;
    Some(&text[..end])
}

/// Returns the last position within `limit_bytes` bytes where a sentence ends: after `.`, `!`, `?`
/// or `…` if white space follows, or after `。`, `！` or `？`.
fn sentence_end(text: &str, limit_bytes: usize) -> Option<usize> {
    let mut ends = text[..limit_bytes].char_indices().filter_map(|(at, c)| {
        let end = at + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' => text[end..].starts_with(char::is_whitespace),
            _ => false,
        };
        ends.then_some(end)
    });
    ends.next_back()
}

/// Returns the last position within `limit_bytes` bytes where a word ends.
fn word_end(text: &str, limit_bytes: usize) -> usize {
    if text[limit_bytes..].starts_with(char::is_whitespace) {
        return limit_bytes;
    }
    text[..limit_bytes].rfind(char::is_whitespace).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_summary_is_cut_after_a_sentence_or_a_word() {
        for (summary, limit, expected) in [
            ("  Short.\n", 50, "Short."),
            ("Exactly.", 8, "Exactly."),
            ("One sentence. Another one that is long.", 30, "One sentence. Another one…"),
            ("The first sentence. Then more.", 25, "The first sentence."),
            ("Version 1.2 was built and not 1.3", 20, "Version 1.2 was…"),
            ("one, two, three, four", 10, "one, two…"),
            ("aaaaaaaaaaaaaaaaaaaa", 10, "aaaaaaaaa…"),
            ("a bbbbbbbbbbbbbbbbbbbbbbb", 10, "a bbbbbbb…"),
            ("これは長い文です。もっとあります。", 10, "これは長い文です。"),
            ("🎉🎉🎉🎉", 3, "🎉🎉…"),
            ("Is it? Yes it is.", 7, "Is it?"),
            ("word", 1, "…"),
            ("word", 0, ""),
            ("", 0, ""),
        ] {
            assert_eq!(within(summary, limit), expected, "{summary} {limit}");
        }
    }

    proptest! {
        #[test]
        fn no_summary_is_longer_than_allowed(summary in "(\\PC| |\\. |。){0,80}", limit in 0u32..60) {
            let cut = within(&summary, limit);
            prop_assert!(cut.chars().count() <= limit as usize, "{cut}");
            let kept = cut.strip_suffix('…').unwrap_or(&cut);
            prop_assert!(summary.trim().starts_with(kept));
            if summary.trim().chars().count() <= limit as usize {
                prop_assert_eq!(cut, summary.trim());
            }
        }
    }
}
