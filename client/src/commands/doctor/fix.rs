//! Repairs our entries in the user's settings of agents if the entries are incomplete, come from
//! another version of graphiti, or run the program at another path. Repairs the settings of the
//! project in this directory only if they contain hooks of an old form. Does not set up further
//! agents.

use super::look;
use crate::{
    cli,
    commands::setup::{show, write},
    connection::AskError,
    screen::Screen,
    setup::{self, AGENTS, SettingsChange, SetupGoal, Surroundings, Wiring},
};

pub(super) fn run(args: &cli::Doctor, screen: &Screen) -> Result<(), AskError> {
    for change in changes()? {
        write(&change)?;
        if !args.output.json {
            show(&change, screen);
            screen.print(format!("Wrote {}\n", change.file.display()));
        }
    }
    Ok(())
}

fn changes() -> Result<Vec<SettingsChange>, AskError> {
    let surroundings = Surroundings::of_user()?;
    let here = look::here(&surroundings);
    let mut changes = Vec::new();
    for agent in AGENTS {
        let is_outdated = setup::wiring(agent, &surroundings) == Wiring::Outdated;
        if is_outdated || setup::old_hooks(agent, &surroundings).is_some() {
            changes.extend(
                setup::plan(agent, SetupGoal::Install, &surroundings).into_iter().flatten(),
            );
        }
        if setup::old_hooks(agent, &here).is_some() {
            // In the user's home directory, the project's settings are the user's settings.
            let is_new =
                |change: &SettingsChange| changes.iter().all(|other| other.file != change.file);
            let planned = setup::plan(agent, SetupGoal::Install, &here).into_iter().flatten();
            let planned = planned.filter(|change| change.before.is_some() && is_new(change));
            changes.extend(planned.collect::<Vec<SettingsChange>>());
        }
    }
    Ok(changes)
}
