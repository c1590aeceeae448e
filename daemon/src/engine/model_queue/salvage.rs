//! Recovers the classifications of tools and the counters of model requests from a damaged
//! database.

use super::{learned_tools, usage};
use crate::store::{Store, StoreError};

/// Adds the classifications of tools and the counters of requests of `from` to those of `into`. If
/// both databases have a classification of a tool, or a correction by the user, `into` keeps its
/// own. If both have counters of a day, these are added if `are_disjoint` is set, which means that
/// no request was counted in both; otherwise, `into` keeps its own.
///
/// # Errors
///
/// Returns an error if `into` cannot be read or written.
pub fn salvage(from: &dyn Store, into: &dyn Store, are_disjoint: bool) -> Result<(), StoreError> {
    let mut writes = usage::salvage(from, into, are_disjoint)?;
    writes.extend(learned_tools::salvage(from, into));
    into.write(writes).wait().map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        engine::model_queue::{
            learned_tools::LearnedTools,
            usage::{UsageCounters, UsageStats},
        },
        llm::{
            ledger_file::LedgerFile,
            ports::{Journal, RequestOutcome, UsageRecord},
            price::Money,
            reply::TokenUsage,
            request::Purpose,
        },
        model::tool::{ToolDomain, ToolIntent},
        store::sled::SledStore,
    };

    fn store(folder: &tempfile::TempDir) -> Arc<SledStore> {
        Arc::new(SledStore::open(folder.path()).unwrap())
    }

    /// Counts a request on each of these days.
    fn count(store: &Arc<SledStore>, days: &[i64]) {
        let stats = usage_of(store);
        for day in days {
            stats.record(&UsageRecord {
                at: usage::start_of_day(*day),
                purpose: Purpose::SessionSummary,
                project: None,
                provider: "openai",
                model: "some-model".to_owned(),
                end: RequestOutcome::Answered,
                calls: 1,
                usage: TokenUsage { input: 10, output: 2, ..TokenUsage::default() },
                cost: Some(Money::from_usd(0.5)),
                saved_tokens: 3,
            });
        }
        store.write(Vec::new()).wait().unwrap();
    }

    fn usage_of(store: &Arc<SledStore>) -> UsageStats {
        UsageStats::open(LedgerFile::new("/no/ledger".as_ref()), store.clone())
    }

    fn counters(store: &Arc<SledStore>, day: i64) -> UsageCounters {
        usage_of(store).days().unwrap()[&day][""]["session_summary"]
    }

    #[test]
    fn counters_of_a_day_are_added_once() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [from, into] = [store(&folders[0]), store(&folders[1])];
        count(&from, &[5, 6]);
        count(&into, &[6, 6, 7]);
        salvage(from.as_ref(), into.as_ref(), true).unwrap();
        let answered = |day: i64| counters(&into, day).answered;
        assert_eq!([answered(5), answered(6), answered(7)], [1, 3, 1]);
        let of = counters(&into, 6);
        assert_eq!((of.calls, of.input, of.output, of.saved_tokens), (3, 30, 6, 9));
        assert_eq!(of.cost, Money::from_usd(1.5));
        // The same database is recovered again.
        salvage(from.as_ref(), into.as_ref(), false).unwrap();
        assert_eq!([answered(5), answered(6), answered(7)], [1, 3, 1]);
    }

    #[test]
    fn classifications_of_both_databases_are_kept() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [from, into] = [store(&folders[0]), store(&folders[1])];
        let before = LearnedTools::load(from.clone());
        before.correct("mcp__a__old", ToolIntent::Search, ToolDomain::Documentation);
        before.correct("mcp__a__both", ToolIntent::Search, ToolDomain::Documentation);
        let now = LearnedTools::load(into.clone());
        now.correct("mcp__a__both", ToolIntent::Modify, ToolDomain::Code);
        now.correct("mcp__a__new", ToolIntent::Modify, ToolDomain::Code);
        for store in [&from, &into] {
            store.write(Vec::new()).wait().unwrap();
        }
        salvage(from.as_ref(), into.as_ref(), true).unwrap();
        let tools: Vec<_> = LearnedTools::load(into.clone())
            .list()
            .into_iter()
            .map(|tool| (tool.tool, tool.intent, tool.by_user))
            .collect();
        let wanted = [
            ("mcp__a__both", ToolIntent::Modify),
            ("mcp__a__new", ToolIntent::Modify),
            ("mcp__a__old", ToolIntent::Search),
        ];
        assert_eq!(tools, wanted.map(|(tool, intent)| (tool.to_owned(), intent, true)));
    }
}
