//! `graphiti search`.

use graphiti_proto::tools::{
    Detail,
    errors::ErrorRow,
    search_sessions::{Hit, MatchedPassage, NAME, SearchSessionsAnswer, SearchSessionsArguments},
};

use super::list::{short_id, standing};
use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, ago, instant, line, now},
};

/// Maximum number of passages that are shown for a session.
const PASSAGES: usize = 3;

pub(super) fn run(args: cli::SearchOptions, screen: &Screen) -> Result<(), AskError> {
    let near = std::env::current_dir().ok();
    let arguments = SearchSessionsArguments {
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
        explain: args.explain,
    };
    let answer: SearchSessionsAnswer = Connection::open()?.call(NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    if let Some(error) = &answer.error {
        print_error(error, screen);
    }
    for (number, hit) in answer.hits.iter().enumerate() {
        print_hit(number + 1, hit, screen);
    }
    if answer.hits.is_empty() && answer.error.is_none() && args.limit > 0 {
        screen.print("Nothing found.");
    }
    for word in &answer.spelled {
        let used: Vec<_> = word.used.iter().map(|used| line(used)).collect();
        let used = format!("Searched for {} instead of {}.", used.join(", "), line(&word.asked));
        screen.print(screen.dim(used));
    }
    if !answer.message.is_empty() {
        screen.print(screen.dim(line(&answer.message)));
    }
    Ok(())
}

/// Prints what is known about the error that was searched for.
fn print_error(error: &ErrorRow, screen: &Screen) {
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
        error.sessions.iter().map(|session| line(&session.short_id).to_string()).collect();
    let when = ago(instant(&error.last_at), now());
    let rest = format!("{returns} · last seen {when} · {}", sessions.join(", "));
    screen.print(format!("    {state}{}", screen.dim(rest)));
    screen.print("");
}

fn print_hit(number: usize, hit: &Hit, screen: &Screen) {
    let session = &hit.session;
    let title = if session.title.is_empty() { "(nothing said yet)" } else { &session.title };
    screen.print_wrapped(&format!("{number:>2}. {}", screen.bold(line(title))), 4);
    let facts = [
        line(short_id(session)),
        ago(instant(&session.last_activity), now()),
        line(&standing(session).replace('_', " ")),
        line(session.project.rsplit('/').next().unwrap_or_default()),
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    screen.print(format!("    {}", screen.dim(facts.join(" · "))));
    for passage in worth_showing(hit) {
        let role = screen.dim(format!("{}:", line(&passage.role)));
        screen.print_wrapped(&format!("    {role} {}", marked(passage, screen)), 6);
    }
    if let Some(explanation) = &hit.explanation {
        for text in explanation.lines() {
            screen.print(format!("      {}", screen.dim(line(text))));
        }
    }
    screen.print("");
}

/// Returns the passages that contain more than the title and the preceding passages.
fn worth_showing(hit: &Hit) -> Vec<&MatchedPassage> {
    let mut shown = vec![bare(&hit.session.title)];
    let mut passages = Vec::new();
    for passage in &hit.passages {
        let text = bare(&passage.text);
        if passages.len() < PASSAGES && !shown.iter().any(|known| known.contains(&text)) {
            shown.push(text);
            passages.push(passage);
        }
    }
    passages
}

fn bare(text: &str) -> String {
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
        text.push_str(&harmless(before));
        text.push_str(&screen.mark(harmless(mark)));
        from = *end;
    }
    text.push_str(&harmless(passage.text.get(from..).unwrap_or_default()));
    text
}

/// Same as [`line()`], but keeps the spaces at both ends, because the pieces are joined.
fn harmless(text: &str) -> String {
    let inner = line(text);
    let space = |is: bool| if is { " " } else { "" };
    if inner.is_empty() {
        return space(!text.is_empty()).to_owned();
    }
    let (before, after) =
        (text.starts_with(char::is_whitespace), text.ends_with(char::is_whitespace));
    format!("{}{inner}{}", space(before), space(after))
}
