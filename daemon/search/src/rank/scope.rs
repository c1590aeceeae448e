//! The sessions that a search considers and prefers, independent of the query.

use crate::model::{Namespace, SessionKey};

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Scope {
    /// Only these projects; `None` for all.
    pub namespaces: Option<Vec<Namespace>>,
    /// Only this session, if set.
    pub within: Option<SessionKey>,
    /// Sessions that are excluded.
    pub without: Vec<SessionKey>,
    /// The directories of the caller's project, whose sessions rank slightly higher.
    pub near: Vec<Namespace>,
}
