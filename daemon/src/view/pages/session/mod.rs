//! The page of a session: its summary next to its conversation.

mod conversation;
mod evidence;
mod summary;

use axum::extract::{Query, State};
use graphiti_proto::tools::{
    get_episode_entities::{self, EpisodeEntitiesAnswer, EpisodeEntitiesArguments},
    get_session::{GetSessionAnswer, GetSessionArguments, NAME},
};
use maud::{Markup, html};
use serde::Deserialize;

use self::{conversation::ConversationPage, evidence::EvidenceLinks};
use super::{
    PageAnswer, PageResult,
    parts::{address, lines, session_meta, text, title, visible},
};
use crate::{
    api::{DaemonState, in_process},
    model::summary::EnhancedSessionSummary,
    view::{
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

/// Maximum number of messages on a page.
const PAGE: u32 = 150;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct SessionQuery {
    id: String,
    /// The number of the file; 0 is the session's own file.
    source: u32,
    /// The number of a message to show.
    at: Option<u32>,
    /// The number of a line of the transcript to show.
    line: Option<u64>,
}

pub(in crate::view) async fn page(
    State(view): State<SharedView>,
    Query(query): Query<SessionQuery>,
) -> PageAnswer {
    let daemon = view.daemon()?;
    let at = match query.line {
        Some(line) => in_process::message_at_line(&daemon, &query.id, line).await?,
        None => query.at,
    };
    show(&daemon, &query, at).await
}

/// Returns the number of the first message on the page that contains the message `at`.
pub(in crate::view) fn first_of_page(at: u32) -> u32 {
    at / PAGE * PAGE
}

/// Renders the page of the query, and marks the message `at`.
pub(in crate::view) async fn show(
    daemon: &DaemonState,
    query: &SessionQuery,
    at: Option<u32>,
) -> PageAnswer {
    let first = first_of_page(at.or(query.at).unwrap_or(0));
    let messages = session(daemon, query, "messages", first).await?;
    let answer = session(daemon, query, "summary", 0).await?;
    let entities = entities(daemon, &answer).await?;
    let summary = summary_fields(&answer);
    let session = &answer.session;
    let total = in_process::message_total(daemon, &session.session_id, messages.source).await?;
    let links = EvidenceLinks::read(daemon, session, &entities.facts);
    let conversation = ConversationPage {
        session,
        source: messages.source,
        first,
        at,
        page: PAGE,
        total,
        answer: &messages,
        shown_chars: conversation::shown_chars(&messages.messages),
    };
    let body = html! {
        header .session-head {
            h1 { (text(title(session))) }
            (session_meta(session))
            (head_actions(&session.session_id))
        }
        @if let Some(summary) = &summary { (summary::phases(&session.session_id, summary)) }
        div .session {
            aside .summary aria-label=(T.summary) #summary data-live="" {
                @match &summary {
                    Some(summary) => { (summary::fields(summary, &links)) (summary::entities(&entities.nodes)) }
                    None => { (as_text(&answer)) (summary::entities(&entities.nodes)) }
                }
                (details(&answer))
            }
            section .conversation aria-label=(T.conversation) {
                h2 .section { (T.conversation) }
                (files(&answer, messages.source))
                div #conversation data-live=(session.session_id) { (conversation.markup()) }
            }
        }
    };
    Ok(ViewPage::new(visible(title(session)), NavItem::Sessions, body))
}

/// Returns the fields of the summary, or `None` if the summary has only text. This is the case for
/// a memory, an imported episode with only text, and a summary that a newer version wrote.
fn summary_fields(answer: &GetSessionAnswer) -> Option<EnhancedSessionSummary> {
    let summary: EnhancedSessionSummary = serde_json::from_value(answer.summary.clone()?).ok()?;
    (!summary.objective.is_empty()).then_some(summary)
}

fn as_text(answer: &GetSessionAnswer) -> Markup {
    let markdown = answer.markdown.as_deref().map(str::trim).filter(|text| !text.is_empty());
    html! {
        h2 .section { (T.summary) }
        @match markdown {
            Some(markdown) => { p { (lines(markdown)) } }
            None => { p .empty { (T.no_summary) } }
        }
    }
}

async fn session(
    daemon: &DaemonState,
    query: &SessionQuery,
    view: &str,
    from: u32,
) -> PageResult<GetSessionAnswer> {
    let arguments = GetSessionArguments {
        session_id: Some(query.id.clone()),
        view: view.to_owned(),
        source: query.source,
        from,
        limit: PAGE as usize,
        ..GetSessionArguments::default()
    };
    in_process::tool(daemon, NAME, &arguments).await
}

async fn entities(
    daemon: &DaemonState,
    answer: &GetSessionAnswer,
) -> PageResult<EpisodeEntitiesAnswer> {
    let Some(episode) = &answer.session.episode else {
        return Ok(EpisodeEntitiesAnswer::default());
    };
    let arguments = EpisodeEntitiesArguments { episode_uuids: vec![episode.uuid.clone()] };
    in_process::tool(daemon, get_episode_entities::NAME, &arguments).await
}

fn head_actions(session: &str) -> Markup {
    html! {
        p .actions {
            code .id { (text(session)) }
            a .live href=(address("forget", &[("session", session)])) { (T.forget_link) }
        }
    }
}

/// Renders links to the session's own file and to the files of its sub-agents, if there are any.
fn files(answer: &GetSessionAnswer, source: u32) -> Markup {
    if answer.files.len() < 2 {
        return html! {};
    }
    let id = &answer.session.session_id;
    html! {
        nav .tabs aria-label=(T.files) {
            @for file in &answer.files {
                @let name = file.sub_agent.as_deref().unwrap_or(T.session_file);
                a href=(address("session", &[("id", id), ("source", &file.number.to_string())]))
                    aria-current=[(file.number == source).then_some("page")] { (text(name)) } " "
            }
        }
    }
}

fn details(answer: &GetSessionAnswer) -> Markup {
    let session = &answer.session;
    html! {
        details .about {
            summary { (T.about_session) }
            dl {
                dt { (T.state) } dd { (texts::state(&session.state)) }
                @if let Some(error) = &session.error { dt { (T.failed) } dd { (text(error)) } }
                @if !session.project.is_empty() { dt { (T.project) } dd .path { (text(&session.project)) } }
                dt { (T.transcript) } dd .path { (text(&session.file_path)) }
                @if let Some(forked_from) = &answer.forked_from {
                    dt { (T.forked_from) } dd { a href=(address("session", &[("id", forked_from)])) { (text(forked_from)) } }
                }
                @if let Some(episode) = &session.episode {
                    dt { (T.summary_by) } dd { (text(episode.model.as_deref().unwrap_or(T.evidence))) }
                    @if !episode.branches.is_empty() { dt { (T.branches) } dd { (text(&episode.branches.join(", "))) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphiti_proto::tools::get_session::FileRow;

    #[test]
    fn the_tabs_link_to_the_numbers_of_the_files() {
        let file = |number: u32| FileRow {
            number,
            sub_agent: Some(format!("agent-{number}")),
            ..FileRow::default()
        };
        let answer = GetSessionAnswer { files: vec![file(1), file(2)], ..Default::default() };
        let tabs = files(&answer, 2).into_string();
        let current: Vec<&str> =
            tabs.split("<a ").filter(|tab| tab.contains("aria-current")).collect();
        assert!(tabs.contains("source=1") && !tabs.contains("source=0"), "{tabs}");
        assert!(current.len() == 1 && current[0].contains("source=2"), "{tabs}");
    }
}
