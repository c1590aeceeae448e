//! `graphiti facts`: lists facts, or records that a fact is wrong, done or still true.

use graphiti_proto::{
    methods::corrections::{CORRECTIONS, CorrectionRow, CorrectionsAnswer, CorrectionsRequest},
    tools::{
        graph::{FactRow, SourceLine},
        search_memory_facts::{NAME, SearchFactsAnswer, SearchFactsArguments},
    },
};

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, ago, instant, line, local, now},
};

/// Maximum number of transcript lines that are shown for a fact.
const SOURCES: usize = 2;
/// Number of digits of an id that are shown.
const ID: usize = 8;

pub(super) fn run(args: cli::Facts, screen: &Screen) -> Result<(), AskError> {
    let marks = [(&args.wrong, "wrong"), (&args.done, "done"), (&args.keep, "keep")];
    if let Some((Some(fact), verdict)) = marks.into_iter().find(|(fact, _)| fact.is_some()) {
        return mark(fact, verdict, args.output.json, screen);
    }
    // A fact more than the limit shows that the list is incomplete.
    let surplus = usize::from(screen.is_terminal() && !args.output.json);
    let arguments = SearchFactsArguments {
        query: args.query.join(" "),
        project: super::project(args.project),
        max_facts: args.limit.saturating_add(surplus),
        as_of: args.as_of,
        include_ended: args.ended,
        edge_types: Some(args.kind).filter(|kinds| !kinds.is_empty()),
        scope: super::scope(args.team),
        explain: args.explain,
        ..SearchFactsArguments::default()
    };
    let answer: SearchFactsAnswer = Connection::open()?.call(NAME, &arguments)?;
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    for (number, fact) in answer.facts.iter().take(args.limit).enumerate() {
        print_fact(number + 1, fact, screen);
    }
    if answer.facts.is_empty() {
        screen.print("Nothing found.");
    }
    if answer.facts.len() > args.limit {
        screen.print(screen.dim(format!("… more with -n {}", 2 * args.limit)));
    }
    if !answer.message.is_empty() {
        screen.print_wrapped(&screen.dim(line(&answer.message)), 0);
    }
    Ok(())
}

/// Stores the user's correction of a fact, and shows the fact.
pub(super) fn mark(
    fact: &str,
    verdict: &str,
    is_json: bool,
    screen: &Screen,
) -> Result<(), AskError> {
    let correction = CorrectionRow {
        fact: fact.to_owned(),
        verdict: verdict.to_owned(),
        ..CorrectionRow::default()
    };
    let request =
        CorrectionsRequest { corrections: vec![correction], ..CorrectionsRequest::default() };
    let answer: CorrectionsAnswer = Connection::open()?.ask(CORRECTIONS, &request)?;
    if is_json {
        screen.print_json(&answer);
        return Ok(());
    }
    screen.print(marked(verdict, &answer.facts));
    for (number, fact) in (1..).zip(&answer.facts) {
        print_fact(number, fact, screen);
    }
    Ok(())
}

/// Formats that facts were marked. A wish is never done.
fn marked(verdict: &str, facts: &[FactRow]) -> String {
    match verdict {
        "done" if facts.iter().any(|fact| fact.name == "PREFERS") => "Withdrawn.".to_owned(),
        "keep" => "Marked as kept.".to_owned(),
        verdict => format!("Marked as {verdict}."),
    }
}

fn print_fact(number: usize, fact: &FactRow, screen: &Screen) {
    screen.print_wrapped(&format!("{number:>2}. {}", line(&fact.fact)), 4);
    let status = match fact.known_certainty() {
        _ if fact.team.is_some() => screen.accent(super::by(fact.team.as_ref())),
        "verified" => screen.good("verified"),
        "refuted" => screen.bad("refuted"),
        other => screen.warn(line(other)),
    };
    let kind = line(&fact.name).to_lowercase().replace('_', " ");
    let project = fact.project.rsplit('/').next().filter(|name| !name.is_empty()).map(line);
    let project: Vec<String> = project.into_iter().collect();
    let rest = [vec![time(fact), kind], project, sources(&fact.sources), vec![id(fact)]].concat();
    let rest = screen.dim(format!(" · {}", rest.join(" · ")));
    screen.print_wrapped(&format!("    {status}{rest}"), 4);
    for reason in fact.explanation.iter().flat_map(|explanation| explanation.lines()) {
        screen.print(format!("      {}", screen.dim(line(reason))));
    }
    screen.print("");
}

/// Formats the first digits of the id, by which the user can mark the fact.
fn id(fact: &FactRow) -> String {
    line(&fact.uuid).chars().take(ID).collect()
}

/// Formats the period in which a fact is or was true.
fn time(fact: &FactRow) -> String {
    let day = |time: &str| local(time, "%Y-%m-%d");
    match &fact.invalid_at {
        // The fact was marked as wrong.
        Some(end) if *end == fact.valid_at => format!("never true, stated on {}", day(end)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_days_of_a_fact_are_local() {
        let (start, end) = ("2026-03-03T03:30:00Z", "2026-03-09T03:30:00Z");
        let mut fact = FactRow { valid_at: start.to_owned(), ..FactRow::default() };
        let day = |time: &str| local(time, "%Y-%m-%d");
        assert!(time(&fact).starts_with(&format!("since {} (", day(start))));
        fact.invalid_at = Some(end.to_owned());
        assert_eq!(time(&fact), format!("true from {} to {}", day(start), day(end)));
        fact.invalid_at = Some(start.to_owned());
        assert_eq!(time(&fact), format!("never true, stated on {}", day(start)));
    }

    #[test]
    fn a_wish_is_withdrawn_and_a_task_is_done() {
        let fact = |name: &str| FactRow { name: name.to_owned(), ..FactRow::default() };
        for (verdict, name, expected) in [
            ("done", "PREFERS", "Withdrawn."),
            ("done", "LEFT_OPEN", "Marked as done."),
            ("wrong", "PREFERS", "Marked as wrong."),
            ("keep", "PREFERS", "Marked as kept."),
        ] {
            assert_eq!(marked(verdict, &[fact(name)]), expected);
        }
    }
}
