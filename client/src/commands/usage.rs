//! `graphiti usage`: prints the calls, tokens and cost of model requests, and how many of the
//! offered handoff lines and search hits were used by sessions.

use graphiti_proto::methods::models::{USAGE, UsageReport, UsageRequest, UsageRow};

use super::status::number;
use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Align, Column, Screen, TextTable, line},
};

pub(super) fn run(args: &cli::UsageOptions, screen: &Screen) -> Result<(), AskError> {
    if args.agents {
        return super::stats::usage(args, screen);
    }
    let used: UsageReport = Connection::open()?.ask(USAGE, &UsageRequest { days: args.days })?;
    if args.output.json {
        screen.print_json(&used);
        return Ok(());
    }
    if let Some(outage) = &used.outage {
        screen.print(screen.warn(format!("No model is called at present: {}", line(outage))));
    }
    if used.rows.is_empty() {
        screen.print("No model was called in this time.");
        print_prices(&used, screen);
        print_memory(&used, screen);
        return Ok(());
    }
    let mut table = TextTable::new(vec![
        Column::new("DAY", Align::Left),
        Column::new("PROJECT", Align::Left),
        Column::new("FOR", Align::Left),
        Column::new("ANSWERED", Align::Right),
        Column::new("FAILED", Align::Right),
        Column::new("CALLS", Align::Right),
        Column::new("TOKENS IN", Align::Right),
        Column::new("OUT", Align::Right),
        Column::new("COST", Align::Right),
        saved_column(screen),
    ]);
    for row in &used.rows {
        table
            .row()
            .cell(line(&row.day))
            .cell(if row.project.is_empty() { "-".to_owned() } else { line(&row.project) })
            .cell(line(&row.purpose.replace('_', " ")))
            .cell(number(row.answered))
            .cell(number(row.failed))
            .cell(number(row.calls))
            .cell(number(row.input_tokens))
            .cell(number(row.output_tokens))
            .cell(cost(std::slice::from_ref(row)))
            .cell(saved(row));
    }
    screen.print_table(&table);
    let calls: u64 = used.rows.iter().map(|row| row.calls).sum();
    let saved: u64 = used.rows.iter().map(avoided_requests).sum();
    screen.print(format!(
        "{} calls, {}; {} requests were avoided",
        number(calls),
        cost(&used.rows),
        number(saved)
    ));
    print_prices(&used, screen);
    print_memory(&used, screen);
    Ok(())
}

/// Returns the last column, which is cut only on a terminal.
fn saved_column(screen: &Screen) -> Column {
    match screen.is_terminal() {
        true => Column::flexible("SAVED", 9),
        false => Column::new("SAVED", Align::Left),
    }
}

/// Prints how many of the offered handoff lines and search hits were used by sessions.
fn print_memory(used: &UsageReport, screen: &Screen) {
    if used.memory.is_empty() {
        return;
    }
    let mut table = TextTable::new(vec![
        Column::new("OFFERED TO SESSIONS", Align::Left),
        Column::new("LINES", Align::Right),
        Column::new("USED", Align::Right),
        Column::new("SHARE", Align::Right),
    ]);
    for row in &used.memory {
        let share = row.used * 100 / row.offered.max(1);
        table
            .row()
            .cell(line(&row.topic))
            .cell(number(row.offered))
            .cell(number(row.used))
            .cell(format!("{share} %"));
    }
    screen.print("");
    screen.print(
        "Handoff lines and search hits that sessions got, on all days, and how many they used:",
    );
    screen.print_table(&table);
}

fn print_prices(used: &UsageReport, screen: &Screen) {
    if !used.model.is_empty() {
        let text = format!("Prices of {}: {}", line(&used.model), line(&used.prices));
        screen.print(screen.dim(&text));
    }
}

/// Formats the sum of the costs, with `+?` if the price of a request is unknown.
fn cost(rows: &[UsageRow]) -> String {
    let usd = rows.iter().map(|row| row.usd).sum();
    let unknown = if rows.iter().any(|row| row.unpriced > 0) { "+?" } else { "" };
    format!("{}{unknown}", dollars(usd))
}

fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.1 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

fn avoided_requests(row: &UsageRow) -> u64 {
    let saved = &row.saved;
    saved.unchanged + saved.kept + saved.recaps + saved.known
}

fn saved(row: &UsageRow) -> String {
    let saved = &row.saved;
    let counts = [
        (saved.unchanged, "unchanged"),
        (saved.kept, "cached"),
        (saved.recaps, "summarised by the agent"),
        (saved.known, "answered by rules"),
    ];
    let counts = counts.into_iter().chain([(row.saved_tokens, "tokens saved")]);
    let parts: Vec<String> = counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{} {why}", number(count)))
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cost_is_marked_in_the_sum() {
        let row = |usd, unpriced| UsageRow { usd, unpriced, ..UsageRow::default() };
        let (free, paid, unknown) = (row(0.0, 0), row(1.5, 0), row(0.0, 3));
        for (rows, shown) in [
            (vec![free.clone(), paid.clone()], "$1.50"),
            (vec![free], "$0.00"),
            (vec![unknown.clone()], "$0.00+?"),
            (vec![paid, unknown], "$1.50+?"),
        ] {
            assert_eq!(cost(&rows), shown);
        }
    }
}
