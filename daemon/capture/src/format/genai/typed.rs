//! Separates the user's text from the texts that the program adds to a user message: contexts, the
//! content of referenced files, reminders, and reports of shell commands.

use std::borrow::Cow;

use crate::{
    format::{RecordVerdict, emitter::Emitter},
    model::transcript::{Item, RecapKind},
};

/// The start of the texts that the program adds for files that the user referenced with `@`.
const FILES: &str = "--- Content from referenced files ---";
/// The answer that the program puts after the summary of a compacted history.
pub(crate) const ACKNOWLEDGEMENT: &str = "Got it. Thanks for the additional context!";

/// Tags around a text that the program added.
const TAGS: &[&str] =
    &["session_context", "hook_context", "loaded_context", "system-reminder", "task-notification"];

/// The starts of texts that the program wrote.
const ADDED: &[&str] = &[
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "This is the Qwen Code. We are setting up the context for our chat.",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
    "System: Please continue.",
    "System: Potential loop detected.",
];

/// The author of a text in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextSource {
    User,
    ParentAgent,
}

/// Joins the texts of a message up to the content of referenced files.
pub(crate) fn join<'t>(texts: impl Iterator<Item = Cow<'t, str>>) -> String {
    let mut joined = String::new();
    for text in texts {
        if text.trim_start().starts_with(FILES) {
            break;
        }
        if !joined.is_empty() {
            joined.push('\n');
        }
        joined.push_str(&text);
    }
    if let Some(at) = joined.find(&format!("\n{FILES}")) {
        joined.truncate(at);
    }
    joined
}

/// Emits a text of a user message.
pub(crate) fn emit(text: &str, speaker: TextSource, out: &mut Emitter<'_>) -> RecordVerdict {
    let text = without_added_tags(text);
    let text = text.trim();
    if text.is_empty() || ADDED.iter().any(|start| text.starts_with(start)) {
        return skipped("user/added");
    }
    if text.starts_with("<state_snapshot>") {
        out.item(Item::Recap { kind: RecapKind::Compaction, text: Cow::Borrowed(text) });
        return RecordVerdict::Read;
    }
    if speaker == TextSource::ParentAgent {
        out.item(Item::Instruction(Cow::Borrowed(text)));
        return RecordVerdict::Read;
    }
    if let Some(report) = ShellReport::parse(text) {
        report.emit(out);
        return RecordVerdict::Read;
    }
    if text.starts_with('!') {
        // Not emitted, because the report of the command follows.
        return skipped("user/shell command");
    }
    if let Some((name, args)) = command(text) {
        return emit_command(name, args, out);
    }
    out.item(Item::Prompt(Cow::Borrowed(text)));
    RecordVerdict::Read
}

/// Emits a command such as `/plan`, unless it is one of [`LOCAL_COMMANDS`].
pub(crate) fn emit_command(name: &str, args: &str, out: &mut Emitter<'_>) -> RecordVerdict {
    if LOCAL_COMMANDS.contains(&name.trim_start_matches('/')) {
        return skipped("user/local command");
    }
    out.item(Item::Command { name: Cow::Borrowed(name), args: Cow::Borrowed(args) });
    RecordVerdict::Read
}

/// Returns the name and the arguments of a text such as `/plan the work`. A path such as `/home/me`
/// is not a command.
pub(crate) fn command(text: &str) -> Option<(&str, &str)> {
    let (name, args) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let word = name.strip_prefix('/')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    (!word.is_empty() && word.chars().all(is_name)).then_some((name, args.trim()))
}

pub(crate) fn skipped(kind: &str) -> RecordVerdict {
    RecordVerdict::Skipped(kind.to_owned())
}

/// Removes each element with a tag of [`TAGS`] that starts a line.
fn without_added_tags(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut is_line_start = true;
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tagged) = rest.split_at(at);
        is_line_start = match before.rsplit_once('\n') {
            Some((_, line)) => line.trim().is_empty(),
            None => is_line_start && before.trim().is_empty(),
        };
        kept.push_str(before);
        rest = match added_tag(tagged).filter(|_| is_line_start) {
            Some(after_close) => after_close,
            None => {
                kept.push('<');
                is_line_start = false;
                &tagged[1..]
            }
        };
    }
    if kept.len() + rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// If `text` starts with an element with a tag of [`TAGS`], returns the text after the element.
fn added_tag(text: &str) -> Option<&str> {
    TAGS.iter().find_map(|tag| {
        let inside = text.strip_prefix('<')?.strip_prefix(tag)?.strip_prefix('>')?;
        let close = format!("</{tag}>");
        Some(inside.split_once(&close).map_or("", |(_, after_close)| after_close))
    })
}

/// The report about a shell command that the user ran with `!`.
struct ShellReport<'t> {
    command: Cow<'t, str>,
    output: &'t str,
}

impl ShellReport<'_> {
    fn parse(text: &str) -> Option<ShellReport<'_>> {
        let rest = text.strip_prefix("I ran the following shell command:\n```sh\n")?;
        let (command, rest) = rest.split_once("\n```\n\nThis produced the following result:\n")?;
        let output = rest.strip_prefix("```\n").unwrap_or(rest);
        let output = output.strip_suffix("```").unwrap_or(output).trim_end();
        let command = match command.contains("\\`") {
            true => Cow::Owned(command.replace("\\`", "`")),
            false => Cow::Borrowed(command),
        };
        Some(ShellReport { command, output })
    }

    fn emit(&self, out: &mut Emitter<'_>) {
        let (name, args) = (Cow::Borrowed("!"), Cow::Borrowed(self.command.as_ref()));
        out.item(Item::Command { name, args });
        if !self.output.is_empty() {
            out.item(Item::ShellOutput(Cow::Borrowed(self.output)));
        }
    }
}

/// Commands that concern the program rather than the work.
const LOCAL_COMMANDS: &[&str] = &[
    "about",
    "agents",
    "approval-mode",
    "auth",
    "btw",
    "bug",
    "chat",
    "clear",
    "commands",
    "compress",
    "context",
    "copy",
    "corgi",
    "dir",
    "directory",
    "docs",
    "editor",
    "exit",
    "export",
    "extensions",
    "footer",
    "help",
    "hooks",
    "ide",
    "language",
    "mcp",
    "memory",
    "model",
    "permissions",
    "policies",
    "privacy",
    "quit",
    "rename",
    "restore",
    "resume",
    "rewind",
    "settings",
    "setup-github",
    "shells",
    "shortcuts",
    "skills",
    "stats",
    "status",
    "terminal-setup",
    "theme",
    "tools",
    "trust",
    "upgrade",
    "vim",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::Entry;

    /// Formats the parsed parts of a user message.
    fn read(text: &str) -> Vec<String> {
        let mut items = Vec::new();
        let mut note = |entry: Entry<'_>| items.push(format!("{:?}", entry.item));
        let mut out = Emitter::new(&mut note);
        if let RecordVerdict::Skipped(kind) = emit(text, TextSource::User, &mut out) {
            items.push(kind);
        }
        items
    }

    #[test]
    fn a_context_that_the_program_added_is_not_a_prompt() {
        for text in [
            "<session_context>\nThis is the Gemini CLI.\n</session_context>",
            "<hook_context>Notes</hook_context>",
            "  <system-reminder>never ends",
        ] {
            assert_eq!(read(text), ["user/added"], "{text}");
        }
        assert_eq!(read("System: Please continue."), ["user/added"]);
        let wanted = [r#"Prompt("Fix it")"#];
        assert_eq!(read("<hook_context>Notes</hook_context>\n\nFix it"), wanted);
        assert_eq!(read("Fix it\n\n<hook_context>Notes</hook_context>"), wanted);
    }

    #[test]
    fn a_tag_in_the_users_text_is_kept() {
        for text in ["What does <hook_context> mean?", "Is a < b\nor <b>?", "<unknown>x</unknown>"]
        {
            assert_eq!(read(text), [format!("Prompt({text:?})")]);
        }
    }

    #[test]
    fn a_shell_command_of_the_user_is_read_with_its_output() {
        let report = "I ran the following shell command:\n```sh\necho \\`date\\`\n```\n\n\
            This produced the following result:\n```\nMonday\n```";
        let wanted = [r#"Command { name: "!", args: "echo `date`" }"#, r#"ShellOutput("Monday")"#];
        assert_eq!(read(report), wanted);
        assert_eq!(read("!echo `date`"), ["user/shell command"]);
    }

    #[test]
    fn a_command_of_the_program_is_not_a_prompt_and_a_path_is_not_a_command() {
        assert_eq!(read("/init now"), [r#"Command { name: "/init", args: "now" }"#]);
        assert_eq!(read("/quit"), ["user/local command"]);
        assert_eq!(read("/etc/hosts is empty"), [r#"Prompt("/etc/hosts is empty")"#]);
    }

    #[test]
    fn the_content_of_referenced_files_is_left_out() {
        let parts = ["Explain @a.py", "\n--- Content from referenced files ---", "def a(): pass"];
        assert_eq!(join(parts.into_iter().map(Cow::Borrowed)), "Explain @a.py");
        let whole = "Explain @a.py\n--- Content from referenced files ---\ndef a(): pass";
        assert_eq!(join([Cow::Borrowed(whole)].into_iter()), "Explain @a.py");
    }
}
