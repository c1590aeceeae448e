//! Codecs for files and folders.

use std::path::{self, PathBuf};

use serde_json::{Value as Json, json};

use crate::config::{
    codec::{Codec, CodecContext, InvalidValue},
    file::{Node, Value},
};

pub(in crate::config) struct Path {
    /// An example, for a message.
    pub(in crate::config) example: &'static str,
}

/// A list of files or folders; a single path may also be a text.
pub(in crate::config) struct Paths {
    /// An example, for a message.
    pub(in crate::config) example: &'static str,
}

impl Codec for Path {
    type Item = PathBuf;

    fn read(&self, node: &Node, context: &mut CodecContext<'_>) -> Result<PathBuf, InvalidValue> {
        match &node.value {
            Value::Text(text) if !text.trim().is_empty() => absolute(text.trim(), context),
            _ => Err(InvalidValue::new(format!("write \"{}\", for example", self.example))),
        }
    }

    fn write(&self, item: &PathBuf) -> Json {
        json!(item.to_string_lossy())
    }

    fn allowed(&self) -> String {
        "an absolute path, or a path that begins with ~/".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "string", "minLength": 1 })
    }
}

impl Codec for Paths {
    type Item = Vec<PathBuf>;

    fn read(
        &self,
        node: &Node,
        context: &mut CodecContext<'_>,
    ) -> Result<Vec<PathBuf>, InvalidValue> {
        let one = Path { example: self.example };
        match &node.value {
            Value::Null => Ok(Vec::new()),
            Value::Text(_) => {
                let path = one.read(node, context)?;
                context.note_deprecated(&self.write(&vec![path.clone()]));
                Ok(vec![path])
            }
            Value::List(items) => items.iter().map(|item| one.read(item, context)).collect(),
            _ => Err(InvalidValue::new(format!("write [\"{}\"], for example", self.example))),
        }
    }

    fn write(&self, item: &Vec<PathBuf>) -> Json {
        item.iter().map(|path| json!(path.to_string_lossy())).collect()
    }

    fn allowed(&self) -> String {
        "a list of absolute paths, or of paths that begin with ~/".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "items": { "type": "string", "minLength": 1 } })
    }
}

/// Returns `text` as a path, with `~/` replaced by the user's home folder.
pub(super) fn absolute(text: &str, context: &CodecContext<'_>) -> Result<PathBuf, InvalidValue> {
    let below_home = text.strip_prefix("~/").or_else(|| (text == "~").then_some(""));
    if let Some(rest) = below_home {
        let no_home = || {
            InvalidValue::new("write an absolute path: the home folder of the user is not known")
        };
        return context.user_home.map(|home| home.join(rest)).ok_or_else(no_home);
    }
    // Windows paths and pipes count as absolute on every system, because one file may serve several
    // machines.
    let bytes = text.as_bytes();
    let is_windows = text.starts_with("\\\\")
        || (bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && &bytes[1..2] == b":");
    match is_windows || text.starts_with('/') || path::Path::new(text).is_absolute() {
        true => Ok(PathBuf::from(text)),
        false => Err(InvalidValue::new(format!("write an absolute path, or \"~/{text}\""))),
    }
}
