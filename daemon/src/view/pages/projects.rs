//! The pages of projects: the directories in which agents worked, and the handoff to the next
//! session.

use std::collections::BTreeMap;

use axum::extract::{Query, State};
use graphiti_proto::tools::get_handoff::{
    GetHandoffAnswer, GetHandoffArguments, HandoffSession, NAME,
};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    PageAnswer,
    parts::{address, ago, lines, outcome_badge, project_name, text, visible},
};
use crate::{
    api::{DaemonState, in_process},
    model::{Namespace, Timestamp, summary::Outcome},
    view::{
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

struct ProjectTotals {
    path: String,
    sessions: usize,
    messages: u64,
    /// The number of sessions with an outcome other than completed.
    unfinished: usize,
    last_activity: Timestamp,
}

pub(in crate::view) async fn projects_page(State(view): State<SharedView>) -> PageAnswer {
    let daemon = view.daemon()?;
    let entries = view.catalogue.entries(&daemon).await?;
    let known = daemon.engine.projects();
    let mut totals: BTreeMap<Namespace, ProjectTotals> = BTreeMap::new();
    let mut heads: BTreeMap<Namespace, Namespace> = BTreeMap::new();
    for entry in entries.iter() {
        let Some(project) = entry.project else { continue };
        let head = *heads.entry(project).or_insert_with(|| representative(&daemon, project));
        let total = totals.entry(head).or_insert_with(|| ProjectTotals {
            path: known.path(project).unwrap_or_default(),
            sessions: 0,
            messages: 0,
            unfinished: 0,
            last_activity: entry.last_activity,
        });
        total.sessions += 1;
        total.messages += u64::from(entry.messages);
        total.unfinished +=
            usize::from(entry.outcome.is_some_and(|outcome| outcome != Outcome::Completed));
    }
    let mut totals: Vec<ProjectTotals> =
        totals.into_values().filter(|one| !one.path.is_empty()).collect();
    totals.sort_by_key(|total| std::cmp::Reverse(total.last_activity));
    let body = html! {
        h1 { (T.projects) " " span .count { (totals.len()) } }
        @if totals.is_empty() { p .empty { (T.none) } }
        ul .cards #projects data-live="" {
            @for total in &totals {
                li .card {
                    h2 { a href=(address("project", &[("dir", &total.path)])) { (text(project_name(&total.path))) } }
                    p .path { (text(&total.path)) }
                    p .meta {
                        span { (texts::sessions(total.sessions)) } " "
                        span { (texts::messages(u32::try_from(total.messages).unwrap_or(u32::MAX))) } " "
                        @if total.unfinished > 0 { span { (texts::unfinished(total.unfinished)) } " " }
                        (ago(&total.last_activity.to_string()))
                    }
                }
            }
        }
    };
    Ok(ViewPage::new(T.projects, NavItem::Projects, body))
}

/// Returns the directory that represents a project. A project may have several directories, because
/// worktrees and clones belong to the same project.
pub(in crate::view) fn representative(daemon: &DaemonState, project: Namespace) -> Namespace {
    daemon.engine.projects().of_namespace(project).into_iter().min().unwrap_or(project)
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct ProjectQuery {
    dir: String,
}

pub(in crate::view) async fn project_page(
    State(view): State<SharedView>,
    Query(query): Query<ProjectQuery>,
) -> PageAnswer {
    let arguments = GetHandoffArguments {
        project: Some(query.dir.clone()),
        sessions: 8,
        ..GetHandoffArguments::default()
    };
    let handoff: GetHandoffAnswer = in_process::tool(&*view.daemon()?, NAME, &arguments).await?;
    let name = project_name(&query.dir);
    let links = [
        ("sessions", T.sessions),
        ("open-ends", T.open_ends),
        ("facts", T.facts),
        ("search", T.search),
    ];
    let body = html! {
        h1 { (text(name)) }
        p .path { (text(&query.dir)) }
        p .tabs { @for (page, label) in links { a href=(address(page, &[("project", &query.dir)])) { (label) } " " } }
        div .columns #project data-live="" {
            section {
                h2 .section { (T.latest_sessions) }
                @if handoff.sessions.is_empty() { p .empty { (handoff.message) } }
                ol .list {
                    @for session in &handoff.sessions {
                        li .row {
                            a .row-title href=(address("session", &[("id", &session.session_id)])) { (text(title(session))) }
                            p .meta { (outcome_badge(&session.outcome)) " " (ago(&session.ended_at)) }
                            @if title(session) != session.objective { p .detail { (text(&session.objective)) } }
                        }
                    }
                }
            }
            (self::handoff(&handoff))
        }
    };
    Ok(ViewPage::new(visible(name), NavItem::Projects, body))
}

/// Returns the name of a session; its objective if the name is empty, because the name would only
/// repeat the objective; its id if both are empty.
fn title(session: &HandoffSession) -> &str {
    let texts = [&session.name, &session.objective, &session.session_id];
    texts.into_iter().find(|text| !text.is_empty()).map_or("", String::as_str)
}

/// Renders the handoff to the next session.
pub(in crate::view) fn handoff(handoff: &GetHandoffAnswer) -> Markup {
    html! {
        section {
            h2 .section { (T.handoff) }
            p .hint { (T.handoff_hint) }
            div .card .document { (lines(&handoff.text)) }
        }
    }
}
