//! `session_tracking_sync_history`: indexes past sessions without an episode, or only estimates the
//! costs.

use std::time::Duration;

use graphiti_proto::{
    rpc::Error,
    tools::sync_history::{NAME, PastSession, SyncHistoryAnswer, SyncHistoryArguments},
};

use super::{Effect, Tool, engine_error, input, output, store_error, typed};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        projects::{is_of_project, listed_projects},
    },
    engine::{BackfillCandidate, CloseOutcome, EngineError},
    model::{CloseReason, Namespace, episode::Author},
    store::StoreError,
};

/// Maximum number of sessions in an answer.
const MAX_LISTED_SESSIONS: usize = 10;
/// Number of bytes of a transcript per byte of text for the model (measured: 2 to 14 % is text).
const BYTES_PER_TEXT_BYTE: u64 = 12;
/// Approximate length, in bytes, of a token.
const BYTES_PER_TOKEN: u64 = 4;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Index past sessions",
    description: "Index past sessions that have no episode yet, also those that are too old for the automatic import. \
        Only reports what it would do unless `dry_run` is false. It can be cancelled and repeated: no \
        session is indexed twice.",
    effect: Effect::Updates,
    input: input::<SyncHistoryArguments>,
    output: output::<SyncHistoryAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: SyncHistoryArguments,
) -> Result<SyncHistoryAnswer, Error> {
    let project = listed_projects(daemon, client, arguments.project.as_deref())?;
    if arguments.again {
        return ask_again(daemon, client, &arguments, project.as_deref()).await;
    }
    let age = (arguments.days > 0).then(|| DAY * arguments.days);
    client.progress.report(0, 0, || "Searching for past sessions".to_owned());
    let mut candidates = daemon.engine.backfill_candidates(age).await.map_err(engine_error)?;
    candidates.retain(|one| {
        let is_wanted = |wanted: &Vec<_>| one.namespace().is_some_and(|is| wanted.contains(&is));
        project.as_ref().is_none_or(is_wanted)
    });
    candidates.truncate(arguments.max_sessions);
    let summarizer = daemon.engine.summarizer().await.map_err(engine_error)?;
    let costs: Option<Vec<f64>> =
        candidates.iter().map(|one| summarizer.estimate(tokens(one))).collect();
    let mut answer = SyncHistoryAnswer {
        status: "success".to_owned(),
        dry_run: arguments.dry_run,
        sessions_found: candidates.len(),
        estimated_tokens: candidates.iter().map(tokens).sum(),
        estimated_cost: costs.iter().flatten().fold(0.0, |sum, cost| sum + cost),
        price_known: costs.is_some(),
        model: summarizer.writes_summaries().then(|| summarizer.client.model()),
        sessions: candidates.iter().take(MAX_LISTED_SESSIONS).map(found).collect(),
        ..SyncHistoryAnswer::default()
    };
    if candidates.is_empty() && arguments.max_sessions > 0 {
        answer.message = "There is no session to index.".to_owned();
        return Ok(answer);
    }
    if arguments.dry_run {
        answer.message = match candidates.len() {
            1 => "1 session would be indexed.".to_owned(),
            count => format!("{count} sessions would be indexed."),
        };
        return Ok(answer);
    }
    let paid = summarizer.paid();
    index(daemon, client, &candidates, &mut answer).await?;
    answer.actual_cost = (summarizer.paid() - paid).max(0.0);
    answer.message =
        format!("{} indexed, {} failed.", answer.sessions_indexed, answer.sessions_failed);
    if answer.sessions_empty > 0 {
        let empty = answer.sessions_empty;
        answer.message.push_str(&format!(
            " {empty} without an episode: no messages, or `session_tracking.store_in_graph` is false."
        ));
    }
    Ok(answer)
}

/// Requests again the summaries of the sessions whose requests to the model failed. A dry run only
/// counts these sessions.
async fn ask_again(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: &SyncHistoryArguments,
    project: Option<&[Namespace]>,
) -> Result<SyncHistoryAnswer, Error> {
    let store = daemon.engine.store();
    let mut sessions = Vec::new();
    for key in daemon.engine.abandoned().await.map_err(engine_error)? {
        let session = store.session(key).map_err(store_error)?;
        let is_wanted = session.is_some_and(|session| is_of_project(&session, project));
        sessions.extend(is_wanted.then_some(key));
    }
    sessions.truncate(arguments.max_sessions);
    let summarizer = daemon.engine.summarizer().await.map_err(engine_error)?;
    let mut answer = SyncHistoryAnswer {
        status: "success".to_owned(),
        dry_run: arguments.dry_run,
        sessions_found: sessions.len(),
        model: summarizer.writes_summaries().then(|| summarizer.client.model()),
        ..SyncHistoryAnswer::default()
    };
    let found = match sessions.len() {
        1 => "1 session has no summary of the model".to_owned(),
        count => format!("{count} sessions have no summary of the model"),
    };
    if arguments.dry_run || sessions.is_empty() || !summarizer.writes_summaries() {
        answer.message = format!("{found}, although it was requested.");
        return Ok(answer);
    }
    let paid = summarizer.paid();
    for (done, session) in sessions.iter().enumerate() {
        client.progress.report(done, sessions.len(), || session.0.to_string());
        daemon.engine.request_summary(*session).await.map_err(engine_error)?;
        let episode = store.stored_episode_of(*session).map_err(store_error)?;
        match episode.is_some_and(|episode| episode.author != Author::Evidence) {
            true => answer.sessions_indexed += 1,
            false => answer.sessions_failed += 1,
        }
    }
    answer.actual_cost = (summarizer.paid() - paid).max(0.0);
    answer.message =
        format!("The model wrote {} of {} summaries.", answer.sessions_indexed, sessions.len());
    Ok(answer)
}

/// Estimates the number of tokens of a session that a model would read.
fn tokens(candidate: &BackfillCandidate) -> u64 {
    candidate.bytes / BYTES_PER_TEXT_BYTE / BYTES_PER_TOKEN
}

/// Indexes one session after the other, so that live sessions take precedence, and no session is
/// left half indexed when the request is cancelled.
async fn index(
    daemon: &DaemonState,
    client: &ClientContext,
    candidates: &[BackfillCandidate],
    answer: &mut SyncHistoryAnswer,
) -> Result<(), Error> {
    let mut position = 0;
    for (done, one) in candidates.iter().enumerate() {
        client.progress.report(done, candidates.len(), || one.path.clone());
        let session = daemon.engine.ingest(one).await;
        let Some(session) = session.map_err(engine_error)? else {
            answer.sessions_failed += 1;
            continue;
        };
        match daemon.engine.close(session, CloseReason::HistorySync).await {
            Ok(closed) => {
                position = closed.position.max(position);
                if matches!(closed.how, CloseOutcome::Empty | CloseOutcome::NotWanted) {
                    answer.sessions_empty += 1;
                    continue;
                }
                answer.sessions_indexed += 1;
                // One request at a time, because live sessions need the model, too.
                daemon.engine.request_summary(session).await.map_err(engine_error)?;
            }
            Err(EngineError::Stopping) => return Err(store_error(StoreError::Closed)),
            Err(_) => answer.sessions_failed += 1,
        }
    }
    client.progress.report(candidates.len(), candidates.len(), || "Done".to_owned());
    // The sessions are indexed, even if searches do not find their episodes yet.
    let _ = daemon.engine.wait_until_searchable(position).await;
    Ok(())
}

fn found(candidate: &BackfillCandidate) -> PastSession {
    PastSession {
        path: candidate.path.clone(),
        modified: candidate.modified.to_string(),
        messages: candidate.messages,
    }
}
