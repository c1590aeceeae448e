//! The tools: what the daemon can do for anyone. A new one is a file here and a line in [`TOOLS`].

mod add_memory;
mod close;
mod delete_episode;
mod failed_episodes;
mod get_episode_entities;
pub(in crate::api) mod get_episodes;
mod get_handoff;
mod get_session;
mod graph;
mod health;
mod list_sessions;
mod list_unindexed;
mod search_memory_facts;
mod search_memory_nodes;
mod search_nodes;
mod search_sessions;
mod status;
mod summarize_session;
mod sync_history;

use std::{future::Future, pin::Pin};

use graphiti_proto::rpc::{Error, code};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        current::ResolveError,
        methods::{read, write},
    },
    engine::EngineError,
    model::{Namespace, Project, session::Session},
    store::StoreError,
};

pub static TOOLS: &[&Tool] = &[
    &close::TOOL,
    &get_handoff::TOOL,
    &search_sessions::TOOL,
    &search_memory_facts::TOOL,
    &search_nodes::TOOL,
    &search_memory_nodes::TOOL,
    &get_episode_entities::TOOL,
    &list_sessions::TOOL,
    &get_session::TOOL,
    &list_unindexed::TOOL,
    &health::TOOL,
    &status::TOOL,
    &sync_history::TOOL,
    &failed_episodes::TOOL,
    &get_episodes::TOOL,
    &add_memory::TOOL,
    &delete_episode::TOOL,
    &summarize_session::TOOL,
];

/// Something that the daemon can do.
pub struct Tool {
    /// What it is called.
    pub name: &'static str,
    /// The same for people.
    pub title: &'static str,
    /// What it does, for an agent that has to choose.
    pub description: &'static str,
    /// What it does to what is kept.
    pub effect: Effect,
    /// The form of its arguments.
    pub input: fn() -> schemars::Schema,
    /// The form of its answer.
    pub output: fn() -> schemars::Schema,
    call: for<'a> fn(&'a DaemonState, &'a ClientContext, Value) -> Answering<'a>,
}

/// What a tool does to what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing. That what is due is indexed before a search is nobody's change.
    Reads,
    /// It brings something up to date; done twice it is the same as once.
    Updates,
    Adds,
    /// It removes something for good.
    Removes,
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Value, Error>> + Send + 'a>>;

/// Calls the tool that `params` names.
pub(super) async fn call(
    daemon: &DaemonState,
    client: &ClientContext,
    mut params: Value,
) -> Result<Value, Error> {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        let what = format!("there is no tool `{name}`; there are {}", names.join(", "));
        return Err(Error::new(code::NO_METHOD, what));
    };
    let arguments = params["arguments"].take();
    match (tool.call)(daemon, client, arguments).await {
        Ok(answer) => Ok(json!({
            "content": [{ "type": "text", "text": answer.to_string() }],
            "structuredContent": answer,
            "isError": false,
        })),
        // The caller's mistakes in form are the protocol's, everything else is the tool's answer.
        Err(error) if error.code == code::INVALID_PARAMS => Err(error),
        Err(error) => Ok(failed(error)),
    }
}

/// The result of a tool that failed: what went wrong and what to do.
pub(super) fn failed(error: Error) -> Value {
    let mut answer = json!({ "status": "error", "error": error.message, "message": error.message });
    if let Some(Value::Object(data)) = error.data {
        for (key, value) in data {
            answer[key] = value;
        }
    }
    json!({
        "content": [{ "type": "text", "text": answer.to_string() }],
        "structuredContent": answer,
        "isError": true,
    })
}

/// The schema of what a tool takes: every member with its default, unless that is nothing.
fn input<T: JsonSchema>() -> schemars::Schema {
    let mut schema = schema::<T>(SchemaSettings::draft2020_12().for_deserialize());
    without(&["format", "minimum"], schema.ensure_object());
    for member in members(&mut schema) {
        if let Some(member) = member.as_object_mut()
            && member.get("default").is_some_and(Value::is_null)
        {
            member.remove("default");
        }
    }
    schema
}

/// The schema of what a tool answers. No member is required: an error has others. It costs every
/// agent a part of its context, so the names and types of its members have to do: what is in them
/// is clear from an answer.
fn output<T: JsonSchema>() -> schemars::Schema {
    let mut schema = schema::<T>(SchemaSettings::draft2020_12().for_deserialize());
    members(&mut schema).for_each(|member| *member = outline(member));
    schema
}

fn members(schema: &mut schemars::Schema) -> impl Iterator<Item = &mut Value> {
    let members = schema.ensure_object().get_mut("properties").and_then(Value::as_object_mut);
    members.into_iter().flat_map(|members| members.values_mut())
}

/// The type of a member; of a list, that of its entries, too.
fn outline(member: &Value) -> Value {
    let mut outline = serde_json::Map::new();
    if let Some(kind) = member.get("type") {
        outline.insert("type".to_owned(), kind.clone());
    }
    if let Some(kind) = member.get("items").and_then(|items| items.get("type")) {
        outline.insert("items".to_owned(), json!({ "type": kind }));
    }
    Value::Object(outline)
}

fn schema<T: JsonSchema>(settings: SchemaSettings) -> schemars::Schema {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The types' own names and words say nothing to an agent.
    for member in ["$schema", "title", "description"] {
        schema.remove(member);
    }
    // A tool without arguments has no properties, but is still an object.
    schema.insert("type".to_owned(), json!("object"));
    schema
}

/// Takes annotations out of a schema and all that are in it.
fn without(annotations: &[&str], schema: &mut serde_json::Map<String, Value>) {
    schema.retain(|name, _| !annotations.contains(&name.as_str()));
    for (name, inner) in schema.iter_mut() {
        match inner {
            // The keys here are the names of members, not of annotations.
            Value::Object(members) if name == "properties" => {
                for member in members.values_mut().filter_map(Value::as_object_mut) {
                    without(annotations, member);
                }
            }
            Value::Object(inner) => without(annotations, inner),
            Value::Array(items) => items
                .iter_mut()
                .filter_map(Value::as_object_mut)
                .for_each(|item| without(annotations, item)),
            _ => {}
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
pub(super) fn project_argument(given: Option<&str>) -> Option<Namespace> {
    let given = given.map(str::trim).filter(|given| !given.is_empty())?;
    Some(Namespace::parse(given).unwrap_or_else(|| Project::new(given).namespace()))
}

/// The projects behind Graphiti's group ids; none, which means all, when there are none or one of
/// them names no project: it holds them all, such as a machine's group for everything.
fn groups<'a>(given: impl Iterator<Item = &'a String>) -> Vec<Namespace> {
    let given: Vec<&str> =
        given.map(|group| group.trim()).filter(|group| !group.is_empty()).collect();
    if !given.iter().all(|group| names_project(group)) {
        return Vec::new();
    }
    given.into_iter().filter_map(|group| project_argument(Some(group))).collect()
}

/// Whether a group id is a project's namespace or directory.
fn names_project(group: &str) -> bool {
    Namespace::parse(group).is_some() || group.contains(['/', '\\'])
}

pub(super) fn is_of_project(session: &Session, wanted: Option<Namespace>) -> bool {
    wanted.is_none_or(|wanted| {
        session.project.as_ref().is_some_and(|project| project.namespace() == wanted)
    })
}

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
            format!("no session or episode begins with `{id}`; `graphiti list` shows them"),
        ),
        ResolveError::Several { what, candidates: sessions } => Error {
            code: code::AMBIGUOUS,
            message: format!("{} sessions {what}: give the id of one", sessions.len()),
            data: Some(json!({ "candidates": candidates(&sessions) })),
        },
        ResolveError::NotRecorded => Error::new(
            code::NOT_FOUND,
            "your own session is not recorded: give the id of a session, if the user names one",
        ),
        ResolveError::NoneGiven(sessions) => Error {
            code: code::AMBIGUOUS,
            message: "which session is meant cannot be told from here: give its id".to_owned(),
            data: Some(json!({ "candidates": candidates(&sessions) })),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_names_no_project_holds_them_all() {
        let projects = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|group| (*group).to_owned()).collect();
            groups(given.iter())
        };
        let app = Project::new("/work/app").namespace();
        assert_eq!(projects(&["/work/app", " "]), [app]);
        assert_eq!(projects(&[&app.to_string()]), [app]);
        assert_eq!(projects(&["host__global"]), []);
        assert_eq!(projects(&["/work/app", "main"]), []);
        assert_eq!(projects(&[]), []);
    }
}
