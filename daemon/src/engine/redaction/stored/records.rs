//! Redacts each kind of record in the store.
//!
//! Every record is destructured without `..`, so that the code does not compile until each new
//! field is added here, too.

use serde_json::Value;

use super::StoredRedactor;
use crate::{
    engine::reading,
    model::{
        Episode, Message, SessionId,
        episode::{Author, ExternalContent},
        graph::{Claim, Mention},
        session::{Indexed, Session},
    },
    store::{Cleaner, Note, NoteNamespace, Source, StoreError, Tally, notes::name_of},
};

impl Cleaner for StoredRedactor {
    fn session(&mut self, session: &mut Session) -> bool {
        let Session {
            key: _,
            id,
            project,
            // The file is opened by this path, which is redacted wherever it is shown.
            file: _,
            state,
            content: _,
            indexed,
            started_at: _,
            last_activity: _,
        } = session;
        let mut is_changed = self.session_id(id) | self.state(state);
        if let Some(project) = project {
            is_changed |= self.project(project);
        }
        if let Some(Indexed { episode: _, hash: _, at: _, reason }) = indexed {
            is_changed |= self.reason(reason);
        }
        self.report.count("sessions", is_changed)
    }

    fn source(&mut self, source: &mut Source) -> bool {
        // The file is opened by its path.
        let Source { key: _, path: _, sub_agent, stamp: _, offset: _, tally } = source;
        let Tally { read: _, skipped, repaired: _, broken: _, broken_bytes: _, restarts: _ } =
            tally;
        let in_agent = sub_agent.as_mut().is_some_and(|agent| self.id(agent));
        let is_changed = self.part(skipped) | in_agent;
        self.report.count("transcript files", is_changed)
    }

    fn checkpoint(
        &mut self,
        checkpoint: &mut Vec<u8>,
        before: &dyn Fn(u32) -> Result<Vec<Message>, StoreError>,
    ) -> Result<bool, StoreError> {
        let is_changed = reading::redact_again(checkpoint, self, before)?;
        Ok(self.report.count("evidence of transcript files", is_changed))
    }

    fn message(&mut self, message: &mut Message) -> bool {
        let Message { seq: _, origin: _, uuid: _, role: _, at: _, text, tool, files, branch } =
            message;
        let in_tool = tool.as_mut().is_some_and(|tool| self.id(tool));
        let is_changed = self.text(text) | self.texts(files) | self.texts(branch) | in_tool;
        self.report.count("messages", is_changed)
    }

    fn episode(&mut self, episode: &mut Episode) -> bool {
        let is_memory = episode.is_memory();
        let Episode {
            id: _,
            session: _,
            session_id,
            project,
            name,
            summary,
            author,
            file,
            content_hash: _,
            reason,
            branches,
            started_at: _,
            ended_at: _,
            created_at: _,
            external,
            rules: _,
        } = episode;
        let mut is_changed = self.session_id(session_id) | self.project(project);
        is_changed |= self.texts([name, file]) | self.texts(branches);
        is_changed |= self.part(summary) | self.reason(reason);
        is_changed |= match author {
            Author::Evidence => false,
            Author::Model(model) => self.text(model),
        };
        if let Some(ExternalContent { text, source, description, from }) = external {
            is_changed |= self.texts([text, source, description]) | self.texts(from);
        }
        self.report.count(if is_memory { "added memories" } else { "summaries" }, is_changed)
    }

    fn mention(&mut self, mention: &mut Mention) -> bool {
        let Mention { entity: _, kind: _, namespace: _, name, at: _ } = mention;
        let is_changed = self.text(name);
        self.report.count("entities", is_changed)
    }

    fn claim(&mut self, claim: &mut Claim) -> bool {
        let Claim {
            key: _,
            namespace: _,
            relation: _,
            source: _,
            target: _,
            others: _,
            sentence,
            at: _,
            certainty: _,
            watches: _,
            origins: _,
            details,
        } = claim;
        let mut is_changed = self.text(sentence);
        for (name, value) in details {
            is_changed |= self.text(value) | self.named(&name.clone(), value) | self.text(name);
        }
        self.report.count("facts", is_changed)
    }

    fn note(&mut self, note: &mut Note) -> bool {
        let (what, is_changed) = match note.namespace {
            NoteNamespace::Awaiting => {
                ("questions to a model", self.json(note, StoredRedactor::value))
            }
            NoteNamespace::Learned => ("learned tools", self.json(note, StoredRedactor::value)),
            NoteNamespace::Projects => ("projects", self.json(note, StoredRedactor::value)),
            NoteNamespace::MemoryUse => {
                ("uses of the memory", self.json(note, StoredRedactor::value))
            }
            NoteNamespace::Usage => ("usage", self.json(note, StoredRedactor::value)),
            NoteNamespace::Summaries => {
                ("summaries of messages", self.json(note, StoredRedactor::value))
            }
            NoteNamespace::Forgotten => ("forgotten sessions", self.forgotten(note)),
            NoteNamespace::Forks => {
                let of = |again: &mut StoredRedactor, fork: &mut Value| match fork
                    .pointer_mut("/of/1")
                {
                    Some(Value::String(id)) => again.id(id),
                    _ => false,
                };
                ("forks", self.json(note, of))
            }
            // These notes contain only ids, hashes, numbers, settings, and names of groups and
            // models.
            NoteNamespace::ForgottenRecords
            | NoteNamespace::Evictions
            | NoteNamespace::Redaction
            | NoteNamespace::Checked
            | NoteNamespace::Corrections
            | NoteNamespace::Shared
            | NoteNamespace::SharePending
            | NoteNamespace::ShareState
            | NoteNamespace::Figures
            | NoteNamespace::KnownSecrets
            | NoteNamespace::Rereads => {
                return false;
            }
        };
        self.report.count(what, is_changed)
    }
}

impl StoredRedactor {
    /// Redacts the note of a forgotten session. The name of the note is derived from the session's
    /// id.
    fn forgotten(&mut self, note: &mut Note) -> bool {
        let mut name = None;
        let is_changed = self.json(note, |again, forgotten| {
            let agent = forgotten["agent"].as_str().unwrap_or_default().to_owned();
            let Some(Value::String(id)) = forgotten.get_mut("id") else { return false };
            let is_changed = again.id(id);
            name = Some(name_of(&SessionId { agent, id: id.clone() }));
            is_changed
        });
        if is_changed {
            note.name = name.unwrap_or_default();
        }
        is_changed
    }
}
