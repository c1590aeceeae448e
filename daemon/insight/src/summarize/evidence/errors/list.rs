//! The bounded list of the errors of a session.

use crate::{
    model::evidence::ErrorSeen,
    summarize::evidence::{bounds, errors::message},
};

/// Adds an error at the end. When there are too many errors, removes one as [`bound`] does.
pub(super) fn push_error(errors: &mut Vec<ErrorSeen>, error: ErrorSeen) {
    errors.push(error);
    bound(errors);
}

/// While there are too many errors, removes the first error that is unresolved and occurred once,
/// or else the first error. The last error stays.
pub(in crate::summarize::evidence) fn bound(errors: &mut Vec<ErrorSeen>) {
    while errors.len() > bounds::ERRORS {
        let minor = errors.iter().position(|error| error.resolution.is_none() && error.times == 1);
        errors.remove(minor.filter(|at| at + 1 < errors.len()).unwrap_or(0));
    }
}

pub(super) fn find<'e>(
    errors: &'e mut [ErrorSeen],
    line: u64,
    shape: &str,
) -> Option<&'e mut ErrorSeen> {
    errors
        .iter_mut()
        .find(|error| error.origin.line == line && message::comparison_key(&error.message) == shape)
}
