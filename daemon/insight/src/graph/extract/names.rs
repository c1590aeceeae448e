//! Finds the entities that a sentence mentions: files of the session, settings, symbols.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    lang::paths,
    model::{Episode, Evidence, Project},
    pattern::pattern,
};

/// The entities that sentences of one session may mention.
pub(super) struct Names {
    /// The path of the session's directory.
    directory: String,
    /// The keys of the files; see [`file_key`].
    files: BTreeSet<String>,
    /// The key of each file, by file name; `None` if several files have this name.
    by_name: BTreeMap<String, Option<String>>,
    /// The file of each changed setting, by the setting's key; `None` if the setting was changed in
    /// several files.
    settings: BTreeMap<String, Option<String>>,
    /// Qualified symbols by their last part; `None` if several symbols have this part.
    qualified: BTreeMap<String, Option<String>>,
}

/// An entity that a sentence mentions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NamedEntity {
    /// A file, by its key; see [`file_key`].
    File(String),
    /// A setting and its file.
    Setting(String, String),
    /// A symbol: its key and its spelling.
    Symbol(String, String),
}

const MAX_NAME_BYTES: usize = 80;

impl Names {
    pub(super) fn new(episode: &Episode, evidence: &Evidence) -> Names {
        let files: BTreeSet<String> =
            evidence.files.keys().filter_map(|path| file_key(&episode.project, path)).collect();
        let mut by_name: BTreeMap<String, Option<String>> = BTreeMap::new();
        for file in &files {
            let name = file.rsplit('/').next().unwrap_or(file).to_owned();
            by_name.entry(name).and_modify(|known| *known = None).or_insert(Some(file.clone()));
        }
        let mut settings: BTreeMap<String, Option<String>> = BTreeMap::new();
        for change in &evidence.settings {
            let Some(file) = file_key(&episode.project, &change.file) else { continue };
            let known =
                settings.entry(change.setting.clone()).or_insert_with(|| Some(file.clone()));
            if known.as_ref().is_some_and(|known| *known != file) {
                *known = None;
            }
        }
        let directory = episode.project.path().to_owned();
        let mut names = Names { directory, files, by_name, settings, qualified: BTreeMap::new() };
        names.note_symbols(evidence);
        names
    }

    /// Returns the entities that `sentence` mentions, without duplicates.
    pub(super) fn in_text(&self, sentence: &str) -> BTreeSet<NamedEntity> {
        let quoted = quoted(sentence).filter_map(|text| self.resolve(text));
        let plain = sentence.split(|c: char| c.is_whitespace() || "`'\"()[]{},;".contains(c));
        let plain = plain.map(|word| word.trim_end_matches(['.', ':']));
        let files = plain.filter(|word| word.contains('/') || word.contains('.'));
        quoted.chain(files.filter_map(|word| self.file(word)).map(NamedEntity::File)).collect()
    }

    fn resolve(&self, text: &str) -> Option<NamedEntity> {
        if text.is_empty() || text.len() > MAX_NAME_BYTES || text.contains(char::is_whitespace) {
            return None;
        }
        if let Some(file) = self.file(text) {
            return Some(NamedEntity::File(file));
        }
        if let Some(file) = self.settings.get(text) {
            return file.clone().map(|file| NamedEntity::Setting(text.to_owned(), file));
        }
        let (key, name) = symbol(text)?;
        let full = match key.contains("::") {
            true => None,
            false => self.qualified.get(&key).cloned().flatten(),
        };
        Some(match full {
            Some(full) => NamedEntity::Symbol(symbol(&full).map_or(key, |(key, _)| key), full),
            None => NamedEntity::Symbol(key, name),
        })
    }

    /// Returns the file of the session to which `text` refers, by its path or by a suffix of its
    /// path (such as the file name) that no other file of the session has.
    fn file(&self, text: &str) -> Option<String> {
        let text = text.trim_start_matches("./").split(':').next()?;
        if self.files.contains(text) {
            return Some(text.to_owned());
        }
        if !text.contains('/') {
            return self.by_name.get(text).cloned().flatten().filter(|_| text.contains('.'));
        }
        let ending = format!("/{text}");
        // A path may be relative to the repository that contains the session's directory.
        let is_path = |file: &str| {
            file.ends_with(&ending) || {
                let directory = ending.strip_suffix(file).and_then(|start| start.strip_suffix('/'));
                directory.is_some_and(|start| !start.is_empty() && self.directory.ends_with(start))
            }
        };
        let mut found = self.files.iter().filter(|file| is_path(file));
        let only = found.next()?;
        found.next().is_none().then(|| only.clone())
    }

    fn note_symbols(&mut self, evidence: &Evidence) {
        let statements = evidence.statements.iter().chain(&evidence.report);
        for statement in statements {
            for (key, name) in quoted(&statement.text).filter_map(symbol) {
                let Some((_, last)) = key.rsplit_once("::") else { continue };
                self.qualified
                    .entry(last.to_owned())
                    .and_modify(|known| {
                        if known.as_ref().is_some_and(|known| *known != name) {
                            *known = None;
                        }
                    })
                    .or_insert(Some(name));
            }
        }
    }
}

/// Returns the key of a file: its path relative to the project, without the worktree of the agent,
/// or its whole path if the file is outside of the project. Returns `None` for files that are not
/// part of the work, such as scratch files and the agent's own files.
pub(in crate::graph) fn file_key(project: &Project, path: &str) -> Option<String> {
    let path = path.trim().replace('\\', "/");
    if paths::is_scratch_outside([project.path()], &path) || paths::is_agents_own(&path) {
        return None;
    }
    let path = paths::inside_worktree(project.relative(&path));
    let path = path.trim_start_matches("./").trim_end_matches('/');
    (!path.is_empty()).then(|| path.to_owned())
}

/// Returns a symbol's key and spelling if `text` looks like a symbol.
fn symbol(text: &str) -> Option<(String, String)> {
    let symbol = pattern!(r"^([A-Za-z_$][\w$]*(?:(?:::|\.|#|->)[A-Za-z_$][\w$]*)*)(!|\(.*\))?$");
    let file = pattern!(
        r"(?i)\.(?:rs|py|js|mjs|cjs|jsx|ts|tsx|go|rb|java|kt|c|h|cpp|hpp|cs|php|swift|json|jsonl|ya?ml|toml|md|txt|html|css|scss|sql|sh|lock|env|cfg|ini|xml|csv|log|svg|png|com|org|net|io|dev|db)$"
    );
    let parts = symbol.captures(text)?;
    let (name, call) = (parts.get(1)?.as_str(), parts.get(2));
    if call.is_none() && file.is_match(name) {
        return None;
    }
    let is_qualified = name.contains("::") || name.contains('#') || name.contains("->");
    let humps = name
        .as_bytes()
        .windows(2)
        .filter(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase())
        .count();
    let is_snake = name.trim_matches('_').contains('_');
    let is_symbol = is_qualified || call.is_some() || humps > 0 || is_snake;
    let is_too_short = name.len() < 4;
    if !is_symbol || is_too_short {
        return None;
    }
    let key = name.replace("->", "::").replace(['.', '#'], "::");
    Some((key, name.to_owned()))
}

/// Returns the texts between backticks.
pub(super) fn quoted(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::extract::scenarios::SessionFixture;

    #[test]
    fn a_setting_that_was_changed_in_several_files_belongs_to_none() {
        let mut session = SessionFixture::new(10, "Move the port");
        session.setting("PORT", None, "3000");
        let named = |session: &SessionFixture| {
            Names::new(&session.episode, &session.evidence).in_text("The proxy reads `PORT`.")
        };
        let of_file = NamedEntity::Setting("PORT".to_owned(), ".env".to_owned());
        assert_eq!(named(&session), BTreeSet::from([of_file]));
        let mut second = session.evidence.settings[0].clone();
        second.file = "/srv/app/.env.test".to_owned();
        session.evidence.settings.push(second);
        assert_eq!(named(&session), BTreeSet::new());
    }

    #[test]
    fn a_path_may_be_relative_to_the_repository() {
        let mut session = SessionFixture::new(10, "Move the port");
        session.change("/srv/app/.env");
        let names = Names::new(&session.episode, &session.evidence);
        let named = |text: &str| names.in_text(text);
        let file = NamedEntity::File(".env".to_owned());
        for text in ["`app/.env` was changed", "`srv/app/.env` was changed"] {
            assert_eq!(named(text), BTreeSet::from([file.clone()]), "{text}");
        }
        assert_eq!(named("`web/.env` was changed"), BTreeSet::new());
    }

    #[test]
    fn symbols_are_distinguished_from_files_and_words() {
        for (text, key) in [
            ("AuthService.login()", Some("AuthService::login")),
            ("AuthService::login", Some("AuthService::login")),
            ("refresh_token", Some("refresh_token")),
            ("parse()", Some("parse")),
            ("getUser", Some("getUser")),
            ("main.rs", None),
            ("main", None),
            ("--flag", None),
            ("1.2.3", None),
            ("example.com", None),
        ] {
            assert_eq!(symbol(text).map(|(key, _)| key).as_deref(), key, "{text}");
        }
    }

    #[test]
    fn the_key_of_a_file_is_its_path_in_the_project() {
        let project = Project::new("/srv/app");
        for (path, key) in [
            ("/srv/app/src/a.rs", Some("src/a.rs")),
            ("/srv/app/.claude/worktrees/one/src/a.rs", Some("src/a.rs")),
            ("./src/a.rs", Some("src/a.rs")),
            ("/tmp/x.py", None),
            ("/home/ann/.claude/plans/plan.md", None),
            ("/etc/hosts", Some("/etc/hosts")),
        ] {
            assert_eq!(file_key(&project, path).as_deref(), key, "{path}");
        }
    }
}
