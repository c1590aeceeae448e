//! `graphiti show`: prints a session, with its summary or its messages.

use graphiti_proto::tools::get_session::{
    FileRow, GetSessionAnswer, GetSessionArguments, MessageRow, NAME,
};

use super::list::outcome_or_state;
use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, ago, block, instant, line, local, now},
};

/// Maximum number of lines of a session with [`Extent::OnePage`].
const LINES: usize = 60;

/// How much of a session is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The part of the summary that fits on one screen page.
    OnePage,
    /// The whole summary.
    Complete,
    /// The whole summary, the ids, the state, the branches and the transcript files.
    Verbose,
}

pub(super) fn run(args: cli::Show, screen: &Screen) -> Result<(), AskError> {
    let arguments = GetSessionArguments {
        session_id: args.session,
        view: match (args.messages, args.conversation) {
            (true, _) => "messages",
            (false, true) => "conversation",
            (false, false) => "summary",
        }
        .to_owned(),
        source: args.source,
        from: args.from,
        at: 0,
        limit: args.limit,
        ..GetSessionArguments::default()
    };
    let answer: GetSessionAnswer = Connection::open()?.call(NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    let extent = if args.verbose { Extent::Verbose } else { Extent::OnePage };
    if args.messages || (args.conversation && answer.markdown.is_some()) {
        SessionView { answer: &answer, screen, extent }.print_head();
        match &answer.markdown {
            Some(conversation) if !args.messages => screen.print(block(conversation.trim_end())),
            _ => print_messages(&answer, screen),
        }
    } else {
        print(&answer, screen, extent, || {});
    }
    Ok(())
}

/// Prints the title and the details of a session, calls `after_head`, and prints the summary.
pub(super) fn print(
    answer: &GetSessionAnswer,
    screen: &Screen,
    extent: Extent,
    after_head: impl FnOnce(),
) {
    let shown = SessionView { answer, screen, extent };
    let head = shown.print_head();
    after_head();
    shown.print_summary(LINES.saturating_sub(head + 2));
}

/// A session with the data to print it.
struct SessionView<'s> {
    answer: &'s GetSessionAnswer,
    screen: &'s Screen,
    extent: Extent,
}

impl SessionView<'_> {
    /// Prints the title, the details and the [`rows`](SessionView::rows) of the session. Returns
    /// the number of lines.
    fn print_head(&self) -> usize {
        let (answer, screen) = (self.answer, self.screen);
        let rows = self.rows();
        if screen.is_terminal() {
            screen.print(screen.bold(title(answer)));
            screen.print(screen.dim(facts(answer)));
        } else {
            screen.print(format!("# {}\n\n{}", title(answer), facts(answer)));
        }
        for (name, fact) in &rows {
            screen.print(match screen.is_terminal() {
                true => format!("  {}  {}", screen.dim(format!("{name:<8}")), line(fact)),
                false => format!("- {name}: {}", line(fact)),
            });
        }
        screen.print("");
        rows.len() + if screen.is_terminal() { 3 } else { 4 }
    }

    /// Returns the rows below the title: the original of a fork, the machine of an imported
    /// session, and the session's error. `--verbose` adds ids, the state, branches and transcript
    /// files.
    fn rows(&self) -> Vec<(&'static str, String)> {
        let answer = self.answer;
        let (session, episode) = (&answer.session, answer.session.episode.as_ref());
        let mut rows = vec![
            ("fork of", forked_from(answer)),
            ("part", sub_agent(answer)),
            ("from", episode.and_then(|one| one.imported_from.clone()).unwrap_or_default()),
            ("problem", session.error.clone().unwrap_or_default()),
        ];
        if self.extent == Extent::Verbose {
            rows.push(("session", format!("{} ({})", session.session_id, session.agent)));
            let is_indexed = session.state == "indexed" && episode.is_some();
            let name = if is_indexed { "outcome" } else { "state" };
            rows.push((name, outcome_or_state(session).replace('_', " ")));
            rows.push(("branch", branches(answer)));
            rows.push(("episode", episode.map(|one| one.uuid.clone()).unwrap_or_default()));
            rows.extend(answer.files.iter().map(|file| ("file", file_line(file))));
        }
        rows.retain(|(_, fact)| !fact.is_empty());
        rows
    }

    fn print_summary(&self, lines: usize) {
        let (answer, screen) = (self.answer, self.screen);
        let Some(markdown) = &answer.markdown else {
            screen.print(screen.dim(missing_summary_hint(answer)));
            return;
        };
        // The title was printed above.
        let summary = block(markdown);
        let summary = match summary.split_once('\n') {
            Some((first, rest)) if first.starts_with("# ") => rest.trim_start(),
            _ => &summary,
        };
        if self.extent != Extent::OnePage {
            screen.print_markdown(summary);
        } else if !screen.print_page(summary, lines) {
            let session = line(&answer.session.session_id);
            let more = format!("The whole summary: graphiti show {session} --verbose");
            screen.print(format!("\n{}", screen.dim(more)));
        }
    }
}

fn title(answer: &GetSessionAnswer) -> String {
    let title = line(&answer.session.title);
    match (title.is_empty(), is_copy(answer)) {
        (false, _) => title,
        (true, true) => "(a copy of another session)".to_owned(),
        (true, false) => "(no summary yet)".to_owned(),
    }
}

/// Formats the id, the agent, the project, the branch, the state, the time and the number of
/// messages.
fn facts(answer: &GetSessionAnswer) -> String {
    let session = &answer.session;
    // The outcome is omitted, and also the branch if the summary has a section about the
    // repository: the summary shows them.
    let has_repository =
        answer.summary.as_ref().is_some_and(|summary| summary["repository"].is_string());
    let branch = if has_repository { String::new() } else { branches(answer) };
    let is_over = session.state == "indexed";
    let state = if is_over { String::new() } else { session.state.clone() };
    let when = ago(instant(&session.last_activity), now());
    let messages = match session.message_count {
        1 => "1 message".to_owned(),
        count => format!("{count} messages"),
    };
    let id = session.shown_id().to_owned();
    let facts = [id, session.agent.clone(), session.project.clone(), branch, state, when, messages];
    let facts: Vec<String> = facts.iter().map(|fact| line(fact)).collect();
    facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn branches(answer: &GetSessionAnswer) -> String {
    answer.session.episode.as_ref().map(|one| one.branches.join(", ")).unwrap_or_default()
}

/// Whether all messages of the session belong to another session.
fn is_copy(answer: &GetSessionAnswer) -> bool {
    answer.forked_from.is_some() && answer.session.message_count == 0
}

/// Explains why a session has no summary, and what to do.
fn missing_summary_hint(answer: &GetSessionAnswer) -> String {
    let session = &answer.session;
    match &answer.forked_from {
        Some(of) if is_copy(answer) && of.is_empty() => {
            "This fork has no messages of its own, and its original was forgotten.".to_owned()
        }
        Some(of) if is_copy(answer) => format!(
            "This fork has no messages of its own. The original has a summary of its messages: \
             graphiti show {}",
            line(of)
        ),
        _ if session.message_count == 0 => "This session has no messages.".to_owned(),
        _ => {
            let id = line(&session.session_id);
            format!("Close the session to summarize it now: graphiti close {id}")
        }
    }
}

/// Says that the user named a sub-agent, whose session or messages are shown.
fn sub_agent(answer: &GetSessionAnswer) -> String {
    let Some(sub_agent) = &answer.sub_agent else { return String::new() };
    let shown = if answer.view == "messages" { "its messages" } else { "its session" };
    format!("sub-agent {sub_agent}: this is {shown}")
}

fn forked_from(answer: &GetSessionAnswer) -> String {
    let Some(from) = &answer.forked_from else { return String::new() };
    let from = if from.is_empty() { "a forgotten session" } else { from };
    match answer.shared_records {
        1 => format!("{from} (the first record is the same)"),
        count => format!("{from} (the first {count} records are the same)"),
    }
}

fn file_line(file: &FileRow) -> String {
    let mut text = line(&file.path);
    if !file.exists {
        text.push_str(" (deleted since)");
    }
    let skipped: u64 = file.skipped.values().sum();
    text.push_str(&format!(", {} records read, {skipped} skipped", file.read));
    for (count, what) in [(file.repaired, "repaired"), (file.broken, "broken")] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    if file.restarts > 0 {
        text.push_str(&format!(
            ", truncated or replaced {} times (messages read before are kept if it became shorter)",
            file.restarts
        ));
    }
    text
}

/// Says why there are no messages.
fn without_messages(answer: &GetSessionAnswer) -> String {
    if answer.session.message_count == 0 {
        return "No messages in this range.".to_owned();
    }
    let transcript = match answer.files.iter().find(|file| file.exists) {
        Some(file) => format!(" The transcript still exists: {}", line(&file.path)),
        None => String::new(),
    };
    format!(
        "No messages are stored: the session was imported (exports have no messages), their text was \
         removed because the database reached its limit (`graphiti status`), or `filter` stores none. \
         The summary is kept.{transcript}"
    )
}

fn print_messages(answer: &GetSessionAnswer, screen: &Screen) {
    for message in &answer.messages {
        screen.print(heading(message, screen));
        screen.print(indented(&block(&message.text)));
    }
    match answer.next {
        Some(next) => {
            screen.print(screen.dim(format!("… for more messages: --from {next}")));
        }
        None if answer.messages.is_empty() => {
            screen.print(screen.dim(without_messages(answer)));
        }
        None => {}
    }
}

fn heading(message: &MessageRow, screen: &Screen) -> String {
    let who = match (&*message.role, &message.tool) {
        ("user", _) => screen.accent("user"),
        ("tool", Some(tool)) => screen.dim(line(tool)),
        (role, _) => screen.bold(line(role)),
    };
    let at = local(&message.at, "%Y-%m-%d %H:%M:%S");
    format!("{} {}  {}", screen.dim(format!("#{}", message.seq)), who, screen.dim(line(&at)))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_in_a_hint_has_no_control_characters() {
        let mut answer = GetSessionAnswer::default();
        answer.session.session_id = "a\u{1b}]0;owned\u{7}".to_owned();
        answer.session.message_count = 1;
        let hint = missing_summary_hint(&answer);
        assert!(hint.contains("graphiti close a") && !hint.contains(char::is_control), "{hint:?}");
        answer.session.message_count = 0;
        answer.forked_from = Some("b\u{9b}31m".to_owned());
        let hint = missing_summary_hint(&answer);
        assert!(hint.contains("graphiti show b") && !hint.contains(char::is_control), "{hint:?}");
    }
}
