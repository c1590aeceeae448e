//! The page of facts, with their periods and sources.

use axum::extract::{Query, State};
use graphiti_proto::tools::{
    graph::FactRow,
    search_memory_facts::{NAME, SearchFactsAnswer, SearchFactsArguments},
};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    PageAnswer, changes,
    parts::{address, ago, moment, project_name, prose, source_links, text},
    sessions::{choice, project_names},
};
use crate::{
    api::in_process,
    model::graph::{FactId, Relation},
    view::{
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

/// Maximum number of facts on the page. One more fact is requested, to know whether there are more.
const MAX_FACTS: usize = 60;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct FactQuery {
    q: String,
    project: String,
    kind: String,
    as_of: String,
    /// The id of the last fact of the previous page. Only the facts after this fact are listed.
    /// Used only for a query without words.
    after: String,
    /// Whether ended facts are shown, too.
    ended: bool,
}

pub(in crate::view) async fn page(
    State(view): State<SharedView>,
    Query(query): Query<FactQuery>,
) -> PageAnswer {
    let daemon = view.daemon()?;
    let given = |value: &str| Some(value.to_owned()).filter(|value| !value.is_empty());
    let arguments = SearchFactsArguments {
        query: query.q.clone(),
        project: given(&query.project),
        max_facts: MAX_FACTS + 1,
        edge_types: given(&query.kind).map(|kind| vec![kind]),
        as_of: given(&query.as_of),
        after: given(&query.after).filter(|_| query.is_list()),
        include_ended: query.ended,
        ..SearchFactsArguments::default()
    };
    let answer: SearchFactsAnswer = in_process::tool(&daemon, NAME, &arguments).await?;
    let shown = &answer.facts[..answer.facts.len().min(MAX_FACTS)];
    let has_more = shown.len() < answer.facts.len();
    let entries = view.catalogue.entries(&daemon).await?;
    let here = query.address();
    let body = html! {
        h1 { (T.facts) }
        (query.form(&project_names(&daemon, &entries)))
        section #results data-live="" aria-label=(T.results) data-status=(texts::found(shown.len(), has_more)) {
            @if shown.is_empty() { p .empty { (T.nothing_found) } }
            ol .list { @for fact in shown { (fact_row(fact, &["done", "wrong", "keep"], &here)) } }
            @if has_more { p .more { (query.others(&answer.facts)) } }
        }
    };
    Ok(ViewPage::new(T.facts, NavItem::Facts, body))
}

impl FactQuery {
    /// Whether the facts are listed by time, because no words are searched.
    fn is_list(&self) -> bool {
        self.q.trim().is_empty()
    }

    /// Renders how to find the facts that are not on the page.
    fn others(&self, found: &[FactRow]) -> Markup {
        match end_of_page(found, MAX_FACTS).filter(|_| self.is_list()) {
            Some(after) => {
                let next = FactQuery { after, ..self.clone() }.address();
                html! { (texts::only_latest(MAX_FACTS)) " " a rel="next" href=(next) { (T.earlier) } }
            }
            None => html! { (texts::only_best(MAX_FACTS)) },
        }
    }

    fn address(&self) -> String {
        let ended = if self.ended { "true" } else { "" };
        let given = [
            ("q", self.q.as_str()),
            ("project", &self.project),
            ("kind", &self.kind),
            ("as_of", &self.as_of),
            ("after", &self.after),
            ("ended", ended),
        ];
        address("facts", &given)
    }

    fn form(&self, projects: &[(String, String)]) -> Markup {
        let kinds: Vec<(String, String)> = Relation::ALL
            .iter()
            .map(|kind| (kind.as_str().to_owned(), texts::relation(kind.as_str())))
            .collect();
        html! {
            form .filters role="search" action="facts" data-filter="" {
                label .grow { span .hidden { (T.search_facts) } input type="search" name="q" value=(self.q) placeholder=(T.search_facts) data-search=""; }
                (choice("project", T.project, &self.project, projects))
                (choice("kind", T.kind, &self.kind, &kinds))
                label { (T.as_of) " " input type="date" name="as_of" value=(self.as_of); }
                label { input type="checkbox" name="ended" value="true" checked[self.ended]; " " (T.also_ended) }
                button { (T.show) }
            }
        }
    }
}

/// Renders a fact with its time, its sources and the buttons that correct it.
pub(in crate::view) fn fact_row(fact: &FactRow, verdicts: &[&str], page: &str) -> Markup {
    let is_over = fact.invalid_at.is_some();
    html! {
        li .row .fact .over[is_over] #{ "f-" (fact.uuid) } {
            p .fact-text { (prose(&fact.fact)) }
            p .meta {
                span .badge { (texts::relation(&fact.name)) }
                " " span class={ "certainty-" (fact.certainty) } { (texts::certainty(&fact.certainty)) }
                " " (period(fact))
                @if !fact.project.is_empty() { " " span .project title=(fact.project) { (text(project_name(&fact.project))) } }
                (source_links(&fact.sources))
                " " a .live href=(address("node", &[("id", &fact.source_node_uuid)])) { (T.neighbours_link) }
            }
            // Attributes that the sentence contains are not repeated.
            @for (name, value) in fact.attributes.iter().filter(|(_, value)| !fact.fact.contains(value.as_str())) {
                p .detail { span .role { (text(&name.replace('_', " "))) } " " (text(value)) }
            }
            @if !verdicts.is_empty() { (changes::buttons(&fact.uuid, verdicts, page)) }
        }
    }
}

/// Returns the id of the fact after which the next page begins, if the list `found` has more than
/// `shown` facts. The periods of one fact stay on one page, because they have the same place in the
/// list.
pub(super) fn end_of_page(found: &[FactRow], shown: usize) -> Option<String> {
    let key = |row: &FactRow| FactId::parse(&row.uuid).map(FactId::key);
    let next = key(found.get(shown)?);
    let last = found[..shown].iter().rfind(|row| key(row) != next).or(found.get(shown))?;
    Some(last.uuid.clone())
}

/// Renders the period in which a fact is or was true.
pub(super) fn period(fact: &FactRow) -> Markup {
    html! {
        @match &fact.invalid_at {
            Some(end) => { (T.from) " " (moment(&fact.valid_at)) " " (T.until) " " (moment(end)) }
            None => { (T.since) " " (ago(&fact.valid_at)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;

    #[test]
    fn a_list_without_words_continues_after_the_last_fact_that_is_shown() {
        let fact = |number: u128, period: u128| FactRow {
            uuid: uuid::Uuid::from_u128(number << 8 | period).to_string(),
            // All facts have the same time.
            valid_at: Timestamp::from_seconds(1_000_000).to_string(),
            ..FactRow::default()
        };
        let mut facts: Vec<FactRow> = (0..=60).map(|number| fact(number, 0)).collect();
        let query = FactQuery { kind: "LEFT_OPEN".to_owned(), ..FactQuery::default() };
        let link = query.others(&facts).into_string();
        let page = FactQuery { after: facts[59].uuid.clone(), ..query.clone() }.address();
        assert!(page.contains("after=00000000") && page.contains("kind=LEFT_OPEN"), "{page}");
        assert!(link.contains(&html! { (page) }.into_string()), "{link}");
        // The next fact is an earlier period of the last fact that is shown.
        facts[60] = fact(59, 1);
        assert_eq!(end_of_page(&facts, MAX_FACTS), Some(facts[58].uuid.clone()));
        // The results of a search are ordered by their rank.
        let query = FactQuery { q: "login".to_owned(), ..query };
        assert!(!query.others(&facts).into_string().contains("href"));
        assert_eq!(end_of_page(&facts[..60], MAX_FACTS), None);
    }
}
