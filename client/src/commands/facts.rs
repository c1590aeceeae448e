//! `graphiti facts`.

use graphiti_proto::tools::{
    graph::{FactRow, SourceLine},
    search_memory_facts::{NAME, SearchFactsAnswer, SearchFactsArguments},
};

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, ago, instant, line, now},
};

/// Maximum number of transcript lines that are shown for a fact.
const SOURCES: usize = 2;

pub(super) fn run(args: cli::Facts, screen: &Screen) -> Result<(), AskError> {
    let arguments = SearchFactsArguments {
        query: args.query.join(" "),
        project: super::project(args.project),
        max_facts: args.limit,
        as_of: args.as_of,
        include_ended: args.ended,
        edge_types: Some(args.kind).filter(|kinds| !kinds.is_empty()),
        explain: args.explain,
        ..SearchFactsArguments::default()
    };
    let answer: SearchFactsAnswer = Connection::open()?.call(NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    for (number, fact) in answer.facts.iter().enumerate() {
        print_fact(number + 1, fact, screen);
    }
    if answer.facts.is_empty() && arguments.max_facts > 0 {
        screen.print("Nothing found.");
    }
    if !answer.message.is_empty() {
        screen.print(screen.dim(line(&answer.message)));
    }
    Ok(())
}

fn print_fact(number: usize, fact: &FactRow, screen: &Screen) {
    screen.print_wrapped(&format!("{number:>2}. {}", line(&fact.fact)), 4);
    let standing = match fact.standing.as_str() {
        "verified" => screen.good("verified"),
        "refuted" => screen.bad("refuted"),
        other => screen.warn(line(other)),
    };
    let kind = line(&fact.name).to_lowercase().replace('_', " ");
    let rest = [vec![time(fact), kind], sources(&fact.sources)].concat();
    screen.print(format!("    {standing}{}", screen.dim(format!(" · {}", rest.join(" · ")))));
    for reason in fact.explanation.iter().flat_map(|explanation| explanation.lines()) {
        screen.print(format!("      {}", screen.dim(line(reason))));
    }
    screen.print("");
}

/// Formats the period in which a fact is or was true.
fn time(fact: &FactRow) -> String {
    let day = |text: &str| line(text).chars().take(10).collect::<String>();
    match &fact.invalid_at {
        Some(end) => format!("true from {} to {}", day(&fact.valid_at), day(end)),
        None => {
            format!("since {} ({})", day(&fact.valid_at), ago(instant(&fact.valid_at), now()))
        }
    }
}

/// Formats the sources: session and line, and the message that proves the fact.
fn sources(sources: &[SourceLine]) -> Vec<String> {
    let place = |source: &SourceLine| {
        let session: String = line(&source.session_id).chars().take(8).collect();
        let message = source.message.map(|message| format!(" (message {message})"));
        format!("{session} line {}{}", source.line, message.unwrap_or_default())
    };
    let mut places: Vec<String> = sources.iter().take(SOURCES).map(place).collect();
    match sources.len().saturating_sub(SOURCES) {
        0 => {}
        more => places.push(format!("{more} more")),
    }
    places
}
