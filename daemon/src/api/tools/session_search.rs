//! The search of sessions that several tools share: the query of the arguments, and its results.

use std::{collections::HashMap, sync::Arc};

use graphiti_proto::{
    rpc::{Error, code},
    tools::search_sessions::SearchSessionsArguments,
};

use crate::{
    api::{DaemonState, blocking},
    clock,
    engine::embedding,
    model::vector::Packed,
    search::{
        query::Query,
        rank::{RankRequest, Results, Scope, SecondRanker, Weights},
    },
};

/// Maximum number of sessions in an answer.
pub(super) const MAX_HITS: usize = 50;
/// Default number of sessions for a model.
pub(super) const TEXT_HITS: usize = 5;

/// The vectors of the queries of one request. The vector of a text is requested once, even if the
/// model fails, because each failure may take the time limit of the model.
pub(super) struct QueryVectors<'d> {
    daemon: &'d DaemonState,
    known: HashMap<String, Option<Arc<Packed>>>,
}

impl<'d> QueryVectors<'d> {
    pub(super) fn new(daemon: &'d DaemonState) -> QueryVectors<'d> {
        QueryVectors { daemon, known: HashMap::new() }
    }

    /// Returns the vectors of a request that has already requested the vector of `query`.
    pub(super) fn with(
        daemon: &'d DaemonState,
        query: &Query,
        vector: Option<Arc<Packed>>,
    ) -> QueryVectors<'d> {
        let known = HashMap::from([(query.text_for_embedding().to_owned(), vector)]);
        QueryVectors { daemon, known }
    }

    async fn of(&mut self, query: &Query) -> Option<Arc<Packed>> {
        let text = query.text_for_embedding();
        if let Some(vector) = self.known.get(text) {
            return vector.clone();
        }
        let vector = self.daemon.embedding.query_vector(text).await;
        self.known.insert(text.to_owned(), vector.clone());
        vector
    }
}

pub(super) async fn search(
    vectors: &mut QueryVectors<'_>,
    query: &Query,
    scope: &Scope,
    limit: usize,
) -> Result<Results, Error> {
    let weights = Weights::default();
    let query_vector = vectors.of(query).await;
    let daemon = vectors.daemon;
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
