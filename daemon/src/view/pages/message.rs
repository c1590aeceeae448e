//! The page of a complete message. A long message has several parts.

use axum::extract::{Query, State};
use graphiti_proto::{
    rpc::{Error, code},
    tools::get_session::{GetSessionAnswer, GetSessionArguments, NAME},
};
use maud::html;
use serde::Deserialize;

use super::{
    PageAnswer,
    parts::{address, message_address, moment, text, title, visible},
};
use crate::{
    api::{DaemonState, in_process},
    view::{
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

/// Maximum length, in characters, of a part.
const PART_CHARS: usize = 50_000;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct MessageQuery {
    id: String,
    source: u32,
    seq: u32,
    /// The number of the first character to show.
    from: usize,
}

pub(in crate::view) async fn page(
    State(view): State<SharedView>,
    Query(query): Query<MessageQuery>,
) -> PageAnswer {
    show(&*view.daemon()?, &query).await
}

pub(in crate::view) async fn show(daemon: &DaemonState, query: &MessageQuery) -> PageAnswer {
    let arguments = GetSessionArguments {
        session_id: Some(query.id.clone()),
        view: "messages".to_owned(),
        source: query.source,
        from: query.seq,
        limit: 1,
        ..GetSessionArguments::default()
    };
    let answer: GetSessionAnswer = in_process::tool(daemon, NAME, &arguments).await?;
    let message = answer.messages.first().filter(|message| message.seq == query.seq);
    let message = message.ok_or_else(|| Error::new(code::NOT_FOUND, T.no_message))?;
    let part: String = message.text.chars().skip(query.from).take(PART_CHARS).collect();
    let length = message.text.chars().count();
    let id = &answer.session.session_id;
    let at = |from: usize| {
        let numbers = [query.source.to_string(), query.seq.to_string(), from.to_string()];
        address(
            "message",
            &[("id", id), ("source", &numbers[0]), ("seq", &numbers[1]), ("from", &numbers[2])],
        )
    };
    let body = html! {
        p .meta { a href=(message_address(id, query.source, query.seq)) { "← " (text(title(&answer.session))) } }
        h1 { (texts::role(&message.role)) " " span .count { (texts::characters(length)) } }
        p .meta { (moment(&message.at)) @if let Some(tool) = &message.tool { " " (text(tool)) } " " (T.line) " " (message.line) }
        pre .whole dir="auto" tabindex="0" aria-label=(T.message) { (visible(&part)) }
        nav .pager aria-label=(T.parts) {
            @if query.from > 0 { a rel="prev" href=(at(query.from.saturating_sub(PART_CHARS))) { (T.previous) } }
            @if query.from + PART_CHARS < length { a rel="next" href=(at(query.from + PART_CHARS)) { (T.next) } }
        }
    };
    Ok(ViewPage::new(visible(title(&answer.session)), NavItem::Sessions, body))
}
