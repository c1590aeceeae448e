//! Finds the messages that the statements of a summary come from: the source of a fact with the
//! same words, or a message that contains the words.

use graphiti_proto::tools::{SessionRow, graph::FactRow};

use crate::{
    api::DaemonState,
    model::{Message, Role, SessionId},
    store::SourceKey,
    view::pages::parts::message_address,
};

/// Maximum number of messages of a session that are read to find statements.
const MESSAGES: usize = 4_000;
/// Maximum size, in bytes, of the messages that are searched.
const BYTES: usize = 4 << 20;
/// Number of messages that are read at once.
const PAGE: usize = 100;
/// Maximum number of words by which a statement is recognised in a message.
const WORDS: usize = 10;
/// Minimum number of words of a statement that is searched, because shorter ones occur anywhere.
const FEWEST_WORDS: usize = 3;

/// Finds the message that a statement comes from.
pub(super) struct EvidenceLinks {
    session: String,
    /// The words of facts, with their source and message.
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

    /// Returns the address of the message that a statement comes from, if it is known.
    pub(super) fn address(&self, statement: &str) -> Option<String> {
        let words = words(statement);
        let mut ends = words.match_indices(' ').map(|(at, _)| at);
        if ends.clone().count() + 1 < FEWEST_WORDS {
            return None;
        }
        let beginning = ends.nth(WORDS - 1).map_or(words.as_str(), |end| &words[..end]);
        let mut known = self.facts.iter().chain(&self.messages);
        let found = known.find(|message| message.words.contains(beginning))?;
        Some(message_address(&self.session, found.source, found.seq))
    }
}

/// Reads what people and agents said in a session, the user's own words first.
fn messages(daemon: &DaemonState, row: &SessionRow) -> Vec<WordsOfMessage> {
    let store = daemon.engine.store();
    let id = SessionId { agent: row.agent.clone(), id: row.session_id.clone() };
    // Without the messages, only facts have links.
    let Ok(Some(session)) = store.find_session(&id) else { return Vec::new() };
    let key = SourceKey { session, number: 0 };
    let mut said = said(|from| store.messages(key, from, PAGE).unwrap_or_default());
    said.sort_by_key(|message| message.role);
    let known = |said: SaidMessage| WordsOfMessage { words: said.words, source: 0, seq: said.seq };
    said.into_iter().map(known).collect()
}

/// The words of a message of a person or an agent.
struct SaidMessage {
    role: Role,
    words: String,
    seq: u32,
}

/// Reads messages up to the limits, page by page, because the output of tools may be large.
fn said(mut page: impl FnMut(u32) -> Vec<Message>) -> Vec<SaidMessage> {
    let (mut said, mut from, mut left) = (Vec::new(), 0, BYTES);
    for _ in 0..MESSAGES.div_ceil(PAGE) {
        let messages = page(from);
        let Some(last) = messages.last() else { break };
        from = last.seq + 1;
        for message in messages.iter().filter(|message| message.role != Role::Tool) {
            let Some(rest) = left.checked_sub(message.text.len()) else { return said };
            left = rest;
            let words = words(&message.text);
            said.push(SaidMessage { role: message.role, words, seq: message.seq });
        }
    }
    said
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
    fn a_statement_leads_to_the_fact_or_message_with_its_words() {
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
            let mut asked = Vec::new();
            let said = said(|from| {
                asked.push(from);
                (from..from + PAGE as u32).map(of).collect()
            });
            (said.iter().map(|said| said.seq).collect::<Vec<_>>(), asked)
        };
        // Output of tools does not count.
        let (seqs, asked) = read(&|seq| match seq % 2 {
            0 => message(seq, Role::Agent, BYTES / 75),
            _ => message(seq, Role::Tool, BYTES / 75),
        });
        assert_eq!((seqs.len(), seqs.last()), (75, Some(&148)));
        assert_eq!(asked, [0, 100]);
        let (seqs, asked) = read(&|seq| message(seq, Role::User, 1));
        assert_eq!((seqs.len(), asked.len()), (MESSAGES, MESSAGES / PAGE));
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
