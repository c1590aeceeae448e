//! `graphiti forget`: removes sessions from the memory, lists or restores forgotten sessions, or
//! marks a fact as ended.

use graphiti_proto::methods::forget::{FORGET, Forget, Forgotten, ForgottenRow};

use crate::{
    cli,
    commands::counted,
    connection::{AskError, Connection},
    screen::{Screen, ago, instant, line, now},
};

/// Maximum number of sessions that are listed.
const MAX_LISTED: usize = 20;
/// Number of columns before the title of a session.
const TITLE_INDENT: usize = 28;
const TRANSCRIPTS_STAY: &str =
    "The transcripts stay in the folders of the agents, and are not read again.";
/// The name of the agent in the row of a remembered text.
const MEMORY: &str = "memory";
const UNDO_HINT: &str = "Restore a session with: graphiti forget --undo <session>";

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
    let mut connection = Connection::open_for_work()?;
    let selects = selects_among_sessions(&forget);
    if selects && args.run {
        let preview = connection.ask(FORGET, &Forget { dry_run: true, ..forget.clone() })?;
        check_version(&preview)?;
    }
    let answer: Forgotten = connection.ask(FORGET, &forget)?;
    if selects {
        check_version(&answer)?;
    }
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

/// Whether a request has both sessions and filters.
fn selects_among_sessions(forget: &Forget) -> bool {
    let Forget { project, after, before, .. } = forget;
    let has_filter = project.is_some() || after.is_some() || before.is_some();
    has_filter && !forget.sessions.is_empty()
}

/// Fails if the answer is from an older daemon, whose rows have no origin. Such a daemon would
/// forget the given sessions and, in addition, all sessions that match the filters.
fn check_version(answer: &Forgotten) -> Result<(), AskError> {
    if answer.sessions.iter().any(|row| row.origin.is_empty()) {
        let what = "the running graphitid is older and would forget other sessions, too: restart it with `graphiti stop` and `graphiti up`, or give sessions without --project, --after and --before";
        return Err(AskError::Failed(what.to_owned()));
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
        let kind = match is_memory(row) {
            true => "remembered text, cannot be restored".to_owned(),
            false => line(&row.agent),
        };
        screen.print(format!("{} ({kind})  {}", line(&row.session_id), screen.dim(when)));
    }
    if !answer.sessions.iter().all(is_memory) {
        screen.print(UNDO_HINT);
    }
}

fn print_restored(answer: &Forgotten, screen: &Screen) {
    for row in &answer.sessions {
        let what = match row.exists {
            true => "is restored: its transcript is read again",
            false if is_memory(row) => {
                "is no longer forgotten, but its text is deleted: store it again with `graphiti remember`"
            }
            false => {
                "is no longer forgotten, but nothing is restored: its transcript is not on this machine. If it was imported, import it again"
            }
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
        kinds(&answer.sessions),
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
    screen.print_wrapped(&format!("{verb}: {}.", facts.join(", ")), 0);
    print_rows(&answer.sessions, screen);
    if !answer.relatives.is_empty() {
        screen.print("Kept: forks and copies that share text with these sessions:");
        print_rows(&answer.relatives, screen);
    }
    if answer.sessions.iter().any(|row| row.exists) {
        screen.print_wrapped(TRANSCRIPTS_STAY, 0);
    }
    losses(&answer.sessions).iter().for_each(|loss| screen.print_wrapped(&screen.warn(loss), 0));
    for session in &answer.damaged {
        let session = line(session);
        let loss = format!(
            "Some messages of {session} were damaged: if a copy or a fork of the transcript contains them, they may be read from it again."
        );
        screen.print_wrapped(&screen.warn(loss), 0);
    }
    if is_dry {
        screen.print("Forget them with --run.");
    }
    if answer.sessions.iter().any(|row| row.exists) {
        screen.print(UNDO_HINT);
    }
}

fn is_memory(row: &ForgottenRow) -> bool {
    row.agent == MEMORY
}

fn is_imported(row: &ForgottenRow) -> bool {
    row.origin == "import"
}

/// Returns the numbers of sessions and of remembered texts.
fn kinds(rows: &[ForgottenRow]) -> String {
    let memories = rows.iter().filter(|row| is_memory(row)).count();
    let sessions = counted((rows.len() - memories) as u64, "session", "sessions");
    let memories = counted(memories as u64, "remembered text", "remembered texts");
    match (rows.iter().all(is_memory), rows.iter().any(is_memory)) {
        (true, _) => memories,
        (false, true) => format!("{sessions}, {memories}"),
        (false, false) => sessions,
    }
}

/// Returns a sentence for each kind of session that `--undo` does not restore.
fn losses(rows: &[ForgottenRow]) -> Vec<String> {
    let gone = |row: &&ForgottenRow| !row.exists && !is_memory(row) && !is_imported(row);
    let count = |count: usize, one: &str, many: &str, why: &str| {
        (count > 0).then(|| format!("{} {why}.", counted(count as u64, one, many)))
    };
    let memories = count(
        rows.iter().filter(|row| is_memory(row)).count(),
        "remembered text",
        "remembered texts",
        "cannot be restored: only the memory contains the text",
    );
    let imported = count(
        rows.iter().filter(|row| is_imported(row)).count(),
        "imported session",
        "imported sessions",
        "cannot be restored from a transcript: use `graphiti forget --undo <session>` and import again",
    );
    let deleted = count(
        rows.iter().filter(gone).count(),
        "session",
        "sessions",
        "cannot be restored: the transcript does not exist any more",
    );
    [memories, imported, deleted].into_iter().flatten().collect()
}

fn print_rows(rows: &[ForgottenRow], screen: &Screen) {
    for row in rows.iter().take(MAX_LISTED) {
        let title = match row.title.as_str() {
            "" if row.messages == 0 => "(not read yet, or empty)".to_owned(),
            title => line(title),
        };
        let kind = match () {
            () if is_memory(row) => "  (remembered text)",
            () if is_imported(row) => "  (imported)",
            () if !row.exists => "  (transcript deleted)",
            () => "",
        };
        let when = ago(instant(&row.at), now());
        let row = format!("  {:<8}  {when:>14}  {title}{kind}", line(shown_id(row)));
        screen.print_wrapped(&row, TITLE_INDENT);
    }
    if rows.len() > MAX_LISTED {
        let more = format!("  … and {} more: --json shows all", rows.len() - MAX_LISTED);
        screen.print(screen.dim(more));
    }
}

/// Returns the unique prefix of the session id that the daemon sent. An older daemon sends no such
/// prefix; then, returns the first eight characters of the id.
fn shown_id(row: &ForgottenRow) -> &str {
    let end = row.session_id.char_indices().nth(8).map_or(row.session_id.len(), |(at, _)| at);
    if row.short_id.is_empty() { &row.session_id[..end] } else { &row.short_id }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(agent: &str, origin: &str, exists: bool) -> ForgottenRow {
        let (agent, origin) = (agent.to_owned(), origin.to_owned());
        ForgottenRow { agent, origin, exists, ..ForgottenRow::default() }
    }

    #[test]
    fn each_kind_of_session_that_cannot_be_restored_is_named() {
        let kept = row("claude", "transcript", true);
        let wish = row("memory", "memory", false);
        let import = row("claude", "import", false);
        let deleted = row("codex", "transcript", false);
        assert_eq!(losses(std::slice::from_ref(&kept)), [""; 0]);
        assert_eq!(
            losses(&[kept, wish.clone(), wish, import, deleted]),
            [
                "2 remembered texts cannot be restored: only the memory contains the text.",
                "1 imported session cannot be restored from a transcript: use `graphiti forget --undo <session>` and import again.",
                "1 session cannot be restored: the transcript does not exist any more.",
            ]
        );
        // An older daemon sends no origin.
        let older = [row("memory", "", false), row("claude", "", false)];
        assert_eq!(losses(&older).len(), 2);
    }

    #[test]
    fn an_older_daemon_is_not_asked_to_select_among_sessions() {
        let sessions = vec!["a".to_owned()];
        let both = Forget { sessions, after: Some("2026-03-01".to_owned()), ..Forget::default() };
        assert!(selects_among_sessions(&both));
        assert!(!selects_among_sessions(&Forget { after: None, ..both.clone() }));
        assert!(!selects_among_sessions(&Forget { sessions: Vec::new(), ..both }));
        let answer = |origin| {
            let sessions = vec![row("claude", origin, true)];
            Forgotten { sessions, ..Forgotten::default() }
        };
        assert!(check_version(&answer("transcript")).is_ok());
        assert!(check_version(&answer("")).is_err());
    }

    #[test]
    fn remembered_texts_are_counted_as_such() {
        let (session, wish) = (row("claude", "", true), row("memory", "", false));
        assert_eq!(kinds(&[session.clone(), wish.clone()]), "1 session, 1 remembered text");
        assert_eq!(kinds(&[wish.clone(), wish]), "2 remembered texts");
        assert_eq!(kinds(&[session]), "1 session");
    }
}
