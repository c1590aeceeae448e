//! `graphiti doctor`: what is wrong, and what to do about it.
//!
//! [`look`] gathers what is [seen](Observations); what that means is decided by [`examine`], without
//! touching anything: [`daemon`] for the program and who may reach it, [`agents`] for those that
//! are to call it, [`memory`] for what it reads and keeps. With `--fix`, [`fix`] repairs what it can
//! before.

mod agents;
mod daemon;
mod fix;
mod look;
mod memory;
mod seen;

use graphiti_proto::endpoint;
use serde::Serialize;

use self::seen::Observations;
use crate::{
    cli,
    connection::AskError,
    screen::{Screen, line},
};

/// Columns before what is said.
const INDENT: usize = 21;

/// What is said about one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    /// The thing: `daemon`, `socket`, an agent's name, ….
    about: &'static str,
    verdict: Verdict,
    what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// How it is with one thing, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// It works, but something is lost or may be soon.
    Warn,
    /// It does not work, or is open to others.
    Bad,
}

#[derive(Serialize)]
struct DoctorReport {
    /// The worst of all.
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
                screen.print(format!("\nIt works. To be looked at: {warned}."));
            }
            Ok(())
        }
        (bad, _) => Err(AskError::Failed(format!("it does not work as it should; bad: {bad}"))),
    }
}

/// Says what is to be said about everything that was seen.
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
