//! The agent's replies to a message of the user, or to a failed call, that a search found.

use graphiti_proto::{clean::for_model, tools::search_sessions::MatchedPassage};

use super::passages;
use crate::{
    api::{DaemonState, convert},
    model::{Message, Role, SessionKey},
    store::{SourceKey, StoreError},
};

/// Maximum length, in bytes, of a user's message that is shown with the reply.
const MAX_QUESTION_BYTES: usize = 300;
/// Maximum length, in bytes, of a message of the agent that is shown with the message before it.
const MAX_SHORT_BYTES: usize = 60;
/// Maximum length, in bytes, of the reply.
const MAX_REPLY_BYTES: usize = 300;
/// Maximum number of messages after a user's message that are searched for the reply.
const MAX_REPLY_DISTANCE: usize = 32;

/// Adds the agent's reply after the first short message of the user, or else after the first failed
/// call, because the reply often has other words than the question or the error that was found. If
/// there is space for another passage, also adds the longest of the agent's next messages, because
/// the reply that was added may be short.
///
/// If there is neither, but the first passage is a short message of the agent, adds the message
/// before it.
pub(super) fn add(
    daemon: &DaemonState,
    session: SessionKey,
    passages: &mut Vec<MatchedPassage>,
    most: usize,
) -> Result<(), StoreError> {
    let is_question = |passage: &MatchedPassage| {
        passage.role == Role::User.as_str() && passage.text.len() <= MAX_QUESTION_BYTES
    };
    let question = passages.iter().position(is_question);
    let Some(place) = question.or_else(|| passages.iter().position(is_failed_call)) else {
        return add_question(daemon, session, passages);
    };
    // The reply is worth more than a third passage with the same error.
    if question.is_none() {
        passages.truncate((most - 1).max(place + 1));
    }
    let (source, seq) = (passages[place].source, passages[place].seq);
    let key = SourceKey { session, number: source };
    let next = daemon.engine.store().messages(key, seq + 1, MAX_REPLY_DISTANCE)?;
    let roles: Vec<Role> = next.iter().map(|message| message.role).collect();
    let mut at = place + 1;
    let reply = reply_position(&roles).and_then(|at| next.get(at));
    let longest = next.iter().filter(|message| message.role == Role::Agent);
    let longest = longest.max_by_key(|message| message.text.len());
    let is_known = |passages: &[MatchedPassage], message: &Message| {
        passages.iter().any(|one| (one.source, one.seq) == (source, message.seq))
    };
    let with_space = |passages: &[MatchedPassage]| passages.len() < most;
    if let Some(reply) = reply.filter(|reply| !is_known(passages, reply)) {
        passages.insert(at, reply_passage(source, reply));
        at += 1;
    }
    if let Some(longest) = longest.filter(|one| with_space(passages) && !is_known(passages, one)) {
        passages.insert(at, reply_passage(source, longest));
    }
    Ok(())
}

/// Whether a passage is a call that failed, as `capture` words it.
fn is_failed_call(passage: &MatchedPassage) -> bool {
    passage.role == Role::Tool.as_str() && passage.text.contains("→ failed")
}

/// Adds the message before the first passage if the first passage is a short message of the agent.
fn add_question(
    daemon: &DaemonState,
    session: SessionKey,
    passages: &mut Vec<MatchedPassage>,
) -> Result<(), StoreError> {
    let Some(first) = passages.first() else { return Ok(()) };
    if first.role != Role::Agent.as_str() || first.text.len() > MAX_SHORT_BYTES || first.seq == 0 {
        return Ok(());
    }
    let (source, seq) = (first.source, first.seq);
    let key = SourceKey { session, number: source };
    let before = daemon.engine.store().messages(key, seq - 1, 1)?;
    if let Some(before) = before.first().filter(|one| one.seq + 1 == seq)
        && !passages.iter().any(|one| (one.source, one.seq) == (source, before.seq))
    {
        passages.insert(0, reply_passage(source, before));
    }
    Ok(())
}

fn reply_passage(source: u32, message: &Message) -> MatchedPassage {
    MatchedPassage {
        role: message.role.as_str().to_owned(),
        at: convert::time(message.at),
        source,
        seq: message.seq,
        text: passages::first_clauses(&for_model(&message.text), MAX_REPLY_BYTES),
        marks: Vec::new(),
    }
}

/// Returns the position of the reply: the agent's last message before the user's next message. If
/// the turn is longer than the messages that were read, the reply is the agent's first message.
fn reply_position(roles: &[Role]) -> Option<usize> {
    let end = roles.iter().position(|role| *role == Role::User);
    let is_whole = end.is_some() || roles.len() < MAX_REPLY_DISTANCE;
    let mut turn = roles[..end.unwrap_or(roles.len())].iter();
    let is_reply = |role: &Role| *role == Role::Agent;
    if is_whole { turn.rposition(is_reply) } else { turn.position(is_reply) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reply_is_the_last_message_of_the_agent_before_the_next_message_of_the_user() {
        use Role::{Agent, Tool, User};
        assert_eq!(reply_position(&[Agent, Tool, Agent, Tool, User, Agent]), Some(2));
        assert_eq!(reply_position(&[Tool, Agent]), Some(1));
        assert_eq!(reply_position(&[Tool, User, Agent]), None);
        assert_eq!(reply_position(&[]), None);
        let mut long = [Tool; MAX_REPLY_DISTANCE];
        (long[3], long[30]) = (Agent, Agent);
        assert_eq!(reply_position(&long), Some(3), "the end of the turn is not known");
    }
}
