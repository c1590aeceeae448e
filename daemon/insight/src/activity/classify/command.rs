//! Classifies shell command lines: each command is classified under its own name, and the line gets
//! the classification of its main command.

use serde_json::{Value, json};

use crate::{
    activity::classify::{
        CHAIN, ClassificationCache, Classified, ClassifierStep, Subject, SubjectKind, bash, native,
    },
    lang::shell,
    model::{
        activity::Signals,
        tool::{BashCommandClassification, ToolClassification, ToolDomain, ToolIntent},
        transcript::{Action, Call},
    },
};

/// Classifies the command line of a call of `tool`: by the user's correction for `tool`, or else by
/// the main command of the line, with the combined signals of all its commands.
pub(super) fn classify(tool: &str, command: &str, learned: &mut ClassificationCache) -> Classified {
    if let Some(classification) = learned.corrected(tool) {
        return Classified::Known { classification, by: ClassifierStep::Corrected };
    }
    let mut line = bash::classify_line(command);
    let mut steps = Vec::new();
    line.revise(|command| {
        let found = learned_classification(command, learned);
        steps.push(found.as_ref().map_or(ClassifierStep::Heuristic, |(_, by)| *by));
        found.map(|(classification, _)| classification)
    });
    let signals = line.signals();
    let Some((at, main)) = line.main() else {
        let classification = line_classification(tool, None, signals);
        return Classified::Known { classification, by: ClassifierStep::Heuristic };
    };
    if !main.is_known() {
        let params = json!({ "command": main.raw_command });
        return Classified::Unknown { tool: name_of(main), params, signals };
    }
    Classified::Known {
        classification: line_classification(tool, Some(main), signals),
        by: steps[at],
    }
}

/// Returns the user's correction or a stored answer of a model about a command.
fn learned_classification(
    command: &BashCommandClassification,
    learned: &mut ClassificationCache,
) -> Option<(BashCommandClassification, ClassifierStep)> {
    // If the built-in rules know the command, a stored answer of a model is not used, because the
    // rules are more precise. A correction of the user takes precedence over both.
    if command.is_known() && learned.corrections().is_empty() {
        return None;
    }
    let params = json!({ "command": command.raw_command });
    let by_subcommand = command.subcommand.as_ref().map(|_| name_of(command));
    let program = format!("bash:{}", command.base_command);
    let names: Vec<String> = by_subcommand.into_iter().chain([program]).collect();
    let mut find = |is_wanted: fn(ClassifierStep) -> bool| {
        names.iter().find_map(|name| {
            let kind = SubjectKind::Command(command);
            let subject = Subject { name, params: &params, kind };
            let mut steps = CHAIN.iter().filter(|step| is_wanted(step.step()));
            steps.find_map(|step| Some((step.classify(&subject, learned)?, step.step())))
        })
    };
    // A correction for the program takes precedence over a model's answer for the subcommand.
    let mut found = find(|step| step == ClassifierStep::Corrected);
    if found.is_none() && !command.is_known() {
        found = find(|step| matches!(step, ClassifierStep::Exact | ClassifierStep::Name));
    }
    let (found, by) = found?;
    let revised = BashCommandClassification {
        intent: found.intent,
        domain: found.domain,
        confidence: found.confidence,
        reasoning: found.reasoning,
        activity_signals: found.activity_signals,
        ..command.clone()
    };
    Some((revised, by))
}

fn line_classification(
    tool: &str,
    main: Option<&BashCommandClassification>,
    signals: Signals,
) -> ToolClassification {
    let reasoning = main.map_or("an empty command line".to_owned(), |main| main.reasoning.clone());
    ToolClassification {
        tool_name: tool.to_owned(),
        intent: main.map_or(ToolIntent::Execute, |main| main.intent),
        domain: main.map_or(ToolDomain::Process, |main| main.domain),
        confidence: main.map_or(1.0, |main| main.confidence),
        reasoning,
        activity_signals: signals,
    }
}

/// Returns the name under which a command is stored.
fn name_of(command: &BashCommandClassification) -> String {
    match &command.subcommand {
        Some(subcommand) => format!("bash:{} {subcommand}", command.base_command),
        None => format!("bash:{}", command.base_command),
    }
}

/// Returns the command line that a call runs.
pub(super) fn line_of_call(call: &Call<'_>) -> Option<String> {
    if let Action::Run { command, .. } = &call.action {
        return Some(command.clone());
    }
    if call.action != Action::Other || !native::is_shell(&call.tool) {
        return None;
    }
    let given = ["command", "cmd", "CommandLine", "commandLine", "script"]
        .iter()
        .find_map(|key| call.input.get(*key))?;
    match given {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => Some(shell::line_of(words.iter().filter_map(Value::as_str))),
        _ => None,
    }
}
