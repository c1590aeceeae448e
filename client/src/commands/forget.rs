//! `graphiti forget`: removes sessions from the memory, lists or restores forgotten sessions, or
//! marks a fact as ended.

use graphiti_proto::methods::forget::{FORGET, Forget, Forgotten, ForgottenRow};

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, ago, instant, line, now},
};

/// Maximum number of sessions that are listed.
const MAX_LISTED: usize = 20;

pub(super) fn run(args: cli::Forget, screen: &Screen) -> Result<(), AskError> {
    if let Some(fact) = args.fact {
        return super::facts::mark(&fact, "done", args.output.json, screen);
    }
    let forget = Forget {
        sessions: args.sessions,
        project: super::project(args.project),
        after: args.after,
        before: args.before,
        dry_run: !args.run,
        undo: args.undo,
    };
    let answer: Forgotten = Connection::open_for_work()?.ask(FORGET, &forget)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    let is_list_request = Forget { dry_run: true, ..forget.clone() } == Forget::default();
    match (is_list_request, forget.undo, forget.dry_run) {
        (true, ..) => print_forgotten(&answer, screen),
        (false, true, _) => print_restored(&answer, screen),
        (false, false, is_dry) => print(&answer, is_dry, screen),
    }
    Ok(())
}

/// Prints the sessions that were forgotten earlier.
fn print_forgotten(answer: &Forgotten, screen: &Screen) {
    if answer.sessions.is_empty() {
        screen.print("Nothing was forgotten. Give a session, or --project, --after or --before.");
        return;
    }
    for row in &answer.sessions {
        let when = format!("forgotten {}", ago(instant(&row.at), now()));
        screen.print(format!(
            "{} ({})  {}",
            line(&row.session_id),
            line(&row.agent),
            screen.dim(when)
        ));
    }
    screen.print("Restore a session with: graphiti forget --undo <session>");
}

fn print_restored(answer: &Forgotten, screen: &Screen) {
    for row in &answer.sessions {
        let what = match row.exists {
            true => "is restored: its transcript is read again",
            false => "is no longer forgotten, but its transcript does not exist any more",
        };
        screen.print(format!("{} {what}.", line(&row.session_id)));
    }
}

fn print(answer: &Forgotten, is_dry: bool, screen: &Screen) {
    if answer.sessions.is_empty() {
        screen.print("No session matches.");
        return;
    }
    let mut facts = vec![
        counted(answer.sessions.len() as u64, "session", "sessions"),
        counted(answer.messages, "message", "messages"),
        counted(answer.episodes, "summary", "summaries"),
    ];
    if answer.things > 0 {
        facts.push(counted(answer.things, "entity or fact", "entities and facts"));
    }
    if answer.events > 0 {
        facts.push(counted(answer.events, "waiting event", "waiting events"));
    }
    let verb = if is_dry { "Would be forgotten" } else { "Forgotten" };
    screen.print(format!("{verb}: {}.", facts.join(", ")));
    print_rows(&answer.sessions, screen);
    if !answer.relatives.is_empty() {
        screen.print("Kept: forks and copies that share text with these sessions:");
        print_rows(&answer.relatives, screen);
    }
    if answer.sessions.iter().any(|row| row.exists) {
        screen.print("The transcripts stay in the folders of the agents, and are not read again.");
    }
    if is_dry {
        screen.print(
            "Forget them with --run. Restore a session with: graphiti forget --undo <session>",
        );
    }
}

fn print_rows(rows: &[ForgottenRow], screen: &Screen) {
    for row in rows.iter().take(MAX_LISTED) {
        let title = match row.title.as_str() {
            "" if row.messages == 0 => "(not read yet, or empty)".to_owned(),
            title => line(title),
        };
        let when = ago(instant(&row.at), now());
        let short: String = row.session_id.chars().take(8).collect();
        screen.print(format!("  {:<8}  {when:>14}  {title}", line(&short)));
    }
    if rows.len() > MAX_LISTED {
        screen.print(screen.dim(format!("  … and {} more", rows.len() - MAX_LISTED)));
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
