//! `graphiti setup embeddings`: installs or removes a model for semantic search.

use graphiti_proto::endpoint;

use super::setup::{confirm_changes, show, write};
use crate::{
    cli,
    connection::AskError,
    screen::Screen,
    setup::{self, EditError},
};

pub(super) fn run(args: &cli::SetupEmbeddings, screen: &Screen) -> Result<(), AskError> {
    let home = endpoint::home().ok_or(AskError::NoHome)?;
    let failed = |error: std::io::Error| AskError::Failed(error.to_string());
    let model = match &args.folder {
        Some(folder) => {
            Some((folder, setup::target_folder(folder, &home).map_err(AskError::Failed)?))
        }
        None => None,
    };
    let place = model.as_ref().map(|(_, place)| place.as_path());
    let change = setup::settings(&home, place).map_err(|error: EditError| {
        AskError::Failed(format!("graphiti.config.json is unchanged: {error}"))
    })?;
    if let Some((folder, place)) = &model {
        screen.print(format!(
            "The model in {} will be copied to {}",
            folder.display(),
            place.display()
        ));
    }
    let is_changed = change.before != change.after;
    if is_changed {
        show(&change, screen);
    }
    if args.dry_run || (is_changed && !args.yes && !confirm_changes(1)?) {
        screen.print("Nothing was changed.");
        return Ok(());
    }
    match &model {
        Some((folder, place)) => setup::install_model(folder, place).map_err(failed)?,
        None => setup::remove(&home).map_err(failed)?,
    }
    if is_changed {
        write(&change)?;
        screen.print(format!("Wrote {}", change.file.display()));
    }
    screen.print(match model.is_some() {
        true => {
            "Run `graphiti reload` to enable semantic search; `graphiti status` shows the progress."
        }
        false => "Run `graphiti reload` to disable semantic search.",
    });
    Ok(())
}
