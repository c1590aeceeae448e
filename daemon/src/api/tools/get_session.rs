//! `get_session`.

use graphiti_proto::{
    rpc::{Error, code},
    tools::get_session::{GetSessionAnswer, GetSessionArguments, MessageRow, NAME},
};

use super::{Effect, Tool, engine_error, input, output, resolve_error, store_error, typed};
use crate::{
    api::{
        DaemonState,
        client_context::{ClientContext, ReplyBudget},
        convert, current,
    },
    engine::{
        episode,
        forks::{self, Fork},
    },
    model::session::Session,
    store::SourceKey,
};

/// Maximum number of messages on a page.
const PAGE: usize = 200;
/// Approximate bytes of a message besides its text.
const ROW: usize = 160;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Show a session",
    description: "Show one session: its summary (what was wanted, decided, fixed, left open), or its messages \
        page by page: go on with `from` = `next` and `at` = `next_at`.",
    effect: Effect::Reads,
    input: input::<GetSessionArguments>,
    output: output::<GetSessionAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: GetSessionArguments,
) -> Result<GetSessionAnswer, Error> {
    let key = current::resolve(daemon, arguments.session_id.as_deref(), client)
        .await
        .map_err(resolve_error)?;
    let live = daemon.engine.live().await.map_err(engine_error)?;
    let store = daemon.engine.store().as_ref();
    let session = match live.into_iter().find(|session| session.key == key) {
        Some(session) => session,
        None => store
            .session(key)
            .map_err(store_error)?
            .ok_or_else(|| Error::new(code::NOT_FOUND, "the session was just forgotten"))?,
    };
    let at_hand = daemon.engine.open_sources().await.map_err(engine_error)?;
    let files = store.sources_of(key).map_err(store_error)?;
    let files = files.iter().map(|file| convert::file_row(convert::newest(file, &at_hand)));
    let fork = forks::fork_of(store, key).map_err(store_error)?;
    let of = |fork: &Fork| fork.of.clone().filter(|id| !daemon.engine.is_forgotten(id));
    let mut answer = GetSessionAnswer {
        forked_from: fork.as_ref().map(|fork| of(fork).map_or_else(String::new, |id| id.id)),
        shared_records: fork.map_or(0, |fork| fork.records),
        session: convert::session_row(store, &session).map_err(store_error)?,
        view: arguments.view.clone(),
        files: files.collect(),
        ..GetSessionAnswer::default()
    };
    match arguments.view.as_str() {
        "summary" => add_summary(daemon, &session, &mut answer)?,
        "conversation" => add_conversation(daemon, &session, &mut answer)?,
        "messages" => {
            add_messages(daemon, &session, (&arguments, client.reply_budget), &mut answer)?;
        }
        other => {
            let what = format!("`view` is `summary`, `conversation` or `messages`, not `{other}`");
            return Err(Error::new(code::INVALID_PARAMS, what));
        }
    }
    Ok(answer)
}

fn add_summary(
    daemon: &DaemonState,
    session: &Session,
    answer: &mut GetSessionAnswer,
) -> Result<(), Error> {
    let Some(indexed) = &session.indexed else { return Ok(()) };
    let episode = daemon.engine.store().episode(indexed.episode).map_err(store_error)?;
    if let Some(episode) = episode {
        answer.markdown = Some(episode::page(&episode));
        answer.summary = serde_json::to_value(&episode.summary).ok();
    }
    Ok(())
}

fn add_conversation(
    daemon: &DaemonState,
    session: &Session,
    answer: &mut GetSessionAnswer,
) -> Result<(), Error> {
    let Some(indexed) = &session.indexed else { return Ok(()) };
    let episode = daemon.engine.store().episode(indexed.episode).map_err(store_error)?;
    answer.markdown = episode.as_ref().map(|episode| episode::conversation(episode).to_text());
    Ok(())
}

fn add_messages(
    daemon: &DaemonState,
    session: &Session,
    (arguments, reply_budget): (&GetSessionArguments, ReplyBudget),
    answer: &mut GetSessionAnswer,
) -> Result<(), Error> {
    let source = SourceKey { session: session.key, number: arguments.source };
    let limit = arguments.limit.min(PAGE);
    // One more than requested, to know whether there is a next page.
    let messages =
        daemon.engine.store().messages(source, arguments.from, limit + 1).map_err(store_error)?;
    let rows = messages.iter().map(convert::message_row).collect();
    let page = page(rows, limit, arguments.at, reply_budget);
    (answer.messages, answer.next, answer.next_at) = page;
    Ok(())
}

/// Returns as many of `rows` as fit the budget, the first from its character `at` on, and where the
/// next page begins. A message that is larger than the budget is split.
fn page(
    rows: Vec<MessageRow>,
    limit: usize,
    at: usize,
    reply_budget: ReplyBudget,
) -> (Vec<MessageRow>, Option<u32>, usize) {
    let mut left = reply_budget.bytes(usize::MAX);
    let mut page: Vec<MessageRow> = Vec::new();
    for (place, mut row) in rows.into_iter().enumerate() {
        let skipped = if place == 0 { at } else { 0 };
        if skipped > 0 {
            row.text = row.text.chars().skip(skipped).collect();
        }
        let fits = row.text.len() + ROW <= left;
        if place == limit || !fits && !page.is_empty() {
            return (page, Some(row.seq), skipped);
        }
        if !fits {
            let end = row.text.floor_char_boundary(left.saturating_sub(ROW).max(4));
            row.text.truncate(end);
            let (seq, told) = (row.seq, skipped + row.text.chars().count());
            return (vec![row], Some(seq), told);
        }
        left -= row.text.len() + ROW;
        page.push(row);
    }
    (page, None, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_together_tell_every_message_once() {
        let texts = ["short", &"größer ".repeat(40), "", &"x".repeat(95), "end"];
        for reply_budget in [
            ReplyBudget::Unbounded,
            ReplyBudget::Bytes(ROW + 10),
            ReplyBudget::Bytes(2 * ROW + 100),
        ] {
            let (mut from, mut at, mut told) = (0, 0, vec![String::new(); texts.len()]);
            for _ in 0..1_000 {
                let rows = (0..).zip(texts).skip(from as usize).map(|(seq, text)| MessageRow {
                    seq,
                    text: text.to_owned(),
                    ..MessageRow::default()
                });
                let (page, next, next_at) = page(rows.take(3).collect(), 2, at, reply_budget);
                assert!(page.len() <= 2);
                for row in page {
                    told[row.seq as usize].push_str(&row.text);
                }
                let Some(next) = next else { break };
                (from, at) = (next, next_at);
            }
            assert_eq!(told, texts, "{reply_budget:?}");
        }
    }
}
