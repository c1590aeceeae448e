//! Converts the messages of opencode 2 to records. Each message is one row, which contains all
//! parts of an answer.

use std::io;

use super::line::{Line, Progress, Records, nested};
use crate::format::json::{self, Object};

/// A row of `session_message`.
pub(super) struct Row<'r> {
    pub(super) id: &'r str,
    pub(super) kind: &'r str,
    pub(super) data: &'r str,
    /// Whether a later answer exists, so that opencode no longer changes this row.
    pub(super) is_followed: bool,
}

impl Row<'_> {
    pub(super) fn write(&self, records: &mut Records<'_>) -> io::Result<Progress> {
        let Some(object) = Object::parse(self.data) else {
            records.write_damaged(self.data)?;
            return Ok(Progress::Finished);
        };
        match self.kind {
            "user" => {
                let is_sub_agent = records.is_sub_agent;
                let text = self.line("text", &object).string("role", "user");
                let text = text.flag("sub_agent", is_sub_agent).raw("text", object.raw("text"));
                records.write(text)?;
            }
            "synthetic" | "system" | "skill" => {
                let line = self.line(self.kind, &object);
                let ended = object.raw("text").filter(|text| is_end_of_task(text));
                records.write(line.raw("text", ended))?;
            }
            "model-switched" => {
                let line = self.line("model", &object).raw("model", nested(&object, "model", "id"));
                records.write(line)?;
            }
            "location-switched" => {
                let directory = nested(&object, "location", "directory");
                records.write(self.line("location", &object).raw("cwd", directory))?;
            }
            "idle" => {
                records.write(self.line("idle", &object).raw("outcome", object.raw("outcome")))?;
            }
            "shell" => return self.write_shell(&object, records),
            "compaction" => return self.write_compaction(&object, records),
            "assistant" => return self.write_answer(&object, records),
            other => records.write(self.line(other, &object))?,
        }
        Ok(Progress::Finished)
    }

    fn line(&self, kind: &str, object: &Object<'_>) -> Line {
        let line = Line::new(kind).string("id", self.id).string("message", self.id);
        line.raw("at", nested(object, "time", "created"))
    }

    fn waits(&self) -> Progress {
        if self.is_followed { Progress::Finished } else { Progress::Waits }
    }

    /// Writes a command that the user entered.
    fn write_shell(&self, object: &Object<'_>, records: &mut Records<'_>) -> io::Result<Progress> {
        records.write(self.line("shell", object).raw("command", object.raw("command")))?;
        if nested(object, "time", "completed").is_none() {
            return Ok(self.waits());
        }
        let output = match object.object("output") {
            Some(output) => output.raw("output").or(output.raw("text")),
            None => object.raw("output"),
        };
        let line = Line::new("shell-output").raw("at", nested(object, "time", "completed"));
        records.write(line.raw("output", output))?;
        Ok(Progress::Finished)
    }

    fn write_compaction(
        &self,
        object: &Object<'_>,
        records: &mut Records<'_>,
    ) -> io::Result<Progress> {
        match object.raw("status") {
            Some("\"running\"") => return Ok(self.waits()),
            Some("\"failed\"") => records.write(self.line("compaction-failed", object))?,
            _ => {
                let line = self.line("text", object).string("role", "assistant");
                let line = line.flag("summary", true);
                records.write(line.raw("text", object.raw("summary")))?;
            }
        }
        Ok(Progress::Finished)
    }

    fn write_answer(&self, object: &Object<'_>, records: &mut Records<'_>) -> io::Result<Progress> {
        let is_over = self.is_followed || nested(object, "time", "completed").is_some();
        let line = self.line("assistant", object);
        records.write(line.raw("model", nested(object, "model", "id")))?;
        let content = json::objects(object.raw("content").unwrap_or_default());
        for (at, part) in content.iter().enumerate() {
            // Text grows as long as it is the last part.
            let is_last = at + 1 == content.len() && !is_over;
            let progress = match part.raw("type") {
                Some("\"tool\"") => self.write_tool(part, is_over, records)?,
                _ if is_last => Progress::Waits,
                Some("\"text\"") => {
                    let line = self.line("text", object).string("role", "assistant");
                    records.write(line.raw("text", part.raw("text")))?;
                    Progress::Finished
                }
                _ => {
                    let kind = part.string("type").unwrap_or_default();
                    records.write(Line::new(&kind))?;
                    Progress::Finished
                }
            };
            if progress == Progress::Waits {
                return Ok(progress);
            }
        }
        if !is_over {
            return Ok(Progress::Waits);
        }
        self.write_end(object, records)?;
        Ok(Progress::Finished)
    }

    fn write_end(&self, object: &Object<'_>, records: &mut Records<'_>) -> io::Result<()> {
        let error = object.object("error");
        let line = Line::new("end")
            .string("message", self.id)
            .raw("at", nested(object, "time", "completed"))
            .raw("tokens", object.raw("tokens"))
            .raw("error", error.as_ref().and_then(|error| error.raw("type")))
            .raw("text", error.as_ref().and_then(|error| error.raw("message")));
        records.write(line)?;
        records.write_title()
    }

    fn write_tool(
        &self,
        part: &Object<'_>,
        is_over: bool,
        records: &mut Records<'_>,
    ) -> io::Result<Progress> {
        let waits = if is_over { Progress::Finished } else { Progress::Waits };
        let Some(state) = part.object("state") else { return Ok(waits) };
        let status = state.string("status").unwrap_or_default();
        if status == "streaming" {
            return Ok(waits);
        }
        let call = Line::new("call")
            .raw("id", part.raw("id"))
            .string("message", self.id)
            .raw("tool", part.raw("name"))
            .raw("at", nested(part, "time", "ran").or_else(|| nested(part, "time", "created")))
            .raw("input", state.raw("input"));
        records.write(call)?;
        if status == "running" {
            return Ok(waits);
        }
        records.write(result(part, &state))?;
        Ok(Progress::Finished)
    }
}

/// Whether the text informs the agent that a command or a sub-agent in the background ended.
fn is_end_of_task(raw: &str) -> bool {
    raw.starts_with("\"<shell id=") || raw.starts_with("\"<subagent id=")
}

fn result(part: &Object<'_>, state: &Object<'_>) -> Line {
    // Early versions called the metadata `structured`.
    let metadata = state.object("metadata").or_else(|| state.object("structured"));
    let member = |key| metadata.as_ref().and_then(|metadata| metadata.raw(key));
    let is_question = part.raw("name") == Some("\"question\"");
    let questions = || nested(state, "input", "questions");
    let error = nested(state, "error", "message");
    Line::new("result")
        .raw("call", part.raw("id"))
        .raw("at", nested(part, "time", "completed"))
        .raw("status", state.raw("status"))
        .raw("exit", member("exit"))
        .raw("error", nested(state, "error", "type"))
        .raw("questions", is_question.then(questions).flatten())
        .raw("answers", is_question.then(|| member("answers")).flatten())
        .raw("output", error.or(state.raw("content")))
}
