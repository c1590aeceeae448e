//! `search_sessions`.

use graphiti_proto::{
    clean::for_model,
    rpc::{Error, code},
    tools::search_sessions::{
        Hit, MatchedPassage, NAME, SearchSessionsAnswer, SearchSessionsArguments,
    },
};

use super::{
    Effect, Tool, engine_error, input, output, project_argument, store_error, text, typed,
};
use crate::{
    api::{
        DaemonState, blocking, catch_up,
        client_context::{ClientContext, ReplyForm},
        convert, handoff,
    },
    clock,
    engine::embedding,
    model::{Namespace, SessionKey, session::Session},
    search::{
        index::EpisodeField,
        query::Query,
        rank::{
            HitLocation, PassageHit, RankRequest, Results, Scope, SecondRanker, SessionHit, Weights,
        },
        snippet::Highlighter,
    },
    store::{SourceKey, StoreError},
};

/// Maximum number of sessions in an answer.
const HITS: usize = 50;
/// Maximum number of sessions that can be paged through.
const DEEPEST: usize = 450;
/// Bytes of the text for a model, without its last lines.
const TEXT: usize = 5_600;
/// Maximum bytes of a passage.
const SNIPPET: usize = 240;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Search sessions",
    description: "Search everything that was said and done in earlier sessions: words, \"phrases\", prefix*, -not, \
        field:value (project, agent, branch, file, tool, role, date, before, after), or a plain question. Go on with `offset`, by as many as came.",
    effect: Effect::Reads,
    input: input::<SearchSessionsArguments>,
    output: output::<SearchSessionsAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: SearchSessionsArguments,
) -> Result<SearchSessionsAnswer, Error> {
    let project = project_argument(arguments.project.as_deref());
    let indexed = catch_up::index_pending(daemon, client, project.into_iter().collect()).await?;
    let scope = Scope {
        namespaces: project.map(|project| vec![project]),
        near: near(daemon, arguments.near.as_deref().or(client.directory.as_deref()))
            .map_err(store_error)?,
        ..Scope::default()
    };
    let query = question(&arguments)?;
    let limit = arguments.limit.min(HITS);
    let offset = arguments.offset.min(DEEPEST);
    let mut results = search(daemon, &query, &scope, offset + limit).await?;
    let is_full = limit > 0 && results.sessions.len() == offset + limit && offset < DEEPEST;
    results.sessions.drain(..offset.min(results.sessions.len()));
    let live = daemon.engine.live().await.map_err(engine_error)?;
    let highlighter = Highlighter::new(&query);
    let mut hits = Vec::with_capacity(results.sessions.len());
    for found in &results.sessions {
        let stored = || daemon.engine.store().session(found.session).map_err(store_error);
        let session = match live.iter().find(|session| session.key == found.session) {
            Some(session) => Some(session.clone()),
            None => stored()?,
        };
        // The session was forgotten in the meantime.
        let Some(session) = session else { continue };
        let mut hit = hit(daemon, client, &highlighter, &session, found).map_err(store_error)?;
        hit.explanation = arguments.explain.then(|| convert::explained(&found.explanation));
        hits.push(hit);
    }
    let found = hits.len();
    match client.reply_form {
        ReplyForm::Structured => client.reply_budget.fit(&mut hits),
        ReplyForm::Text => fit_text(&mut hits, TEXT),
    }
    let next = (is_full || hits.len() < found).then_some(offset + hits.len());
    Ok(SearchSessionsAnswer { message: indexed.message(), hits, next, pending: indexed.pending })
}

/// Keeps what fits in `left` bytes of text: as many sessions as do, at least one, with the best
/// passage of each, then the second ones.
fn fit_text(hits: &mut Vec<Hit>, mut left: usize) {
    let sizes: Vec<_> = hits.iter().map(text::search::sizes).collect();
    let mut fits = |size: usize| {
        let fits = size <= left;
        left = if fits { left - size } else { left };
        fits
    };
    let fitting = sizes.iter().take_while(|(line, _)| fits(*line)).count().max(1);
    hits.truncate(fitting);
    let rounds = sizes.iter().map(|(_, passages)| passages.len()).max().unwrap_or_default();
    let mut kept = vec![0; hits.len()];
    for round in 0..rounds {
        for (kept, (_, passages)) in kept.iter_mut().zip(&sizes) {
            // Where one did not fit, no later one is shown in its place.
            if *kept == round && passages.get(round).is_some_and(|size| fits(*size)) {
                *kept += 1;
            }
        }
    }
    for (hit, kept) in hits.iter_mut().zip(kept) {
        hit.passages.truncate(kept);
    }
}

async fn search(
    daemon: &DaemonState,
    query: &Query,
    scope: &Scope,
    limit: usize,
) -> Result<Results, Error> {
    let weights = Weights::default();
    let meant = daemon.embedding.question(query.said()).await;
    let search = |second: Option<&dyn SecondRanker>| {
        let now = clock::now();
        let request =
            RankRequest { query, scope, now, limit, weights: &weights, second, only: None };
        daemon.indexes.sessions.search(&request)
    };
    let results = blocking::read(|| {
        daemon.embedding.with_ranker(embedding::VectorSet::Sessions, meant.as_deref(), search)
    });
    results.map_err(|error| Error::new(code::INTERNAL, error.to_string()))
}

/// Adds the filters of the other arguments to the query.
fn question(arguments: &SearchSessionsArguments) -> Result<Query, Error> {
    let now = clock::zoned();
    let mut query = Query::parse(&arguments.query, &now);
    let filters = [
        ("agent", &arguments.agent, "the name of an agent"),
        ("branch", &arguments.branch, "the name of a branch"),
        ("file", &arguments.file, "the end of a path"),
        ("tool", &arguments.tool, "the name of a tool"),
        ("role", &arguments.role, "`user`, `assistant`, `tool` or `recap`"),
        ("after", &arguments.after, "a day such as 2026-03-01 or \"last week\""),
        ("before", &arguments.before, "a day such as 2026-03-01 or \"last week\""),
    ];
    for (name, value, form) in filters {
        let Some(value) = value.as_deref().map(str::trim).filter(|value| !value.is_empty()) else {
            continue;
        };
        if !query.require(name, value, &now) {
            let what = format!("`{name}` is {form}, not `{value}`");
            return Err(Error::new(code::INVALID_PARAMS, what));
        }
    }
    Ok(query)
}

/// Returns the project of `directory`.
fn near(daemon: &DaemonState, directory: Option<&str>) -> Result<Option<Namespace>, StoreError> {
    let Some(directory) = directory else { return Ok(None) };
    let project = handoff::project_of(daemon.engine.store().as_ref(), directory)?;
    Ok(project.map(|(project, _)| project.namespace()))
}

fn hit(
    daemon: &DaemonState,
    client: &ClientContext,
    highlighter: &Highlighter,
    session: &Session,
    found: &SessionHit,
) -> Result<Hit, StoreError> {
    let mut passages = Vec::with_capacity(found.passages.len());
    for passage in &found.passages {
        if let Some(text) = text_of(daemon, session.key, passage)? {
            // Text for agents is cleaned before its matches are marked, because marks are byte
            // offsets.
            let text = if client.is_agent() { for_model(&text) } else { text.as_str().into() };
            let snippet = highlighter.snippet(&text, SNIPPET);
            let (source, seq) = match passage.place {
                HitLocation::Message { source, seq } => (source, seq),
                HitLocation::Episode { .. } => (0, 0),
            };
            passages.push(MatchedPassage {
                role: passage.kind.as_str().to_owned(),
                at: passage.at.to_string(),
                source,
                seq,
                text: snippet.text,
                marks: snippet.marks.into_iter().map(|mark| (mark.start, mark.end)).collect(),
            });
        }
    }
    Ok(Hit {
        session: convert::session_row(daemon.engine.store().as_ref(), session)?,
        score: f64::from(found.score),
        passages,
        explanation: None,
    })
}

/// Returns the text at a location of the index; `None` when it no longer exists.
fn text_of(
    daemon: &DaemonState,
    session: SessionKey,
    passage: &PassageHit,
) -> Result<Option<String>, StoreError> {
    let store = daemon.engine.store();
    match passage.place {
        HitLocation::Message { source, seq } => {
            let key = SourceKey { session, number: source };
            Ok(store.messages(key, seq, 1)?.pop().map(|message| message.text))
        }
        HitLocation::Episode { field } => {
            let indexed = store.session(session)?.and_then(|session| session.indexed);
            let Some(indexed) = indexed else { return Ok(None) };
            let Some(episode) = store.episode(indexed.episode)? else { return Ok(None) };
            let fields = EpisodeField::all_of(&episode);
            Ok(fields.into_iter().nth(field as usize).map(|field| field.text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_passage_of_every_session_comes_before_the_second_of_any() {
        let passage = || MatchedPassage { text: "x".repeat(80), ..MatchedPassage::default() };
        let hit = || Hit { passages: vec![passage(), passage(), passage()], ..Hit::default() };
        let (line, passages) = text::search::sizes(&hit());
        let kept = |left: usize| {
            let mut hits = vec![hit(), hit()];
            fit_text(&mut hits, left);
            hits.iter().map(|hit| hit.passages.len()).collect::<Vec<_>>()
        };
        let lines = 2 * line;
        assert_eq!(kept(10_000), [3, 3]);
        assert_eq!(kept(lines + 3 * passages[0]), [2, 1]);
        assert_eq!(kept(lines + passages[0]), [1, 0]);
        assert_eq!(kept(line), [0]);
        assert_eq!(kept(0), [0]);
    }
}
