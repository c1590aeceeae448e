//! `graphiti list`.

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

/// Columns that the project's name keeps until other columns are dropped or cut.
const PROJECT: usize = 32;
/// Minimum columns of a title.
const TITLE: usize = 24;
/// Sessions of a request: an answer has to fit into one line of the protocol.
const PAGE: usize = 1_000;

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
        return Ok(());
    }
    print(&answer.sessions, screen);
    let more = answer.total.saturating_sub(answer.sessions.len());
    if more > 0 && screen.is_terminal() {
        screen.print(screen.dim(format!("… and {more} more; show them with -n {}", answer.total)));
    }
    Ok(())
}

/// Asks for `limit` sessions in pages. `ask` takes the number of sessions and of those to skip.
fn all_pages<E>(
    limit: usize,
    mut ask: impl FnMut(usize, usize) -> Result<ListSessionsAnswer, E>,
) -> Result<ListSessionsAnswer, E> {
    let mut answer = ask(limit.min(PAGE), 0)?;
    while answer.sessions.len() < limit
        && let Some(next) = answer.next
    {
        let page = ask(PAGE, next)?;
        let before = answer.sessions.len();
        // A session that was written to meanwhile moves all others by a place.
        for session in page.sessions {
            let is_known = |known: &SessionRow| known.session_id == session.session_id;
            if !answer.sessions.iter().rev().take(PAGE).any(is_known) {
                answer.sessions.push(session);
            }
        }
        answer.next = page.next.filter(|_| answer.sessions.len() > before);
    }
    answer.sessions.truncate(limit);
    Ok(answer)
}

/// Prints sessions as a table.
pub(super) fn print(sessions: &[SessionRow], screen: &Screen) {
    // The agent is of interest only where several are in use.
    let has_agents = sessions.iter().any(|session| session.agent != sessions[0].agent);
    let mut columns = vec![
        Column::new("SESSION", Align::Left),
        Column::new("WHEN", Align::Left),
        Column::new("", Align::Left),
    ];
    columns.extend(has_agents.then(|| Column::new("AGENT", Align::Left)));
    columns.extend([
        Column::optional("ACTIVITY", Align::Left),
        Column::optional("MSGS", Align::Right),
        Column::wanted("PROJECT", PROJECT, 8),
        Column::wanted("TITLE", TITLE, 16),
    ]);
    let mut table = TextTable::new(columns);
    let now = now();
    for session in sessions {
        let (mark, style) = mark(session, screen);
        let row = table
            .row()
            .cell(line(short_id(session)))
            .cell(ago(instant(&session.last_activity), now))
            .styled(mark, style);
        let row = if has_agents { row.cell(line(&session.agent)) } else { row };
        row.cell(activity(session))
            .cell(session.message_count.to_string())
            .cell(line(session.project.rsplit('/').next().unwrap_or_default()))
            .cell(title(session));
    }
    for text in table.lines(screen.width(), |heading| screen.dim(heading)) {
        screen.print(text);
    }
}

/// Returns a beginning of the session's id that no other session's has; the whole id if the daemon
/// is older and does not know it.
pub(super) fn short_id(session: &SessionRow) -> &str {
    if session.short_id.is_empty() { &session.session_id } else { &session.short_id }
}

/// Returns the status of a session in one word: its outcome, or its state while it has no outcome.
pub(super) fn standing(session: &SessionRow) -> &str {
    match (session.state.as_str(), &session.episode) {
        ("indexed", Some(episode)) => &episode.outcome,
        ("indexed", None) if session.message_count == 0 => "empty",
        (state, _) => state,
    }
}

fn mark(session: &SessionRow, screen: &Screen) -> (String, Styling) {
    let standing = standing(session);
    let (sign, example) = match standing {
        "completed" => ("✓", screen.good("x")),
        "blocked" | "failed" => ("✗", screen.bad("x")),
        "in_progress" => ("◐", screen.warn("x")),
        "active" | "indexing" => ("●", screen.accent("x")),
        _ => ("○", screen.dim("x")),
    };
    let styling = move |text: &str| example.replacen('x', text, 1);
    (format!("{sign} {}", line(&standing.replace('_', " "))), Box::new(styling))
}

fn activity(session: &SessionRow) -> String {
    let Some(episode) = &session.episode else { return String::new() };
    let strongest: Vec<&str> =
        episode.activities.iter().take(1).map(|(name, _)| name.as_str()).collect();
    line(&strongest.join(", "))
}

fn title(session: &SessionRow) -> String {
    line(session.error.as_ref().unwrap_or(&session.title))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A daemon with so many sessions; a session is added before each request but the first.
    fn listed(count: usize, limit: usize) -> Vec<String> {
        let mut newest = count;
        let mut is_first = true;
        let answer = all_pages(limit, |limit, offset| {
            newest += usize::from(!std::mem::take(&mut is_first));
            let all = (1..=newest).rev().skip(offset).take(limit);
            let row =
                |id: usize| SessionRow { session_id: id.to_string(), ..SessionRow::default() };
            let sessions: Vec<SessionRow> = all.map(row).collect();
            let next = Some(offset + sessions.len()).filter(|next| *next < newest);
            Ok::<_, ()>(ListSessionsAnswer { total: newest, sessions, next })
        });
        answer.unwrap().sessions.into_iter().map(|session| session.session_id).collect()
    }

    #[test]
    fn many_sessions_are_listed_in_pages_each_once() {
        assert_eq!(listed(5, 3), ["5", "4", "3"]);
        assert_eq!(listed(5, 0), [""; 0]);
        let many = listed(2_500, 10_000);
        assert_eq!(many.len(), 2_500);
        assert_eq!((many[0].as_str(), many[2_499].as_str()), ("2500", "1"));
        assert_eq!(listed(2_500, 1_200).len(), 1_200);
    }
}
