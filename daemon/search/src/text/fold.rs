//! Unifies the spelling of words: lower case without accents, and simplified Chinese characters.

use unicode_normalization::UnicodeNormalization;

/// Appends `text` to `out`, in lower case and without accents.
///
/// Only the accents of the Latin, Greek and Cyrillic scripts are removed; in other scripts a mark
/// is an essential part of a letter.
pub(super) fn fold_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        let start = out.len();
        out.push_str(text);
        out[start..].make_ascii_lowercase();
        return;
    }
    for c in text.nfkd().filter(|c| *c == BREVE || !is_accent(*c)).flat_map(char::to_lowercase) {
        match c {
            // `й` is a separate letter. The stemmer needs it to recognise the endings of Russian
            // words.
            BREVE if out.ends_with('и') => {
                out.pop();
                out.push('й');
            }
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' => out.push('d'),
            'ı' => out.push('i'),
            'ς' => out.push('σ'),
            c if is_accent(c) => {}
            c => out.push(c),
        }
    }
}

const BREVE: char = '\u{306}';

/// Appends `text` to `out` in NFKC, with simplified instead of traditional Chinese characters. Used
/// for scripts without spaces.
pub(super) fn compose_into(text: &str, out: &mut String) {
    // Each character is converted alone, because a word is indexed as pairs of characters, and a
    // character must have the same form in each pair.
    let simplified = |c: char| fast2s::convert(c.encode_utf8(&mut [0; 4])).chars().next();
    out.extend(text.nfkc().filter_map(simplified));
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}')
}
