//! Credentials of HTTP basic authentication: the base64 of `user:password`.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// Accepts base64 as clients send it: with or without padding, and with extra bits at the end.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Whether `text` is the base64 (of either alphabet) of a user, a colon and a password.
pub(super) fn is_pair(text: &str) -> bool {
    if !(8..=512).contains(&text.len()) {
        return false;
    }
    let decoded = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text));
    let Some(pair) = decoded.ok().and_then(|decoded| String::from_utf8(decoded).ok()) else {
        return false;
    };
    let is_printable = !pair.chars().any(char::is_control);
    is_printable && pair.split_once(':').is_some_and(|(_, password)| !password.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_user_and_password_is_recognised() {
        for pair in ["dXNlcjpwYXNz", "QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "YWRtaW46aHVudGVyMg"] {
            assert!(is_pair(pair), "{pair}");
        }
        for other in ["authentication", "credentials", "dXNlcnBhc3M=", "!!!!!!!!", "dXNlcjo="] {
            assert!(!is_pair(other), "{other}");
        }
    }
}
