//! `graphiti share`: shows the state of sharing and the data that would be sent, changes the list
//! of shared projects, and writes all shared sessions again.

use graphiti_proto::{
    endpoint,
    methods::{
        self, Reloaded,
        share::{
            PreviewSession, SHARE, ShareAction, ShareAnswer, ShareReport, ShareRequest,
            SharedProjectRow,
        },
    },
};
use serde_json::{Value, json};

use super::setup::{confirm_changes, show, write};
use crate::{
    cli::{self, Project, ShareCommand, ShareProject},
    connection::{AskError, Connection},
    screen::{Align, Column, Screen, TextTable, ago, block, instant, line, now},
    setup::{self, EditError},
};

pub(super) fn run(args: cli::Share, screen: &Screen) -> Result<(), AskError> {
    match args.action {
        None if args.preview => preview(args.project, args.output.json, screen),
        None => status(args.output.json, screen),
        Some(ShareCommand::Status(output)) => status(output.json, screen),
        Some(ShareCommand::Enable(given)) => change(given, true, screen),
        Some(ShareCommand::Disable(given)) => change(given, false, screen),
        Some(ShareCommand::Fill) => {
            let answer = ask(&request(ShareAction::Fill, None))?;
            screen.print("All shared sessions are being written again in the background.");
            print_work(&answer.status, screen);
            Ok(())
        }
    }
}

fn request(action: ShareAction, project: Option<String>) -> ShareRequest {
    ShareRequest { action, project, before: None }
}

fn ask(request: &ShareRequest) -> Result<ShareAnswer, AskError> {
    Connection::open()?.ask(SHARE, request)
}

fn status(is_json: bool, screen: &Screen) -> Result<(), AskError> {
    let answer = ask(&ShareRequest::default())?;
    if is_json {
        screen.print_json(&answer.status);
        return Ok(());
    }
    let status = &answer.status;
    if status.engine.is_empty() {
        screen.print("Nothing is shared. To share, set `session_tracking.share` in");
        screen.print("graphiti.config.json; see docs/sharing.md.");
    } else {
        let version = if status.version.is_empty() { &status.engine } else { &status.version };
        screen.print(format!("Engine:  {} at {}", line(version), line(&status.url)));
        screen.print(format!("As:      {} on {}", line(&status.name), line(&status.machine)));
        print_work(status, screen);
    }
    print_projects(&status.projects, screen);
    Ok(())
}

fn print_work(status: &ShareReport, screen: &Screen) {
    if let (Some(done), Some(total)) = (status.fill_done, status.fill_total) {
        screen.print(format!("Fill:    {done} of {total} sessions processed"));
    }
    let rejected = match status.rejected {
        0 => String::new(),
        count => format!("; {count} cannot be written or removed, see the log"),
    };
    let written =
        format!("{} written since the last start or change of the settings", status.written);
    screen.print(format!("Waiting: {} sessions; {written}{rejected}", status.backlog));
    let last = status.last_success.as_deref().map(|at| ago(instant(at), now()));
    screen.print(format!("Success: {}", last.unwrap_or_else(|| "not yet".to_owned())));
    if let Some(error) = &status.error {
        screen.print(screen.warn(format!("Error:   {}", line(error))));
    }
}

fn print_projects(projects: &[SharedProjectRow], screen: &Screen) {
    if projects.is_empty() {
        screen.print("No project is shared: run `graphiti share enable` in a project.");
        return;
    }
    let mut table = TextTable::new(vec![
        Column::flexible("PROJECT", 20),
        Column::new("GROUP IN THE GRAPH", Align::Left),
    ]);
    for project in projects {
        let group = match project.group.as_str() {
            "" => "no sessions known yet".to_owned(),
            group => line(group),
        };
        table.row().cell(line(&project.named)).cell(group);
    }
    screen.print_table(&table);
}

fn preview(project: Project, is_json: bool, screen: &Screen) -> Result<(), AskError> {
    let mut connection = Connection::open_for_work()?;
    let mut wanted = request(ShareAction::Preview, Some(project_or_current_dir(project)));
    let mut count = 0;
    loop {
        let page: ShareAnswer = connection.ask(SHARE, &wanted)?;
        count += page.sessions.len();
        for session in &page.sessions {
            match is_json {
                true => screen.print(json!(session)),
                false => print_session(session, screen),
            }
        }
        wanted.before = page.next;
        if wanted.before.is_some() {
            continue;
        }
        if let (false, Some(project)) = (is_json, &page.project) {
            let (named, group) = (line(&project.named), line(&project.group));
            screen.print(format!(
                "{count} sessions of {named} would be written to the group {group}."
            ));
            let note =
                "Nothing else of the project is sent to the graph: no transcripts, no messages.";
            screen.print(screen.dim(note));
        }
        return Ok(());
    }
}

fn print_session(session: &PreviewSession, screen: &Screen) {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    screen.print(screen.bold(line(&text(&session.episode, "name"))));
    for name in ["uuid", "source_description", "valid_at", "created_at"] {
        screen.print(screen.dim(line(&format!("{name}: {}", text(&session.episode, name)))));
    }
    screen.print(block(text(&session.episode, "content").trim_end()));
    for entity in &session.entities {
        let (name, summary) = (text(entity, "name"), text(entity, "summary"));
        screen.print(line(&format!("Entity: {name}: {summary}")));
    }
    for fact in &session.facts {
        screen.print(line(&format!("Fact: {} {}", text(fact, "name"), text(fact, "fact"))));
    }
    screen.print("");
}

/// Changes the list of shared projects in the settings, and reloads the configuration.
fn change(given: ShareProject, is_shared: bool, screen: &Screen) -> Result<(), AskError> {
    let answer = ask(&request(ShareAction::Project, Some(project_or_current_dir(given.project))))?;
    let project = answer.project.unwrap_or_default();
    let named = line(&project.named);
    let is_known = !project.entries.is_empty();
    if is_known == is_shared {
        let state = if is_shared { "shared already" } else { "not shared" };
        screen.print(format!("{named} is {state}."));
        return Ok(());
    }
    let projects = answer.status.projects.iter().map(|project| project.named.clone());
    let mut projects: Vec<String> =
        projects.filter(|entry| !project.entries.contains(entry)).collect();
    if is_shared {
        projects.push(project.named.clone());
    }
    let home = endpoint::home().ok_or(AskError::NoHome)?;
    let planned = setup::shared_projects(&home, &projects);
    let planned = planned.map_err(|error: EditError| {
        AskError::Failed(format!("graphiti.config.json is unchanged: {error}"))
    })?;
    show(&planned, screen);
    if !given.yes && !confirm_changes(1)? {
        screen.print("Nothing was changed.");
        return Ok(());
    }
    write(&planned)?;
    let reloaded: Reloaded = Connection::open()?.ask(methods::RELOAD, &json!({}))?;
    if !reloaded.problems.is_empty() {
        return Err(AskError::InvalidInput(reloaded.problems.join("\n")));
    }
    screen.print(match (is_shared, answer.status.engine.is_empty()) {
        (true, true) => format!(
            "{named} will be shared as {} once `session_tracking.share.engine` is set.",
            line(&project.group)
        ),
        (true, false) => format!("{named} is shared as {} from now on.", line(&project.group)),
        (false, _) => {
            format!(
                "{named} is no longer shared; its data from this machine is removed from the graph."
            )
        }
    });
    Ok(())
}

/// Returns the given project, or the current directory.
fn project_or_current_dir(project: Project) -> String {
    super::project(project).unwrap_or_else(|| {
        let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
        here.to_string_lossy().into_owned()
    })
}
