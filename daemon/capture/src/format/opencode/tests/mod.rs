mod files;
pub(crate) mod fixture;
mod large;
mod scan;
mod versions;

use std::{io::Read, path::Path};

use super::Opencode;
use crate::{
    format::{Format, Memory, RecordVerdict},
    model::transcript::{Entry, Item},
    storage,
};

/// Returns the records of a session.
fn records(path: &Path) -> String {
    let mut text = String::new();
    storage::open(path).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// Formats the records of a session.
fn entries(path: &Path) -> Vec<String> {
    let mut memory = Memory::default();
    let mut formatted = Vec::new();
    for record in records(path).lines() {
        let mut emit = |entry: Entry<'_>| formatted.push(text_of(&entry.item));
        let verdict = Opencode.read(record, &mut memory, &mut emit).unwrap();
        if let RecordVerdict::Skipped(kind) = verdict {
            formatted.push(format!("skipped {kind}"));
        }
    }
    formatted
}

fn text_of(item: &Item<'_>) -> String {
    match item {
        Item::Prompt(text) => format!("prompt: {text}"),
        Item::Instruction(text) => format!("instruction: {text}"),
        Item::Command { name, args } => format!("command: {name} {args}"),
        Item::Reply { text, .. } => format!("reply: {text}"),
        Item::Call(call) => format!("call: {:?}", call.action),
        Item::Result(result) => {
            format!("result: {:?} {}", result.outcome, result.content.decode(200))
        }
        Item::Answer { question, answer, .. } => format!("answer: {question} {answer}"),
        Item::Title { text, .. } => format!("title: {text}"),
        Item::Recap { text, .. } => format!("recap: {text}"),
        Item::Usage { tokens, .. } => format!(
            "tokens: {} {} {} {}",
            tokens.input, tokens.output, tokens.cache_read, tokens.cache_write
        ),
        Item::Context(context) => format!(
            "context: {:?} {:?} {:?}",
            context.cwd.as_deref(),
            context.version.as_deref(),
            context.model.as_deref()
        ),
        Item::TaskEnded(ended) => {
            format!("ended: {} {:?} {}", ended.task, ended.outcome, ended.text)
        }
        other => format!("{other:?}"),
    }
}
