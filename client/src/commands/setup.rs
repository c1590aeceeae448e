//! `graphiti setup`: adds `graphiti` to the settings of agents or removes it.

use std::{
    env,
    io::{self, BufRead, IsTerminal, Write},
    path::PathBuf,
};

use similar::TextDiff;

use crate::{
    cli,
    connection::AskError,
    program::{lasting_program, program},
    screen::{Screen, block},
    setup::{self, AGENTS, SettingsChange, SetupGoal, Surroundings},
};

/// The output if there is no agent to set up.
const NO_AGENT: &str = "Nothing to change: no agent was found on this machine. Install an agent, or set up an agent that was not found: graphiti setup --agent NAME";

pub(super) fn run(args: &cli::Setup, screen: &Screen) -> Result<(), AskError> {
    let variable = |name: &str| env::var(name).ok();
    let writes = !(args.remove || args.dry_run);
    let program = if writes { lasting_program()? } else { program().map_err(failed)? };
    let surroundings = Surroundings {
        home: env::home_dir().ok_or(AskError::NoHome)?,
        project: args.project.then(env::current_dir).transpose().map_err(failed)?,
        program,
        variable: &variable,
        allow: !args.no_allow,
    };
    let goal = if args.remove { SetupGoal::Remove } else { SetupGoal::Install };
    let PlannedChanges { changes, refused } = plan_changes(args, goal, &surroundings, screen);
    if changes.is_empty() && refused.is_empty() {
        let is_without_agent =
            args.agent.is_empty() && setup::installed(&surroundings).next().is_none();
        screen.print(match goal {
            SetupGoal::Install if is_without_agent => NO_AGENT,
            SetupGoal::Install => "Nothing to change.",
            SetupGoal::Remove => "The settings of the agents contain nothing of graphiti.",
        });
    } else if !changes.is_empty() {
        changes.iter().for_each(|change| show(change, screen));
        match !args.dry_run && (args.yes || confirm_changes(changes.len())?) {
            true => write_all(&changes, goal, screen)?,
            false => screen.print("Nothing was changed."),
        }
    }
    match refused.is_empty() {
        true => Ok(()),
        false => Err(AskError::Failed(incomplete(&refused))),
    }
}

fn write_all(changes: &[SettingsChange], goal: SetupGoal, screen: &Screen) -> Result<(), AskError> {
    for change in changes {
        write(change)?;
        screen.print(format!("Wrote {}", change.file.display()));
    }
    if goal == SetupGoal::Remove {
        for change in changes {
            setup::forget_backup(&change.file).map_err(failed)?;
        }
    }
    Ok(())
}

/// The error for files that could not be changed.
fn incomplete(refused: &[PathBuf]) -> String {
    let files: Vec<String> = refused.iter().map(|file| block(&file.to_string_lossy())).collect();
    format!("the setup is incomplete: correct {}, and repeat the command", files.join(", "))
}

/// The changes that are possible, and the files that cannot be changed.
struct PlannedChanges {
    changes: Vec<SettingsChange>,
    refused: Vec<PathBuf>,
}

/// Returns the planned changes. Prints, for each agent, whether its settings will be changed, and
/// why a file cannot be changed.
fn plan_changes(
    args: &cli::Setup,
    goal: SetupGoal,
    surroundings: &Surroundings<'_>,
    screen: &Screen,
) -> PlannedChanges {
    let mut changes = Vec::new();
    let mut refused: Vec<PathBuf> = Vec::new();
    let is_named = |name: &str| args.agent.iter().any(|named| named == name);
    for agent in AGENTS {
        let is_there = (agent.folder)(surroundings).is_dir();
        if !(is_named(agent.name) || args.agent.is_empty() && is_there) {
            continue;
        }
        let before = (changes.len(), refused.len());
        for change in setup::plan(agent, goal, surroundings) {
            match change {
                Ok(change) => changes.push(change),
                Err((file, error)) => {
                    let text = format!("{} is not changed: {error}", file.display());
                    screen.print(screen.bad(block(&text)));
                    refused.push(file);
                }
            }
        }
        let (is_changed, is_incomplete) = (changes.len() > before.0, refused.len() > before.1);
        let state = match (is_changed, is_incomplete) {
            (true, false) => "to be changed",
            (true, true) => "to be changed in part",
            (false, true) => "cannot be changed",
            (false, false) => "nothing to change",
        };
        screen.print(format!("{}: {state}", screen.bold(agent.title)));
        // The notes are about the complete setup.
        if is_changed && !is_incomplete && goal == SetupGoal::Install {
            let offer = agent.offer.filter(|_| surroundings.allow);
            [agent.note, offer]
                .into_iter()
                .flatten()
                .for_each(|note| screen.print(screen.dim(note)));
        }
    }
    PlannedChanges { changes, refused }
}

/// Shows a change of a file as a diff.
pub(super) fn show(change: &SettingsChange, screen: &Screen) {
    let old = change.before.as_deref().unwrap_or_default();
    let new = change.after.as_deref().unwrap_or_default();
    let what = match (&change.before, &change.after) {
        (None, _) => " (new)",
        (_, None) => " (removed, because it would be empty)",
        _ => "",
    };
    screen.print(format!("\n{}{what}  {}", change.file.display(), screen.dim(change.agent)));
    let diff = TextDiff::from_lines(old, new);
    for line in diff.unified_diff().context_radius(2).to_string().lines() {
        // The file may contain control characters, which must not reach the terminal.
        let clean = block(line);
        screen.print(match line.chars().next() {
            Some('+') => screen.good(clean),
            Some('-') => screen.bad(clean),
            _ => screen.dim(clean),
        });
    }
}

pub(super) fn write(change: &SettingsChange) -> Result<(), AskError> {
    setup::write(change).map_err(|error| AskError::NotWritten { path: change.file.clone(), error })
}

/// Asks the user whether `count` files may be changed. Returns whether the answer is yes.
pub(super) fn confirm_changes(count: usize) -> Result<bool, AskError> {
    if !io::stdin().is_terminal() {
        let what =
            "cannot ask without a terminal: run the command with --yes to make these changes";
        return Err(AskError::Failed(what.to_owned()));
    }
    let files = if count == 1 { "this file".to_owned() } else { format!("these {count} files") };
    ask_yes_no(&format!("\nChange {files}?"))
}

/// Asks a question on the terminal. Returns whether the answer is yes.
pub(super) fn ask_yes_no(question: &str) -> Result<bool, AskError> {
    // An error of standard output is ignored, and the answer is read nevertheless.
    let _ = write!(io::stdout().lock(), "{question} [y/N] ").and_then(|()| io::stdout().flush());
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

#[expect(clippy::needless_pass_by_value, reason = "map_err passes it by value")]
fn failed(error: io::Error) -> AskError {
    AskError::Failed(error.to_string())
}
