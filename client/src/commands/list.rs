//! `graphiti list`: prints sessions as a table.

use std::collections::HashSet;

use clap::ValueEnum;
use graphiti_proto::tools::{
    SessionRow,
    list_sessions::{ListSessionsAnswer, ListSessionsArguments, NAME},
};

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Align, Column, Screen, Styling, TextTable, ago, instant, line, now},
};

/// Width, in columns, to which the project's name is cut after titles are cut and optional columns
/// are dropped.
const PROJECT: usize = 32;
/// Minimum width, in columns, to which a title is cut before optional columns are dropped. On a
/// wide terminal, the title keeps at least three tenths of the width.
const TITLE: usize = 24;

pub(super) fn run(args: cli::List, screen: &Screen) -> Result<(), AskError> {
    let state = args.state.and_then(|state| state.to_possible_value());
    let arguments = ListSessionsArguments {
        project: super::project(args.project),
        state: state.map(|state| state.get_name().to_owned()),
        agent: args.agent,
        empty: args.empty,
        ..ListSessionsArguments::default()
    };
    let mut connection = Connection::open()?;
    let answer = all_pages(args.limit, |limit, offset| {
        let arguments = ListSessionsArguments { limit, offset, ..arguments.clone() };
        connection.call(NAME, &arguments)
    })?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    if answer.sessions.is_empty() {
        screen.print(match answer.total {
            0 => "No sessions.".to_owned(),
            1 => "1 session.".to_owned(),
            total => format!("{total} sessions."),
        });
        if !answer.message.is_empty() {
            screen.print_wrapped(&screen.dim(line(&answer.message)), 0);
        }
        return Ok(());
    }
    print(&answer.sessions, screen);
    let more = answer.total.saturating_sub(answer.sessions.len());
    if more > 0 && screen.is_terminal() {
        screen.print(screen.dim(format!("… and {more} more; show them with -n {}", answer.total)));
    }
    if !answer.message.is_empty() {
        screen.print_wrapped(&screen.dim(line(&answer.message)), 0);
    }
    Ok(())
}

/// Requests pages until `limit` sessions are read or no more sessions exist. `ask` takes the
/// maximum number of sessions, and the number of sessions to skip.
fn all_pages<E>(
    limit: usize,
    mut ask: impl FnMut(usize, usize) -> Result<ListSessionsAnswer, E>,
) -> Result<ListSessionsAnswer, E> {
    let identity = |session: &SessionRow| (session.agent.clone(), session.session_id.clone());
    let mut answer = ask(limit, 0)?;
    let mut known: HashSet<_> = answer.sessions.iter().map(identity).collect();
    while answer.sessions.len() < limit
        && let Some(offset) = answer.next
    {
        // New activity moves a session to the front, so sessions of the previous page may appear on
        // this page again. The limit is therefore not reduced to the number of missing sessions:
        // such a small page might contain only repeated sessions.
        let page = ask(limit, offset)?;
        let read = offset + page.sessions.len();
        let new = page.sessions.into_iter().filter(|session| known.insert(identity(session)));
        answer.sessions.extend(new);
        (answer.total, answer.next) = (page.total, page.next);
        let surplus = answer.sessions.len().saturating_sub(limit);
        if surplus > 0 {
            answer.sessions.truncate(limit);
            answer.next = Some(read - surplus);
        }
    }
    Ok(answer)
}

/// Prints sessions as a table.
pub(super) fn print(sessions: &[SessionRow], screen: &Screen) {
    // On a terminal, the column of agents is shown only if the sessions have different agents, and
    // optional columns only if there is space. A program gets the same columns each time.
    let is_program = !screen.is_terminal();
    let column = |heading, align| match is_program {
        true => Column::new(heading, align),
        false => Column::optional(heading, align),
    };
    let has_agents =
        is_program || sessions.iter().any(|session| session.agent != sessions[0].agent);
    let mut columns = vec![
        Column::new("SESSION", Align::Left),
        Column::new("WHEN", Align::Left),
        Column::new("", Align::Left),
    ];
    columns.extend(has_agents.then(|| Column::new("AGENT", Align::Left)));
    columns.extend([
        column("ACTIVITY", Align::Left),
        column("MSGS", Align::Right),
        Column::wanted("PROJECT", PROJECT, 8),
        Column::wanted("TITLE", TITLE.max(screen.width() * 3 / 10), 16),
    ]);
    let mut table = TextTable::new(columns);
    let now = now();
    for session in sessions {
        let (mark, style) = mark(session, screen);
        let row = table
            .row()
            .cell(line(session.shown_id()))
            .cell(ago(instant(&session.last_activity), now))
            .styled(mark, style);
        let row = if has_agents { row.cell(line(&session.agent)) } else { row };
        row.cell(activity(session))
            .cell(session.message_count.to_string())
            .cell(project(session))
            .cell(title(session));
    }
    screen.print_table(&table);
}

/// Returns the status of a session in one word: the outcome of an indexed session, `empty` for an
/// indexed session without messages, otherwise the state.
pub(super) fn outcome_or_state(session: &SessionRow) -> &str {
    match (session.state.as_str(), &session.episode) {
        ("indexed", Some(episode)) => &episode.outcome,
        ("indexed", None) if session.message_count == 0 => "empty",
        (state, _) => state,
    }
}

fn mark(session: &SessionRow, screen: &Screen) -> (String, Styling) {
    let word = outcome_or_state(session);
    let (sign, example) = match word {
        "completed" => ("✓", screen.good("x")),
        "blocked" | "failed" => ("✗", screen.bad("x")),
        "in_progress" => ("◐", screen.warn("x")),
        "active" | "indexing" => ("●", screen.accent("x")),
        _ => ("○", screen.dim("x")),
    };
    let styling = move |text: &str| example.replacen('x', text, 1);
    (format!("{sign} {}", line(&word.replace('_', " "))), Box::new(styling))
}

fn activity(session: &SessionRow) -> String {
    let Some(episode) = &session.episode else { return String::new() };
    let strongest: Vec<&str> =
        episode.activities.iter().take(1).map(|(name, _)| name.as_str()).collect();
    line(&strongest.join(", "))
}

/// Returns the name of the session's project, or `-` if its folder is not known.
fn project(session: &SessionRow) -> String {
    let name = line(session.project_name());
    if name.is_empty() { "-".to_owned() } else { name }
}

fn title(session: &SessionRow) -> String {
    line(session.error.as_ref().unwrap_or(&session.title))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists at most `limit` sessions of a daemon with `count` sessions and pages of at most 10. A
    /// session is added before each request except the first. Returns the ids, and the offset of
    /// the next page.
    fn list(count: usize, limit: usize) -> (Vec<String>, Option<usize>) {
        let mut newest = count;
        let mut is_first = true;
        let answer = all_pages(limit, |limit, offset| {
            newest += usize::from(!std::mem::take(&mut is_first));
            let page = (1..=newest).rev().skip(offset).take(limit.min(10));
            let row =
                |id: usize| SessionRow { session_id: id.to_string(), ..SessionRow::default() };
            let sessions: Vec<SessionRow> = page.map(row).collect();
            let next = offset + sessions.len();
            let next = (!sessions.is_empty() && next < newest).then_some(next);
            let message = String::new();
            Ok::<_, ()>(ListSessionsAnswer { total: newest, sessions, next, message })
        });
        let answer = answer.unwrap();
        (answer.sessions.into_iter().map(|session| session.session_id).collect(), answer.next)
    }

    #[test]
    fn each_session_of_all_pages_is_listed_once() {
        let ids = |ids: std::ops::RangeInclusive<usize>| -> Vec<String> {
            ids.rev().map(|id| id.to_string()).collect()
        };
        assert_eq!(list(5, 3), (ids(3..=5), Some(3)));
        assert_eq!(list(5, 0), (Vec::new(), None));
        assert_eq!(list(25, 100), (ids(1..=25), None));
        // The second page repeats a session, and has more sessions than are missing.
        assert_eq!(list(25, 12), (ids(14..=25), Some(13)));
    }
}
