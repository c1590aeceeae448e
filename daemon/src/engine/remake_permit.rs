//! The permission to create a summary again that was created by older rules.

use std::sync::Arc;

use crate::{
    engine::{parse_context::ParseContext, reading::SourceReader},
    model::session::Session,
};

/// Whether a summary may be created again now.
pub(super) enum RemakePermit {
    /// The engine has other work, cannot write to the store, or stops.
    Busy,
    /// The session has or will get another episode, is quarantined, or is being forgotten.
    Refused,
    Granted(Box<RemakeContext>),
}

/// The data from which a summary is created again.
pub(super) struct RemakeContext {
    pub(super) session: Session,
    pub(super) reader: Arc<SourceReader>,
    pub(super) parse_context: Arc<ParseContext>,
}
