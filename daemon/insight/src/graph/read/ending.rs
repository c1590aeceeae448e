//! Extracts how the session ended: the last words of its agent and of its user.

use super::{
    condensed::{condensed, condensed_statements, last_question},
    draft::Draft,
    last_tests,
};
use crate::{
    graph::text,
    model::{SessionEnding, evidence::Quote, transcript::Origin},
    pattern::pattern,
};

/// Minimum length, in characters, of a last report that alone describes the result of the session.
const MIN_SUBSTANTIAL_CHARS: usize = 200;
/// Maximum number of reports before the last one that are searched for one with substance.
const MAX_EARLIER_REPORTS: usize = 3;
/// Minimum number of words of a prompt that counts as a request.
const MIN_REQUEST_WORDS: usize = 4;
/// Minimum number of different words of a request that can be understood alone.
const MIN_CLEAR_WORDS: usize = 5;
/// Minimum number of words of a prompt that is more than a reaction.
const MIN_STATEMENT_WORDS: usize = 9;
/// An objective comes from prompts if they contain at least this share of its words.
const FROM_PROMPTS_SHARE: f64 = 0.8;
/// A request repeats an earlier text if the text contains at least this share of its words.
const REPEATED_SHARE: f64 = 0.6;

pub(super) fn of(draft: &Draft<'_>) -> SessionEnding {
    let last = draft.evidence.last_reply.as_ref();
    let report = last
        .map(|reply| condensed(&reply.text, SessionEnding::REPORT_LENGTH))
        .filter(|text| !text.is_empty());
    let is_short = report.as_ref().is_none_or(|text| text.chars().count() < MIN_SUBSTANTIAL_CHARS);
    let earlier = last.filter(|_| is_short).and_then(|last| earlier_report(draft, last.origin));
    let objective = draft.episode.summary.objective.as_str();
    let is_asked = is_of_user(draft, objective);
    let asked = match is_asked {
        true => original_prompt(draft, objective),
        false => first_request(draft),
    };
    let about = (!is_asked && asked.is_none()).then(|| objective.to_owned());
    let first = asked.clone().unwrap_or_else(|| objective.to_owned());
    let asked_last = last_request(draft, &first);
    let words = last.map_or("", |reply| reply.text.as_str());
    let tests = last_tests::describe(draft, words);
    let question = question(draft);
    SessionEnding { report, earlier_report: earlier, asked, about, asked_last, tests, question }
}

/// Returns the question with which the last report of the main agent ends, if neither an answer of
/// the user nor a change of a file follows.
fn question(draft: &Draft<'_>) -> Option<String> {
    let evidence = draft.evidence;
    let last = evidence.last_reply.as_ref().filter(|reply| reply.origin.source == 0)?;
    let is_later = |origin: Origin| origin.source == 0 && origin > last.origin;
    let is_answered = evidence.prompts.iter().any(|prompt| is_later(prompt.origin))
        || evidence.choices.iter().any(|choice| is_later(choice.origin))
        || evidence.files.values().any(|work| work.changed() && is_later(work.last));
    if is_answered { None } else { last_question(&last.text, SessionEnding::REQUEST_LENGTH) }
}

/// Returns the latest of the few reports before the last one that has substance and that the user
/// did not refuse.
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
    let mut earlier = earlier
        .take(MAX_EARLIER_REPORTS)
        .filter(|report| !is_refused(report.origin) && !is_menu(&report.text));
    let found = earlier.find(|report| report.text.chars().count() >= MIN_SUBSTANTIAL_CHARS)?;
    // The next request answered the questions of this report.
    Some(condensed_statements(&found.text, SessionEnding::EARLIER_REPORT_LENGTH))
        .filter(|text| !text.is_empty())
}

/// Whether a report is only a list from which the user has to choose.
fn is_menu(report: &str) -> bool {
    pattern!(r"(?i)\b(?:reply|respond|answer) with (?:a|the|your|one|its) (?:number|letter|choice|option|name)\b|\b(?:pick|select|choose|type|enter) (?:a|the|your|one|its) (?:number|letter|option)\b")
        .is_match(report)
}

/// Whether an objective was taken from prompts, and not from a commit, a title or a recap.
fn is_of_user(draft: &Draft<'_>, objective: &str) -> bool {
    let prompts = draft.evidence.prompts.iter().map(|prompt| prompt.text.as_str());
    let prompts: String = prompts.collect::<Vec<_>>().join(" ");
    text::share(&text::words(objective), &text::words(&prompts)) >= FROM_PROMPTS_SHARE
}

/// Returns the original text of the prompt that an objective rewords.
fn original_prompt(draft: &Draft<'_>, objective: &str) -> Option<String> {
    let ends = [" (began with", " (asked:", " Later: "];
    let end = ends.into_iter().filter_map(|end| objective.find(end)).min();
    let words = text::words(&objective[..end.unwrap_or(objective.len())]);
    let mut requests = draft.evidence.prompts.iter().filter_map(request);
    requests.find(|request| text::share(&words, &text::words(request)) >= FROM_PROMPTS_SHARE)
}

/// Returns the first request that can be understood alone.
fn first_request(draft: &Draft<'_>) -> Option<String> {
    let mut requests = draft.evidence.prompts.iter().filter_map(request);
    requests.find(|request| {
        let is_spaced = request.is_ascii() || request.contains(' ');
        !is_spaced
            || text::words(request).len() >= MIN_CLEAR_WORDS
                && !request.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Returns the last request, if it asks for something other than `first`.
fn last_request(draft: &Draft<'_>, first: &str) -> Option<String> {
    let prompts = &draft.evidence.prompts;
    let request = prompts.iter().skip(1).rev().find_map(request)?;
    let is_repeated = text::share(&text::words(&request), &text::words(first)) >= REPEATED_SHARE;
    (!is_repeated).then_some(request)
}

/// Returns a prompt without pasted lines of output and code. A prompt that consists only of such
/// lines is returned unchanged.
fn without_pasted_lines(prompt: &str) -> String {
    let is_pasted = |line: &&str| {
        let line = line.trim();
        let symbols = line.chars().filter(|c| "{}[]()=;<>|_/\\·─│█".contains(*c)).count();
        let total = line.chars().count();
        pattern!(r"^(?:[❯$>%] |at \S+[(:]|\d{1,2}:\d{2}|\d{4}-\d\d-\d\d|[│┃║]|\+\+\+|---|===|@@|diff --git|Traceback|File \x22|(?i:error|warning|warn|info|debug|fail(?:ed)?)(?:\[\w+\])?:|ERROR|FAIL|npm (?:ERR|error|warn)|\d+ \|)")
            .is_match(line)
            || total > 12 && symbols * 4 > total
    };
    let own: Vec<&str> = prompt.lines().filter(|line| !is_pasted(line)).collect();
    let own = own.join("\n");
    if own.trim().is_empty() { prompt.to_owned() } else { own }
}

/// Returns the text of a prompt on one line; `None` for a command, a notice, a reaction, or a
/// prompt of a few words.
fn request(prompt: &Quote) -> Option<String> {
    let plain = condensed(&without_pasted_lines(&prompt.text), SessionEnding::REQUEST_LENGTH);
    let is_command = pattern!(r"^(?:/\w|[<!\[{#])").is_match(plain.trim_start());
    let is_spaced = plain.is_ascii() || plain.contains(' ');
    let is_short = is_spaced && plain.split_whitespace().count() < MIN_REQUEST_WORDS;
    // `Great, thanks` and `1 - yes` answer the agent.
    let is_reaction = plain.split_whitespace().count() < MIN_STATEMENT_WORDS
        && pattern!(r"(?i)^(?:\d+ ?[-.):]|(?:thanks?|thank you|thx|great|excellent|perfect|nice|awesome|cool|good|lgtm|danke|super|gracias|genial|merci|parfait)\b)")
            .is_match(&plain);
    (!is_command && !is_short && !is_reaction && !plain.is_empty()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        graph::read::scenarios::{SessionFixture, line},
        model::evidence::{Correction, TurnReport},
    };

    fn ending(session: &SessionFixture) -> SessionEnding {
        of(&Draft::new(&session.episode, &session.evidence))
    }

    fn said(session: &SessionFixture, at: u64, text: &str) -> Quote {
        Quote { text: text.to_owned(), origin: line(at), at: session.at(at) }
    }

    #[test]
    fn a_session_ends_with_the_last_words_of_both() {
        let mut session = SessionFixture::new(10, "fix: read the key once");
        session.evidence.prompts = vec![
            said(&session, 1, "The login fails after a minute, find out why"),
            said(&session, 5, "now describe it in the manual"),
            said(&session, 7, "ok push"),
        ];
        session.evidence.last_reply = Some(said(&session, 9, "**Pushed** to `main`."));
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
        assert_eq!(found.asked.as_deref(), Some("The login fails after a minute, find out why"));
        assert_eq!(found.asked_last.as_deref(), Some("now describe it in the manual"));

        let refused =
            Correction { origin: line(7), refused: Some("Edit".to_owned()), stopped: None };
        session.evidence.corrections = vec![refused];
        session.episode.summary.objective =
            "The login fails after a minute. Later: manual".to_owned();
        let found = ending(&session);
        let asked = "The login fails after a minute, find out why".to_owned();
        assert_eq!((found.earlier_report, found.asked), (None, Some(asked)));

        session.evidence.corrections.clear();
        session.evidence.reports[1].text = format!("{long} Reply with a number to see one.");
        assert_eq!(ending(&session).earlier_report, None, "a list to choose from");

        session.evidence.prompts =
            vec![said(&session, 1, "3 but on this branch, since it is related")];
        session.episode.summary.objective = "Read keys once".to_owned();
        let found = ending(&session);
        assert_eq!((found.asked, found.about.as_deref()), (None, Some("Read keys once")));
    }

    #[test]
    fn commands_and_words_of_assent_are_no_requests() {
        let mut session = SessionFixture::new(10, "Fix the login");
        for (prompt, wanted) in [
            ("/compact now please and go on", false),
            ("<task-notification>done</task-notification> x y", false),
            ("yes please", false),
            ("Excellent work, thank you very much!", false),
            ("1 - yeah, 2 - go for it", false),
            ("rename the parser of dates", true),
            ("修复登录错误", true),
        ] {
            session.evidence.prompts =
                vec![said(&session, 1, "Fix the login"), said(&session, 5, prompt)];
            assert_eq!(ending(&session).asked_last.is_some(), wanted, "{prompt}");
        }
    }

    #[test]
    fn a_request_is_quoted_word_for_word_without_what_was_pasted() {
        let mut session = SessionFixture::new(10, "Limit the uploads");
        session.episode.summary.objective = "Limit the uploads of the shop to ten files".to_owned();
        session.evidence.prompts = vec![
            said(&session, 1, "Can you please limit the uploads of the shop to ten files?"),
            said(
                &session,
                5,
                "$ make check\nerror: limit.rs: cannot find `TEN` (E0425)\n=====\ncan you find out why the check fails?",
            ),
        ];
        let found = ending(&session);
        assert_eq!(
            found.asked.as_deref(),
            Some("Can you please limit the uploads of the shop to ten files?")
        );
        assert_eq!(found.asked_last.as_deref(), Some("can you find out why the check fails?"));
    }
}
