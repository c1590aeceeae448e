//! Converts the messages of opencode 1 to records. Each message, and each part of a message, is a
//! row or a file.
//!
//! While an answer is written, its parts change: text gets an end time, and the state of a tool
//! changes from pending to running to completed or error. After that, opencode only adds a mark to
//! the output of an old call when it removes the output from the context.

use std::io;

use super::line::{Line, Progress, Records, nested};
use crate::format::json::Object;

/// A message or a part as it is stored: its id and its other members.
pub(super) struct Stored<'s> {
    pub(super) id: &'s str,
    pub(super) data: &'s str,
}

/// A message whose records are being written.
pub(super) struct Message<'s> {
    id: &'s str,
    object: Object<'s>,
    is_user: bool,
    /// Whether the parts of the message no longer change.
    is_over: bool,
}

impl<'s> Message<'s> {
    /// Parses a message; `None` for damaged text.
    pub(super) fn parse(stored: &Stored<'s>) -> Option<Message<'s>> {
        let object = Object::parse(stored.data)?;
        let is_user = object.raw("role") == Some("\"user\"");
        let is_over = is_user || nested(&object, "time", "completed").is_some();
        Some(Message { id: stored.id, object, is_user, is_over })
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Marks the message as finished: a later answer exists, or opencode no longer changes the
    /// message.
    pub(super) fn finish(&mut self) {
        self.is_over = true;
    }

    pub(super) fn write_start(&self, records: &mut Records<'_>) -> io::Result<()> {
        let object = &self.object;
        let model = nested(object, "model", "modelID").or(object.raw("modelID"));
        let line = Line::new(if self.is_user { "user" } else { "assistant" })
            .string("id", self.id)
            .raw("at", nested(object, "time", "created"))
            .raw("model", model)
            .raw("cwd", nested(object, "path", "cwd"));
        records.write(line)
    }

    pub(super) fn write_part(
        &self,
        part: &Stored<'_>,
        records: &mut Records<'_>,
    ) -> io::Result<Progress> {
        let Some(object) = Object::parse(part.data) else {
            records.write_damaged(part.data)?;
            return Ok(Progress::Finished);
        };
        let kind = object.string("type").unwrap_or_default();
        let is_open = object.object("time").is_some_and(|time| time.raw("end").is_none());
        match kind.as_ref() {
            "text" | "reasoning" if is_open && !self.is_over => return Ok(Progress::Waits),
            "text" => records.write(self.text(part.id, &object, records.is_sub_agent))?,
            "tool" => return self.write_tool(part.id, &object, records),
            "subtask" => {
                let line = self.line("subtask", part.id);
                records.write(line.raw("command", object.raw("command")))?;
            }
            "retry" => {
                let error = object.object("error");
                let message = error.as_ref().and_then(|error| nested(error, "data", "message"));
                records.write(self.line("retry", part.id).raw("error", message))?;
            }
            other => records.write(self.line(other, part.id))?,
        }
        Ok(Progress::Finished)
    }

    pub(super) fn write_end(&self, records: &mut Records<'_>) -> io::Result<Progress> {
        if self.is_user {
            return Ok(Progress::Finished);
        }
        if !self.is_over {
            return Ok(Progress::Waits);
        }
        let object = &self.object;
        let error = object.object("error");
        let text = error.as_ref().and_then(|error| nested(error, "data", "message"));
        let line = Line::new("end")
            .string("message", self.id)
            .raw("at", nested(object, "time", "completed"))
            .raw("tokens", object.raw("tokens"))
            .raw("error", error.as_ref().and_then(|error| error.raw("name")))
            .raw("text", text);
        records.write(line)?;
        records.write_title()?;
        Ok(Progress::Finished)
    }

    fn line(&self, kind: &str, id: &str) -> Line {
        Line::new(kind).string("id", id).string("message", self.id)
    }

    fn text(&self, id: &str, object: &Object<'_>, is_sub_agent: bool) -> Line {
        let start = nested(object, "time", "start");
        self.line("text", id)
            .string("role", if self.is_user { "user" } else { "assistant" })
            .raw("at", start.or_else(|| nested(&self.object, "time", "created")))
            .flag("sub_agent", is_sub_agent)
            .flag("synthetic", object.is_true("synthetic") || object.is_true("ignored"))
            .flag("summary", self.object.is_true("summary"))
            .raw("text", object.raw("text"))
    }

    /// Writes a call as soon as it runs, and its result when the call has ended.
    fn write_tool(
        &self,
        id: &str,
        part: &Object<'_>,
        records: &mut Records<'_>,
    ) -> io::Result<Progress> {
        let waits = if self.is_over { Progress::Finished } else { Progress::Waits };
        let Some(state) = part.object("state") else { return Ok(waits) };
        let status = state.string("status").unwrap_or_default();
        if status == "pending" {
            return Ok(waits);
        }
        let call = self
            .line("call", id)
            .raw("tool", part.raw("tool"))
            .raw("at", nested(&state, "time", "start"))
            .raw("input", state.raw("input"));
        records.write(call)?;
        if !matches!(status.as_ref(), "completed" | "error") {
            return Ok(waits);
        }
        records.write(result(id, part, &state))?;
        Ok(Progress::Finished)
    }
}

fn result(id: &str, part: &Object<'_>, state: &Object<'_>) -> Line {
    let metadata = state.object("metadata");
    let member = |key| metadata.as_ref().and_then(|metadata| metadata.raw(key));
    let questions = || nested(state, "input", "questions");
    let is_question = part.raw("tool") == Some("\"question\"");
    Line::new("result")
        .string("call", id)
        .raw("at", nested(state, "time", "end"))
        .raw("status", state.raw("status"))
        .raw("exit", member("exit"))
        .raw("interrupted", member("interrupted"))
        .raw("questions", is_question.then(questions).flatten())
        .raw("answers", is_question.then(|| member("answers")).flatten())
        .raw("output", state.raw("output").or(state.raw("error")))
}
