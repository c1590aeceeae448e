//! Suggests changes to a search that found nothing.

use graphiti_proto::{
    clean::single_spaced,
    rpc::Error,
    tools::search_sessions::{BroaderQuery, SearchSessionsArguments},
};

use super::{
    session_search::{self, QueryVectors},
    store_error,
};
use crate::{
    api::{DaemonState, client_context::ClientContext, projects::searched_projects},
    clock,
    model::Timestamp,
    search::{
        query::{Query, dates::TimeRange},
        rank::{Scope, SessionHit},
    },
    store::StoreError,
};

/// Returns broader queries that find sessions, for a query that found nothing. `vectors` contains
/// the vector of that query.
pub(super) async fn found(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: &SearchSessionsArguments,
    scope: &Scope,
    vectors: &mut QueryVectors<'_>,
) -> Result<Vec<BroaderQuery>, Error> {
    let mut search = BroaderSearch { daemon, client, scope, vectors };
    let single = search.with_results(single_changes(arguments)).await?;
    // If the query finds nothing without one filter, it may find sessions without two filters.
    let pairs = if single.is_empty() { pairs(arguments) } else { Vec::new() };
    let pairs = search.with_results(pairs).await?;
    let day = search.nearest_day(arguments).await?;
    let day = search.with_results(day.into_iter().collect()).await?;
    let all = search.with_results(all_changes(arguments)).await?;
    Ok([single, pairs, day, all].concat())
}

struct BroaderSearch<'s, 'd> {
    daemon: &'s DaemonState,
    client: &'s ClientContext,
    scope: &'s Scope,
    vectors: &'s mut QueryVectors<'d>,
}

impl BroaderSearch<'_, '_> {
    /// Returns the changes that find sessions, with the number of sessions.
    async fn with_results(
        &mut self,
        changes: Vec<(String, SearchSessionsArguments)>,
    ) -> Result<Vec<BroaderQuery>, Error> {
        let mut found = Vec::new();
        for (change, arguments) in changes {
            let project = arguments.project.as_deref();
            let namespaces = searched_projects(self.daemon, self.client, project)?;
            let scope = Scope { namespaces, ..self.scope.clone() };
            let query = session_search::question(&arguments)?;
            let limit = session_search::MAX_HITS;
            let results = session_search::search(self.vectors, &query, &scope, limit).await?;
            let sessions = results.sessions.len();
            if sessions > 0 {
                found.push(BroaderQuery { change, sessions });
            }
        }
        Ok(found)
    }

    /// For a query that consists only of a time, returns the query for the nearest day on which a
    /// session ended.
    async fn nearest_day(
        &mut self,
        arguments: &SearchSessionsArguments,
    ) -> Result<Option<(String, SearchSessionsArguments)>, Error> {
        let Some(time) = Query::parse(&arguments.query, &clock::zoned()).only_time() else {
            return Ok(None);
        };
        let any_time = SearchSessionsArguments { query: String::new(), ..arguments.clone() };
        let any_time = session_search::question(&any_time)?;
        let results =
            session_search::search(self.vectors, &any_time, self.scope, usize::MAX).await?;
        let store = self.daemon.engine.store();
        let ended = |hit: &SessionHit| -> Result<Option<Timestamp>, StoreError> {
            Ok(store.session(hit.session)?.map(|session| session.last_activity))
        };
        let nearest = nearest(&results.sessions, ended, time).map_err(store_error)?;
        let Some(nearest) = nearest else { return Ok(None) };
        let day = clock::local(nearest).date().to_string();
        let change = format!("on {day}, the nearest day with sessions");
        Ok(Some((change, SearchSessionsArguments { query: day, ..arguments.clone() })))
    }
}

/// Returns the session end that is nearest to the period `time`. The sessions must be sorted by
/// their ends, the latest first. The binary search reads only a few sessions.
fn nearest<S>(
    sessions: &[S],
    ended: impl Fn(&S) -> Result<Option<Timestamp>, StoreError>,
    time: TimeRange,
) -> Result<Option<Timestamp>, StoreError> {
    let (mut later, mut end) = (0, sessions.len());
    while later < end {
        let middle = later + (end - later) / 2;
        match ended(&sessions[middle])?.is_some_and(|at| at >= time.from) {
            true => later = middle + 1,
            false => end = middle,
        }
    }
    let before = sessions.get(later).map(&ended).transpose()?.flatten();
    let after = sessions[..later].last().map(&ended).transpose()?.flatten();
    let distance = |at: &Timestamp| {
        let micros = at.micros();
        (time.from.micros() - micros).max(micros - time.to.micros())
    };
    Ok([before, after].into_iter().flatten().min_by_key(distance))
}

/// Returns one query for each filter: the query without this filter.
fn single_changes(arguments: &SearchSessionsArguments) -> Vec<(String, SearchSessionsArguments)> {
    let filters = used(arguments).into_iter();
    filters
        .map(|(name, filter)| (format!("without `{name}`"), without(arguments, &[filter])))
        .collect()
}

/// Returns, for each pair of filters, the query without these filters, if there are three to five
/// filters. More filters would need too many searches.
fn pairs(arguments: &SearchSessionsArguments) -> Vec<(String, SearchSessionsArguments)> {
    let used = used(arguments);
    if !(3..=5).contains(&used.len()) {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for (at, (first, one)) in used.iter().enumerate() {
        for (second, other) in &used[at + 1..] {
            let change = format!("without both `{first}` and `{second}`");
            pairs.push((change, without(arguments, &[*one, *other])));
        }
    }
    pairs
}

/// Returns the query without any filter and with its plain words only, unless this is the given
/// query or one of [`single_changes`].
fn all_changes(arguments: &SearchSessionsArguments) -> Vec<(String, SearchSessionsArguments)> {
    let used = used(arguments);
    let filters: Vec<FilterArgument> = used.iter().map(|(_, filter)| *filter).collect();
    let mut bare = without(arguments, &filters);
    let query = Query::parse(&arguments.query, &clock::zoned());
    // A query with only a time has no words that could find more.
    if query.is_list() && !arguments.query.trim().is_empty() {
        bare.query = String::new();
        return vec![("of any time and without filters".to_owned(), bare)];
    }
    bare.query = query.text_for_embedding().to_owned();
    let change = match used.as_slice() {
        _ if bare.query != single_spaced(&arguments.query) => {
            "as plain words, without filters, quotes and `-`".to_owned()
        }
        [] | [_] => return Vec::new(),
        [(first, _), (second, _)] => format!("without both `{first}` and `{second}`"),
        _ => "without all filters".to_owned(),
    };
    vec![(change, bare)]
}

/// Returns the filters that have a value.
fn used(arguments: &SearchSessionsArguments) -> Vec<(&'static str, FilterArgument)> {
    let mut given = arguments.clone();
    let has_value = |(_, filter): &(&str, FilterArgument)| {
        filter(&mut given).as_ref().is_some_and(|value| !value.trim().is_empty())
    };
    FILTERS.into_iter().filter(has_value).collect()
}

fn without(
    arguments: &SearchSessionsArguments,
    filters: &[FilterArgument],
) -> SearchSessionsArguments {
    let mut bare = arguments.clone();
    filters.iter().for_each(|filter| *filter(&mut bare) = None);
    bare
}

type FilterArgument = fn(&mut SearchSessionsArguments) -> &mut Option<String>;

const FILTERS: [(&str, FilterArgument); 8] = [
    ("project", |arguments| &mut arguments.project),
    ("agent", |arguments| &mut arguments.agent),
    ("branch", |arguments| &mut arguments.branch),
    ("file", |arguments| &mut arguments.file),
    ("tool", |arguments| &mut arguments.tool),
    ("role", |arguments| &mut arguments.role),
    ("after", |arguments| &mut arguments.after),
    ("before", |arguments| &mut arguments.before),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_day_is_before_or_after_the_requested_time() {
        let at = Timestamp::from_seconds;
        let nearest = |ends: &[i64]| {
            let time = TimeRange { from: at(100), to: at(200) };
            nearest(ends, |end| Ok(Some(at(*end))), time).unwrap()
        };
        assert_eq!(nearest(&[]), None);
        assert_eq!(nearest(&[90, 50]), Some(at(90)));
        assert_eq!(nearest(&[900, 230]), Some(at(230)));
        assert_eq!(nearest(&[900, 220, 90, 50]), Some(at(90)));
        assert_eq!(nearest(&[900, 205, 90, 50]), Some(at(205)));
    }

    #[test]
    fn filters_are_removed_alone_in_pairs_and_all_together() {
        let given = |query: &str, filters: &[(&str, &str)]| {
            let mut arguments = SearchSessionsArguments {
                query: query.to_owned(),
                ..SearchSessionsArguments::default()
            };
            for (name, value) in filters {
                let filter = FILTERS.iter().find(|(known, _)| known == name).unwrap().1;
                *filter(&mut arguments) = Some((*value).to_owned());
            }
            arguments
        };
        let names = |changes: Vec<(String, SearchSessionsArguments)>| -> Vec<String> {
            changes.into_iter().map(|(change, _)| change).collect()
        };
        let none = given("login", &[("project", " ")]);
        assert_eq!(
            names([single_changes(&none), pairs(&none), all_changes(&none)].concat()),
            [""; 0]
        );
        let one = given("login", &[("project", "/srv/app")]);
        assert_eq!(names(single_changes(&one)), ["without `project`"]);
        assert_eq!(names([pairs(&one), all_changes(&one)].concat()), [""; 0]);
        let spaced = given(" login  page ", &[("project", "/srv/app")]);
        assert_eq!(names(all_changes(&spaced)), [""; 0], "only spaces differ");
        let two = given("login", &[("project", "/srv/app"), ("role", "user")]);
        assert_eq!(names(single_changes(&two)), ["without `project`", "without `role`"]);
        assert_eq!(names(pairs(&two)), [""; 0]);
        assert_eq!(names(all_changes(&two)), ["without both `project` and `role`"]);
        let three = given("login", &[("project", "/a"), ("role", "user"), ("tool", "Bash")]);
        let pairs = pairs(&three);
        assert_eq!(pairs[2].0, "without both `tool` and `role`");
        assert_eq!((pairs[2].1.project.as_deref(), &pairs[2].1.role), (Some("/a"), &None));
        assert_eq!(names(pairs).len(), 3);
        assert_eq!(names(all_changes(&three)), ["without all filters"]);
        let quoted = all_changes(&given("\"login page\" -docker tool:Bash", &[]));
        assert_eq!(quoted.len(), 1);
        assert_eq!(quoted[0].1.query, "login page");
        assert_eq!(names(all_changes(&given("today", &[]))), ["of any time and without filters"]);
    }
}
