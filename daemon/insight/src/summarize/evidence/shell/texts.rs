//! Finds the texts that a command line passes to a program: messages, descriptions, comments.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    model::evidence::PublicationKind,
    summarize::evidence::{
        bounds,
        shell::{
            kind::Invocation,
            words::{Operator, SimpleCommand},
        },
    },
    text::{kept, one_line, pattern},
};

/// A command with the other commands of its line. The text that a command publishes may be in a
/// file that an earlier command of the line writes.
pub(super) struct CommandInLine<'s> {
    pub(super) commands: &'s [SimpleCommand],
    pub(super) index: usize,
}

impl CommandInLine<'_> {
    /// Returns the text of a file that an earlier command of the line writes. The path `-` is the
    /// standard input of the command.
    pub(super) fn file(&self, path: &str) -> Option<String> {
        let (before, from) = self.commands.split_at(self.index);
        let text = if path == "-" {
            let own = from.first().map(|command| command.document.as_str());
            let fed = before.last().filter(|command| command.joint == Operator::Pipe);
            own.filter(|text| !text.is_empty()).or(fed.map(|command| command.document.as_str()))
        } else {
            let writes =
                |command: &&SimpleCommand| command.writes.iter().any(|word| word.text == path);
            before.iter().rev().find(writes).map(|command| command.document.as_str())
        };
        text.filter(|text| !text.trim().is_empty()).map(|text| text.trim_end().to_owned())
    }

    /// Whether the output of the command line may lack the end of the command's output: if the
    /// output is written to a file, if another program than `tail`, `tee` or `cat` reads the
    /// output, or if a subshell around the command ends later in the line.
    pub(super) fn hides_output(&self) -> bool {
        let Some((own, after)) = self.commands[self.index..].split_first() else { return false };
        let ends_subshell = |command: &SimpleCommand| command.subshells.ended > 0;
        let passes_end = |next: &SimpleCommand| {
            next.texts().next().is_some_and(|program| matches!(program, "tail" | "tee" | "cat"))
        };
        !own.writes.is_empty()
            || after.iter().any(ends_subshell)
            || own.joint == Operator::Pipe && !after.first().is_some_and(passes_end)
    }

    /// Returns the text that a call of a forge's program publishes.
    pub(super) fn published(
        &self,
        kind: PublicationKind,
        invocation: &Invocation<'_>,
    ) -> Option<Published> {
        const FILES: &[&str] = &["--body-file", "-F", "--notes-file", "--description-file"];
        // The programs use the same letter for different options: `-d` is `--draft` for `gh`.
        let bodies: &[&str] = match (invocation.program, kind) {
            ("gh", _) => &["--body", "-b", "--notes", "-n"],
            ("glab", PublicationKind::Comment) => &["--message", "-m"],
            ("glab", _) => &["--description", "-d", "--notes", "-N"],
            _ => &["--message", "-m"],
        };
        let words = &invocation.arguments;
        let title = values(words, &["--title", "-t"]).into_iter().find_map(literal);
        let given = values(words, bodies).into_iter().find_map(literal);
        let read = || values(words, FILES).into_iter().find_map(|path| self.file(path));
        Published::of(kind, title.as_deref(), &given.or_else(read)?)
    }

    /// Returns the text in a request to a forge's API.
    pub(super) fn sent_to_api(&self, words: &[&str]) -> Option<Published> {
        let fields = values(words, &["-f", "-F", "--field", "--raw-field"]);
        let field = |name: &str| {
            let value = fields.iter().find_map(|field| field.strip_prefix(name));
            value.and_then(|value| match value.strip_prefix('@') {
                Some(path) => self.file(path),
                None => literal(value),
            })
        };
        let (mut title, mut body) = (field("title="), field("body="));
        if body.is_none() {
            let input = values(words, &["--input"]).into_iter().find_map(|path| self.file(path));
            let input: Value = serde_json::from_str(&input?).ok()?;
            let text = |key: &str| input[key].as_str().map(str::to_owned);
            (title, body) = (text("title"), text("body"));
        }
        let ends = |end: &str| words.iter().any(|word| word.trim_matches('/').ends_with(end));
        let kind = if ends("/pulls") {
            PublicationKind::PullRequest
        } else if ends("/issues") {
            PublicationKind::Issue
        } else if words.iter().any(|word| word.contains("/releases")) {
            PublicationKind::Release
        } else {
            PublicationKind::Comment
        };
        Published::of(kind, title.as_deref(), &body?)
    }
}

/// A text that a command publishes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::summarize::evidence) struct Published {
    pub(in crate::summarize::evidence) kind: PublicationKind,
    pub(in crate::summarize::evidence) title: Option<String>,
    pub(in crate::summarize::evidence) body: String,
}

impl Published {
    fn of(kind: PublicationKind, title: Option<&str>, body: &str) -> Option<Published> {
        let body = without_trailers(body);
        (!body.is_empty()).then(|| Published {
            kind,
            title: title.map(|title| kept(&one_line(title), bounds::SUBJECT)),
            body: kept(&body, bounds::PUBLICATION),
        })
    }
}

/// Returns the text of a word, or of the here-document in `$(cat <<EOF …)`. Variables are not
/// expanded. `None` for other substitutions and for an empty word.
pub(super) fn literal(word: &str) -> Option<String> {
    if let Some(document) = word.trim_start().strip_prefix("$(cat <<") {
        let (first, text) = document.split_once('\n')?;
        let end = first.trim_start_matches('-').trim().trim_matches(['\'', '"', '\\']);
        let is_text = |line: &&str| line.trim().trim_end_matches(')') != end;
        let lines: Vec<&str> = text.lines().take_while(is_text).collect();
        return Some(lines.join("\n"));
    }
    if word.starts_with("$(") || word.is_empty() {
        return None;
    }
    // PowerShell quotes a text of several lines as `@'…'@`.
    let word = word.strip_prefix("@\n").map_or(word, |text| text.trim_end_matches('@'));
    Some(word.to_owned())
}

/// Returns `text` without trailers, such as lines about a signer or about the program that wrote
/// the text.
pub(super) fn without_trailers(text: &str) -> String {
    let is_content = |line: &&str| {
        !pattern!(
            r"(?i)^\s*(?:[a-z]+(?:-[a-z]+)*-by: |(?:change-id|[a-z]+-(?:checkpoint|metadata|session|strategy)): |\W*generated with \W*(?:claude|codex|copilot|gemini)|claude-session: )"
        )
        .is_match(line)
    };
    text.lines().filter(is_content).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Returns the values of the options in `names`: `--title X`, `--title=X`, `-t X`.
pub(super) fn values<'s>(words: &[&'s str], names: &[&str]) -> Vec<&'s str> {
    let mut found = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if names.contains(&word) {
            found.extend(words.next());
        } else if let Some((name, value)) = word.split_once('=')
            && name.starts_with("--")
            && names.contains(&name)
        {
            found.push(value);
        }
    }
    found
}
