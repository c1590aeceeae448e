//! The tools: what the daemon can do for anyone. A new one is a file here and a line in [`TOOLS`].

mod close;
mod get_session;
mod health;
mod list_sessions;
mod list_unindexed;

use std::{future::Future, pin::Pin};

use graphiti_proto::rpc::{Error, code};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    api::{
        Daemon,
        caller::Caller,
        current::Unclear,
        methods::{read, write},
    },
    engine::AskError,
    model::{Namespace, Project, session::Session},
    store::StoreError,
};

/// Every tool.
pub static TOOLS: &[&Tool] =
    &[&close::TOOL, &list_unindexed::TOOL, &list_sessions::TOOL, &get_session::TOOL, &health::TOOL];

/// Something that the daemon can do.
pub struct Tool {
    /// What it is called.
    pub name: &'static str,
    /// What it does, for an agent that has to choose.
    pub description: &'static str,
    call: for<'a> fn(&'a Daemon, &'a Caller, Value) -> Answering<'a>,
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Value, Error>> + Send + 'a>>;

/// Calls the tool that `params` names.
pub(super) async fn call(
    daemon: &Daemon,
    caller: &Caller,
    mut params: Value,
) -> Result<Value, Error> {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        let what = format!("there is no tool `{name}`; there are {}", names.join(", "));
        return Err(Error::new(code::NO_METHOD, what));
    };
    let arguments = params["arguments"].take();
    match (tool.call)(daemon, caller, arguments).await {
        Ok(answer) => Ok(json!({
            "content": [{ "type": "text", "text": answer.to_string() }],
            "structuredContent": answer,
            "isError": false,
        })),
        // The caller's mistakes in form are the protocol's, everything else is the tool's answer.
        Err(error) if error.code == code::INVALID_PARAMS => Err(error),
        Err(error) => {
            let mut answer =
                json!({ "status": "error", "error": error.message, "message": error.message });
            if let Some(Value::Object(data)) = error.data {
                for (key, value) in data {
                    answer[key] = value;
                }
            }
            Ok(json!({
                "content": [{ "type": "text", "text": answer.to_string() }],
                "structuredContent": answer,
                "isError": true,
            }))
        }
    }
}

/// Reads the arguments, does the work and writes the answer.
async fn typed<A, T, F>(arguments: Value, run: impl FnOnce(A) -> F) -> Result<Value, Error>
where
    A: DeserializeOwned + Default,
    T: Serialize,
    F: Future<Output = Result<T, Error>>,
{
    Ok(write(&run(read(arguments)?).await?))
}

/// A project as an argument names it: by its namespace, or by a directory in it.
fn project_argument(given: Option<&str>) -> Option<Namespace> {
    let given = given.map(str::trim).filter(|given| !given.is_empty())?;
    Some(Namespace::parse(given).unwrap_or_else(|| Project::new(given).namespace()))
}

fn is_of_project(session: &Session, wanted: Option<Namespace>) -> bool {
    wanted.is_none_or(|wanted| {
        session.project.as_ref().is_some_and(|project| project.namespace() == wanted)
    })
}

pub(super) fn engine_error(error: AskError) -> Error {
    match error {
        AskError::NoSuchSession => Error::new(code::NOT_FOUND, error.to_string()),
        AskError::Stopping => Error::new(code::STOPPING, error.to_string()),
        AskError::Failed(what) => Error::new(code::INTERNAL, what),
    }
}

fn store_error(error: StoreError) -> Error {
    match error {
        StoreError::Closed => Error::new(code::STOPPING, "graphitid is stopping"),
        other => Error::new(code::INTERNAL, other.to_string()),
    }
}

pub(super) fn unclear_error(unclear: Unclear) -> Error {
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
    match unclear {
        Unclear::Failed(what) => Error::new(code::INTERNAL, what),
        Unclear::Unknown(id) => Error::new(
            code::NOT_FOUND,
            format!("no session or episode begins with `{id}`; `graphiti list` shows them"),
        ),
        Unclear::Several { what, candidates: sessions } => Error {
            code: code::AMBIGUOUS,
            message: format!("{} sessions {what}: give the id of one", sessions.len()),
            data: Some(json!({ "candidates": candidates(&sessions) })),
        },
        Unclear::NotSaid(sessions) => Error {
            code: code::AMBIGUOUS,
            message: "which session is meant cannot be told from here: give its id".to_owned(),
            data: Some(json!({ "candidates": candidates(&sessions) })),
        },
    }
}
