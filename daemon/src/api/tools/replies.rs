//! Adds the agent's reply to a search result that contains a message of the user or a failed call.

use graphiti_proto::{clean::for_model, tools::search_sessions::MatchedPassage};

use super::passages;
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
/// Maximum length, in bytes, of an announcement of the agent's next step.
const MAX_ANNOUNCEMENT_BYTES: usize = 200;

/// Adds the agent's reply after the first short message of the user, or else after the first failed
/// call, because the reply often has other words than the question or the error that was found. If
/// there is space, also adds the longest of the agent's next messages, because the reply may be
/// short. If the user's message is very short, inserts before it the agent's question that the
/// message answers.
///
/// If no passage is such a message or such a call, adds the message before the first passage, if
/// the first passage is a very short message of the agent.
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
    let Some(mut place) = question.or_else(|| passages.iter().position(is_failed_call)) else {
        return add_question(daemon, session, passages);
    };
    // The reply is worth more than a third passage with the same error.
    if question.is_none() {
        passages.truncate((most - 1).max(place + 1));
    }
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
    Ok(())
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

/// Whether a message of the agent only announces its next step: "Now let me look at the tests."
fn announces(text: &str) -> bool {
    let text = text.trim();
    if text.len() > MAX_ANNOUNCEMENT_BYTES || text.contains('\n') {
        return false;
    }
    let text = text.to_lowercase().replace('’', "'");
    let openings = ["now", "next", "first", "ok", "okay", "good", "great", "then", "and", "so"];
    let mut rest = text.as_str();
    while let Some((word, after)) = rest.split_once(' ')
        && openings.contains(&word.trim_end_matches([',', '.', '!', ':']))
    {
        rest = after;
    }
    let begins = ["let me ", "let's ", "i'm going to ", "i am going to "];
    let promise = ["i'll ", "i will "].iter().find_map(|begin| rest.strip_prefix(begin));
    // "I'll keep it at 20" is an answer.
    let has_step = begins.iter().any(|begin| rest.starts_with(begin))
        || promise.is_some_and(|step| step.ends_with(':') || has_verb_of_step(step));
    let sentence = rest.trim_end_matches(['.', ':', '…']);
    let has_more = [". ", "! ", "? ", "; ", ": "].iter().any(|end| sentence.contains(end));
    has_step && (rest.ends_with(':') || !has_more)
}

/// Whether a step that an agent promises begins with a verb of looking, running or changing.
fn has_verb_of_step(step: &str) -> bool {
    const VERBS: &str = " look check run rerun re read search find see start begin inspect examine verify try open \
        explore investigate review test fix update add create write explain show summarize ";
    let words = step.split(|c: char| !c.is_alphabetic());
    let mut words =
        words.filter(|word| !["now", "also", "first", "quickly", "just"].contains(word));
    words.next().is_some_and(|verb| VERBS.contains(&format!(" {verb} ")))
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
    fn an_announcement_says_only_what_comes_next() {
        for text in [
            "Now let me look at the tests.",
            "Good. I’ll run them again:",
            "I'll quickly re-run the tests",
            "Let me commit this.",
            "Let me check src/pool.rs and its callers",
        ] {
            assert!(announces(text), "{text}");
        }
        for text in [
            "The pool was full. Now let me fix it.",
            "Let me explain: the pool was full; each request holds two.",
            "I'll keep it. The reason is the pool.",
            "I’ll keep it at 20.",
            "I will not merge it.",
            "Now the tests pass.",
        ] {
            assert!(!announces(text), "{text}");
        }
    }
}
