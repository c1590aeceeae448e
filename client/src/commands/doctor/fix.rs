//! Repairs the settings of agents that were set up by another version, or for a program that lies
//! elsewhere now. Agents that are not set up are left alone.

use super::look;
use crate::{
    cli,
    commands::setup::show,
    connection::AskError,
    screen::Screen,
    setup::{self, AGENTS, Wiring, Wish},
};

pub(super) fn run(args: &cli::Doctor, screen: &Screen) -> Result<(), AskError> {
    let surroundings = look::surroundings()?;
    let is_broken = |wiring: &Wiring| matches!(wiring, Wiring::Outdated | Wiring::OldHooks(_));
    let broken = AGENTS.iter().filter(|agent| is_broken(&setup::wiring(agent, &surroundings)));
    let changes = broken.flat_map(|agent| setup::plan(agent, Wish::Install, &surroundings));
    for change in changes.flatten() {
        if !args.output.json {
            show(&change, screen);
        }
        setup::write(&change).map_err(|error| {
            AskError::Failed(format!("cannot write {}: {error}", change.file.display()))
        })?;
        if !args.output.json {
            screen.print(format!("Wrote {}\n", change.file.display()));
        }
    }
    Ok(())
}
