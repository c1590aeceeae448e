//! The search of sessions that several tools share: the query of the arguments, and its results.

use graphiti_proto::{
    rpc::{Error, code},
    tools::search_sessions::SearchSessionsArguments,
};

use crate::{
    api::{DaemonState, blocking},
    clock,
    engine::embedding,
    search::{
        query::Query,
        rank::{RankRequest, Results, Scope, SecondRanker, Weights},
    },
};

/// Maximum number of sessions in an answer.
pub(super) const MAX_HITS: usize = 50;
/// Default number of sessions for a model.
pub(super) const TEXT_HITS: usize = 5;

pub(super) async fn search(
    daemon: &DaemonState,
    query: &Query,
    scope: &Scope,
    limit: usize,
) -> Result<Results, Error> {
    let weights = Weights::default();
    let query_vector = daemon.embedding.query_vector(query.text_for_embedding()).await;
    let search = |second: Option<&dyn SecondRanker>| {
        let now = clock::now();
        let request = RankRequest {
            query,
            scope,
            now,
            limit,
            weights: &weights,
            second,
            session_filter: None,
        };
        daemon.indexes.sessions.search(&request)
    };
    let results = blocking::read(|| {
        daemon.embedding.with_ranker(
            embedding::VectorSet::Sessions,
            query_vector.as_deref(),
            search,
        )
    });
    results.map_err(|error| Error::new(code::INTERNAL, error.to_string()))
}

/// Parses the query, and adds the filters of the other arguments.
pub(super) fn question(arguments: &SearchSessionsArguments) -> Result<Query, Error> {
    let now = clock::zoned();
    let mut query = Query::parse(&arguments.query, &now);
    let filters = [
        ("agent", &arguments.agent, "the name of an agent"),
        ("branch", &arguments.branch, "the name of a branch"),
        ("file", &arguments.file, "the end of a path"),
        ("tool", &arguments.tool, "the name of a tool"),
        ("role", &arguments.role, "`user`, `assistant`, `tool` or `recap`"),
        ("after", &arguments.after, "a day such as 2026-03-01 or \"last week\""),
        ("before", &arguments.before, "a day such as 2026-03-01 or \"last week\""),
    ];
    for (name, value, form) in filters {
        let Some(value) = value.as_deref().map(str::trim).filter(|value| !value.is_empty()) else {
            continue;
        };
        if !query.require(name, value, &now) {
            let what = format!("`{name}` must be {form}, not `{value}`");
            return Err(Error::new(code::INVALID_PARAMS, what));
        }
    }
    Ok(query)
}
