//! Extracts the entities and facts of one episode, without a model.
//!
//! The summary provides the text. The evidence provides the positions in the transcript, the times
//! and the proofs. A claim without proof is a hypothesis. Each kind of claim has its own module
//! here.

mod condensed;
mod context;
mod decision_options;
mod decision_sentence;
mod decisions;
mod draft;
mod ending;
mod errors;
mod files;
mod findings;
mod last_tests;
mod locate;
mod model_words;
mod moments;
mod named;
mod names;
mod overtaken;
mod phrases;
mod phrasing;
mod preferences;
mod progress;
mod questions;
mod reference;
mod requests;
mod reversal;
mod settings;
mod surroundings;
mod symptoms;
mod task;
mod test_runs;
mod user_words;
mod worth;

use self::draft::Draft;
pub(super) use self::names::file_key;
use crate::model::{Episode, Evidence, graph::Statements};

/// Returns the statements of `episode`, which was made from `evidence`.
pub fn read(episode: &Episode, evidence: &Evidence) -> Statements {
    let mut draft = Draft::new(episode, evidence);
    // External content, such as an added memory, is one text. Its summary has no statements except
    // wishes.
    if episode.text().is_some() {
        preferences::read(&mut draft);
        return draft.finish();
    }
    files::read(&mut draft);
    settings::read(&mut draft);
    test_runs::read(&mut draft);
    errors::read(&mut draft);
    decisions::read(&mut draft);
    findings::read(&mut draft);
    preferences::read(&mut draft);
    progress::read(&mut draft);
    named::read(&mut draft);
    model_words::read(&mut draft);
    task::read(&mut draft);
    draft.finish()
}

#[cfg(test)]
mod ends;
#[cfg(test)]
mod finding_scenarios;
#[cfg(test)]
mod scenarios;
