//! Extracts settings and their values.

use std::collections::BTreeMap;

use super::draft::{ClaimDraft, Draft};
use crate::{
    graph::text,
    model::{
        evidence::SettingChange,
        graph::{Certainty, Observation, Relation, Stance, Watch, fingerprint},
        summary::ConfigChange,
        wording::{REMOVED, is_filler},
    },
};

/// Of a setting that was changed several times in a session only the last value counts.
pub(super) fn read(draft: &mut Draft<'_>) {
    let episode = draft.episode;
    let mut last: BTreeMap<(String, &str), (&ConfigChange, Option<&SettingChange>)> =
        BTreeMap::new();
    for change in episode.summary.config_changes.iter().flatten() {
        // A summary joins equal changes of several files in one entry.
        for file in change.file.split(", ") {
            let Some(file) = super::names::file_key(&episode.project, file) else { continue };
            let seen = draft.evidence.settings.iter().rfind(|seen| {
                seen.setting == change.setting
                    && super::names::file_key(&episode.project, &seen.file).as_ref() == Some(&file)
            });
            last.insert((file, &change.setting), (change, seen));
        }
    }
    for ((file, setting), (change, seen)) in last {
        // The last value in the evidence takes precedence; the summary may have omitted it because
        // of its limits.
        let value = match seen {
            Some(seen) => seen.new_value.clone(),
            None => Some(change.new_value.clone()).filter(|value| value != REMOVED),
        };
        claim(draft, (&file, setting), (change, seen), value.as_deref());
    }
}

fn claim(
    draft: &mut Draft<'_>,
    (file, setting): (&str, &str),
    (change, seen): (&ConfigChange, Option<&SettingChange>),
    value: Option<&str>,
) {
    let source = draft.setting(file, setting);
    let Some(target) = draft.file(file) else { return };
    let subject = draft.subject("setting", &format!("{file}\n{setting}"));
    let origins: Vec<_> = seen.map(|seen| seen.origin).into_iter().collect();
    let at = seen.and_then(|seen| seen.at).unwrap_or_else(|| draft.moments.of(&origins));
    let held = fingerprint(value.unwrap_or(REMOVED));
    draft.mark(subject, at, Observation::Value(held));
    let old = seen.map_or(&change.old_value, |seen| &seen.old_value);
    let mut sentence = match value {
        Some(value) => format!("`{setting}` in `{file}` is `{}`", text::cut(value, 200)),
        None => format!("`{setting}` in `{file}` is not set"),
    };
    if let Some(old) = old.as_deref().filter(|old| Some(*old) != value) {
        sentence.push_str(&format!(" (before: `{}`)", text::cut(old, 120)));
    }
    sentence.push('.');
    if !change.reason.is_empty() && !is_filler(&change.reason) {
        sentence.push_str(&format!(" Why: {}", text::sentence(&change.reason)));
    }
    let details = [("value", value), ("old_value", old.as_deref()), ("file", Some(file))];
    draft.claim(
        Relation::SetTo,
        (source, target),
        ClaimDraft {
            detail: held.to_string(),
            sentence,
            certainty: Some(Certainty::Verified),
            at: Some(at),
            origins,
            watches: vec![Watch { subject, stance: Stance::Value(held) }],
            others: vec![draft.task],
            details: details
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
                .collect(),
        },
    );
}
