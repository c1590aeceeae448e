//! What is stored, redacted again by the present rules.
//!
//! Each record is taken apart field by field, without `..`: a field that is added later does not
//! compile until it is said here whether it holds text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{id, reason};
use crate::{
    engine::reading,
    model::{
        CloseReason, Episode, Message, Project, SessionId,
        episode::{Author, ExternalContent},
        graph::{Claim, Mention},
        session::{Failure, Indexed, Indexing, Session, State},
    },
    redact::{Redactor, SecretCounts},
    store::{Cleaner, Note, NoteNamespace, Source, StoreError, Tally, notes::name_of},
};

/// What was changed, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedactionReport {
    /// Records that changed, by what they are.
    pub changed: BTreeMap<String, u64>,
    /// Secrets that were replaced, by kind. One that stands in several records counts in each.
    pub kinds: BTreeMap<String, u64>,
    /// Records that cannot be read, and stay as they are.
    pub unreadable: u64,
}

/// Redacts records again, and counts what it changes.
#[derive(Debug, Default)]
pub struct StoredRedactor {
    redactor: Redactor,
    /// What was changed so far.
    pub report: RedactionReport,
}

impl RedactionReport {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    fn count(&mut self, what: &str, is_changed: bool) -> bool {
        if is_changed {
            *self.changed.entry(what.to_owned()).or_default() += 1;
        }
        is_changed
    }
}

impl StoredRedactor {
    /// Goes on with what was counted before.
    pub fn resumed(report: RedactionReport) -> StoredRedactor {
        StoredRedactor { redactor: Redactor::new(), report }
    }

    /// Redacts a text.
    pub fn text(&mut self, text: &mut String) -> bool {
        let redacted = self.redactor.redact(text);
        if redacted.counts.is_empty() {
            return false;
        }
        let clean = redacted.text.into_owned();
        self.count_kinds(&redacted.counts, (text, &clean));
        *text = clean;
        true
    }

    /// Redacts every text in a JSON document of ours, in place. The names of its members are not
    /// taken for names of secrets; a setting's name is.
    pub fn value(&mut self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                items.iter_mut().fold(false, |changed, item| self.value(item) | changed)
            }
            Value::Object(members) => {
                let is_changed = self.setting(members);
                let mut in_members = false;
                for (name, member) in members.iter_mut() {
                    in_members |= match member {
                        Value::String(id) if name == "session_id" => self.id(id),
                        member => self.value(member),
                    };
                }
                self.names(members) | in_members | is_changed
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Redacts the arguments of a call, whose names tell what is secret.
    pub(in crate::engine) fn arguments(&mut self, arguments: &mut Value) -> bool {
        let before = arguments.to_string();
        let counts = self.redactor.redact_value(arguments);
        let after = arguments.to_string();
        self.count_kinds(&counts, (&before, &after));
        before != after
    }

    /// Redacts every text in what is kept as JSON.
    pub(in crate::engine) fn part<P: Serialize + DeserializeOwned>(
        &mut self,
        part: &mut P,
    ) -> bool {
        let Ok(mut value) = serde_json::to_value(&*part) else { return false };
        if !self.value(&mut value) {
            return false;
        }
        match serde_json::from_value(value) {
            Ok(clean) => *part = clean,
            Err(_) => self.report.unreadable += 1,
        }
        true
    }

    /// Redacts an id.
    pub fn id(&mut self, given: &mut String) -> bool {
        let clean = id(given).into_owned();
        if clean == *given {
            return false;
        }
        let counts = self.redactor.redact(given).counts;
        self.count_kinds(&counts, (given, &clean));
        *given = clean;
        true
    }

    fn session_id(&mut self, given: &mut SessionId) -> bool {
        let SessionId { agent: _, id } = given;
        self.id(id)
    }

    fn texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t mut String>) -> bool {
        texts.into_iter().fold(false, |changed, text| self.text(text) | changed)
    }

    fn project(&mut self, project: &mut Project) -> bool {
        let mut path = project.path().to_owned();
        let is_changed = self.text(&mut path);
        if is_changed {
            *project = Project::new(&path);
        }
        is_changed
    }

    fn reason(&mut self, given: &mut CloseReason) -> bool {
        let clean = reason(given.clone());
        let is_changed = clean != *given;
        *given = clean;
        is_changed
    }

    fn state(&mut self, state: &mut State) -> bool {
        match state {
            State::Active | State::Inactive | State::Indexed | State::Unindexed(_) => false,
            State::Indexing(Indexing {
                reason,
                since: _,
                attempts: _,
                written_since: _,
                again,
            }) => {
                let again = again.as_mut().is_some_and(|again| self.reason(again));
                self.reason(reason) | again
            }
            State::Failed(Failure { error, attempts: _, retry_at: _, reason }) => {
                self.text(error) | self.reason(reason)
            }
        }
    }

    /// A setting's values, which its name may give away.
    fn setting(&mut self, members: &mut Map<String, Value>) -> bool {
        let Some(Value::String(name)) = members.get("setting").cloned() else { return false };
        let values = ["old_value", "new_value"].into_iter();
        values.fold(false, |changed, value| match members.get_mut(value) {
            Some(Value::String(value)) => self.named(&name, value) | changed,
            _ => changed,
        })
    }

    /// A value that its name may give away.
    fn named(&mut self, name: &str, value: &mut String) -> bool {
        let mut line = format!("{name}={value}");
        if !self.text(&mut line) {
            return false;
        }
        match line.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            Some(clean) => clean.clone_into(value),
            // The name itself is a secret, which its own turn replaces.
            None => return false,
        }
        true
    }

    /// Names of members that are data: paths, tools.
    fn names(&mut self, members: &mut Map<String, Value>) -> bool {
        let is_clean = |name: &String| id(name) == name.as_str();
        if members.keys().all(is_clean) {
            return false;
        }
        for (mut name, member) in std::mem::take(members) {
            self.id(&mut name);
            members.insert(name, member);
        }
        true
    }

    fn json(
        &mut self,
        note: &mut Note,
        redact: impl FnOnce(&mut StoredRedactor, &mut Value) -> bool,
    ) -> bool {
        let Some(content) = &mut note.content else { return false };
        let Ok(mut value) = serde_json::from_slice::<Value>(content) else {
            self.report.unreadable += 1;
            return false;
        };
        let is_changed = redact(self, &mut value);
        if is_changed {
            *content = value.to_string().into_bytes();
        }
        is_changed
    }

    /// Counts the marks that came in: what stood there redacted already is no news.
    fn count_kinds(&mut self, counts: &SecretCounts, (before, after): (&str, &str)) {
        for (kind, _) in counts.iter() {
            let mark = format!("[REDACTED:{kind}]");
            let new = after.matches(&mark).count().saturating_sub(before.matches(&mark).count());
            if new > 0 {
                *self.report.kinds.entry(kind.to_string()).or_default() += new as u64;
            }
        }
    }
}

impl Cleaner for StoredRedactor {
    fn session(&mut self, session: &mut Session) -> bool {
        let Session {
            key: _,
            id,
            project,
            // The file is opened by it. It is redacted wherever it is shown.
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
            // Hashes and numbers.
            NoteNamespace::ForgottenRecords
            | NoteNamespace::Room
            | NoteNamespace::Redaction
            | NoteNamespace::Checked => {
                return false;
            }
        };
        self.report.count(what, is_changed)
    }
}

impl StoredRedactor {
    /// A forgotten session's note is named after its id.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        model::SessionKey,
        store::{Store, TextStore, Write, contract, sled::SledStore},
    };

    fn secret(n: u32) -> String {
        format!("ghp{}{n}", "_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw1")
    }

    const PIECE: &str = "Zx9Vb4NmkJ8s2Lq0";

    /// Asks for the fields of `record` to be redacted once, and never again.
    fn check<R: std::fmt::Debug + Clone>(
        record: &mut R,
        redact: fn(&mut StoredRedactor, &mut R) -> bool,
    ) {
        let mut again = StoredRedactor::default();
        assert!(redact(&mut again, record));
        assert!(!format!("{record:?}").contains(PIECE), "{record:?}");
        assert_eq!(again.report.changed.values().sum::<u64>(), 1, "{:?}", again.report);
        let mut again = StoredRedactor::default();
        assert!(!redact(&mut again, record), "{record:?}");
        assert_eq!(again.report, RedactionReport::default());
    }

    #[test]
    fn every_text_of_a_record_is_redacted() {
        let reason = || CloseReason::Explicit(Some(format!("left with {}", secret(1))));
        let mut session = contract::session(SessionKey(1), &secret(1));
        session.project = Some(Project::new(&format!("/work/{}", secret(2))));
        session.state = State::Failed(Failure {
            error: format!("cannot read {}", secret(3)),
            attempts: 1,
            retry_at: None,
            reason: reason(),
        });
        let mut episode = contract::episode(&session, 7);
        session.file = "/t/a.jsonl".to_owned();
        let mut source = contract::source_of(&session, 1);
        source.path = "/t/a.jsonl".to_owned();
        source.sub_agent = Some(secret(4));
        source.tally.skipped.insert(secret(5), 3);
        check(&mut session, Cleaner::session);
        check(&mut source, Cleaner::source);
        assert!(source.tally.skipped.values().any(|count| *count == 3));

        episode.name = secret(1);
        episode.summary.objective = secret(1);
        episode.summary.files_modified = Some(vec![secret(1), secret(2)]);
        episode.author = Author::Model(secret(1));
        episode.reason = CloseReason::Hook(secret(1));
        episode.branches = vec![secret(1)];
        let told = || format!("told {}", secret(1));
        episode.external = Some(ExternalContent {
            text: told(),
            source: told(),
            description: told(),
            from: Some(told()),
        });
        check(&mut episode, Cleaner::episode);

        let mut message = contract::message(2, 0);
        message.text = format!("token {} and {}", secret(1), secret(2));
        message.tool = Some(format!("mcp__{}", secret(1)));
        message.files = vec![secret(1)];
        message.branch = Some(secret(1));
        check(&mut message, Cleaner::message);

        let statements = contract::statements(5);
        let (mut mention, mut claim) =
            (statements.mentions[0].clone(), statements.claims[0].clone());
        mention.name = secret(1);
        claim.sentence = secret(1);
        claim.details =
            vec![(secret(1), secret(2)), ("DB_PASSWORD".to_owned(), "swordfish".into())];
        check(&mut mention, Cleaner::mention);
        check(&mut claim, Cleaner::claim);
        assert_eq!(claim.details[1].1, "[REDACTED:password]");
    }

    #[test]
    fn notes_are_redacted_as_their_owners_wrote_them() {
        let id = SessionId { agent: "claude".to_owned(), id: secret(1) };
        for (namespace, content) in [
            (NoteNamespace::Awaiting, json!({ "version": 1, "error": secret(1) })),
            (
                NoteNamespace::Learned,
                json!({ "learned": { "pattern": { secret(1): [secret(2)] } } }),
            ),
            (NoteNamespace::Summaries, json!({ "summary": secret(1) })),
            (NoteNamespace::Forgotten, json!({ "agent": "claude", "id": secret(1), "at": 7 })),
            (NoteNamespace::Forks, json!({ "of": ["claude", secret(1)], "records": 3 })),
        ] {
            let (name, content) = (name_of(&id), Some(content.to_string().into_bytes()));
            let mut note = Note { namespace, name: name.clone(), content };
            let mut again = StoredRedactor::default();
            assert!(again.note(&mut note), "{namespace:?}");
            let text = String::from_utf8(note.content.clone().unwrap()).unwrap();
            assert!(!text.contains(PIECE), "{namespace:?}: {text}");
            assert_eq!(note.name != name, namespace == NoteNamespace::Forgotten);
            assert!(!again.note(&mut note), "{namespace:?}: {text}");
        }
    }

    #[test]
    fn a_setting_is_redacted_for_its_name() {
        let mut changes = json!([
            { "setting": "DB_PASSWORD", "old_value": null, "new_value": "swordfish" },
            { "setting": "PORT", "old_value": "80", "new_value": "8080" },
        ]);
        assert!(StoredRedactor::default().value(&mut changes));
        assert_eq!(changes[0]["new_value"], "[REDACTED:password]");
        assert_eq!(changes[1]["new_value"], "8080");
    }

    #[test]
    fn a_secret_counts_and_what_stood_there_redacted_does_not() {
        let mut again = StoredRedactor::default();
        let mut text = format!("password=[REDACTED:password] and {}", secret(1));
        assert!(again.text(&mut text));
        assert_eq!(again.report.kinds, [("github-token".to_owned(), 1)].into());
    }

    /// A long message that is no secret, and cannot be made much shorter.
    fn harmless(seq: u32) -> Message {
        let numbers = (0..600u32).map(|n| (n ^ seq).wrapping_mul(2_654_435_761) % 1_000_000);
        let words: Vec<String> = numbers.map(|number| number.to_string()).collect();
        Message { text: words.join(" "), ..contract::message(seq, 0) }
    }

    #[test]
    fn going_over_a_store_goes_on_where_it_was_cut_short() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let store = SledStore::open(&path).unwrap();
        let mut keys = Vec::new();
        for number in 0..4 {
            let key = store.next_session_key().unwrap();
            let mut session = contract::session(key, &format!("session-{number}"));
            let source = contract::source_of(&session, 0).key;
            let mut messages: Vec<Message> = (0..200).map(harmless).collect();
            messages[150].text = format!("use {}", secret(number));
            let session_write = Write::Session(Box::new(session.clone()));
            store.write(vec![session_write, Write::Messages { source, messages }]).wait().unwrap();
            let episode = contract::episode(&session, i64::from(number) + 1);
            contract::index_saying(&store, &mut session, &episode, contract::statements(1));
            keys.push(source);
        }
        let (before, end) = (store.quota().content_bytes().unwrap(), store.outbox_end());
        store.close();
        let (mut position, mut report, mut steps) = (Vec::new(), RedactionReport::default(), 0);
        loop {
            // Each step in a process of its own.
            let store = SledStore::open(&path).unwrap();
            let mut again = StoredRedactor::resumed(report);
            let step = store.clean(&mut again, &position).unwrap();
            assert_eq!(step.unreadable, 0);
            (report, steps) = (again.report, steps + 1);
            store.close();
            match step.next {
                Some(next) => position = next,
                None => break,
            }
        }
        assert!(steps > 1, "{steps} steps");
        assert_eq!(report.changed, [("messages".to_owned(), 4)].into());
        assert_eq!(report.kinds, [("github-token".to_owned(), 4)].into());
        let store = SledStore::open(&path).unwrap();
        assert_eq!(store.outbox_end(), end);
        assert!(store.quota().content_bytes().unwrap().abs_diff(before) < 4_096);
        for source in keys {
            let messages = store.messages(source, 0, usize::MAX).unwrap();
            assert_eq!(messages.len(), 200);
            assert_eq!(messages[150].text, "use [REDACTED:github-token]");
            assert_eq!(messages[149], harmless(149));
        }
        assert!(store.bytes_to_clean(&Vec::new()).is_ok());
        let mut again = StoredRedactor::default();
        let mut position = Vec::new();
        while let Some(next) = store.preview_cleaning(&mut again, &position).unwrap().next {
            position = next;
        }
        assert_eq!(again.report, RedactionReport::default());
    }
}
