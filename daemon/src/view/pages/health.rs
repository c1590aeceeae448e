//! The page of the state of the daemon and its problems.

use axum::extract::State;
use graphiti_proto::tools::health::{HealthAnswer, HealthArguments, NAME};
use maud::{Markup, html};

use super::{PageAnswer, parts::text};
use crate::{
    api::in_process,
    view::{
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

pub(in crate::view) async fn page(State(view): State<SharedView>) -> PageAnswer {
    let arguments = HealthArguments {};
    let health: HealthAnswer = in_process::tool(&*view.daemon()?, NAME, &arguments).await?;
    let body = html! {
        h1 { (T.health) }
        div #health data-live="" {
            p { span class={ "badge health-" (health.status) } { (text(&health.status)) } " graphitid " (health.version) }
            @if !health.problems.is_empty() {
                h2 .section { (T.problems) }
                ul .list { @for problem in &health.problems { li .row .warning { (text(problem)) } } }
            }
            (figures(&health))
            (agents(&health))
        }
    };
    Ok(ViewPage::new(T.health, NavItem::Health, body))
}

fn figures(health: &HealthAnswer) -> Markup {
    let kept = &health.kept;
    let figures = [
        (T.running_since, texts::duration(std::time::Duration::from_secs(health.uptime_seconds))),
        (T.sessions, texts::grouped(health.sessions.total)),
        (T.active, texts::grouped(health.sessions.active)),
        (T.summaries_and_texts, texts::grouped(kept.episodes)),
        (T.without_summary, texts::grouped(health.sessions.unindexed)),
        (T.failed_count, texts::grouped(health.sessions.failed)),
        (T.stored_messages, texts::grouped(kept.messages)),
        (T.database, texts::size_and_limit(kept.database_bytes, health.limits.database_bytes)),
        (T.search_index, texts::size_and_limit(kept.index_bytes, health.limits.index_bytes)),
        (T.not_searchable_yet, texts::grouped(health.index.changes_behind)),
        (T.jobs, health.jobs.to_string()),
        (T.watching, health.watch_mode.clone()),
    ];
    html! {
        dl .figures { @for (name, value) in &figures { div { dt { (name) } dd { (text(value)) } } } }
    }
}

fn agents(health: &HealthAnswer) -> Markup {
    html! {
        h2 .section { (T.agents) }
        div .scroll tabindex="0" role="region" aria-label=(T.agents) {
            table {
                thead { tr {
                    th scope="col" { (T.agent) } th scope="col" { (T.version) }
                    th scope="col" .number { (T.sessions) } th scope="col" .number { (T.records) }
                } }
                tbody { @for agent in &health.agents { tr {
                    td { (text(&agent.agent)) }
                    td { (text(agent.version.as_deref().unwrap_or("–"))) }
                    td .number { (texts::grouped(agent.sessions)) }
                    td .number { (texts::grouped(agent.read)) }
                } } }
            }
        }
        h2 .section { (T.watched_folders) }
        ul .list { @for folder in &health.watched { li .row .path { (text(folder)) } } }
    }
}
