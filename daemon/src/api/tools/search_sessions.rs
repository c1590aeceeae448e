//! `search_sessions`: searches the sessions of this machine and, if requested, of the team.

use graphiti_proto::{
    clean::for_model,
    rpc::{Error, code},
    tools::{
        Detail,
        search_sessions::{
            BroaderQuery, Hit, MatchedPassage, NAME, SearchSessionsAnswer, SearchSessionsArguments,
        },
    },
};

use super::{
    Effect, Tool, broader, by_id, engine_error, errors, input, output, passages, replies,
    store_error, team, text, typed, zero_limit,
};
use crate::{
    api::{
        DaemonState, blocking, catch_up,
        client_context::{ClientContext, ReplyForm},
        convert, current,
        projects::{search_scope, searched_projects},
    },
    clock,
    engine::{
        embedding,
        episode::handoff::{HandoffLine, topic},
    },
    model::{SessionKey, session::Session},
    search::{
        index::EpisodeField,
        query::Query,
        rank::{
            HitLocation, PassageHit, RankRequest, Results, Scope, SecondRanker, SessionHit, Weights,
        },
        snippet::{Highlighter, Snippet},
    },
    store::{SourceKey, StoreError},
};

/// Maximum number of sessions in an answer.
const MAX_HITS: usize = 50;
/// Default number of sessions for a program.
const STRUCTURED_HITS: usize = 10;
/// Default number of sessions for a model.
const TEXT_HITS: usize = 5;
/// Maximum number of passages of a session.
const MAX_PASSAGES: usize = 3;
/// Maximum number of results that can be skipped.
const MAX_OFFSET: usize = 450;
/// Maximum size, in bytes, of the text for a model that requests the default number of sessions,
/// without the last lines.
const TEXT_BYTES: usize = 5_200;
/// The same, for a model that requests long passages.
const FULL_TEXT_BYTES: usize = 16_000;
/// Maximum size, in bytes, of the text for any model.
const MAX_TEXT_BYTES: usize = 35_000;
/// Maximum length, in bytes, of a passage for a program.
const STRUCTURED_PASSAGE_BYTES: usize = 240;
/// Maximum length, in bytes, of a passage for a model.
const PASSAGE_BYTES: usize = 400;
/// Maximum length, in bytes, of a passage if long passages are requested.
const FULL_PASSAGE_BYTES: usize = 2_000;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Search sessions",
    description: "Search the messages and the work of earlier sessions.",
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
    let near = arguments.near.as_deref();
    let scope = search_scope(daemon, client, arguments.project.as_deref(), near)?;
    let pending_projects = scope.namespaces.clone().unwrap_or_default();
    let indexed = catch_up::index_pending(daemon, client, pending_projects).await?;
    let mut query = question(&arguments)?;
    query.widen_projects(&|name| daemon.engine.projects().known_by(name));
    let asked = team::ask_sessions(daemon, &arguments, scope.namespaces.as_deref(), &query)?;
    let limit = arguments.limit.unwrap_or(default_limit(client.reply_form)).min(MAX_HITS);
    let offset = arguments.offset.min(MAX_OFFSET);
    let mut results = search(daemon, &query, &scope, offset + limit).await?;
    let mut is_full = limit > 0 && results.sessions.len() == offset + limit && offset < MAX_OFFSET;
    let named = by_id::hit(daemon, client, &arguments.query, &query, &scope)?;
    let is_named = named.is_some();
    if let Some(named) = named {
        by_id::put_first(&mut results.sessions, named);
        results.sessions.truncate(offset + limit);
    }
    // If the results are merged with those of the team, they are cut to the page after the merge.
    let skipped = if asked.is_some() { 0 } else { offset };
    results.sessions.drain(..skipped.min(results.sessions.len()));
    let live = daemon.engine.live().await.map_err(engine_error)?;
    let highlighter = Highlighter::new(&query.spelled(&results.spelled));
    let form = PassageForm::of(client, arguments.detail, &highlighter);
    let mut hits = own_hits(daemon, &form, &results, &live, arguments.explain)?;
    let mut message =
        zero_limit::explain(indexed.message(), client.reply_form, "limit", limit, MAX_HITS);
    if let Some(asked) = asked {
        let snippet = |text: &str| form.snippet(text);
        // The named session stays first.
        let mut others = hits.split_off(usize::from(is_named).min(hits.len()));
        others = asked.merged(daemon, &query, others, &snippet, &mut message).await?;
        hits.extend(others);
        is_full |= limit > 0 && hits.len() > offset + limit;
        hits.drain(..offset.min(hits.len()));
        hits.truncate(limit);
    }
    let found = hits.len();
    offer_hits(daemon, client, &hits).await;
    match client.reply_form {
        ReplyForm::Structured => client.reply_budget.fit(&mut hits),
        ReplyForm::Text => fit_text(&mut hits, text_budget(limit, arguments.detail)),
    }
    let next = (is_full || hits.len() < found).then_some(offset + hits.len());
    let is_empty = client.reply_form == ReplyForm::Text && limit > 0 && offset == 0 && found == 0;
    let broader =
        if is_empty { broader(daemon, client, &arguments, &scope).await? } else { Vec::new() };
    let error = match offset {
        0 => errors::pasted(daemon, &arguments.query, scope.namespaces.as_deref())?,
        _ => None,
    };
    let pending = indexed.pending;
    let spelled = convert::spelled_words(results.spelled);
    Ok(SearchSessionsAnswer { message, error, hits, next, pending, spelled, broader })
}

fn default_limit(form: ReplyForm) -> usize {
    match form {
        ReplyForm::Structured => STRUCTURED_HITS,
        ReplyForm::Text => TEXT_HITS,
    }
}

/// Returns the rows of the sessions of this machine.
fn own_hits(
    daemon: &DaemonState,
    form: &PassageForm<'_>,
    results: &Results,
    live: &[Session],
    explain: bool,
) -> Result<Vec<Hit>, Error> {
    let mut hits = Vec::with_capacity(results.sessions.len());
    for found in &results.sessions {
        let stored = || daemon.engine.store().session(found.session).map_err(store_error);
        let session = match live.iter().find(|session| session.key == found.session) {
            Some(session) => Some(session.clone()),
            None => stored()?,
        };
        // The session was forgotten meanwhile.
        let Some(session) = session else { continue };
        let mut hit = hit(daemon, form, &session, found).map_err(store_error)?;
        hit.explanation = explain.then(|| convert::format_explanation(&found.explanation));
        hits.push(hit);
    }
    Ok(hits)
}

/// Records the hits that an agent's session got, to count those that it opens.
async fn offer_hits(daemon: &DaemonState, client: &ClientContext, hits: &[Hit]) {
    let Ok(Some(own)) = current::client_session(daemon, client).await else { return };
    let Ok(Some(own)) = daemon.engine.store().session(own) else { return };
    // Sessions of the team cannot be opened.
    let own_hits = hits.iter().filter(|hit| hit.team.is_none());
    let lines = own_hits.take(TEXT_HITS).map(|hit| HandoffLine {
        topic: topic::HITS.to_owned(),
        // A hit counts as used only when it is opened, so it has no text for a comparison.
        text: String::new(),
        session_id: hit.session.session_id.clone(),
    });
    daemon.engine.memory_use().offer(&own.id.id, lines.collect());
}

/// Returns the maximum size, in bytes, of the text for a model. It is larger for more sessions and
/// for long passages.
fn text_budget(limit: usize, detail: Detail) -> usize {
    let budget = match detail {
        Detail::Ids | Detail::Passages => TEXT_BYTES,
        Detail::Full => FULL_TEXT_BYTES,
    };
    (budget * limit.div_ceil(TEXT_HITS)).min(MAX_TEXT_BYTES)
}

/// Returns broader queries that find sessions, for a query without results.
async fn broader(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: &SearchSessionsArguments,
    scope: &Scope,
) -> Result<Vec<BroaderQuery>, Error> {
    let mut found = Vec::new();
    for (change, arguments) in broader::queries(arguments) {
        let namespaces = searched_projects(daemon, client, arguments.project.as_deref())?;
        let scope = Scope { namespaces, ..scope.clone() };
        let results = search(daemon, &question(&arguments)?, &scope, MAX_HITS).await?;
        let sessions = results.sessions.len();
        if sessions > 0 {
            found.push(BroaderQuery { change, sessions });
        }
    }
    Ok(found)
}

/// Keeps as many sessions as fit into `left` bytes of text, but at least one. The remaining space
/// is for passages: first the best passage of each session, then the second passages, and so on.
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
            // If a passage does not fit, the later passages of its session are left out, too.
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
    let query_vector = daemon.embedding.query_vector(query.said()).await;
    let search = |second: Option<&dyn SecondRanker>| {
        let now = clock::now();
        let request = RankRequest {
            query,
            scope,
            now,
            limit,
            weights: &weights,
            second,
            session_filter: None,
        };
        daemon.indexes.sessions.search(&request)
    };
    let results = blocking::read(|| {
        daemon.embedding.with_ranker(
            embedding::VectorSet::Sessions,
            query_vector.as_deref(),
            search,
        )
    });
    results.map_err(|error| Error::new(code::INTERNAL, error.to_string()))
}

/// Parses the query, and adds the filters of the other arguments.
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
            let what = format!("`{name}` must be {form}, not `{value}`");
            return Err(Error::new(code::INVALID_PARAMS, what));
        }
    }
    Ok(query)
}

/// How the passages of a session are shown.
struct PassageForm<'h> {
    /// Whether a model reads the passages.
    is_agent: bool,
    form: ReplyForm,
    detail: Detail,
    highlighter: &'h Highlighter,
}

impl<'h> PassageForm<'h> {
    fn of(client: &ClientContext, detail: Detail, highlighter: &'h Highlighter) -> PassageForm<'h> {
        let (is_agent, form) = (client.is_agent(), client.reply_form);
        PassageForm { is_agent, form, detail, highlighter }
    }

    fn limit(&self) -> usize {
        match (self.detail, self.form) {
            (Detail::Full, _) => FULL_PASSAGE_BYTES,
            (_, ReplyForm::Text) => PASSAGE_BYTES,
            (_, ReplyForm::Structured) => STRUCTURED_PASSAGE_BYTES,
        }
    }

    /// Returns the best part of a message.
    fn snippet(&self, text: &str) -> Snippet {
        // Text for agents is cleaned before its matches are marked, because marks are byte offsets.
        let text = if self.is_agent { for_model(text) } else { text.into() };
        let snippet = self.highlighter.snippet(&text, self.limit());
        match self.form {
            ReplyForm::Structured => snippet,
            ReplyForm::Text => Snippet { text: passages::at_clauses(&snippet), marks: Vec::new() },
        }
    }
}

fn hit(
    daemon: &DaemonState,
    form: &PassageForm<'_>,
    session: &Session,
    found: &SessionHit,
) -> Result<Hit, StoreError> {
    let wanted: &[PassageHit] = match (form.detail, form.form) {
        (Detail::Ids, _) => &[],
        (_, ReplyForm::Structured) => &found.passages[..found.passages.len().min(MAX_PASSAGES)],
        (_, ReplyForm::Text) => &found.passages,
    };
    let row = convert::session_row(daemon.engine.store().as_ref(), session)?;
    let mut passages = Vec::with_capacity(wanted.len());
    for passage in wanted {
        if let Some(text) = text_of(daemon, session.key, passage)? {
            let snippet = form.snippet(&text);
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
        if form.form == ReplyForm::Text {
            passages::remove_copies(&mut passages, &row.title);
            if passages.len() == MAX_PASSAGES {
                break;
            }
        }
    }
    if form.form == ReplyForm::Text {
        replies::add(daemon, session.key, &mut passages, MAX_PASSAGES)?;
        passages.truncate(MAX_PASSAGES);
    }
    Ok(Hit { session: row, score: f64::from(found.score), passages, ..Hit::default() })
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
    fn the_best_passages_of_all_sessions_come_before_second_passages() {
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

    #[test]
    fn the_text_is_larger_for_more_sessions_and_long_passages() {
        assert_eq!(text_budget(TEXT_HITS, Detail::Passages), TEXT_BYTES);
        assert_eq!(text_budget(2 * TEXT_HITS, Detail::Ids), 2 * TEXT_BYTES);
        assert_eq!(text_budget(1, Detail::Full), FULL_TEXT_BYTES);
        assert_eq!(text_budget(MAX_HITS, Detail::Full), MAX_TEXT_BYTES);
    }
}
