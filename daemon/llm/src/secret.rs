//! A provider's key, which never appears in logs.

use std::fmt;

/// A key for a provider. The `Debug` output does not contain the key.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Trims `text`. Returns `None` if `text` is empty or contains anything but visible ASCII
    /// characters. All of these characters are valid in a header.
    pub fn new(text: &str) -> Option<Secret> {
        let text = text.trim();
        let is_key = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Secret(text.to_owned()))
    }

    /// Returns the key itself, only for the header of a request.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Removes the key from `text`, in case a server repeats it.
    pub(crate) fn out_of(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debug_output_does_not_contain_the_key() {
        let secret = Secret::new(" abc123\n").unwrap();
        assert_eq!(secret.expose(), "abc123");
        assert_eq!(
            format!("{secret:?} {:?}", Some(&secret)),
            "Secret(hidden) Some(Secret(hidden))"
        );
        assert_eq!(secret.out_of("wrong key abc123."), "wrong key [key].");
    }

    #[test]
    fn text_that_a_header_cannot_contain_is_rejected() {
        for text in ["", "  \n", "two words", "a\nb", "ключ"] {
            assert_eq!(Secret::new(text), None, "{text}");
        }
    }
}
