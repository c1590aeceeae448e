//! Converts errors of other modules to errors of the protocol.

use graphiti_proto::rpc::{Error, code};
use serde_json::{Value, json};

use crate::{
    api::current::ResolveError,
    engine::EngineError,
    model::{Project, session::Session},
    store::StoreError,
};

/// The part of an error message that names the command for the list of sessions. In the text for a
/// model, [`tools::text`](crate::api::tools) replaces this part by the name of a tool.
pub(super) const LISTED_SESSIONS: &str = "`graphiti list` shows the sessions";

pub(super) fn engine_error(error: EngineError) -> Error {
    match error {
        EngineError::NoSuchSession => Error::new(code::NOT_FOUND, error.to_string()),
        EngineError::Stopping => Error::new(code::STOPPING, error.to_string()),
        EngineError::Failed(what) => Error::new(code::INTERNAL, what),
    }
}

pub(super) fn store_error(error: StoreError) -> Error {
    match error {
        StoreError::Closed => Error::new(code::STOPPING, "graphitid is stopping"),
        other => Error::new(code::INTERNAL, other.to_string()),
    }
}

pub(super) fn resolve_error(error: ResolveError) -> Error {
    let candidates = |sessions: &[Session]| -> Value {
        sessions
            .iter()
            .map(|session| {
                json!({
                    "session_id": session.id.id,
                    "agent": session.id.agent,
                    "project": session.project.as_ref().map(Project::path),
                    "state": session.state.as_str(),
                    "last_activity": session.last_activity.to_string(),
                })
            })
            .collect()
    };
    match error {
        ResolveError::Failed(what) => Error::new(code::INTERNAL, what),
        ResolveError::Unknown(id) => Error::new(
            code::NOT_FOUND,
            format!(
                "no session id begins with `{id}`, and no episode has this id; {LISTED_SESSIONS}"
            ),
        ),
        ResolveError::Several { count, what, candidates: sessions } => Error {
            code: code::AMBIGUOUS,
            message: format!("{count} sessions {what}: give the id of one"),
            data: Some(json!({ "candidates": candidates(&sessions) })),
        },
        ResolveError::NotRecorded => Error::new(
            code::NOT_FOUND,
            "your own session is not recorded: give the id of a session, if the user names one",
        ),
        ResolveError::NoneGiven(sessions) => Error {
            code: code::AMBIGUOUS,
            message: "the session cannot be determined: give its id".to_owned(),
            data: Some(json!({ "candidates": candidates(&sessions) })),
        },
    }
}
