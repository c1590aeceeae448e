//! Converts entities and facts to documents of the search index. Re-exports the items of
//! [`crate::graph`] that other modules need.

pub use crate::graph::{
    EntitiesAndFacts, ErrorRecord, FactFilter, Graph, Preference, StatementStates, is_listed,
    is_traceback_heading, mentions_error, words_of_error,
};
use crate::{
    model::{
        SessionKey,
        graph::{EntityId, FactKey},
    },
    search::index::IndexChange,
    store::StoreError,
};

/// Returns the changes that index an entity under its latest name, or remove it from the index.
pub(super) fn entity_changes(
    graph: &Graph<'_>,
    id: EntityId,
) -> Result<Vec<IndexChange>, StoreError> {
    let gone = |id: EntityId| IndexChange::DropSession { session: SessionKey(id.number()) };
    let Some(entity) = graph.entity(id)? else { return Ok(vec![gone(id)]) };
    let mut changes = Vec::new();
    if entity.id != id {
        changes.push(gone(id));
    }
    let names = [&[entity.kind.as_str().to_owned(), entity.name.clone()], &entity.aliases[..]];
    let text = graph.statements_about(entity.id)?;
    changes.push(IndexChange::entity_or_fact(
        entity.id.number(),
        entity.namespace,
        entity.last_at,
        &names.concat().join(" "),
        &text,
    ));
    Ok(changes)
}

/// Returns the change that indexes a fact, or removes it from the index if no episode states it.
/// The document does not contain the time at which the fact ended. Searches read this time from the
/// store.
pub(super) fn fact_change(graph: &Graph<'_>, key: FactKey) -> Result<IndexChange, StoreError> {
    let Some(claim) = graph.last_claim(key)? else {
        return Ok(IndexChange::DropSession { session: SessionKey(key.number()) });
    };
    let name = graph.entity(claim.source)?.map(|entity| entity.name).unwrap_or_default();
    let relation = claim.relation.as_str().to_lowercase().replace('_', " ");
    let text = format!("{} {relation}", claim.sentence);
    Ok(IndexChange::entity_or_fact(key.number(), claim.namespace, claim.at, &name, &text))
}
