//! Settings that were changed, each with its reason.

use crate::{
    model::{
        evidence::{SettingChange, StatementKind},
        summary::ConfigChange,
        wording::{NOT_STATED, REMOVED},
    },
    summarize::{
        from_evidence::{
            entries::{Entries, is_scratch},
            turns,
        },
        text::{cut, without_full_stop},
    },
};

/// Maximum number of changes. If there are more, the latest are kept.
const CHANGES: usize = 24;
/// Maximum number of changes of one key in one file. A key with more is in a list of similar
/// objects, which is a document rather than settings.
const ALIKE: usize = 3;
/// Maximum length, in characters, of a reason.
const REASON: usize = 120;

/// Returns the changed settings. The same change in several files is one entry.
pub(super) fn config_changes(entries: &Entries<'_>) -> Vec<ConfigChange> {
    let mut changes: Vec<ConfigChange> = Vec::new();
    let evidence = entries.evidence;
    let is_gone = |file: &str| match evidence.files.get(file) {
        Some(work) => work.deleted,
        None => evidence.files_left_out == 0,
    };
    let settings = entries.evidence.settings.iter();
    let settings = settings.filter(|one| !is_scratch(&one.file) && !is_gone(&one.file));
    // A setting whose key names a deleted file is left out.
    let deleted = evidence.files.iter().filter(|(_, work)| work.deleted);
    let deleted: Vec<&str> =
        deleted.map(|(path, _)| path.rsplit(['/', '\\']).next().unwrap_or(path)).collect();
    let is_of_deleted = |key: &str| deleted.iter().any(|name| key.contains(name));
    let settings = settings.filter(|one| !is_of_deleted(&one.setting));
    for setting in settings {
        let change = ConfigChange {
            file: entries.path(&setting.file).to_owned(),
            setting: setting.setting.clone(),
            old_value: setting.old_value.clone(),
            new_value: setting.new_value.clone().unwrap_or_else(|| REMOVED.to_owned()),
            reason: reason(entries, setting),
        };
        let is_told = |known: &ConfigChange| {
            known.file == change.file
                && known.setting == change.setting
                && known.new_value == change.new_value
        };
        if changes.iter().any(is_told) {
            continue;
        }
        let alike = changes
            .iter()
            .filter(|known| known.file == change.file && known.setting == change.setting);
        if alike.count() >= ALIKE {
            continue;
        }
        let same = changes.iter_mut().find(|known| {
            known.setting == change.setting
                && known.old_value == change.old_value
                && known.new_value == change.new_value
                && known.file != change.file
        });
        match same {
            Some(known) => {
                known.file.push_str(", ");
                known.file.push_str(&change.file);
            }
            None => changes.push(change),
        }
    }
    let extra = changes.len().saturating_sub(CHANGES);
    changes.drain(..extra);
    changes
}

/// Returns what the agent said about the setting or its file in that turn, or else what the user
/// asked.
fn reason(entries: &Entries<'_>, setting: &SettingChange) -> String {
    let evidence = entries.evidence;
    let Some(turn) = turns::turn_of(evidence, setting.origin) else {
        return NOT_STATED.to_owned();
    };
    let key = setting.setting.rsplit('.').next().unwrap_or(&setting.setting);
    let file = setting.file.rsplit('/').next().unwrap_or(&setting.file);
    let all = evidence.statements.iter().chain(&evidence.report);
    let told: Vec<_> = all
        .filter(|one| turn.holds(one.origin))
        .filter(|one| !matches!(one.kind, StatementKind::OpenEnd | StatementKind::Discovery))
        .collect();
    let names_key = |text: &str| key.len() >= 3 && text.contains(key);
    let said = told
        .iter()
        .find(|one| names_key(&one.text))
        .or_else(|| told.iter().find(|one| one.text.contains(file)));
    if let Some(said) = said {
        return cut(&entries.deed(&said.text), REASON);
    }
    let asked = turn
        .request()
        .map(|request| cut(without_full_stop(&entries.tidy_line(&request.text)), REASON));
    asked.map_or(NOT_STATED.to_owned(), |asked| format!("Asked: {asked}"))
}
