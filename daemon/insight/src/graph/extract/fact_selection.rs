//! Decides which statements of a summary become facts: those that a reader can still understand and
//! use months later, without the session. The summary keeps all statements.

use super::{orders, reference};
use crate::{
    lang::{environment, lasting},
    model::{
        evidence::Choice,
        summary::{DecisionRecord, ErrorResolution},
        wording::{BY_THE_USER, is_filler},
    },
    pattern::{Regex, pattern},
    report::{Topic, is_phrase},
    text::is_ideograph,
};

/// Minimum number of words of a decision that neither quotes the user nor answers a known question.
const MIN_DECISION_WORDS: usize = 3;
/// Minimum length, in characters, of the answer to a question.
const MIN_ANSWER_CHARS: usize = 40;

/// Whether a finding is worth a fact: it names its subject, is still true after the session, and
/// states a limit, a cause or an exception. A mere description of code is no fact, because the code
/// shows it. A question with its answer needs no limit, but both must be clear.
pub(super) fn is_finding(text: &str) -> bool {
    if let Some((question, answer)) = split_question(text) {
        return is_clear_question(question) && is_answer(question, answer);
    }
    let is_quote = text.starts_with("User: ");
    !is_quote
        && !is_phrase(Topic::Judgement, text)
        && !is_list(text)
        && is_about_project(text)
        && !reference::uses_session_label(text)
        && !is_phrase(Topic::SessionReference, text)
        && has_subject(text)
        && is_lasting(text)
        && names_something(text)
        && states_limit(text)
}

/// Whether a text is about the project, and neither about the machine that the session ran on nor
/// about what a menu or the help of a tool lists.
fn is_about_project(text: &str) -> bool {
    let is_help = pattern!(
        r"(?i)\bno such (?:sub)?(?:command|option|flag)\b|\bis(?: not|n.t) a (?:known |valid |real )?(?:sub)?(?:command|option|flag)\b|`[^`]* ?--help`|\b(?:help|usage) (?:text|output|line|message)\b|\b(?:in|from|under|open) the menu\b"
    );
    !environment::is_denied_by_environment(text)
        && !machine_specific().is_match(text)
        && !is_help.is_match(text)
}

/// Returns the pattern of addresses and paths that mean something only on one machine.
pub(super) fn machine_specific() -> std::sync::Arc<Regex> {
    pattern!(r"\b(?:127\.0\.0\.1|10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+)\b|/(?:Users|home|tmp)/")
}

/// Whether a text is a list or an entry of a list, and not a sentence: a text that begins with a
/// position in a file (`a.rs:12`) or has several positions, a shortened list, the title of a review
/// finding, or a text of three or more parts with `; ` between them.
fn is_list(text: &str) -> bool {
    let place = pattern!(r"`?[\w/.-]+\.[a-z]{1,4}:\d+");
    let begins_with_place = place.find(text).is_some_and(|found| found.start() == 0);
    begins_with_place
        || is_list_entry(text)
        || place.find_iter(text).count() >= 2
        || text.matches("; ").count() >= 2
}

/// Whether a text is a shortened list, or begins like an entry of a list of review comments.
fn is_list_entry(text: &str) -> bool {
    pattern!(r"; \+[0-9]+ more\W*$|; [A-Z`][A-Za-z0-9`_() -]{2,40} [—–] |^\[?P[0-9]\b|^(?i:critical|high|medium|low|major|minor|blocker|nit)\b[^:]{0,12}: ")
        .is_match(text)
}

/// Whether a cause can be understood alone, and is neither a guess nor a state in progress.
pub(super) fn is_cause(text: &str) -> bool {
    let is_guess =
        pattern!(r"(?i)^(?:unless|if|maybe|perhaps|probably|the (?:bug|issue|problem|error)|we.re|we are|i)\b")
            .is_match(text);
    // `The variable is missing` and `it is returning null` are causes.
    let is_running = pattern!(
        r"(?i)\b(?:is|are) (?:still |now |currently |just )?(?:checking|complaining|debugging|failing|fixing|flagging|going|investigating|looking|reporting|running|testing|trying|waiting|working)\b|\b(?:i|we|the agent|claude) (?:am|is|are) \w+ing\b"
    )
    .is_match(text);
    !is_guess
        && !is_running
        && is_balanced(text)
        && names_something(text)
        && is_about_project(text)
        && !is_phrase(Topic::SessionReference, text)
}

/// Whether a dead end is a complete text about the project. An edit that was reverted is no dead
/// end.
pub(super) fn is_dead_end(text: &str) -> bool {
    !pattern!(r"(?i)^(?:i |we )?(?:reverted|restored|undid|rolled back)\b").is_match(text)
        && is_balanced(text)
        && is_about_project(text)
}

/// Whether an open end is still meaningful after its session, and can be understood alone. A list
/// of failing tests is not, because each failing test is a fact of its own.
pub(super) fn is_open_end(text: &str) -> bool {
    let is_part = reference::uses_session_label(text)
        || is_phrase(Topic::SessionReference, text)
        || pattern!(r"(?i)\b(?:one|some|all|any|each) of (?:those|these|them)\b").is_match(text);
    !is_phrase(Topic::Momentary, text)
        && !is_part
        && !reference::open_end_has_external_pronoun(text)
        && is_balanced(text)
}

/// Whether a decision is about the work rather than about the next step of the session, and is
/// clear without the session.
pub(super) fn is_decision(record: &DecisionRecord, what: &str, asked: Option<&Choice>) -> bool {
    if let Some(quote) = what.strip_prefix("User: ") {
        let is_asked = record.rationale.contains("asked: ");
        // An answer that begins with a doubt does not decide the question.
        let first = quote.trim_matches('"').split_inclusive(['.', '!', ';', ',']).next();
        if is_asked && first.is_some_and(|first| is_phrase(Topic::Hedge, first)) {
            return false;
        }
        let quote = unhedged(quote);
        let quote = quote.as_str();
        if reference::uses_session_label(quote) || lasting::is_order(quote) {
            return false;
        }
        let is_alone = !has_pronoun_object(quote)
            && !is_phrase(Topic::SessionReference, quote)
            && !reference::counts_unnamed_objects(quote)
            && !reference::names_bare_file(quote);
        return lasting::is_users_decision(quote, is_asked)
            && (is_asked || is_alone)
            && !is_for_the_moment(quote);
    }
    if let Some(asked) = asked {
        let header = asked.header.as_deref().unwrap_or_default();
        return !lasting::is_procedural(&asked.question, header, &asked.answer)
            && !lasting::is_order(what)
            && !reference::uses_session_label(what);
    }
    // A decision with one of these beginnings answers a question that is not known.
    let is_answer = pattern!(
        r"(?i)^(?:yes|no|not yet|sure|starting|going|beginning|created|removed|fixed|decisions?|just|the (?:one|remaining|other|rest|following|issue|problem)|option [a-z1-9])\b|^`[^`]+` [-—–] "
    );
    let words = what.split_whitespace().count();
    (words >= MIN_DECISION_WORDS || what.chars().any(is_ideograph))
        && (record.rationale.contains(BY_THE_USER) || !is_phrase(Topic::AgentStep, what))
        && !is_answer.is_match(what)
        && !is_phrase(Topic::SessionReference, what)
        && !has_pronoun_object(what)
        && !reference::counts_unnamed_objects(what)
        && !is_phrase(Topic::BareNoun, what)
        && !lasting::is_for_now(what)
        && !lacks_alternative(what)
}

/// Whether the user only forbids a step until something else is done, for example `don't commit
/// yet`.
fn is_for_the_moment(quote: &str) -> bool {
    pattern!(
        r"(?i)\b(?:do not|don.?t) \w+ (?:(?:it|this|that|anything) )?(?:yet|for now|right now)\b|\b(?:noch nicht|vorerst nicht|erstmal nicht)\b|\bpas encore\b|\btodavía no\b|まだ\w*ないで|先不要|暂时不要"
    )
    .is_match(quote)
}

/// Returns the sentences of a quote in which the user is certain.
pub(super) fn unhedged(quote: &str) -> String {
    let is_sure = |sentence: &&str| !is_phrase(Topic::Hedge, sentence);
    let pieces = quote.split(" … ").map(|piece| {
        piece.split_inclusive(['.', '!', ';']).filter(is_sure).collect::<String>().trim().to_owned()
    });
    let pieces: Vec<String> = pieces.filter(|piece| !piece.trim_matches('"').is_empty()).collect();
    pieces.join(" … ")
}

/// Whether a verb of a text has only a pronoun as its object, for example `we should support those,
/// too`.
pub(super) fn has_pronoun_object(quote: &str) -> bool {
    pattern!(r"(?i)\b(?:support|use|do|keep|want|need|drop|avoid|add|have|make|remove|call|put|implement|build|write|run|move|change|fix) (?:those|these|this|that|it|them|both)\b")
        .is_match(quote)
}

/// Whether only the text before a decision mentions the alternative, for example `Used one file
/// instead`.
fn lacks_alternative(what: &str) -> bool {
    pattern!(r"(?i)\b(?:instead|too|as well)[.!]?$").is_match(what)
}

/// Whether a record has the message of a program and says how the error was fixed. If the fix only
/// lists the changed files, or the error is one of a compiler or linter, the record also needs a
/// cause. Failing tests and errors of MCP tools do not count, nor do denials by the environment,
/// except for an address that the project configures.
pub(super) fn is_resolution(record: &ErrorResolution, cause: &str, attempt: Option<&str>) -> bool {
    let has_cause = !cause.is_empty() && !is_filler(cause);
    // The history of the repository already lists the changed files. An error whose fix changed
    // only the test was an error of this test.
    let has_stated_fix = !is_filler(&record.fix)
        && !record.fix.is_empty()
        && !record.fix.starts_with("The test was changed")
        && (has_cause || !record.fix.starts_with("Changed `"));
    let is_tool = attempt.is_some_and(|attempt| attempt.starts_with("mcp__"));
    let is_of_compiler =
        pattern!(r"(?i)\berror TS\d+|\berror\[E\d+\]|:\d+:\d+:? |\blint\b").is_match(&record.error);
    has_stated_fix
        && !is_tool
        && is_message(&record.error)
        && (!environment::is_denied_by_environment(&record.error)
            || has_cause && is_of_address_in_project(record))
        && !is_of_test(&record.error)
        && (has_cause || !is_of_compiler)
        && names_something(&record.error)
}

/// Whether a program could not use an address, and a later command worked after the fix changed a
/// file. The address or the port in the project was wrong then, not the machine.
fn is_of_address_in_project(record: &ErrorResolution) -> bool {
    let is_of_address = pattern!(
        r"(?i)\b(?:EADDRINUSE|ECONNREFUSED)\b|\baddress already in use\b|\bconnection refused\b"
    );
    let changed_file = pattern!(r"^Changed `|\(in `[^`]+`");
    is_of_address.is_match(&record.error)
        && changed_file.is_match(&record.fix)
        && is_verified(record)
}

/// Whether a resolution was verified, and not only by reading or editing a file again.
pub(super) fn is_verified(record: &ErrorResolution) -> bool {
    let verification = &record.verification;
    let is_by_edit = pattern!(r"^`(?:Edit|Write|MultiEdit|NotebookEdit|Read|apply_patch)\b")
        .is_match(verification);
    !verification.is_empty() && !is_filler(verification) && !is_by_edit
}

/// Whether a text is the message of a program, and not a request of the user or a piece of code.
fn is_message(error: &str) -> bool {
    let is_code = pattern!(r#""""|^\s*(?:@\w|def |fn |class |import |from \w+ import)|[{};]\s*$"#);
    let is_request = pattern!(
        r"(?i)\?\W*$|^(?:can|could|should|would|why|how|what) (?:you|we|i|is|does)\b|^(?:let.s|please|i (?:want|think|don.t|would)|we (?:should|need))\b"
    );
    !is_code.is_match(error) && !is_request.is_match(error)
}

fn is_of_test(error: &str) -> bool {
    pattern!(
        r"(?i)\w*tests? failed\b|\btest\w* failed\b|_tests? failed\b|\btest_\w+|AssertionError|› |\bexpect(?:ed)?\(|_test\.\w+:\d|^[a-z0-9_./@-]+/[a-z0-9_./@-]+ failed\b"
    )
    .is_match(error)
}

/// Whether a decision of the agent states a choice between alternatives.
pub(super) fn is_choice(text: &str) -> bool {
    is_phrase(Topic::Alternative, text)
}

/// Splits `Asked: … Answer: …` into the question and the answer.
pub(super) fn split_question(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("Asked: ")?.split_once(" Answer: ")
}

/// Returns `Asked: … Answer: …` without the introduction of the question, such as `ok one thing`.
pub(super) fn without_courtesy(text: &str) -> String {
    pattern!(
        r"(?i)^Asked: (?:(?:ok(?:ay)?|so|well|hm+|also|and|hey|wait|right|yes|no)\b[,.]? |(?:one|another|a) (?:quick |more |last |other )?(?:thing|question)\b[a-z' -]{0,60}[,:] )+"
    )
    .replace(text, "Asked: ")
    .into_owned()
}

/// Whether a question is about a lasting state and can be understood alone.
pub(super) fn is_clear_question(question: &str) -> bool {
    let of_the_moment = pattern!(
        r"(?i)\b(?:right,? )?now\b|\bso far\b|\bhow did\b|\b(?:did|have) you\b|\bare we\b|\bwas there any\b|\bhave there been\b|\b(?:is|are) .{1,40}\b(?:down|running|done|ready|finished)\b|\bnext\b|\bclean up\b|\bagain\b|\b(?:(?:my|our|the|these) (?:staged|uncommitted|local)|current(?: worktree| working[- ]tree)?) (?:changes|diff)\b|\bwithout merging\b|\b(?:are|is) there\W*$"
    );
    // These words refer to something that only an earlier message mentions.
    let of_session = pattern!(
        r"(?i)\b(?:this|that|these|those) (?:proposals?|plans?|approach\w*|changes?|prs?|branch\w*|fix\w*|issues?|code|files?|ideas?|designs?|reviews?|errors?|lists?|ones?|points?|options?)\b|\bhow.s it\b"
    );
    // An objection refers to an earlier message.
    let objects = pattern!(r"(?i)^(?:but|however|wait|hm+|so)\b|\b(?:that|this|the same) way\b");
    // `Can you move it?` and `Review the commit` are requests for work, and `Explain the cache`
    // asks a question.
    let wants_text = pattern!(
        r"(?i)^(?:(?:ok(?:ay)?|so|and|now|also|then|please)[,.! ]+)*(?:analy[sz]e|check|compare|describe|evaluate|examine|explain|explore|find|investigate|list|look|report|research|search|show|summari[sz]e)\b"
    );
    let is_work = !question.contains('?')
        && orders::begins_with_order(question)
        && !wants_text.is_match(question);
    let is_order = pattern!(
        r"(?i)\b(?:can|could|would|will) you (?:\w+ )?(?:\w+ )?(?:add|change|check|clean|create|do|draft|fix|handle|implement|list|look|make|merge|move|open|push|put|remove|rename|review|run|rewrite|set|update|use|write)\b"
    );
    let has_pronoun = pattern!(
        r"(?i)\b(?:is|are|was|does|do|did|can|could|should|would|will|about|with|for|of|to|get|want|need|use) (?:it|this|that|these|those|they|them|both|the (?:fix|change|changes|fixes|pr|plan|first|second|other|others|same))\b"
    );
    let named = question.find(['`', '/']).is_some()
        || pattern!(r"[a-z][A-Z]|\b[A-Z]{2,}\b").is_match(question);
    // If the text has several questions, the answer may belong to another question.
    question.matches('?').count() < 2
        && !of_the_moment.is_match(question)
        && !reference::has_external_pronoun(question)
        && !of_session.is_match(question)
        && !is_work
        && !is_order.is_match(question)
        && !objects.is_match(question)
        && (named || !has_pronoun.is_match(question))
        && !reference::uses_session_label(question)
        && !is_phrase(Topic::SessionReference, question)
}

fn is_answer(question: &str, answer: &str) -> bool {
    let is_status = pattern!(
        r"(?i)^(?:committed|done|fixed|pushed|updated|created|added|resolved|merged|rebased)\b|\b(?:has|have) been (?:done|implemented|made)\b|\w\?(?:;|\.?$)|→"
    );
    // An answer such as `All places:` is incomplete without the places.
    let wants_list = pattern!(
        r"(?i)\b(?:list (?:all|of|the|every)|(?:full|complete|whole) list|which (?:ones|of|\w+s)\b|what (?:are|other|else) )"
    );
    let has_list =
        answer.matches(['`', ';']).count() >= 4 || answer.matches([',', ';']).count() >= 2;
    answer.chars().count() >= MIN_ANSWER_CHARS
        && !is_list_entry(answer)
        && names_something(answer)
        && is_about_project(answer)
        && is_balanced(answer)
        && !reference::uses_session_label(answer)
        && !is_phrase(Topic::SessionReference, answer)
        && !is_status.is_match(answer)
        && (has_list || !wants_list.is_match(question))
}

/// Whether a sentence names its subject: it does not begin with a heading and a colon, a verb, an
/// adjective, `yes` or `no`, or a noun such as `the issue`.
fn has_subject(text: &str) -> bool {
    let heading = pattern!(r"^[^:`]{1,60}: ");
    let order_behind_name = pattern!(
        r"^`[^`]+`(?: \w+)?: (?i:new|remove|set|add|use|change|update|replace|rename|move|fix)\b"
    );
    ![heading, order_behind_name].iter().any(|start| start.is_match(text))
        && !is_phrase(Topic::MissingSubject, text)
        && !reference::points_back(text)
        && !reference::begins_with_unnamed_count(text)
        && is_balanced(text)
}

/// Whether a sentence is neither about a temporary state, nor about a defect that was just fixed,
/// nor about the agent.
fn is_lasting(text: &str) -> bool {
    !is_phrase(Topic::Temporary, text) && !speaks_of_agent(text)
}

/// Whether the agent writes about itself, and so about the session.
fn speaks_of_agent(text: &str) -> bool {
    pattern!(r#"(?:^|[ (,;—])I(?:['’](?:m|d|ve|ll))? [a-z]"#).is_match(text)
}

/// Whether a sentence states a limit, an exception, a condition or a cause. Always true for a text
/// in a script other than Latin, which the pattern covers only in part.
fn states_limit(text: &str) -> bool {
    is_phrase(Topic::Limit, text) || lasting::is_foreign(text)
}

/// Whether a text contains a name that can be looked up: code, a path, a product, an abbreviation.
/// Always true for a text in a script other than Latin, which the pattern covers only in part.
pub(super) fn names_something(text: &str) -> bool {
    pattern!(r"`[^`]+`|\w/\w|[a-z][A-Z]|\w_\w|\b[A-Z]{2,}\w*\b|\w\.\w|\d\w*[a-zA-Z]|[a-z,;] (?:[A-Z][a-z]{2,})|\w+\(\)")
        .is_match(text)
        || lasting::is_foreign(text)
}

/// Whether all quotation marks, backticks and round brackets are closed. If not, the text is a
/// fragment of a larger text.
fn is_balanced(text: &str) -> bool {
    let count = |wanted: char| text.chars().filter(|c| *c == wanted).count();
    count('"') % 2 == 0
        && count('`') % 2 == 0
        && count('(') == count(')')
        && count('“') == count('”')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_its_subject_and_states_a_limit_or_a_cause() {
        for (text, wanted) in [
            ("The `create_document` tool of Linear doesn't take an `issue`", true),
            ("`settings.local.json` merges with `settings.json`, so hooks run twice", true),
            (
                "Asked: does MFA work with wallets? Answer: Only keys of social logins are split by Web3Auth",
                true,
            ),
            ("Installs hooks using a script that is not in `.claude/settings.json`", false),
            ("Runtime: the first command starts `serve` only on demand", false),
            ("The second session received a warning with the name `a-b`", false),
            ("`parse()` was skipping all calls that must not be counted", false),
            ("Yeah, it is awkward because `parse()` does not read dates", false),
            ("The errors are in `auth.spec.ts`, not related to my changes", false),
            ("The wrapper of `actionlint` was not usable in this environment", false),
            (
                "Asked: Review the current worktree changes of `parse()` Answer: `Date` drops its zone, \
                 because `parse()` never reads it",
                false,
            ),
            ("The issue is that Web3Auth cached the old key", false),
            ("`a.rs:12` — the only reader; `b.rs:7` — the writer; `c.rs:9` — a test", false),
            ("I created a patch that renames `last_used`, not the tag", false),
            ("`entire login` is not a known command", false),
            ("[P1] Read `--` in the shim: `parse()` fails because `$1` is `--`", false),
            ("`parse()` cannot read dates; +2 more", false),
            (
                "`parse()` cannot read dates. It skips them; SHA-256 key — the comment is right",
                false,
            ),
            ("`Error` wrapping uses multi-`%w` correctly, so no `errors.Is` breaks", false),
            ("Keep the client secret in `GCP`, but you don't need to put it in `.env`", false),
            ("`git pull` only merges when `git fetch` fails", true),
            (
                "Asked: Review commit 25d21fe (Close pack streams on errors). Answer: `Close()` is \
                 never called when the body of a pack ends early",
                false,
            ),
            (
                "Asked: does `push` check the body? Answer: Medium: `TestPush` never reads the body \
                 of a pack that ends early; Low: `Close()` is late; +3 more.",
                false,
            ),
            (
                "Asked: can you think of a tool that is big? Answer: `llvm` has many branches, but \
                 `chromium` has more of them",
                false,
            ),
            (
                "Asked: explain how `push` ends early. Answer: `Close()` is only called when the body \
                 of a pack ends early",
                true,
            ),
            (
                "Asked: does `push` review commits? Answer: Only commits of the `main` branch are \
                 reviewed before a push",
                true,
            ),
            (
                "Asked: what types of limits are there. Answer: `a` never waits, `b` and `c` do",
                false,
            ),
            ("The current auth layer needs `PnP`", false),
            ("The changes of `parse()` are not committed", false),
            ("All assets load with no failed requests in `dist/`", false),
            ("Routine fixes and clear code don't need `discussion`.\"", false),
            (
                "User: \"before making changes, don't forget to switch to `main`\" (the agent agreed)",
                false,
            ),
            (
                "Asked: so how did the research go? Answer: No source mentions that `rename` fails over SMB",
                false,
            ),
            ("缓存在最后才写入磁盘。", true),
        ] {
            assert_eq!(is_finding(text), wanted, "{text}");
        }
    }

    #[test]
    fn an_open_end_says_what_to_do_in_another_session() {
        for (text, wanted) in [
            ("Remove the old sessions", true),
            ("Run the tests on Windows", true),
            ("Write a test that is run on Windows", true),
            ("Document the setting that is read by the worker", true),
            ("Ask the owner whether that is intended", false),
            ("Check that", false),
            ("Make `deploy.sh` wait for the health check", true),
            ("Wait for the review of the parser", false),
            ("Make the worker pick up new jobs after a restart", true),
            ("Pick up where the export stopped", false),
            ("Add a dirty flag to the form", true),
            ("The work tree of `app` is dirty", false),
            ("Run the first migration on staging", true),
            ("Fix 2 failing tests: test_a, test_b", false),
            ("Add `WithAgent` to hook_registry.go", true),
            ("Unchecked in PR #5: restart and trigger a skill", false),
            ("Address whatever it flags", false),
            ("Link the probe into one of those and restart", false),
            ("You'll need to wait a bit for the cache", false),
            ("Backpressure: can add if needed for high throughput", false),
            ("Offered, not answered: commit these changes", false),
            ("The user refused the edit of `a.rs` and asked: which agent is active?", false),
            ("To decide: What are you interested in exploring?", false),
            ("To decide: Should the old names be kept for a year?", true),
        ] {
            assert_eq!(is_open_end(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_wrong_address_in_the_project_is_no_denial_by_the_environment() {
        let refused = "connect ECONNREFUSED 127.0.0.1:5433";
        let (file, ran) = ("Mapped the right port (in `docker-compose.yml`)", "`npm test`");
        let cause = "the compose file exposed `5433` for `5432`";
        for (error, cause, fix, verification, wanted) in [
            (refused, cause, file, "`npm test`: 12 passed", true),
            (refused, cause, "Changed `.env`", "`npm run seed` succeeded", true),
            (refused, cause, file, "not verified in the session", false),
            (refused, cause, file, "`Edit docker-compose.yml` succeeded", false),
            (refused, cause, "Ran `docker compose up -d`", "`npm test`: 12 passed", false),
            (refused, "", file, "`npm test`: 12 passed", false),
            ("listen EPERM 127.0.0.1:80", cause, file, "`npm test`: 12 passed", false),
            ("connect ENETUNREACH 10.0.0.1:80", cause, file, "`npm test`: 12 passed", false),
        ] {
            let record = ErrorResolution {
                error: error.to_owned(),
                fix: fix.to_owned(),
                root_cause: cause.to_owned(),
                verification: verification.to_owned(),
            };
            let is_kept = is_resolution(&record, cause, Some(ran));
            assert_eq!(is_kept, wanted, "{error} {cause} {fix} {verification}");
        }
    }

    #[test]
    fn a_resolved_error_is_more_than_a_failing_check() {
        let record = |error: &str, fix: &str| ErrorResolution {
            error: error.to_owned(),
            fix: fix.to_owned(),
            root_cause: String::new(),
            verification: String::new(),
        };
        let cause = "the router is registered first";
        for (error, fix, cause, attempt, wanted) in [
            ("ENOSPC: no space left in `/var`", "Removed the old images", "", "docker build", true),
            ("ENOSPC: no space left in `/var`", "Changed `a.rs`", "", "docker build", false),
            ("ENOSPC: no space left in `/var`", "Changed `a.rs`", cause, "docker build", true),
            ("ENOSPC: no space left in `/var`", "not stated", cause, "docker build", false),
            ("can we split `parse()` into a new file?", "Reordered it", cause, "", false),
            ("open ~/.cache/go-build: operation not permitted", "Set it", cause, "go", false),
            ("TestLogin failed: a_test.go:31: got 401", "Reordered it", cause, "go test", false),
            ("a.ts(6,4): error TS2339: no `x`", "Reordered it", "", "tsc", false),
            ("a.ts(6,4): error TS2339: no `x`", "Reordered it", cause, "tsc", true),
            ("The tool `upload` needs a dialogue", "Used code", "", "mcp__browser__upload", false),
            ("no `x` before `y`", "The test was changed: `a_test.ts`", cause, "npx jest", false),
            ("example.org/cli/checkpoint failed", "Reordered it", cause, "go test", false),
        ] {
            assert_eq!(
                is_resolution(&record(error, fix), cause, Some(attempt)),
                wanted,
                "{error} {fix}"
            );
        }
    }

    #[test]
    fn sentences_in_which_the_user_is_unsure_are_removed() {
        for (quote, wanted) in [
            ("we use Rust. i kind of feel like we want a queue.", "we use Rust."),
            ("maybe we use Rust … never push", "never push"),
            ("probably Rust", ""),
        ] {
            assert_eq!(unhedged(quote), wanted, "{quote}");
        }
    }

    #[test]
    fn a_decision_is_about_the_work_and_an_answer_is_sure() {
        let record = |decision: &str, rationale: &str| DecisionRecord {
            decision: decision.to_owned(),
            rationale: rationale.to_owned(),
            alternatives: None,
        };
        let asked = "The user's words, asked: Who can share a folder?";
        for (decision, rationale, wanted) in [
            ("Decompose the app into subtasks instead of one", "It is large", false),
            ("Use one table of days instead of a list", "It is quick", true),
            ("User: \"from my understanding only writers can share\"", asked, false),
            ("User: \"only writers can share\"", asked, true),
        ] {
            assert_eq!(
                is_decision(&record(decision, rationale), decision, None),
                wanted,
                "{decision}"
            );
        }
    }

    #[test]
    fn a_reverted_edit_is_no_dead_end_and_a_guess_is_no_cause() {
        assert!(!is_dead_end("Reverted `FullSchema.ts` back to its original state"));
        assert!(is_dead_end("Caching the tokens did not help"));
        assert!(!is_dead_end("I could not run `lint` from this sandbox"));
        assert!(!is_cause("The node is at `192.168.1.4:5001`, not at `localhost`"));
        assert!(!is_cause("Unless the `update` call failed because of the proxy"));
        assert!(is_cause("`main.ts` registered the cookie parser behind the router"));
        for (cause, wanted) in [
            ("`DATABASE_URL` is missing in the CI environment", true),
            ("`fetchUser()` is returning `undefined` for deleted users", true),
            ("nginx is pointing to the old upstream `app:3000`", true),
            ("An old `node` process is still running on the port", false),
            ("The agent is comparing `a.rs` with the old file", false),
            ("CI is waiting for `deploy.sh`", false),
            ("The `unparam` linter is flagging three parameters", false),
        ] {
            assert_eq!(is_cause(cause), wanted, "{cause}");
        }
    }
}
