//! Finds the server that the session left running, according to the agent's reports.

use crate::{
    model::evidence::Evidence,
    text::{one_line, pattern, sentences},
};

/// Returns a phrase with the local address at which a server ran when the agent last reported one.
/// `None` if a later command ended a process.
pub(super) fn running_server(evidence: &Evidence) -> Option<String> {
    let told = evidence.reports.iter().rev();
    let (report, address) =
        told.filter_map(|report| Some((report, address_in(&report.text)?))).next()?;
    let ends = pattern!(
        r"(?:^|[\s;&|(])(?:p?kill(?:all)?|fuser -k|docker(?: |-)compose (?:down|stop)|docker stop)\b"
    );
    let is_ended = evidence
        .commands
        .iter()
        .any(|run| run.origin.follows(report.origin) && ends.is_match(&run.command));
    (!is_ended).then(|| format!("server was running at {address}"))
}

/// Returns the local address in a sentence which says that something runs there now.
fn address_in(report: &str) -> Option<String> {
    let runs = pattern!(
        r"(?i)^[^?]*\b(?:is|are|server|now) (?:now |already |also |still )?(?:live|running|up|served|available|listening)\b[^.;?]{0,60}?(https?://(?:localhost|127\.0\.0\.1):\d{2,5})"
    );
    let is_possible =
        pattern!(r"(?i)\b(?:if|once|when|should|will|would|can|could|must|not|no longer|was)\b");
    let line = one_line(report).replace(['*', '`'], "");
    sentences(&line).into_iter().rev().find_map(|sentence| {
        let found = runs.captures(sentence)?;
        (!is_possible.is_match(&found[0])).then(|| found[1].to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::transcript::Outcome, summarize::evidence::scenarios::Script};

    #[test]
    fn a_server_runs_only_if_a_report_says_so() {
        for text in [
            "The site is live at **http://localhost:8080**. Open that address.",
            "Done. The server is now running in the background on `http://127.0.0.1:3000`.",
        ] {
            assert!(address_in(text).is_some(), "{text}");
        }
        for text in [
            "Run `make serve`, then open http://localhost:8080.",
            "Once the site is live at http://localhost:8080, try the dialog.",
            "Is the site running at http://localhost:8080?",
            "The server is not running on http://localhost:8080 any more.",
            "The default address is http://localhost:8080.",
        ] {
            assert_eq!(address_in(text), None, "{text}");
        }
    }

    #[test]
    fn a_server_that_a_later_command_ended_does_not_run() {
        let running = |command: &'static str| {
            let mut script = Script::default();
            script.prompt("Start the page");
            script.reply("m1", "The page is running at http://localhost:8080.");
            script.prompt("go on");
            script.run("a", command, Outcome::Succeeded, "");
            script.reply("m2", "Done.");
            running_server(&script.collect())
        };
        assert_eq!(running("pkill -f http.server"), None);
        let wanted = Some("server was running at http://localhost:8080".to_owned());
        assert_eq!(running("ls"), wanted);
        assert_eq!(running("cat skill.md"), wanted);
    }
}
