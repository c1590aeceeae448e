//! `search_memory_facts`: searches the facts of this machine and, if requested, of the team.

use std::collections::BTreeSet;

use graphiti_proto::{
    rpc::Error,
    tools::{
        graph::FactRow,
        search_memory_facts::{BroaderFactSearch, NAME, SearchFactsAnswer, SearchFactsArguments},
    },
};

use super::{
    Effect, Tool, capped,
    fact_condition::FactCondition,
    graph, input, output,
    session_search::{self, QueryVectors},
    store_error, team, text, typed, zero_limit,
};
use crate::{
    api::{
        DaemonState, catch_up,
        client_context::{ClientContext, ReplyForm},
        convert,
    },
    clock,
    engine::{embedding::VectorSet, entities::Graph},
    model::{
        EntityId, Fact, Namespace,
        graph::{FactId, FactKey, Relation},
    },
    search::{query::Query, rank::Scope},
};

/// The note about facts that lack a word of the query.
const ONLY_SOME_WORDS: &str =
    "No fact contains all words of the query; these are the most similar facts.";
/// Maximum cost of the text for a model that requests the default number of facts.
const TEXT_COST: usize = 2_750;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Search what is true",
    description: "Search what earlier sessions established (decisions with reasons, errors with fixes, settings, failing \
        tests, open ends), as it is now or was at a date.",
    effect: Effect::Reads,
    input: schema,
    output: output::<SearchFactsAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

fn schema() -> schemars::Schema {
    let mut schema = input::<SearchFactsArguments>();
    if let Some(items) = schema.pointer_mut("/properties/edge_types/items") {
        items["enum"] = Relation::ALL.iter().map(|relation| relation.as_str()).collect();
    }
    schema
}

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: SearchFactsArguments,
) -> Result<SearchFactsAnswer, Error> {
    let projects = graph::projects(
        daemon,
        client,
        arguments.project.as_deref(),
        arguments.group_ids.as_deref().unwrap_or_default(),
    )?;
    let query = Query::parse(&arguments.query, &clock::zoned());
    let filter = FactCondition::of(&arguments, &query)?;
    let center = graph::entity_argument(arguments.center_node_uuid.as_deref())?;
    let indexed =
        catch_up::index_pending(daemon, client, projects.clone().unwrap_or_default()).await?;
    let given = projects.clone();
    let projects = with_preferences(projects);
    let is_team = team::is_wanted(arguments.scope.as_deref())?;
    let team_query = is_team.then(|| team::ask_facts(daemon, given.as_deref(), &query));
    let question = graph::GraphSearch::new(daemon, &arguments.query, projects).await;
    let limit = arguments.max_facts.min(graph::MAX_ROWS);
    let after = after(daemon, arguments.after.as_deref())?;
    let wanted = WantedFacts { filter: &filter, center, limit, after, explain: arguments.explain };
    let OwnFacts { rows: mut facts, has_all_words } = own_facts(daemon, &question, &wanted)?;
    let form = client.reply_form;
    let mut message =
        zero_limit::explain(indexed.message(), form, "max_facts", limit, graph::MAX_ROWS);
    if !has_all_words && !query.is_list() && !facts.is_empty() && team_query.is_none() {
        message = format!("{ONLY_SOME_WORDS} {message}").trim_end().to_owned();
    }
    if facts.is_empty() && limit > 0 && filter.omits_minor() {
        let filter = filter.with_minor();
        let limit = graph::MAX_ROWS;
        let wanted = WantedFacts { filter: &filter, center, limit, after, explain: false };
        let minor = minor_facts(&own_facts(daemon, &question, &wanted)?.rows);
        message = format!("{minor} {message}").trim().to_owned();
    }
    if let Some(team_query) = team_query {
        let mut others = team::answered(team_query, &mut message).await;
        others.retain(|other| center.is_none() && filter.matches_shared(&other.fact));
        facts = team::merge_facts(&query, facts, &others);
        facts.truncate(limit);
    }
    message = capped::explain(message, arguments.max_facts, facts.len(), graph::MAX_ROWS);
    if client.reply_form == ReplyForm::Text {
        let usual = SearchFactsArguments::default().max_facts;
        fit_text(&mut facts, TEXT_COST * limit.div_ceil(usual));
    }
    let mut answer = SearchFactsAnswer { message, facts, ..SearchFactsAnswer::default() };
    if client.reply_form == ReplyForm::Text && limit > 0 && answer.facts.is_empty() {
        answer.broader = broader(daemon, client, &arguments, &query, &question)?;
        answer.sessions = matching_sessions(daemon, &query, given, &question).await?;
    }
    Ok(answer)
}

/// Returns the number of sessions that the query finds; 0 for a query without words, which would
/// find all sessions.
async fn matching_sessions(
    daemon: &DaemonState,
    query: &Query,
    namespaces: Option<Vec<Namespace>>,
    question: &graph::GraphSearch<'_>,
) -> Result<usize, Error> {
    if query.is_list() {
        return Ok(0);
    }
    let scope = Scope { namespaces, ..Scope::default() };
    let mut vectors = QueryVectors::with(daemon, query, question.vector());
    let most = session_search::MAX_HITS;
    Ok(session_search::search(&mut vectors, query, &scope, most).await?.sessions.len())
}

/// Adds the default namespace, which has the user's preferences for all projects.
fn with_preferences(projects: Option<Vec<Namespace>>) -> Option<Vec<Namespace>> {
    projects.map(|projects| [projects, vec![Namespace::default()]].concat())
}

/// Returns broader searches that find facts, for a search without results.
fn broader(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: &SearchFactsArguments,
    query: &Query,
    question: &graph::GraphSearch<'_>,
) -> Result<Vec<BroaderFactSearch>, Error> {
    let mut found = Vec::new();
    for (change, arguments) in broader_arguments(arguments) {
        let groups = arguments.group_ids.as_deref().unwrap_or_default();
        let projects = graph::projects(daemon, client, arguments.project.as_deref(), groups)?;
        let filter = FactCondition::of(&arguments, query)?;
        let center = graph::entity_argument(arguments.center_node_uuid.as_deref())?;
        let search = question.in_projects(with_preferences(projects));
        let limit = graph::MAX_ROWS;
        let wanted = WantedFacts { filter: &filter, center, limit, after: None, explain: false };
        let facts = own_facts(daemon, &search, &wanted)?.rows.len();
        if facts > 0 {
            found.push(BroaderFactSearch { change, facts });
        }
    }
    Ok(found)
}

/// Returns the note below an empty list that leaves out minor facts; empty without minor facts.
fn minor_facts(minor: &[FactRow]) -> String {
    let kinds: BTreeSet<&str> = minor.iter().map(|fact| fact.name.as_str()).collect();
    let kinds = kinds.into_iter().collect::<Vec<_>>().join(", ");
    match minor.len() {
        0 => String::new(),
        1 => format!("1 minor fact is listed only for words, or if its kind is given: {kinds}."),
        count => format!(
            "{count} minor facts are listed only for words, or if their kind is given: {kinds}."
        ),
    }
}

/// Returns the arguments of the broader searches: with ended facts, without one of the filters, and
/// with ended facts and without all filters.
fn broader_arguments(arguments: &SearchFactsArguments) -> Vec<(String, SearchFactsArguments)> {
    type Change = fn(&mut SearchFactsArguments);
    let changes: [(&str, Change); 9] = [
        ("with `include_ended`", |given| given.include_ended = true),
        ("without `project`", |given| given.project = None),
        ("without `group_ids`", |given| given.group_ids = None),
        ("without `edge_types`", |given| given.edge_types = None),
        ("without `center_node_uuid`", |given| given.center_node_uuid = None),
        ("without `as_of`", |given| given.as_of = None),
        ("without `valid_at_after`", |given| given.valid_at_after = None),
        ("without `valid_at_before`", |given| given.valid_at_before = None),
        ("without `invalid_at_after` and `invalid_at_before`", |given| {
            (given.invalid_at_after, given.invalid_at_before) = (None, None);
        }),
    ];
    let mut broader = Vec::new();
    let mut all = arguments.clone();
    for (name, change) in changes {
        let mut changed = arguments.clone();
        change(&mut changed);
        if changed != *arguments {
            broader.push((name.to_owned(), changed));
        }
        change(&mut all);
    }
    if broader.len() > 1 {
        broader.push(("with ended facts and without all filters".to_owned(), all));
    }
    broader
}

/// The conditions of a search, without its words.
struct WantedFacts<'w> {
    filter: &'w FactCondition,
    center: Option<EntityId>,
    limit: usize,
    /// Only facts that are listed after this place.
    after: Option<ListPlace>,
    explain: bool,
}

/// The place of a fact in a list of facts. A query without words lists the facts in descending
/// order of their places. The index has the same order: by the seconds of the latest claim, and
/// then by the number of the fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ListPlace {
    seconds: i64,
    number: u64,
}

impl ListPlace {
    fn of(graph: &Graph<'_>, fact: FactKey) -> Result<Option<ListPlace>, Error> {
        let last = graph.last_claim(fact).map_err(store_error)?;
        Ok(last.map(|claim| ListPlace {
            seconds: claim.at.micros().div_euclid(1_000_000),
            number: fact.number(),
        }))
    }
}

/// Returns the place of the last fact of the previous page. If no session states the fact any more,
/// the list begins again.
fn after(daemon: &DaemonState, fact: Option<&str>) -> Result<Option<ListPlace>, Error> {
    let Some(id) = fact.and_then(FactId::parse) else { return Ok(None) };
    ListPlace::of(&graph::graph(daemon), id.key())
}

/// The facts of this machine that match a search.
struct OwnFacts {
    rows: Vec<FactRow>,
    /// Whether a fact contains all words of the search.
    has_all_words: bool,
}

/// Finds the facts of this machine.
fn own_facts(
    daemon: &DaemonState,
    question: &graph::GraphSearch<'_>,
    wanted: &WantedFacts<'_>,
) -> Result<OwnFacts, Error> {
    let WantedFacts { filter, center, limit, after, explain } = *wanted;
    let graph = graph::graph(daemon);
    let center = center.map(|id| latest_name(&graph, id)).transpose()?;
    let spans = |number: u64| {
        let mut spans = spans(&graph, daemon, number, after)?;
        spans.retain(|fact| filter.matches(fact) && center.is_none_or(|id| mentions(fact, id)));
        // The latest period is first.
        spans.reverse();
        Ok(spans)
    };
    let mut found = question.find(VectorSet::Facts, limit, &spans)?;
    let has_all_words = found
        .iter()
        .any(|(_, why)| !why.words.is_empty() && why.words.iter().all(|word| word.any_form > 0));
    found.truncate(limit);
    let rows = found.iter().map(|(fact, why)| {
        let explanation = explain.then(|| convert::format_explanation(why));
        Ok(FactRow { explanation, ..graph::fact_row(daemon, fact)? })
    });
    Ok(OwnFacts { rows: rows.collect::<Result<_, Error>>()?, has_all_words })
}

/// Keeps the best facts whose lines fit in the cost `left`, but at least one fact.
fn fit_text(facts: &mut Vec<FactRow>, mut left: usize) {
    let fitting = facts.iter().take_while(|fact| {
        let rest = left.checked_sub(text::cost::cost(&text::graph::fact_line(fact)) + 1);
        left = rest.unwrap_or_default();
        rest.is_some()
    });
    let fitting = fitting.count().max(1);
    facts.truncate(fitting);
}

/// Returns the current id of an entity, which may have been renamed; an unknown id is returned
/// unchanged.
fn latest_name(graph: &Graph<'_>, id: EntityId) -> Result<EntityId, Error> {
    Ok(graph.entity(id).map_err(store_error)?.map_or(id, |entity| entity.id))
}

fn mentions(fact: &Fact, entity: EntityId) -> bool {
    [fact.source, fact.target].contains(&entity) || fact.others.contains(&entity)
}

/// Returns the periods of the fact with this number; none if the fact is not listed after `after`.
fn spans(
    graph: &Graph<'_>,
    daemon: &DaemonState,
    number: u64,
    after: Option<ListPlace>,
) -> Result<Vec<Fact>, Error> {
    let key = daemon.engine.store().fact_numbered(number).map_err(store_error)?;
    let Some(key) = key else { return Ok(Vec::new()) };
    if let Some(after) = after
        && ListPlace::of(graph, key)?.is_none_or(|place| place >= after)
    {
        return Ok(Vec::new());
    }
    graph.spans(key).map_err(store_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_names_the_kinds_of_its_minor_facts() {
        let fact = |name: &str| FactRow { name: name.to_owned(), ..FactRow::default() };
        assert_eq!(minor_facts(&[]), "");
        assert_eq!(
            minor_facts(&[fact("RESOLVED")]),
            "1 minor fact is listed only for words, or if its kind is given: RESOLVED."
        );
        assert_eq!(
            minor_facts(&[fact("SET_TO"), fact("RESOLVED"), fact("RESOLVED")]),
            "3 minor facts are listed only for words, or if their kind is given: RESOLVED, SET_TO."
        );
    }

    #[test]
    fn a_search_without_results_is_tried_without_each_filter() {
        let changes = |arguments: &SearchFactsArguments| -> Vec<String> {
            broader_arguments(arguments).into_iter().map(|(change, _)| change).collect()
        };
        let plain = SearchFactsArguments::default();
        assert_eq!(changes(&plain), ["with `include_ended`"]);
        let ended = SearchFactsArguments { include_ended: true, ..plain.clone() };
        assert_eq!(changes(&ended), [""; 0]);
        let filtered = SearchFactsArguments {
            project: Some("/srv/app".to_owned()),
            edge_types: Some(vec!["DECIDED".to_owned()]),
            ..ended
        };
        assert_eq!(
            changes(&filtered),
            [
                "without `project`",
                "without `edge_types`",
                "with ended facts and without all filters",
            ]
        );
    }
}
