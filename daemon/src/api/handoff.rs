//! Builds the handoff from the earlier sessions of a project to a new session, and the handoff from
//! the earlier part of a continued session to its later part.

use crate::{
    api::projects::newest_episodes,
    clock,
    engine::{
        entities::{Graph, Preference, StatementStates},
        episode::handoff::{self, Handoff},
    },
    model::{Episode, Namespace, SessionEnding, SessionKey},
    store::{Store, StoreError},
};

/// Maximum number of sessions that are inspected to find sessions in which work was done.
const MAX_INSPECTED: usize = 100;

/// The sessions from which a handoff is built.
pub(super) struct HandoffScope<'s> {
    /// The directories of the project.
    pub(super) projects: &'s [Namespace],
    /// The requesting session, which is left out.
    pub(super) except: Option<SessionKey>,
    /// Maximum number of sessions.
    pub(super) sessions: usize,
}

/// Builds the handoff from the stored episodes, without waiting for pending sessions. If no work
/// was done in any inspected session, uses only the latest session.
pub(super) fn of_project(
    store: &dyn Store,
    scope: &HandoffScope<'_>,
) -> Result<Handoff, StoreError> {
    let mut episodes: Vec<Episode> = Vec::new();
    let mut idle: Vec<Episode> = Vec::new();
    // Added memories, and imported episodes with only text, have no summary fields.
    let is_included = |one: &Episode| Some(one.session) != scope.except && one.text().is_none();
    let mut before = None;
    let mut inspected = 0;
    while episodes.len() < scope.sessions && inspected < MAX_INSPECTED {
        let page = newest_episodes(store, Some(scope.projects), before, scope.sessions + 1)?;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        inspected += page.len();
        let (worked, rest): (Vec<_>, Vec<_>) =
            page.into_iter().filter(is_included).partition(handoff::did_work);
        episodes.extend(worked);
        idle.extend(rest);
    }
    if episodes.is_empty() {
        episodes = idle;
        episodes.truncate(1);
    }
    episodes.truncate(scope.sessions);
    let statement_states = statement_states(store, &episodes)?;
    with_wishes(store, scope.projects, |wishes| {
        handoff::gather(&episodes, wishes, &statement_states)
    })
}

/// Builds the handoff from the earlier part of a session to its later part. If the session is
/// unknown or has no episode, the handoff has only the user's wishes that apply in the project.
pub(super) fn of_session(
    store: &dyn Store,
    session: Option<SessionKey>,
    projects: &[Namespace],
) -> Result<Handoff, StoreError> {
    let episode = session.map(|session| store.stored_episode_of(session)).transpose()?.flatten();
    let statement_states = statement_states(store, episode.as_slice())?;
    with_wishes(store, projects, |wishes| {
        handoff::gather_part(episode.as_ref(), wishes, &statement_states)
    })
}

/// Returns the handoff that `gather` makes from the user's current wishes for the project. Marks
/// each wish that a later wish may contradict.
fn with_wishes(
    store: &dyn Store,
    projects: &[Namespace],
    gather: impl FnOnce(&[String]) -> Handoff,
) -> Result<Handoff, StoreError> {
    let wishes = preferences(store, projects)?;
    let texts: Vec<String> = wishes.iter().map(|wish| wish.fact.sentence.clone()).collect();
    let mut handoff = gather(&texts);
    mark_contradicted(&mut handoff.preferences, &wishes);
    Ok(handoff)
}

/// Appends a note to each wish that a later wish may contradict: the day on which the earlier wish
/// was stated. The user has withdrawn neither of the two wishes.
fn mark_contradicted(texts: &mut [String], wishes: &[Preference]) {
    // `gather` leaves out wishes without words, so `texts` has no entries for them.
    let listed = wishes.iter().filter(|wish| handoff::quoted_wish(&wish.fact.sentence).is_some());
    for (text, wish) in texts.iter_mut().zip(listed) {
        if wishes.iter().any(|later| later.contradicts == Some(wish.fact.id)) {
            let since: String = wish.fact.valid_at.to_string().chars().take(10).collect();
            text.push_str(&format!(" (since {since}; a later wish may contradict it)"));
        }
    }
}

/// For each session of a handoff, whether the statements in its summary still hold, and how the
/// session ended.
struct StatesBySession(Vec<StatementStates>);

impl handoff::StatementValidity for StatesBySession {
    fn holds(&self, session: usize, text: &str) -> Option<bool> {
        self.0.get(session)?.holds(text)
    }

    fn sentence(&self, session: usize, text: &str) -> Option<String> {
        self.0.get(session)?.sentence(text).map(str::to_owned)
    }

    fn ending(&self, session: usize) -> SessionEnding {
        self.0.get(session).map(|states| states.ending().clone()).unwrap_or_default()
    }

    fn without_corrected_wishes(&self, session: usize, text: &str) -> String {
        let states = self.0.get(session);
        states.map_or_else(|| text.to_owned(), |states| states.without_corrected_wishes(text))
    }
}

/// Returns, for each episode, the states of the statements in its summary and the ending of its
/// session.
fn statement_states(
    store: &dyn Store,
    episodes: &[Episode],
) -> Result<StatesBySession, StoreError> {
    let (graph, now) = (Graph::of(store), clock::now());
    let each = episodes.iter().map(|episode| graph.statement_states(episode.id, now));
    Ok(StatesBySession(each.collect::<Result<_, _>>()?))
}

/// Returns the user's wishes that apply in the project. Wishes that were stored with
/// `graphiti remember` or `add_memory` come first, then wishes from prompts. In both groups, the
/// latest wish is first.
fn preferences(store: &dyn Store, projects: &[Namespace]) -> Result<Vec<Preference>, StoreError> {
    let mut found = Graph::of(store).preferences(projects, clock::now())?;
    // Only a wish from a prompt has an origin in a transcript.
    found.sort_by_key(|preference| !preference.fact.origins.is_empty());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Fact, Timestamp,
        graph::{Certainty, EntityId, FactId, Relation},
    };
    use uuid::Uuid;

    fn wish(id: u128, sentence: &str) -> Preference {
        let fact = Fact {
            id: FactId(Uuid::from_u128(id)),
            namespace: Namespace::default(),
            relation: Relation::Prefers,
            source: EntityId(Uuid::nil()),
            target: EntityId(Uuid::nil()),
            others: Vec::new(),
            sentence: sentence.to_owned(),
            certainty: Certainty::Verified,
            valid_at: Timestamp::default(),
            invalid_at: None,
            created_at: Timestamp::default(),
            expired_at: None,
            episodes: Vec::new(),
            origins: Vec::new(),
            details: Vec::new(),
        };
        Preference { fact, contradicts: None }
    }

    #[test]
    fn a_wish_without_words_does_not_remove_the_marks_of_the_others() {
        let later =
            Preference { contradicts: Some(FactId(Uuid::from_u128(3))), ..wish(1, "Use spaces.") };
        let wishes = [later, wish(2, "\u{200b}"), wish(3, "Use tabs.")];
        let texts: Vec<String> = wishes.iter().map(|wish| wish.fact.sentence.clone()).collect();
        let mut listed = handoff::gather(&[], &texts, &StatesBySession(Vec::new())).preferences;
        mark_contradicted(&mut listed, &wishes);
        let mark = "a later wish may contradict it";
        assert_eq!(listed.len(), 2);
        assert!(!listed[0].contains(mark) && listed[1].contains(mark), "{listed:?}");
    }
}
