//! `graphiti/sessions`: returns the sessions of a project, or all sessions, for an export, page by
//! page. Added memories are left out.
//!
//! A page is a range of session numbers, so that no page reads the sessions of another page. The
//! first page also visits all sessions, to find the last number.

use graphiti_proto::{
    methods::transfer::{SessionPage, SessionPageRequest},
    rpc::{Error, code},
};
use serde_json::Value;

use super::write;
use crate::{
    api::{
        DaemonState, convert,
        errors::store_error,
        projects::{is_of_project, project_argument},
    },
    model::{SessionKey, episode::MEMORY, session::Session},
    store::{Store, StoreError},
};

/// Number of session numbers in a page.
const PAGE: u64 = 200;

/// The remaining session numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SessionCursor {
    from: u64,
    /// The last number at the start of the export.
    last: u64,
}

pub(super) fn sessions(daemon: &DaemonState, given: &SessionPageRequest) -> Result<Value, Error> {
    let store = daemon.engine.store().as_ref();
    let cursor = match &given.cursor {
        Some(text) => SessionCursor::parse(text).ok_or_else(|| {
            Error::new(code::INVALID_PARAMS, format!("`{text}` is not the cursor of a page"))
        })?,
        None => SessionCursor { from: 0, last: last_session(store).map_err(store_error)? },
    };
    let (found, next) = page(cursor, |key| store.session(key)).map_err(store_error)?;
    let project = project_argument(daemon, given.project.as_deref())?;
    let is_wanted = |session: &&Session| {
        session.id.agent != MEMORY && is_of_project(session, project.as_deref())
    };
    let rows = found.iter().filter(is_wanted).map(|session| convert::session_row(store, session));
    let sessions = rows.collect::<Result<_, _>>().map_err(store_error)?;
    Ok(write(&SessionPage { sessions, next: next.map(SessionCursor::to_text) }))
}

fn last_session(store: &dyn Store) -> Result<u64, StoreError> {
    let mut last = 0;
    store.visit_sessions(&mut |session| {
        last = session.key.0.max(last);
        true
    })?;
    Ok(last)
}

/// Returns the sessions of a page, and the start of the next page.
fn page<S, E>(
    cursor: SessionCursor,
    mut read: impl FnMut(SessionKey) -> Result<Option<S>, E>,
) -> Result<(Vec<S>, Option<SessionCursor>), E> {
    let end = cursor.last.min(cursor.from.saturating_add(PAGE - 1));
    let mut found = Vec::new();
    for number in cursor.from..=end {
        found.extend(read(SessionKey(number))?);
    }
    let next = (end < cursor.last).then(|| SessionCursor { from: end + 1, ..cursor });
    Ok((found, next))
}

impl SessionCursor {
    fn parse(text: &str) -> Option<SessionCursor> {
        let (from, last) = text.split_once('-')?;
        Some(SessionCursor { from: from.parse().ok()?, last: last.parse().ok()? })
    }

    fn to_text(self) -> String {
        format!("{}-{}", self.from, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pages_together_read_each_session_once() {
        const LAST: u64 = 3 * PAGE + 7;
        let mut reads = Vec::new();
        let mut sessions = Vec::new();
        let mut cursor = Some(SessionCursor { from: 0, last: LAST });
        while let Some(at) = cursor {
            let read = |key: SessionKey| {
                reads.push(key.0);
                // A forgotten session leaves a gap in the numbers.
                Ok::<_, ()>((!key.0.is_multiple_of(5)).then_some(key.0))
            };
            let (found, next) = page(at, read).unwrap();
            sessions.extend(found);
            cursor = next.and_then(|next| SessionCursor::parse(&next.to_text()));
        }
        assert_eq!(reads, (0..=LAST).collect::<Vec<u64>>());
        assert_eq!(sessions, (0..=LAST).filter(|key| key % 5 != 0).collect::<Vec<u64>>());
    }
}
