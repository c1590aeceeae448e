//! `session_tracking_list_unindexed`: lists the sessions that are not indexed yet.

use graphiti_proto::{
    rpc::Error,
    tools::list_unindexed::{ListUnindexedAnswer, ListUnindexedArguments, NAME},
};

use super::{Effect, Tool, engine_error, input, output, store_error, typed};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        convert,
        projects::{is_of_project, listed_projects},
    },
    model::session::State,
};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "List unindexed sessions",
    description: "List sessions that are not indexed yet: sessions that still run, sessions that the next search will \
    index, and sessions that failed.",
    effect: Effect::Reads,
    input: input::<ListUnindexedArguments>,
    output: output::<ListUnindexedAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: ListUnindexedArguments,
) -> Result<ListUnindexedAnswer, Error> {
    let project = listed_projects(daemon, client, arguments.project_namespace.as_deref())?;
    let mut sessions = daemon.engine.live().await.map_err(engine_error)?;
    for closed in daemon.engine.closed_without_episode().await.map_err(engine_error)? {
        if sessions.iter().all(|session| session.key != closed.key) {
            sessions.push(closed);
        }
    }
    sessions.retain(|session| {
        is_of_project(session, project.as_deref())
            && (arguments.include_inactive || !matches!(session.state, State::Inactive))
    });
    sessions.sort_by_key(|session| std::cmp::Reverse(session.last_activity));
    let store = daemon.engine.store().as_ref();
    let rows: Result<Vec<_>, _> =
        sessions.iter().map(|session| convert::session_row(store, session)).collect();
    let mut sessions = rows.map_err(store_error)?;
    let count = sessions.len();
    client.reply_budget.fit(&mut sessions);
    Ok(ListUnindexedAnswer { status: "success".to_owned(), count, sessions })
}
