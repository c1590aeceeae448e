//! Examines the agents on this machine: whether they are set up, and whether their hooks run.

use graphiti_proto::methods::hook::HookCount;

use super::{
    Finding,
    observations::{DaemonAnswers, Observations, ObservedAgent},
};
use crate::{
    screen::{ago, instant},
    setup::Wiring,
};

/// Activity of an agent is ignored for this number of seconds after the daemon's start: the user
/// may have set up the hooks just before, and an agent that already runs does not use new hooks.
const SETTLING: i64 = 60;

pub(super) fn examine(seen: &Observations) -> Vec<Finding> {
    if seen.agents.is_empty() {
        return vec![Finding::warn(
            "agents",
            "no agent was found on this machine",
            "install an agent, or set up an agent that was not found: graphiti setup --agent NAME",
        )];
    }
    let mut findings: Vec<Finding> = seen.agents.iter().map(wired).collect();
    findings.extend(seen.answers().and_then(|answers| firing(seen, answers)));
    findings
}

fn wired(agent: &ObservedAgent) -> Finding {
    let ObservedAgent { name, title, .. } = agent;
    let ours = agent.parts;
    let setup = format!("graphiti setup --agent {name}");
    if let Some(hooks) = &agent.old_hooks {
        return Finding::warn(
            name,
            format!(
                "hooks of {title} have an old form: {title} may run them without the argument \
                 `hook`, so that no event arrives: {hooks}"
            ),
            "graphiti doctor --fix",
        );
    }
    match (&agent.wiring, agent.has_plugin) {
        (Wiring::Missing, true) => Finding::ok(name, format!("{title} has the plugin")),
        (Wiring::Complete | Wiring::Outdated, true) => Finding::warn(
            name,
            format!("{title} has both the plugin and our settings, so each hook runs twice"),
            format!("{setup} --remove"),
        ),
        (Wiring::Complete, false) if agent.awaits_trust => Finding::warn(
            name,
            format!("{title} does not run our hooks until you trust them"),
            format!("start {name} on the terminal and agree; its command /hooks lists the hooks"),
        ),
        (Wiring::Complete, false) => {
            Finding::ok(name, format!("{title} is set up: {ours} are in its settings"))
        }
        (Wiring::Outdated, false) => Finding::warn(
            name,
            format!("{title} is set up incompletely, or for another version or path of graphiti"),
            setup,
        ),
        (Wiring::Missing, false) => Finding::warn(
            name,
            format!("{title} is not set up: its settings have no entries of graphiti"),
            setup,
        ),
        (Wiring::Unreadable(why), _) => Finding::warn(
            name,
            format!("the settings of {title} cannot be changed: {why}"),
            format!("repair that file, then {setup}"),
        ),
    }
}

/// Checks whether the installed hooks are executed.
fn firing(seen: &Observations, answers: &DaemonAnswers) -> Option<Finding> {
    const ABOUT: &str = "hooks";
    if let Some(last) = answers.hook_counts.events.first() {
        return Some(Finding::ok(ABOUT, hook_runs(seen, answers, last)));
    }
    let fires = |agent: &&ObservedAgent| {
        agent.has_plugin || agent.wiring == Wiring::Complete && !agent.awaits_trust
    };
    let agents: Vec<&ObservedAgent> = seen.agents.iter().filter(fires).collect();
    if agents.is_empty() {
        return None;
    }
    let uptime = i64::try_from(answers.health.uptime_seconds).unwrap_or(i64::MAX);
    let started = seen.now.as_second().saturating_sub(uptime);
    let worked = answers.latest.as_ref().and_then(|latest| {
        let at = instant(&latest.last_activity)?;
        let agent = agents.iter().find(|agent| agent.name == latest.agent)?;
        (at.as_second() > started.saturating_add(SETTLING)).then_some((agent, at))
    });
    Some(match worked {
        None => Finding::ok(ABOUT, "no hook ran since the daemon's start, and no agent was active"),
        Some((agent, at)) => Finding::warn(
            ABOUT,
            format!(
                "{} worked {}, but no hook ran since the daemon's start",
                agent.title,
                ago(Some(at), seen.now)
            ),
            "restart the agent, because it reads its hooks only at its start; its command /hooks \
             shows the hooks and whether they are trusted",
        ),
    })
}

fn hook_runs(seen: &Observations, answers: &DaemonAnswers, last: &HookCount) -> String {
    let count: u64 = answers.hook_counts.events.iter().map(|event| event.count).sum();
    let when = ago(instant(&last.last), seen.now);
    let waiting = match answers.hook_counts.spooled {
        0 => String::new(),
        1 => "; 1 event waits for its session".to_owned(),
        spooled => format!("; {spooled} events wait for their sessions"),
    };
    format!("{count} ran since the daemon's start, the last one {when} ({}){waiting}", last.name)
}
