//! `graphiti status`: prints the state of the daemon and the amount of stored data.

mod disk;
mod models;

use std::{io, path::Path, time::Duration};

use graphiti_proto::{
    methods,
    rpc::code,
    tools::health::{AgentHealth, HealthAnswer, HealthArguments, NAME},
};
use serde_json::Value;

use self::{
    disk::limits,
    models::{model, older, vectors},
};
pub(super) use self::{
    disk::{QuotaUse, evicted, quota_uses, remedies},
    models::abandoned,
};
use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, line, span},
    setup,
};

/// The command that shows what the current redaction rules would change in stored text. With
/// `--run`, the command changes the text.
pub(super) const REDACT_AGAIN: &str = "graphiti redact --again";
/// The command that repeats the failed requests for summaries to the model.
pub(super) const ASK_AGAIN: &str = "graphiti sync --again --run";
/// Why no folder is watched.
pub(super) const TRACKING_IS_OFF: &str = "nothing: `session_tracking.enabled` is false, or the user has no home folder, so no session is recorded";
/// Maximum number of types of skipped records shown for an agent. `--json` shows all types.
const TYPES: usize = 2;
/// Maximum number of attempts to wait, while the daemon reopens its database.
const MAX_SETTLE_ATTEMPTS: u32 = 5;
/// Number of columns before the values.
const VALUE_INDENT: usize = 12;
/// Length, in columns, of the progress bar of the import.
const BAR: usize = 24;

/// Prints the output of `graphiti` without arguments.
pub(super) fn overview(screen: &Screen) -> Result<(), AskError> {
    run(&cli::Status::default(), screen)?;
    screen.print(screen.dim("All commands: graphiti --help"));
    Ok(())
}

pub(super) fn run(args: &cli::Status, screen: &Screen) -> Result<(), AskError> {
    let mut connection = if args.wait { settle()? } else { Connection::open()? };
    let answer: HealthAnswer = connection.call(NAME, &HealthArguments::default())?;
    if args.output.json {
        screen.print_json(&answer);
    } else {
        print(&answer, screen);
    }
    match answer.history.refused {
        Some(why) if args.wait => {
            Err(AskError::Failed(format!("new sessions are not stored: {}", line(&why))))
        }
        _ => Ok(()),
    }
}

/// Waits until all sessions are read. The daemon ends its connections when it stops, and also when
/// it reopens its database. If the daemon only reopens its database, the client waits again.
fn settle() -> Result<Connection, AskError> {
    let mut attempts = 0;
    loop {
        let mut connection = Connection::open_for_work()?;
        attempts += 1;
        match connection.ask::<Value>(methods::SETTLE, &methods::Settle::default()) {
            Ok(_) => return Ok(connection),
            Err(AskError::Refused(error))
                if error.code == code::STOPPING && attempts < MAX_SETTLE_ATTEMPTS =>
            {
                // An error also ends the connection.
                let _ = io::copy(&mut connection.into_stream()?, &mut io::sink());
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns the folders that exist, or all folders if none exists. Most users have only some agents.
fn followed(watched: &[String]) -> Vec<&String> {
    let existing: Vec<&String> =
        watched.iter().filter(|folder| Path::new(folder).exists()).collect();
    if existing.is_empty() { watched.iter().collect() } else { existing }
}

fn print(answer: &HealthAnswer, screen: &Screen) {
    let up = span(Duration::from_secs(answer.uptime_seconds));
    let state = if answer.status == "ok" {
        screen.good("running")
    } else {
        screen.warn("running, with problems")
    };
    let head = format!("graphitid {}", line(&answer.version));
    screen.print(format!("{} is {state} (pid {}, up {up})", screen.bold(head), answer.pid));
    let row = |name: &str, text: String| {
        let text = format!("  {}  {text}", screen.dim(format!("{name:<8}")));
        screen.print_wrapped(&text, VALUE_INDENT);
    };
    row("home", line(&short_path(&answer.home)));
    if answer.watched.is_empty() {
        row("watches", screen.warn(TRACKING_IS_OFF));
    }
    for folder in followed(&answer.watched) {
        row("watches", format!("{} ({})", line(&short_path(folder)), line(&answer.watch_mode)));
    }
    row("sessions", sessions(answer));
    for (at, agent) in agents(answer, &installed()).into_iter().enumerate() {
        row(if at == 0 { "agents" } else { "" }, agent);
    }
    row("history", history(answer, screen));
    row("kept", kept(answer));
    if let Some(limits) = limits(answer, screen) {
        row("limits", limits);
    }
    if let Some(gone) = evicted(answer) {
        row("evicted", screen.warn(gone));
    }
    row("records", records(answer));
    for (at, what) in older(answer).into_iter().enumerate() {
        row(if at == 0 { "older" } else { "" }, what);
    }
    if let Some(what) = redaction(answer) {
        row("secrets", screen.warn(format!("{what}; remedy: {REDACT_AGAIN}")));
    }
    if answer.model.on {
        row("model", model(answer, screen));
    }
    if answer.embeddings.on {
        row("vectors", vectors(answer, screen));
    }
    if !answer.problems.is_empty() {
        screen.print(screen.warn("Problems, the latest last:"));
        for problem in &answer.problems {
            screen.print_wrapped(&format!("  {}", line(problem)), 4);
        }
    }
}

fn kept(answer: &HealthAnswer) -> String {
    let kept = &answer.kept;
    format!(
        "{} messages and tool calls, {} summaries and remembered texts, database {}, index {}",
        number(kept.messages),
        number(kept.episodes),
        bytes(kept.database_bytes),
        bytes(kept.index_bytes)
    )
}

fn sessions(answer: &HealthAnswer) -> String {
    let sessions = &answer.sessions;
    let counts = [
        (sessions.active, "active"),
        (sessions.inactive, "inactive"),
        (sessions.indexing, "being indexed"),
        (sessions.indexed, "indexed"),
        (sessions.unindexed, "unindexed"),
        (sessions.failed, "failed"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", number(*count)))
        .collect();
    let total = number(sessions.total);
    let mut text = if parts.is_empty() { total } else { format!("{total}: {}", parts.join(", ")) };
    if sessions.empty > 0 {
        let empty = number(sessions.empty);
        text.push_str(&match answer.history.refused {
            // Their messages may have been refused.
            Some(_) => format!("; {empty} without stored messages"),
            None => format!("; {empty} without messages"),
        });
    }
    text
}

/// Returns the agents whose folder is on this machine.
fn installed() -> Vec<&'static str> {
    let surroundings = setup::Surroundings::of_user();
    surroundings.map_or_else(
        |_| Vec::new(),
        |surroundings| setup::installed(&surroundings).map(|agent| agent.name).collect(),
    )
}

/// Returns a line for each agent with sessions, and then one line with the agents that are only
/// installed. Returns no line for an older daemon, which does not report agents.
fn agents(answer: &HealthAnswer, installed: &[&str]) -> Vec<String> {
    if answer.agents.is_empty() {
        return Vec::new();
    }
    let (used, unused): (Vec<&AgentHealth>, Vec<&AgentHealth>) =
        answer.agents.iter().partition(|known| known.sessions > 0);
    let mut lines: Vec<String> = used.into_iter().map(agent).collect();
    let unused = unused.iter().filter(|known| installed.contains(&known.agent.as_str()));
    let unused = unused.map(|known| format!("{} without sessions", line(&known.agent)));
    let is_known = |name: &&&str| answer.agents.iter().any(|known| known.agent == **name);
    let unknown = installed.iter().filter(|name| !is_known(name));
    let unknown = unknown.map(|name| format!("{name} is not followed"));
    let others: Vec<String> = unused.chain(unknown).collect();
    lines.extend((!others.is_empty()).then(|| others.join(", ")));
    lines
}

/// Formats an agent: the number of its sessions, its name, its version and the skipped records.
fn agent(known: &AgentHealth) -> String {
    let version = known.version.as_ref().map(|version| format!(" {}", line(version)));
    let (name, sessions) = (line(&known.agent), number(known.sessions));
    let mut text = format!("{sessions} {name}{}", version.unwrap_or_default());
    let mut types: Vec<(&String, &u64)> = known.skipped.iter().collect();
    types.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let shown = types.iter().take(TYPES);
    let mut skipped: Vec<String> =
        shown.map(|(kind, count)| format!("{} {}", number(**count), line(kind))).collect();
    if types.len() > TYPES {
        skipped.push(format!("{} more types", types.len() - TYPES));
    }
    if !skipped.is_empty() {
        text.push_str(&format!("; skipped {}", skipped.join(", ")));
    }
    text
}

fn history(answer: &HealthAnswer, screen: &Screen) -> String {
    let history = &answer.history;
    let read = bytes(history.bytes_read);
    let total = history.done + history.left;
    if !history.scanned {
        return format!("looking for transcripts, {total} found so far");
    }
    if let Some(why) = &history.refused {
        return screen.warn(format!("not imported completely: {}", line(why)));
    }
    if history.left == 0 {
        return match history.unread {
            0 => format!("imported, {read} read since the start"),
            unread => {
                let transcripts = super::counted(unread as u64, "transcript", "transcripts");
                format!("reading {transcripts}, {read} read since the start")
            }
        };
    }
    let filled = history.done * BAR / total.max(1);
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled));
    format!("{} {} of {total} sessions, {read} read", screen.accent(bar), history.done)
}

fn records(answer: &HealthAnswer) -> String {
    let records = &answer.records;
    let skipped: u64 = records.skipped.values().sum();
    let mut text = format!(
        "{} read, {} of them without content",
        number(records.read + skipped),
        number(skipped)
    );
    for (count, what) in [
        (records.repaired, "repaired"),
        (records.broken, "broken"),
        (records.restarts, "files truncated or replaced"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {} {what}", number(count)));
        }
    }
    text
}

/// Returns a notice if older rules redacted stored text, or if a redaction is not finished.
pub(super) fn redaction(answer: &HealthAnswer) -> Option<&'static str> {
    let redaction = &answer.redaction;
    match (redaction.is_unfinished, redaction.is_older) {
        (true, _) => Some("the redaction of stored text was started, but not finished"),
        (false, true) => Some("some stored text was redacted by older rules"),
        (false, false) => None,
    }
}

/// Formats a number with commas as thousands separators.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).expect("digits are ASCII"))
        .collect();
    groups.join(",")
}

pub(super) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut amount = bytes as f64;
    let mut unit = 0;
    while amount >= 1_000.0 && unit + 1 < UNITS.len() {
        amount /= 1_000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && amount < 100.0);
    format!("{amount:.digits$} {}", UNITS[unit])
}

/// Replaces the user's home by `~`.
pub(super) fn short_path(path: &str) -> String {
    let Some(home) = std::env::home_dir() else { return path.to_owned() };
    match Path::new(path).strip_prefix(&home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_listed_with_their_versions_sessions_and_skipped_records() {
        let known = |agent: &str, sessions| AgentHealth {
            agent: agent.to_owned(),
            sessions,
            ..AgentHealth::default()
        };
        let skipped = [("mode", 50), ("progress", 1_200), ("tag", 1), ("last-prompt", 2)];
        let claude = AgentHealth {
            version: Some("2.1.34".to_owned()),
            skipped: skipped.map(|(kind, count)| (kind.to_owned(), count)).into(),
            ..known("claude", 1_200)
        };
        let mut answer = HealthAnswer {
            agents: vec![claude, known("codex", 0), known("gemini", 0), known("mine", 1)],
            ..HealthAnswer::default()
        };
        let shown = agents(&answer, &["claude", "codex", "pi"]);
        let expected = [
            "1,200 claude 2.1.34; skipped 1,200 progress, 50 mode, 2 more types",
            "1 mine",
            "codex without sessions, pi is not followed",
        ];
        assert_eq!(shown, expected);
        answer.agents.clear();
        assert_eq!(agents(&answer, &["claude"]), [""; 0]);
    }

    #[test]
    fn nothing_counts_as_imported_while_new_text_is_refused() {
        let screen = Screen::new(cli::Color::Never);
        let mut answer = HealthAnswer::default();
        answer.history.scanned = true;
        answer.sessions.empty = 31;
        assert_eq!(history(&answer, &screen), "imported, 0 B read since the start");
        assert_eq!(sessions(&answer), "0; 31 without messages");
        answer.history.unread = 16;
        assert_eq!(history(&answer, &screen), "reading 16 transcripts, 0 B read since the start");
        answer.history.refused = Some("the disk is full".to_owned());
        assert_eq!(history(&answer, &screen), "not imported completely: the disk is full");
        assert_eq!(sessions(&answer), "0; 31 without stored messages");
    }

    #[test]
    fn numbers_and_sizes_are_readable() {
        let numbers: Vec<String> = [0, 7, 999, 1_000, 1_234_567].map(number).into();
        assert_eq!(numbers, ["0", "7", "999", "1,000", "1,234,567"]);
        let sizes: Vec<String> = [0, 999, 1_500, 25_300_000, 123_456_789].map(bytes).into();
        assert_eq!(sizes, ["0 B", "999 B", "1.5 kB", "25.3 MB", "123 MB"]);
    }
}
