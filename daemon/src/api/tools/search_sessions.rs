//! `search_sessions`: searches the sessions of this machine and, if requested, of the team.

use std::collections::HashMap;

use graphiti_proto::{
    clean::for_model,
    rpc::{Error, code},
    tools::{
        Detail,
        search_sessions::{
            Hit, MatchedPassage, NAME, SearchSessionsAnswer, SearchSessionsArguments,
        },
    },
};

use super::{
    Effect, Tool, broader, by_id, capped, errors, fit, input, list_sessions, output, passages,
    replies,
    session_search::{
        MAX_HITS, QueryVectors, TEXT_HITS, explain_query, question, search, unknown_project,
        without_words,
    },
    store_error, team, typed, zero_limit,
};
use crate::{
    api::{
        DaemonState,
        agents::{agent_argument, unknown_agent},
        catch_up,
        client_context::{ClientContext, ReplyForm},
        convert, current,
        projects::search_scope,
    },
    engine::episode::handoff::{HandoffLine, topic},
    model::{SessionKey, episode::MEMORY, session::Session},
    search::{
        index::EpisodeField,
        rank::{HitLocation, PassageHit, Results, SessionHit},
        snippet::{Highlighter, Snippet},
    },
    store::{SourceKey, StoreError},
};

/// Default number of sessions for a program.
const STRUCTURED_HITS: usize = 10;
/// Maximum number of passages of a session for a program, and usually for a model.
const MAX_PASSAGES: usize = 3;
/// Maximum number of messages that [`replies::add`] adds to the passages of a session.
const MAX_ADDED: usize = 2;
/// Maximum number of passages of a session that has most of the space of a text.
const MAX_SHARE_PASSAGES: usize = 8;
/// Maximum number of results that can be skipped.
const MAX_OFFSET: usize = 450;
/// Maximum length, in bytes, of a passage for a program.
const STRUCTURED_PASSAGE_BYTES: usize = 240;
/// Usual maximum length, in bytes, of a passage for a model.
const PASSAGE_BYTES: usize = 400;
/// Minimum of this length, for a session with little space.
const MIN_PASSAGE_BYTES: usize = 200;
/// Maximum of this length, for a session with most of the space: the answer to a question is often
/// longer than [`PASSAGE_BYTES`].
const MAX_PASSAGE_BYTES: usize = 1_600;
/// The approximate cost of a session's line.
const LINE_COST: usize = 140;
/// The approximate cost of the role, the time and the place that are written before a passage.
const PASSAGE_HEAD_COST: usize = 50;
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
        Box::pin(typed(arguments, |given| checked(daemon, client, given)))
    },
};

/// Runs the tool, unless the request contains nothing to search for.
async fn checked(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: SearchSessionsArguments,
) -> Result<SearchSessionsAnswer, Error> {
    if client.reply_form == ReplyForm::Text && asks_for_nothing(&arguments) {
        let what = "`query` is missing: give words to search for, or a filter such as `project`";
        return Err(Error::new(code::INVALID_PARAMS, what));
    }
    let agent = arguments.agent.as_deref();
    // Remembered texts are found as sessions of this agent.
    agent_argument(daemon, agent.filter(|agent| !agent.trim().eq_ignore_ascii_case(MEMORY)))?;
    match without_words(&arguments.query) {
        // With a filter, a query without words lists the latest sessions, as an empty query does.
        Some(reason) if !has_filter(&arguments) => {
            Ok(SearchSessionsAnswer { message: reason.to_owned(), ..Default::default() })
        }
        _ => run(daemon, client, arguments).await,
    }
}

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: SearchSessionsArguments,
) -> Result<SearchSessionsAnswer, Error> {
    let scope = search_scope(daemon, client, &arguments)?;
    let projects = scope.namespaces.clone().unwrap_or_default();
    let indexed = catch_up::index_pending(daemon, client, projects).await?;
    let (mut vectors, mut query) = (QueryVectors::new(daemon), question(&arguments)?);
    query.widen_projects(&|name| daemon.engine.projects().known_by(name));
    let namespaces = scope.namespaces.as_deref();
    let team = team::ask_sessions(daemon, &arguments, namespaces, &query)?;
    let limit = arguments.limit.unwrap_or(default_limit(client.reply_form)).min(MAX_HITS);
    let offset = arguments.offset.min(MAX_OFFSET);
    let mut results = search(&mut vectors, &query, &scope, offset + limit).await?;
    let mut is_full = limit > 0 && results.sessions.len() == offset + limit && offset < MAX_OFFSET;
    let named = by_id::hit(daemon, client, &arguments.query, &query, &scope)?;
    let is_named = by_id::put_first(&mut results.sessions, named, offset + limit);
    // Results that are merged with the results of the team are cut to the page after the merge.
    let mut all = results.sessions.len();
    results.sessions.drain(..if team.is_some() { 0 } else { offset.min(all) });
    let highlighter = Highlighter::new(&query.spelled(&results.spelled));
    let form = PassageForm::of(client, &arguments, limit, &highlighter);
    let live = list_sessions::live_sessions(daemon).await?;
    let mut hits = own_hits(daemon, &form, &results, &live, arguments.explain)?;
    let mut message = explain_query(daemon.with_refusal(indexed.message()), &query);
    message = unknown_ticket(message, &results, team.is_some());
    if hits.is_empty() {
        let unread = if indexed.pending == 0 { catch_up::unread(daemon).await } else { None };
        let project = unknown_project(daemon, arguments.project.as_deref(), namespaces)?;
        message = joined([project, unknown_agent(daemon, &query), Some(message), unread]);
    }
    message = zero_limit::explain(message, client.reply_form, "limit", limit, MAX_HITS);
    if let Some(team) = team {
        // The session whose id is the query stays first.
        let mut others = hits.split_off(usize::from(is_named).min(hits.len()));
        let snippet = |text: &str| form.snippet(text, PASSAGE_BYTES);
        others = team.merged(daemon, &query, others, &snippet, &mut message).await?;
        hits.extend(others);
        all = hits.len();
        is_full |= limit > 0 && all > offset + limit;
        hits = hits.into_iter().skip(offset).take(limit).collect();
    }
    let pasted = || errors::pasted(daemon, &arguments.query, namespaces);
    let error = if offset == 0 { pasted()? } else { None };
    let found = hits.len();
    message = capped::explain(message, arguments.limit.unwrap_or(0), found, MAX_HITS);
    fit::fit_reply(client, &mut hits, error.as_ref(), limit, arguments.detail);
    offer_hits(daemon, client, &hits).await;
    let next = next_page(is_full || hits.len() < found, offset + hits.len());
    let mut broader = Vec::new();
    if client.reply_form == ReplyForm::Text && limit > 0 && found == 0 {
        match all {
            0 => broader = broader::found(daemon, client, &arguments, &scope, &mut vectors).await?,
            _ => message = zero_limit::explain_offset(&message, offset, all, "session"),
        }
    }
    let (pending, spelled) = (indexed.pending, convert::spelled_words(results.spelled));
    Ok(SearchSessionsAnswer { message, error, hits, next, pending, spelled, broader })
}

/// Returns the offset of the next page. There is no page after [`MAX_OFFSET`]: a higher offset would
/// return the same page again.
fn next_page(has_more: bool, offset: usize) -> Option<usize> {
    (has_more && offset <= MAX_OFFSET).then_some(offset)
}

fn joined(notes: [Option<String>; 4]) -> String {
    let notes = notes.into_iter().flatten().filter(|note| !note.is_empty());
    notes.collect::<Vec<_>>().join(" ")
}

/// Adds to the message of an answer that no session contains the ticket that the query consists of.
/// Sessions of the team may contain it.
fn unknown_ticket(message: String, results: &Results, is_with_team: bool) -> String {
    let ticket = results.unknown_ticket.as_deref().filter(|_| !results.sessions.is_empty());
    let Some(ticket) = ticket.filter(|_| !is_with_team) else { return message };
    let note =
        format!("`{ticket}` is in none of the searched sessions; these share only its parts.");
    if message.is_empty() { note } else { format!("{note} {message}") }
}

/// Whether a search has neither words nor filters.
fn asks_for_nothing(arguments: &SearchSessionsArguments) -> bool {
    arguments.query.trim().is_empty() && !has_filter(arguments)
}

/// Whether an argument besides the query limits the sessions.
fn has_filter(arguments: &SearchSessionsArguments) -> bool {
    let SearchSessionsArguments { project, agent, branch, file, tool, role, after, before, .. } =
        arguments;
    let filters = [project, agent, branch, file, tool, role, after, before];
    filters.iter().any(|filter| filter.is_some())
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
    live: &HashMap<SessionKey, Session>,
    explain: bool,
) -> Result<Vec<Hit>, Error> {
    let store = daemon.engine.store().as_ref();
    let shares = form.shares(&results.sessions);
    let mut hits = Vec::with_capacity(results.sessions.len());
    for (found, share) in results.sessions.iter().zip(shares) {
        let session = list_sessions::newest(store, live, found.session).map_err(store_error)?;
        let Some(session) = session else { continue };
        let mut hit = hit(daemon, form, &session, found, share).map_err(store_error)?;
        hit.explanation = explain.then(|| convert::format_explanation(&found.explanation));
        hits.push(hit);
    }
    Ok(hits)
}

/// Records the hits that were returned to an agent's session, to count the hits that the session
/// opens.
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

/// How the passages of a session are shown.
struct PassageForm<'h> {
    /// Whether a model reads the passages.
    is_agent: bool,
    form: ReplyForm,
    detail: Detail,
    /// Maximum number of sessions.
    limit: usize,
    highlighter: &'h Highlighter,
}

impl<'h> PassageForm<'h> {
    fn of(
        client: &ClientContext,
        arguments: &SearchSessionsArguments,
        limit: usize,
        highlighter: &'h Highlighter,
    ) -> PassageForm<'h> {
        let (is_agent, form, detail) = (client.is_agent(), client.reply_form, arguments.detail);
        PassageForm { is_agent, form, detail, limit, highlighter }
    }

    /// Returns the cost that each session has for its passages in a text for a model. The hits
    /// may be those of several pages if they are merged with hits of the team.
    fn shares(&self, hits: &[SessionHit]) -> Vec<usize> {
        let pages = hits.len().div_ceil(self.limit.max(1));
        let cost = fit::text_budget(self.limit, self.detail) * pages;
        let score =
            |hit: &SessionHit| if hit.passages.is_empty() { 0.0 } else { f64::from(hit.score) };
        let scores: Vec<f64> = hits.iter().map(score).collect();
        fit::shares(&scores, cost.saturating_sub(hits.len() * LINE_COST))
    }

    /// Returns the maximum length, in bytes, of the next passage of a session that has the cost
    /// `left` for its passages. The first passages are the best and get the most space.
    fn passage_bytes(&self, left: usize) -> usize {
        match (self.detail, self.form) {
            (Detail::Full, _) => FULL_PASSAGE_BYTES,
            (_, ReplyForm::Structured) => STRUCTURED_PASSAGE_BYTES,
            (_, ReplyForm::Text) => {
                let length = left.min(PASSAGE_BYTES).max(left / 2);
                length.clamp(MIN_PASSAGE_BYTES, MAX_PASSAGE_BYTES)
            }
        }
    }

    /// Whether a session with these passages gets no more passages. `left` is the cost that remains
    /// of the session's share.
    fn is_full(&self, passages: &[MatchedPassage], left: usize) -> bool {
        match self.form {
            ReplyForm::Structured => passages.len() >= MAX_PASSAGES,
            ReplyForm::Text => {
                passages.len() >= MAX_SHARE_PASSAGES
                    || left == 0 && !passages.iter().all(passages::says_nothing)
            }
        }
    }

    /// Returns the best excerpt of a text of a session that has the cost `left` for its passages.
    fn snippet(&self, text: &str, left: usize) -> Snippet {
        // Text for agents is cleaned before its matches are marked, because marks are byte offsets.
        let text = if self.is_agent { for_model(text) } else { text.into() };
        let snippet = self.highlighter.snippet(&text, self.passage_bytes(left));
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
    share: usize,
) -> Result<Hit, StoreError> {
    let wanted: &[PassageHit] = match form.detail {
        Detail::Ids => &[],
        Detail::Passages | Detail::Full => &found.passages,
    };
    let row = convert::session_row(daemon.engine.store().as_ref(), session)?;
    let mut passages = Vec::with_capacity(wanted.len());
    let mut left = share;
    for (number, passage) in wanted.iter().enumerate() {
        if let Some(text) = text_of(daemon, session.key, passage)? {
            let snippet = form.snippet(&text, left);
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
        let left_of = |passages: &[MatchedPassage]| {
            share.saturating_sub(passages.iter().map(passage_cost).sum())
        };
        left = left_of(&passages);
        // Comparing passages takes long, so copies are removed only when no passage is to follow.
        let is_last = number + 1 == wanted.len();
        if form.form == ReplyForm::Text && (is_last || form.is_full(&passages, left)) {
            passages::remove_copies(&mut passages, &row.title);
            left = left_of(&passages);
        }
        if form.is_full(&passages, left) {
            break;
        }
    }
    if form.form == ReplyForm::Text {
        // If the space does not suffice for the added messages, the last passages are left out.
        let most = (passages.len() + MAX_ADDED).max(MAX_PASSAGES);
        replies::add(daemon, session.key, &mut passages, most)?;
    }
    Ok(Hit { session: row, score: f64::from(found.score), passages, ..Hit::default() })
}

/// Returns the approximate cost of a passage. The cost of code is higher, so that the last passages
/// may not fit.
fn passage_cost(passage: &MatchedPassage) -> usize {
    passage.text.len() + PASSAGE_HEAD_COST
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
            let Some(episode) = store.stored_episode_of(session)? else { return Ok(None) };
            let fields = EpisodeField::all_of(&episode);
            Ok(fields.into_iter().nth(field as usize).map(|field| field.text))
        }
    }
}
