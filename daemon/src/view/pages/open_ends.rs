//! The page of unfinished work, failing tests and preferences of the user, with buttons to correct
//! these facts.

use axum::extract::{Query, State};
use graphiti_proto::tools::{
    graph::FactRow,
    search_memory_facts::{NAME, SearchFactsAnswer, SearchFactsArguments},
};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    PageAnswer, PageResult,
    facts::{end_of_page, fact_row},
    parts::address,
    sessions::{choice, project_names},
};
use crate::{
    api::{DaemonState, in_process},
    model::graph::Relation,
    view::{
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

/// Maximum number of facts of one kind on the page. One more fact is requested, to know whether
/// there are more; a request returns at most 100 facts.
const MAX_FACTS: usize = 99;

pub(in crate::view) struct FactsOfKind {
    /// The latest first, at most [`MAX_FACTS`].
    pub(in crate::view) rows: Vec<FactRow>,
    /// If there are more facts of the kind: the id of the fact after which they are listed.
    pub(in crate::view) others_after: Option<String>,
}

/// The lists: for each, the heading, the kind of facts and the buttons.
pub(in crate::view) const LISTS: [(&str, Relation, &[&str]); 3] = [
    (T.left_open, Relation::LeftOpen, &["done", "wrong", "keep"]),
    (T.failing_tests, Relation::Fails, &["done", "wrong", "keep"]),
    (T.preferences, Relation::Prefers, &["done", "wrong", "keep"]),
];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct OpenEndQuery {
    project: String,
}

pub(in crate::view) async fn page(
    State(view): State<SharedView>,
    Query(query): Query<OpenEndQuery>,
) -> PageAnswer {
    let daemon = view.daemon()?;
    let entries = view.catalogue.entries(&daemon).await?;
    let here = address("open-ends", &[("project", &query.project)]);
    let mut sections = Vec::new();
    for (heading, relation, verdicts) in LISTS {
        let project = Some(query.project.clone()).filter(|project| !project.is_empty());
        let arguments = SearchFactsArguments { project, ..SearchFactsArguments::default() };
        let facts = facts_of_kind(&daemon, relation, arguments).await?;
        let kind = [
            ("project", query.project.as_str()),
            ("kind", relation.as_str()),
            ("after", facts.others_after.as_deref().unwrap_or_default()),
        ];
        let others = html! { a href=(address("facts", &kind)) { (T.earlier) } };
        sections.push(section(heading, &facts, verdicts, &here, &others));
    }
    let body = html! {
        h1 { (T.open_ends) }
        form .filters action="open-ends" data-filter="" {
            (choice("project", T.project, &query.project, &project_names(&daemon, &entries)))
            button { (T.show) }
        }
        div #open-ends .columns data-live="" { @for section in &sections { (section) } }
    };
    Ok(ViewPage::new(T.open_ends, NavItem::Open, body))
}

pub(in crate::view) async fn facts_of_kind(
    daemon: &DaemonState,
    relation: Relation,
    arguments: SearchFactsArguments,
) -> PageResult<FactsOfKind> {
    let arguments = SearchFactsArguments {
        max_facts: MAX_FACTS + 1,
        edge_types: Some(vec![relation.as_str().to_owned()]),
        ..arguments
    };
    let answer: SearchFactsAnswer = in_process::tool(daemon, NAME, &arguments).await?;
    let mut facts = answer.facts;
    let others_after = end_of_page(&facts, MAX_FACTS);
    facts.truncate(MAX_FACTS);
    facts.sort_by(|one, other| other.valid_at.cmp(&one.valid_at));
    Ok(FactsOfKind { rows: facts, others_after })
}

impl FactsOfKind {
    /// Renders the number of facts.
    pub(in crate::view) fn count(&self) -> Markup {
        html! { span .count { (self.rows.len()) @if self.others_after.is_some() { "+" } } }
    }

    /// Renders a note if there are more facts. `others` says how to find them.
    pub(in crate::view) fn note(&self, others: &Markup) -> Markup {
        html! { @if self.others_after.is_some() { p .more { (texts::only_latest(self.rows.len())) " " (others) } } }
    }
}

pub(in crate::view) fn section(
    heading: &str,
    facts: &FactsOfKind,
    verdicts: &[&str],
    page: &str,
    others: &Markup,
) -> Markup {
    html! {
        section {
            h2 .section { (heading) " " (facts.count()) }
            @if facts.rows.is_empty() { p .empty { (T.none) } }
            ol .list { @for fact in &facts.rows { (fact_row(fact, verdicts, page)) } }
            (facts.note(others))
        }
    }
}
