//! `get_session`: returns the summary of a session, the topics and decisions of the summary, or a
//! page of the session's messages.

use graphiti_proto::{
    rpc::{Error, code},
    tools::{
        Detail,
        get_session::{FileRow, GetSessionAnswer, GetSessionArguments, MessageRow, NAME},
    },
};

use super::{
    Effect, Tool, engine_error, graph, input, list_sessions, output, resolve_error, store_error,
    typed,
};
use crate::{
    api::{
        DaemonState,
        client_context::{ClientContext, ReplyForm},
        convert,
        current::{self, ResolvedSession},
        projects::{hidden, is_hidden},
    },
    clock,
    engine::{
        entities::Graph,
        episode,
        forks::{self, Fork},
    },
    model::{Role, session::Session},
    store::SourceKey,
};

/// Maximum number of messages on a page.
const PAGE: usize = 200;
/// Approximate size, in bytes, of a message as JSON, without its text.
const ROW: usize = 160;
/// Approximate number of bytes that a text reply adds to the text of a message.
const TEXT_ROW: usize = 60;
/// Maximum size, in bytes, of a page of text, without its first and last lines.
const TEXT: usize = 3_600;
/// Maximum size, in bytes, of a page of text in full detail.
const FULL_TEXT: usize = 35_000;
/// The text before a remembered wish that does not apply any more.
const WITHDRAWN_NOTE: &str = "The user withdrew this wish: it does not apply any more.";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Show a session",
    description: "Show one session: its summary (what was wanted, decided, fixed, left open), or its messages.",
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
    let resolved = current::resolve_or_parent(daemon, arguments.session_id.as_deref(), client);
    let ResolvedSession { key, sub_agent_file } = resolved.await.map_err(resolve_error)?;
    let store = daemon.engine.store().as_ref();
    let session = list_sessions::named(daemon, key).await?;
    if is_hidden(daemon, client, &session) {
        return Err(hidden());
    }
    if let Ok(Some(own)) = current::client_session(daemon, client).await
        && let Ok(Some(own)) = store.session(own)
    {
        daemon.engine.memory_use().opened(&own.id.id, &session.id.id);
    }
    let open_files = daemon.engine.open_sources().await.map_err(engine_error)?;
    let files = store.sources_of(key).map_err(store_error)?;
    let files = files.iter().map(|file| convert::file_row(convert::newest(file, &open_files)));
    let files: Vec<FileRow> = files.collect();
    let source = source_of(&arguments, &files, sub_agent_file);
    let sub_agent = files.iter().find(|file| Some(file.number) == sub_agent_file);
    let fork = forks::fork_of(store, key).map_err(store_error)?;
    let of = |fork: &Fork| fork.of.clone().filter(|id| !daemon.engine.is_forgotten(id));
    let mut answer = GetSessionAnswer {
        forked_from: fork.as_ref().map(|fork| of(fork).map_or_else(String::new, |id| id.id)),
        shared_records: fork.map_or(0, |fork| fork.records),
        session: convert::session_row(store, &session).map_err(store_error)?,
        view: arguments.view.clone(),
        sub_agent: sub_agent.and_then(|file| file.sub_agent.clone()),
        source,
        files,
        ..GetSessionAnswer::default()
    };
    let page = PageSize::of(client, arguments.detail);
    match arguments.view.as_str() {
        _ if arguments.detail == Detail::Ids => answer.view = String::new(),
        "summary" => add_summary(daemon, &session, &mut answer)?,
        "conversation" => add_conversation(daemon, &session, &mut answer)?,
        "messages" => {
            let arguments = GetSessionArguments { source, ..arguments.clone() };
            add_messages(daemon, &session, &arguments, page, &mut answer)?;
        }
        other => {
            let what =
                format!("`view` must be `summary`, `conversation` or `messages`, not `{other}`");
            return Err(Error::new(code::INVALID_PARAMS, what));
        }
    }
    if client.reply_form == ReplyForm::Text {
        cut_to_page(&mut answer, arguments.at, page);
    }
    Ok(answer)
}

/// Returns the number of the file whose messages are shown: the number in the request, else the
/// file of the sub-agent that the request names, else the session's own file, which has the number
/// 0. A session may have only files of sub-agents; then, the default is the first file.
fn source_of(
    arguments: &GetSessionArguments,
    files: &[FileRow],
    sub_agent_file: Option<u32>,
) -> u32 {
    if arguments.source > 0 {
        return arguments.source;
    }
    let has_own_file = files.iter().any(|file| file.number == 0);
    let first = files.first().filter(|_| !has_own_file).map(|file| file.number);
    sub_agent_file.or(first).unwrap_or(0)
}

#[derive(Clone, Copy)]
struct PageSize {
    bytes: usize,
    /// Approximate size, in bytes, of a message without its text.
    row: usize,
    /// Number of bytes that the page adds to each line of a text.
    line: usize,
    /// If at least this many bytes are left, the beginning of a message that does not fit is shown.
    split: usize,
    is_text: bool,
}

impl PageSize {
    fn of(client: &ClientContext, detail: Detail) -> PageSize {
        let most = match (client.reply_form, detail) {
            (ReplyForm::Structured, _) => usize::MAX,
            (ReplyForm::Text, Detail::Full) => FULL_TEXT,
            (ReplyForm::Text, _) => TEXT,
        };
        let bytes = client.reply_budget.bytes(most);
        match client.reply_form {
            ReplyForm::Structured => {
                PageSize { bytes, row: ROW, line: 0, split: usize::MAX, is_text: false }
            }
            ReplyForm::Text => {
                PageSize { bytes, row: TEXT_ROW, line: 2, split: bytes / 3, is_text: true }
            }
        }
    }

    /// Returns the size, in bytes, of a text on the page.
    fn cost(self, text: &str) -> usize {
        text.len() + self.line * text.lines().count()
    }

    /// Returns the length of the beginning of `text` that fits in `left` bytes; at least one
    /// character.
    fn length_that_fits(self, text: &str, left: usize) -> usize {
        let mut used = self.line;
        let cut = text.char_indices().find(|(at, c)| {
            used += c.len_utf8() + if *c == '\n' { self.line } else { 0 };
            used > left && *at > 0
        });
        cut.map_or(text.len(), |(at, _)| at)
    }
}

/// Cuts the summary or conversation to the part that begins at character `at` and fits the page. If
/// possible, the part ends at the end of a line.
fn cut_to_page(answer: &mut GetSessionAnswer, at: usize, page: PageSize) {
    let Some(markdown) = &mut answer.markdown else { return };
    let rest: String = markdown.chars().skip(at).collect();
    let end = page.length_that_fits(&rest, page.bytes);
    if end == rest.len() {
        *markdown = rest;
        return;
    }
    let end = rest[..end].rfind('\n').map_or(end, |line| line + 1);
    answer.next_at = at + rest[..end].chars().count();
    rest[..end].clone_into(markdown);
}

fn add_summary(
    daemon: &DaemonState,
    session: &Session,
    answer: &mut GetSessionAnswer,
) -> Result<(), Error> {
    let store = daemon.engine.store().as_ref();
    if let Some(episode) = store.episode_of(session).map_err(store_error)? {
        let states = Graph::of(store).statement_states(episode.id, clock::now());
        let page = episode::page_with_states(&episode, &states.map_err(store_error)?);
        answer.markdown =
            Some(match convert::is_withdrawn(store, &episode).map_err(store_error)? {
                true => format!("{WITHDRAWN_NOTE}\n\n{page}"),
                false => page,
            });
        let summary = serde_json::to_value(&episode.summary);
        answer.summary = Some(summary.expect("a summary has only string keys"));
    }
    Ok(())
}

fn add_conversation(
    daemon: &DaemonState,
    session: &Session,
    answer: &mut GetSessionAnswer,
) -> Result<(), Error> {
    let episode = daemon.engine.store().episode_of(session).map_err(store_error)?;
    answer.markdown = episode.as_ref().map(|episode| episode::conversation(episode).to_text());
    Ok(())
}

fn add_messages(
    daemon: &DaemonState,
    session: &Session,
    arguments: &GetSessionArguments,
    size: PageSize,
    answer: &mut GetSessionAnswer,
) -> Result<(), Error> {
    let source = SourceKey { session: session.key, number: arguments.source };
    let limit = arguments.limit.min(PAGE);
    // Reads one message more than requested, to find out whether there is a next page.
    let messages =
        daemon.engine.store().messages(source, arguments.from, limit + 1).map_err(store_error)?;
    if messages.is_empty() && limit > 0 {
        check_range(daemon, source, arguments.from)?;
    }
    let mut rows: Vec<MessageRow> = messages.iter().map(convert::message_row).collect();
    let after = rows.drain(limit.min(rows.len())..).next().map(|row| row.seq);
    if size.is_text && arguments.at == 0 {
        remove_repeated_calls(&mut rows);
    }
    let (messages, next, next_at) = page(rows, arguments.at, size);
    answer.messages = messages;
    (answer.next, answer.next_at) = if next.is_some() { (next, next_at) } else { (after, 0) };
    Ok(())
}

/// Returns an error if the session has no file with this number, or if the messages of the file end
/// before message `from`.
fn check_range(daemon: &DaemonState, key: SourceKey, from: u32) -> Result<(), Error> {
    let store = daemon.engine.store().as_ref();
    let files = store.sources_of(key.session).map_err(store_error)?;
    let what = match graph::message_at(store, key, u64::MAX).map_err(store_error)? {
        None if key.number > 0 && !files.iter().any(|file| file.key == key) => {
            let numbers = files.iter().map(|file| file.key.number.to_string());
            let numbers: Vec<String> = numbers.collect();
            match numbers.is_empty() {
                true => "this session has no messages on this machine".to_owned(),
                false => {
                    format!(
                        "there is no `source` {}; the sources are {}",
                        key.number,
                        numbers.join(", ")
                    )
                }
            }
        }
        Some(last) if from > last => {
            format!("`from` is {from}, but the last message of this file has number {last}")
        }
        _ => return Ok(()),
    };
    Err(Error::new(code::INVALID_PARAMS, what))
}

/// Removes each tool call that the next message repeats, if that message is the result of the call.
fn remove_repeated_calls(rows: &mut Vec<MessageRow>) {
    let repeated: Vec<u32> = rows
        .windows(2)
        .filter(|pair| repeats(&pair[1], &pair[0]))
        .map(|pair| pair[0].seq)
        .collect();
    rows.retain(|row| !repeated.contains(&row.seq));
}

/// Whether `result` is the result of a tool and contains the whole `call`, except for comments.
fn repeats(result: &MessageRow, call: &MessageRow) -> bool {
    let is_of_tool = call.role == Role::Tool.as_str() && call.role == result.role;
    let mut lines = call.text.lines();
    let command = lines.next().unwrap_or_default().replace('`', "");
    is_of_tool
        && call.tool == result.tool
        && lines.all(|line| line.starts_with("# "))
        && result.text.replace('`', "").starts_with(&command)
}

/// Returns the rows that fit the page, and the start of the next page: the number of a message, and
/// the position of a character in its text. The text of the first row begins at character `at`. A
/// message that does not fit is split if it is the first message, or if much of the page is left.
fn page(rows: Vec<MessageRow>, at: usize, size: PageSize) -> (Vec<MessageRow>, Option<u32>, usize) {
    let mut left = size.bytes;
    let mut page: Vec<MessageRow> = Vec::new();
    for (place, mut row) in rows.into_iter().enumerate() {
        let skipped = if place == 0 { at } else { 0 };
        if skipped > 0 {
            row.text = row.text.chars().skip(skipped).collect();
        }
        let cost = size.cost(&row.text) + size.row;
        if cost > left {
            if !page.is_empty() && left < size.split {
                return (page, Some(row.seq), skipped);
            }
            let end = size.length_that_fits(&row.text, left.saturating_sub(size.row));
            // At least one character is shown, even if it does not fit, because paging would
            // otherwise never end.
            if end < row.text.len() {
                row.text.truncate(end);
                let (seq, shown) = (row.seq, skipped + row.text.chars().count());
                page.push(row);
                return (page, Some(seq), shown);
            }
        }
        left = left.saturating_sub(cost);
        page.push(row);
    }
    (page, None, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_are_from_the_requested_file_the_named_sub_agent_or_the_first_file() {
        let source = |requested: u32, numbers: &[u32], sub_agent_file: Option<u32>| {
            let arguments =
                GetSessionArguments { source: requested, ..GetSessionArguments::default() };
            let files =
                numbers.iter().map(|number| FileRow { number: *number, ..FileRow::default() });
            source_of(&arguments, &files.collect::<Vec<_>>(), sub_agent_file)
        };
        assert_eq!(source(0, &[0, 1, 2], None), 0);
        assert_eq!(source(0, &[0, 1, 2], Some(2)), 2);
        assert_eq!(source(1, &[0, 1, 2], Some(2)), 1);
        assert_eq!(source(0, &[1, 2], None), 1);
        assert_eq!(source(0, &[], None), 0);
    }

    #[test]
    fn all_pages_together_show_every_message_once() {
        let texts = ["short", &"größer ".repeat(40), "", &"x".repeat(95), "end"];
        for (bytes, line) in
            [(usize::MAX, 0), (ROW + 10, 0), (2 * ROW + 100, 0), (2 * ROW + 100, 2), (1, 2)]
        {
            let size = PageSize { bytes, row: ROW, line, split: 60, is_text: true };
            let (mut from, mut at, mut shown) = (0, 0, vec![String::new(); texts.len()]);
            for _ in 0..1_000 {
                let rows = (0..).zip(texts).skip(from as usize).map(|(seq, text)| MessageRow {
                    seq,
                    text: text.to_owned(),
                    ..MessageRow::default()
                });
                let (page, next, next_at) = page(rows.take(2).collect(), at, size);
                let last = page.last().map_or(0, |row| row.seq);
                for row in page {
                    shown[row.seq as usize].push_str(&row.text);
                }
                (from, at) = next.map_or((last + 1, 0), |next| (next, next_at));
                if from as usize == texts.len() {
                    break;
                }
            }
            assert_eq!(shown, texts, "{bytes} {line}");
        }
    }

    #[test]
    fn a_message_begins_on_a_page_with_much_space_left() {
        let row = |seq: u32, length: usize| MessageRow {
            seq,
            text: "x".repeat(length),
            ..MessageRow::default()
        };
        let size = PageSize { bytes: 100, row: 0, line: 0, split: 30, is_text: true };
        let ends = |first: usize| {
            let (page, next, next_at) = page(vec![row(1, first), row(2, 90)], 0, size);
            (page.len(), next, next_at)
        };
        assert_eq!(ends(60), (2, Some(2), 40));
        assert_eq!(ends(80), (1, Some(2), 0));
        assert_eq!(ends(10), (2, None, 0));
    }

    #[test]
    fn a_call_that_its_result_repeats_is_left_out() {
        let row = |seq: u32, text: &str| MessageRow {
            seq,
            role: "tool".to_owned(),
            tool: Some("Bash".to_owned()),
            text: text.to_owned(),
            ..MessageRow::default()
        };
        let mut rows = vec![
            row(0, "Bash: ls\n# List files"),
            row(1, "Bash: `ls` → ok"),
            row(2, "Bash: cat <<E\nx"),
            row(3, "Bash: `cat <<E` → ok"),
            row(4, "Bash: make"),
        ];
        remove_repeated_calls(&mut rows);
        assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }

    #[test]
    fn pages_of_a_summary_end_at_line_ends_and_together_show_all_of_it() {
        let whole = "# Summary\n\n- größer\n- ".to_owned() + &"x".repeat(90) + "\n- end";
        let size = PageSize { bytes: 40, row: 0, line: 2, split: 40, is_text: true };
        let (mut at, mut pages) = (0, Vec::new());
        loop {
            let mut answer =
                GetSessionAnswer { markdown: Some(whole.clone()), ..GetSessionAnswer::default() };
            cut_to_page(&mut answer, at, size);
            pages.extend(answer.markdown);
            at = answer.next_at;
            if at == 0 {
                break;
            }
        }
        assert_eq!(pages.concat(), whole);
        assert_eq!(pages[0], "# Summary\n\n- größer\n");
        assert!(pages.iter().all(|page| size.cost(page) <= 40), "{pages:?}");
    }
}
