//! `graphiti/stats`: returns the totals of the work of agents: sessions, time, changes, tokens and
//! costs.

use std::collections::BTreeMap;

use graphiti_proto::{
    methods::stats::{Stats, StatsGrouping, StatsRequest, StatsRow, StatsTable},
    rpc::Error,
};
use serde_json::Value;

use super::write;
use crate::{
    api::{
        DaemonState,
        agents::agent_argument,
        convert,
        errors::store_error,
        projects::{is_of_project, project_argument},
        tools,
    },
    clock,
    engine::{
        figures::{self, Prices, SessionFigures},
        model_queue::usage,
    },
    model::{
        Namespace, Timestamp,
        session::Session,
        token_use::{TokenUse, day_of},
        transcript::Tokens,
    },
    store::{Store, StoreError},
};

/// Maximum number of sessions in a table.
const MAX_SESSIONS: usize = 100;

pub(super) async fn stats(daemon: &DaemonState, request: StatsRequest) -> Result<Value, Error> {
    let project = project_argument(daemon, request.project.as_deref())?;
    let agent = agent_argument(daemon, request.agent.as_deref())?;
    let since = tools::date("since", request.since.as_deref())?;
    let since = since.map(|range| first_day(&clock::local(range.from)));
    let live = tools::list_sessions::live_sessions(daemon).await?;
    let store = daemon.engine.store().as_ref();
    let mut sessions = Vec::new();
    let visit = &mut |session: &Session| {
        let is_of_agent = agent.as_ref().is_none_or(|agent| session.id.agent == *agent);
        let is_late = since.is_none_or(|since| day_of(session.last_activity) >= since);
        let is_wanted = session.is_listed() && is_of_agent && is_late;
        if is_wanted && is_of_project(session, project.as_deref()) {
            sessions.push(session.clone());
        }
    };
    tools::visit_tracked(store, &live, visit).map_err(store_error)?;
    let mut sums = StatsTotals::new(daemon, &request.by, since.unwrap_or(i64::MIN));
    figures::visit(store, &sessions, &mut |session, figures| sums.add(session, figures))
        .map_err(store_error)?;
    let mut answer = sums.finish();
    answer.since = since.map(day_name).unwrap_or_default();
    for table in answer.tables.iter_mut().filter(|table| table.by == StatsGrouping::Session) {
        table.rows.truncate(MAX_SESSIONS);
        name_sessions(store, &sessions, &mut table.rows).map_err(store_error)?;
    }
    Ok(write(&answer))
}

/// Returns the first day of the period that begins at `from`, in days since 1970-01-01. The tokens
/// are counted for days in UTC. Therefore, a local day means the day with the same date in UTC.
fn first_day(from: &jiff::Zoned) -> i64 {
    let is_day = from.start_of_day().is_ok_and(|start| start == *from);
    let offset = if is_day { i64::from(from.offset().seconds()) } else { 0 };
    day_of(Timestamp::from_seconds(from.timestamp().as_second() + offset))
}

/// Replaces the keys of sessions by their short ids, and adds their titles.
fn name_sessions(
    store: &dyn Store,
    sessions: &[Session],
    rows: &mut [StatsRow],
) -> Result<(), StoreError> {
    let by_key: BTreeMap<String, &Session> =
        sessions.iter().map(|session| (session.key.0.to_string(), session)).collect();
    for row in rows {
        let Some(session) = by_key.get(&row.name) else { continue };
        let shown = convert::session_row(store, session)?;
        (row.name, row.title) = (shown.short_id, shown.title);
    }
    Ok(())
}

/// Collects the rows of the tables, session by session.
struct StatsTotals<'d> {
    daemon: &'d DaemonState,
    /// The first day whose tokens are counted. All other figures are for the whole session.
    since: i64,
    total: StatsRow,
    tables: Vec<(StatsGrouping, BTreeMap<String, StatsRow>)>,
    /// For each project, the name of its row (a path).
    paths: BTreeMap<Namespace, String>,
    prices: Prices,
}

impl<'d> StatsTotals<'d> {
    fn new(daemon: &'d DaemonState, by: &[StatsGrouping], since: i64) -> StatsTotals<'d> {
        StatsTotals {
            daemon,
            since,
            total: StatsRow::default(),
            tables: by.iter().map(|by| (*by, BTreeMap::new())).collect(),
            paths: BTreeMap::new(),
            prices: Prices::default(),
        }
    }

    fn add(&mut self, session: &Session, figures: &SessionFigures) {
        let without_tokens = StatsRow {
            sessions: 1,
            seconds: figures.seconds,
            files: u64::from(figures.files),
            tests: u64::from(figures.tests),
            errors: u64::from(figures.errors),
            ..StatsRow::default()
        };
        let mut work = without_tokens.clone();
        let project = self.project(session);
        let mut used_models: Vec<&str> = Vec::new();
        let since = self.since;
        for one in figures.tokens.iter().filter(|one| one.day >= since) {
            let token_row = self.token_row(one);
            plus(&mut work, &token_row);
            let is_new = !used_models.contains(&one.model.as_str());
            used_models.push(&one.model);
            for (by, rows) in &mut self.tables {
                match by {
                    StatsGrouping::Day => plus(row(rows, &day_name(one.day)), &token_row),
                    StatsGrouping::Model => {
                        let row = row(rows, model_name(&one.model));
                        plus(row, &token_row);
                        row.sessions += u64::from(is_new);
                    }
                    StatsGrouping::Project | StatsGrouping::Agent | StatsGrouping::Session => {}
                }
            }
        }
        plus(&mut self.total, &work);
        for (by, rows) in &mut self.tables {
            match by {
                StatsGrouping::Day => {
                    let day = day_name(day_of(session.last_activity));
                    plus(row(rows, &day), &without_tokens);
                }
                StatsGrouping::Project => plus(row(rows, &project), &work),
                StatsGrouping::Agent => plus(row(rows, &session.id.agent), &work),
                StatsGrouping::Session => plus(row(rows, &session.key.0.to_string()), &work),
                StatsGrouping::Model => {}
            }
        }
    }

    /// Returns the name of the row of a session's project: a path, or an empty text for a session
    /// without a project.
    fn project(&mut self, session: &Session) -> String {
        let Some(project) = &session.project else { return String::new() };
        let path = || {
            let projects = self.daemon.engine.projects();
            let members = projects.of_namespace(project.namespace());
            let known = members.into_iter().find_map(|member| projects.path(member));
            known.unwrap_or_else(|| project.path().to_owned())
        };
        self.paths.entry(project.namespace()).or_insert_with(path).clone()
    }

    fn token_row(&mut self, one: &TokenUse) -> StatsRow {
        let Tokens { input, output, cache_read, cache_write } = one.tokens;
        let mut row = StatsRow {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            ..StatsRow::default()
        };
        match self.prices.usd(one) {
            Some(usd) => row.usd = usd,
            None => row.unpriced_tokens = row.tokens(),
        }
        row
    }

    fn finish(self) -> Stats {
        let tables = self.tables.into_iter().map(|(by, rows)| {
            let mut rows: Vec<StatsRow> = rows.into_values().collect();
            match by {
                StatsGrouping::Day => {}
                StatsGrouping::Project | StatsGrouping::Agent => {
                    rows.sort_by_key(|row| std::cmp::Reverse((row.seconds, row.sessions)));
                }
                StatsGrouping::Model | StatsGrouping::Session => {
                    rows.sort_by(|a, b| b.usd.total_cmp(&a.usd).then(b.tokens().cmp(&a.tokens())));
                }
            }
            StatsTable { by, rows }
        });
        Stats {
            total: self.total,
            tables: tables.collect(),
            prices: Prices::origin(),
            since: String::new(),
        }
    }
}

fn row<'r>(rows: &'r mut BTreeMap<String, StatsRow>, name: &str) -> &'r mut StatsRow {
    let new = || StatsRow { name: name.to_owned(), ..StatsRow::default() };
    rows.entry(name.to_owned()).or_insert_with(new)
}

fn plus(row: &mut StatsRow, more: &StatsRow) {
    row.sessions += more.sessions;
    row.seconds += more.seconds;
    row.files += more.files;
    row.tests += more.tests;
    row.errors += more.errors;
    row.input_tokens += more.input_tokens;
    row.output_tokens += more.output_tokens;
    row.cache_read_tokens += more.cache_read_tokens;
    row.cache_write_tokens += more.cache_write_tokens;
    row.usd += more.usd;
    row.unpriced_tokens += more.unpriced_tokens;
}

fn model_name(model: &str) -> &str {
    if model.is_empty() { "unknown" } else { model }
}

/// Formats a day: `2026-03-01`.
fn day_name(day: i64) -> String {
    usage::start_of_day(day).to_string().chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use jiff::{
        civil::date,
        tz::{TimeZone, offset},
    };

    use super::*;

    #[test]
    fn a_local_day_means_the_day_with_the_same_date_in_utc() {
        for hours in [-10, -1, 0, 1, 13] {
            let zone = TimeZone::fixed(offset(hours));
            let day = date(2026, 11, 22).to_zoned(zone).unwrap();
            assert_eq!(day_name(first_day(&day)), "2026-11-22", "{hours}");
        }
    }

    #[test]
    fn an_instant_means_its_day_in_utc() {
        let instant = "2026-11-21T23:30:00Z".parse::<jiff::Timestamp>().unwrap();
        let local = instant.to_zoned(TimeZone::fixed(offset(2)));
        assert_eq!(day_name(first_day(&local)), "2026-11-21");
    }
}
