//! Adds the topics and relations that a model reports.
//!
//! They refer to the same entities as all other statements: the name of any entity of this episode,
//! such as a file, a setting or a symbol, is resolved to that entity. Only the words of the user
//! can confirm a relation.

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
    // Both names belong to one entity.
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

/// Returns the entity with this name, or a topic if there is no such entity.
fn thing(draft: &mut Draft<'_>, name: &str) -> EntityId {
    if let Some(known) = draft.named(name) {
        return known;
    }
    // The name may be in quotation marks, as in other text of the model.
    let bare = name.trim_matches(['`', '"', '\'']);
    match draft.named_in(&format!("`{bare}`"))[..] {
        [one] => one,
        _ => draft.mention(EntityKind::Topic, &text::plain(bare), bare),
    }
}
