//! The codec for agents that are not built in: a list of objects.

use std::path::Path;

use serde_json::{Map, Value as Json, json};

use crate::{
    capture::format::{
        Formats,
        mapped::{FormatMapping, PathPattern, Pointer, RoleNames},
    },
    config::{
        codec::{Codec, CodecContext, InvalidValue, place::absolute},
        file::{KeyValue, Node, Value},
    },
};

pub(in crate::config) struct FormatsCodec;

/// Maximum length, in characters, of a name.
const MAX_NAME_CHARS: usize = 32;
const EXAMPLE: &str = "{\"name\": \"myagent\", \"paths\": [\"~/.myagent/sessions\"], \"role\": \"/role\", \
                       \"text\": \"/content\"}";

/// The keys whose values are JSON pointers, each with its meaning. The first two are required.
const POINTERS: &[(&str, &str)] = &[
    ("role", "the author of the record"),
    ("text", "the text: a text, or a list of texts and of objects with the member `text`"),
    ("time", "the time: an RFC 3339 text, or seconds or milliseconds since 1970"),
    (
        "session",
        "the id of the session; without it, each file is a session, named by its path below the watched folder",
    ),
    ("cwd", "the working directory, which is the project"),
    ("id", "the UUID of the record, to recognise copies of a session"),
    ("model", "the model"),
    ("branch", "the branch"),
    ("version", "the agent's version"),
];

impl Codec for FormatsCodec {
    type Item = Vec<FormatMapping>;

    fn read(
        &self,
        node: &Node,
        context: &mut CodecContext<'_>,
    ) -> Result<Vec<FormatMapping>, InvalidValue> {
        let Value::List(items) = &node.value else {
            return Err(InvalidValue::new(format!("write [{EXAMPLE}], for example")));
        };
        let mut formats: Vec<FormatMapping> = Vec::new();
        for item in items {
            let format = MappingNode::of(item)?.read(context)?;
            if formats.iter().any(|other| other.name == format.name) {
                let name = &format.name;
                return Err(wrong(
                    item.line,
                    &format!("two entries have the name `{name}`; rename one of them"),
                ));
            }
            formats.push(format);
        }
        Ok(formats)
    }

    fn write(&self, item: &Vec<FormatMapping>) -> Json {
        item.iter().map(written).collect()
    }

    fn allowed(&self) -> String {
        "a list of objects with name, paths, role and text".to_owned()
    }

    fn schema(&self) -> Json {
        let texts = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
        let mut properties = Map::new();
        let name = format!("^[a-z0-9][a-z0-9_-]{{0,{}}}$", MAX_NAME_CHARS - 1);
        properties.insert("name".to_owned(), json!({ "type": "string", "pattern": name }));
        properties.insert("paths".to_owned(), texts.clone());
        for (key, help) in POINTERS {
            let pointer = json!({ "type": "string", "pattern": "^/.", "description": help });
            properties.insert((*key).to_owned(), pointer);
        }
        let roles = json!({
            "type": "object",
            "properties": { "user": texts, "agent": texts },
            "additionalProperties": false,
        });
        properties.insert("roles".to_owned(), roles);
        json!({ "type": "array", "items": {
            "type": "object",
            "properties": properties,
            "required": ["name", "paths", "role", "text"],
            "additionalProperties": false,
        } })
    }
}

/// One object of the list.
struct MappingNode<'n> {
    line: usize,
    members: Vec<&'n KeyValue>,
}

impl<'n> MappingNode<'n> {
    fn of(node: &'n Node) -> Result<MappingNode<'n>, InvalidValue> {
        let Value::Object(members) = &node.value else {
            return Err(wrong(
                node.line,
                &format!("an entry must be an object, such as {EXAMPLE}"),
            ));
        };
        let is_key = |key: &str| {
            ["name", "paths", "roles"].contains(&key)
                || POINTERS.iter().any(|(known, _)| *known == key)
        };
        let members: Vec<&KeyValue> =
            members.iter().filter(|member| !member.key.starts_with(['_', '/'])).collect();
        if let Some(unknown) = members.iter().find(|member| !is_key(&member.key)) {
            let keys: Vec<&str> = POINTERS.iter().map(|(key, _)| *key).collect();
            let keys = keys.join(", ");
            let text =
                format!("`{}` is unknown; the keys are name, paths, {keys} and roles", unknown.key);
            return Err(wrong(unknown.line, &text));
        }
        Ok(MappingNode { line: node.line, members })
    }

    fn read(&self, context: &CodecContext<'_>) -> Result<FormatMapping, InvalidValue> {
        let required = |key: &str| {
            let example = format!("add `{key}`, as in {EXAMPLE}");
            self.pointer(key)?.ok_or_else(|| wrong(self.line, &example))
        };
        Ok(FormatMapping {
            name: self.name()?,
            paths: self.paths(context)?,
            role: required("role")?,
            text: required("text")?,
            time: self.pointer("time")?,
            session: self.pointer("session")?,
            cwd: self.pointer("cwd")?,
            id: self.pointer("id")?,
            model: self.pointer("model")?,
            branch: self.pointer("branch")?,
            version: self.pointer("version")?,
            roles: self.roles()?,
        })
    }

    fn get(&self, key: &str) -> Option<&'n KeyValue> {
        self.members.iter().rev().find(|member| member.key == key).copied()
    }

    fn name(&self) -> Result<String, InvalidValue> {
        let Some(member) = self.get("name") else {
            return Err(wrong(self.line, &format!("add `name`, as in {EXAMPLE}")));
        };
        let refuse = |text: &str| Err(wrong(member.line, &format!("`name` {text}")));
        let Value::Text(name) = &member.node.value else { return refuse("must be a text") };
        let is_plain =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        let is_name =
            name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain);
        if !is_name || name.len() > MAX_NAME_CHARS {
            return refuse(&format!(
                "must have 1 to {MAX_NAME_CHARS} characters (a-z, 0-9, - and _), such as \"myagent\""
            ));
        }
        if Formats::default().of_agent(name).is_some() {
            return refuse(&format!(
                "`{name}` is an agent whose transcripts are read without an entry; write another name, or \
                 remove the entry"
            ));
        }
        Ok(name.clone())
    }

    fn paths(&self, context: &CodecContext<'_>) -> Result<Vec<PathPattern>, InvalidValue> {
        let Some(member) = self.get("paths") else {
            return Err(wrong(self.line, &format!("add `paths`, as in {EXAMPLE}")));
        };
        let refuse = |text: &str| wrong(member.line, &format!("`paths` {text}"));
        let texts =
            texts(member).ok_or_else(|| refuse("must be a list of files, folders and patterns"))?;
        let read = |text: &String| {
            let path = absolute(text.trim(), context)
                .map_err(|wrong| refuse(&format!("has {text:?}: {}", wrong.remedy)))?;
            let pattern = PathPattern::new(&path);
            let is_home = context.user_home.is_some_and(|home| home.starts_with(pattern.root()));
            if is_home || pattern.root().parent().is_none() {
                let root = pattern.root().display();
                return Err(refuse(&format!(
                    "has {text:?}, for which all of {root} would have to be watched; give a folder in it"
                )));
            }
            Ok(pattern)
        };
        texts.iter().map(read).collect()
    }

    fn pointer(&self, key: &str) -> Result<Option<Pointer>, InvalidValue> {
        let Some(member) = self.get(key) else { return Ok(None) };
        let Value::Text(text) = &member.node.value else {
            let text =
                format!("`{key}` must be a JSON pointer in quotation marks, such as \"/{key}\"");
            return if member.node.value == Value::Null {
                Ok(None)
            } else {
                Err(wrong(member.line, &text))
            };
        };
        Pointer::parse(text).map(Some).map_err(|error| {
            let example = text.trim_start_matches(['$', '#', '.', '/']).replace('.', "/");
            let example = if example.is_empty() || example.contains('~') { key } else { &example };
            wrong(
                member.line,
                &format!("`{key}` is {text:?}, but {error}; write \"/{example}\", for example"),
            )
        })
    }

    fn roles(&self) -> Result<RoleNames, InvalidValue> {
        let mut roles = RoleNames::default();
        let Some(member) = self.get("roles") else { return Ok(roles) };
        let example = "write {\"user\": [\"human\"], \"agent\": [\"assistant\"]}, for example";
        let refuse = |line, text: &str| Err(wrong(line, &format!("`roles` {text}; {example}")));
        let Value::Object(members) = &member.node.value else {
            return refuse(member.line, "must be an object");
        };
        for role in members {
            let names = match role.key.as_str() {
                "user" => &mut roles.user,
                "agent" => &mut roles.agent,
                key => {
                    return refuse(
                        role.line,
                        &format!("has `{key}`, but only user and agent are roles"),
                    );
                }
            };
            match texts(role) {
                Some(texts) => *names = texts,
                None => {
                    return refuse(role.line, &format!("`{}` must be a list of texts", role.key));
                }
            }
        }
        match roles.user.iter().find(|name| roles.agent.contains(name)) {
            Some(name) => refuse(member.line, &format!("has `{name}` for both user and agent")),
            None => Ok(roles),
        }
    }
}

/// Returns a non-empty list of texts. A single text counts as a list with one text.
fn texts(member: &KeyValue) -> Option<Vec<String>> {
    let text = |node: &Node| match &node.value {
        Value::Text(text) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    };
    match &member.node.value {
        Value::List(items) if !items.is_empty() => items.iter().map(text).collect(),
        _ => Some(vec![text(&member.node)?]),
    }
}

/// Returns an error that contains the line of the entry, because the rest of the message contains
/// only the line of the list.
fn wrong(line: usize, text: &str) -> InvalidValue {
    InvalidValue::new(format!("line {line}: {text}"))
}

fn written(format: &FormatMapping) -> Json {
    let paths: Vec<&Path> = format.paths.iter().map(PathPattern::as_path).collect();
    let mut object = json!({ "name": format.name, "paths": paths });
    for (key, pointer) in format.pointers() {
        object[key] = json!(pointer.as_str());
    }
    if format.roles != RoleNames::default() {
        object["roles"] = json!({ "user": format.roles.user, "agent": format.roles.agent });
    }
    object
}
