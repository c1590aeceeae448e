//! `graphiti search`: searches messages and summaries. Without words, it starts the [`finder`].

mod context;
pub(super) mod finder;

use std::io::{self, IsTerminal};

use graphiti_proto::tools::{
    Detail, SessionRow,
    errors::ErrorRow,
    get_session::{GetSessionAnswer, GetSessionArguments, MessageRow, NAME as GET_SESSION},
    search_sessions::{Hit, MatchedPassage, NAME, SearchSessionsAnswer, SearchSessionsArguments},
};
use serde_json::{Value, json};

use self::{
    context::{ContextBlock, is_of_message},
    finder::FinderPurpose,
};
use super::{
    list::outcome_or_state,
    resume::{self, ResumeChoice},
    show::{self, Extent},
};
use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, ago, instant, line, now},
};

/// Maximum number of passages that are shown for a session.
const MAX_PASSAGES: usize = 3;
/// Maximum length, in characters, of a printed message that does not match.
const MAX_NEIGHBOUR_CHARS: usize = 300;
/// Default number of messages before and after each matching message of an opened session.
const DEFAULT_CONTEXT: u32 = 1;

pub(super) fn run(args: cli::SearchOptions, screen: &Screen) -> Result<(), AskError> {
    let (is_json, is_open, count) = (args.output.json, args.open, args.context);
    let mut arguments = arguments(args);
    let is_interactive = !is_json && screen.is_terminal() && io::stdin().is_terminal();
    // With a filter other than the project, an empty query lists the sessions that the filter
    // admits.
    if arguments.query.trim().is_empty() && (is_interactive || !has_filter(&arguments)) {
        if !is_interactive {
            let what = "no words to search for: run `graphiti search WORDS`, or run `graphiti search` on a terminal to search while you type";
            return Err(AskError::InvalidInput(what.to_owned()));
        }
        // Sessions of colleagues cannot be opened.
        arguments.scope = None;
        let mut choice = ResumeChoice::default();
        let mut prepare = |session: &SessionRow| choice.command(session);
        let command = finder::run(arguments, FinderPurpose::Read, &mut prepare, screen)?;
        return command.map_or(Ok(()), |command| resume::execute(&command));
    }
    let mut connection = Connection::open()?;
    if is_open {
        arguments.limit = Some(1);
    }
    let answer: SearchSessionsAnswer = connection.call(NAME, &arguments)?;
    let best = answer.hits.first().filter(|best| best.team.is_none());
    if let (true, Some(best)) = (is_open, best) {
        let opened = open(&mut connection, best, count.unwrap_or(DEFAULT_CONTEXT))?;
        match is_json {
            true => opened.print_json(best, screen),
            false => {
                opened.print(best, Extent::OnePage, screen);
                print_notes(&answer, screen);
            }
        }
        return Ok(());
    }
    let mut blocks = Vec::new();
    if let Some(count) = count {
        let fetched = answer.hits.iter().map(|hit| context::fetch(&mut connection, hit, count));
        blocks = fetched.collect::<Result<_, _>>()?;
    }
    if is_json {
        screen.print_json(&with_context(&answer, &blocks));
        return Ok(());
    }
    if let Some(error) = &answer.error {
        print_error(error, screen);
    }
    for (at, hit) in answer.hits.iter().enumerate() {
        print_hit(at + 1, hit, blocks.get(at).map(Vec::as_slice), screen);
    }
    if answer.hits.is_empty() && answer.error.is_none() {
        screen.print("Nothing found.");
    }
    print_notes(&answer, screen);
    Ok(())
}

fn arguments(args: cli::SearchOptions) -> SearchSessionsArguments {
    let near = std::env::current_dir().ok();
    SearchSessionsArguments {
        query: args.query.join(" "),
        project: super::project(args.project),
        agent: args.agent,
        branch: args.branch,
        file: args.file,
        tool: args.tool,
        role: args.role,
        after: args.after,
        before: args.before,
        near: near.map(|directory| directory.to_string_lossy().into_owned()),
        limit: Some(args.limit),
        detail: Detail::Passages,
        offset: args.offset,
        scope: super::scope(args.team),
        explain: args.explain,
    }
}

/// Whether an argument other than the query and the project restricts the results.
fn has_filter(arguments: &SearchSessionsArguments) -> bool {
    let SearchSessionsArguments { agent, branch, file, tool, role, after, before, .. } = arguments;
    [agent, branch, file, tool, role, after, before].into_iter().any(Option::is_some)
}

/// A session with its matching messages and the messages around them.
struct OpenedSession {
    answer: GetSessionAnswer,
    blocks: Vec<ContextBlock>,
}

fn open(connection: &mut Connection, hit: &Hit, count: u32) -> Result<OpenedSession, AskError> {
    let session_id = Some(hit.session.session_id.clone());
    let arguments = GetSessionArguments { session_id, ..GetSessionArguments::default() };
    let answer = connection.call(GET_SESSION, &arguments)?;
    Ok(OpenedSession { answer, blocks: context::fetch(connection, hit, count)? })
}

impl OpenedSession {
    fn print_json(&self, hit: &Hit, screen: &Screen) {
        let answer = serde_json::to_value(&self.answer);
        let mut shown = answer.expect("answers have only string keys");
        shown["passages"] = json!(hit.passages);
        shown["context"] = json!(self.blocks);
        screen.print_json(&shown);
    }

    /// Prints the session as `graphiti show` does, with its matching messages before the summary.
    fn print(&self, hit: &Hit, extent: Extent, screen: &Screen) {
        show::print(&self.answer, screen, extent, || {
            if self.blocks.iter().any(|block| !block.messages.is_empty()) {
                print_blocks(&self.blocks, hit, screen);
                screen.print("");
            }
        });
    }
}

/// Returns the answer as JSON, with the messages in `blocks` as the `context` of each hit.
fn with_context(answer: &SearchSessionsAnswer, blocks: &[Vec<ContextBlock>]) -> Value {
    let mut value = serde_json::to_value(answer).expect("answers have only string keys");
    for (at, blocks) in blocks.iter().enumerate() {
        value["hits"][at]["context"] = json!(blocks);
    }
    value
}

fn print_notes(answer: &SearchSessionsAnswer, screen: &Screen) {
    notes(answer).iter().for_each(|note| screen.print_wrapped(&screen.dim(note), 0));
}

/// Returns the corrected words and the message of the daemon, as texts for the user.
fn notes(answer: &SearchSessionsAnswer) -> Vec<String> {
    let spelled = answer.spelled.iter().map(|word| {
        let used: Vec<_> = word.used.iter().map(|used| line(used)).collect();
        format!("Searched for {} instead of {}.", used.join(", "), line(&word.asked))
    });
    let message = Some(line(&answer.message)).filter(|message| !message.is_empty());
    spelled.chain(message).collect()
}

/// Prints what is known about the error that was searched for.
pub(super) fn print_error(error: &ErrorRow, screen: &Screen) {
    let state = match error.state.as_str() {
        "fixed" => screen.good("fixed"),
        "came back" => screen.bad("came back"),
        other => screen.warn(line(other)),
    };
    screen.print_wrapped(&format!("Known error: {}", screen.bold(line(&error.error))), 4);
    let parts = [("Cause", &error.cause), ("Fix", &error.fix), ("Verified by", &error.verified_by)];
    for (label, text) in parts {
        let Some(text) = text else { continue };
        screen.print_wrapped(&format!("    {label}: {}", line(text)), 4);
    }
    let returns = match error.returns {
        0 => String::new(),
        1 => " · seen once after the fix".to_owned(),
        count => format!(" · seen {count} times after the fix"),
    };
    let sessions: Vec<String> =
        error.sessions.iter().map(|session| line(&session.short_id)).collect();
    let when = ago(instant(&error.last_at), now());
    let rest = format!("{returns} · last seen {when} · {}", sessions.join(", "));
    screen.print(format!("    {state}{}", screen.dim(rest)));
    screen.print("");
}

fn print_hit(number: usize, hit: &Hit, blocks: Option<&[ContextBlock]>, screen: &Screen) {
    let session = &hit.session;
    screen.print_wrapped(&format!("{number:>2}. {}", screen.bold(title(hit))), 4);
    let facts = [
        line(session.shown_id()),
        ago(instant(&session.last_activity), now()),
        line(&outcome_or_state(session).replace('_', " ")),
        line(session.project_name()),
        super::by(hit.team.as_ref()),
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    screen.print(format!("    {}", screen.dim(facts.join(" · "))));
    let shown = distinct_passages(hit);
    let shown = shown.iter().filter(|passage| blocks.is_none() || !is_of_message(passage));
    shown.for_each(|passage| print_passage(passage, screen));
    print_blocks(blocks.unwrap_or_default(), hit, screen);
    if let Some(explanation) = &hit.explanation {
        for text in explanation.lines() {
            screen.print(format!("      {}", screen.dim(line(text))));
        }
    }
    screen.print("");
}

/// Returns the title of a session, or a replacement if the session has no title.
fn title(hit: &Hit) -> String {
    match hit.session.title.is_empty() {
        true => "(no messages yet)".to_owned(),
        false => line(&hit.session.title),
    }
}

fn print_passage(passage: &MatchedPassage, screen: &Screen) {
    let role = screen.dim(format!("{}:", line(&passage.role)));
    screen.print_wrapped(&format!("    {role} {}", marked(passage, screen)), 6);
}

fn print_blocks(blocks: &[ContextBlock], hit: &Hit, screen: &Screen) {
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            screen.print(screen.dim("    --"));
        }
        for message in &block.messages {
            let is_this_message = |passage: &&MatchedPassage| {
                is_of_message(passage)
                    && (passage.source, passage.seq) == (block.source, message.seq)
            };
            let text =
                hit.passages.iter().find(is_this_message).map(|passage| marked(passage, screen));
            let text = text.unwrap_or_else(|| shortened(message));
            let who = screen.dim(format!("#{} {}:", message.seq, line(&message.role)));
            screen.print_wrapped(&format!("    {who} {text}"), 6);
        }
    }
}

/// Returns the start of a message.
fn shortened(message: &MessageRow) -> String {
    let text = line(&message.text);
    match text.char_indices().nth(MAX_NEIGHBOUR_CHARS) {
        Some((end, _)) => {
            let word = text[..end].rfind(' ').filter(|_| !text[end..].starts_with(' '));
            format!("{}…", text[..word.unwrap_or(end)].trim_end())
        }
        None => text,
    }
}

/// Returns the first passages whose text is not part of the title or of a preceding passage.
fn distinct_passages(hit: &Hit) -> Vec<&MatchedPassage> {
    let mut shown = vec![letters_and_digits(&hit.session.title)];
    let mut passages = Vec::new();
    for passage in &hit.passages {
        let text = letters_and_digits(&passage.text);
        if passages.len() < MAX_PASSAGES && !shown.iter().any(|known| known.contains(&text)) {
            shown.push(text);
            passages.push(passage);
        }
    }
    passages
}
fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Formats a passage with its matches marked.
fn marked(passage: &MatchedPassage, screen: &Screen) -> String {
    let mut text = String::new();
    let mut from = 0;
    for (start, end) in &passage.marks {
        let (Some(before), Some(mark)) =
            (passage.text.get(from..*start), passage.text.get(*start..*end))
        else {
            continue;
        };
        text.push_str(&sanitized(before));
        text.push_str(&screen.mark(sanitized(mark)));
        from = *end;
    }
    text.push_str(&sanitized(passage.text.get(from..).unwrap_or_default()));
    text
}

/// Same as [`line()`], but keeps the spaces at both ends, because the pieces are joined.
fn sanitized(text: &str) -> String {
    let inner = line(text);
    let space = |is: bool| if is { " " } else { "" };
    if inner.is_empty() {
        return space(!text.is_empty()).to_owned();
    }
    let (before, after) =
        (text.starts_with(char::is_whitespace), text.ends_with(char::is_whitespace));
    format!("{}{inner}{}", space(before), space(after))
}
