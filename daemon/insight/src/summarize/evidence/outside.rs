//! Records what successful commands changed outside of the repository.

use crate::{
    model::evidence::{Evidence, OutsideChange, OutsideKind},
    summarize::{
        evidence::{bounds, errors, run::Run, shell::OutsideStep},
        lists::push_latest,
    },
    text::pattern,
};

/// Records the changes of a command that succeeded. Of several changes of the same object, keeps
/// only the last one. Keeps none if the session created the object and then removed it.
pub(super) fn note(evidence: &mut Evidence, run: &Run<'_>) {
    let steps = &run.command.outside;
    if steps.is_empty() || !run.outcome.succeeded() || errors::shows_failure(run.output) {
        return;
    }
    for step in steps.iter().filter(|step| !changed_nothing(step, run.output)) {
        let known = evidence.outside_changes.iter().position(|known| known.object == step.object);
        let known = known.map(|at| evidence.outside_changes.remove(at));
        let creates = |known: &OutsideChange| known.text.to_lowercase().starts_with("`create ");
        if step.removes && known.as_ref().is_some_and(creates) {
            continue;
        }
        let change = OutsideChange {
            kind: step.kind,
            object: step.object.clone(),
            text: format!("{}{}", step.text, printed_detail(step, run.output)),
            origin: run.moment.origin,
            at: run.moment.at,
        };
        push_latest(&mut evidence.outside_changes, change, bounds::OUTSIDE_CHANGES);
    }
}

/// Whether the output shows that nothing had to be changed.
fn changed_nothing(step: &OutsideStep, output: &str) -> bool {
    let of_playbook = pattern!(r"\bchanged=([0-9]+)");
    let mut counts = of_playbook.captures_iter(output).peekable();
    step.text.contains("ansible-playbook")
        && counts.peek().is_some()
        && counts.all(|count| &count[1] == "0")
        || pattern!(r"Resources: 0 added, 0 changed, 0 destroyed").is_match(output)
}

/// Returns the number of an issue, of a release or of changed resources, as the program printed it.
fn printed_detail(step: &OutsideStep, output: &str) -> String {
    let found = match step.kind {
        OutsideKind::Forge => pattern!(r"/issues/([0-9]+)\s*$").captures(output.trim_end()),
        OutsideKind::System => {
            pattern!(r"(?m)^Apply complete! Resources: (.+?)\.?$|^(?:REVISION: )([0-9]+)$")
                .captures(output)
        }
    };
    let Some(found) = found else { return String::new() };
    match (step.kind, found.get(1)) {
        (OutsideKind::Forge, Some(number)) => format!(" (#{})", number.as_str()),
        (OutsideKind::System, Some(count)) => format!(" ({})", count.as_str()),
        (_, None) => format!(" (revision {})", &found[2]),
    }
}
