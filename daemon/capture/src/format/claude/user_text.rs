//! Reads the texts of user records. The user or the parent agent wrote a text, or the program added
//! it, mostly in a tag.

use std::borrow::Cow;

use crate::{
    format::{RecordVerdict, between, emitter::Emitter},
    model::transcript::{Item, Outcome, TaskEnded},
};

/// The author of a text in a user record.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Speaker {
    User,
    ParentAgent,
    Program,
}

pub(super) fn emit_user_text(text: &str, speaker: Speaker, out: &mut Emitter<'_>) -> RecordVerdict {
    if text.starts_with("[Request interrupted by user") {
        out.user_item(Item::Interrupted);
        return RecordVerdict::Read;
    }
    if let Some(ended) = task_ended(text) {
        out.item(Item::TaskEnded(ended));
        return RecordVerdict::Read;
    }
    if speaker == Speaker::Program {
        return RecordVerdict::Skipped("user/meta".to_owned());
    }
    let text = without_tagged(text, "system-reminder");
    let text = text.trim();
    if let Some(tag) = PROGRAM_TAGS.iter().find(|tag| opens_with_tag(text, tag)) {
        return tagged(text, tag, out);
    }
    if text.is_empty() {
        return RecordVerdict::Skipped("user/empty".to_owned());
    }
    out.item(match speaker {
        Speaker::ParentAgent => Item::Instruction(Cow::Borrowed(text)),
        _ => Item::Prompt(Cow::Borrowed(text)),
    });
    RecordVerdict::Read
}

/// Parses the notice that a background task has ended.
fn task_ended(text: &str) -> Option<TaskEnded<'_>> {
    let notice = text.trim_start().strip_prefix("<task-notification>")?;
    let outcome = match between(notice, "<status>", "</status>") {
        Some("completed") => Outcome::Succeeded,
        Some("failed") => Outcome::Failed(None),
        _ => Outcome::Interrupted,
    };
    // A report may itself contain tags, so its end is searched for from the end of the notice.
    let report = notice.split_once("<result>").map_or("", |(_, rest)| rest);
    let report = report.rsplit_once("</result>").map_or(report, |(report, _)| report);
    Some(TaskEnded {
        task: Cow::Borrowed(between(notice, "<task-id>", "</task-id>")?),
        call: between(notice, "<tool-use-id>", "</tool-use-id>").map(Cow::Borrowed),
        outcome,
        text: Cow::Borrowed(report),
    })
}

/// Tags around texts that the program added, and around the user's commands.
const PROGRAM_TAGS: &[&str] = &[
    "command-name",
    "command-message",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "task-notification",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "teammate-message",
    "user-prompt-submit-hook",
];

/// Whether the user typed a text of the queue. The program adds notices, and commands have their
/// own records.
pub(super) fn is_typed(text: &str) -> bool {
    let text = without_tagged(text, "system-reminder");
    let text = text.trim();
    let command = text.strip_prefix('/').map(|rest| rest.split_whitespace().next().unwrap_or(""));
    let is_command = command.is_some_and(|name| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':'))
    });
    !text.is_empty()
        && !is_command
        && !text.starts_with("{\"task_id\"")
        && !PROGRAM_TAGS.iter().any(|tag| opens_with_tag(text, tag))
}

fn opens_with_tag(text: &str, tag: &str) -> bool {
    text.strip_prefix('<')
        .and_then(|rest| rest.strip_prefix(tag))
        .is_some_and(|rest| rest.starts_with(['>', ' ', '\n']))
}

fn tagged(text: &str, tag: &str, out: &mut Emitter<'_>) -> RecordVerdict {
    if matches!(tag, "bash-stdout" | "bash-stderr") {
        let part = |open, close| between(text, open, close).unwrap_or_default();
        let printed = part("<bash-stdout>", "</bash-stdout>");
        let errors = part("<bash-stderr>", "</bash-stderr>");
        out.item(Item::ShellOutput(Cow::Owned(format!("{printed}\n{errors}"))));
        return RecordVerdict::Read;
    }
    let command = match tag {
        "command-name" | "command-message" => between(text, "<command-name>", "</command-name>")
            .map(|name| (name, between(text, "<command-args>", "</command-args>"))),
        "bash-input" => Some(("!", between(text, "<bash-input>", "</bash-input>"))),
        _ => None,
    };
    let Some((name, args)) = command else {
        return RecordVerdict::Skipped(format!("user/{tag}"));
    };
    let (name, args) = (name.trim(), args.unwrap_or_default().trim());
    if LOCAL_COMMANDS.contains(&name.trim_start_matches('/')) {
        return RecordVerdict::Skipped("user/local command".to_owned());
    }
    out.item(Item::Command { name: Cow::Borrowed(name), args: Cow::Borrowed(args) });
    RecordVerdict::Read
}

/// Commands that concern the program rather than the work.
const LOCAL_COMMANDS: &[&str] = &[
    "add-dir",
    "agents",
    "bug",
    "clear",
    "color",
    "compact",
    "config",
    "context",
    "copy",
    "cost",
    "doctor",
    "effort",
    "exit",
    "export",
    "extra-usage",
    "fast",
    "feedback",
    "help",
    "hooks",
    "ide",
    "insights",
    "install-github-app",
    "keybindings",
    "login",
    "logout",
    "mcp",
    "memory",
    "migrate-installer",
    "model",
    "output-style",
    "passes",
    "permissions",
    "plugin",
    "privacy-settings",
    "quit",
    "release-notes",
    "reload-plugins",
    "remote-control",
    "remote-env",
    "rename",
    "resume",
    "rewind",
    "sandbox",
    "skills",
    "stats",
    "status",
    "statusline",
    "stickers",
    "tasks",
    "terminal-setup",
    "theme",
    "todos",
    "upgrade",
    "usage",
    "vim",
    "voice",
];

/// Removes each `<tag>` with its content.
fn without_tagged<'t>(text: &'t str, tag: &str) -> Cow<'t, str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    if !text.contains(&open) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&open) {
        kept.push_str(before);
        rest = after.split_once(&close).map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}
