//! Renders the pages that only a copy has: the start page, the lists, and the script with the text
//! for the search.

use graphiti_proto::{
    rpc::{Error, code},
    tools::{
        SessionRow,
        get_handoff::{GetHandoffAnswer, GetHandoffArguments, NAME},
    },
};
use maud::{Markup, html};
use serde_json::json;

use super::{
    page::CopyPage,
    scope::{CopiedSession, CopyScope},
};
use crate::{
    api::{DaemonState, in_process},
    clock,
    model::{Namespace, SessionKey, graph::Relation, summary::EnhancedSessionSummary},
    store::StoreError,
    view::{
        dates::{day_of, time_of_day},
        layout::{NavItem, ViewPage},
        pages::{
            PageAnswer, PageResult,
            facts::fact_row,
            open_ends::{LISTS, section},
            parts::{address, day_heading, project_name, session_row, text, title, visible},
            projects as live_projects,
            sessions::by_day,
        },
        texts::{self, T},
    },
};

/// Maximum number of sessions on the start page.
const MAX_LATEST: usize = 12;
/// Maximum number of sessions on the page of a project.
const MAX_OF_PROJECT: usize = 200;
/// Maximum number of facts of one kind on the page of all kinds.
const MAX_FACTS: usize = 10;
/// Maximum number of characters of a summary that are searched.
const MAX_SEARCHED_CHARS: usize = 1_200;

pub(super) async fn start(daemon: &DaemonState, scope: &CopyScope) -> PageAnswer {
    let all: Vec<&CopiedSession> = scope.sessions.iter().collect();
    let latest = rows(daemon, &all[..all.len().min(MAX_LATEST)]).await?;
    let now = clock::now();
    let body = html! {
        h1 .hidden { (T.search) }
        div .search role="search" {
            label .hidden for="q" { (T.search_copy) }
            input #q type="search" placeholder=(T.search_copy) autocomplete="off" spellcheck="false"
                data-text-nothing=(T.nothing_found) data-text-found=(T.results);
        }
        noscript { p .hint { (T.search_needs_script) } }
        p .hint { (texts::copied(&format!("{} {}", day_of(now), time_of_day(now)), all.len())) }
        section #results aria-label=(T.results) hidden { ol .list .hits {} }
        section #latest {
            h2 .section { (T.latest_sessions) }
            @if latest.is_empty() { p .empty { (T.none) } }
            ol .list { @for session in &latest { (session_row(session)) } }
            @if all.len() > latest.len() { p .more { a href="sessions" { (texts::all_sessions(all.len())) } } }
        }
    };
    Ok(ViewPage::new(T.search, NavItem::Search, body))
}

pub(super) async fn sessions(daemon: &DaemonState, scope: &CopyScope, number: usize) -> PageAnswer {
    let part: Vec<&CopiedSession> = scope.chunk(number).iter().collect();
    let rows = rows(daemon, &part).await?;
    let body = html! {
        h1 { (T.sessions) " " span .count { (scope.sessions.len()) } }
        (pager(scope, number))
        (by_day(&rows, None))
        (pager(scope, number))
    };
    Ok(ViewPage::new(T.sessions, NavItem::Sessions, body))
}

fn pager(scope: &CopyScope, number: usize) -> Markup {
    html! {
        @if scope.chunks().len() > 1 {
            p .pager {
                @for other in scope.chunks() {
                    @let is_here = (other == number).then_some("page");
                    a href=(address("sessions", &[("number", &other.to_string())])) aria-current=[is_here] { (other + 1) }
                }
            }
        }
    }
}

pub(super) fn projects(daemon: &DaemonState, scope: &CopyScope) -> PageAnswer {
    let mut seen: Vec<Namespace> = Vec::new();
    for project in scope.sessions.iter().filter_map(|session| session.project) {
        if !seen.contains(&project) {
            seen.push(project);
        }
    }
    let known = daemon.engine.projects();
    let body = html! {
        h1 { (T.projects) " " span .count { (seen.len()) } }
        @if seen.is_empty() { p .empty { (T.none) } }
        ul .cards {
            @for project in &seen {
                @let path = known.path(*project).unwrap_or_default();
                @let sessions = scope.of_project(*project);
                li .card {
                    h2 { a href=(address("project", &[("dir", &path)])) { (text(project_name(&path))) } }
                    p .path { (text(&path)) }
                    p .meta {
                        span { (texts::sessions(sessions.len())) } " "
                        @if let Some(last) = sessions.first() { (day_of(last.last_activity)) }
                    }
                }
            }
        }
    };
    Ok(ViewPage::new(T.projects, NavItem::Projects, body))
}

pub(super) async fn project(
    daemon: &DaemonState,
    scope: &CopyScope,
    namespace: &str,
) -> PageAnswer {
    let wrong = || Error::new(code::INVALID_PARAMS, T.no_page);
    let project = Namespace::parse(namespace).ok_or_else(wrong)?;
    let path = daemon.engine.projects().path(project).unwrap_or_default();
    let all = scope.of_project(project);
    let shown = rows(daemon, &all[..all.len().min(MAX_OF_PROJECT)]).await?;
    let name = project_name(&path);
    let body = html! {
        h1 { (text(name)) }
        p .path { (text(&path)) }
        div .columns {
            section {
                h2 .section { (T.latest_sessions) " " span .count { (all.len()) } }
                ol .list { @for session in &shown { (session_row(session)) } }
                @if all.len() > shown.len() { p .more { a href="sessions" { (texts::more(all.len() - shown.len())) } } }
            }
            (handoff(daemon, scope, &path).await?)
        }
    };
    Ok(ViewPage::new(visible(name), NavItem::Projects, body))
}

/// Renders the handoff to the next session. A copy of recent sessions has no handoff, because a
/// handoff could mention older sessions.
async fn handoff(daemon: &DaemonState, scope: &CopyScope, path: &str) -> PageResult<Markup> {
    if scope.is_recent {
        return Ok(html! {});
    }
    let arguments =
        GetHandoffArguments { project: Some(path.to_owned()), ..GetHandoffArguments::default() };
    let handoff: GetHandoffAnswer = in_process::tool(daemon, NAME, &arguments).await?;
    Ok(live_projects::handoff(&handoff))
}

pub(super) async fn open_ends(daemon: &DaemonState, scope: &CopyScope) -> PageAnswer {
    let mut sections = Vec::new();
    for (heading, relation, _) in LISTS {
        let facts = scope.facts(daemon, relation).await?;
        sections.push(section(heading, &facts, &[], "", &others(relation)));
    }
    let body = html! {
        h1 { (T.open_ends) }
        div .columns { @for section in &sections { (section) } }
    };
    Ok(ViewPage::new(T.open_ends, NavItem::Open, body))
}

/// Renders the latest facts of each kind.
pub(super) async fn facts(daemon: &DaemonState, scope: &CopyScope) -> PageAnswer {
    let mut kinds = Vec::new();
    for kind in Relation::ALL.iter().filter(|kind| !kind.repeats_history()) {
        let facts = scope.facts(daemon, *kind).await?;
        kinds.extend((!facts.rows.is_empty()).then_some((kind.as_str(), facts)));
    }
    let body = html! {
        h1 { (T.facts) }
        @if kinds.is_empty() { p .empty { (T.none) } }
        @for (kind, facts) in &kinds {
            section {
                h2 .section { (texts::relation(kind)) }
                ol .list { @for fact in facts.rows.iter().take(MAX_FACTS) { (fact_row(fact, &[], "")) } }
                @if facts.rows.len() > MAX_FACTS {
                    @let more = if facts.others_after.is_some() { texts::at_least_more } else { texts::more };
                    p .more { a href=(address("facts", &[("kind", kind)])) { (more(facts.rows.len() - MAX_FACTS)) } }
                }
            }
        }
    };
    Ok(ViewPage::new(T.facts, NavItem::Facts, body))
}

pub(super) async fn facts_of(daemon: &DaemonState, scope: &CopyScope, kind: &str) -> PageAnswer {
    let kind = Relation::parse(kind).ok_or_else(|| Error::new(code::INVALID_PARAMS, T.no_page))?;
    let facts = scope.facts(daemon, kind).await?;
    let name = texts::relation(kind.as_str());
    let body = html! {
        h1 { (T.facts) ": " (name) " " (facts.count()) }
        ol .list { @for fact in &facts.rows { (fact_row(fact, &[], "")) } }
        (facts.note(&others(kind)))
    };
    Ok(ViewPage::new(format!("{name} · {}", T.facts), NavItem::Facts, body))
}

/// Renders the note that says how to find the facts of a kind that are not in the copy.
fn others(kind: Relation) -> Markup {
    html! { (texts::other_facts(kind.as_str())) }
}

/// Returns the script with the text for the search. Each session has its file, title, day, project,
/// outcome, and words of the summary.
pub(super) async fn index(
    daemon: &DaemonState,
    scope: &CopyScope,
    number: usize,
) -> PageResult<String> {
    let part: Vec<&CopiedSession> = scope.chunk(number).iter().collect();
    let failed = |error: StoreError| Error::new(code::INTERNAL, error.to_string());
    let mut entries = Vec::new();
    for session in part {
        let Some(row) = rows(daemon, &[session]).await?.pop() else { continue };
        let episode = session.episode.map(|id| daemon.engine.store().episode(id)).transpose();
        let summary = episode.map_err(failed)?.flatten().map(|episode| episode.summary);
        let page = CopyPage::Session { id: row.session_id.clone(), source: 0, first: 0 };
        entries.push(json!([
            page.file_name(),
            visible(title(&row)),
            day_heading(&row.last_activity),
            visible(project_name(&row.project)),
            row.episode.as_ref().map_or("", |episode| texts::outcome(&episode.outcome)),
            summary.as_ref().map(searched).unwrap_or_default(),
        ]));
    }
    let entries = serde_json::Value::Array(entries);
    Ok(format!("globalThis.copied = (globalThis.copied ?? []).concat({entries});\n"))
}

/// Returns the words of a summary that are searched.
fn searched(summary: &EnhancedSessionSummary) -> String {
    let lists = [&summary.completed_tasks, &summary.next_steps, &summary.discoveries];
    let decisions = summary.key_decisions.iter().flatten().map(|one| one.decision.as_str());
    let errors = summary.errors_resolved.iter().flatten().map(|one| one.error.as_str());
    let statements = [summary.objective.as_str()]
        .into_iter()
        .chain(summary.last_words.as_deref())
        .chain(decisions)
        .chain(errors)
        .chain(lists.into_iter().flatten().flatten().map(String::as_str));
    let words: Vec<&str> = statements.collect();
    visible(&words.join(" · ")).chars().take(MAX_SEARCHED_CHARS).collect()
}

async fn rows(daemon: &DaemonState, sessions: &[&CopiedSession]) -> PageResult<Vec<SessionRow>> {
    let keys: Vec<SessionKey> = sessions.iter().map(|session| session.key).collect();
    in_process::session_rows(daemon, &keys).await
}
