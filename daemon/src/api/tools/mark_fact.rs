//! `mark_fact`: stores an agent's correction of a fact.

use graphiti_proto::{
    rpc::{Error, code},
    tools::{
        graph::FactRow,
        mark_fact::{MarkFactAnswer, MarkFactArguments, NAME},
    },
};

use super::{Effect, Tool, engine_error, graph, input, output, store_error, typed};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        projects::{hidden, is_project_hidden},
    },
    clock,
    model::{
        graph::{CorrectedFact, Correction, CorrectionAuthor, FactId, FactKey, Verdict},
        hex,
    },
};

/// Minimum number of digits of an abbreviated fact id.
const MIN_DIGITS: usize = 6;
/// The part of an error message with the command that shows the ids of facts.
pub(super) const LISTED_FACTS: &str = "`graphiti facts` shows the ids";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Mark a fact",
    description: "Say that a fact of search_memory_facts is wrong, is done, or still holds, when the user or your work shows \
        it. Nothing is deleted, and the user's own mark stays.",
    effect: Effect::Updates,
    input: input::<MarkFactArguments>,
    output: output::<MarkFactAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: MarkFactArguments,
) -> Result<MarkFactAnswer, Error> {
    let verdict = verdict(&arguments.verdict)?;
    let fact = named(daemon, &arguments.uuid)?;
    let periods = graph::graph(daemon).spans(fact).map_err(store_error)?;
    if periods.iter().any(|period| is_project_hidden(daemon, client, period.namespace)) {
        return Err(hidden());
    }
    let author = CorrectionAuthor::Agent;
    let marked =
        CorrectedFact { fact, correction: Correction { verdict, author, at: clock::now() } };
    if !daemon.engine.may_correct(&marked).map_err(engine_error)? {
        let what = "the user has marked this fact: ask the user to change the mark";
        return Err(Error::new(code::INVALID_PARAMS, what));
    }
    daemon.engine.correct(&[marked]).await.map_err(engine_error)?;
    daemon.recall.clear();
    Ok(MarkFactAnswer {
        message: format!("Marked as {}.", verdict.as_str()),
        facts: rows(daemon, fact)?,
    })
}

pub(in crate::api) fn verdict(text: &str) -> Result<Verdict, Error> {
    Verdict::parse(text).ok_or_else(|| {
        let what = format!("the verdict must be `wrong`, `done` or `keep`, not `{text}`");
        Error::new(code::INVALID_PARAMS, what)
    })
}

/// Returns the fact whose id is `text` or begins with `text`.
pub(in crate::api) fn named(daemon: &DaemonState, text: &str) -> Result<FactKey, Error> {
    let text = text.trim().to_lowercase();
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let is_hex = digits.chars().all(|c| c.is_ascii_hexdigit());
    if !is_hex || !(MIN_DIGITS..=32).contains(&digits.len()) {
        let what = format!(
            "`{text}` is not the id of a fact: {LISTED_FACTS}, and {MIN_DIGITS} digits are enough"
        );
        return Err(Error::new(code::INVALID_PARAMS, what));
    }
    let store = daemon.engine.store();
    let given = FactId::parse(&text).map(FactId::key);
    // The last byte of an id, the number of the period, is not compared.
    let digits = &digits[..digits.len().min(30)];
    let prefix = hex::decode(&digits[..digits.len() & !1]).expect("checked above");
    let mut found = store.facts_with_prefix(&prefix, 32).map_err(store_error)?;
    found.retain(|fact| match given {
        Some(given) => *fact == given,
        None => fact.0.simple().to_string().starts_with(digits),
    });
    match found.as_slice() {
        [fact] => Ok(*fact),
        [] => Err(Error::new(code::NOT_FOUND, format!("no fact has the id `{text}`"))),
        several => {
            let what = format!(
                "{} facts have ids that begin with `{text}`: give more digits",
                several.len()
            );
            Err(Error::new(code::AMBIGUOUS, what))
        }
    }
}

/// Returns the periods of a fact, the latest first.
pub(in crate::api) fn rows(daemon: &DaemonState, fact: FactKey) -> Result<Vec<FactRow>, Error> {
    let graph = graph::graph(daemon);
    let spans = graph.spans(fact).map_err(store_error)?;
    spans.iter().rev().map(|fact| graph::fact_row(daemon, fact)).collect()
}
