//! `graphiti doctor`: finds problems and explains how to fix them.
//!
//! [`look`] collects [`Observations`], and [`examine`] evaluates them without I/O: [`daemon`] for
//! the daemon and the access to it, [`agents`] for the agents that call `graphiti`, [`memory`] for
//! what the daemon reads and stores. With `--fix`, [`fix`] first repairs the settings of agents.

mod agents;
mod daemon;
mod fix;
mod look;
mod memory;
mod observations;

use graphiti_proto::endpoint;
use serde::Serialize;

use self::observations::Observations;
use crate::{
    cli,
    connection::AskError,
    screen::{Screen, line},
};

/// Number of columns before the text of a finding.
const INDENT: usize = 21;

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    /// What was checked: `daemon`, `socket`, an agent's name, ….
    about: &'static str,
    verdict: Verdict,
    what: String,
    /// How to fix the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// How severe a finding is, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// graphiti works, but the checked part is missing, incomplete or failing, or may fail soon.
    Warn,
    /// The checked part does not work, or other users have access to it.
    Bad,
}

#[derive(Serialize)]
struct DoctorReport {
    /// The most severe verdict of all findings.
    verdict: Verdict,
    findings: Vec<Finding>,
}

pub(super) fn run(args: &cli::Doctor, screen: &Screen) -> Result<(), AskError> {
    let home = endpoint::home().ok_or(AskError::NoHome)?;
    if args.fix {
        fix::run(args, screen)?;
    }
    let findings = examine(&look::look(home)?);
    let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Ok);
    let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    let (warned, bad) = (count(Verdict::Warn), count(Verdict::Bad));
    if args.output.json {
        screen.print_json(&DoctorReport { verdict, findings });
    } else {
        findings.iter().for_each(|finding| show(finding, screen));
    }
    match (bad, warned) {
        (0, 0) => Ok(()),
        (0, warned) => {
            if !args.output.json {
                screen.print(format!("\ngraphiti works. Warnings: {warned}."));
            }
            Ok(())
        }
        (bad, _) => {
            Err(AskError::Failed(format!("some checks failed; errors: {bad}, warnings: {warned}")))
        }
    }
}

/// Evaluates all observations.
fn examine(seen: &Observations) -> Vec<Finding> {
    let mut findings = daemon::examine(seen);
    findings.extend(agents::examine(seen));
    findings.extend(memory::examine(seen));
    findings
}

fn show(finding: &Finding, screen: &Screen) {
    let mark = match finding.verdict {
        Verdict::Ok => screen.good("ok  "),
        Verdict::Warn => screen.warn("warn"),
        Verdict::Bad => screen.bad("bad "),
    };
    let about = screen.bold(format!("{:<13}", finding.about));
    screen.print_wrapped(&format!("{mark}  {about}  {}", line(&finding.what)), INDENT);
    if let Some(remedy) = &finding.remedy {
        let remedy = screen.accent(format!("→ {}", line(remedy)));
        screen.print_wrapped(&format!("{:INDENT$}{remedy}", ""), INDENT + 2);
    }
}

impl Finding {
    fn ok(about: &'static str, what: impl Into<String>) -> Finding {
        Finding { about, verdict: Verdict::Ok, what: what.into(), remedy: None }
    }

    fn warn(about: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        let remedy = Some(remedy.into());
        Finding { about, verdict: Verdict::Warn, what: what.into(), remedy }
    }

    fn bad(about: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Bad, ..Finding::warn(about, what, remedy) }
    }
}

#[cfg(test)]
mod tests;
