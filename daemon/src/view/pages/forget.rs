//! The pages that forget sessions: preview, removal and undo.

use axum::extract::{Query, State};
use graphiti_proto::methods::forget::{FORGET, Forget, Forgotten, ForgottenRow};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    PageAnswer, PageResult,
    parts::{action, address, ago, project_name, text},
};
use crate::{
    api::in_process,
    model::episode::MEMORY,
    view::{
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct ForgetQuery {
    session: String,
}

/// Shows what would be removed or, without a session in the query, what was removed earlier.
pub(in crate::view) async fn preview(
    State(view): State<SharedView>,
    Query(query): Query<ForgetQuery>,
) -> PageAnswer {
    let found = call(&view, &query, |request| Forget { dry_run: true, ..request }).await?;
    let body = match query.session.is_empty() {
        true => earlier_removals(&found),
        false => removal(&query.session, &found),
    };
    Ok(ViewPage::new(T.forgotten, NavItem::Forget, body))
}

pub(in crate::view) async fn forget(
    State(view): State<SharedView>,
    Query(query): Query<ForgetQuery>,
) -> PageAnswer {
    let removed = match query.session.is_empty() {
        true => Forgotten::default(),
        false => call(&view, &query, |request| Forget { dry_run: false, ..request }).await?,
    };
    Ok(ViewPage::new(T.forgotten, NavItem::Forget, undoable(&removed)))
}

pub(in crate::view) async fn restore(
    State(view): State<SharedView>,
    Query(query): Query<ForgetQuery>,
) -> PageAnswer {
    let restored = call(&view, &query, |request| Forget { undo: true, ..request }).await?;
    let body = html! {
        h1 { (T.restored) }
        @for session in &restored.sessions {
            p { (text(&session.session_id)) ": " (if session.exists { T.read_again } else { T.transcript_gone }) }
        }
        p { a href="sessions" { (T.sessions) } }
    };
    Ok(ViewPage::new(T.restored, NavItem::Forget, body))
}

async fn call(
    view: &SharedView,
    query: &ForgetQuery,
    request: impl FnOnce(Forget) -> Forget,
) -> PageResult<Forgotten> {
    let sessions = Some(query.session.clone()).filter(|session| !session.is_empty());
    let request = request(Forget { sessions: sessions.into_iter().collect(), ..Forget::default() });
    in_process::method(&*view.daemon()?, FORGET, &request).await
}

fn removal(session: &str, found: &Forgotten) -> Markup {
    html! {
        h1 { (T.forget_question) }
        (rows(&found.sessions))
        dl .figures {
            @for (name, count) in [(T.stored_messages, found.messages), (T.summaries, found.episodes), (T.entities, found.things), (T.hook_events, found.events)] {
                div { dt { (name) } dd { (texts::grouped(count)) } }
            }
        }
        p { (T.forget_explanation) }
        @if found.sessions.iter().any(|session| session.exists) { p { (T.forget_transcript) } }
        @if found.sessions.iter().any(|session| !session.exists) { p .warning { (T.forget_for_good) } }
        @if !found.relatives.is_empty() { h2 .section { (T.relatives) } (rows(&found.relatives)) }
        div .actions {
            (action(&address("forget", &[("session", session)]), T.forget_now, "bad"))
            a href=(address("session", &[("id", session)])) { (T.cancel) }
        }
    }
}

fn undoable(removed: &Forgotten) -> Markup {
    html! {
        h1 { (T.is_forgotten) }
        (rows(&removed.sessions))
        div .actions {
            @for session in removed.sessions.iter().filter(|session| session.exists) {
                (action(&address("restore", &[("session", &session.session_id)]), T.undo, ""))
            }
        }
        @if removed.sessions.iter().any(|session| !session.exists) { p .warning { (T.forget_for_good) } }
        @if !removed.damaged.is_empty() { p .warning { (T.forget_damaged) } }
        p { a href="sessions" { (T.sessions) } }
    }
}

fn earlier_removals(found: &Forgotten) -> Markup {
    html! {
        h1 { (T.forgotten) " " span .count { (found.sessions.len()) } }
        p .hint { (T.forgotten_hint) }
        @if found.sessions.is_empty() { p .empty { (T.none) } }
        ul .list {
            @for session in &found.sessions {
                li .row {
                    p { (text(&session.agent)) " " code { (text(&session.session_id)) } " " (ago(&session.at)) }
                    @if session.agent == MEMORY { p .meta { (T.forgotten_text) } }
                    @else { (action(&address("restore", &[("session", &session.session_id)]), T.undo, "")) }
                }
            }
        }
    }
}

fn rows(sessions: &[ForgottenRow]) -> Markup {
    html! {
        ul .list {
            @for session in sessions {
                li .row {
                    p .row-title { @if session.title.is_empty() { (text(&session.session_id)) } @else { (text(&session.title)) } }
                    p .meta {
                        (text(project_name(&session.project))) " " (text(&session.agent)) " " (ago(&session.at)) " "
                        (texts::messages(session.messages))
                    }
                    p .path { (text(&session.file_path)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_messages_of_a_forgotten_session_are_reported() {
        let page = |damaged: &[&str]| {
            let damaged = damaged.iter().map(|id| (*id).to_owned()).collect();
            undoable(&Forgotten { damaged, ..Forgotten::default() }).into_string()
        };
        assert!(page(&["aaaa"]).contains(T.forget_damaged));
        assert!(!page(&[]).contains(T.forget_damaged));
    }

    #[test]
    fn a_remembered_text_cannot_be_restored() {
        let page = |agent: &str| {
            let (agent, session_id) = (agent.to_owned(), "aaaa".to_owned());
            let session = ForgottenRow { agent, session_id, ..ForgottenRow::default() };
            let found = Forgotten { sessions: vec![session], ..Forgotten::default() };
            earlier_removals(&found).into_string()
        };
        assert!(page("claude").contains("<form"));
        let memory = page(MEMORY);
        assert!(!memory.contains("<form") && memory.contains(T.forgotten_text), "{memory}");
    }
}
