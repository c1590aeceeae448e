//! The tools of the daemon. A new tool needs one file here, one entry in [`TOOLS`], its types in
//! `graphiti_proto::tools`, and its text for models in [`text`].

pub(in crate::api) mod add_memory;
mod announcement;
mod blame_file;
mod broader;
mod by_id;
mod capped;
mod close;
mod delete_episode;
mod errors;
mod fact_condition;
mod failed_episodes;
mod file_names;
mod find_fix;
mod fit;
mod get_episode_entities;
pub(in crate::api) mod get_episodes;
mod get_handoff;
mod get_log;
mod get_session;
pub(in crate::api) mod graph;
mod health;
pub(in crate::api) mod list_sessions;
mod list_unindexed;
pub(in crate::api) mod mark_fact;
mod passages;
mod replies;
mod search_memory_facts;
mod search_memory_nodes;
mod search_nodes;
mod search_sessions;
mod session_search;
mod status;
mod summarize_session;
mod sync_history;
mod team;
mod text;
mod zero_limit;

use std::{future::Future, pin::Pin};

use graphiti_proto::rpc::{Error, code};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use self::text::ModelText;
pub(super) use self::{graph::date, list_sessions::visit_tracked};
use crate::{
    api::{
        DaemonState, catch_up,
        client_context::{ClientContext, ReplyForm},
        errors::{engine_error, resolve_error, store_error},
        parameters::{read, write},
    },
    model::Namespace,
};

pub static TOOLS: &[&Tool] = &[
    &close::TOOL,
    &get_handoff::TOOL,
    &search_sessions::TOOL,
    &search_memory_facts::TOOL,
    &mark_fact::TOOL,
    &search_nodes::TOOL,
    &search_memory_nodes::TOOL,
    &get_episode_entities::TOOL,
    &blame_file::TOOL,
    &find_fix::TOOL,
    &get_log::TOOL,
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

pub struct Tool {
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    pub description: &'static str,
    pub effect: Effect,
    /// The schema of the arguments.
    pub input: fn() -> schemars::Schema,
    /// The schema of the answer.
    pub output: fn() -> schemars::Schema,
    call: for<'a> fn(&'a DaemonState, &'a ClientContext, Value) -> Answering<'a>,
}

/// The effect of a tool on stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// No effect. Indexing pending sessions before a search does not count.
    Reads,
    /// Updates data; a repetition has no further effect.
    Updates,
    Adds,
    /// Removes data permanently.
    Removes,
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Reply>, Error>> + Send + 'a>>;

/// A tool's answer, which can be given in each [`ReplyForm`].
trait Reply: Send {
    fn structured(&self) -> Value;
    fn text(&self) -> String;
}

impl<T: Serialize + ModelText + Send> Reply for T {
    fn structured(&self) -> Value {
        write(self)
    }

    fn text(&self) -> String {
        ModelText::text(self)
    }
}

pub(super) async fn call(
    daemon: &DaemonState,
    client: &ClientContext,
    mut params: Value,
) -> Result<Value, Error> {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        let what = format!("there is no tool `{name}`; the tools are {}", names.join(", "));
        return Err(Error::new(code::NO_METHOD, what));
    };
    let arguments = params["arguments"].take();
    match (tool.call)(daemon, client, arguments).await {
        Ok(answer) => Ok(match client.reply_form {
            ReplyForm::Structured => structured_result(&answer.structured(), false),
            ReplyForm::Text => text_result(&answer.text(), false),
        }),
        // Invalid arguments are an error of the request; all other errors are results of the tool.
        Err(error) if error.code == code::INVALID_PARAMS => Err(error),
        Err(error) => Ok(failed(catch_up::explain(daemon, error).await, client.reply_form)),
    }
}

/// Returns the structured answer of a tool, for a caller in this process.
pub(super) async fn structured(
    daemon: &DaemonState,
    client: &ClientContext,
    name: &str,
    arguments: Value,
) -> Result<Value, Error> {
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    let tool = tool.expect("callers in this process use the constants of the tools' names");
    Ok((tool.call)(daemon, client, arguments).await?.structured())
}

/// Returns the result of a failed tool: the error with its data, such as candidates.
pub(super) fn failed(error: Error, form: ReplyForm) -> Value {
    if form == ReplyForm::Text {
        return text_result(&text::error(&error), true);
    }
    let mut answer = json!({ "status": "error", "error": error.message, "message": error.message });
    if let Some(Value::Object(data)) = error.data {
        for (key, value) in data {
            answer[key] = value;
        }
    }
    structured_result(&answer, true)
}

/// Returns a result whose text repeats the structured answer, because clients of older versions of
/// the protocol do not read structured answers.
fn structured_result(answer: &Value, is_error: bool) -> Value {
    json!({
        "content": [{ "type": "text", "text": answer.to_string() }],
        "structuredContent": answer,
        "isError": is_error,
    })
}

fn text_result(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

/// Returns the schema of a tool's arguments. The schema of a member contains its default, unless
/// the default is null or the member is required.
fn input<T: JsonSchema>() -> schemars::Schema {
    let mut schema = schema::<T>(SchemaSettings::draft2020_12().for_deserialize());
    without(&["format", "minimum"], schema.ensure_object());
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|all| all.contains(&name.into()));
    for (name, member) in members(&mut schema) {
        let Some(member) = member.as_object_mut() else { continue };
        if is_required(name) || member.get("default").is_some_and(Value::is_null) {
            member.remove("default");
        }
        // Line feeds come from the source comment, and have no meaning for an agent.
        if let Some(Value::String(text)) = member.get_mut("description") {
            *text = text.replace('\n', " ");
        }
    }
    schema
}

/// Returns the schema of a tool's answer. No member is required, because errors have other members.
/// The schema uses space in every agent's context, so it contains only the names and types of
/// members, without descriptions.
fn output<T: JsonSchema>() -> schemars::Schema {
    let mut schema = schema::<T>(SchemaSettings::draft2020_12().for_deserialize());
    members(&mut schema).for_each(|(_, member)| *member = outline(member));
    schema
}

fn members(schema: &mut schemars::Schema) -> impl Iterator<Item = (&String, &mut Value)> {
    let members = schema.ensure_object().get_mut("properties").and_then(Value::as_object_mut);
    members.into_iter().flat_map(|members| members.iter_mut())
}

/// Returns the type of a member; for a list, also the type of its entries.
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
    // The names and descriptions of the types are of no use to an agent.
    for member in ["$schema", "title", "description"] {
        schema.remove(member);
    }
    // A tool without arguments has no properties, but is still an object.
    schema.insert("type".to_owned(), json!("object"));
    schema
}

/// Removes annotations from a schema and its nested schemas.
fn without(annotations: &[&str], schema: &mut serde_json::Map<String, Value>) {
    schema.retain(|name, _| !annotations.contains(&name.as_str()));
    for (name, inner) in schema.iter_mut() {
        match inner {
            // These keys are names of members, not annotations.
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

/// Parses the arguments and runs the tool.
async fn typed<A, T, F>(arguments: Value, run: impl FnOnce(A) -> F) -> Result<Box<dyn Reply>, Error>
where
    A: DeserializeOwned + Default,
    T: Reply + 'static,
    F: Future<Output = Result<T, Error>>,
{
    Ok(Box::new(run(read(arguments)?).await?))
}

/// Whether a group id is a project's namespace or directory.
fn is_project_id(group: &str) -> bool {
    Namespace::parse(group).is_some() || group.contains(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_or_a_directory_is_a_project_id() {
        for group in ["/home/ann/app", "C:\\work", "0011aabb"] {
            assert!(is_project_id(group), "{group}");
        }
        for group in ["host__global", "main", ""] {
            assert!(!is_project_id(group), "{group}");
        }
    }
}
