//! `graphiti tools`: lists, changes, exports and imports the classifications of tools.

use graphiti_proto::methods::models::{TOOLS, ToolKnowledge, ToolRow, Tools};

use crate::{
    cli::{self, ToolsCommand},
    connection::{AskError, Connection},
    files,
    screen::{Align, Column, Screen, TextTable, line},
};

pub(super) fn run(args: cli::Tools, screen: &Screen) -> Result<(), AskError> {
    let ask = |tools: &Tools| -> Result<ToolKnowledge, AskError> {
        Connection::open()?.ask(TOOLS, tools)
    };
    match args.command {
        ToolsCommand::List(output) => {
            let known = ask(&Tools::List)?;
            if output.json {
                screen.print_json(&known.tools);
            } else if known.tools.is_empty() {
                screen.print(
                    "No tool was classified by a model or by you; built-in rules classify common tools.",
                );
            } else {
                print(&known.tools, screen);
            }
        }
        ToolsCommand::Set { tool, intent, domain } => {
            let text =
                format!("From now on, {tool} has the intent {intent} and the domain {domain}.");
            ask(&Tools::Set { tool, intent, domain })?;
            screen.print(line(&text));
        }
        ToolsCommand::Unset { tool } => {
            ask(&Tools::Unset { tool: tool.clone() })?;
            screen.print(format!("Your classification of {} was removed.", line(&tool)));
        }
        ToolsCommand::Export => {
            let document = ask(&Tools::Export)?.document.unwrap_or_default();
            screen.print_json(&document);
        }
        ToolsCommand::Import { file } => {
            let text = files::read_text(&file);
            let text = text.map_err(|error| AskError::file(&file, &error))?;
            let document =
                serde_json::from_str(&text).map_err(|error| AskError::file(&file, &error))?;
            let known = ask(&Tools::Import { document })?;
            let (taken, there, unreadable) = (known.taken, known.known, known.unreadable);
            screen.print(format!(
                "{taken} entries imported, {there} skipped (known already, covered by built-in rules, or the cache is full), {unreadable} not readable."
            ));
        }
    }
    Ok(())
}

fn print(tools: &[ToolRow], screen: &Screen) {
    let mut table = TextTable::new(vec![
        Column::flexible("TOOL", 20),
        Column::new("INTENT", Align::Left),
        Column::new("DOMAIN", Align::Left),
        Column::new("CONFIDENCE", Align::Right),
        Column::new("BY", Align::Left),
    ]);
    for tool in tools {
        table
            .row()
            .cell(line(&tool.tool))
            .cell(line(&tool.intent))
            .cell(line(&tool.domain))
            .cell(format!("{:.0}%", tool.confidence * 100.0))
            .cell(line(&tool.by));
    }
    screen.print_table(&table);
}
