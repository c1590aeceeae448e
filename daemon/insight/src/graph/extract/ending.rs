//! Extracts how the session ended: the agent's last reports, the user's requests, the last test
//! runs and the unanswered question.

use super::{
    condensed::{condensed, condensed_statements, last_question},
    draft::Draft,
    last_tests, requests,
};
use crate::{
    model::{SessionEnding, evidence::TurnReport, transcript::Origin},
    pattern::pattern,
};

/// Minimum length, in characters, of a last report that alone describes the result of the session.
const MIN_SUBSTANTIAL_CHARS: usize = 200;
/// Maximum number of reports before the last one that are searched for a report with substance.
const MAX_EARLIER_REPORTS: usize = 3;
/// Maximum number of reports before the last one that are searched for a report about changes.
const MAX_SEARCHED_REPORTS: usize = 8;

pub(super) fn of(draft: &Draft<'_>) -> SessionEnding {
    let last = draft.evidence.last_reply.as_ref();
    let report = last
        .map(|reply| condensed(&reply.text, SessionEnding::REPORT_LENGTH))
        .filter(|text| !text.is_empty());
    let is_short = report.as_ref().is_none_or(|text| text.chars().count() < MIN_SUBSTANTIAL_CHARS);
    let earlier = last.filter(|_| is_short).and_then(|last| earlier_report(draft, last.origin));
    let objective = draft.episode.summary.objective.as_str();
    let asked = requests::first(draft, objective);
    let about = asked.is_none().then(|| goal(objective).to_owned());
    let asked_later = requests::later(draft, asked.as_deref().unwrap_or(objective));
    let words = last.map_or("", |reply| reply.text.as_str());
    let tests = last_tests::describe(draft, words);
    let question = question(draft);
    let deleted_branches = draft.evidence.checkout.deleted.clone();
    SessionEnding {
        report,
        earlier_report: earlier,
        first_request: asked,
        about,
        later_requests: asked_later,
        tests,
        question,
        deleted_branches,
    }
}

/// Returns the work to which a question led, if the objective is a question and has this work as a
/// note. Returns any other objective unchanged.
fn goal(objective: &str) -> &str {
    let noted = pattern!(r"[?？] \(came to: (.+?)\)\.?$").captures(objective);
    noted.and_then(|noted| noted.get(1)).map_or(objective, |work| work.as_str())
}

/// Returns the question with which the last report of the main agent ends, if neither an answer of
/// the user nor a change of a file follows.
fn question(draft: &Draft<'_>) -> Option<String> {
    let evidence = draft.evidence;
    let last = evidence.last_reply.as_ref().filter(|reply| reply.origin.source == 0)?;
    let is_answered = evidence.prompts.iter().any(|prompt| prompt.origin.follows(last.origin))
        || evidence.choices.iter().any(|choice| choice.origin.follows(last.origin))
        || evidence.changed_files().any(|(_, work)| work.last.follows(last.origin));
    if is_answered { None } else { last_question(&last.text, SessionEnding::REQUEST_LENGTH) }
}

/// Returns the latest report with substance before the last report: a report about changes, or else
/// one of the few reports directly before the last one. Ignores a report if the user refused a tool
/// call with the next prompt, or if the report asks the user to choose from a list.
fn earlier_report(draft: &Draft<'_>, last: Origin) -> Option<String> {
    let evidence = draft.evidence;
    let is_refused = |origin: Origin| {
        let next = evidence.prompts.iter().find(|prompt| prompt.origin > origin);
        next.is_some_and(|next| {
            let mut corrections = evidence.corrections.iter();
            corrections.any(|one| one.origin == next.origin && one.refused.is_some())
        })
    };
    let earlier = evidence.reports.iter().rev();
    let earlier = earlier.filter(|report| report.origin < last && report.origin.source == 0);
    let is_usable = |report: &&TurnReport| {
        !is_refused(report.origin)
            && !is_menu(&report.text)
            && report.text.chars().count() >= MIN_SUBSTANTIAL_CHARS
    };
    // Answers to questions may follow the report of the work.
    let mut of_work = earlier.clone().take(MAX_SEARCHED_REPORTS).filter(is_usable);
    let found = of_work.find(|report| report.changed);
    let found = found.or_else(|| earlier.take(MAX_EARLIER_REPORTS).find(is_usable))?;
    // Questions are left out, because the next request answered them.
    Some(condensed_statements(&found.text, SessionEnding::EARLIER_REPORT_LENGTH))
        .filter(|text| !text.is_empty())
}

/// Whether a report asks the user to choose from a list.
fn is_menu(report: &str) -> bool {
    pattern!(r"(?i)\b(?:reply|respond|answer) with (?:a|the|your|one|its) (?:number|letter|choice|option|name)\b|\b(?:pick|select|choose|type|enter) (?:a|the|your|one|its) (?:number|letter|option)\b")
        .is_match(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        graph::extract::scenarios::{SessionFixture, line},
        model::evidence::{Correction, Quote},
    };

    fn ending(session: &SessionFixture) -> SessionEnding {
        of(&Draft::new(&session.episode, &session.evidence))
    }

    fn quote(session: &SessionFixture, at: u64, text: &str) -> Quote {
        Quote { text: text.to_owned(), origin: line(at), at: session.at(at) }
    }

    #[test]
    fn the_ending_has_the_last_reports_and_the_requests() {
        let mut session = SessionFixture::new(10, "fix: read the key once");
        session.evidence.prompts = vec![
            quote(&session, 1, "The login fails after a minute, find out why"),
            quote(&session, 5, "now describe it in the manual"),
            quote(&session, 7, "ok push"),
        ];
        session.evidence.last_reply = Some(quote(&session, 9, "**Pushed** to `main`."));
        let long = "The manual has a chapter about keys. ".repeat(8);
        let report = |at, text: &str| TurnReport {
            text: text.to_owned(),
            origin: line(at),
            ..TurnReport::default()
        };
        session.evidence.reports =
            vec![report(3, "Fixed."), report(6, &long), report(9, "Pushed.")];
        let found = ending(&session);
        assert_eq!(found.report.as_deref(), Some("Pushed to `main`."));
        assert_eq!(found.earlier_report.as_deref(), Some(long.trim()));
        assert_eq!(
            found.first_request.as_deref(),
            Some("The login fails after a minute, find out why")
        );
        assert_eq!(found.later_requests, ["now describe it in the manual"]);

        let work = format!("The login works again. {long}");
        session.evidence.reports[0] = TurnReport { changed: true, ..report(3, &work) };
        assert_eq!(ending(&session).earlier_report.as_deref(), Some(work.trim()));
        session.evidence.reports[0] = report(3, "Fixed.");

        let refused =
            Correction { origin: line(7), refused: Some("Edit".to_owned()), stopped: None };
        session.evidence.corrections = vec![refused];
        session.episode.summary.objective =
            "The login fails after a minute. Later: manual".to_owned();
        let found = ending(&session);
        let asked = "The login fails after a minute, find out why".to_owned();
        assert_eq!((found.earlier_report, found.first_request), (None, Some(asked)));

        session.evidence.corrections.clear();
        session.evidence.reports[1].text = format!("{long} Reply with a number to see one.");
        assert_eq!(ending(&session).earlier_report, None, "a list to choose from");

        session.evidence.prompts =
            vec![quote(&session, 1, "3 but on this branch, since it is related")];
        session.episode.summary.objective = "Is it slow? (came to: Read keys once)".to_owned();
        let found = ending(&session);
        assert_eq!((found.first_request, found.about.as_deref()), (None, Some("Read keys once")));
    }
}
