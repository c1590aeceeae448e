//! What a session said and later undid.

use crate::{
    model::transcript::Origin,
    summarize::{from_evidence::entries::Entries, text::pattern},
};

/// Characters before and behind a name in which a word says that it went.
const NEAR: usize = 32;

/// Whether something later says that what `text` names is gone: removed, replaced or taken back.
///
/// Names are what stands in back quotes, and words of code such as `ScriptProcessor`.
pub(super) fn is_gone(entries: &Entries<'_>, text: &str, at: Origin) -> bool {
    // A text that tells of a removal itself stays true.
    if removes().is_match(text) {
        return false;
    }
    let names = names(text);
    let evidence = entries.evidence;
    let later = |origin: Origin| origin.source == at.source && origin.line > at.line;
    let says_gone =
        |later: &str| names.iter().any(|name| tells_end(later, name)) || takes_back(later, text);
    evidence.commits.iter().any(|commit| later(commit.origin) && says_gone(&commit.subject))
        || evidence.prompts.iter().any(|prompt| {
            later(prompt.origin) && prompt.text.len() <= 400 && says_gone(&prompt.text)
        })
        || entries
            .reports
            .reports
            .iter()
            .filter(|report| later(report.origin) && report.changed)
            .flat_map(|report| &report.claims)
            .any(|claim| claim.label.as_deref().is_some_and(says_gone) || says_gone(&claim.text))
}

/// Whether `later` says that something is again what `text` says it was changed from: `Reverted to
/// `debug`` takes `Changed `log::debug!` to `log::info!`` back.
fn takes_back(later: &str, text: &str) -> bool {
    let back =
        pattern!(r"(?i)\b(?:revert(?:ed)?|back|restored?|reset)(?: back)? to `([^`]{3,60})`");
    let changed = pattern!(
        r"(?i)\b(?:changed|promoted|switched|moved|set|renamed|updated)\b[^`]{0,40}`([^`]+)` (?:to|→|with|into) `"
    );
    back.captures_iter(later)
        .any(|again| changed.captures_iter(text).any(|change| change[1].contains(&again[1])))
}

fn removes() -> &'static regex::Regex {
    pattern!(
        r"(?i)\b(?:remov(?:e[sd]?|ing)|dropp?(?:ed|s|ing)?|delet(?:e[sd]?|ing)|replac(?:e[sd]?|ing)|revert(?:ed|s)?|scrap(?:ped)?|migrat(?:e[sd]?|ing) (?:from|away)|gone|no longer|instead of|→)\b|→"
    )
}

/// Whether `text` says right before or behind `name` that it went.
fn tells_end(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = &text[text.floor_char_boundary(at.saturating_sub(NEAR))..at];
        let behind = &text[at + name.len()..text.ceil_char_boundary((at + name.len() + NEAR).min(text.len()))];
        // What stands behind an arrow or another name is what came instead.
        let starts = pattern!(
            r"(?i)\b(?:remov(?:e[sd]?|ing)|dropp?(?:ed|s|ing)?|delet(?:e[sd]?|ing)|replac(?:e[sd]?|ing)|revert(?:ed|s)?|scrap(?:ped)?|instead of)(?: the| all| old| stale)* ?`?$"
        );
        let ends = pattern!(
            r"(?i)^`?(?: (?:file|field|flag|reference))?(?: →| (?:is|was|were|are|has been|have been)? ?(?:now )?(?:gone|removed|deleted|dropped|reverted|replaced)\b)"
        );
        starts.is_match(before) || ends.is_match(behind)
    })
}

/// The names in a text that are long enough to mean one thing.
fn names(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| {
        let inner = word.chars().skip(1);
        word.len() >= 6
            && (word.contains('_')
                || inner.clone().any(char::is_uppercase) && inner.clone().any(char::is_lowercase))
    });
    quoted.chain(words).filter(|name| name.len() >= 5 && !name.contains(' ')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_goes_when_a_later_text_says_so() {
        for (later, gone) in [
            ("Removed `ScriptProcessor`", true),
            ("ScriptProcessor → AudioWorklet", true),
            ("the stale ScriptProcessor is gone", true),
            ("Replaced AudioNode by ScriptProcessor", false),
            ("ScriptProcessor works", false),
        ] {
            assert_eq!(tells_end(later, "ScriptProcessor"), gone, "{later}");
        }
        let changed = "Changed `log::debug!` to `log::info!` in the mount";
        assert!(takes_back("Reverted back to `debug`", changed));
        assert!(!takes_back("Reverted back to `info`", changed));
        assert_eq!(
            names("Kept `max_size` and ScriptProcessor in a file"),
            ["max_size", "max_size", "ScriptProcessor"]
        );
    }
}
