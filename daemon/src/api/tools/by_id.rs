//! Finds a session by its id or by the id of its episode, if the query of a search is such an id.
//! The search index does not contain ids.

use graphiti_proto::rpc::Error;

use super::{resolve_error, store_error};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        current,
        projects::{is_hidden, is_of_project},
    },
    model::Project,
    search::{
        query::Query,
        rank::{Explanation, Scope, SessionHit},
    },
};

/// Minimum length, in characters, of the start of an id.
const SHORTEST_ID: usize = 6;
/// Maximum length, in characters, of an id.
const LONGEST_ID: usize = 100;

/// Returns the session whose id is `text` or begins with `text`, or whose episode has the id
/// `text`, if the scope and the filters of the query admit the session.
pub(super) fn hit(
    daemon: &DaemonState,
    client: &ClientContext,
    text: &str,
    query: &Query,
    scope: &Scope,
) -> Result<Option<SessionHit>, Error> {
    // A query that is only a date lists the sessions of that day, even if the date looks like an
    // id.
    let Some(id) = id(text).filter(|_| !query.is_list()) else { return Ok(None) };
    let Some(key) = current::find(daemon, id).map_err(resolve_error)? else { return Ok(None) };
    let session = daemon.engine.store().session(key).map_err(store_error)?;
    let Some(session) = session.filter(|session| !is_hidden(daemon, client, session)) else {
        return Ok(None);
    };
    let project = session.project.as_ref();
    let is_in_scope = is_of_project(&session, scope.namespaces.as_deref());
    let path = project.map(Project::path).unwrap_or_default();
    let is_admitted = query.admits_session(&session.id.agent, path, session.last_activity);
    let hit = SessionHit {
        session: key,
        score: 1.0,
        passages: Vec::new(),
        explanation: Explanation::default(),
    };
    Ok(Some(hit).filter(|_| is_in_scope && is_admitted))
}

/// Returns the text of a query if it may be the id of a session, or the start of such an id:
/// hexadecimal digits, or one word with a digit.
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

/// Puts the session `named`, if there is one, before the other hits, and keeps `limit` hits in
/// total. If the session is already among the hits, its passages are kept. Returns whether there is
/// a named session.
pub(super) fn put_first(
    hits: &mut Vec<SessionHit>,
    named: Option<SessionHit>,
    limit: usize,
) -> bool {
    let Some(named) = named else { return false };
    let found = hits.iter().position(|hit| hit.session == named.session).map(|at| hits.remove(at));
    let score = hits.first().map_or(named.score, |first| first.score.max(named.score));
    hits.insert(0, SessionHit { score, ..found.unwrap_or(named) });
    hits.truncate(limit);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{SessionKey, Timestamp},
        search::{
            passage::PassageKind,
            rank::{HitLocation, PassageHit},
        },
    };

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
        let passage = PassageHit {
            place: HitLocation::Episode { field: 0 },
            kind: PassageKind::Title,
            at: Timestamp::MIN,
            score: 1.0,
        };
        let hit = |key: u64, passages: usize| SessionHit {
            session: SessionKey(key),
            score: 2.0,
            passages: vec![passage.clone(); passages],
            explanation: Explanation::default(),
        };
        let mut hits = vec![hit(1, 1), hit(2, 2)];
        assert!(put_first(&mut hits, Some(hit(2, 0)), 9));
        assert!(put_first(&mut hits, Some(hit(3, 0)), 9));
        assert!(!put_first(&mut hits, None, 9));
        let shown: Vec<_> = hits.iter().map(|hit| (hit.session.0, hit.passages.len())).collect();
        assert_eq!(shown, [(3, 0), (2, 2), (1, 1)]);
    }
}
