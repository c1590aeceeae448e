//! The limits on the stored parts of a record.

use std::borrow::Cow;

/// Maximum bytes of a text; of a longer one only the two ends are kept.
pub(crate) const TEXT_KEPT: usize = 512 * 1024;
/// Maximum bytes of a tool's argument; of a longer one only the two ends are kept.
pub(crate) const INPUT_KEPT: usize = 256 * 1024;
/// Maximum bytes of a path, and of a name or an id, because they are stored repeatedly.
pub(crate) const PATH_KEPT: usize = 4_096;
pub(crate) const NAME_KEPT: usize = 512;

/// Returns the start of `text`, at most `limit` bytes.
pub(crate) fn begin(text: Cow<'_, str>, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        text
    } else {
        text[..text.floor_char_boundary(limit)].to_owned().into()
    }
}
