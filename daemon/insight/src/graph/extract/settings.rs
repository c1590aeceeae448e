//! Extracts settings and their values.

use std::collections::BTreeMap;

use super::{
    draft::{ClaimDraft, Draft},
    fact_selection,
    names::file_key,
    phrasing,
};
use crate::{
    graph::{MINOR, text},
    model::{
        Timestamp,
        evidence::SettingChange,
        graph::{Certainty, Observation, Relation, Stance, Subject, Watch, fingerprint},
        summary::ConfigChange,
        transcript::Origin,
        wording::{REMOVED, is_filler},
    },
    pattern::pattern,
};

/// The last change of each setting, by file and key path.
type LastChanges<'e> = BTreeMap<(String, &'e str), LastChange<'e>>;

/// The last change of a setting.
#[derive(Clone, Copy)]
struct LastChange<'e> {
    /// The change in the summary.
    summarized: &'e ConfigChange,
    /// The same change in the evidence.
    seen: Option<&'e SettingChange>,
}

impl LastChange<'_> {
    /// Returns the new value; `None` if the setting was removed. The evidence takes precedence: a
    /// summary is limited in size, so it may lack the last value.
    fn value(&self) -> Option<&str> {
        match self.seen {
            Some(seen) => seen.new_value.as_deref(),
            None => Some(self.summarized.new_value.as_str()).filter(|value| *value != REMOVED),
        }
    }
}

/// Adds a claim for each changed setting, with its last value.
pub(super) fn read(draft: &mut Draft<'_>) {
    let episode = draft.episode;
    let mut last = LastChanges::new();
    for change in episode.summary.config_changes.iter().flatten() {
        // A summary joins equal changes of several files into one entry.
        for file in change.file.split(", ") {
            let Some(file) = file_key(&episode.project, file) else { continue };
            let seen = draft.evidence.settings.iter().rfind(|seen| {
                seen.setting == change.setting
                    && file_key(&episode.project, &seen.file).as_ref() == Some(&file)
            });
            last.insert((file, &change.setting), LastChange { summarized: change, seen });
        }
    }
    mark_replaced(draft);
    for block in removed_blocks(&last) {
        removed(draft, &block);
        last.retain(|(file, setting), _| !block.contains(file, setting));
    }
    for ((file, setting), change) in &last {
        if !is_not_worth_a_fact(file, setting, change.summarized) {
            claim(draft, file, setting, change);
        }
    }
}

/// Whether a change is not worth a fact: it sets the version of a release or of a dependency, which
/// the git history contains anyway; its value was redacted; or its key occurs in many blocks, so
/// that the setting is not known.
fn is_not_worth_a_fact(file: &str, setting: &str, change: &ConfigChange) -> bool {
    let leaf = setting.rsplit('.').next().unwrap_or(setting);
    let is_dependency = pattern!(r"(?i)(?:^|\.)(?:\w*dependencies|requires?)\b").is_match(setting);
    let value = change.old_value.as_deref().filter(|_| change.new_value == REMOVED);
    let value = value.unwrap_or(&change.new_value);
    let is_package = file.ends_with("package.json") && pattern!(r"^[~^]?\d+\.\d").is_match(value);
    // Many blocks of a file have these keys, and the edit did not show which block it changed.
    let is_ambiguous_key = setting == leaf
        && !file.ends_with(".env")
        && pattern!(r"^(?:run|command|test|name|value|type|uses|if|id|key|args|description|source|path|url|env|image|with)$")
            .is_match(leaf);
    is_ambiguous_key
        || leaf == "version"
        || is_dependency
        || is_package
        || value.starts_with("[REDACTED")
}

/// Marks each value that an edit replaced, so that only facts with the replaced value end.
fn mark_replaced(draft: &mut Draft<'_>) {
    let evidence = draft.evidence;
    for change in &evidence.settings {
        let Some(file) = file_key(&draft.episode.project, &change.file) else { continue };
        let before = change.old_value.as_deref().unwrap_or(REMOVED);
        let at = change.at.unwrap_or_else(|| draft.moments.at(change.origin));
        let subject = value_subject(draft, &file, &change.setting, before);
        draft.mark(subject, at, Observation::Succeeded);
    }
}

/// Returns the subject of one value of a setting.
fn value_subject(draft: &Draft<'_>, file: &str, setting: &str, value: &str) -> Subject {
    draft.subject("setting value", &format!("{file}\n{setting}\n{value}"))
}

/// Settings with a common parent that a single edit removed.
struct RemovedBlock {
    file: String,
    parent: String,
    names: Vec<String>,
    origin: Origin,
    at: Option<Timestamp>,
}

impl RemovedBlock {
    fn contains(&self, file: &str, setting: &str) -> bool {
        file == self.file && self.names.iter().any(|name| name == setting)
    }
}

fn removed_blocks(last: &LastChanges<'_>) -> Vec<RemovedBlock> {
    let mut blocks: Vec<RemovedBlock> = Vec::new();
    for ((file, setting), change) in last {
        let Some(seen) = change.seen.filter(|seen| seen.new_value.is_none()) else { continue };
        let Some((parent, _)) = setting.rsplit_once('.') else { continue };
        let known = blocks.iter_mut().find(|block| {
            let within = |one: &str, other: &str| {
                one == other || other.strip_prefix(one).is_some_and(|rest| rest.starts_with('.'))
            };
            block.file == *file
                && block.origin == seen.origin
                && (within(&block.parent, parent) || within(parent, &block.parent))
        });
        match known {
            Some(block) => {
                if parent.len() < block.parent.len() {
                    block.parent = parent.to_owned();
                }
                block.names.push((*setting).to_owned());
            }
            None => blocks.push(RemovedBlock {
                file: file.clone(),
                parent: parent.to_owned(),
                names: vec![(*setting).to_owned()],
                origin: seen.origin,
                at: seen.at,
            }),
        }
    }
    blocks.retain(|block| block.names.len() > 1);
    blocks
}

fn removed(draft: &mut Draft<'_>, block: &RemovedBlock) {
    let RemovedBlock { file, parent, names, origin, at } = block;
    let source = draft.setting(file, parent);
    let Some(target) = draft.file(file) else { return };
    let short = names.iter().map(|name| &name[parent.len() + 1..]);
    let short: Vec<String> = short.map(|name| format!("`{name}`")).collect();
    let watches = names.iter().map(|name| Watch {
        subject: value_subject(draft, file, name, REMOVED),
        stance: Stance::Broken,
    });
    let watches = watches.collect();
    draft.claim(
        Relation::SetTo,
        source,
        target,
        ClaimDraft {
            detail: fingerprint(REMOVED).to_string(),
            sentence: format!("`{parent}` in `{file}` was removed, with {}.", short.join(", ")),
            certainty: Some(Certainty::Verified),
            at: *at,
            origins: vec![*origin],
            watches,
            others: vec![draft.task],
            details: vec![("file".to_owned(), file.clone())],
            ..ClaimDraft::default()
        },
    );
}

fn claim(draft: &mut Draft<'_>, file: &str, setting: &str, change: &LastChange<'_>) {
    let value = change.value();
    let LastChange { summarized: change, seen } = *change;
    let source = draft.setting(file, setting);
    let Some(target) = draft.file(file) else { return };
    let subject = value_subject(draft, file, setting, value.unwrap_or(REMOVED));
    let origins: Vec<_> = seen.map(|seen| seen.origin).into_iter().collect();
    let at = seen.and_then(|seen| seen.at).unwrap_or_else(|| draft.moments.of(&origins));
    let held = fingerprint(value.unwrap_or(REMOVED));
    let old = seen.map_or(&change.old_value, |seen| &seen.old_value);
    if let Some(old) = old.as_deref().filter(|old| Some(*old) != value) {
        let replaced = value_subject(draft, file, setting, old);
        draft.mark(replaced, at, Observation::Succeeded);
    }
    let mut sentence = match value {
        Some(value) => format!("`{setting}` in `{file}` is `{}`", text::cut(value, 200)),
        None => format!("`{setting}` in `{file}` is not set"),
    };
    if let Some(old) = old.as_deref().filter(|old| Some(*old) != value) {
        sentence.push_str(&format!(" (before: `{}`)", text::cut(old, 120)));
    }
    sentence.push('.');
    if is_reason(&change.reason) {
        sentence.push_str(&format!(" Why: {}", text::sentence(&change.reason)));
    }
    let is_minor = draft.is_from_evidence() && !is_setting(change);
    let minor = is_minor.then_some("true");
    let details =
        [("value", value), ("old_value", old.as_deref()), ("file", Some(file)), (MINOR, minor)];
    draft.claim(
        Relation::SetTo,
        source,
        target,
        ClaimDraft {
            detail: held.to_string(),
            sentence,
            certainty: Some(Certainty::Verified),
            at: Some(at),
            origins,
            watches: vec![Watch { subject, stance: Stance::Broken }],
            others: vec![draft.task],
            details: details
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
                .collect(),
            ..ClaimDraft::default()
        },
    );
}

/// Whether a change of a setting shows more than its file: it replaced one simple value by another,
/// or has a stated reason. A value that is valid only on one machine does not count.
fn is_setting(change: &ConfigChange) -> bool {
    let is_scalar = |value: &str| {
        value.len() <= 40 && !value.contains(['/', '\\', '[', '{', '<', ' ', '@', '$'])
    };
    let is_tuned = change.old_value.as_deref().is_some_and(|old| {
        is_scalar(old) && is_scalar(&change.new_value) && change.new_value != REMOVED
    });
    (is_tuned || is_reason(&change.reason))
        && !fact_selection::machine_specific().is_match(&change.new_value)
}

/// Whether a text is the reason of a change, and not a request or a description of what was done or
/// is going to be done.
fn is_reason(text: &str) -> bool {
    let announces = pattern!(r"(?i)^(?:i.ll|i will|let me|let.s|now)\b").is_match(text);
    !is_filler(text)
        && !text.is_empty()
        && !phrasing::describes_finished_work(text)
        && !announces
        && !text.starts_with("Asked: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_setting_has_an_old_value_or_a_reason() {
        let change = |old: Option<&str>, new: &str, reason: &str| ConfigChange {
            file: "a.toml".to_owned(),
            setting: "pool.size".to_owned(),
            old_value: old.map(str::to_owned),
            new_value: new.to_owned(),
            reason: reason.to_owned(),
        };
        for (change, wanted) in [
            (change(Some("10"), "40", ""), true),
            (change(None, "40", "The pool ran out of connections"), true),
            (change(None, "40", "Asked: set it up"), false),
            (change(None, "40", "Added a task and documented it"), false),
            (change(None, "40", "I'll keep the old names"), false),
            (change(None, "40", "Changed the default of `pool.size` to `40`"), false),
            (change(Some("./a/"), "./b/", ""), false),
            (change(Some("40"), REMOVED, ""), false),
            (change(None, "http://192.168.1.4:80", "It runs on the host"), false),
        ] {
            assert_eq!(is_setting(&change), wanted, "{change:?}");
        }
    }
}
