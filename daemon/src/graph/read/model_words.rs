//! What a model says that a session was about, and how things stand to each other.
//!
//! It is said of the same things as all else: a name that stands for a file, a setting, a symbol or
//! anything that this episode names is that. Nothing shows that it is so but the user's own words.

use super::{
    draft::{ClaimDraft, Draft},
    locate::Speaker,
};
use crate::{
    graph::text,
    model::{
        graph::{Certainty, EntityId, EntityKind, Relation},
        summary::RelationRecord,
    },
};

pub(super) fn read(draft: &mut Draft<'_>) {
    let summary = &draft.episode.summary;
    for topic in summary.topics.iter().flatten() {
        thing(draft, topic);
    }
    for record in summary.relations.iter().flatten() {
        related(draft, record);
    }
}

fn related(draft: &mut Draft<'_>, record: &RelationRecord) {
    let (source, target) = (thing(draft, &record.source), thing(draft, &record.target));
    // Two names of one thing.
    if source == target {
        return;
    }
    let found = draft.places.of(&record.sentence);
    let is_said = found.is_some_and(|found| found.by == Speaker::User);
    draft.claim(
        Relation::RelatesTo,
        (source, target),
        ClaimDraft {
            detail: text::plain(&record.relation),
            sentence: text::sentence(&record.sentence),
            certainty: Some(if is_said { Certainty::Verified } else { Certainty::Hypothesis }),
            origins: found.map(|found| found.origin).into_iter().collect(),
            others: vec![draft.task],
            details: vec![("relation".to_owned(), record.relation.clone())],
            ..ClaimDraft::default()
        },
    );
}

/// The thing that a name stands for; a topic when it is nothing else.
fn thing(draft: &mut Draft<'_>, name: &str) -> EntityId {
    if let Some(known) = draft.named(name) {
        return known;
    }
    // The name may stand in a sentence's quotes, as it does in the model's other words.
    let bare = name.trim_matches(['`', '"', '\'']);
    match draft.named_in(&format!("`{bare}`"))[..] {
        [one] => one,
        _ => draft.mention(EntityKind::Topic, &text::plain(bare), bare),
    }
}
