//! `get_log`: lists sessions and their work, page by page.

use graphiti_proto::{
    rpc::{Error, code},
    tools::get_log::{LogAnswer, LogArguments, LogRow, NAME},
};

use super::{Effect, Tool, graph, input, output, store_error, text, typed, zero_limit};
use crate::{
    api::{
        DaemonState, catch_up,
        client_context::{ClientContext, ReplyForm},
        convert,
        projects::{newest_episodes, searched_projects},
    },
    engine::episode::cut,
    model::{Episode, EpisodeId, Namespace, Timestamp, wording::is_filler},
    store::StoreError,
};

/// Maximum number of sessions in an answer.
const MAX_SESSIONS: usize = 200;
/// Maximum size, in bytes, of the sessions in a text for a model that requests the default number
/// of sessions.
const TEXT_BYTES: usize = 3_800;
/// Maximum number of statements of one kind in a session.
const MAX_STATEMENTS: usize = 4;
/// Maximum length, in characters, of a statement: about two lines of a terminal. `graphiti show`
/// and `get_session` have the whole text.
const MAX_STATEMENT_CHARS: usize = 160;
/// Maximum length, in characters, of an error that has a fix, and of the fix.
const FIX_CHARS: usize = MAX_STATEMENT_CHARS / 2;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Log",
    description: "Show what happened, day by day: the sessions of one project or of all, the latest first, with what \
        was done, decided, fixed and left open.",
    effect: Effect::Reads,
    input: input::<LogArguments>,
    output: output::<LogAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: LogArguments,
) -> Result<LogAnswer, Error> {
    let projects = searched_projects(daemon, client, arguments.project.as_deref())?;
    let since = graph::date("since", arguments.since.as_deref())?.map(|range| range.from);
    let before = arguments.before.as_deref().map(str::trim).filter(|id| !id.is_empty());
    let before = before.map(|id| {
        let what = "`before` must be `next` of the previous page";
        EpisodeId::parse(id).ok_or_else(|| Error::new(code::INVALID_PARAMS, what))
    });
    let before = before.transpose()?;
    let indexed =
        catch_up::index_pending(daemon, client, projects.clone().unwrap_or_default()).await?;
    let limit = arguments.limit.min(MAX_SESSIONS);
    let page = LogPage { projects, since, before, limit };
    let (mut sessions, ids, has_more) = page.read(daemon).map_err(store_error)?;
    match client.reply_form {
        ReplyForm::Structured => client.reply_budget.fit(&mut sessions),
        ReplyForm::Text => sessions.truncate(text::history::fitting(&sessions, text_budget(limit))),
    }
    let last = sessions.len().checked_sub(1).and_then(|last| ids.get(last));
    let next = last.filter(|_| has_more || sessions.len() < ids.len()).map(ToString::to_string);
    let message =
        zero_limit::explain(indexed.message(), client.reply_form, "limit", limit, MAX_SESSIONS);
    Ok(LogAnswer { message, sessions, next })
}

/// Returns the maximum size, in bytes, of a text for a model. The maximum is larger for more
/// sessions than the default number.
fn text_budget(limit: usize) -> usize {
    TEXT_BYTES * limit.div_ceil(LogArguments::default().limit).max(1)
}

/// The request for a page of the log.
struct LogPage {
    projects: Option<Vec<Namespace>>,
    since: Option<Timestamp>,
    before: Option<EpisodeId>,
    limit: usize,
}

impl LogPage {
    /// Returns the rows, the ids of their episodes, and whether there are more rows. Skips
    /// memories.
    fn read(
        &self,
        daemon: &DaemonState,
    ) -> Result<(Vec<LogRow>, Vec<EpisodeId>, bool), StoreError> {
        let store = daemon.engine.store().as_ref();
        let (mut rows, mut ids, mut before) = (Vec::new(), Vec::new(), self.before);
        loop {
            // Reads one episode more than requested, to find out whether there is a next page.
            let page = newest_episodes(store, self.projects.as_deref(), before, self.limit + 1)?;
            let mut is_last = page.len() <= self.limit;
            before = page.last().map(|episode| episode.id);
            let is_wanted =
                |episode: &&Episode| self.since.is_none_or(|since| episode.ended_at >= since);
            is_last |= !page.iter().any(|episode| is_wanted(&episode));
            for episode in page.iter().filter(is_wanted) {
                let Some(row) = row(daemon, episode)? else { continue };
                if rows.len() >= self.limit {
                    return Ok((rows, ids, true));
                }
                rows.push(row);
                ids.push(episode.id);
            }
            if is_last {
                return Ok((rows, ids, false));
            }
        }
    }
}

fn row(daemon: &DaemonState, episode: &Episode) -> Result<Option<LogRow>, StoreError> {
    let store = daemon.engine.store().as_ref();
    // An added memory is not the work of an agent.
    let Some(session) = store.session(episode.session)?.filter(|_| !episode.is_memory()) else {
        return Ok(None);
    };
    let summary = &episode.summary;
    let first = |list: &Option<Vec<String>>| -> Vec<String> {
        list.iter().flatten().take(MAX_STATEMENTS).map(|text| brief(text)).collect()
    };
    // A label such as `CHANGELOG` says nothing without the text after it.
    let decided = summary.key_decisions.iter().flatten().map(|one| {
        match one.decision.split_whitespace().count() < 3 && !is_filler(&one.rationale) {
            true => brief(&format!("{}: {}", one.decision, one.rationale)),
            false => brief(&one.decision),
        }
    });
    let fixed = summary.errors_resolved.iter().flatten().map(|one| match one.fix.as_str() {
        "" => brief(&one.error),
        fix => format!("{}: {}", cut(&one.error, FIX_CHARS), cut(fix, FIX_CHARS)),
    });
    Ok(Some(LogRow {
        session: convert::session_row(store, &session)?,
        ended_at: episode.ended_at.to_string(),
        done: first(&summary.completed_tasks),
        decided: decided.take(MAX_STATEMENTS).collect(),
        fixed: fixed.take(MAX_STATEMENTS).collect(),
        left: first(&summary.next_steps),
        files: summary.files_modified.as_ref().map_or(0, Vec::len),
        repository: summary.repository.clone().unwrap_or_default(),
    }))
}

/// Returns a statement of a summary without the body of a commit's message, shortened to
/// [`MAX_STATEMENT_CHARS`].
fn brief(statement: &str) -> String {
    let subject = statement.find(" (commit `").and_then(|commit| {
        let end = statement[commit..].find("`): ")?;
        Some(&statement[..commit + end + "`)".len()])
    });
    cut(subject.unwrap_or(statement), MAX_STATEMENT_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_the_log_is_larger_for_more_sessions() {
        assert_eq!(
            [0, 1, 20, 21, 60].map(text_budget),
            [1, 1, 1, 2, 3].map(|one| one * TEXT_BYTES)
        );
    }

    #[test]
    fn a_statement_of_the_log_is_short() {
        let commit = "Release the connection early (commit `4be81d2`): Each order held one.";
        assert_eq!(brief(commit), "Release the connection early (commit `4be81d2`)");
        let short = "`a.rs` pays first: the bank is slow (see `4be81d2`): ten seconds";
        assert_eq!(brief(short), short);
        let long = brief(&"the pool is full ".repeat(30));
        assert!(long.ends_with("the…") && long.len() < MAX_STATEMENT_CHARS + 3, "{long}");
    }
}
