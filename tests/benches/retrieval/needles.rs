//! A hundred sentences, each hidden in a message in the middle of a session.

use graphiti_tests::Random;
use graphitid::model::{Message, Role};

use crate::sessions::{LabelledQuestion, QuestionSet};

const PARTS: [&str; 10] = [
    "checkout",
    "billing",
    "upload",
    "thumbnail",
    "audit",
    "webhook",
    "invoice",
    "mailer",
    "importer",
    "gateway",
];
const SETTINGS: [&str; 10] = [
    "timeout",
    "retry limit",
    "queue size",
    "batch size",
    "port",
    "cache lifetime",
    "pool size",
    "rate limit",
    "chunk size",
    "lease time",
];

/// Hides the sentences in the sessions of `set`, and searches for each. Every word of a question
/// occurs in ten sentences, two of them together in one.
pub(crate) fn hide(mut set: QuestionSet) -> QuestionSet {
    let mut random = Random::new(11);
    set.questions.clear();
    for (part, setting) in PARTS.iter().flat_map(|part| SETTINGS.map(|setting| (part, setting))) {
        let at = random.below(set.sessions.len());
        let session = &mut set.sessions[at];
        let middle = session.messages.len() / 2;
        let (before, behind) = session.messages.split_at_mut(middle);
        let mut said = behind.iter_mut().chain(before).filter(|message| is_said(message));
        let Some(message) = said.next() else { continue };
        let value = 10 + random.below(990);
        message.text.push_str(&format!("\nBy the way, the {part} {setting} is {value} now."));
        set.questions.push(LabelledQuestion {
            text: format!("what is the {part} {setting}?"),
            answers: vec![session.name.clone()],
        });
    }
    set
}

/// Whether a person or an agent wrote it; outputs of tools have less weight.
fn is_said(message: &Message) -> bool {
    matches!(message.role, Role::User | Role::Agent)
}
