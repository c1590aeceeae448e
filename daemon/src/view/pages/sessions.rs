//! The list of sessions, filtered by project, agent, outcome and day.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::{Query, State};
use graphiti_proto::tools::SessionRow;
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    PageAnswer,
    parts::{address, day_heading, project_name, session_row, text},
};
use crate::{
    api::{DaemonState, in_process},
    model::{Namespace, SessionKey},
    view::{
        catalogue::CatalogueEntry,
        dates::day_of,
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

/// Maximum number of sessions on a page.
const PAGE: usize = 100;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct SessionFilter {
    project: String,
    agent: String,
    outcome: String,
    day: String,
    offset: usize,
}

pub(in crate::view) async fn list(
    State(view): State<SharedView>,
    Query(filter): Query<SessionFilter>,
) -> PageAnswer {
    let daemon = view.daemon()?;
    let entries = view.catalogue.entries(&daemon).await?;
    let projects = in_process::project_argument(&daemon, Some(&filter.project))?;
    let found: Vec<SessionKey> = entries
        .iter()
        .filter(|entry| filter.matches(entry, projects.as_deref()))
        .map(|entry| entry.key)
        .collect();
    let keys: Vec<SessionKey> = found.iter().skip(filter.offset).take(PAGE).copied().collect();
    let rows = in_process::session_rows(&daemon, &keys).await?;
    let next = filter.offset + PAGE;
    let next = (next < found.len()).then_some(next);
    let body = html! {
        h1 { (T.sessions) " " span .count { (found.len()) } }
        (filter.form(&daemon, &entries))
        div #session-list data-live="" { (by_day(&rows, filter.address(next).as_deref())) }
    };
    Ok(ViewPage::new(T.sessions, NavItem::Sessions, body))
}

impl SessionFilter {
    fn matches(&self, entry: &CatalogueEntry, projects: Option<&[Namespace]>) -> bool {
        let is_of_project =
            |wanted: &[Namespace]| entry.project.is_some_and(|one| wanted.contains(&one));
        let outcome = entry.outcome.map_or("none", |outcome| outcome.as_str());
        projects.is_none_or(is_of_project)
            && (self.agent.is_empty() || *entry.agent == *self.agent)
            && (self.outcome.is_empty() || outcome == self.outcome)
            && (self.day.is_empty() || self.day.parse().ok() == Some(day_of(entry.last_activity)))
    }

    /// Returns the address of the page that begins at `offset`.
    fn address(&self, offset: Option<usize>) -> Option<String> {
        let offset = offset?.to_string();
        let given = [
            ("project", self.project.as_str()),
            ("agent", &self.agent),
            ("outcome", &self.outcome),
            ("day", &self.day),
            ("offset", &offset),
        ];
        Some(address("sessions", &given))
    }

    fn form(&self, daemon: &DaemonState, entries: &[CatalogueEntry]) -> Markup {
        let agents: BTreeSet<&str> = entries.iter().map(|entry| &*entry.agent).collect();
        html! {
            form .filters action="sessions" data-filter="" {
                (choice("project", T.project, &self.project, &project_names(daemon, entries)))
                (choice("agent", T.agent, &self.agent, &agents.into_iter().map(with_own_name).collect::<Vec<_>>()))
                (choice("outcome", T.outcome, &self.outcome, &outcomes()))
                label { (T.day) " " input type="date" name="day" value=(self.day); }
                button { (T.show) }
                @if self.is_set() { a href="sessions" { (T.all) } }
            }
        }
    }

    fn is_set(&self) -> bool {
        [&self.project, &self.agent, &self.outcome, &self.day].iter().any(|value| !value.is_empty())
    }
}

/// A value of a filter, and its name for the user.
type NamedValue = (String, String);

fn with_own_name(value: &str) -> NamedValue {
    (value.to_owned(), value.to_owned())
}

fn outcomes() -> Vec<NamedValue> {
    let all = ["completed", "in_progress", "blocked", "abandoned", "none"];
    all.iter().map(|outcome| ((*outcome).to_owned(), texts::outcome(outcome).to_owned())).collect()
}

/// Returns the directories of sessions with their names, sorted by name.
pub(super) fn project_names(daemon: &DaemonState, entries: &[CatalogueEntry]) -> Vec<NamedValue> {
    let known = daemon.engine.projects();
    let used: BTreeSet<Namespace> = entries.iter().filter_map(|entry| entry.project).collect();
    let paths: BTreeMap<String, String> = used
        .into_iter()
        .filter_map(|project| known.path(project))
        .map(|path| (format!("{} – {path}", project_name(&path)), path))
        .collect();
    paths.into_iter().map(|(name, path)| (path, name)).collect()
}

pub(super) fn choice(name: &str, label: &str, chosen: &str, values: &[NamedValue]) -> Markup {
    let is_known = chosen.is_empty() || values.iter().any(|(value, _)| value == chosen);
    html! {
        label {
            (label) " "
            select name=(name) {
                option value="" { (T.any) }
                @if !is_known { option value=(chosen) selected { (chosen) } }
                @for (value, name) in values {
                    option value=(value) selected[value == chosen] { (name) }
                }
            }
        }
    }
}

/// Renders sessions under the headings of their days.
pub(in crate::view) fn by_day(rows: &[SessionRow], next: Option<&str>) -> Markup {
    let days = rows.chunk_by(|one, other| {
        day_heading(&one.last_activity) == day_heading(&other.last_activity)
    });
    html! {
        @if rows.is_empty() { p .empty { (T.nothing_found) } }
        @for day in days {
            section .day {
                h2 .section { (text(&day_heading(&day[0].last_activity))) }
                ol .list { @for session in day { (session_row(session)) } }
            }
        }
        @if let Some(next) = next { p .more { a rel="next" data-append="session-list" href=(next) { (T.more_sessions) } } }
    }
}
