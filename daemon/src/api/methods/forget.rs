//! `graphiti/forget`: removes sessions from the database, the search index and the spool, and
//! prevents their import, or allows their import again. Without sessions and filters, lists the
//! forgotten sessions.

use std::{collections::BTreeMap, path::Path};

use graphiti_proto::{
    methods::forget::{Forget, Forgotten, ForgottenRow},
    rpc::{Error, code},
};
use jiff::Zoned;
use serde_json::{Value, json};

use super::write;
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        convert, current,
        errors::{engine_error, resolve_error, store_error},
        projects::directory_argument,
        spool,
        tools::list_sessions,
    },
    clock,
    engine::{
        BackfillCandidate, ForgottenSession, forks, redaction, transcript_exists, transcript_path,
    },
    model::{
        Namespace, Project, SessionId, SessionKey, Timestamp, episode::MEMORY, session::Session,
    },
    search::query::dates,
    store::{Store, StoreError, damaged::skip_damaged},
};

/// Maximum number of candidates in an error.
const MAX_CANDIDATES: usize = 10;
/// The origin of a session with a transcript on this machine.
const TRANSCRIPT: &str = "transcript";
/// The effect of a damaged record.
const NOT_DESCRIBED: &str = "the reply about forgotten sessions is incomplete";

/// The filters of a request, without the given ids.
struct ForgetFilter {
    project: Option<Vec<Namespace>>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
}

/// The sessions to remove, by their ids: known sessions, and transcripts that were not read.
type ForgetTargets = BTreeMap<SessionId, ForgetTarget>;

enum ForgetTarget {
    Known(Box<Session>),
    Unread(Box<BackfillCandidate>),
    /// A session whose record is damaged.
    Damaged(SessionKey),
}

pub(super) async fn forget(daemon: &DaemonState, forget: Forget) -> Result<Value, Error> {
    let filter = ForgetFilter::of(daemon, &forget)?;
    if forget.undo {
        return undo(daemon, &forget.sessions).await;
    }
    if forget.sessions.is_empty() && filter.is_empty() {
        let sessions = daemon.engine.forgotten().iter().map(forgotten_row).collect();
        return Ok(write(&Forgotten { sessions, ..Forgotten::default() }));
    }
    let targets = match forget.sessions.as_slice() {
        [] => all_matching(daemon, &filter).await?,
        given => named_matching(daemon, given, &filter).await?,
    };
    let ids: Vec<String> = targets.keys().map(|id| id.id.clone()).collect();
    let spooled = spool::files_of(&daemon.home, &ids)
        .map_err(|error| Error::new(code::INTERNAL, format!("cannot read the spool: {error}")))?;
    let mut answer = describe(daemon, &targets).map_err(store_error)?;
    answer.events = u64::try_from(spooled.len()).unwrap_or(u64::MAX);
    if forget.dry_run || targets.is_empty() {
        return Ok(write(&answer));
    }
    let ids: Vec<SessionId> = targets.keys().cloned().collect();
    let sessions = targets.into_iter().map(|(id, target)| (id, target.key())).collect();
    let forgotten = daemon.engine.forget(sessions).await;
    // If the deletion of one session failed, the other sessions are deleted.
    daemon.recall.clear();
    let is_forgotten = |id: &SessionId| daemon.engine.is_forgotten(id);
    if let Err(error) = spool::remove_events(&daemon.home, &ids, is_forgotten) {
        tracing::warn!(%error, "cannot remove the waiting events of forgotten sessions");
    }
    let indexes = daemon.indexes.clone();
    let purged = tokio::task::spawn_blocking(move || indexes.purge()).await;
    if let Ok(Err(error)) = purged {
        // Searches do not find the documents any more; a later merge removes them from disk.
        tracing::warn!(%error, "cannot remove forgotten sessions from the search index");
    }
    let damaged = forgotten.map_err(engine_error)?;
    answer.damaged = damaged.into_iter().map(|session| session.id).collect();
    tracing::info!(sessions = answer.sessions.len(), "sessions forgotten");
    Ok(write(&answer))
}

impl ForgetFilter {
    fn of(daemon: &DaemonState, forget: &Forget) -> Result<ForgetFilter, Error> {
        // An empty project is an unset variable of a script. It must not select all projects.
        if forget.project.as_ref().is_some_and(|project| project.trim().is_empty()) {
            return Err(Error::new(code::INVALID_PARAMS, "`project` must not be empty"));
        }
        let now = clock::zoned();
        Ok(ForgetFilter {
            project: directory_argument(daemon, forget.project.as_deref())?,
            after: day_argument("after", forget.after.as_deref(), &now)?,
            before: day_argument("before", forget.before.as_deref(), &now)?,
        })
    }

    fn is_empty(&self) -> bool {
        self.project.is_none() && self.after.is_none() && self.before.is_none()
    }

    fn matches(&self, project: Option<&Project>, first: Timestamp, last: Timestamp) -> bool {
        let is_here = |wanted: &Vec<Namespace>| {
            project.is_some_and(|project| wanted.contains(&project.namespace()))
        };
        self.project.as_ref().is_none_or(is_here)
            && self.after.is_none_or(|after| last >= after)
            && self.before.is_none_or(|before| first < before)
    }

    fn matches_session(&self, session: &Session) -> bool {
        let first = session.started_at.unwrap_or(session.last_activity);
        self.matches(session.project.as_ref(), first, session.last_activity)
    }
}

impl ForgetTarget {
    fn key(&self) -> Option<SessionKey> {
        match self {
            ForgetTarget::Known(session) => Some(session.key),
            ForgetTarget::Unread(candidate) => candidate.session,
            ForgetTarget::Damaged(session) => Some(*session),
        }
    }
}

/// Parses the argument `name`. A time without a start ("until yesterday") is an error: it would
/// select the sessions of all times.
fn day_argument(name: &str, given: Option<&str>, now: &Zoned) -> Result<Option<Timestamp>, Error> {
    let Some(given) = given else { return Ok(None) };
    let start = dates::value(given, now).and_then(|range| range.start());
    start.map(Some).ok_or_else(|| {
        let what = format!(
            "`{name}` must be a day from 1990 to next year, such as 2026-03-01 or \"last week\", not \
             `{given}`"
        );
        Error::new(code::INVALID_PARAMS, what)
    })
}

/// Returns the given sessions that match the filter.
async fn named_matching(
    daemon: &DaemonState,
    given: &[String],
    filter: &ForgetFilter,
) -> Result<ForgetTargets, Error> {
    let mut targets = ForgetTargets::new();
    for given in given {
        let damaged = damaged_session(daemon.engine.store().as_ref(), given);
        let damaged = damaged.map_err(store_error)?;
        // Filters need the record.
        if let Some((id, session)) = damaged.filter(|_| filter.is_empty()) {
            targets.insert(id, ForgetTarget::Damaged(session));
            continue;
        }
        let session = named(daemon, given).await?;
        if filter.matches_session(&session) {
            targets.insert(session.id.clone(), ForgetTarget::Known(Box::new(session)));
        }
    }
    Ok(targets)
}

/// Returns the only session whose id begins with `given`, if the record of the session is damaged.
fn damaged_session(
    store: &dyn Store,
    given: &str,
) -> Result<Option<(SessionId, SessionKey)>, StoreError> {
    let prefix = redaction::id(given.trim());
    // Every id begins with the empty text.
    let limit = if prefix.is_empty() { 0 } else { 2 };
    let keys = store.sessions_with_prefix(&prefix, limit)?;
    let [key] = *keys.as_slice() else { return Ok(None) };
    match store.session(key) {
        Err(StoreError::Damaged { .. }) => Ok(store.id_of(key)?.map(|id| (id, key))),
        session => session.map(|_| None),
    }
}

async fn named(daemon: &DaemonState, given: &str) -> Result<Session, Error> {
    let given = given.trim();
    // Every id begins with the empty text.
    if given.is_empty() {
        return Err(Error::new(code::INVALID_PARAMS, "the id of a session must not be empty"));
    }
    let key = current::named(daemon, &ClientContext::default(), given).map_err(resolve_error)?;
    list_sessions::named(daemon, key).await
}

/// Returns the sessions that match the filter. If the filter selects a project, leaves out the
/// wishes for all projects. Also returns transcripts that were not read, because they could be
/// imported later.
async fn all_matching(daemon: &DaemonState, filter: &ForgetFilter) -> Result<ForgetTargets, Error> {
    let mut targets = ForgetTargets::new();
    let store = daemon.engine.store().as_ref();
    let live = list_sessions::live_sessions(daemon).await?;
    let mut found: Vec<Session> = Vec::new();
    let stored = store.visit_sessions(&mut |stored| {
        let session = live.get(&stored.key).unwrap_or(&stored);
        if filter.matches_session(session) {
            found.push(session.clone());
        }
        true
    });
    stored.map_err(store_error)?;
    // The project of a transcript may be unknown until the transcript is read. Until then, no
    // filter by project matches the transcript.
    for candidate in daemon.engine.backfill_candidates(None).await.map_err(engine_error)? {
        if filter.matches(candidate.project.as_ref(), candidate.modified, candidate.modified) {
            targets.insert(candidate.id.clone(), ForgetTarget::Unread(Box::new(candidate)));
        }
    }
    for session in found {
        let episode = skip_damaged(store.episode_of(&session), NOT_DESCRIBED);
        let episode = episode.map_err(store_error)?;
        let is_for_all = episode.is_some_and(|episode| episode.is_wish_for_all_projects());
        if filter.project.is_none() || !is_for_all {
            targets.insert(session.id.clone(), ForgetTarget::Known(Box::new(session)));
        }
    }
    Ok(targets)
}

fn describe(daemon: &DaemonState, targets: &ForgetTargets) -> Result<Forgotten, StoreError> {
    let store = daemon.engine.store().as_ref();
    let mut answer = Forgotten::default();
    let mut relatives: Vec<SessionKey> = Vec::new();
    for (id, target) in targets {
        let session = match target {
            ForgetTarget::Known(session) => session,
            ForgetTarget::Unread(candidate) => {
                answer.sessions.push(unread_row(candidate));
                continue;
            }
            ForgetTarget::Damaged(_) => {
                answer.sessions.push(damaged_row(id, clock::now()));
                continue;
            }
        };
        let row = skip_damaged(known_row(daemon, session).map(Some), NOT_DESCRIBED)?;
        let row = row.unwrap_or_else(|| damaged_row(id, session.last_activity));
        answer.messages += u64::from(row.messages);
        if let Some(episode) = skip_damaged(store.episode_of(session), NOT_DESCRIBED)? {
            answer.episodes += 1;
            let things = store.entities_and_facts_of(episode.id);
            let things = skip_damaged(things, NOT_DESCRIBED)?.len();
            answer.things += u64::try_from(things).unwrap_or(u64::MAX);
        }
        answer.sessions.push(row);
        relatives.extend(forks::relatives(store, session.key)?);
    }
    answer.sessions.sort_by(|one, other| other.at.cmp(&one.at));
    relatives.sort_unstable();
    relatives.dedup();
    for key in relatives {
        let session = skip_damaged(store.session(key), NOT_DESCRIBED)?;
        let Some(session) = session.filter(|session| !targets.contains_key(&session.id)) else {
            continue;
        };
        let row = skip_damaged(known_row(daemon, &session).map(Some), NOT_DESCRIBED)?;
        answer.relatives.extend(row);
    }
    Ok(answer)
}

fn known_row(daemon: &DaemonState, session: &Session) -> Result<ForgottenRow, StoreError> {
    let store = daemon.engine.store().as_ref();
    let row = convert::session_row(store, session)?;
    let origin = origin(store, session)?;
    let transcript = transcript_path(store, session)?;
    Ok(ForgottenRow {
        short_id: row.short_id,
        session_id: row.session_id,
        agent: row.agent,
        title: row.title,
        project: row.project,
        at: row.last_activity,
        messages: row.message_count,
        exists: origin == TRANSCRIPT && transcript_exists(Path::new(&transcript)),
        origin: origin.to_owned(),
        file_path: row.file_path,
    })
}

/// Returns the source of the text of a session.
fn origin(store: &dyn Store, session: &Session) -> Result<&'static str, StoreError> {
    if session.id.agent == MEMORY {
        return Ok("memory");
    }
    // The quota may have evicted the episode. An indexed session without a file was imported.
    let may_be_imported = match store.episode_of(session)? {
        Some(episode) => episode.from().is_some(),
        None => session.indexed.is_some(),
    };
    // An imported session may also have a transcript on this machine.
    let is_imported = may_be_imported && store.sources_of(session.key)?.is_empty();
    Ok(if is_imported { "import" } else { TRANSCRIPT })
}

/// Returns a row of a session with a damaged record.
fn damaged_row(id: &SessionId, at: Timestamp) -> ForgottenRow {
    let (session_id, agent) = (id.id.clone(), id.agent.clone());
    let origin = TRANSCRIPT.to_owned();
    ForgottenRow { session_id, agent, at: at.to_string(), origin, ..ForgottenRow::default() }
}

fn unread_row(candidate: &BackfillCandidate) -> ForgottenRow {
    ForgottenRow {
        session_id: candidate.id.id.clone(),
        agent: candidate.id.agent.clone(),
        title: String::new(),
        project: candidate.project.as_ref().map(Project::path).unwrap_or_default().to_owned(),
        at: candidate.modified.to_string(),
        messages: candidate.messages,
        file_path: candidate.path.clone(),
        exists: true,
        origin: TRANSCRIPT.to_owned(),
        ..ForgottenRow::default()
    }
}

fn forgotten_row(session: &ForgottenSession) -> ForgottenRow {
    ForgottenRow {
        session_id: session.id.id.clone(),
        agent: session.id.agent.clone(),
        at: session.at.to_string(),
        ..ForgottenRow::default()
    }
}

/// Allows forgotten sessions to be imported again.
async fn undo(daemon: &DaemonState, given: &[String]) -> Result<Value, Error> {
    let forgotten = daemon.engine.forgotten();
    let mut targets: Vec<&ForgottenSession> = Vec::new();
    for given in given {
        let given = given.trim();
        let begins = |one: &&ForgottenSession| !given.is_empty() && one.id.id.starts_with(given);
        let found: Vec<&ForgottenSession> = forgotten.iter().filter(begins).collect();
        let exact = found.iter().find(|one| one.id.id == given);
        match (exact, found.as_slice()) {
            (Some(one), _) | (None, [one]) => targets.push(one),
            (None, []) => {
                let what = format!(
                    "no forgotten session has an id that begins with `{given}`; `graphiti forget` lists the forgotten sessions"
                );
                return Err(Error::new(code::NOT_FOUND, what));
            }
            (None, several) => {
                let candidates: Vec<Value> = several
                    .iter()
                    .take(MAX_CANDIDATES)
                    .map(|one| json!({ "session_id": one.id.id, "agent": one.id.agent }))
                    .collect();
                return Err(Error {
                    code: code::AMBIGUOUS,
                    message: format!(
                        "{} forgotten sessions have ids that begin with `{given}`: give a longer part of the id",
                        several.len()
                    ),
                    data: Some(json!({ "candidates": candidates })),
                });
            }
        }
    }
    let mut answer = Forgotten::default();
    for session in targets {
        let exists = daemon.engine.restore_forgotten(&session.id).await.map_err(engine_error)?;
        answer.sessions.push(ForgottenRow { exists, ..forgotten_row(session) });
    }
    Ok(write(&answer))
}

#[cfg(test)]
mod tests {
    use jiff::{civil::date, tz};

    use super::*;
    use crate::{
        model::{CloseReason, ContentHash, EpisodeId, session::Indexed},
        store::{Write, contract, sled::SledStore},
    };

    #[test]
    fn a_session_whose_record_is_damaged_is_found_by_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let sessions =
            ["s-one", "s-two"].map(|id| contract::session(store.next_session_key().unwrap(), id));
        let writes = sessions.iter().map(|session| Write::Session(Box::new(session.clone())));
        store.write(writes.collect()).wait().unwrap();
        let [one, _] = sessions;
        store.damage_session(one.key);
        assert_eq!(damaged_session(&store, " s-o"), Ok(Some((one.id, one.key))));
        for given in ["", " ", "s-two", "s-", "s-three"] {
            assert_eq!(damaged_session(&store, given), Ok(None), "{given}");
        }
    }

    #[test]
    fn a_day_selects_no_earlier_sessions_than_it_names() {
        let now = date(2026, 3, 18).at(15, 0, 0, 0).to_zoned(tz::TimeZone::UTC).unwrap();
        let day = |given: &str| day_argument("after", Some(given), &now).map_err(|_| ());
        let at = |time: &str| Ok(Timestamp::parse(time));
        for (given, wanted) in [
            ("2 weeks ago", at("2026-03-04T00:00:00Z")),
            ("since a month ago", at("2026-02-18T00:00:00Z")),
            ("30min", at("2026-03-18T14:30:00Z")),
            ("last week", at("2026-03-09T00:00:00Z")),
            ("30m", Err(())),
            ("until yesterday", Err(())),
            ("..2026-03-01", Err(())),
            ("", Err(())),
        ] {
            assert_eq!(day(given), wanted, "{given}");
        }
        assert_eq!(day_argument("after", None, &now).unwrap(), None);
    }

    #[test]
    fn an_indexed_session_without_a_file_and_an_episode_was_imported() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let origin = |agent: &str, is_indexed: bool, has_file: bool| {
            let mut session = contract::session(store.next_session_key().unwrap(), "s");
            agent.clone_into(&mut session.id.agent);
            session.indexed = is_indexed.then(|| Indexed {
                episode: EpisodeId::parse("01920000-0000-7000-8000-000000000000").unwrap(),
                hash: ContentHash([0; 32]),
                at: Timestamp::default(),
                reason: CloseReason::Explicit(None),
            });
            if has_file {
                let source = contract::source_of(&session, 0);
                store.write(vec![Write::Source { source, checkpoint: None }]).wait().unwrap();
            }
            super::origin(&store, &session).unwrap()
        };
        assert_eq!(origin("claude", true, false), "import");
        assert_eq!(origin("claude", true, true), TRANSCRIPT);
        assert_eq!(origin("claude", false, false), TRANSCRIPT);
        assert_eq!(origin(MEMORY, true, false), "memory");
    }
}
