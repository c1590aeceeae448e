//! Suggests changes to a search that found nothing.

use graphiti_proto::tools::search_sessions::SearchSessionsArguments;

use crate::{clock, search::query::Query};

/// Returns broader queries, each with a description of the change: for each filter, the query
/// without this filter, and then the query without all filters.
pub(super) fn queries(
    arguments: &SearchSessionsArguments,
) -> Vec<(String, SearchSessionsArguments)> {
    let mut broader = Vec::new();
    let mut bare = arguments.clone();
    for (name, filter) in FILTERS {
        let mut without = arguments.clone();
        if filter(&mut without).take().is_some_and(|value| !value.trim().is_empty()) {
            broader.push((format!("without `{name}`"), without));
        }
        *filter(&mut bare) = None;
    }
    let query = Query::parse(&arguments.query, &clock::zoned());
    // A query for all sessions of a time has no words that could find more.
    if query.is_list() && !arguments.query.trim().is_empty() {
        bare.query = String::new();
        broader.push(("of any time and without filters".to_owned(), bare));
        return broader;
    }
    bare.query = query.said().to_owned();
    if bare.query != arguments.query {
        broader.push(("as plain words, without filters, quotes and `-`".to_owned(), bare));
    } else if broader.len() > 1 {
        broader.push(("without all filters".to_owned(), bare));
    }
    broader
}

type FilterArgument = fn(&mut SearchSessionsArguments) -> &mut Option<String>;

/// The arguments that are filters.
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
    fn each_filter_is_removed_alone_and_then_all_are_removed() {
        let changes = |query: &str, project: &str, role: Option<&str>| -> Vec<String> {
            let arguments = SearchSessionsArguments {
                query: query.to_owned(),
                project: Some(project.to_owned()),
                role: role.map(str::to_owned),
                ..SearchSessionsArguments::default()
            };
            queries(&arguments).into_iter().map(|(change, _)| change).collect()
        };
        assert_eq!(changes("login", " ", None), [""; 0]);
        assert_eq!(changes("login", "/srv/app", None), ["without `project`"]);
        assert_eq!(
            changes("login", "/srv/app", Some("user")),
            ["without `project`", "without `role`", "without all filters"]
        );
        let quoted = queries(&SearchSessionsArguments {
            query: "\"login page\" -docker tool:Bash".to_owned(),
            ..SearchSessionsArguments::default()
        });
        assert_eq!(quoted.len(), 1);
        assert_eq!(quoted[0].1.query, "login page");
        assert_eq!(changes("today", " ", None), ["of any time and without filters"]);
    }
}
