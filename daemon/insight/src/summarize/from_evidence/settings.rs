//! Lists the settings that were changed, each with its reason.

use crate::{
    model::{
        evidence::{Evidence, SettingChange, StatementKind},
        summary::{ConfigChange, EnhancedSessionSummary},
        wording::{NOT_STATED, REMOVED},
    },
    summarize::{
        from_evidence::{
            entries::{Entries, is_outside_project},
            turns,
        },
        lists::keep_latest,
    },
    text::{cut, pattern, without_full_stop},
};

/// Maximum number of changes. If there are more, the latest are kept.
const CHANGES: usize = 24;
/// Maximum number of changes of one key in one file. If there are more, the latest are kept. Such
/// changes usually belong to similar objects in a list.
const ALIKE: usize = 3;
/// A value of at least this number of bytes occurs in a text only if the text is about the value.
const LONG: usize = 8;
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
    let settings =
        settings.filter(|one| !is_outside_project(evidence, &one.file) && !is_gone(&one.file));
    let deleted = evidence.files.iter().filter(|(_, work)| work.deleted);
    let deleted: Vec<&str> =
        deleted.map(|(path, _)| path.rsplit(['/', '\\']).next().unwrap_or(path)).collect();
    let is_of_deleted = |key: &str| deleted.iter().any(|name| key.contains(name));
    let settings = settings.filter(|one| !is_of_deleted(&one.setting));
    let texts = texts(evidence);
    let settings = settings.filter(|one| {
        !is_of_manifest(one) && (is_local(&one.file) || texts.iter().any(|text| names(text, one)))
    });
    for setting in settings {
        let change = ConfigChange {
            file: entries.path(&setting.file).to_owned(),
            setting: setting.setting.clone(),
            old_value: setting.old_value.clone(),
            new_value: setting.new_value.clone().unwrap_or_else(|| REMOVED.to_owned()),
            reason: reason(entries, setting),
        };
        let is_known = |known: &ConfigChange| {
            known.file == change.file
                && known.setting == change.setting
                && known.new_value == change.new_value
        };
        if changes.iter().any(is_known) {
            continue;
        }
        let is_alike =
            |known: &ConfigChange| known.file == change.file && known.setting == change.setting;
        if changes.iter().filter(|known| is_alike(known)).count() >= ALIKE {
            // The last value is the current one.
            let first = changes.iter().position(is_alike);
            first.into_iter().for_each(|at| _ = changes.remove(at));
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
    keep_latest(&mut changes, CHANGES);
    changes
}

/// Returns the texts that may mention a setting: prompts, reports, commit messages and published
/// texts.
fn texts(evidence: &Evidence) -> Vec<&str> {
    let prompts = evidence.prompts.iter().map(|prompt| prompt.text.as_str());
    let reports = evidence.reports.iter().map(|report| report.text.as_str());
    let commits = evidence.commits.iter().flat_map(|commit| [&*commit.subject, &*commit.body]);
    let published = evidence.publications.iter().map(|one| one.body.as_str());
    prompts.chain(reports).chain(commits).chain(published).collect()
}

/// Whether git usually ignores a file, so that only the session shows its changes.
fn is_local(file: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    pattern!(r"(?i)^\.env\b|[._-]local\b").is_match(name)
}

/// Whether a setting is the version of a package or a dependency in a manifest, where a reader
/// finds it anyway.
fn is_of_manifest(setting: &SettingChange) -> bool {
    pattern!(r"(?i)(?:^|\.)(?:\w*dependencies|require(?:-dev)?)\.|^(?:[\w-]+\.)?version$|^packageManager$")
        .is_match(&setting.setting)
}

/// Whether a text mentions the key of a setting, or a name in its value. A key that is a plain
/// word, or a word of a key, may occur in any text. So it counts only if the whole value is on the
/// same line.
fn names(text: &str, setting: &SettingChange) -> bool {
    let key = last_key(&setting.setting);
    let value = setting.new_value.as_deref().unwrap_or_default().trim();
    let is_name = |word: &str| {
        word.len() >= 5 && pattern!(r"[a-z][A-Z]|\w[_.-]\w|^[A-Z0-9_]+$").is_match(word)
    };
    let in_value = value
        .split(|c: char| !c.is_alphanumeric() && !"_-".contains(c))
        .any(|word| is_name(word) && has_word(text, word));
    in_value
        || is_name(key) && has_word(text, key)
        || text.lines().any(|line| {
            has_word(line, value) && (has_word(line, key) || has_word_of_key(line, key, value))
        })
}

/// Whether a line contains a word of the key, such as `timeout` of `request_timeout`. A truth value
/// is too common for such a line to be about the setting.
fn has_word_of_key(line: &str, key: &str, value: &str) -> bool {
    let line = line.to_lowercase();
    let is_in_line =
        |word: regex::Match<'_>| word.len() >= 4 && has_word(&line, &word.as_str().to_lowercase());
    !matches!(value, "true" | "false" | "yes" | "no" | "on" | "off" | "null")
        && pattern!(r"[A-Z]?[a-z]+|[A-Z]+").find_iter(key).any(is_in_line)
}

/// Whether `text` contains `word`, and not only as a part of a longer word.
fn has_word(text: &str, word: &str) -> bool {
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            is_end(text[..at].chars().next_back()) && is_end(text[at + word.len()..].chars().next())
        })
}

fn last_key(setting: &str) -> &str {
    setting.rsplit('.').next().unwrap_or(setting)
}

/// Returns the settings that no text of the summary mentions with their new values. For a list or a
/// removed setting, the key alone is enough; for a long value, the value alone.
pub(in crate::summarize) fn unrepeated_settings(
    summary: &EnhancedSessionSummary,
) -> Vec<&ConfigChange> {
    let errors = summary.errors_resolved.iter().flatten();
    let decisions = summary.key_decisions.iter().flatten();
    let lists = [&summary.completed_tasks, &summary.discoveries, &summary.next_steps];
    let texts: Vec<&str> = errors
        .flat_map(|error| [&error.root_cause, &error.fix])
        .chain(decisions.flat_map(|one| [&one.decision, &one.rationale]))
        .chain(lists.into_iter().flatten().flatten())
        .chain(&summary.last_words)
        .chain([&summary.objective])
        .map(String::as_str)
        .collect();
    let is_new = |change: &&ConfigChange| {
        let value = change.new_value.trim();
        let is_mentioned = |text: &&str| {
            let has_key = has_word(text, last_key(&change.setting));
            has_word(text, value) && (has_key || value.len() >= LONG)
                || has_key && (value.starts_with('[') || value == REMOVED)
        };
        !texts.iter().any(is_mentioned)
    };
    summary.config_changes.iter().flatten().filter(is_new).collect()
}

/// Returns what the agent said about the setting or its file in the turn of the change, or else
/// what the user asked.
fn reason(entries: &Entries<'_>, setting: &SettingChange) -> String {
    let evidence = entries.evidence;
    let Some(turn) = turns::turn_of(evidence, setting.origin) else {
        return NOT_STATED.to_owned();
    };
    let key = last_key(&setting.setting);
    let file = setting.file.rsplit(['/', '\\']).next().unwrap_or(&setting.file);
    let all = evidence.statements.iter().chain(&evidence.report);
    let statements: Vec<_> = all
        .filter(|one| turn.holds(one.origin))
        .filter(|one| {
            use StatementKind::{Discovery, OpenEnd, Remembered};
            !matches!(one.kind, OpenEnd | Discovery | Remembered)
        })
        .collect();
    let names_key = |text: &str| key.len() >= 3 && text.contains(key);
    let statement = statements
        .iter()
        .find(|one| names_key(&one.text))
        .or_else(|| statements.iter().find(|one| one.text.contains(file)));
    if let Some(statement) = statement {
        return cut(&entries.completed_work(&statement.text), REASON);
    }
    let asked = turn
        .request()
        .map(|request| cut(without_full_stop(&entries.tidy_line(&request.text)), REASON));
    asked.map_or(NOT_STATED.to_owned(), |asked| format!("Asked: {asked}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{evidence::FileWork, transcript::Origin};

    fn setting(file: &str, key: &str, value: &str) -> SettingChange {
        SettingChange {
            file: file.to_owned(),
            setting: key.to_owned(),
            old_value: None,
            new_value: Some(value.to_owned()),
            origin: Origin::default(),
            at: None,
        }
    }

    #[test]
    fn the_last_value_of_a_setting_that_changed_often_is_kept() {
        let values = ["1", "2", "3", "4", "5", "6", "7", "8"];
        let settings = values.iter().map(|value| setting(".env", "PORT", value)).collect();
        let work = FileWork { edits: 8, ..FileWork::default() };
        let files = [(".env".to_owned(), work)].into();
        let evidence = Evidence { settings, files, ..Evidence::default() };
        let reports = crate::report::Reports::default();
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let changes = config_changes(&entries);
        assert!(changes.len() <= ALIKE);
        assert_eq!(changes.last().unwrap().new_value, "8");
    }

    #[test]
    fn only_mentioned_and_local_settings_are_listed() {
        let text = "The action uses `RELEASE_TOKEN` now, and the port is 5173.\n\
            Set the timeout in config/app.json to 30, with mode true.";
        for (file, key, value, wanted) in [
            ("ci.yml", "with.token", "${{ secrets.RELEASE_TOKEN }}", true),
            ("vite.config.ts", "port", "5173", true),
            ("vite.config.ts", "port", "51", false),
            ("config/app.json", "request_timeout", "30", true),
            ("config/app.json", "retryTimeout", "30", true),
            ("config/app.json", "request_timeout", "3", false),
            ("config/app.json", "pool_size", "30", false),
            ("config/app.json", "strict_mode", "true", false),
            ("tsconfig.json", "compilerOptions.strict", "true", false),
            ("app/.env", "API_URL", "http://x", true),
            ("package.json", "devDependencies.RELEASE_TOKEN", "1", false),
            ("package.json", "version", "5173", false),
        ] {
            let evidence = Evidence {
                settings: vec![setting(file, key, value)],
                files_left_out: 1,
                reports: vec![crate::model::evidence::TurnReport {
                    text: text.to_owned(),
                    ..Default::default()
                }],
                ..Evidence::default()
            };
            let reports = crate::report::Reports::default();
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            assert_eq!(!config_changes(&entries).is_empty(), wanted, "{file} {key}");
        }
    }
}
