//! The start page: the results of a search, or the latest sessions if the query is empty.

use axum::extract::{Query, State};
use graphiti_proto::tools::{
    SessionRow,
    errors::ErrorRow,
    search_sessions::{Hit, MatchedPassage, NAME, SearchSessionsAnswer, SearchSessionsArguments},
};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    PageAnswer, PageResult,
    parts::{address, ago, message_address, session_meta, session_row, text, title, visible},
};
use crate::{
    api::in_process,
    model::SessionKey,
    view::{
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

/// Maximum number of sessions on a page of results.
const MAX_HITS: usize = 20;
/// Maximum number of sessions on the start page.
const MAX_LATEST: usize = 12;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct SearchQuery {
    q: String,
    project: String,
    agent: String,
    offset: usize,
}

pub(in crate::view) async fn overview(State(view): State<SharedView>) -> PageAnswer {
    let daemon = view.daemon()?;
    let entries = view.catalogue.entries(&daemon).await?;
    let keys: Vec<SessionKey> = entries.iter().take(MAX_LATEST).map(|entry| entry.key).collect();
    let latest = in_process::session_rows(&daemon, &keys).await?;
    let body = html! {
        (search_form(&SearchQuery::default()))
        section #results data-live="" aria-label=(T.results) { (latest_sessions(&latest, entries.len())) }
    };
    Ok(ViewPage::new(T.search, NavItem::Search, body))
}

pub(in crate::view) async fn results(
    State(view): State<SharedView>,
    Query(query): Query<SearchQuery>,
) -> PageAnswer {
    if query.q.trim().is_empty() {
        return overview(State(view)).await;
    }
    let answer = search(&view, &query).await?;
    let body = html! {
        (search_form(&query))
        section #results aria-label=(T.results) data-status=(texts::found(answer.hits.len(), answer.next.is_some())) {
            (hits(&query, &answer))
        }
    };
    Ok(ViewPage::new(format!("{} · {}", query.q, T.search), NavItem::Search, body))
}

async fn search(view: &SharedView, query: &SearchQuery) -> PageResult<SearchSessionsAnswer> {
    let given = |value: &str| Some(value.to_owned()).filter(|value| !value.is_empty());
    let arguments = SearchSessionsArguments {
        query: query.q.clone(),
        project: given(&query.project),
        agent: given(&query.agent),
        limit: Some(MAX_HITS),
        offset: query.offset,
        ..SearchSessionsArguments::default()
    };
    in_process::tool(&*view.daemon()?, NAME, &arguments).await
}

fn search_form(query: &SearchQuery) -> Markup {
    html! {
        form .search role="search" action="search" {
            label .hidden for="q" { (T.search_label) }
            input #q type="search" name="q" value=(query.q) placeholder=(T.search_label)
                autocomplete="off" autocapitalize="off" spellcheck="false" autofocus data-search="";
            @for (name, value) in [("project", &query.project), ("agent", &query.agent)] {
                @if !value.is_empty() { input type="hidden" name=(name) value=(value); }
            }
            button .primary { (T.search) }
        }
        @if !query.project.is_empty() {
            p .filters {
                (T.only_in) " " (text(&query.project)) " "
                a href=(address("search", &[("q", &query.q)])) { (T.in_all_projects) }
            }
        }
    }
}

fn hits(query: &SearchQuery, answer: &SearchSessionsAnswer) -> Markup {
    html! {
        h1 .hidden { (T.results) }
        @for word in &answer.spelled {
            p .hint { (texts::replaced_word(&word.asked, &word.used)) }
        }
        @if let Some(error) = &answer.error { (known_error(error)) }
        @if answer.hits.is_empty() { p .empty { (T.nothing_found) } }
        ol .list .hits {
            @for hit in &answer.hits { (hit_row(hit)) }
        }
        @if let Some(next) = answer.next {
            p .more { a rel="next" href=(address("search", &[
                ("q", &query.q), ("project", &query.project), ("agent", &query.agent), ("offset", &next.to_string()),
            ])) { (T.more_results) } }
        }
        @if !answer.message.is_empty() { p .hint { (answer.message) } }
    }
}

fn hit_row(hit: &Hit) -> Markup {
    let session = &hit.session;
    html! {
        li .row {
            h2 .row-title { a href=(address("session", &[("id", &session.session_id)])) { (text(title(session))) } }
            (session_meta(session))
            @for passage in hit.passages.iter().filter(|passage| passage.role != "title") { (shown_passage(&session.session_id, passage)) }
        }
    }
}

fn shown_passage(session: &str, passage: &MatchedPassage) -> Markup {
    let is_message = matches!(passage.role.as_str(), "user" | "assistant" | "tool" | "recap");
    let target = if is_message {
        message_address(session, passage.source, passage.seq)
    } else {
        address("session", &[("id", session)])
    };
    html! {
        a .passage href=(target) {
            span .role { (texts::role(&passage.role)) }
            span .lines dir="auto" {
                @for (part, is_match) in marked(&passage.text, &passage.marks) {
                    @if is_match { mark { (visible(part)) } } @else { (visible(part)) }
                }
            }
        }
    }
}

/// Splits a text into its marked and unmarked parts.
fn marked<'t>(text: &'t str, marks: &[(usize, usize)]) -> Vec<(&'t str, bool)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for (from, to) in marks {
        let (Some(before), Some(inside)) = (text.get(at..*from), text.get(*from..*to)) else {
            continue;
        };
        parts.push((before, false));
        parts.push((inside, true));
        at = *to;
    }
    parts.extend(text.get(at..).map(|rest| (rest, false)));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

fn known_error(error: &ErrorRow) -> Markup {
    html! {
        section .card .error-card {
            h2 { (T.known_error) }
            p { code { (text(&error.error)) } " " span .badge { (text(&error.state)) } }
            dl {
                @for (name, value) in [(T.cause, &error.cause), (T.fix, &error.fix), (T.verified_by, &error.verified_by)] {
                    @if let Some(value) = value { dt { (name) } dd { (text(value)) } }
                }
            }
            p .meta {
                (T.seen_last) " " (ago(&error.last_at))
                @for session in error.sessions.iter().take(3) {
                    " " a href=(address("session", &[("id", &session.session_id)])) { (text(&session.title)) }
                }
            }
        }
    }
}

fn latest_sessions(latest: &[SessionRow], total: usize) -> Markup {
    html! {
        h1 .section { (T.latest_sessions) }
        @if latest.is_empty() { p .empty { (T.no_sessions) } }
        ol .list { @for session in latest { (session_row(session)) } }
        @if total > latest.len() {
            p .more { a href="sessions" { (texts::all_sessions(total)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_split_a_text_and_invalid_marks_are_ignored() {
        assert_eq!(
            marked("a größer b", &[(2, 10)]),
            [("a ", false), ("größer", true), (" b", false)]
        );
        assert_eq!(marked("größer", &[(3, 4), (40, 50)]), [("größer", false)]);
        assert_eq!(marked("", &[]), []);
    }
}
