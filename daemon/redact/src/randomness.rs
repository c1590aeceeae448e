//! Decides whether a text is random or consists of words.
//!
//! Entropy alone does not distinguish a short key from a long identifier. Two further properties
//! are therefore used: a random text changes between letters, digits and cases every second or
//! third character, and the letter pairs of a random text are rare in words.

/// The letters that commonly follow each letter in words and identifiers: 93 % of all pairs,
/// counted over the sources and documentation of about 200 crates.
const FOLLOWERS: [&str; 26] = [
    "bcdfgiklmnprstuvxy",
    "aeilorsu",
    "aceghiklmoprstu",
    "adefilorsu",
    "abcdefgilmnopqrstvwxy",
    "acdefilorstu",
    "aehinorsu",
    "aeiort",
    "abcdefglmnoprstvxz",
    "",
    "eis",
    "adeiklostuy",
    "abeimopsu",
    "acdefgiklnopstuv",
    "abcdfgiklmnoprstuvw",
    "acehiloprstu",
    "u",
    "acdefgiklmnoprstuvy",
    "aceghiklmnoprstuy",
    "acdefhilmoprstuxy",
    "abcefilmnprst",
    "aei",
    "aeinor",
    "cept",
    "nps",
    "e",
];

/// [`FOLLOWERS`] as one bit for each pair.
const COMMON: [u32; 26] = {
    let mut bits = [0; 26];
    let mut letter = 0;
    while letter < 26 {
        let followers = FOLLOWERS[letter].as_bytes();
        let mut index = 0;
        while index < followers.len() {
            bits[letter] |= 1 << (followers[index] - b'a');
            index += 1;
        }
        letter += 1;
    }
    bits
};

/// Returns the Shannon entropy in bits per byte, from 0 to 8.
pub(super) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let total = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum()
}

/// Whether `text` looks random. The text needs at least eight letters or digits.
///
/// Error rates: about 2 % of random texts of 16 characters and 0.1 % of random texts of 32
/// characters are classified as words; 1 % of identifiers are classified as random.
pub(super) fn looks_random(text: &str) -> bool {
    let shape = Shape::of(text.as_bytes());
    if shape.characters < 8 || entropy(text.as_bytes()) < 2.5 {
        return false;
    }
    if shape.is_hex && shape.characters >= 16 && shape.has_digits && shape.has_letters {
        return true;
    }
    let piece = shape.characters as f64 / shape.pieces as f64;
    let common = f64::from(shape.common_pairs) / f64::from(shape.pairs.max(1));
    match piece {
        ..2.3 => true,
        ..3.0 => shape.pairs < 6 || common <= 0.75,
        _ => shape.pairs >= 9 && common < 0.62,
    }
}

/// The counts for [`looks_random`].
#[derive(Default)]
struct Shape {
    /// Number of letters and digits.
    characters: u32,
    /// Number of parts of one [`Class`], for example 3 in `abc12DE`. A part may begin with one
    /// capital (`Word`). Another character, such as `-`, does not begin a new part.
    pieces: u32,
    /// Number of pairs of adjacent letters within a piece.
    pairs: u32,
    /// Number of the pairs that are common in words.
    common_pairs: u32,
    is_hex: bool,
    has_digits: bool,
    has_letters: bool,
}

impl Shape {
    fn of(text: &[u8]) -> Shape {
        let mut shape = Shape { is_hex: true, ..Shape::default() };
        let mut before = Class::Other;
        let mut piece_length = 0;
        for (index, byte) in text.iter().enumerate() {
            let class = Class::of(*byte);
            if class == Class::Other {
                (before, piece_length) = (class, 0);
                continue;
            }
            shape.characters += 1;
            shape.pieces = shape.pieces.max(1);
            shape.is_hex &= byte.is_ascii_hexdigit();
            shape.has_digits |= class == Class::Digit;
            shape.has_letters |= class != Class::Digit;
            // `Word` is one piece, because a word may start with a capital.
            let joins = class == before
                || (before == Class::Upper && class == Class::Lower && piece_length == 1);
            if joins {
                shape.count_pair(text[index - 1], *byte);
                piece_length += 1;
            } else {
                shape.pieces += u32::from(before != Class::Other);
                piece_length = 1;
            }
            before = class;
        }
        shape
    }

    fn count_pair(&mut self, first: u8, second: u8) {
        if first.is_ascii_digit() {
            return;
        }
        let first = usize::from(first.to_ascii_lowercase() - b'a');
        let second = second.to_ascii_lowercase() - b'a';
        self.pairs += 1;
        self.common_pairs += (COMMON[first] >> second) & 1;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Other,
}

impl Class {
    fn of(byte: u8) -> Class {
        match byte {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            _ => Class::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_the_shannon_entropy() {
        for (text, wanted) in [("", 0.0), ("aaaa", 0.0), ("abab", 1.0), ("abcdefgh", 3.0)] {
            assert!((entropy(text.as_bytes()) - wanted).abs() < 1e-9, "{text}");
        }
    }

    #[test]
    fn random_texts_are_distinguished_from_words() {
        for drawn in [
            "kJ8s2Lq0Zx9Vb4Nm",
            "9f86d081884c7d659a2feaa0c55ad015",
            "JBSWY3DPEHPK3PXP",
            "qzkxjvwpbmhgtfrd",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCY",
            "s3cr3t-v4lue",
        ] {
            assert!(looks_random(drawn), "{drawn}");
        }
        for words in [
            "session-start",
            "my_service_account_name",
            "getUserAccessTokenFromRequest",
            "HTTPServerErrorHandler",
            "color-primary-500",
            "text-embedding-3-small",
            "application/json",
            "user1Token2Abc",
            "src/lib.rs",
            "1982-09-17T00:00:00Z",
            "FWP_BYTE_BLOB",
            "123456789012345678",
            "aaaaaaaaaaaaaaaa",
            "short1",
        ] {
            assert!(!looks_random(words), "{words}");
        }
    }
}
