//! `search_memory_facts`: searches the facts of this machine and, if requested, of the team.

use graphiti_proto::{
    rpc::{Error, code},
    tools::{
        graph::FactRow,
        search_memory_facts::{NAME, SearchFactsAnswer, SearchFactsArguments},
    },
};

use super::{Effect, Tool, graph, input, output, store_error, team, text, typed, zero_limit};
use crate::{
    api::{
        DaemonState, catch_up,
        client_context::{ClientContext, ReplyForm},
        convert,
    },
    clock,
    engine::{
        embedding::VectorSet,
        entities::{Graph, is_listed},
        sharing::team::SharedFact,
    },
    model::{EntityId, Fact, Namespace, Timestamp, graph::Relation},
    search::query::Query,
};

/// Maximum size, in bytes, of the text for a model that requests the default number of facts.
const TEXT_BYTES: usize = 2_750;

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
    let filter = FactFilter::of(&arguments)?;
    let center = graph::entity_argument(arguments.center_node_uuid.as_deref())?;
    let indexed =
        catch_up::index_pending(daemon, client, projects.clone().unwrap_or_default()).await?;
    let given = projects.clone();
    // The default namespace has the user's preferences for all projects.
    let projects = projects.map(|projects| [projects, vec![Namespace::default()]].concat());
    let is_team = team::is_wanted(arguments.scope.as_deref())?;
    let query = Query::parse(&arguments.query, &clock::zoned());
    let asked = is_team.then(|| team::ask_facts(daemon, given.as_deref(), &query));
    let question = graph::GraphSearch::new(daemon, &arguments.query, projects).await;
    let limit = arguments.max_facts.min(graph::MAX_ROWS);
    let wanted = WantedFacts { filter: &filter, center, limit, explain: arguments.explain };
    let mut facts = own_facts(daemon, &question, &wanted)?;
    let form = client.reply_form;
    let mut message =
        zero_limit::explain(indexed.message(), form, "max_facts", limit, graph::MAX_ROWS);
    if let Some(asked) = asked {
        let mut others = team::answered(asked, &mut message).await;
        others.retain(|other| center.is_none() && filter.matches_shared(&other.fact));
        facts = team::merge_facts(&query, facts, &others);
        facts.truncate(limit);
    }
    if client.reply_form == ReplyForm::Text {
        let usual = SearchFactsArguments::default().max_facts;
        fit_text(&mut facts, TEXT_BYTES * limit.div_ceil(usual));
    }
    Ok(SearchFactsAnswer { message, facts })
}

/// The conditions of a search, without its words.
struct WantedFacts<'w> {
    filter: &'w FactFilter,
    center: Option<EntityId>,
    limit: usize,
    explain: bool,
}

/// Finds the facts of this machine.
fn own_facts(
    daemon: &DaemonState,
    question: &graph::GraphSearch<'_>,
    WantedFacts { filter, center, limit, explain }: &WantedFacts<'_>,
) -> Result<Vec<FactRow>, Error> {
    let things = graph::graph(daemon);
    let center = center.map(|id| latest_name(&things, id)).transpose()?;
    let spans = |number: u64| {
        let mut spans = spans(&things, daemon, number)?;
        spans.retain(|fact| filter.matches(fact) && center.is_none_or(|id| names(fact, id)));
        // The latest period is first.
        spans.reverse();
        Ok(spans)
    };
    let mut found = question.find(VectorSet::Facts, *limit, &spans)?;
    found.truncate(*limit);
    let rows = found.iter().map(|(fact, why)| {
        let explanation = explain.then(|| convert::format_explanation(why));
        Ok(FactRow { explanation, ..graph::fact_row(daemon, fact)? })
    });
    rows.collect()
}

/// Keeps the best facts whose lines fit in `left` bytes, but at least one fact.
fn fit_text(facts: &mut Vec<FactRow>, mut left: usize) {
    let fitting = facts.iter().take_while(|fact| {
        let rest = left.checked_sub(text::graph::fact_line(fact).len() + 1);
        left = rest.unwrap_or_default();
        rest.is_some()
    });
    let fitting = fitting.count().max(1);
    facts.truncate(fitting);
}

/// Returns the current id of an entity, which may have been renamed; an unknown id is returned
/// unchanged.
fn latest_name(things: &Graph<'_>, id: EntityId) -> Result<EntityId, Error> {
    Ok(things.entity(id).map_err(store_error)?.map_or(id, |entity| entity.id))
}

fn names(fact: &Fact, entity: EntityId) -> bool {
    [fact.source, fact.target].contains(&entity) || fact.others.contains(&entity)
}

fn spans(things: &Graph<'_>, daemon: &DaemonState, number: u64) -> Result<Vec<Fact>, Error> {
    let key = daemon.engine.store().fact_numbered(number).map_err(store_error)?;
    match key {
        Some(key) => things.spans(key).map_err(store_error),
        None => Ok(Vec::new()),
    }
}

/// The conditions on a fact.
struct FactFilter {
    relations: Vec<Relation>,
    /// The time at which the fact must be true.
    at: Option<Timestamp>,
    valid: (Timestamp, Timestamp),
    invalid: Option<(Timestamp, Timestamp)>,
}

impl FactFilter {
    fn of(arguments: &SearchFactsArguments) -> Result<FactFilter, Error> {
        let as_of = graph::date("as_of", arguments.as_of.as_deref())?;
        let after = |name, text: &Option<String>| {
            let range = graph::date(name, text.as_deref())?;
            Ok::<_, Error>(range.map(|range| range.from))
        };
        let valid_after = after("valid_at_after", &arguments.valid_at_after)?;
        let valid_before = after("valid_at_before", &arguments.valid_at_before)?;
        let invalid_after = after("invalid_at_after", &arguments.invalid_at_after)?;
        let invalid_before = after("invalid_at_before", &arguments.invalid_at_before)?;
        let asks_for_ended = invalid_after.is_some() || invalid_before.is_some();
        let last = |range: crate::search::query::dates::TimeRange| {
            Timestamp::from_micros(range.to.micros() - 1)
        };
        Ok(FactFilter {
            relations: relations(arguments.edge_types.as_deref())?,
            at: match as_of {
                Some(range) => Some(last(range)),
                None if arguments.include_ended || asks_for_ended => None,
                None => Some(clock::now()),
            },
            valid: (
                valid_after.unwrap_or(Timestamp::from_micros(i64::MIN)),
                valid_before.unwrap_or(Timestamp::MAX),
            ),
            invalid: asks_for_ended.then(|| {
                (invalid_after.unwrap_or(Timestamp::MIN), invalid_before.unwrap_or(Timestamp::MAX))
            }),
        })
    }

    fn matches(&self, fact: &Fact) -> bool {
        let within = |at: Timestamp, range: (Timestamp, Timestamp)| range.0 <= at && at < range.1;
        let is_wanted = match self.relations.as_slice() {
            [] => is_listed(fact),
            wanted => wanted.contains(&fact.relation),
        };
        is_wanted
            && self.at.is_none_or(|at| fact.holds_at(at))
            && within(fact.valid_at, self.valid)
            && self.invalid.is_none_or(|range| fact.invalid_at.is_some_and(|at| within(at, range)))
    }

    /// Same as [`FactFilter::matches`], for a fact of the shared graph. Its relation may come from
    /// another program.
    fn matches_shared(&self, fact: &SharedFact) -> bool {
        let within = |at: Timestamp, range: (Timestamp, Timestamp)| range.0 <= at && at < range.1;
        let relation = Relation::parse(&fact.relation);
        let is_wanted = match self.relations.as_slice() {
            [] => !relation.is_some_and(Relation::repeats_history),
            wanted => relation.is_some_and(|relation| wanted.contains(&relation)),
        };
        let holds_at =
            |at: Timestamp| fact.valid_at <= at && fact.invalid_at.is_none_or(|end| at < end);
        is_wanted
            && self.at.is_none_or(holds_at)
            && within(fact.valid_at, self.valid)
            && self.invalid.is_none_or(|range| fact.invalid_at.is_some_and(|at| within(at, range)))
    }
}

fn relations(names: Option<&[String]>) -> Result<Vec<Relation>, Error> {
    let read = |name: &String| {
        Relation::parse(name).ok_or_else(|| {
            let known: Vec<&str> = Relation::ALL.iter().map(|one| one.as_str()).collect();
            let what =
                format!("`{name}` is not a kind of fact; the kinds are {}", known.join(", "));
            Error::new(code::INVALID_PARAMS, what)
        })
    };
    names.into_iter().flatten().map(read).collect()
}
