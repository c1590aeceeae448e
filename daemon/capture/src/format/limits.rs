//! The limits on the stored parts of a record.

use std::borrow::Cow;

/// Maximum length, in bytes, of a text. A longer text loses its middle.
pub(crate) const TEXT_KEPT: usize = 512 * 1024;
/// Maximum length, in bytes, of a tool's argument. A longer argument loses its middle.
pub(crate) const INPUT_KEPT: usize = 256 * 1024;
/// Maximum length, in bytes, of a path. Paths are stored repeatedly.
pub(crate) const PATH_KEPT: usize = 4_096;
/// Maximum length, in bytes, of a name or an id. Names and ids are stored repeatedly.
pub(crate) const NAME_KEPT: usize = 512;

/// Returns the start of `text`, at most `limit` bytes.
pub(crate) fn begin(text: Cow<'_, str>, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        text
    } else {
        text[..text.floor_char_boundary(limit)].to_owned().into()
    }
}
