//! What the user decided and wished, in the user's own words.

use crate::{
    model::{evidence::Quote, summary::DecisionRecord, transcript::Origin, wording::USER_SAID},
    summarize::{
        from_evidence::entries::{Entries, push},
        report::{Report, Topic, is_phrase},
        text::{cut, one_line, pattern, sentences, without_code},
    },
};

/// Characters of a quote.
const QUOTE: usize = 240;
/// A prompt up to this length is quoted whole: its parts explain each other.
const WHOLE: usize = 400;
/// Prompts longer than this are plans, logs and instructions of a command, not words to the agent.
const SPOKEN: usize = 900;
/// Standing wishes at most; of more, the latest.
const WISHES: usize = 6;

/// Decisions that the user made in a prompt, each with its line.
pub(super) fn decisions(entries: &Entries<'_>) -> Vec<(u64, DecisionRecord)> {
    let prompts = entries.evidence.prompts.iter().skip(1);
    prompts.filter_map(|prompt| Some((prompt.origin.line, decision(entries, prompt)?))).collect()
}

fn decision(entries: &Entries<'_>, prompt: &Quote) -> Option<DecisionRecord> {
    let words = spoken(&unquoted(entries, prompt))?;
    let told: Vec<&str> = sentences(&words)
        .into_iter()
        .filter(|sentence| {
            sentence.len() <= QUOTE
                && !sentence.ends_with('?')
                && is_phrase(Topic::Choice, sentence)
        })
        .collect();
    if told.is_empty() || is_routine(&words) {
        return None;
    }
    let quote = if words.chars().count() <= WHOLE { words.clone() } else { told.join(" ") };
    let on = named_options(entries, &words, prompt.origin);
    let rationale = if on.is_empty() {
        USER_SAID.to_owned()
    } else {
        format!("{USER_SAID}, on {}", on.join("; "))
    };
    Some(DecisionRecord {
        decision: format!("User: \"{}\"", cut(&entries.tidy_line(&quote), WHOLE)),
        rationale,
        alternatives: None,
    })
}

/// A prompt without the lines that the user pasted from the report before.
fn unquoted(entries: &Entries<'_>, prompt: &Quote) -> String {
    let before =
        entries.evidence.reports.iter().rfind(|report| report.origin.line < prompt.origin.line);
    let before = before.map_or(String::new(), |report| one_line(&report.text));
    let own = prompt.text.lines().filter(|line| {
        let line = one_line(line);
        line.len() < 20 || !before.contains(line.as_str())
    });
    own.collect::<Vec<_>>().join("\n")
}

/// The labels of the report before that the prompt names by letter or number.
fn named_options(entries: &Entries<'_>, words: &str, at: Origin) -> Vec<String> {
    let before = entries.reports.reports.iter().rfind(|report| report.origin.line < at.line);
    let Some(before) = before else { return Vec::new() };
    let named: Vec<&str> = pattern!(r"(?:^|[\s,(#])([A-H1-9])(?:[\s,.):]|$)")
        .captures_iter(words)
        .filter_map(|found| found.get(1))
        .map(|mark| mark.as_str())
        .collect();
    let named = named.into_iter().filter_map(|mark| {
        let label = option_named(before, mark)?;
        Some(format!("{mark}: {}", cut(&entries.tidy_line(&label), 80)))
    });
    named.take(6).collect()
}

/// What stands behind a number or letter in the lists of a report.
pub(super) fn option_named(report: &Report, mark: &str) -> Option<String> {
    let begins = |text: &str| {
        let found =
            pattern!(r"^(?:finding |option |issue |approach )?([A-H1-9])[.:)\s—-]+(\S.{7,})$")
                .captures(text)?;
        found[1].eq_ignore_ascii_case(mark).then(|| found[2].to_owned())
    };
    report.claims.iter().find_map(|claim| {
        let text = claim.label.as_deref().unwrap_or(&claim.text);
        let is_marked = claim.mark.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(mark));
        begins(text).or_else(|| is_marked.then(|| text.to_owned()))
    })
}

/// Words that ask to be shown something, or name a helper to do it with: nothing is decided.
fn is_routine(words: &str) -> bool {
    pattern!(
        r"(?i)^(?:(?:ok|okay|yes|no|and|so|now|great|cool),? )*(?:i (?:want|would like|'d like) to (?:see|know|understand|check|look)|i (?:don'?t|do not|can'?t|cannot) (?:see|know|understand|get|remember|think so)|use (?:the |your )?.{0,30}\b(?:skill|superpower|agent|command|tool|lsp)\b|i (?:really )?like (?:it|this|that|the)\b|(?:let'?s |lets )?(?:try|wait|start|continue|proceed|get (?:this|it) going|do (?:it|this|that))[.! ]*$)|\b(?:i'm )?not sure\b"
    )
    .is_match(words)
}

/// What the user wants from now on.
pub(super) fn wishes(entries: &Entries<'_>) -> Vec<String> {
    let mut list = Vec::new();
    for prompt in &entries.evidence.prompts {
        let Some(words) = spoken(&unquoted(entries, prompt)) else { continue };
        for sentence in sentences(&words) {
            let is_wish = !sentence.ends_with('?')
                && (12..=QUOTE).contains(&sentence.len())
                && is_phrase(Topic::Wish, sentence);
            if is_wish {
                push(&mut list, format!("\"{}\"", entries.tidy_line(sentence)));
            }
        }
    }
    let extra = list.len().saturating_sub(WISHES);
    list.drain(..extra);
    list
}

/// A prompt as words to the agent; `None` for commands, pasted logs and plans.
fn spoken(prompt: &str) -> Option<String> {
    let is_review =
        pattern!(r"(?i)\b(?:high|medium|low|critical) severity\b|^\s*>").is_match(prompt);
    let is_command = is_review
        || prompt.starts_with(['/', '<', '#'])
        || prompt.starts_with("Implement the following plan");
    let words = one_line(&without_code(prompt));
    (!is_command && prompt.len() <= SPOKEN && words.chars().any(char::is_alphabetic))
        .then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_to_see_something_decides_nothing() {
        for (words, wanted) in [
            ("I want to see all options", true),
            ("use the reviewer superpower on this", true),
            ("I don't see the commands", true),
            ("ok, let's do it", true),
            ("use pnpm", false),
            ("only the first response", false),
            ("I want the old name kept", false),
        ] {
            assert_eq!(is_routine(words), wanted, "{words}");
        }
    }
}
