//! Searches sessions for several tools: builds the query from the arguments, and runs the search.

use std::{collections::HashMap, sync::Arc};

use graphiti_proto::{
    rpc::{Error, code},
    tools::search_sessions::SearchSessionsArguments,
};

use super::store_error;
use crate::{
    api::{DaemonState, blocking, projects::is_in},
    clock,
    engine::embedding,
    model::{Namespace, SessionKey, vector::Packed},
    search::{
        query::{InvalidFilter, Query, filter_form},
        rank::{RankRequest, Results, Scope, SecondRanker, Weights},
    },
    store::SessionHead,
};

/// Maximum number of sessions in an answer.
pub(super) const MAX_HITS: usize = 50;
/// Default number of sessions for a model.
pub(super) const TEXT_HITS: usize = 5;

/// The vectors of the queries of one request. The vector of a text is requested once, even if the
/// model fails, because each failure may take as long as the time limit of the model.
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
        ("agent", &arguments.agent),
        ("branch", &arguments.branch),
        ("file", &arguments.file),
        ("tool", &arguments.tool),
        ("role", &arguments.role),
        ("after", &arguments.after),
        ("before", &arguments.before),
    ];
    for (name, value) in filters {
        let Some(value) = value.as_deref().map(str::trim).filter(|value| !value.is_empty()) else {
            continue;
        };
        if !query.require(name, value, &now) {
            let form = filter_form(name).unwrap_or_default();
            let what = format!("`{name}` must be {form}, not `{value}`");
            return Err(Error::new(code::INVALID_PARAMS, what));
        }
    }
    Ok(query)
}

/// Returns the reason why a query such as `!!!` finds nothing; `None` if the query can be searched.
/// An empty query lists the latest sessions.
pub(super) fn without_words(query: &str) -> Option<&'static str> {
    let is_blank = !query.trim().is_empty() && Query::parse(query, &clock::zoned()).is_blank();
    is_blank.then_some(
        "The query has no words to search for: a word has a letter or a digit, \
         and at most 64 characters.",
    )
}

/// Returns a sentence if no session of the given project is known. `members` are the directories of
/// the project.
pub(super) fn unknown_project(
    daemon: &DaemonState,
    given: Option<&str>,
    members: Option<&[Namespace]>,
) -> Result<Option<String>, Error> {
    let given = given.map(str::trim).filter(|given| !given.is_empty());
    let (Some(given), Some(members)) = (given, members) else { return Ok(None) };
    let mut is_known = false;
    let visit = &mut |_: SessionKey, head: &SessionHead| {
        is_known |= head.is_listed && is_in(head.project, members);
    };
    daemon.engine.store().visit_session_heads(visit).map_err(store_error)?;
    Ok((!is_known).then(|| format!("No session of `{given}` is known.")))
}

/// Adds to the message of an answer how the query was read: the filters with an invalid value, the
/// excluded words, and whether the middle of a long query was not read.
pub(super) fn explain_query(message: String, query: &Query) -> String {
    let invalid = query.invalid_filters().iter().map(|InvalidFilter { text, form }| {
        let name = text.trim_start_matches('-').split(':').next().unwrap_or_default();
        format!("`{text}` was searched as words, because `{name}:` must be {form}.")
    });
    let searched = query
        .searched_minus_words()
        .iter()
        .map(|word| format!("`{word}` was searched; to exclude it, write `-\"{}\"`.", &word[1..]));
    let excluded: Vec<String> =
        query.excluded_phrases().iter().map(|phrase| format!("`{phrase}`")).collect();
    let excluded = (!excluded.is_empty())
        .then(|| format!("Left out: sessions with {}.", excluded.join(" or ")));
    let shortened = query.is_shortened().then(|| {
        let most = Query::LONGEST >> 20;
        format!(
            "The middle of the query was not searched, because the query is longer than {most} MiB."
        )
    });
    let message = Some(message).filter(|message| !message.is_empty());
    let parts = invalid.chain(searched).chain(excluded).chain(shortened).chain(message);
    parts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> Result<Query, Error> {
        question(&SearchSessionsArguments {
            query: query.to_owned(),
            agent: Some("codex".to_owned()),
            ..SearchSessionsArguments::default()
        })
    }

    #[test]
    fn a_query_without_words_is_explained() {
        for query in ["!!!", "\"", "*", &"b".repeat(65)] {
            assert!(without_words(query).is_some(), "{query}");
        }
        for query in ["", " ", "the", "-docker", "agent:codex"] {
            assert!(without_words(query).is_none(), "{query}");
        }
    }

    #[test]
    fn an_invalid_filter_is_explained() {
        let query = asked("-date:2026-13-45 slow").unwrap();
        assert_eq!(
            explain_query("1 session was indexed".to_owned(), &query),
            "`-date:2026-13-45` was searched as words, because `date:` must be a day from \
             1990 to next year, such as 2026-03-01 or \"last week\". 1 session was indexed"
        );
        let valid = asked("date:2026-01-05 slow").unwrap();
        assert_eq!(explain_query(String::new(), &valid), "");
    }

    #[test]
    fn excluded_words_and_a_shortened_query_are_explained() {
        let excluding = asked("slow -docker -\"dry run\"").unwrap();
        assert_eq!(
            explain_query("1 session was indexed".to_owned(), &excluding),
            "Left out: sessions with `docker` or `dry run`. 1 session was indexed"
        );
        assert_eq!(
            explain_query(String::new(), &asked("license -MIT").unwrap()),
            "`-MIT` was searched; to exclude it, write `-\"MIT\"`."
        );
        let log: String = (0..200_000).map(|number| format!("slow{number}\n")).collect();
        assert_eq!(
            explain_query(String::new(), &asked(&log).unwrap()),
            "The middle of the query was not searched, because the query is longer than 1 MiB."
        );
    }
}
