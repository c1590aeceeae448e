//! Recognises quotes and skips blanks around a name.

/// Maximum number of consecutive spaces that are skipped. Aligned columns have many spaces.
pub(super) const BLANKS: usize = 40;

/// Returns the length in bytes of a quote in any notation: `"`, `'`, a backtick, an escaped quote
/// (`\"`, `\\\"`, `\u0022`), `&quot;`, `%22`.
pub(super) fn quote(text: &[u8]) -> Option<usize> {
    let backslashes = text.iter().take(8).take_while(|byte| **byte == b'\\').count();
    if matches!(text.get(backslashes), Some(b'"' | b'\'' | b'`')) {
        return Some(backslashes + 1);
    }
    let entities: [&[u8]; 6] = [b"\\u0022", b"\\u0027", b"&quot;", b"&#34;", b"&#39;", b"%22"];
    entities.into_iter().find(|entity| text.starts_with(entity)).map(<[u8]>::len)
}

pub(super) fn after_blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take(BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
