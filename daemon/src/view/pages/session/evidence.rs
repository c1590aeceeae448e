//! Finds the source of a statement of a summary: the source of a fact with the same words, or a
//! message that contains the words.

use graphiti_proto::tools::{SessionRow, graph::FactRow};

use crate::{
    api::DaemonState,
    model::{Message, Role, SessionId},
    store::SourceKey,
    view::pages::parts::message_address,
};

/// Maximum number of messages of a session that are read.
const MAX_MESSAGES: usize = 4_000;
/// Maximum total size, in bytes, of the messages that are searched.
const MAX_BYTES: usize = 4 << 20;
/// Number of messages that are read at once.
const PAGE_MESSAGES: usize = 100;
/// Maximum number of words of a statement that are compared.
const MAX_WORDS: usize = 10;
/// A statement with fewer words is not searched, because it could occur anywhere.
const MIN_WORDS: usize = 3;

pub(super) struct EvidenceLinks {
    session: String,
    /// The words of the facts, with the message that is their source.
    facts: Vec<WordsOfMessage>,
    messages: Vec<WordsOfMessage>,
}

struct WordsOfMessage {
    words: String,
    source: u32,
    seq: u32,
}

impl EvidenceLinks {
    pub(super) fn read(daemon: &DaemonState, row: &SessionRow, facts: &[FactRow]) -> EvidenceLinks {
        let of_session = |fact: &FactRow| -> Option<WordsOfMessage> {
            let source = fact.sources.iter().find(|source| source.session_id == row.session_id)?;
            let words = [&fact.fact, &fact.source_name, &fact.target_name].map(|text| words(text));
            Some(WordsOfMessage {
                words: words.join(" | "),
                source: source.source,
                seq: source.message?,
            })
        };
        EvidenceLinks {
            session: row.session_id.clone(),
            facts: facts.iter().filter_map(of_session).collect(),
            messages: messages(daemon, row),
        }
    }

    /// Returns the address of the message that is the source of a statement, if it is known.
    pub(super) fn address(&self, statement: &str) -> Option<String> {
        let words = words(statement);
        let mut ends = words.match_indices(' ').map(|(at, _)| at);
        if ends.clone().count() + 1 < MIN_WORDS {
            return None;
        }
        let beginning = ends.nth(MAX_WORDS - 1).map_or(words.as_str(), |end| &words[..end]);
        let mut known = self.facts.iter().chain(&self.messages);
        let found = known.find(|message| message.words.contains(beginning))?;
        Some(message_address(&self.session, found.source, found.seq))
    }
}

/// Reads the messages of a session from the user and the agent, the user's messages first.
fn messages(daemon: &DaemonState, row: &SessionRow) -> Vec<WordsOfMessage> {
    let store = daemon.engine.store();
    let id = SessionId { agent: row.agent.clone(), id: row.session_id.clone() };
    // Without messages, only statements that are facts have links.
    let unread =
        |error| tracing::warn!(%error, session = id.id, "failed to read the messages of a session");
    let session = store.find_session(&id).map_err(unread);
    let Some(session) = session.unwrap_or_default() else { return Vec::new() };
    let key = SourceKey { session, number: 0 };
    let page = |from| store.messages(key, from, PAGE_MESSAGES).map_err(unread);
    let mut spoken = spoken(|from| page(from).unwrap_or_default());
    spoken.sort_by_key(|message| message.role);
    let known =
        |spoken: SpokenMessage| WordsOfMessage { words: spoken.words, source: 0, seq: spoken.seq };
    spoken.into_iter().map(known).collect()
}

/// The words of a message of the user or the agent.
struct SpokenMessage {
    role: Role,
    words: String,
    seq: u32,
}

/// Reads messages up to the limits. Reads them page by page, because tool output may be large.
fn spoken(mut page: impl FnMut(u32) -> Vec<Message>) -> Vec<SpokenMessage> {
    let (mut spoken, mut from, mut left) = (Vec::new(), 0, MAX_BYTES);
    for _ in 0..MAX_MESSAGES.div_ceil(PAGE_MESSAGES) {
        let messages = page(from);
        let Some(last) = messages.last() else { break };
        from = last.seq + 1;
        for message in messages.iter().filter(|message| message.role != Role::Tool) {
            let Some(rest) = left.checked_sub(message.text.len()) else { return spoken };
            left = rest;
            let words = words(&message.text);
            spoken.push(SpokenMessage { role: message.role, words, seq: message.seq });
        }
    }
    spoken
}

/// Returns the words of a text in lower case, without punctuation.
fn words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::Origin;

    #[test]
    fn a_statement_links_to_the_fact_or_message_with_its_words() {
        let known = |words: &str, seq| WordsOfMessage { words: words.to_owned(), source: 0, seq };
        let links = EvidenceLinks {
            session: "s".to_owned(),
            facts: vec![known("use rs256 for signing because keys rotate", 4)],
            messages: vec![known("now the login is fixed and the tests pass", 9)],
        };
        let at = |statement: &str| links.address(statement);
        assert_eq!(at("Use RS256 for signing").as_deref(), Some("session?id=s&at=4#m0-4"));
        assert_eq!(at("The login is fixed.").as_deref(), Some("session?id=s&at=9#m0-9"));
        assert_eq!(at("The logout is fixed"), None);
        assert_eq!(at("the tests"), None, "too short to be recognised");
    }

    #[test]
    fn messages_are_read_in_pages_until_the_limit() {
        let message = |seq: u32, role, bytes: usize| Message {
            seq,
            origin: Origin::default(),
            uuid: None,
            role,
            at: None,
            text: "x".repeat(bytes),
            tool: None,
            files: Vec::new(),
            branch: None,
        };
        let read = |of: &dyn Fn(u32) -> Message| {
            let mut requested = Vec::new();
            let spoken = spoken(|from| {
                requested.push(from);
                (from..from + PAGE_MESSAGES as u32).map(of).collect()
            });
            (spoken.iter().map(|spoken| spoken.seq).collect::<Vec<_>>(), requested)
        };
        // Tool output does not count towards the limit.
        let (seqs, requested) = read(&|seq| match seq % 2 {
            0 => message(seq, Role::Agent, MAX_BYTES / 75),
            _ => message(seq, Role::Tool, MAX_BYTES / 75),
        });
        assert_eq!((seqs.len(), seqs.last()), (75, Some(&148)));
        assert_eq!(requested, [0, 100]);
        let (seqs, requested) = read(&|seq| message(seq, Role::User, 1));
        assert_eq!((seqs.len(), requested.len()), (MAX_MESSAGES, MAX_MESSAGES / PAGE_MESSAGES));
    }

    #[test]
    fn a_long_statement_is_recognised_by_its_first_words() {
        let words = "a b c d e f g h i j";
        let links = EvidenceLinks {
            session: "s".to_owned(),
            facts: Vec::new(),
            messages: vec![WordsOfMessage { words: words.to_owned(), source: 1, seq: 2 }],
        };
        let found = links.address(&format!("{words} and other words"));
        assert_eq!(found.as_deref(), Some("session?id=s&source=1&at=2#m1-2"));
    }
}
