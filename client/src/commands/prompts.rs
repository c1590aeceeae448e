//! `graphiti prompts`: lists, prints and checks the templates of prompts.

use std::path::Path;

use graphiti_proto::methods::models::{PROMPTS, PromptRow, Prompts, Templates};

use crate::{
    cli::{self, PromptsCommand},
    connection::{AskError, Connection},
    files,
    screen::{Align, Column, Screen, TextTable, block, line},
};

pub(super) fn run(args: cli::Prompts, screen: &Screen) -> Result<(), AskError> {
    match args.command {
        PromptsCommand::List(output) => {
            let prompts = ask(None, None)?;
            if output.json {
                screen.print_json(&prompts);
            } else {
                print(&prompts, screen);
            }
        }
        PromptsCommand::Show { kind } => {
            for prompt in ask(Some(kind), None)? {
                screen.print(block(prompt.text.trim_end()));
            }
        }
        PromptsCommand::Check { file: None, kind } => check(&ask(kind, None)?, screen)?,
        PromptsCommand::Check { file: Some(file), kind } => {
            let text = files::read_text(&file);
            let text = text.map_err(|error| AskError::file(&file, &error))?;
            check(&ask(Some(kind.unwrap_or_else(|| name(&file))), Some(text))?, screen)?;
        }
    }
    Ok(())
}

fn ask(kind: Option<String>, check: Option<String>) -> Result<Vec<PromptRow>, AskError> {
    let directory = std::env::current_dir().ok();
    let project = directory.map(|directory| directory.to_string_lossy().into_owned());
    let templates: Templates =
        Connection::open()?.ask(PROMPTS, &Prompts { project, kind, check })?;
    Ok(templates.prompts)
}

fn print(prompts: &[PromptRow], screen: &Screen) {
    let mut table = TextTable::new(vec![
        Column::new("PROMPT", Align::Left),
        Column::new("STATE", Align::Left),
        Column::flexible("FROM", 20),
    ]);
    for prompt in prompts {
        let state =
            if prompt.problems.is_empty() { "ok" } else { "invalid: see graphiti prompts check" };
        table.row().cell(line(&prompt.kind)).cell(state).cell(line(&prompt.origin));
    }
    screen.print_table(&table);
}

/// Prints the problems of prompts. Fails if there are any, so that scripts can check the exit code.
fn check(prompts: &[PromptRow], screen: &Screen) -> Result<(), AskError> {
    let mut wrong = 0;
    for prompt in prompts {
        if prompt.problems.is_empty() {
            screen.print(format!("{} {}", screen.good("ok"), line(&prompt.kind)));
        }
        for problem in &prompt.problems {
            wrong += 1;
            screen.print(format!("{} {}: {}", screen.bad("!"), line(&prompt.kind), line(problem)));
        }
    }
    match wrong {
        0 => Ok(()),
        1 => Err(AskError::InvalidInput("1 problem found".to_owned())),
        _ => Err(AskError::InvalidInput(format!("{wrong} problems found"))),
    }
}

/// Returns the name of the prompt in a file: the name of the file without its extension.
fn name(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
