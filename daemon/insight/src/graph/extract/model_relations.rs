//! Adds the topics and relations that a model reports.
//!
//! A name that belongs to an entity of this episode, such as a file, a setting or a symbol, is
//! resolved to that entity. A relation is a hypothesis, unless the user stated it.

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
        entity_or_topic(draft, topic);
    }
    for record in summary.relations.iter().flatten() {
        related(draft, record);
    }
}

fn related(draft: &mut Draft<'_>, record: &RelationRecord) {
    let (source, target) =
        (entity_or_topic(draft, &record.source), entity_or_topic(draft, &record.target));
    // Both names belong to one entity.
    if source == target {
        return;
    }
    let found = draft.sentence_index.of(&record.sentence);
    let is_users = found.is_some_and(|found| found.by == Speaker::User);
    draft.claim(
        Relation::RelatesTo,
        source,
        target,
        ClaimDraft {
            detail: text::plain(&record.relation),
            sentence: text::sentence(&record.sentence),
            certainty: Some(if is_users { Certainty::Verified } else { Certainty::Hypothesis }),
            origins: found.map(|found| found.origin).into_iter().collect(),
            others: vec![draft.task],
            details: vec![("relation".to_owned(), record.relation.clone())],
            ..ClaimDraft::default()
        },
    );
}

/// Returns the entity with this name, or a topic if there is no such entity.
fn entity_or_topic(draft: &mut Draft<'_>, name: &str) -> EntityId {
    if let Some(known) = draft.mention_by_name(name) {
        return known;
    }
    // The name may be in quotation marks, as in other text of the model.
    let bare = name.trim_matches(['`', '"', '\'']);
    match draft.mention_entities_in(&format!("`{bare}`"))[..] {
        [one] => one,
        _ => draft.mention(EntityKind::Topic, &text::plain(bare), bare),
    }
}
