//! `graphiti show`.

use graphiti_proto::tools::get_session::{
    FileRow, GetSessionAnswer, GetSessionArguments, MessageRow, NAME,
};

use super::list::standing;
use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, ago, block, instant, line, now},
};

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
    };
    let answer: GetSessionAnswer = Connection::open()?.call(NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    print_head(&answer, screen);
    if args.messages {
        print_messages(&answer, screen);
    } else if let (true, Some(conversation)) = (args.conversation, &answer.markdown) {
        screen.print(block(conversation.trim_end()));
    } else {
        print_summary(&answer, screen);
    }
    Ok(())
}

fn print_head(answer: &GetSessionAnswer, screen: &Screen) {
    let session = &answer.session;
    let title = Some(line(&session.title)).filter(|title| !title.is_empty());
    screen.print(screen.bold(title.unwrap_or_else(|| "(no summary yet)".to_owned())));
    let when = ago(instant(&session.last_activity), now());
    let branches = session.episode.as_ref().map(|episode| episode.branches.join(", "));
    let facts = [
        ("session", format!("{} ({})", session.session_id, session.agent)),
        ("project", session.project.clone()),
        ("branch", branches.unwrap_or_default()),
        (
            "state",
            format!(
                "{}, {when}, {} messages",
                standing(session).replace('_', " "),
                session.message_count
            ),
        ),
        ("episode", session.episode.as_ref().map(|e| e.uuid.clone()).unwrap_or_default()),
        (
            "from",
            session.episode.as_ref().and_then(|e| e.imported_from.clone()).unwrap_or_default(),
        ),
        ("fork of", forked_from(answer)),
        ("problem", session.error.clone().unwrap_or_default()),
    ];
    for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        screen.print(format!("  {}  {}", screen.dim(format!("{name:<8}")), line(fact)));
    }
    for file in &answer.files {
        screen.print(format!("  {}  {}", screen.dim(format!("{:<8}", "file")), file_line(file)));
    }
    screen.print("");
}

fn forked_from(answer: &GetSessionAnswer) -> String {
    let Some(from) = &answer.forked_from else { return String::new() };
    let from = if from.is_empty() { "a forgotten session" } else { from };
    match answer.shared_records {
        1 => format!("{from}, which has its first record"),
        count => format!("{from}, which has its first {count} records"),
    }
}

fn file_line(file: &FileRow) -> String {
    let mut text = line(&file.path);
    if !file.exists {
        text.push_str(" (deleted since)");
    }
    let skipped: u64 = file.skipped.values().sum();
    text.push_str(&format!(", {} records read, {skipped} skipped", file.read));
    for (count, what) in
        [(file.repaired, "repaired"), (file.broken, "broken"), (file.restarts, "times reread")]
    {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    text
}

fn print_summary(answer: &GetSessionAnswer, screen: &Screen) {
    let Some(markdown) = &answer.markdown else {
        screen.print(screen.dim("Close the session to summarise it now: graphiti close <session>"));
        return;
    };
    // The title stands above already.
    let summary = block(markdown);
    let summary = match summary.split_once('\n') {
        Some((first, rest)) if first.starts_with("# ") => rest.trim_start(),
        _ => &summary,
    };
    screen.print_markdown(summary);
}

fn print_messages(answer: &GetSessionAnswer, screen: &Screen) {
    for message in &answer.messages {
        screen.print(heading(message, screen));
        screen.print(indented(&block(&message.text)));
    }
    match answer.next {
        Some(next) => {
            screen.print(screen.dim(format!("… more from message {next} on: --from {next}")));
        }
        None if answer.messages.is_empty() => screen.print(screen.dim("No messages here.")),
        None => {}
    }
}

fn heading(message: &MessageRow, screen: &Screen) -> String {
    let who = match (&*message.role, &message.tool) {
        ("user", _) => screen.accent("user"),
        ("tool", Some(tool)) => screen.dim(line(tool)),
        (role, _) => screen.bold(line(role)),
    };
    let at = message.at.split('.').next().unwrap_or_default().replace('T', " ");
    format!("{} {}  {}", screen.dim(format!("#{}", message.seq)), who, screen.dim(line(&at)))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
