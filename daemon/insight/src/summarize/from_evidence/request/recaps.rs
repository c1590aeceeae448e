//! Finds the goal of a session in the recaps of the agent.

use crate::{
    model::{
        evidence::Evidence,
        transcript::{Origin, RecapKind},
    },
    summarize::{
        from_evidence::request::{REQUEST, Request, Weight, prompt_of},
        recap::{self, Section, Sections},
    },
    text::{capitalised, cut, pattern, sentences},
};

/// Returns the user's intent as the recap of a compaction states it, if the start of the session
/// is not in this file.
pub(crate) fn intent(evidence: &Evidence) -> Option<String> {
    let recap = evidence.recaps.iter().find(|recap| recap.kind == RecapKind::Compaction)?;
    let before = evidence.prompts.iter().any(|prompt| prompt.origin.line < recap.origin.line);
    if before {
        return None;
    }
    let stated = Sections::of(&recap.text).sentences(Section::Intent, 2);
    let first = stated.first()?;
    let text = match stated.get(1) {
        Some(second) if first.len() + second.len() < REQUEST => format!("{first} {second}"),
        _ => first.clone(),
    };
    let plain = pattern!(r"(?i)^the user (?:(?:wants|wanted|asked|requested|would like)(?: me| us)?(?: to)?|is asking (?:me )?to|requested that i) ").replace(&text, "");
    Some(cut(&capitalised(&plain), REQUEST))
}

/// Returns the current work according to the agent's last note for an absent user.
pub(crate) fn noted(evidence: &Evidence) -> Option<String> {
    let recap = evidence.recaps.iter().rev().find(|recap| recap.kind == RecapKind::Away)?;
    if is_overtaken(evidence, recap.origin) {
        return None;
    }
    let (state, _) = recap::parse_away_note(&recap.text);
    let first = sentences(&state).first().copied().unwrap_or_default().to_owned();
    let first = first.split("; ").next().unwrap_or(&first).to_owned();
    let plain = pattern!(r"(?i)^(?:(?:we|you)(?:'re| are| were)? (?:now |just )?|goal(?: was| is)?(?: to)?:? *(?:to )?|working on )").replace(&first, "");
    let plain = capitalised(plain.trim());
    (plain.len() >= 20).then(|| cut(&plain, REQUEST))
}

/// Whether a clear request came after a note at `at`. The note is then about an earlier part of the
/// session.
fn is_overtaken(evidence: &Evidence, at: Origin) -> bool {
    let later = evidence.prompts.iter().filter(|prompt| prompt.origin > at);
    let mut later = later.filter_map(|prompt| Request::of(&prompt.text));
    later.any(|request| request.weight == Weight::Clear)
}

/// Whether a clear request came after the agent's last note for an absent user.
pub(crate) fn has_overtaken_note(evidence: &Evidence) -> bool {
    let noted = evidence.recaps.iter().rfind(|recap| recap.kind == RecapKind::Away);
    noted.is_some_and(|noted| is_overtaken(evidence, noted.origin))
}

/// Returns the index of the last request before the agent's last note for an absent user. The note
/// does not contain later requests.
pub(crate) fn last_before_note(evidence: &Evidence, requests: &[Request]) -> Option<usize> {
    let note = evidence.recaps.iter().rev().find(|recap| recap.kind == RecapKind::Away)?;
    let is_before = |request: &Request| {
        prompt_of(evidence, request).is_some_and(|one| one.origin.line < note.origin.line)
    };
    requests.iter().rposition(is_before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::transcript::Item, summarize::evidence::scenarios::Script};

    #[test]
    fn a_note_before_the_last_request_is_not_the_goal() {
        let mut script = Script::default();
        script.prompt("Bring the branch up to date with the list");
        let text = "Goal: ship PR 5 with the fixes of the review. Next: merge it.".into();
        script.item(Item::Recap { kind: RecapKind::Away, text });
        assert!(noted(&script.collect()).is_some());
        script.prompt("add the missing entries to the README of the list");
        assert_eq!(noted(&script.collect()), None);
        assert!(has_overtaken_note(&script.collect()));
    }
}
