//! Measures the length of the replies that an agent gets to 100 questions about the coding
//! sessions. Each question is one call of `search_sessions` through `graphiti mcp`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use graphiti_tests::{McpHost, Transcript, World};
use graphitid::model::Role;
use serde_json::json;

use crate::{
    coding,
    sessions::{LabelledQuestion, SearchedSession},
};

/// The version of the protocol that the agent requests.
const PROTOCOL: &str = "2025-06-18";
const SETS: [&str; 4] = ["typos", "quotes", "languages", "errors"];
/// Number of questions of each set.
const QUESTIONS: usize = 25;
/// The length, in tokens, that a reply should not exceed.
const AIM: usize = 1_500;

struct ToolReply {
    bytes: usize,
    tokens: Option<usize>,
    /// Whether the reply contains the id of a session with the answer.
    has_session: bool,
    /// Whether the reply contains the whole answer, see [`answer`].
    has_answer: bool,
}

pub(crate) fn run() {
    let world = World::new();
    let sessions = coding::sessions().sessions;
    sessions.iter().for_each(|session| write(&world, session));
    let daemon = world.start();
    daemon.settle_sessions();
    let mut host = McpHost::start(world.command("graphiti").arg("mcp"));
    host.initialize(PROTOCOL);
    let mut all: Vec<ToolReply> = Vec::new();
    for (name, questions) in coding::question_sets() {
        if SETS.contains(&name) {
            let questions = questions.into_iter().take(QUESTIONS);
            let replies = questions.map(|question| ask(&mut host, &question, &sessions));
            let replies: Vec<ToolReply> = replies.collect();
            print(name, &replies);
            all.extend(replies);
        }
    }
    print("all", &all);
}

/// Writes a session as Claude Code does.
fn write(world: &World, session: &SearchedSession) {
    let started = session.messages.iter().find_map(|message| message.at).unwrap_or_default();
    let started = Duration::from_micros(u64::try_from(started.micros()).unwrap_or_default());
    let age = SystemTime::now().duration_since(UNIX_EPOCH + started).unwrap_or_default();
    let mut transcript: Transcript = world.transcript_in(&session.name, &session.project).aged(age);
    for message in &session.messages {
        match message.role {
            Role::Agent => transcript.reply(&message.text),
            Role::Tool => {
                let file = message.files.first().cloned().unwrap_or_default();
                transcript.tool("Bash", &json!({ "command": format!("cat {file}") }), &message.text)
            }
            _ => transcript.prompt(&message.text),
        };
    }
}

fn ask(host: &mut McpHost, question: &LabelledQuestion, sessions: &[SearchedSession]) -> ToolReply {
    let result = host.call_for_model("search_sessions", json!({ "query": question.text }));
    let text = result["content"][0]["text"].as_str().expect("a reply is text");
    let answers = || sessions.iter().filter(|session| question.answers.contains(&session.name));
    let has = |answer: &str| flat(text).contains(&flat(answer));
    if std::env::var_os("GRAPHITI_MISSES").is_some() && !answers().any(|one| has(answer(one))) {
        println!("--- {}\n{text}", question.text);
    }
    ToolReply {
        bytes: text.len(),
        tokens: tokens(text),
        has_session: answers().any(|session| text.contains(&format!("`{}", session.name))),
        has_answer: answers().any(|session| has(answer(session))),
    }
}

/// Returns the agent's longest message, which in these short sessions is the answer.
fn answer(session: &SearchedSession) -> &str {
    let replies = session.messages.iter().filter(|message| message.role == Role::Agent);
    replies.map(|message| message.text.as_str()).max_by_key(|text| text.len()).unwrap_or_default()
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Counts tokens with the vocabulary of a common model.
#[cfg(feature = "tokens")]
fn tokens(text: &str) -> Option<usize> {
    Some(bpe_openai::o200k_base().count(text))
}

#[cfg(not(feature = "tokens"))]
fn tokens(_: &str) -> Option<usize> {
    None
}

fn print(name: &str, replies: &[ToolReply]) {
    let count = |test: fn(&ToolReply) -> bool| replies.iter().filter(|reply| test(reply)).count();
    let tokens: Vec<usize> = replies.iter().filter_map(|reply| reply.tokens).collect();
    let short = match tokens.is_empty() {
        true => String::new(),
        false => {
            let count = tokens.iter().filter(|tokens| **tokens <= AIM).count();
            format!(", {count} replies of at most {AIM} tokens")
        }
    };
    println!(
        "  {name:10} {} questions: replies with the session {}, with the whole answer {}; bytes {}, tokens {}{short}",
        replies.len(),
        count(|reply| reply.has_session),
        count(|reply| reply.has_answer),
        spread(replies.iter().map(|reply| reply.bytes).collect()),
        spread(tokens),
    );
}

/// Formats the median, the 95th percentile and the maximum.
fn spread(mut values: Vec<usize>) -> String {
    values.sort_unstable();
    let at = |share: usize| values.get((values.len().max(1) - 1) * share / 100);
    match (at(50), at(95), at(100)) {
        (Some(median), Some(high), Some(max)) => format!("p50 {median}, p95 {high}, max {max}"),
        _ => "not counted".to_owned(),
    }
}
