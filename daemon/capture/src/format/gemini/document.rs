//! Converts a file of an older version, which is rewritten as a whole, into records.
//!
//! When a document has grown, its first records are the earlier records, so that reading can
//! continue after them. Members that change with each write are therefore omitted, and an addition
//! to a message is a separate record.

use crate::format::json::{self, Object};

/// Maximum length, in bytes, of the members that each record of a message repeats.
const LONGEST_HEAD: usize = 2_048;

pub(super) fn records_of(document: &str) -> Option<Vec<String>> {
    let document = Object::parse(document.trim())?;
    let messages = json::objects(document.raw("messages")?);
    let mut records = vec![record(&document, &["sessionId", "projectHash", "startTime", "kind"])];
    for message in &messages {
        records.push(record(
            message,
            &["id", "timestamp", "type", "content", "displayContent", "model"],
        ));
        let calls = message.raw("toolCalls").map(json::items).unwrap_or_default();
        records.extend(
            calls.into_iter().map(|call| addition(message, "toolCalls", &format!("[{call}]"))),
        );
        records.extend(message.raw("tokens").map(|tokens| addition(message, "tokens", tokens)));
    }
    let summary = document.raw("summary").filter(|summary| *summary != "null");
    records
        .extend(summary.map(|summary| one_line(&format!(r#"{{"$set":{{"summary":{summary}}}}}"#))));
    Some(records)
}

/// Returns an object with some members of `object`.
fn record(object: &Object<'_>, keys: &[&str]) -> String {
    let members = keys.iter().filter_map(|key| Some(format!(r#""{key}":{}"#, object.raw(key)?)));
    one_line(&format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

/// Returns a record that adds a member to a message.
fn addition(message: &Object<'_>, key: &str, raw: &str) -> String {
    let mut record = record(message, &["id", "timestamp", "type"]);
    if record.len() > LONGEST_HEAD {
        record = "{\"id\":null}".to_owned();
    }
    record.truncate(record.len() - 1);
    one_line(&format!(r#"{record},"{key}":{raw}}}"#))
}

/// Replaces newlines by spaces. In JSON, newlines appear only between tokens.
fn one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}
