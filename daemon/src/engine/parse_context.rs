//! The settings for parsing transcripts.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    activity::classify::{self, ClassificationCache, Classified},
    capture::{filter::Filter, format::Formats},
    engine::redaction,
    model::transcript::{Action, Call, ChangeKind, Item, SessionContext, TaskEnded},
    redact::{KnownSecrets, Redactor},
    summarize,
};

pub struct ParseContext {
    /// The filter that selects the stored part of each message.
    pub filter: Filter,
    pub redactor: Redactor,
    /// Learned classifications of tools.
    pub learned: Arc<Mutex<ClassificationCache>>,
    pub formats: Formats,
    /// The settings for summaries.
    pub summarize: summarize::config::Config,
    /// Whether sessions get episodes.
    pub makes_episodes: bool,
}

impl ParseContext {
    /// Returns the default settings.
    #[cfg(test)]
    pub(in crate::engine) fn of_defaults() -> ParseContext {
        ParseContext {
            filter: Filter::default(),
            redactor: Redactor::new(),
            learned: Arc::default(),
            formats: Formats::default(),
            summarize: summarize::config::Config::default(),
            makes_episodes: true,
        }
    }

    pub(in crate::engine) fn classify(&self, call: &Call<'_>) -> Classified {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        classify::classify(call, &mut learned)
    }
}

/// Maximum number of bytes of a tool's output that are read.
pub(in crate::engine) const OUTPUT: usize = 64 << 10;

/// Redacts every text in `item`, except ids and the output of a result. Adds the secrets of `item`
/// to `known`. A secret that is recognised only because it is in `known` stays in the folder and
/// branch of the session and in the paths of actions, because these identify projects and files.
pub(in crate::engine) fn redact(
    item: &mut Item<'_>,
    redactor: &Redactor,
    known: &mut KnownSecrets,
) {
    let mut clean = |text: &mut Cow<'_, str>| {
        if let Cow::Owned(redacted) = redactor.redact_of_session(text, known).text {
            *text = Cow::Owned(redacted);
        }
    };
    match item {
        Item::Prompt(text)
        | Item::Instruction(text)
        | Item::Reply { text, .. }
        | Item::Recap { text, .. }
        | Item::Title { text, .. }
        | Item::PullRequest { url: text, .. }
        | Item::ShellOutput(text)
        | Item::TaskEnded(TaskEnded { text, .. })
        | Item::ServiceError(text) => clean(text),
        Item::Command { name, args } => {
            clean(name);
            clean(args);
        }
        Item::Answer { question, answer, .. } => {
            clean(question);
            clean(answer);
        }
        Item::Context(context) => {
            let SessionContext { cwd, branch, version, model } = context;
            for text in [cwd, branch, version, model].into_iter().flatten() {
                if let Cow::Owned(redacted) = redactor.redact(text).text {
                    *text = Cow::Owned(redacted);
                }
            }
        }
        Item::Call(call) => redact_call(call, redactor, known),
        Item::TaskKey { call: _, key } => clean(key),
        Item::Result(_)
        | Item::Boundary
        | Item::Interrupted
        | Item::SessionEnded
        | Item::Usage { .. } => {}
    }
}

fn redact_call(call: &mut Call<'_>, redactor: &Redactor, known: &mut KnownSecrets) {
    // Names of tools are compared, so different names must stay different.
    if let Cow::Owned(clean) = redaction::id(&call.tool) {
        call.tool = Cow::Owned(clean);
    }
    redactor.redact_value_of_session(&mut call.input, known);
    let clean_path = |path: &mut String| redactor.redact(path).text.into_owned();
    let clean_paths: Vec<String> = paths(&mut call.action).map(clean_path).collect();
    call.action.for_each_text(&mut |text| {
        if let Cow::Owned(redacted) = redactor.redact_of_session(text, known).text {
            *text = redacted;
        }
    });
    for (path, clean) in paths(&mut call.action).zip(clean_paths) {
        *path = clean;
    }
}

/// Returns the paths of the files and folders that an action reads, searches or changes.
fn paths(action: &mut Action) -> impl Iterator<Item = &mut String> {
    let (path, changes) = match action {
        Action::Read { path } => (Some(path), None),
        Action::Search { path, .. } => (path.as_mut(), None),
        Action::Change(changes) => (None, Some(changes)),
        _ => (None, None),
    };
    let changed = changes.into_iter().flatten().flat_map(|change| {
        let moved_to = match &mut change.kind {
            ChangeKind::Moved { to } => Some(to),
            _ => None,
        };
        std::iter::once(&mut change.path).chain(moved_to)
    });
    path.into_iter().chain(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::FileChange;

    #[test]
    fn a_remembered_secret_stays_in_folders_branches_and_paths() {
        let redactor = Redactor::new();
        let mut known = redaction::known::empty();
        let mut prompt = Item::Prompt(Cow::Borrowed("password: Sh0p-x2024"));
        redact(&mut prompt, &redactor, &mut known);
        assert!(!known.is_empty());
        let mut context = Item::Context(SessionContext {
            cwd: Some(Cow::Borrowed("/home/u/Sh0p-x2024")),
            branch: Some(Cow::Borrowed("fix/Sh0p-x2024")),
            ..SessionContext::default()
        });
        redact(&mut context, &redactor, &mut known);
        let Item::Context(context) = context else { panic!("no context") };
        assert_eq!(context.cwd.as_deref(), Some("/home/u/Sh0p-x2024"));
        assert_eq!(context.branch.as_deref(), Some("fix/Sh0p-x2024"));
        let path = || "/home/u/Sh0p-x2024/a.rs".to_owned();
        let moved = FileChange {
            path: path(),
            kind: ChangeKind::Moved { to: path() },
            ..FileChange::default()
        };
        for action in [
            Action::Read { path: path() },
            Action::Search { pattern: "a".to_owned(), path: Some(path()) },
            Action::Change(vec![moved]),
        ] {
            let call = Call {
                id: Cow::Borrowed("c"),
                message: None,
                tool: Cow::Borrowed("Read"),
                input: serde_json::Value::Null,
                action: action.clone(),
            };
            let mut item = Item::Call(call);
            redact(&mut item, &redactor, &mut known);
            let Item::Call(call) = item else { panic!("no call") };
            assert_eq!(call.action, action);
        }
    }
}
