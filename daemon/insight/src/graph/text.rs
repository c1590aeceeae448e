//! Normalises texts to keys, so that different sessions give the same entity the same key; compares
//! texts by their words; formats sentences.

use std::collections::BTreeSet;

pub(super) use crate::lang::prose::share_of_words as share;
use crate::{model::graph::fingerprint, pattern::pattern, text::is_ideograph};

/// Words that do not show what a text is about, sorted.
const STOP_WORDS: &[&str] = &[
    "and", "are", "because", "been", "but", "can", "did", "does", "for", "from", "had", "has",
    "have", "her", "his", "how", "into", "its", "not", "now", "our", "out", "over", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "use", "used", "uses",
    "using", "was", "were", "what", "when", "which", "will", "with", "would", "you", "your",
];

/// Whether a text forbids or denies something. [`words`] leaves out most of the words that show it.
pub(super) fn is_negative(text: &str) -> bool {
    pattern!(r"(?i)\b(?:never|don.?t|do not|not|no|cannot|avoid|stop|without|nicht|nie|niemals|kein\w*|nunca|jam[aá]s|jamais|pas)\b|n['’]t\b|不要|别|不得|しない|禁止")
        .is_match(text)
}

/// Returns the words of `text` in lower case, without stop words and without words of fewer than
/// three characters.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 3)
        .map(str::to_lowercase)
        .filter(|word| STOP_WORDS.binary_search(&word.as_str()).is_err())
        .collect()
}

/// Stems of words for a request or its completion. They do not show what a sentence is about.
const STEMS_WITHOUT_TOPIC: &[&str] = &[
    "alway", "nev", "pleas", "ever", "futur", "again", "anymor", "need", "dont", "don", "should",
    "must", "want", "let", "lets", "also", "just", "only", "each", "time", "all", "any", "more",
    "about", "forget", "rememb", "make", "sure", "left", "open", "stil", "next", "step", "todo",
    "imm", "nie", "niemal", "siempr", "nunca", "toujour", "jamai", "der", "die", "das", "den",
    "dem", "des", "und", "oder", "für", "auf", "aus", "bei", "mit", "von", "vom", "zum", "zur",
    "ein", "eine", "einem", "einen", "ich", "wir", "hat", "habe", "haben", "ist", "sind", "wird",
    "noch", "nicht", "kein", "keinen", "auch", "nur", "muss", "dass", "les", "pour", "avec",
    "dans", "sur", "une", "que", "qui", "est", "sont", "pas", "par", "ell", "los", "las", "una",
    "para", "con", "por", "del", "esta", "hay",
];

/// Stems of verbs for work on anything, and of words for its state.
const STEMS_OF_WORK: &[&str] = &[
    "add",
    "bump",
    "chang",
    "change",
    "check",
    "delet",
    "drop",
    "fix",
    "get",
    "implement",
    "mov",
    "move",
    "put",
    "remov",
    "renam",
    "rename",
    "run",
    "set",
    "updat",
    "update",
    "verif",
    "writ",
    "yet",
    "say",
    "says",
    "tell",
    "whether",
    "tomorrow",
    "lat",
    "week",
    "machen",
    "morgen",
    "demain",
    "faut",
    "mañana",
];

/// Returns sorted fingerprints of the words that show what a sentence is about. Words are reduced
/// to their stems, so that `Remove the sessions` and `removed a session` agree. Chinese and
/// Japanese words are split into pairs of characters.
pub(super) fn topic_words(text: &str) -> Vec<u64> {
    let stems: BTreeSet<String> = topic_stems(text).collect();
    fingerprints(&stems)
}

/// Minimum number of topic words of a text whose addition at its end is ignored.
const MIN_SUBJECT_WORDS: usize = 3;

/// Returns the topic words of an open end that other sentences about the same work share. If enough
/// words are left, leaves out an addition at the end of the text, in brackets or after a dash, and
/// verbs for work on anything, such as `add`. An addition with code, such as the path of a note, is
/// kept.
pub(super) fn object_words(text: &str) -> Vec<u64> {
    let additions = pattern!(r"^Postponed by the user: |\([^()`]*\)\W*$| [–—] [^`–—]*$");
    let own = additions.replace_all(text, " ");
    // Other sentences about the work rarely contain the path of its file, but they contain the path
    // of a note.
    let path = pattern!(r"`[\w.-]+/[\w./-]+\.\w+`");
    let own =
        if own.contains("(todo `") { own } else { path.replace_all(&own, " ").into_owned().into() };
    let mut stems: BTreeSet<String> = topic_stems(&own).collect();
    if stems.len() < MIN_SUBJECT_WORDS {
        stems = topic_stems(text).collect();
    }
    let is_object = |stem: &&String| !STEMS_OF_WORK.contains(&stem.as_str());
    let objects: BTreeSet<String> = stems.iter().filter(is_object).cloned().collect();
    fingerprints(if objects.len() < 2 { &stems } else { &objects })
}

fn topic_stems(text: &str) -> impl Iterator<Item = String> {
    let stems = words(text).into_iter().chain(short_names(text));
    let stems = stems.map(|word| stem(&word).to_owned());
    let stems = stems.filter(|stem| !STEMS_WITHOUT_TOPIC.contains(&stem.as_str()));
    stems.flat_map(|stem| pairs(&stem))
}

/// Returns the names of at most two characters in lower case: abbreviations such as `CI`, versions
/// such as `v1`, and single numbers after a word, as in `eslint 9`.
fn short_names(text: &str) -> impl Iterator<Item = String> {
    let digit = |byte: u8| byte.is_ascii_digit();
    let numbers = text.split_whitespace().skip(1).filter(move |word| word.bytes().all(digit));
    let names = text.split(|c: char| !c.is_alphanumeric()).filter(move |word| {
        let is_abbreviation = word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        is_abbreviation || word.bytes().any(digit) && !word.bytes().all(digit)
    });
    numbers.chain(names).filter(|word| word.len() < 3).map(str::to_lowercase)
}

fn fingerprints(stems: &BTreeSet<String>) -> Vec<u64> {
    // Half a fingerprint is enough to compare words and needs half the space.
    let mut found: Vec<u64> = stems.iter().map(|stem| fingerprint(stem) >> 32).collect();
    found.sort_unstable();
    found
}

fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 5 {
        return word;
    }
    let endings = ["ings", "ing", "ies", "ied", "ers", "ed", "er", "es", "s", "y", "e"];
    let ending = endings.iter().find(|ending| word.ends_with(*ending));
    let stem = ending.map_or(word, |ending| &word[..word.len() - ending.len()]);
    let bytes = stem.as_bytes();
    let is_doubled = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
    if is_doubled { &stem[..stem.len() - 1] } else { stem }
}

fn pairs(word: &str) -> Vec<String> {
    if !word.chars().any(is_ideograph) {
        return vec![word.to_owned()];
    }
    let chars: Vec<char> = word.chars().collect();
    chars.windows(2).map(|pair| pair.iter().collect()).collect()
}

/// Normalises `text` for comparisons: letters and digits in lower case, single spaces.
pub(super) fn plain(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the first line of an error message in lower case, at most 160 characters, without its
/// variable parts: the folders of paths are removed; ids, hashes and numbers become `0`. The number
/// of failed tests before a message is removed, because the output of the tests has no such text.
pub(super) fn error_key(message: &str) -> String {
    let folders = pattern!(r#"(?:[A-Za-z]:)?(?:[\w.@~-]*[/\\])+([\w.@-]+)"#);
    let ids = pattern!(
        r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{7,40}\b"
    );
    let numbers = pattern!(r"\d+");
    let failed = pattern!(r"^\d+ tests? failed: ");
    let line = message.lines().next().unwrap_or_default();
    let line = failed.replace(line, "");
    let line = folders.replace_all(&line, "$1");
    let line = ids.replace_all(&line, "0");
    let line = numbers.replace_all(&line, "0").to_lowercase();
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ").trim_end_matches(['.', ':']).chars().take(160).collect()
}

/// Whether an error key has enough words to identify the error, unlike `0 tests failed`.
pub(super) fn is_specific_error(key: &str) -> bool {
    words(key).len() > 2
}

/// Normalises a command line for comparisons: removes a leading `cd`, a final `2>&1` and a final
/// output filter such as `| tail`, and joins the words with single spaces.
pub(super) fn command_key(command: &str) -> String {
    let folder = pattern!(r"^\s*cd\s+\S+\s*(?:&&|;)\s*");
    let tail = pattern!(r"([^|])(?:\s*2>&1)?\s*(?:\|\s*(?:head|tail|grep|cat|tee|less)\b.*)?$");
    let command = folder.replace(command, "");
    let command = tail.replace(&command, "$1");
    single_spaced(&command)
}

/// Returns the words of `text` on one line, separated by single spaces.
pub(super) fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns `text` without final full stops and outer spaces, for use within a sentence.
pub(super) fn without_full_stop(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

/// Returns `text` with a full stop, unless it already ends like a sentence.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    let unquoted = text.trim_end_matches(['"', '”', ')']);
    if text.ends_with(['.', '!', '?', '…', ':', '。', '！', '？'])
        || unquoted.ends_with(['.', '!', '?'])
    {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// Maximum length, in characters, of the first part of a cut word that [`cut`] leaves out.
const MAX_CUT_WORD: usize = 30;

/// Returns the first `length` characters, followed by `…` if the text is longer. A word that would
/// be cut is left out, unless its first part is longer than [`MAX_CUT_WORD`].
pub(super) fn cut(text: &str, length: usize) -> String {
    let Some((at, _)) = text.char_indices().nth(length) else { return text.to_owned() };
    let kept = &text[..at];
    let is_in_word =
        !kept.ends_with(char::is_whitespace) && !text[at..].starts_with(char::is_whitespace);
    let word = kept
        .rfind(char::is_whitespace)
        .filter(|start| is_in_word && *start > 0 && kept[*start..].chars().count() <= MAX_CUT_WORD);
    format!("{}…", kept[..word.unwrap_or(at)].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn words_of_requests_are_no_topic_words() {
        let plain = "never remember still every only always please immer niemals";
        assert!(topic_words(plain).is_empty());
        // The list has no `bitte` and no `longer`, because they have the stems of `bit` and `long`.
        assert_eq!(topic_words("a long bit").len(), 2);
    }

    #[test]
    fn an_error_key_is_independent_of_folders_ids_and_numbers() {
        let key = error_key("/home/ann/app/src/a.rs:12:5: error[E0382]: use of moved value: `x`");
        assert_eq!(key, error_key("/ci/7/src/a.rs:40:9: error[E0382]: use of moved value: `x`"));
        let key = |id: &str| error_key(&format!("session {id} not found in the store"));
        assert_eq!(key("0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f"), key("7"));
        assert_eq!(key("deadbeef1234"), key("0xff"));
        let timeout = "TimeoutError: 10.0.0.3:8443 did not answer in 3000 ms";
        assert_eq!(error_key(&format!("1 test failed: {timeout}")), error_key(timeout));
        assert_eq!(error_key("3 tests failed"), "0 tests failed");
        assert_ne!(error_key(&format!("test_retry failed: {timeout}")), error_key(timeout));
        assert_ne!(error_key("No module named 'foo'"), error_key("No module named 'bar'"));
    }

    #[test]
    fn a_command_key_is_independent_of_the_folder_and_of_output_filters() {
        for command in [
            "cd /app && cargo  test 2>&1 | tail -20",
            "cargo test",
            "cargo test 2>&1",
            "cargo test | head",
        ] {
            assert_eq!(command_key(command), "cargo test", "{command}");
        }
        assert_ne!(command_key("cargo test --lib"), "cargo test");
        assert_eq!(command_key("make || cat log"), "make || cat log");
        assert_eq!(command_key("make || cat log 2>&1 | tail"), "make || cat log");
        assert_eq!(command_key(""), "");
    }

    #[test]
    fn sentences_about_the_same_work_share_most_topic_words() {
        let share = |one: &str, other: &str| {
            let (one, other) = (topic_words(one), topic_words(other));
            one.iter().filter(|word| other.contains(word)).count() * 100 / one.len()
        };
        for (one, other) in [
            ("Always run the linter before committing.", "run the linter before each commit"),
            ("Remove the old sessions", "Removed old sessions and the cache"),
            ("Stop adding retries to the client", "add a retry to the client"),
            ("始终使用中文注释", "不再使用中文注释"),
        ] {
            assert!(share(one, other) >= 60, "{one}: {}", share(one, other));
        }
        assert!(share("Remove the old sessions", "Rename the old parser") < 60);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("größer", 4), "größ…");
        assert_eq!(cut("groß", 4), "groß");
        assert_eq!(cut("read the parser", 10), "read the…");
        assert_eq!(cut("read the parser", 8), "read the…");
    }
}
