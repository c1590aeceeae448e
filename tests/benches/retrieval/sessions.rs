//! Sessions, generated, invented or recorded, and questions about them.

use graphitid::{
    model::{Message, Namespace, Project, Role, SessionKey, Timestamp, transcript::Origin},
    search::index::{Card, IndexChange},
};

pub(crate) struct SearchedSession {
    /// The name of the session in [`LabelledQuestion::answers`].
    pub name: String,
    pub agent: String,
    pub project: String,
    pub messages: Vec<Message>,
}

/// A question and the names of the sessions that answer it.
pub(crate) struct LabelledQuestion {
    pub text: String,
    pub answers: Vec<String>,
}

/// Sessions, questions about them, and the time at which the questions are asked.
pub(crate) struct QuestionSet {
    pub name: &'static str,
    pub sessions: Vec<SearchedSession>,
    pub questions: Vec<LabelledQuestion>,
    pub now: jiff::Zoned,
}

impl SearchedSession {
    pub(crate) fn say(&mut self, role: Role, at: Option<Timestamp>, text: String) -> &mut Message {
        let seq = u32::try_from(self.messages.len()).expect("no session is that long");
        self.messages.push(Message {
            seq,
            origin: Origin { source: 0, line: u64::from(seq) + 1 },
            uuid: None,
            role,
            at,
            text,
            tool: None,
            files: Vec::new(),
            branch: None,
        });
        self.messages.last_mut().expect("a message was just pushed")
    }

    /// Returns the change that adds the session to an index.
    pub(crate) fn change(&self, key: u64) -> IndexChange {
        let times = || self.messages.iter().filter_map(|message| message.at);
        let card = Card {
            session: SessionKey(key),
            namespace: namespace(&self.project),
            project: Some(Project::new(&self.project)),
            agent: self.agent.clone(),
            started_at: times().min(),
            ended_at: times().max().unwrap_or_default(),
        };
        IndexChange::Messages { card, messages: self.messages.clone() }
    }
}

/// Returns a namespace that differs between projects; here the hash of a path is sufficient.
fn namespace(project: &str) -> Namespace {
    let number = project.bytes().fold(17_u32, |sum, byte| sum.wrapping_mul(31) ^ u32::from(byte));
    Namespace::from_number(number)
}
