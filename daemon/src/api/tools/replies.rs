//! Adds the agent's reply to a search result that contains a message of the user or a failed call.

use graphiti_proto::{clean::for_model, tools::search_sessions::MatchedPassage};

use super::{announcement::announces, passages};
use crate::{
    api::{DaemonState, convert},
    model::{Message, Role, SessionKey},
    store::{SourceKey, StoreError},
};

/// Maximum length, in bytes, of a user's message that is shown with the reply.
const MAX_QUESTION_BYTES: usize = 300;
/// Maximum length, in bytes, of a very short message, which may be unclear without the message
/// before it.
const MAX_SHORT_BYTES: usize = 60;
/// Maximum length, in bytes, of an added message.
const MAX_REPLY_BYTES: usize = 300;
/// Number of messages after the found message or call that are searched for a long reply.
const MAX_REPLY_DISTANCE: usize = 32;
/// Maximum number of messages after the found message or call that are searched for the end of the
/// turn.
const MAX_TURN: usize = 256;
/// Number of messages before a very short message of the user that are searched for the question
/// that it answers.
const MAX_QUESTION_DISTANCE: u32 = 8;

/// Adds the agent's reply after the first short message of the user, or else after the first failed
/// call, because the reply often has other words than the question or the error that was found. If
/// there is space, also adds the longest of the agent's next messages, because the reply may be
/// short. If the user's message is very short, inserts before it the agent's question that the
/// message answers.
///
/// If there is space, also adds the user's short answer to a question of the agent, and the agent's
/// short reply to this answer.
///
/// If no passage is such a message or such a call, adds the message before the first passage, if
/// the first passage is a very short message of the agent.
///
/// At most `most` passages exist after the addition, unless there were more before.
pub(super) fn add(
    daemon: &DaemonState,
    session: SessionKey,
    passages: &mut Vec<MatchedPassage>,
    most: usize,
) -> Result<(), StoreError> {
    let has_reply = add_reply(daemon, session, passages, most)?;
    add_answer(daemon, session, passages, most)?;
    if has_reply || passages.len() >= most {
        return Ok(());
    }
    add_question(daemon, session, passages)
}

/// Adds the agent's reply after the first short message of the user, or else after the first failed
/// call. Returns whether one of the passages is such a message or such a call.
fn add_reply(
    daemon: &DaemonState,
    session: SessionKey,
    passages: &mut Vec<MatchedPassage>,
    most: usize,
) -> Result<bool, StoreError> {
    let is_question = |passage: &MatchedPassage| {
        let text = &passage.text;
        let is_whole = !text.starts_with('…') && !text.ends_with('…');
        passage.role == Role::User.as_str() && text.len() <= MAX_QUESTION_BYTES && is_whole
    };
    let question = passages.iter().position(is_question);
    let Some(mut place) = question.or_else(|| passages.iter().position(is_failed_call)) else {
        return Ok(false);
    };
    let (source, seq) = (passages[place].source, passages[place].seq);
    let key = SourceKey { session, number: source };
    if passages[place].text.len() <= MAX_SHORT_BYTES
        && question.is_some()
        // The question must leave a place for the reply.
        && place + 2 < most
        && let Some(asked) = question_before(daemon, key, seq)?
        && !holds(passages, source, &asked)
    {
        let text = passages::last_clauses(&for_model(&asked.text), MAX_REPLY_BYTES);
        passages.insert(place, MatchedPassage { text, ..reply_passage(source, &asked) });
        place += 1;
    }
    let next = turn_after(daemon, key, seq)?;
    let mut at = place + 1;
    let longest = next.iter().take(MAX_REPLY_DISTANCE).filter(|one| one.role == Role::Agent);
    let longest = longest.max_by_key(|message| message.text.len());
    if let Some(reply) = reply(&next).filter(|reply| !holds(passages, source, reply)) {
        passages.insert(at, reply_passage(source, reply));
        at += 1;
    }
    let longest = longest.filter(|one| passages.len() < most && !holds(passages, source, one));
    if let Some(longest) = longest {
        passages.insert(at, reply_passage(source, longest));
    }
    Ok(true)
}

/// If a passage is a message of the agent that ends with a question, adds the user's answer after
/// it, and the agent's reply to the answer, as far as there is space.
fn add_answer(
    daemon: &DaemonState,
    session: SessionKey,
    passages: &mut Vec<MatchedPassage>,
    most: usize,
) -> Result<(), StoreError> {
    let Some(place) = passages.iter().position(asks).filter(|_| passages.len() < most) else {
        return Ok(());
    };
    let source = passages[place].source;
    let key = SourceKey { session, number: source };
    let next = daemon.engine.store().messages(key, passages[place].seq + 1, MAX_REPLY_DISTANCE)?;
    let mut added: Vec<_> =
        answer(&next).into_iter().filter(|one| !holds(passages, source, one)).collect();
    added.truncate(most - passages.len());
    let added = added.into_iter().map(|message| reply_passage(source, message));
    passages.splice(place + 1..place + 1, added);
    Ok(())
}

/// Whether a passage is a message of the agent, shown to its end, that ends with a question.
fn asks(passage: &MatchedPassage) -> bool {
    let text = passage.text.trim_end_matches(['*', '`', '"', '”', ')', ' ']);
    passage.role == Role::Agent.as_str() && text.ends_with(['?', '？'])
}

/// Returns the user's short answer at the start of the messages after a question, and the agent's
/// first reply to it if this reply is short. Returns nothing if the agent continues on its own, or
/// if the user's message is long.
fn answer(next: &[Message]) -> Vec<&Message> {
    let mut spoken = next.iter().filter(|message| message.role != Role::Tool);
    let is_answer =
        |message: &&Message| message.role == Role::User && message.text.len() <= MAX_QUESTION_BYTES;
    let Some(answer) = spoken.next().filter(is_answer) else { return Vec::new() };
    let reply = spoken.next().filter(|message| {
        message.role == Role::Agent
            && message.text.len() <= MAX_REPLY_BYTES
            && !announces(&message.text)
    });
    std::iter::once(answer).chain(reply).collect()
}

/// Whether a message is one of the passages.
fn holds(passages: &[MatchedPassage], source: u32, message: &Message) -> bool {
    passages.iter().any(|one| (one.source, one.seq) == (source, message.seq))
}

/// Returns the agent's last message before the user's message `seq`, if the agent's message
/// contains a question mark.
fn question_before(
    daemon: &DaemonState,
    key: SourceKey,
    seq: u32,
) -> Result<Option<Message>, StoreError> {
    let from = seq.saturating_sub(MAX_QUESTION_DISTANCE);
    let mut before = daemon.engine.store().messages(key, from, (seq - from) as usize)?;
    before.retain(|message| message.seq < seq && message.role != Role::Tool);
    let asked = before.pop().filter(|message| message.role == Role::Agent);
    Ok(asked.filter(|message| message.text.contains(['?', '？'])))
}

/// Returns the [`MAX_REPLY_DISTANCE`] messages after `seq`. If none of them is the user's, returns
/// up to [`MAX_TURN`] messages.
fn turn_after(daemon: &DaemonState, key: SourceKey, seq: u32) -> Result<Vec<Message>, StoreError> {
    let mut next = daemon.engine.store().messages(key, seq + 1, MAX_REPLY_DISTANCE)?;
    let is_whole = next.iter().any(|message| message.role == Role::User);
    if next.len() == MAX_REPLY_DISTANCE && !is_whole {
        let last = next.last().map_or(seq, |message| message.seq);
        let rest = MAX_TURN - MAX_REPLY_DISTANCE;
        next.extend(daemon.engine.store().messages(key, last + 1, rest)?);
    }
    Ok(next)
}

/// Whether a passage is a call that failed. `capture` marks a failed call with `→ failed`.
fn is_failed_call(passage: &MatchedPassage) -> bool {
    passage.role == Role::Tool.as_str() && passage.text.contains("→ failed")
}

/// Adds the message before the first passage if the first passage is a very short message of the
/// agent.
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
        && !holds(passages, source, before)
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

/// Returns the reply: the agent's last message before the user's next message. If the end of the
/// turn is not known, returns the agent's longest message. Announcements of the next step and
/// courtesies are the reply only if the agent wrote nothing else.
fn reply(next: &[Message]) -> Option<&Message> {
    let end = next.iter().position(|message| message.role == Role::User);
    let is_whole = end.is_some() || next.len() < MAX_TURN;
    let turn = next[..end.unwrap_or(next.len())].iter();
    let mut of_agent = turn.filter(|message| message.role == Role::Agent);
    let says_something =
        |message: &&Message| !announces(&message.text) && !passages::is_courtesy(&message.text);
    let mut answers = of_agent.clone().filter(says_something);
    let best = match is_whole {
        true => answers.next_back(),
        false => answers.max_by_key(|message| message.text.len()),
    };
    best.or_else(|| of_agent.next_back())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::Origin;

    fn message(role: Role, text: &str) -> Message {
        Message {
            seq: 0,
            origin: Origin { source: 0, line: 1 },
            uuid: None,
            role,
            at: None,
            text: text.to_owned(),
            tool: None,
            files: Vec::new(),
            branch: None,
        }
    }

    #[track_caller]
    fn check(turn: &[(Role, &str)], wanted: Option<&str>) {
        let turn: Vec<Message> = turn.iter().map(|(role, text)| message(*role, text)).collect();
        assert_eq!(reply(&turn).map(|message| message.text.as_str()), wanted);
    }

    #[test]
    fn the_reply_is_the_last_message_of_the_agent_before_the_next_message_of_the_user() {
        use Role::{Agent, Tool, User};
        check(&[(Agent, "a"), (Tool, "t"), (Agent, "b"), (User, "u"), (Agent, "c")], Some("b"));
        check(&[(Tool, "t"), (Agent, "a")], Some("a"));
        check(&[(Tool, "t"), (User, "u"), (Agent, "a")], None);
        check(&[], None);
        let look = "Now let me look at the tests.";
        check(&[(Agent, "The pool was full"), (Agent, look)], Some("The pool was full"));
        check(&[(Agent, "It was full"), (Agent, "You are welcome.")], Some("It was full"));
        check(&[(Agent, look), (User, "u")], Some(look));
    }

    #[test]
    fn if_the_end_of_the_turn_is_not_known_the_reply_is_the_longest_message() {
        let mut long = vec![message(Role::Tool, "t"); MAX_TURN];
        long[3] = message(Role::Agent, "Now let me look at the tests and at all the other files.");
        long[30] = message(Role::Agent, "The tests failed: the pool was full.");
        long[50] = message(Role::Agent, "Fixed one.");
        assert_eq!(reply(&long).unwrap().text, "The tests failed: the pool was full.");
    }

    #[test]
    fn the_answer_to_a_question_is_the_next_short_message_of_the_user_with_a_short_reply() {
        use Role::{Agent, Tool, User};
        let check = |next: &[(Role, &str)], wanted: &[&str]| {
            let next: Vec<Message> = next.iter().map(|(role, text)| message(*role, text)).collect();
            let texts: Vec<&str> = answer(&next).iter().map(|one| one.text.as_str()).collect();
            assert_eq!(texts, wanted);
        };
        let long = "The pool is full. ".repeat(20);
        let chosen = "Then ClickHouse it is.";
        check(&[(User, "the second"), (Agent, chosen)], &["the second", chosen]);
        check(&[(Tool, "asked"), (User, "2"), (Tool, "t"), (Agent, chosen)], &["2", chosen]);
        check(&[(User, "the second"), (Agent, &long)], &["the second"]);
        check(&[(User, "2"), (Agent, "Let me look at the pool."), (Agent, chosen)], &["2"]);
        check(&[(User, "2"), (User, "Or not"), (Agent, chosen)], &["2"]);
        check(&[(User, &long), (Agent, chosen)], &[]);
        check(&[(Agent, chosen), (User, "ok")], &[]);
        check(&[], &[]);
    }

    #[test]
    fn only_a_message_of_the_agent_that_is_shown_to_its_question_asks() {
        let passage = |role: &str, text: &str| MatchedPassage {
            role: role.to_owned(),
            text: text.to_owned(),
            ..MatchedPassage::default()
        };
        assert!(asks(&passage("assistant", "…Postgres or ClickHouse?")));
        assert!(asks(&passage("assistant", "**Postgres (or ClickHouse?)**")));
        for text in ["Postgres or ClickHouse?…", "Which? I took Postgres.", ""] {
            assert!(!asks(&passage("assistant", text)), "{text}");
        }
        assert!(!asks(&passage("user", "Postgres or ClickHouse?")));
    }
}
