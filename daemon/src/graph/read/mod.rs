//! What one episode says of things and facts, without a model.
//!
//! The summary says it in words, the evidence says where in the transcript, when, and what shows
//! it. What a session only supposed is said as a supposition. Each part of a summary has a file
//! here.

mod decisions;
mod draft;
mod errors;
mod files;
mod findings;
mod locate;
mod model_words;
mod moments;
mod named;
mod names;
mod settings;
mod task;
mod test_runs;

use self::draft::Draft;
use crate::model::{Episode, Evidence, graph::Statements};

/// What `episode`, made from `evidence`, says.
pub fn read(episode: &Episode, evidence: &Evidence) -> Statements {
    let mut draft = Draft::new(episode, evidence);
    files::read(&mut draft);
    settings::read(&mut draft);
    test_runs::read(&mut draft);
    errors::read(&mut draft);
    decisions::read(&mut draft);
    findings::read(&mut draft);
    named::read(&mut draft);
    model_words::read(&mut draft);
    task::read(&mut draft);
    draft.finish()
}

#[cfg(test)]
mod scenarios;
