//! `graphiti stats` and `graphiti usage --agents`: the work of agents in numbers.

mod chart;

use std::time::Duration;

use graphiti_proto::methods::stats::{STATS, Stats, StatsGrouping, StatsRequest, StatsRow};
use jiff::civil::Date;

use self::chart::Bars;
use super::{counted, status::number};
use crate::{
    cli::{self, StatsBy},
    connection::{AskError, Connection},
    screen::{Align, Column, Screen, TextTable, line, span},
};

/// Default number of days, including today.
const DAYS: u32 = 30;
/// The earliest day that the daemon accepts.
const EARLIEST_DAY: Date = Date::constant(1990, 1, 1);
/// Maximum number of directories in the short name of a project. If more are needed to distinguish
/// the project from others, the whole path is shown.
const DIRECTORIES: usize = 4;
/// Maximum number of sessions in a table.
const SESSIONS: usize = 20;

pub(super) fn run(args: cli::StatsOptions, screen: &Screen) -> Result<(), AskError> {
    let by = match args.by {
        Some(StatsBy::Day) => vec![StatsGrouping::Day],
        Some(StatsBy::Project) => vec![StatsGrouping::Project],
        Some(StatsBy::Agent) => vec![StatsGrouping::Agent],
        None if args.svg => vec![StatsGrouping::Day],
        None => vec![StatsGrouping::Day, StatsGrouping::Project, StatsGrouping::Agent],
    };
    let request = StatsRequest {
        project: super::project(args.project),
        agent: args.agent,
        since: since(args.since),
        by,
    };
    let stats: Stats = Connection::open_for_work()?.ask(STATS, &request)?;
    if args.output.json {
        screen.print_json(&stats);
        return Ok(());
    }
    if args.svg {
        let table = stats.tables.first().map(|table| table.rows.as_slice()).unwrap_or_default();
        screen.print(chart::svg(&heading(&stats), table));
        return Ok(());
    }
    screen.print(screen.bold(heading(&stats)));
    if stats.total.sessions == 0 {
        let hint = if stats.since.is_empty() { "" } else { " --since all includes all days." };
        screen.print(format!("No sessions.{hint}"));
        return Ok(());
    }
    for table in &stats.tables {
        screen.print("");
        print_work(table.by, &table.rows, screen);
    }
    screen.print("");
    screen.print_wrapped(&sum(&stats.total), 2);
    print_prices(&stats, screen);
    Ok(())
}

/// Shows the tokens and the cost of agents: `graphiti usage --agents`.
pub(super) fn usage(args: &cli::UsageOptions, screen: &Screen) -> Result<(), AskError> {
    let request = StatsRequest {
        since: Some(first_day(today(), args.days)),
        by: vec![
            StatsGrouping::Day,
            StatsGrouping::Model,
            StatsGrouping::Project,
            StatsGrouping::Session,
        ],
        ..StatsRequest::default()
    };
    let mut connection = Connection::open_for_work()?;
    let stats: Stats = connection.ask(STATS, &request)?;
    if args.output.json {
        screen.print_json(&stats);
        return Ok(());
    }
    screen.print(screen.bold(format!("Tokens of agents since {}", line(&stats.since))));
    for table in &stats.tables {
        let rows: Vec<&StatsRow> = table.rows.iter().filter(|row| row.tokens() > 0).collect();
        if !rows.is_empty() {
            screen.print("");
            print_tokens(table.by, &rows, screen);
        }
    }
    screen.print("");
    if stats.total.tokens() == 0 {
        let all: Stats = connection.ask(STATS, &StatsRequest::default())?;
        screen.print(without_tokens(all.total.tokens() > 0));
        return Ok(());
    }
    screen.print_wrapped(&token_sum(&stats.total), 2);
    print_prices(&stats, screen);
    Ok(())
}

/// Explains that no session reported tokens in the chosen time.
fn without_tokens(older_sessions_did: bool) -> &'static str {
    match older_sessions_did {
        false => "No session reported tokens.",
        true => {
            "No session reported tokens in this time, but older sessions did. A higher number of `--days` includes them."
        }
    }
}

/// Returns the first day to count, by default the first of the last [`DAYS`] days; `None` for all
/// days.
fn since(given: Option<String>) -> Option<String> {
    match given.as_deref() {
        Some("all") => None,
        Some(_) => given,
        None => Some(first_day(today(), DAYS)),
    }
}

fn today() -> Date {
    jiff::Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).date()
}

/// Returns the first of the last `days` days, but no day before [`EARLIEST_DAY`].
fn first_day(today: Date, days: u32) -> String {
    let before = jiff::Span::new().try_days(i64::from(days.max(1)) - 1);
    let first = before.map_or(EARLIEST_DAY, |before| today.saturating_sub(before));
    first.max(EARLIEST_DAY).to_string()
}

fn heading(stats: &Stats) -> String {
    match stats.since.as_str() {
        "" => "Work of agents".to_owned(),
        since => format!("Work of agents since {}", line(since)),
    }
}

fn print_work(by: StatsGrouping, rows: &[StatsRow], screen: &Screen) {
    let bars = Bars::new(rows.iter().map(|row| row.seconds), screen.width());
    let names = names(by, &rows.iter());
    let mut table = TextTable::new(vec![
        Column::wanted(title(by), 32, 10),
        Column::new("SESSIONS", Align::Right),
        Column::new("TIME", Align::Right),
        Column::new("FILES", Align::Right),
        Column::new("TESTS", Align::Right),
        Column::new("ERRORS", Align::Right),
        Column::new("COST", Align::Right),
        Column::optional("", Align::Left),
    ]);
    for (row, name) in rows.iter().zip(names) {
        let bar = bars.bar(row.seconds);
        let styling = screen.accent("x");
        table
            .row()
            .cell(name)
            .cell(number(row.sessions))
            .cell(time(row))
            .cell(number(row.files))
            .cell(number(row.tests))
            .cell(number(row.errors))
            .cell(cost(row))
            .styled(bar, Box::new(move |text| styling.replacen('x', text, 1)));
    }
    screen.print_table(&table);
}

fn print_tokens(by: StatsGrouping, rows: &[&StatsRow], screen: &Screen) {
    let last = match by {
        StatsGrouping::Session => Column::wanted("TITLE", 24, 8),
        _ => Column::optional("", Align::Left),
    };
    let mut table = TextTable::new(vec![
        Column::wanted(title(by), 32, 10),
        Column::new("IN", Align::Right),
        Column::new("CACHE READ", Align::Right),
        Column::new("CACHE WRITE", Align::Right),
        Column::new("OUT", Align::Right),
        Column::new("COST", Align::Right),
        last,
    ]);
    let bars = Bars::new(rows.iter().map(|row| row.tokens()), screen.width());
    let names = names(by, &rows.iter().copied());
    let limit = if by == StatsGrouping::Session { SESSIONS } else { usize::MAX };
    for (row, name) in rows.iter().zip(names).take(limit) {
        let last = match by {
            StatsGrouping::Session => line(&row.title),
            _ => bars.bar(row.tokens()),
        };
        table
            .row()
            .cell(name)
            .cell(number(row.input_tokens))
            .cell(number(row.cache_read_tokens))
            .cell(number(row.cache_write_tokens))
            .cell(number(row.output_tokens))
            .cell(cost(row))
            .cell(last);
    }
    screen.print_table(&table);
}

fn print_prices(stats: &Stats, screen: &Screen) {
    let unpriced = match stats.total.unpriced_tokens {
        0 => String::new(),
        tokens => {
            let tokens = number(tokens);
            format!("; {tokens} tokens of unknown price are not included in costs with `?`")
        }
    };
    let text = format!("Prices {}{unpriced}", line(&stats.prices));
    screen.print_wrapped(&screen.dim(text), 2);
}

fn title(by: StatsGrouping) -> &'static str {
    match by {
        StatsGrouping::Day => "DAY",
        StatsGrouping::Project => "PROJECT",
        StatsGrouping::Agent => "AGENT",
        StatsGrouping::Model => "MODEL",
        StatsGrouping::Session => "SESSION",
    }
}

/// Returns the names of rows. The name of a project consists of the last directories of its path:
/// the smallest number that distinguishes the project from the others.
fn names<'r>(
    by: StatsGrouping,
    rows: &(impl Iterator<Item = &'r StatsRow> + Clone),
) -> Vec<String> {
    let end = |name: &str, count: usize| {
        let parts: Vec<&str> = name.rsplit('/').take(count).collect();
        parts.into_iter().rev().collect::<Vec<_>>().join("/")
    };
    let is_alone = |shown: &str, count: usize| {
        rows.clone().filter(|row| end(&row.name, count) == shown).take(2).count() < 2
    };
    let name = |row: &StatsRow| {
        let mut ends = (1..=DIRECTORIES).map(|count| (count, end(&row.name, count)));
        let shown = match by {
            StatsGrouping::Project => ends.find(|(count, shown)| is_alone(shown, *count)),
            _ => None,
        };
        let shown = shown.map_or_else(|| row.name.clone(), |(_, shown)| shown);
        if shown.is_empty() { "-".to_owned() } else { line(&shown) }
    };
    rows.clone().map(name).collect()
}

fn time(row: &StatsRow) -> String {
    // Hours are clearer than days of 24 hours for work.
    match row.seconds / 3_600 {
        // Less than a second, or an imported session, whose time is not known.
        0 if row.seconds == 0 => "-".to_owned(),
        0 => span(Duration::from_secs(row.seconds)),
        hours => format!("{} h {:02} min", number(hours), row.seconds / 60 % 60),
    }
}

fn cost(row: &StatsRow) -> String {
    let unknown = if row.unpriced_tokens > 0 { "+?" } else { "" };
    match (row.usd > 0.0, row.unpriced_tokens > 0) {
        (false, true) => "?".to_owned(),
        (false, false) => "-".to_owned(),
        (true, _) => format!("${:.2}{unknown}", row.usd),
    }
}

fn sum(total: &StatsRow) -> String {
    format!(
        "{}, {}, {}, {}, {}, {}",
        counted(total.sessions, "session", "sessions"),
        time(total),
        counted(total.files, "file", "files"),
        counted(total.tests, "test run", "test runs"),
        counted(total.errors, "error", "errors"),
        cost(total)
    )
}

fn token_sum(total: &StatsRow) -> String {
    format!(
        "{} in, {} read from caches, {} written to caches, {} out, {}",
        number(total.input_tokens),
        number(total.cache_read_tokens),
        number(total.cache_write_tokens),
        number(total.output_tokens),
        cost(total)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cost_is_marked() {
        let row = |usd, unpriced_tokens| StatsRow { usd, unpriced_tokens, ..StatsRow::default() };
        for (usd, unpriced, shown) in
            [(0.0, 0, "-"), (0.0, 7, "?"), (1.234, 0, "$1.23"), (1.0, 7, "$1.00+?")]
        {
            assert_eq!(cost(&row(usd, unpriced)), shown);
        }
    }

    #[test]
    fn projects_with_the_same_name_are_distinguished() {
        let row = |name: &str| StatsRow { name: name.to_owned(), ..StatsRow::default() };
        let rows = ["/a/cli", "/b/x/cli", "/c/x/cli", "/d/web", ""].map(row);
        assert_eq!(
            names(StatsGrouping::Project, &rows.iter()),
            ["a/cli", "b/x/cli", "c/x/cli", "web", "-"]
        );
        assert_eq!(names(StatsGrouping::Model, &rows[..1].iter()), ["/a/cli"]);
    }

    #[test]
    fn a_time_without_tokens_is_explained() {
        assert_eq!(without_tokens(false), "No session reported tokens.");
        assert!(without_tokens(true).contains("older sessions did"));
    }

    #[test]
    fn any_number_of_days_has_a_first_day() {
        let today = jiff::civil::date(2026, 3, 2);
        for (days, first) in [
            (0, "2026-03-02"),
            (1, "2026-03-02"),
            (2, "2026-03-01"),
            (9_999_999, "1990-01-01"),
            (u32::MAX, "1990-01-01"),
        ] {
            assert_eq!(first_day(today, days), first);
        }
    }

    #[test]
    fn time_is_shown_in_hours() {
        for (seconds, shown) in [(0, "-"), (59, "59 s"), (600, "10 min"), (90_000, "25 h 00 min")] {
            assert_eq!(time(&StatsRow { seconds, ..StatsRow::default() }), shown);
        }
    }

    #[test]
    fn tables_fit_narrow_screens() {
        let row = StatsRow {
            name: "/home/ann/a-project-with-a-long-name".to_owned(),
            sessions: 1_234,
            seconds: 400_000,
            files: 12_345,
            tests: 5_432,
            errors: 5_432,
            usd: 1_234.5,
            unpriced_tokens: 5,
            input_tokens: 123_456_789,
            output_tokens: 123_456_789,
            cache_read_tokens: 1_234_567_890,
            cache_write_tokens: 123_456_789,
            ..StatsRow::default()
        };
        for width in [80, 120] {
            let screen = Screen::of_test(width);
            let lines = screen.captured(width, |screen| {
                print_work(StatsGrouping::Project, std::slice::from_ref(&row), screen);
                print_tokens(StatsGrouping::Project, &[&row], screen);
            });
            assert_eq!(lines.len(), 4, "{lines:#?}");
        }
    }
}
