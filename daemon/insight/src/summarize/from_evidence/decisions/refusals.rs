//! Finds the plans and edits that the user refused, if no work followed.

use crate::{
    model::transcript::Origin,
    summarize::from_evidence::entries::{Entries, cut_at_clause, push},
    text::{cut, one_line, pattern, without_full_stop},
};

/// Begins the step about the plan with which a session ended. The file of the plan may follow in
/// brackets.
pub(crate) const PLAN_NOT_CARRIED_OUT: &str = "Plan shown last, not carried out";

/// Maximum length, in bytes, of the entry of a plan that was not approved, with its steps.
const PLAN: usize = 1_400;
/// Maximum length, in characters, of the approach of a plan, and of its background.
const PLAN_PART: usize = 400;
/// Maximum length, in characters, of the question with which the user refused an edit.
const ASKED: usize = 160;

/// Adds the last plan, if the user refused the plan and no reply or prompt followed. A plan is also
/// recorded as refused if the user accepted it for a new session with a cleared context.
pub(crate) fn unapproved(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let Some(plan) = evidence.choices.last().filter(|choice| choice.answer == "refused") else {
        return;
    };
    let followed = |origin: Origin| origin.line > plan.origin.line;
    let replied = evidence.last_reply.as_ref().is_some_and(|reply| followed(reply.origin));
    if !replied && !evidence.prompts.iter().any(|prompt| followed(prompt.origin)) {
        let title = entries.tidy_line(&plan.question);
        let title = title.trim_start_matches("Plan: ");
        let part = |label: &str, text: Option<&String>| {
            text.map_or(String::new(), |text| {
                let text = cut_at_clause(&entries.tidy_line(text), PLAN_PART);
                format!(". {label}{}", without_full_stop(&text))
            })
        };
        let why = if plan.approach.is_some() { "Why: " } else { "" };
        let mut text = format!(
            "{PLAN_NOT_CARRIED_OUT}{}: {}{}{}",
            plan_file(entries).map_or(String::new(), |file| format!(" (`~/{file}`)")),
            cut(title, 120),
            part("", plan.approach.as_ref()),
            part(why, plan.background.as_ref())
        );
        for (at, step) in plan.steps.iter().enumerate() {
            let step = cut_at_clause(&entries.tidy_line(step), 220);
            if text.len() + step.len() > PLAN {
                text.push_str(&format!("; +{} more steps", plan.steps.len() - at));
                break;
            }
            text.extend([if at == 0 { ". Steps: " } else { "; " }, &step]);
        }
        push(list, text);
    }
}

/// Returns the file in which the agent keeps its plan, if it wrote only one such file.
fn plan_file<'e>(entries: &Entries<'e>) -> Option<&'e str> {
    let is_plan = |path: &str| pattern!(r"/\.claude/plans/[^/]+\.md$").is_match(path);
    let mut plans = entries.evidence.changed_files().filter(|(path, _)| is_plan(path));
    let (path, _) = plans.next()?;
    let start = path.find(".claude/plans/")?;
    plans.next().is_none().then_some(&path[start..])
}

/// Adds the edits that the user refused with a question instead of an instruction, if nothing was
/// changed after them. Omits the question if the agent replied after it.
pub(crate) fn refused_edits(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    for correction in &evidence.corrections {
        let call = correction.stopped.as_deref().unwrap_or_default();
        let Some(edit) = pattern!(r"^(?:\w*Edit|Write) (\S+)$").captures(call) else { continue };
        let is_later = |origin: Origin| {
            origin.source != correction.origin.source || origin > correction.origin
        };
        let prompt = evidence.prompts.iter().find(|prompt| prompt.origin == correction.origin);
        let asked = prompt.map(|prompt| one_line(&prompt.text)).filter(|text| text.ends_with('?'));
        let has_later_change = evidence.changed_files().any(|(_, work)| is_later(work.last));
        if let Some(asked) = asked.filter(|_| !has_later_change) {
            let path = entries.path(&edit[1]);
            let is_answered =
                evidence.last_reply.as_ref().is_some_and(|reply| is_later(reply.origin));
            push(
                list,
                match is_answered {
                    true => format!("The user refused the edit of `{path}`; it was not made"),
                    false => {
                        let asked = cut(&entries.tidy_line(&asked), ASKED);
                        format!("The user refused the edit of `{path}` and asked: {asked}")
                    }
                },
            );
        }
    }
}
