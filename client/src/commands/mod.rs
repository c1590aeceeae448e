//! The commands, in files by subject.

mod close;
mod doctor;
mod embeddings;
mod export;
mod facts;
mod follow;
mod forget;
mod handoff;
mod history;
mod import;
mod list;
mod prompts;
mod redact;
mod remember;
mod repair;
mod resume;
mod search;
mod service;
mod setup;
mod share;
mod shell;
mod show;
mod static_copy;
mod stats;
mod status;
mod stop;
mod sync;
mod tools;
mod unindexed;
mod up;
mod usage;
mod view;

use std::{path::Path, time::Duration};

use graphiti_proto::{
    endpoint,
    methods::{self, Reloaded},
    tools::TeamOrigin,
};
use serde_json::json;

use crate::{
    cli::{self, Cli, Command, Project, SetupWhat},
    connection::{AskError, Connection},
    hook,
    mcp::{self, WhenDown},
    plugin,
    screen::{Screen, line},
};

/// Executes the command line.
pub(crate) fn run(cli: Cli, screen: &Screen) -> Result<(), AskError> {
    let Some(command) = cli.command else { return status::overview(screen) };
    match command {
        Command::Status(status) => status::run(&status, screen),
        Command::List(list) => list::run(list, screen),
        Command::Show(show) => show::run(show, screen),
        Command::Resume(resume) => resume::run(resume, screen),
        Command::Search(search) => search::run(search, screen),
        Command::Facts(facts) => facts::run(facts, screen),
        Command::Remember(remember) => remember::run(remember, screen),
        Command::Blame(blame) => history::blame(blame, screen),
        Command::Fix(fix) => history::fix(fix, screen),
        Command::Log(log) => history::log(log, screen),
        Command::Stats(stats) => stats::run(stats, screen),
        Command::Handoff(handoff) => handoff::run(handoff, screen),
        Command::Close(close) => close::run(close, screen),
        Command::Unindexed(unindexed) => unindexed::run(unindexed, screen),
        Command::View(view) => view::run(&view, screen),
        Command::Usage(usage) => usage::run(&usage, screen),
        Command::Tools(tools) => tools::run(tools, screen),
        Command::Prompts(prompts) => prompts::run(prompts, screen),
        Command::Hook { agent } => {
            hook::run(agent.as_deref());
            Ok(())
        }
        Command::Sync(sync) => sync::run(sync, screen),
        Command::Export(export) => run_export(export, screen),
        Command::Import(import) => run_import(&import, screen),
        Command::Share(share) => share::run(share, screen),
        Command::Forget(forget) => forget::run(forget, screen),
        Command::Mcp(args) => mcp::run(match args.no_start {
            true => WhenDown::Report,
            false => WhenDown::Start,
        }),
        Command::Setup(setup) => match setup.what {
            Some(SetupWhat::Embeddings(wanted)) => embeddings::run(&wanted, screen),
            None => setup::run(&setup, screen),
        },
        Command::Service(action) => service::run(action, screen),
        Command::Up => up::run(screen),
        Command::Repair(repair) => repair::run(&repair, screen),
        Command::Redact(redact) => redact::run(&redact, screen),
        Command::Doctor(doctor) => doctor::run(&doctor, screen),
        Command::ClaudePluginPath => plugin_path(screen),
        Command::Reload => reload(screen),
        Command::Stop(stop) => stop::run(&stop, screen),
        Command::Completions(completions) => {
            shell::completions(completions.shell, screen);
            Ok(())
        }
        Command::Man => {
            shell::manual(screen);
            Ok(())
        }
    }
}

fn run_export(export: cli::ExportOptions, screen: &Screen) -> Result<(), AskError> {
    if export.follow.follow {
        let every = Duration::from_secs(export.follow.every);
        return follow::export(&export.folder, project(export.project).as_deref(), every, screen);
    }
    if export.html { static_copy::run(export, screen) } else { export::run(export, screen) }
}

fn run_import(import: &cli::Import, screen: &Screen) -> Result<(), AskError> {
    if import.follow.follow {
        return follow::import(&import.path, Duration::from_secs(import.follow.every), screen);
    }
    import::run(import, screen)
}

fn reload(screen: &Screen) -> Result<(), AskError> {
    let reloaded: Reloaded = Connection::open()?.ask(methods::RELOAD, &json!({}))?;
    if !reloaded.problems.is_empty() {
        let problems = reloaded.problems.join("\n");
        return Err(AskError::InvalidInput(format!("{problems}\nThe old settings stay in force.")));
    }
    for text in reloaded.notices.iter().chain(&reloaded.changes) {
        screen.print(line(text));
    }
    if reloaded.changes.is_empty() {
        screen.print("Nothing changed.");
    }
    Ok(())
}

fn plugin_path(screen: &Screen) -> Result<(), AskError> {
    let home = endpoint::home().ok_or(AskError::NoHome)?;
    let folder = plugin::write(&home).map_err(|error| {
        AskError::Failed(format!("cannot write the plugin to {}: {error}", home.display()))
    })?;
    screen.print(folder.display());
    Ok(())
}

/// Formats a number of things.
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", status::number(count), if count == 1 { one } else { many })
}

/// Returns the argument `scope` of a tool. With `team`, the tool also searches what colleagues
/// shared.
fn scope(is_team: bool) -> Option<String> {
    is_team.then(|| "team".to_owned())
}

/// Formats who shared a result; empty for a result of this machine.
fn by(team: Option<&TeamOrigin>) -> String {
    match team {
        None => String::new(),
        Some(team) if team.name.is_empty() => "by another program".to_owned(),
        Some(team) => format!("by {} on {}", line(&team.name), line(&team.machine)),
    }
}

/// Converts the given project for the daemon. A path that exists here becomes an absolute path. A
/// namespace, a name or a remote stays unchanged otherwise, and so does an absolute path of another
/// operating system, which `list --json` may print. `owner/name` is the end of a remote;
/// `./owner/name` is a folder, even if it does not exist.
fn project(project: Project) -> Option<String> {
    let given = project.project?;
    if (is_name_or_remote(&given) || is_of_another_system(&given)) && !Path::new(&given).exists() {
        return Some(given);
    }
    Some(absolute_path(&given))
}

/// Returns the absolute path of a directory or a file. If the path does not exist any more, its
/// symbolic links are not resolved. Such a path is valid, because it may still have sessions.
fn absolute_path(given: &str) -> String {
    let path = std::path::absolute(given).unwrap_or_else(|_| given.into());
    let path = path.canonicalize().unwrap_or(path);
    path.to_string_lossy().into_owned()
}

/// Whether the text is a single name, such as a namespace, or looks like the address of a remote or
/// like the end of the address, `owner/name`.
fn is_name_or_remote(given: &str) -> bool {
    let host = given.split(['/', ':']).next().unwrap_or_default();
    let is_end_of_remote = given.split_once('/').is_some_and(|(owner, name)| {
        let is_part = |part: &str| !part.is_empty() && !part.starts_with(['.', '~']);
        is_part(owner) && is_part(name) && !name.contains('/') && !given.contains(['\\', ':'])
    });
    !given.contains(['/', '\\'])
        || given.contains("://")
        || host.contains('@')
        || host.trim_matches('.').contains('.')
        || is_end_of_remote
}

/// Whether a path is absolute on Windows or Unix, but not on this operating system.
fn is_of_another_system(path: &str) -> bool {
    let has_drive =
        matches!(path.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    let is_absolute = has_drive || path.starts_with('/') || path.starts_with(r"\\");
    is_absolute && !Path::new(path).is_absolute()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_remotes_of_projects_stay_as_they_are() {
        let named = |given: &str| project(Project { project: Some(given.to_owned()) }).unwrap();
        for given in
            ["app", "0a1b2c3d", "git@host.org:ann/app.git", "https://host.org/a/b", "host.org/a/b"]
        {
            assert_eq!(named(given), given);
        }
        assert_eq!(named("ann/app"), "ann/app");
        for folder in ["./gone/app", "gone/app/sub", "../gone", "gone/", "src/commands"] {
            assert!(Path::new(&named(folder)).is_absolute(), "{folder}");
        }
    }

    #[test]
    fn a_directory_becomes_an_absolute_path() {
        let named = |given: &str| project(Project { project: Some(given.to_owned()) }).unwrap();
        let here = std::env::current_dir().unwrap();
        for whole in ["D:/x", r"D:\x\y", r"\\server\share", "/no/such/folder", "1a2b3c4d"] {
            assert_eq!(named(whole), whole);
        }
        for (given, wanted) in [("no/such/x", here.join("no/such/x")), ("./d:x", here.join("d:x"))]
        {
            #[cfg(unix)]
            assert_eq!(named(given), wanted.to_string_lossy());
            let _ = (given, wanted);
        }
    }
}
