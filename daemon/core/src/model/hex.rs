//! Bytes as hexadecimal text.

use std::fmt::Write;

/// Returns two lower-case digits for each byte.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string accepts any text");
    }
    text
}

/// Returns the bytes of `text`; `None` if it contains anything but pairs of hexadecimal digits.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |letter: u8| char::from(letter).to_digit(16).and_then(|n| u8::try_from(n).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_text_and_other_text_is_refused() {
        assert_eq!(encode(&[0, 0x0f, 0xff]), "000fff");
        assert_eq!(decode("000fFF"), Some(vec![0, 0x0f, 0xff]));
        for text in ["0", "0g", "+1", "é0"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
