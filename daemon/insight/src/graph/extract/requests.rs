//! Chooses the requests of the user that show the purpose of a session.

use std::{cmp::Reverse, collections::HashSet};

use super::{
    condensed::last_question,
    draft::Draft,
    fact_selection, locate,
    orders::{is_clear_order, is_order},
    request_excerpt::{MAX_TYPED_BYTES, with_its_orders},
    routine,
};
use crate::{
    graph::text,
    lang::prose::has_many_symbols,
    model::{SessionEnding, evidence::Quote, transcript::Origin},
    pattern::pattern,
};

/// Maximum number of later requests: the last one, and those that led to most work.
const MAX_LATER: usize = 3;
/// Minimum number of words of a prompt that counts as a request.
const MIN_REQUEST_WORDS: usize = 4;
/// Minimum number of different words of a request that can be understood alone.
const MIN_CLEAR_WORDS: usize = 5;
/// Minimum number of words of a prompt that begins with a reaction such as `Great` and says more.
const MIN_STATEMENT_WORDS: usize = 9;
/// Minimum number of words of a request that begins with an assent and refers to the agent's
/// proposal. A shorter prompt of this kind is only an assent.
const MIN_CLEAR_ASSENT_WORDS: usize = 12;
/// Maximum length, in characters, of the question before a prompt.
const MAX_QUESTION_CHARS: usize = 400;
/// An objective comes from the prompts if they contain at least this share of its words.
const FROM_PROMPTS_SHARE: f64 = 0.8;
/// A request repeats an earlier text if the text contains at least this share of the words of the
/// request.
const REPEATED_SHARE: f64 = 0.6;

/// Returns the request that the `objective` of the summary rewords. If the objective was not taken
/// from prompts, returns the first request instead, unless this request only answers the agent.
pub(super) fn first(draft: &Draft<'_>, objective: &str) -> Option<String> {
    match is_of_user(draft, objective) {
        true => request_behind(draft, objective),
        false => first_clear(draft),
    }
}

/// Returns the last request and the earlier requests that led to most work, in order. Leaves out
/// requests that repeat `first` or each other, and prompts that only answer the agent.
pub(super) fn later(draft: &Draft<'_>, first: &str) -> Vec<String> {
    let evidence = draft.evidence;
    let prompts = &evidence.prompts;
    let is_first =
        |prompt: &Quote| request(prompt, SessionEnding::REQUEST_LENGTH).as_deref() == Some(first);
    let start = prompts.iter().position(is_first).unwrap_or_default();
    let mut found: Vec<(usize, String)> = Vec::new();
    for (at, prompt) in prompts.iter().enumerate().skip(start + 1).rev() {
        let own = without_quoted_report(draft, prompt);
        let request = request(&own, SessionEnding::LATER_REQUEST_LENGTH);
        let Some(request) = request.filter(|request| !is_answer(draft, prompt, request)) else {
            continue;
        };
        let words = text::words(&request);
        let repeats = |other: &str| text::share(&words, &text::words(other)) >= REPEATED_SHARE;
        if !repeats(first) && !found.iter().any(|(_, known)| repeats(known)) {
            found.push((at, request));
        }
    }
    let mut found = found.into_iter();
    let last = found.next();
    // Earlier questions are left out: their answers are unknown, and may have changed what the user
    // wanted.
    let orders: Vec<(usize, String)> = found.filter(|(_, text)| is_clear_order(text)).collect();
    // A question at the end is usually about the order before it, so this order is kept.
    let is_question = last
        .as_ref()
        .is_some_and(|(_, text)| text.trim_end().ends_with(['?', '？']) && !is_clear_order(text));
    let is_clear = |order: &&(usize, String)| text::words(&order.1).len() >= MIN_CLEAR_WORDS;
    let asked_about = orders.first().filter(|_| is_question).filter(is_clear);
    let asked_about = asked_about.map(|order| order.0);
    let with_work = orders.into_iter().map(|order| (work_of(draft, order.0), order));
    let mut with_work: Vec<_> =
        with_work.filter(|(work, order)| *work > 0 || Some(order.0) == asked_about).collect();
    with_work.sort_by_key(|(work, order)| (Some(order.0) != asked_about, Reverse(*work)));
    let most_work = with_work.into_iter().map(|(_, order)| order).take(MAX_LATER - 1);
    let mut chosen: Vec<(usize, String)> = most_work.chain(last).collect();
    chosen.sort_by_key(|(at, _)| *at);
    chosen.into_iter().map(|(_, request)| request).collect()
}

/// Returns a prompt without the lines at its beginning that quote the agent's report before it.
fn without_quoted_report(draft: &Draft<'_>, prompt: &Quote) -> Quote {
    let report = draft.report_before(prompt.origin);
    let lines = report.into_iter().flat_map(|report| report.text.lines());
    let reported: HashSet<String> = lines.map(text::plain).collect();
    let is_quoted = |line: &&str| {
        let plain = text::plain(line);
        plain.is_empty() || plain.contains(' ') && reported.contains(&plain)
    };
    let own: Vec<&str> = prompt.text.lines().skip_while(is_quoted).collect();
    match own.is_empty() {
        true => prompt.clone(),
        false => Quote { text: own.join("\n"), ..prompt.clone() },
    }
}

/// Returns how much work followed a request before the next request: the number of commits, plus
/// one if a report is about changes.
fn work_of(draft: &Draft<'_>, prompt: usize) -> usize {
    let evidence = draft.evidence;
    let start = evidence.prompts[prompt].origin;
    // An assent continues the request before it.
    let mut later = evidence.prompts[prompt + 1..].iter();
    let next = later.find(|next| request(next, SessionEnding::LATER_REQUEST_LENGTH).is_some());
    let end = next.map(|next| next.origin);
    let is_within = |origin: Origin| origin.follows(start) && end.is_none_or(|end| origin < end);
    let commits = evidence.commits.iter().filter(|commit| is_within(commit.origin)).count();
    let mut reports = evidence.reports.iter();
    let changed = reports.any(|report| report.changed && is_within(report.origin));
    commits + usize::from(changed)
}

/// Whether an objective was taken from prompts, and not from a commit, a title or a recap.
fn is_of_user(draft: &Draft<'_>, objective: &str) -> bool {
    let prompts = draft.evidence.prompts.iter().map(|prompt| prompt.text.as_str());
    let prompts: String = prompts.collect::<Vec<_>>().join(" ");
    text::share(&text::words(objective), &text::words(&prompts)) >= FROM_PROMPTS_SHARE
}

/// Returns the original text of the prompt that an objective rewords. If the prompt is long,
/// returns the objective, without the names in brackets that the summary may have added.
fn request_behind(draft: &Draft<'_>, objective: &str) -> Option<String> {
    let ends = [" (began with", " (asked:", " (came to:", " Later: ", " Also: "];
    let end = ends.into_iter().filter_map(|end| objective.find(end)).min();
    let own = &objective[..end.unwrap_or(objective.len())];
    let own = pattern!(r" \([^()`]*`[^()`]*`\)").replace_all(own, "");
    let words = text::words(&own);
    let mut prompts = draft.evidence.prompts.iter();
    let found = prompts.find(|prompt| {
        request(prompt, SessionEnding::REQUEST_LENGTH).is_some()
            && text::share(&words, &text::words(&prompt.text)) >= FROM_PROMPTS_SHARE
    });
    if let Some(prompt) = found.filter(|prompt| prompt.text.len() <= MAX_TYPED_BYTES) {
        return request(prompt, SessionEnding::REQUEST_LENGTH);
    }
    // The first lines of a long prompt, such as a plan, say less than the objective. If no prompt
    // was found, the objective is returned only if a prompt contains it, because the user then
    // wrote it.
    let plain = text::plain(&own);
    let mut prompts = draft.evidence.prompts.iter();
    let is_typed = prompts.any(|prompt| text::plain(&prompt.text).contains(&plain));
    (found.is_some() || is_typed).then(|| own.into_owned())
}

/// Returns the first request that has enough words to be understood alone; `None` if this request
/// only answers the agent.
fn first_clear(draft: &Draft<'_>) -> Option<String> {
    let is_clear = |request: &String| {
        let is_spaced = request.is_ascii() || request.contains(' ');
        !is_spaced
            || text::words(request).len() >= MIN_CLEAR_WORDS
                && !request.starts_with(|c: char| c.is_ascii_digit())
    };
    let prompts = draft.evidence.prompts.iter();
    let mut requests = prompts.filter_map(|prompt| {
        Some((prompt, request(prompt, SessionEnding::REQUEST_LENGTH).filter(is_clear)?))
    });
    let (prompt, request) = requests.next()?;
    let is_reply = answers_question(draft, prompt) && !is_order(&request);
    (!is_reply && !is_answer(draft, prompt, &request)).then_some(request)
}

/// Whether a prompt chooses an option, is clear only with the question that it answers, or explains
/// why the user refused a tool call and orders nothing.
fn is_answer(draft: &Draft<'_>, prompt: &Quote, request: &str) -> bool {
    let mut choices = draft.evidence.choices.iter();
    let mut corrections = draft.evidence.corrections.iter();
    choices.any(|choice| choice.origin == prompt.origin)
        || !is_order(request)
            && corrections.any(|one| one.origin == prompt.origin && one.refused.is_some())
        || !fact_selection::names_something(request)
            && !is_order(request)
            && answers_question(draft, prompt)
}

/// Whether the report before a prompt ends with a question, so that the prompt may be clear only
/// with this question.
fn answers_question(draft: &Draft<'_>, prompt: &Quote) -> bool {
    let report = draft.report_before(prompt.origin);
    report.is_some_and(|report| last_question(&report.text, MAX_QUESTION_CHARS).is_some())
}

/// Returns the text of a prompt on one line of at most `limit` characters; `None` for a command, a
/// notice, the summary of a compaction, a reaction, an assent, a pasted review, a routine order, or
/// a prompt of a few words.
fn request(prompt: &Quote, limit: usize) -> Option<String> {
    if locate::is_compaction(&prompt.text) {
        return None;
    }
    // The evidence appends the command of the user that preceded the prompt.
    let text = pattern!(r" \(after `[^`]*`\)\s*$").replace(&prompt.text, "");
    let own = without_pasted_lines(&text);
    let plain = with_its_orders(&own, limit);
    let is_word = |word: &&str| word.contains(char::is_alphabetic);
    let words = plain.split_whitespace().filter(is_word).count();
    let is_command =
        pattern!(r"^(?:/[a-zA-Z]|[<!{]|\[[^\]]*\](?:[^(]|$)|#[^# ])").is_match(own.trim_start());
    let is_spaced = plain.is_ascii() || plain.contains(' ');
    let is_short = is_spaced && words < MIN_REQUEST_WORDS;
    // `Great, thanks` and `1 - yes` answer the agent.
    let is_reaction = words < MIN_STATEMENT_WORDS
        && pattern!(r"(?i)^(?:[0-9]+ ?[-.):]|(?:what|why) (?:are|is|did|were) (?:you|the agent)\b|(?:thanks?|thank you|thx|great|excellent|perfect|nice|awesome|cool|good|lgtm|danke|super|gracias|genial|merci|parfait)\b)")
            .is_match(&plain);
    // `Yes, let's do that` is clear only with what the agent proposed.
    let is_assent = words < MIN_CLEAR_ASSENT_WORDS
        && pattern!(r"(?i)^(?:(?:yes|yeah|yep|sure|ok(?:ay)?|great|right)\b[,.! ]*)+")
            .is_match(&plain)
        && fact_selection::has_pronoun_object(&plain);
    let is_review = pattern!(
        r"(?i)^(?:(?:low|medium|high|critical|minor|major)[ -]severity\b|code review (?:for|of)\b|(?:more )?(?:pr|reviewer) feedback:)"
    )
    .is_match(own.trim_start());
    let is_request = !is_command
        && !is_short
        && !is_reaction
        && !is_assent
        && !is_review
        && !routine::is_routine(&plain);
    (is_request && !plain.is_empty()).then_some(plain)
}

/// Returns a prompt without pasted lines of output and code. A prompt that consists only of such
/// lines is returned unchanged.
fn without_pasted_lines(prompt: &str) -> String {
    let shell = pattern!(r"^(?:[❯$%] [a-z./~]|[a-z0-9_.-]+@[A-Za-z0-9_.-]+[ :][^%$#]*[%$#] )");
    let of_output = pattern!(
        r"^(?:[❯$>%] |at \S+[(:]|\d{1,2}:\d{2}|\d{4}-\d\d-\d\d|[│┃║]|\+\+\+|---|===|@@|diff --git|Traceback|File \x22|(?i:error|warning|warn|info|debug|fail(?:ed)?)(?:\[\w+\])?:|ERROR|FAIL|npm (?:ERR|error|warn)|\d+ \||E   |[_=]{5,} )"
    );
    let speech = pattern!(
        r"(?i)[.?!]$|^(?:can|could|why|what|how|please|fix|i|we|it|this|the|that|but|and|so)\b"
    );
    let mut is_output = false;
    let mut is_pasted = |line: &str| {
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        let line = line.trim();
        is_output |= shell.is_match(line);
        let is_speech =
            speech.is_match(line) && line.split_whitespace().count() >= MIN_REQUEST_WORDS;
        of_output.is_match(line)
            || line.ends_with(['{', '}', ';'])
            || is_indented && is_code(line)
            || is_output && !is_speech
            || has_many_symbols(line)
    };
    // The first pasted command may be on the same line as the user's own words.
    let inline = pattern!(r"(?:^| )(?:~|/)[A-Za-z0-9_./-]* {1,3}[$%#] .*");
    let mut own: Vec<&str> = Vec::new();
    for line in prompt.lines() {
        let line = inline.find(line).map_or(line, |shell| &line[..shell.start()]);
        if line.trim().is_empty() || !is_pasted(line) {
            own.push(line.trim_end_matches('\\'));
        } else if own.last().is_some_and(|last| last.ends_with(char::is_alphanumeric)) {
            // The pasted line follows the first part of a sentence.
            own.push("…");
        }
    }
    let own = own.join("\n");
    if own.trim().is_empty() { prompt.to_owned() } else { own }
}

/// Whether an indented line is code.
fn is_code(line: &str) -> bool {
    line.starts_with(['#', '@', '"'])
        || line.starts_with("//")
        || line.ends_with([':', '(', ')', ',', ';', '{', '}'])
        || [" = ", "()", "(self", "{", ";"].iter().any(|part| line.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        graph::extract::scenarios::{SessionFixture, line},
        model::evidence::{Commit, Correction, TurnReport},
    };

    fn quote(session: &SessionFixture, at: u64, text: &str) -> Quote {
        Quote { text: text.to_owned(), origin: line(at), at: session.at(at) }
    }

    fn asked_later(session: &SessionFixture) -> Vec<String> {
        later(&Draft::new(&session.episode, &session.evidence), &session.episode.summary.objective)
    }

    #[test]
    fn commands_and_words_of_assent_are_no_requests() {
        let mut session = SessionFixture::new(10, "Fix the login");
        for (prompt, wanted) in [
            ("/compact now please and go on", false),
            ("<task-notification>done</task-notification> x y", false),
            ("This session is being continued from a previous conversation: fix it", false),
            ("yes please", false),
            ("what are you doing?", false),
            ("Excellent work, thank you very much!", false),
            ("1 - yeah, 2 - definitely, go for it.", false),
            ("yep, let's do this in 3 commits", false),
            ("ok lets get back to main", false),
            ("let's cut a branch first", false),
            ("how big would it be? Apply both of them.", true),
            ("commit that, push it and open a pr", false),
            ("can you update the changelog of the parser?", true),
            ("rename the parser of dates", true),
            ("修复登录错误", true),
        ] {
            session.evidence.prompts =
                vec![quote(&session, 1, "Fix the login"), quote(&session, 5, prompt)];
            assert_eq!(!asked_later(&session).is_empty(), wanted, "{prompt}");
        }
    }

    #[test]
    fn a_request_is_quoted_word_for_word_without_what_was_pasted() {
        let mut session = SessionFixture::new(10, "Limit the uploads");
        session.episode.summary.objective = "Limit the uploads of the shop to ten files".to_owned();
        session.evidence.prompts = vec![
            quote(&session, 1, "Can you please limit the uploads of the shop to ten files?"),
            quote(
                &session,
                5,
                "$ make check\nerror: limit.rs: cannot find `TEN` (E0425)\n=====\ncan you find out why the check fails?",
            ),
        ];
        let draft = Draft::new(&session.episode, &session.evidence);
        assert_eq!(
            first(&draft, &session.episode.summary.objective).as_deref(),
            Some("Can you please limit the uploads of the shop to ten files?")
        );
        assert_eq!(asked_later(&session), ["can you find out why the check fails?"]);
    }

    #[test]
    fn the_last_request_and_those_that_led_to_work_are_in_order() {
        let mut session = SessionFixture::new(10, "Fix the login");
        let prompts = [
            "Fix the login of the shop",
            "rename the parser of old dates",
            "is the signer tested on Windows?",
            "now describe the keys in the manual",
            "describe the keys in the manual, please",
            "yes, go on",
            "add a test of the signer",
            "count the failed logins of a user",
        ];
        session.evidence.prompts =
            (0..).zip(prompts).map(|(at, text)| quote(&session, at * 2 + 1, text)).collect();
        let changed = |at, changed| TurnReport {
            text: "Done.".to_owned(),
            origin: line(at),
            changed,
            ..TurnReport::default()
        };
        session.evidence.reports =
            vec![changed(4, true), changed(6, false), changed(10, true), changed(14, true)];
        session.evidence.commits = vec![Commit {
            hash: String::new(),
            subject: "Rename the parser".to_owned(),
            body: String::new(),
            origin: line(4),
            at: None,
        }];
        assert_eq!(
            asked_later(&session),
            [
                "rename the parser of old dates",
                "add a test of the signer",
                "count the failed logins of a user"
            ]
        );
    }

    #[test]
    fn an_earlier_question_is_left_out_and_the_order_before_a_last_question_is_kept() {
        let mut session = SessionFixture::new(10, "Name the agent");
        session.evidence.prompts = vec![
            quote(&session, 1, "Name the agent in each log"),
            quote(&session, 3, "why would you repeat the table in the first migration?"),
            quote(&session, 5, "I see no caller, tell me where we should add the agent"),
            quote(&session, 7, "how can we know which agent is active?"),
        ];
        assert_eq!(
            asked_later(&session),
            [
                "I see no caller, tell me where we should add the agent",
                "how can we know which agent is active?"
            ]
        );
    }

    #[test]
    fn quoted_lines_of_the_report_and_pasted_reviews_are_no_requests() {
        let mut session = SessionFixture::new(10, "Test the tunnel");
        session.evidence.prompts = vec![
            quote(&session, 1, "Test the tunnel of the sync"),
            quote(
                &session,
                5,
                "- a temporary pair of keys and a file of settings\nwe should not touch the default settings",
            ),
            quote(&session, 7, "Medium Severity The comment on line 2 says that it is off"),
        ];
        session.evidence.reports = vec![TurnReport {
            text:
                "I would use:\n\n- a temporary pair of keys and a file of settings\n- a container"
                    .to_owned(),
            origin: line(3),
            ..TurnReport::default()
        }];
        assert_eq!(asked_later(&session), ["we should not touch the default settings"]);
    }

    #[test]
    fn an_answer_is_no_request_if_only_its_question_makes_it_clear() {
        let mut session = SessionFixture::new(10, "Mark the answers");
        session.evidence.prompts = vec![
            quote(&session, 1, "yes proper brainstorm"),
            quote(&session, 5, "no just add the name to each of the headers: Entire Search"),
            quote(&session, 9, "only the first answer and not on errors of `search`"),
            quote(&session, 11, "can you write all of that into a file?"),
        ];
        let report = |at, text: &str| TurnReport {
            text: text.to_owned(),
            origin: line(at),
            ..TurnReport::default()
        };
        session.evidence.reports = vec![report(3, "Which one?"), report(7, "All right?")];
        let draft = Draft::new(&session.episode, &session.evidence);
        assert_eq!(first(&draft, "Print a header"), None);
        assert_eq!(later(&draft, "Print a header"), ["can you write all of that into a file?"]);
        session.evidence.prompts.pop();
        let draft = Draft::new(&session.episode, &session.evidence);
        let answer = "only the first answer and not on errors of `search`";
        assert_eq!(later(&draft, "Print a header"), [answer]);
        let refused = Some("the edit of `search.rs`".to_owned());
        session.evidence.corrections = vec![Correction { origin: line(9), refused, stopped: None }];
        let draft = Draft::new(&session.episode, &session.evidence);
        assert!(
            !later(&draft, "Print a header").contains(&answer.to_owned()),
            "the prompt refuses an edit"
        );
    }

    #[test]
    fn names_that_the_summary_added_are_no_part_of_the_request() {
        let mut session = SessionFixture::new(10, "Fix the build");
        let prompt =
            "fix the error about missing keys, it was added in prior commits of this branch";
        let text = format!("{prompt} (after `make all`)");
        session.evidence.prompts = vec![quote(&session, 1, &text)];
        let draft = Draft::new(&session.episode, &session.evidence);
        let objective = "Fix the error about missing keys, it was added in prior commits of this branch (`feat/random-file-keys`). (after `make the whole build`)";
        assert_eq!(first(&draft, objective).as_deref(), Some(prompt));
    }

    #[test]
    fn output_after_a_prompt_of_a_shell_and_pasted_code_are_left_out() {
        for (prompt, wanted) in [
            (
                "The warnings are still there.\n\nann@host app % make check\n\n> app@1.2 check /app\nspec written to: /app/a.json\n25 problems (0 errors, 25 warnings)",
                "The warnings are still there.",
            ),
            (
                "Some tests are unhappy now:\\\n\\\n____________ test_rows ____________\n\n    # Make a folder\n    with temporary_folder() as folder:\n        path = Path(folder)",
                "Some tests are unhappy now:",
            ),
            (
                "This is not supported:\nul li {\n  display: ruby;\n}\nrewrite it please",
                "This is not supported:\nrewrite it please",
            ),
            (
                "I don't see it.\n~/code  $ ls\na b\nIt is gone. ~/code $ ls",
                "I don't see it.\n\na b\nIt is gone.",
            ),
            (
                "Do two things:\n    - fix the login\n    - add a test",
                "Do two things:\n    - fix the login\n    - add a test",
            ),
            (
                "Each request read the\nc.Transport(); if (c.a == nil) { return c.b; }\nLet's keep it.",
                "Each request read the\n…\nLet's keep it.",
            ),
        ] {
            assert_eq!(without_pasted_lines(prompt).trim(), wanted, "{prompt}");
        }
    }
}
