//! Finds the session whose id is the query of a search, because no message contains the id.

use graphiti_proto::{rpc::Error, tools::search_sessions::Hit};

use super::{resolve_error, store_error};
use crate::{
    api::{DaemonState, client_context::ClientContext, current, projects::is_hidden},
    model::Project,
    search::{
        query::Query,
        rank::{Explanation, Results, Scope, SessionHit},
    },
};

/// Minimum length, in characters, of the start of an id.
const SHORTEST_ID: usize = 6;
/// Maximum length, in characters, of an id.
const LONGEST_ID: usize = 100;

/// Returns the session whose id, or the start of it, is `text`, if the scope and the filters of the
/// query admit it.
pub(super) fn results(
    daemon: &DaemonState,
    client: &ClientContext,
    text: &str,
    query: &Query,
    scope: &Scope,
) -> Result<Option<Results>, Error> {
    // A date, which may look like an id, lists the sessions of its day.
    let Some(id) = id(text).filter(|_| !query.is_list()) else { return Ok(None) };
    let Some(key) = current::find(daemon, id).map_err(resolve_error)? else { return Ok(None) };
    let session = daemon.engine.store().session(key).map_err(store_error)?;
    let Some(session) = session.filter(|session| !is_hidden(daemon, client, session)) else {
        return Ok(None);
    };
    let project = session.project.as_ref();
    let is_in_scope = scope.namespaces.as_ref().is_none_or(|namespaces| {
        project.is_some_and(|project| namespaces.contains(&project.namespace()))
    });
    let path = project.map(Project::path).unwrap_or_default();
    let is_admitted = query.admits_session(&session.id.agent, path, session.last_activity);
    let hit = SessionHit {
        session: key,
        score: 1.0,
        passages: Vec::new(),
        explanation: Explanation::default(),
    };
    let results = Results { sessions: vec![hit], total: 1, ..Results::default() };
    Ok(Some(results).filter(|_| is_in_scope && is_admitted))
}

/// Returns the text of a query if it may be the id of a session, or the start of one: hexadecimal
/// digits, or one word with a digit.
fn id(text: &str) -> Option<&str> {
    let text = text.trim().trim_matches(['`', '"', '\'']);
    if !(SHORTEST_ID..=LONGEST_ID).contains(&text.len()) {
        return None;
    }
    let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    let is_id = text.bytes().all(|byte| byte.is_ascii_hexdigit())
        || text.bytes().any(|byte| byte.is_ascii_digit());
    (is_name && is_id).then_some(text)
}

/// Puts the named session before the other hits. If it is among them, its passages are kept.
/// Returns the number of hits that this adds.
pub(super) fn put_first(hits: &mut Vec<Hit>, named: Vec<Hit>) -> usize {
    let before = hits.len();
    for named in named {
        let is_same =
            |hit: &Hit| hit.team.is_none() && hit.session.session_id == named.session.session_id;
        let found = hits.iter().position(is_same).map(|at| hits.remove(at));
        let score = hits.first().map_or(named.score, |first| first.score.max(named.score));
        hits.insert(0, Hit { score, ..found.unwrap_or(named) });
    }
    hits.len() - before
}

#[cfg(test)]
mod tests {
    use graphiti_proto::tools::{SessionRow, search_sessions::MatchedPassage};

    use super::*;

    #[test]
    fn an_id_is_one_word_of_hexadecimal_digits_or_with_a_digit() {
        for text in ["3f2a9c", "`3f2a9c10`", " 3f2a9c10-1111-4000-8000-0a1b2c3d4e5f ", "ses_7a3f"] {
            assert_eq!(id(text), Some(text.trim().trim_matches('`')), "{text}");
        }
        for text in ["3f2a9", "login", "retry_count", "3f2a9c failed", "a/3f2a9c", ""] {
            assert_eq!(id(text), None, "{text}");
        }
    }

    #[test]
    fn the_named_session_is_first_and_keeps_its_passages() {
        let hit = |id: &str, passages: usize| Hit {
            session: SessionRow { session_id: id.to_owned(), ..SessionRow::default() },
            score: 2.0,
            passages: vec![MatchedPassage::default(); passages],
            ..Hit::default()
        };
        let mut hits = vec![hit("a", 1), hit("b", 2)];
        assert_eq!(put_first(&mut hits, vec![hit("b", 0)]), 0);
        assert_eq!(put_first(&mut hits, vec![hit("c", 0)]), 1);
        let shown: Vec<_> =
            hits.iter().map(|hit| (&*hit.session.session_id, hit.passages.len())).collect();
        assert_eq!(shown, [("c", 0), ("b", 2), ("a", 1)]);
    }
}
