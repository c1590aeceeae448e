//! `graphiti/share`: reports the state of the graph that is shared with others, checks its
//! database, writes all shared sessions to the graph, and previews the data that a project would
//! share.

use std::time::Duration;

use graphiti_proto::{
    methods::share::{
        PreviewSession, ShareAction, ShareAnswer, ShareCheck, ShareReport, ShareRequest,
        SharedProjectRow,
    },
    rpc::{Error, code},
};
use serde_json::Value;

use super::write;
use crate::{
    api::{
        DaemonState, blocking, errors::store_error, parameters::episode_id,
        projects::project_argument,
    },
    engine::sharing::{
        Preview, ProjectIdentity,
        check::{EngineCheck, EngineFinding},
    },
    model::Namespace,
};

/// Maximum number of sessions on a page of a preview.
const PAGE: usize = 20;
/// Time limit for the check of the database.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) async fn share(daemon: &DaemonState, request: ShareRequest) -> Result<Value, Error> {
    let mut answer = ShareAnswer::default();
    match request.action {
        ShareAction::Status => {}
        ShareAction::Fill => {
            if !daemon.sharing.status().is_on {
                let what = "nothing is shared: set `session_tracking.share.engine`";
                return Err(Error::new(code::INVALID_PARAMS, what));
            }
            daemon.sharing.fill(true);
        }
        ShareAction::Check => {
            let EngineCheck { version, findings } = daemon.sharing.check(RESPONSE_TIMEOUT).await;
            answer.status = report(daemon);
            answer.status.version = version;
            answer.checks = findings
                .into_iter()
                .map(|EngineFinding { is_good, what, remedy }| ShareCheck {
                    is_good,
                    what,
                    remedy: remedy.to_owned(),
                })
                .collect();
            return Ok(write(&answer));
        }
        ShareAction::Project | ShareAction::Preview => {
            let project = project_argument(daemon, request.project.as_deref())?.unwrap_or_default();
            answer.project = Some(project_row(daemon, &project)?);
            if request.action == ShareAction::Preview {
                preview(daemon, &project, request.before.as_deref(), &mut answer)?;
            }
        }
    }
    answer.status = report(daemon);
    Ok(write(&answer))
}

fn project_row(daemon: &DaemonState, project: &[Namespace]) -> Result<SharedProjectRow, Error> {
    let Some((identity, group)) = daemon.sharing.project(project) else {
        let what = "this project has no known sessions";
        return Err(Error::new(code::NOT_FOUND, what));
    };
    let config = &daemon.sharing.target().config;
    let entries = config.projects.iter().filter(|entry| identity.has_remote_or_folder(entry));
    Ok(SharedProjectRow {
        entries: entries.cloned().collect(),
        named: identity.remote.unwrap_or(identity.folder),
        name: identity.name,
        group,
    })
}

fn preview(
    daemon: &DaemonState,
    project: &[Namespace],
    before: Option<&str>,
    answer: &mut ShareAnswer,
) -> Result<(), Error> {
    let before = before.map(|id| episode_id("before", id)).transpose()?;
    let shown = blocking::read(|| daemon.sharing.preview(project, before, PAGE));
    let Preview { sessions, next, .. } = shown.map_err(store_error)?;
    answer.sessions = sessions
        .iter()
        .map(|session| PreviewSession {
            episode: session.episode_row(),
            entities: session.entities.iter().map(|one| session.entity_row(one)).collect(),
            facts: session.facts.iter().map(|fact| session.fact_row(fact)).collect(),
        })
        .collect();
    answer.next = next.map(|id| id.to_string());
    Ok(())
}

fn report(daemon: &DaemonState) -> ShareReport {
    let (target, status) = (daemon.sharing.target(), daemon.sharing.status());
    let config = &target.config;
    let row = |named: &String| {
        let known: Option<(ProjectIdentity, String)> = daemon.sharing.named(named);
        let (name, group) =
            known.map(|(identity, group)| (identity.name, group)).unwrap_or_default();
        SharedProjectRow { named: named.clone(), group, name, entries: Vec::new() }
    };
    ShareReport {
        engine: config.engine.map(|engine| engine.as_str().to_owned()).unwrap_or_default(),
        url: target.address(),
        version: status.engine,
        name: config.name.clone().unwrap_or_default(),
        machine: daemon.sharing.machine().to_owned(),
        projects: config.projects.iter().map(row).collect(),
        backlog: status.backlog,
        rejected: status.rejected,
        written: status.written,
        fill_done: status.fill.map(|(done, _)| done),
        fill_total: status.fill.map(|(_, total)| total),
        error: status.error,
        last_success: status.last_success.map(|at| at.to_string()),
    }
}
