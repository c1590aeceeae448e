//! Methods about models: usage, reachability, learned classifications of tools, and prompt
//! templates.

use std::{fmt::Display, path::Path, time::Duration};

use graphiti_proto::{
    methods::models::{
        MemoryUseRow, ModelReachability, PromptRow, Prompts, Reach, SkippedQuestions, Templates,
        ToolKnowledge, ToolRow, Tools, UsageReport, UsageRequest, UsageRow,
    },
    rpc::{Error, code},
};
use serde_json::Value;

use super::write;
use crate::{
    api::{DaemonState, errors::engine_error},
    clock,
    engine::{
        memory_use::UseCount,
        model_queue::{
            learned_tools::{LearnedTool, LearnedTools},
            prompts::{self, ShownTemplate},
            usage::{self, UsageCounters},
        },
    },
    model::{
        Timestamp,
        tool::{ToolDomain, ToolIntent},
    },
};

/// Time limit for the check whether a model can be reached.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);
/// For this time after an answered request, a server counts as reachable, even if the server does
/// not answer the check.
const ANSWER_COUNTS: Duration = Duration::from_secs(600);

pub(super) async fn usage(daemon: &DaemonState, given: UsageRequest) -> Result<Value, Error> {
    let summarizer = daemon.engine.summarizer().await.map_err(engine_error)?;
    let now = clock::now();
    let days =
        summarizer.usage.days().map_err(|error| Error::new(code::INTERNAL, error.to_string()))?;
    let mut rows = Vec::new();
    for (day, uses) in days.into_iter().rev() {
        let began = usage::start_of_day(day);
        if now.since(began).as_secs() / 86_400 >= u64::from(given.days) {
            break;
        }
        for (project, by_purpose) in uses {
            rows.extend(by_purpose.into_iter().map(|(purpose, of)| {
                let day = began.to_string().chars().take(10).collect();
                row(day, &project, &purpose, &of)
            }));
        }
    }
    let today = summarizer.client.ledger().total(now);
    let outage = summarizer.client.outage().filter(|_| summarizer.is_on());
    let (model, prices) =
        if summarizer.is_on() { summarizer.client.prices() } else { Default::default() };
    Ok(write(&UsageReport {
        rows,
        model,
        prices,
        calls_today: today.calls,
        usd_today: today.cost.usd(),
        outage: outage.map(|error| error.to_string()),
        memory: memory_rows(daemon),
    }))
}

pub(super) async fn reach(daemon: &DaemonState) -> Result<Value, Error> {
    let summarizer = daemon.engine.summarizer().await.map_err(engine_error)?;
    let vectors = daemon.embedding.model();
    let model = async {
        if !summarizer.is_on() {
            return None;
        }
        let mut reached = found(summarizer.client.reach(RESPONSE_TIMEOUT).await);
        // Some servers answer prompts, but not the request for the list of their models.
        let answered_at = summarizer.client.answered_at().filter(|at| is_recent(*at, clock::now()));
        if let Some(at) = answered_at.filter(|_| !reached.is_there) {
            let what = std::mem::take(&mut reached.what);
            reached.is_there = true;
            reached.what = format!("the last request was answered at {at}; but {what}");
        }
        Some(reached)
    };
    let embeddings = async {
        if !vectors.is_on() {
            return None;
        }
        Some(found(vectors.reach(RESPONSE_TIMEOUT).await))
    };
    let (model, embeddings) = tokio::join!(model, embeddings);
    Ok(write(&Reach { model, embeddings }))
}

/// Whether an answer at `at` shows that the server is still there.
fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    now.since(at) < ANSWER_COUNTS
}

fn found(found: Result<String, impl Display>) -> ModelReachability {
    match found {
        Ok(what) => ModelReachability { is_there: true, what },
        Err(error) => ModelReachability { is_there: false, what: error.to_string() },
    }
}

pub(super) async fn tools(daemon: &DaemonState, given: Tools) -> Result<Value, Error> {
    let summarizer = daemon.engine.summarizer().await.map_err(engine_error)?;
    let learned_tools = summarizer.learned_tools.as_ref();
    match given {
        Tools::List => {}
        Tools::Set { tool, intent, domain } => set(learned_tools, &tool, &intent, &domain)?,
        Tools::Unset { tool } => {
            if !learned_tools.withdraw(&tool) {
                let what = format!("the tool `{tool}` has no correction");
                return Err(Error::new(code::NOT_FOUND, what));
            }
        }
        Tools::Export => {
            return Ok(write(&ToolKnowledge {
                document: Some(learned_tools.export()),
                ..ToolKnowledge::default()
            }));
        }
        Tools::Import { document } => {
            if !document.is_object() {
                let what = "the document has no `exact`, `pattern` or `corrections`";
                return Err(Error::new(code::INVALID_PARAMS, what));
            }
            let (taken, known, unreadable) = learned_tools.import(&document);
            return Ok(write(&ToolKnowledge {
                taken,
                known,
                unreadable,
                ..ToolKnowledge::default()
            }));
        }
    }
    let tools = learned_tools.list().into_iter().map(tool_row).collect();
    Ok(write(&ToolKnowledge { tools, ..ToolKnowledge::default() }))
}

pub(super) async fn prompts(daemon: &DaemonState, given: Prompts) -> Result<Value, Error> {
    let summarizer = daemon.engine.summarizer().await.map_err(engine_error)?;
    let wanted = match &given.kind {
        None => None,
        Some(name) => Some(prompts::kind(name).ok_or_else(|| no_kind(name))?),
    };
    if let Some(text) = given.check {
        let kind = wanted.ok_or_else(|| {
            Error::new(code::INVALID_PARAMS, "the check needs the kind of the prompt")
        })?;
        let problems = prompts::check(kind, &text).unwrap_or_default();
        let row = PromptRow { kind: kind.to_owned(), text, problems, ..PromptRow::default() };
        return Ok(write(&Templates { prompts: vec![row] }));
    }
    let shown = summarizer.prompts(given.project.as_deref().map(Path::new)).into_iter();
    let rows = shown.filter(|one| wanted.is_none_or(|kind| kind == one.kind)).map(prompt_row);
    Ok(write(&Templates { prompts: rows.collect() }))
}

fn set(learned_tools: &LearnedTools, tool: &str, intent: &str, domain: &str) -> Result<(), Error> {
    let wrong = |what: String| Error::new(code::INVALID_PARAMS, what);
    let tool = tool.trim();
    if tool.is_empty() || tool.len() > 200 {
        return Err(wrong("the name of a tool must have 1 to 200 bytes".to_owned()));
    }
    let intent = ToolIntent::parse(intent).ok_or_else(|| {
        let words: Vec<&str> = ToolIntent::ALL.iter().map(|one| one.as_str()).collect();
        wrong(format!("`{intent}` is not an intent; the intents are {}", words.join(", ")))
    })?;
    let domain = ToolDomain::parse(domain).ok_or_else(|| {
        let words: Vec<&str> = ToolDomain::ALL.iter().map(|one| one.as_str()).collect();
        wrong(format!("`{domain}` is not a domain; the domains are {}", words.join(", ")))
    })?;
    learned_tools.correct(tool, intent, domain);
    Ok(())
}

fn memory_rows(daemon: &DaemonState) -> Vec<MemoryUseRow> {
    let counts = daemon.engine.memory_use().counts().into_iter();
    counts
        .map(|(topic, UseCount { offered, used })| MemoryUseRow { topic, offered, used })
        .collect()
}

fn no_kind(name: &str) -> Error {
    Error::new(
        code::NOT_FOUND,
        format!("there is no prompt `{name}`; `graphiti prompts list` lists the prompts"),
    )
}

fn row(day: String, project: &str, purpose: &str, of: &UsageCounters) -> UsageRow {
    UsageRow {
        day,
        project: project.to_owned(),
        purpose: purpose.to_owned(),
        answered: of.answered,
        failed: of.failed,
        calls: of.calls,
        input_tokens: of.input,
        output_tokens: of.output,
        cached_tokens: of.cached,
        usd: of.cost.usd(),
        unpriced: of.unpriced,
        saved_tokens: of.saved_tokens,
        saved: SkippedQuestions {
            unchanged: of.unchanged,
            kept: of.kept,
            recaps: of.recaps,
            known: of.known,
        },
    }
}

fn tool_row(lesson: LearnedTool) -> ToolRow {
    ToolRow {
        tool: lesson.tool,
        intent: lesson.intent.as_str().to_owned(),
        domain: lesson.domain.as_str().to_owned(),
        confidence: lesson.confidence,
        by: if lesson.by_user { "user" } else { "model" }.to_owned(),
    }
}

fn prompt_row(shown: ShownTemplate) -> PromptRow {
    PromptRow {
        kind: shown.kind.to_owned(),
        origin: shown.origin,
        text: shown.text,
        problems: shown.problems,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_recent_answer_shows_that_a_server_is_there() {
        let at = Timestamp::from_seconds(1_000);
        assert!(is_recent(at, Timestamp::from_seconds(1_599)));
        assert!(!is_recent(at, Timestamp::from_seconds(1_600)));
    }
}
