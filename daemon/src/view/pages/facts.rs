//! The page of facts, with their periods and sources.

use std::time::Duration;

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
    model::{Timestamp, graph::Relation},
    view::{
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

/// Maximum number of facts on the page. One more is requested, to know whether there are more.
const MAX_FACTS: usize = 60;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct FactQuery {
    q: String,
    project: String,
    kind: String,
    as_of: String,
    /// Only facts that became true before this time: the next page of a list without words.
    before: String,
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
        valid_at_before: given(&query.before),
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
    /// Says how to find the facts that are not on the page. Facts without words are listed by time.
    fn others(&self, found: &[FactRow]) -> Markup {
        let next = found.get(MAX_FACTS).filter(|_| self.q.trim().is_empty());
        let end = next.and_then(end_of_page);
        // If all facts of this page have the same time, the next page would be this page again.
        let end = match next {
            Some(next) if end.as_ref() == Some(&self.before) => Some(next.valid_at.clone()),
            _ => end,
        };
        match end {
            Some(before) => {
                let next = FactQuery { before, ..self.clone() }.address();
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
            ("before", &self.before),
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

/// Returns the time before which the facts of the next page became true, if `next` is its first
/// fact. Facts that became true at the same time may be on both pages.
pub(super) fn end_of_page(next: &FactRow) -> Option<String> {
    let at = Timestamp::parse(&next.valid_at)?;
    Some(at.plus(Duration::from_micros(1)).to_string())
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

    #[test]
    fn a_list_without_words_continues_with_the_first_fact_that_is_not_shown() {
        let fact = |second: i64| FactRow {
            valid_at: Timestamp::from_seconds(1_000_000 - second).to_string(),
            ..FactRow::default()
        };
        let facts: Vec<FactRow> = (0..=60).map(fact).collect();
        let query = FactQuery { kind: "LEFT_OPEN".to_owned(), ..FactQuery::default() };
        let link = query.others(&facts).into_string();
        let before = end_of_page(&facts[60]).unwrap();
        assert!(before > facts[60].valid_at && before < facts[59].valid_at);
        let page = FactQuery { before, ..query.clone() }.address();
        assert!(page.contains("before=1970-01-12T13") && page.contains("kind=LEFT_OPEN"), "{page}");
        assert!(link.contains(&html! { (page) }.into_string()), "{link}");
        // If more facts became true at one time, the next page continues before this time.
        let same: Vec<FactRow> = (0..=60).map(|_| fact(0)).collect();
        let before = end_of_page(&same[60]).unwrap();
        let link = FactQuery { before, ..query.clone() }.others(&same).into_string();
        let page = FactQuery { before: same[60].valid_at.clone(), ..query.clone() }.address();
        assert!(link.contains(&html! { (page) }.into_string()), "{link}");
        // The results of a search are ordered by their rank.
        let query = FactQuery { q: "login".to_owned(), ..query };
        assert!(!query.others(&facts).into_string().contains("href"));
    }
}
