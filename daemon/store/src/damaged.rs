//! Work that continues without the records that are damaged.

use crate::StoreError;

/// Returns the default value, such as `None`, if a record is damaged. Logs a warning with the
/// `effect` of the missing record.
///
/// # Errors
///
/// When the record could not be read for another reason.
pub fn skip_damaged<T: Default>(
    read: Result<T, StoreError>,
    effect: &'static str,
) -> Result<T, StoreError> {
    match read {
        Err(error @ StoreError::Damaged { .. }) => {
            tracing::warn!(%error, "a record is skipped: {effect}");
            Ok(T::default())
        }
        read => read,
    }
}
