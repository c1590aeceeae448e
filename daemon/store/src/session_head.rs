//! The data by which lists of sessions are filtered and sorted.

use std::sync::Arc;

use crate::model::{Namespace, Timestamp, session::Session};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHead {
    pub last_activity: Timestamp,
    pub agent: Arc<str>,
    /// The directory of the session; `None` if the session has no project.
    pub project: Option<Namespace>,
    /// The name of the session's state; see
    /// [`State::as_str`](crate::model::session::State::as_str).
    pub state: &'static str,
    /// See [`Session::is_listed`].
    pub is_listed: bool,
}

impl From<&Session> for SessionHead {
    fn from(session: &Session) -> SessionHead {
        SessionHead {
            last_activity: session.last_activity,
            agent: session.id.agent.as_str().into(),
            project: session.project.as_ref().map(crate::model::Project::namespace),
            state: session.state.as_str(),
            is_listed: session.is_listed(),
        }
    }
}
