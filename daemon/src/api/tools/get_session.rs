//! `get_session`.

use graphiti_proto::{
    rpc::{Error, code},
    tools::get_session::{Answer, Arguments, NAME},
};

use super::{Tool, engine_error, store_error, typed, unclear_error};
use crate::{
    api::{Daemon, caller::Caller, convert, current},
    engine::episode,
    model::session::Session,
    store::SourceKey,
};

/// Messages on a page at most.
const PAGE: usize = 200;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    description: "Show one session: its summary (what was wanted, decided, fixed, left open), or its messages \
        page by page.",
    call: |daemon, caller, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, caller, given)))
    },
};

async fn run(daemon: &Daemon, caller: &Caller, arguments: Arguments) -> Result<Answer, Error> {
    let key = current::resolve(daemon, arguments.session_id.as_deref(), caller)
        .await
        .map_err(unclear_error)?;
    let live = daemon.engine.live().await.map_err(engine_error)?;
    let store = daemon.engine.store().as_ref();
    let session = match live.into_iter().find(|session| session.key == key) {
        Some(session) => session,
        None => store
            .session(key)
            .map_err(store_error)?
            .ok_or_else(|| Error::new(code::NOT_FOUND, "the session was just forgotten"))?,
    };
    let mut answer = Answer {
        session: convert::session_row(store, &session).map_err(store_error)?,
        files: store.sources_of(key).map_err(store_error)?.iter().map(convert::file_row).collect(),
        ..Answer::default()
    };
    match arguments.view.as_str() {
        "summary" => add_summary(daemon, &session, &mut answer)?,
        "messages" => add_messages(daemon, &session, &arguments, &mut answer)?,
        other => {
            let what = format!("`view` is `summary` or `messages`, not `{other}`");
            return Err(Error::new(code::INVALID_PARAMS, what));
        }
    }
    Ok(answer)
}

fn add_summary(daemon: &Daemon, session: &Session, answer: &mut Answer) -> Result<(), Error> {
    let Some(indexed) = &session.indexed else { return Ok(()) };
    let episode = daemon.engine.store().episode(indexed.episode).map_err(store_error)?;
    if let Some(episode) = episode {
        answer.markdown = Some(episode::markdown(&episode));
        answer.summary = serde_json::to_value(&episode.summary).ok();
    }
    Ok(())
}

fn add_messages(
    daemon: &Daemon,
    session: &Session,
    arguments: &Arguments,
    answer: &mut Answer,
) -> Result<(), Error> {
    let source = SourceKey { session: session.key, number: arguments.source };
    let limit = arguments.limit.clamp(1, PAGE);
    // One more than asked for tells whether there is a next page.
    let mut messages =
        daemon.engine.store().messages(source, arguments.from, limit + 1).map_err(store_error)?;
    answer.next = messages.get(limit).map(|message| message.seq);
    messages.truncate(limit);
    answer.messages = messages.iter().map(convert::message_row).collect();
    Ok(())
}
