//! The conditions of `search_memory_facts` on a fact: its relation, and the times at which it
//! holds.

use graphiti_proto::{
    rpc::{Error, code},
    tools::search_memory_facts::SearchFactsArguments,
};

use super::graph;
use crate::{
    clock,
    engine::{entities::is_listed, sharing::team::SharedFact},
    model::{Fact, Timestamp, graph::Relation},
    search::query::{Query, dates::TimeRange},
};

#[derive(Clone)]
pub(super) struct FactCondition {
    relations: Vec<Relation>,
    /// Whether facts that are marked as minor match, too. This is the case if the query has words.
    includes_minor: bool,
    /// The time at which the fact must hold; `None` for any time.
    at: Option<Timestamp>,
    valid: (Timestamp, Timestamp),
    invalid: Option<(Timestamp, Timestamp)>,
}

impl FactCondition {
    /// `query` is the parsed query of the arguments.
    pub(super) fn of(
        arguments: &SearchFactsArguments,
        query: &Query,
    ) -> Result<FactCondition, Error> {
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
        let last = |range: TimeRange| Timestamp::from_micros(range.to.micros() - 1);
        Ok(FactCondition {
            relations: relations(arguments.edge_types.as_deref())?,
            includes_minor: !query.is_list(),
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

    /// Whether facts that are marked as minor are left out.
    pub(super) fn omits_minor(&self) -> bool {
        self.relations.is_empty() && !self.includes_minor
    }

    /// Returns the same conditions, which facts that are marked as minor match, too.
    pub(super) fn with_minor(&self) -> FactCondition {
        FactCondition { includes_minor: true, ..self.clone() }
    }

    pub(super) fn matches(&self, fact: &Fact) -> bool {
        let is_wanted = match self.relations.as_slice() {
            [] if self.includes_minor => !fact.relation.repeats_history(),
            [] => is_listed(fact),
            wanted => wanted.contains(&fact.relation),
        };
        is_wanted
            && self.at.is_none_or(|at| fact.holds_at(at))
            && self.times_match(fact.valid_at, fact.invalid_at)
    }

    /// Same as [`FactCondition::matches`], for a fact of the shared graph. The relation of such a
    /// fact may be unknown, because other programs may write to this graph.
    pub(super) fn matches_shared(&self, fact: &SharedFact) -> bool {
        let relation = Relation::parse(&fact.relation);
        let is_wanted = match self.relations.as_slice() {
            [] => !relation.is_some_and(Relation::repeats_history),
            wanted => relation.is_some_and(|relation| wanted.contains(&relation)),
        };
        let holds_at =
            |at: Timestamp| fact.valid_at <= at && fact.invalid_at.is_none_or(|end| at < end);
        is_wanted
            && self.at.is_none_or(holds_at)
            && self.times_match(fact.valid_at, fact.invalid_at)
    }

    /// Whether the beginning and the end of a fact are in the requested ranges.
    fn times_match(&self, valid_at: Timestamp, invalid_at: Option<Timestamp>) -> bool {
        let within = |at: Timestamp, range: (Timestamp, Timestamp)| range.0 <= at && at < range.1;
        within(valid_at, self.valid)
            && self.invalid.is_none_or(|range| invalid_at.is_some_and(|at| within(at, range)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_facts_are_listed_only_for_words() {
        for (query, wanted) in [
            ("npm", true),
            ("\"use npm\"", true),
            ("npm -yarn", true),
            ("npm date:today", true),
            ("", false),
            (" ", false),
            ("-npm", false),
            ("date:today", false),
            ("project:app", false),
        ] {
            let parsed = Query::parse(query, &clock::zoned());
            let query = query.to_owned();
            let arguments = SearchFactsArguments { query, ..SearchFactsArguments::default() };
            let condition = FactCondition::of(&arguments, &parsed).unwrap();
            assert_eq!(condition.includes_minor, wanted, "{}", arguments.query);
            assert_eq!(condition.omits_minor(), !wanted, "{}", arguments.query);
            let edge_types = Some(vec!["DECIDED".to_owned()]);
            let of_kind =
                FactCondition::of(&SearchFactsArguments { edge_types, ..arguments }, &parsed);
            assert!(!of_kind.unwrap().omits_minor());
        }
    }
}
