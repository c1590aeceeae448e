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
mod fact_selection;
mod files;
mod findings;
mod last_tests;
mod line_times;
mod locate;
mod model_relations;
mod names;
mod obsolete;
mod open_end_watches;
mod orders;
mod people_and_tickets;
mod phrasing;
mod preferences;
mod progress;
mod questions;
mod reference;
mod report_parts;
mod request_excerpt;
mod requests;
mod reversal;
mod routine;
mod settings;
mod surroundings;
mod symptoms;
mod task;
mod test_runs;
mod user_words;

use self::draft::Draft;
pub(super) use self::names::file_key;
use crate::model::{Episode, Evidence, graph::Statements};

/// Returns the statements of `episode`, which was made from `evidence`.
pub fn extract(episode: &Episode, evidence: &Evidence) -> Statements {
    let mut draft = Draft::new(episode, evidence);
    // External content, such as an added memory, is one text: only preferences are read from it.
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
    people_and_tickets::read(&mut draft);
    model_relations::read(&mut draft);
    task::read(&mut draft);
    draft.finish()
}

#[cfg(test)]
mod fact_end_tests;
#[cfg(test)]
mod finding_scenarios;
#[cfg(test)]
mod scenarios;
