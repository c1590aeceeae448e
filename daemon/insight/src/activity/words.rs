//! Splits names into words.

/// Returns the words of a name, in lower case. The name is split at every character that is neither
/// letter nor digit and at capitals that start a word: `mcp__ide__getHTTPHeaders` gives
/// `mcp ide get http headers`.
pub(crate) fn of_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = name.chars().collect();
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            finish_word(&mut word, &mut words);
            continue;
        }
        if starts_word(&letters, at) {
            finish_word(&mut word, &mut words);
        }
        word.extend(letter.to_lowercase());
    }
    finish_word(&mut word, &mut words);
    words
}

fn finish_word(word: &mut String, words: &mut Vec<String>) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

/// Whether the letter at `at` is a capital that starts a word: it follows a lower-case letter or a
/// digit, or it is the last of several capitals before a lower-case letter.
fn starts_word(letters: &[char], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| letters[before]) else { return false };
    let small_follows = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
    letters[at].is_uppercase()
        && (before.is_lowercase()
            || before.is_ascii_digit()
            || (before.is_uppercase() && small_follows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_at_marks_and_capitals() {
        for (name, words) in [
            ("mcp__serena__find_symbol", "mcp serena find symbol"),
            ("resolve-library-id", "resolve library id"),
            ("getHTTPHeaders", "get http headers"),
            ("TodoWrite", "todo write"),
            ("LSP", "lsp"),
            ("test:e2e", "test e2e"),
            ("check.types", "check types"),
            ("", ""),
            ("__", ""),
        ] {
            assert_eq!(of_name(name).join(" "), words, "{name}");
        }
    }

    #[test]
    fn parts_of_words_are_not_words() {
        for name in ["thread_pool", "latest_address", "preadd"] {
            let words = of_name(name);
            assert!(!words.iter().any(|word| ["read", "test", "add"].contains(&word.as_str())));
        }
    }
}
