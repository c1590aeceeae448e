//! The settings for parsing transcripts.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    activity::classify::{self, ClassificationCache, Classified},
    capture::{filter::Filter, format::Formats},
    engine::redaction,
    model::transcript::{Call, Item, SessionContext, TaskEnded},
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
    pub(in crate::engine) fn classify(&self, call: &Call<'_>) -> Classified {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        classify::classify(call, &mut learned)
    }
}

/// Maximum number of bytes of a tool's output that are read.
pub(in crate::engine) const OUTPUT: usize = 64 << 10;

/// Redacts every text in `item`, except the output of a result. Adds its secrets to `known`.
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
                clean(text);
            }
        }
        Item::Call(call) => {
            // Names of tools are compared, so different names must stay different.
            if let Cow::Owned(clean) = redaction::id(&call.tool) {
                call.tool = Cow::Owned(clean);
            }
            redactor.redact_value_of_session(&mut call.input, known);
            call.action.for_each_text(&mut |text| {
                if let Cow::Owned(redacted) = redactor.redact_of_session(text, known).text {
                    *text = redacted;
                }
            });
        }
        Item::TaskKey { call: _, key } => clean(key),
        Item::Result(_)
        | Item::Boundary
        | Item::Interrupted
        | Item::SessionEnded
        | Item::Usage { .. } => {}
    }
}
