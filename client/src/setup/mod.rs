//! Changes the settings of agents, for `graphiti setup`.
//!
//! [`plan`] computes the new content of files without changing them; [`write()`] writes or removes
//! one file. [`agents`] lists the files of each agent. [`json`] and [`toml`] edit settings files,
//! and [`extension`] creates the files that belong to graphiti alone. [`wiring()`] reports whether
//! the setup is complete.
//!
//! This module also changes graphiti's own settings ([`embeddings`], [`share`]), and builds the
//! commands that start an agent (`resume.rs`).

mod agents;
mod command;
mod embeddings;
mod extension;
mod json;
mod resume;
mod share;
mod toml;
mod wiring;

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

pub(crate) use self::{
    agents::{AGENTS, AgentSetup, agent_names, installed},
    command::shell_line,
    embeddings::{install_model, remove, settings, target_folder},
    resume::{AgentCommand, resume, start},
    share::shared_projects,
    wiring::{Wiring, awaits_trust, old_hooks, parts, wiring},
};
use crate::{error::AskError, program::program};

/// The input of setup: paths, environment variables and options.
#[derive(Clone)]
pub(crate) struct Surroundings<'a> {
    pub(crate) home: PathBuf,
    /// The project whose settings are changed; `None` for the user's settings.
    pub(crate) project: Option<PathBuf>,
    pub(crate) program: PathBuf,
    /// The lookup of an environment variable.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether to add the permissions by which agents use our tools without confirmation.
    pub(crate) allow: bool,
}

impl Surroundings<'static> {
    /// Returns the surroundings of this process, for the user's settings and without permissions.
    pub(crate) fn of_user() -> Result<Surroundings<'static>, AskError> {
        let program = program().map_err(|error| AskError::Failed(error.to_string()))?;
        Ok(Surroundings {
            home: env::home_dir().ok_or(AskError::NoHome)?,
            project: None,
            program,
            variable: &|name| env::var(name).ok(),
            allow: false,
        })
    }
}

/// The desired state of an agent's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetupGoal {
    /// The settings make the agent call this program.
    Install,
    /// The settings contain nothing of ours.
    Remove,
}

/// A file that an agent reads, and our content in it.
pub(crate) struct Settings {
    pub(crate) file: PathBuf,
    content: SettingsEntry,
}

enum SettingsEntry {
    Hooks(Vec<json::Hook>),
    Server(serde_json::Value),
    TomlServer(toml::Server),
    /// Tools that are allowed without confirmation.
    Allowed(Vec<String>),
    /// Our server is allowed without confirmation.
    Trust,
    /// A file that belongs to graphiti alone.
    Extension(String),
}

/// A planned change of one file.
pub(crate) struct SettingsChange {
    /// The agent that reads the file.
    pub(crate) agent: &'static str,
    pub(crate) file: PathBuf,
    /// The current content; `None` when the file does not exist.
    pub(crate) before: Option<String>,
    /// The new content; `None` to remove the file because it would be empty.
    pub(crate) after: Option<String>,
    /// Whether the backup still contains the state before our first change.
    pub(crate) has_backup: bool,
}

/// Why a file is not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    /// The file is not valid.
    #[error("it cannot be read: {0}")]
    Broken(String),
    /// An entry has an unexpected type.
    #[error("`{0}` in it has an unexpected type")]
    Unexpected(&'static str),
    /// Another program uses our name.
    #[error("`{0}` in it belongs to another program; rename that entry first")]
    Foreign(&'static str),
    #[error("another program wrote the file; rename the file first")]
    ForeignFile,
    #[error("{0}")]
    System(String),
}

/// Returns the changes for one agent, without unchanged files, and the files that cannot be
/// changed.
pub(crate) fn plan(
    agent: &'static agents::AgentSetup,
    goal: SetupGoal,
    surroundings: &Surroundings<'_>,
) -> Vec<Result<SettingsChange, (PathBuf, EditError)>> {
    let mut changes: Vec<Result<SettingsChange, (PathBuf, EditError)>> = Vec::new();
    let all = (agent.settings)(surroundings);
    let is_wanted = |content: &SettingsEntry| {
        goal == SetupGoal::Remove || surroundings.allow || !content.is_offer()
    };
    for settings in all.iter().filter(|settings| is_wanted(&settings.content)) {
        // A file may contain several of our entries.
        let earlier = changes.iter_mut().flatten().find(|change| change.file == settings.file);
        let result = match earlier {
            Some(earlier) => {
                let text = earlier.after.clone().unwrap_or_default();
                settings.content.apply(&text, goal).map(|text| earlier.after = Some(text))
            }
            None => change(agent.name, settings, goal).map(|change| changes.push(Ok(change))),
        };
        if let Err(error) = result {
            let error = (settings.file.clone(), error);
            // Each of our entries in the file has the same problem.
            if !changes.iter().any(|earlier| earlier.as_ref().err() == Some(&error)) {
                changes.push(Err(error));
            }
        }
    }
    for change in changes.iter_mut().flatten() {
        let kept = change
            .before
            .as_deref()
            .and_then(|before| restorable_backup(&all, &change.file, before));
        change.has_backup = kept.is_some();
        if goal == SetupGoal::Remove {
            // An empty file that existed before setup is kept.
            let has_content =
                |after: &String| change.before.as_ref() == Some(after) || !json::is_empty(after);
            change.after = kept.or(change.after.take().filter(has_content));
        }
    }
    changes.retain(|change| change.as_ref().map_or(true, |change| change.before != change.after));
    changes
}

fn change(
    agent: &'static str,
    settings: &Settings,
    goal: SetupGoal,
) -> Result<SettingsChange, EditError> {
    let file = settings.file.clone();
    let before = match crate::files::read_text(&file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(EditError::System(error.to_string())),
    };
    if before.is_none() && goal == SetupGoal::Remove {
        return Ok(SettingsChange { agent, file, before, after: None, has_backup: false });
    }
    let after = settings.content.apply(before.as_deref().unwrap_or_default(), goal)?;
    Ok(SettingsChange { agent, file, before, after: Some(after), has_backup: false })
}

/// Returns the content of the backup if it can be restored: the file has our entries, possibly in an
/// older form, and no other change was made since the backup.
fn restorable_backup(all: &[Settings], file: &Path, current: &str) -> Option<String> {
    let ours: Vec<&SettingsEntry> =
        all.iter().filter(|one| one.file == file).map(|one| &one.content).collect();
    let all_applied = |text: &str, goal| {
        ours.iter().try_fold(text.to_owned(), |text, one| one.apply(&text, goal)).ok()
    };
    let real = file.canonicalize().ok()?;
    let kept = fs::read_to_string(backup(&real)).ok()?;
    // The backup may contain our entries, and is then not restored: older versions overwrote the
    // backup with each change, and `write` overwrites it if the file was changed since. Optional
    // entries are not checked, because the user may have had them before.
    let mut certain = ours.iter().filter(|content| !content.is_offer());
    if !certain.all(|content| content.apply(&kept, SetupGoal::Remove).as_ref() == Ok(&kept)) {
        return None;
    }
    let rest = all_applied(current, SetupGoal::Remove)?;
    let with = all_applied(&kept, SetupGoal::Install)?;
    (rest != current && rest == all_applied(&with, SetupGoal::Remove)?).then_some(kept)
}

impl SettingsEntry {
    fn apply(&self, text: &str, goal: SetupGoal) -> Result<String, EditError> {
        match (self, goal) {
            (SettingsEntry::Hooks(hooks), SetupGoal::Install) => json::with_hooks(text, hooks),
            (SettingsEntry::Hooks(_), SetupGoal::Remove) => json::without_hooks(text),
            (SettingsEntry::Server(server), SetupGoal::Install) => json::with_server(text, server),
            (SettingsEntry::Server(_), SetupGoal::Remove) => json::without_server(text),
            (SettingsEntry::TomlServer(server), SetupGoal::Install) => {
                toml::with_server(text, server)
            }
            (SettingsEntry::TomlServer(_), SetupGoal::Remove) => toml::without_server(text),
            (SettingsEntry::Allowed(tools), SetupGoal::Install) => json::with_allowed(text, tools),
            (SettingsEntry::Allowed(tools), SetupGoal::Remove) => {
                json::without_allowed(text, tools)
            }
            (SettingsEntry::Trust, SetupGoal::Install) => json::with_trust(text),
            // The entry is removed with the server.
            (SettingsEntry::Trust, SetupGoal::Remove) => Ok(text.to_owned()),
            (SettingsEntry::Extension(extension), SetupGoal::Install) => {
                extension::with(text, extension)
            }
            (SettingsEntry::Extension(_), SetupGoal::Remove) => Ok(extension::without(text)),
        }
    }

    /// Whether this entry is optional: it only grants permissions, and `--no-allow` omits it.
    fn is_offer(&self) -> bool {
        match self {
            SettingsEntry::Allowed(_) | SettingsEntry::Trust => true,
            SettingsEntry::Hooks(_)
            | SettingsEntry::Server(_)
            | SettingsEntry::TomlServer(_)
            | SettingsEntry::Extension(_) => false,
        }
    }
}

/// Writes the new content of a file, or removes the file and its backup. Before a write, the
/// current content becomes the backup, unless `has_backup` is set.
pub(crate) fn write(change: &SettingsChange) -> io::Result<()> {
    // The file may be a link into a repository. The link is kept.
    let file = change.file.canonicalize().unwrap_or_else(|_| change.file.clone());
    let kept = backup(&file);
    let Some(after) = &change.after else {
        fs::remove_file(&file)?;
        return remove_if_there(&kept);
    };
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    if change.before.is_some() && !change.has_backup {
        fs::copy(&file, &kept)?;
    }
    graphiti_proto::files::replace(&file, after.as_bytes())
}

/// Removes the backup of a file.
pub(crate) fn forget_backup(file: &Path) -> io::Result<()> {
    remove_if_there(&backup(&file.canonicalize().unwrap_or_else(|_| file.to_owned())))
}

/// Returns the path of a file's backup.
fn backup(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".graphiti-backup");
    PathBuf::from(name)
}

fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
