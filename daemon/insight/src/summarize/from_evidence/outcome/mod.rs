//! Determines how a session ended, from its evidence.

pub(super) mod ending;

use crate::{
    model::{
        evidence::{CommandRun, Evidence, GitStep, Quote, StatementKind},
        summary::Outcome,
        transcript::TaskState,
        wording::NOT_COMMITTED,
    },
    report::{Topic, is_foreign_phrase, is_phrase},
    summarize::from_evidence::{
        checks::{self, test_results::failing_runs},
        findings::last_turn_errors,
        next_steps::{open_tasks::open_tasks, unconfirmed},
        repository,
        request::{Request, Weight, wording::asks_for_work},
    },
    text::{Block, blocks, contains_name, one_line, pattern, sentences},
};

/// The outcome of a session, and the reason for it.
pub(super) struct ReasonedOutcome {
    pub(super) outcome: Outcome,
    /// A phrase; `None` if the work is simply done.
    pub(super) reason: Option<String>,
}

impl ReasonedOutcome {
    fn new(outcome: Outcome, reason: &str) -> ReasonedOutcome {
        ReasonedOutcome { outcome, reason: Some(reason.to_owned()) }
    }

    /// Returns a completed outcome. The reason says what is still missing, or that nothing was
    /// changed.
    fn completed(evidence: &Evidence, is_unconfirmed: bool) -> ReasonedOutcome {
        let is_committed = repository::branch(evidence).is_none()
            || repository::uncommitted_files(evidence).is_empty();
        let is_partly = !evidence.commits.is_empty();
        let uncommitted = if is_partly { "last changes not committed" } else { NOT_COMMITTED };
        let missing = [
            (!is_committed).then_some(uncommitted),
            unconfirmed::is_unmerged(evidence)
                .then_some("the merge that was asked for was not seen"),
            (is_unconfirmed || unconfirmed::is_doubtful(evidence)).then_some("not confirmed"),
        ];
        let mut missing: Vec<&str> = missing.into_iter().flatten().collect();
        if missing.is_empty() && changed_nothing(evidence) {
            missing.push("nothing was changed");
        }
        let reason = (!missing.is_empty()).then(|| missing.join(", "));
        ReasonedOutcome { outcome: Outcome::Completed, reason }
    }
}

/// Determines how the session ended. The last events decide. What the agent reports as done counts
/// as done unless the evidence contradicts it.
pub(super) fn verdict(evidence: &Evidence) -> ReasonedOutcome {
    use Outcome::{Abandoned, Blocked, InProgress};
    let unfinished = if has_results(evidence) { InProgress } else { Abandoned };
    if is_given_up(evidence) {
        return ReasonedOutcome::new(Abandoned, "given up by the user");
    }
    if evidence.unanswered_call.is_some() && evidence.service_failure.is_none() {
        return ReasonedOutcome::new(InProgress, "ended within a tool call");
    }
    let Some(reply) = &evidence.last_reply else {
        return ReasonedOutcome::new(unfinished, "the agent never answered");
    };
    if evidence.service_failure.is_some() {
        return ReasonedOutcome::new(Blocked, "the agent's service failed");
    }
    let last_prompt = evidence.prompts.last();
    let unanswered = last_prompt
        .filter(|prompt| prompt.origin.line > reply.origin.line)
        .and_then(|prompt| Request::of(&prompt.text))
        .is_some_and(|request| request.weight > Weight::Reaction);
    let interrupted = evidence.interrupted_at.is_some_and(|at| at.line > reply.origin.line);
    let grateful = last_prompt.is_some_and(|prompt| is_thanks(&prompt.text));
    if grateful && !interrupted {
        return ReasonedOutcome::completed(evidence, false);
    }
    // If a user accepts a plan and clears the context, the transcript shows a refusal of the plan
    // and an interruption. A new session then carries out the plan.
    let plan = evidence.choices.last().filter(|choice| choice.answer == "refused");
    if interrupted && plan.is_some_and(|plan| plan.origin.line > reply.origin.line) && !unanswered {
        return ReasonedOutcome::new(InProgress, "ended with a plan");
    }
    if interrupted {
        let reason = if changed_code(evidence) {
            "stopped by the user"
        } else if evidence.changes_files() {
            "stopped by the user; only documents were changed"
        } else {
            "stopped by the user; no code was changed"
        };
        return ReasonedOutcome::new(unfinished, reason);
    }
    if unanswered {
        return ReasonedOutcome::new(unfinished, "the last request was not answered");
    }
    let changed_after = |prompt: &Quote| {
        let is_code = |path: &str| !path.ends_with(".md");
        let mut changed = evidence.changed_files();
        changed.any(|(path, work)| is_code(path) && work.last.follows(prompt.origin))
    };
    let last_prompts = evidence.prompts.iter().rev().take(2);
    let mut waiting = last_prompts.filter(|prompt| !changed_after(prompt));
    if waiting.any(|prompt| Request::of(&prompt.text).is_some_and(|one| postpones_work(&one.text)))
    {
        return ReasonedOutcome::new(InProgress, "postponed by the user");
    }
    from_last_words(evidence, &reply.text, reply.origin.line)
}

fn from_last_words(evidence: &Evidence, reply: &str, line: u64) -> ReasonedOutcome {
    use Outcome::{Blocked, InProgress};
    let words = LastWords::of(reply);
    if words.blocked {
        return ReasonedOutcome::new(Blocked, "the agent is blocked");
    }
    if words.asks_for_choice {
        let reason = if has_results(evidence) {
            "waits for the user's choice"
        } else {
            "waits for the user's choice; nothing was changed"
        };
        return ReasonedOutcome::new(InProgress, reason);
    }
    let done =
        evidence.report.iter().any(|one| one.kind == StatementKind::Done) || words.claims_done;
    if words.announces && has_passed(evidence, line) {
        return ReasonedOutcome::completed(evidence, false);
    }
    if words.announces {
        return ReasonedOutcome::new(InProgress, "ended before the announced work");
    }
    if words.asks_to_try_again {
        return ReasonedOutcome::new(InProgress, "waits for the user's check");
    }
    if let Some(reason) = failed_step(evidence) {
        return ReasonedOutcome::new(InProgress, reason);
    }
    if !failing_runs(evidence).is_empty() {
        return ReasonedOutcome::new(InProgress, "tests fail");
    }
    if checks::failing_build(evidence).is_some() {
        return ReasonedOutcome::new(InProgress, "the last build failed");
    }
    if has_open_tasks(evidence, done) {
        return ReasonedOutcome::new(InProgress, "tasks are open");
    }
    let has_later_result = evidence.last_result.is_some_and(|result| result.line > line);
    match () {
        () if done => ReasonedOutcome::completed(evidence, words.is_unconfirmed),
        () if words.asks => ReasonedOutcome::new(InProgress, "waits for an answer"),
        () if has_later_result => {
            ReasonedOutcome::new(InProgress, "the agent did not report on the last results")
        }
        () if !last_turn_errors(evidence).is_empty() => {
            ReasonedOutcome::new(InProgress, "the last error is open")
        }
        () => ReasonedOutcome::completed(evidence, words.is_unconfirmed),
    }
}

/// Whether the work that the last words at `line` announce was done: the session has results, the
/// last command is a check after these words that passed, and no file was changed after the check.
fn has_passed(evidence: &Evidence, line: u64) -> bool {
    let own = evidence.commands.iter().rfind(|run| run.origin.source == 0);
    let is_check = |line: &str| {
        pattern!(r"\b(?:test|tests|build|check|lint|tsc|typecheck|clippy|pytest|vitest|jest)\b")
            .is_match(line)
    };
    let last = own.filter(|run| run.origin.line > line && is_check(&run.command));
    let is_changed_later =
        |run: &CommandRun| evidence.changed_files().any(|(_, work)| work.last.follows(run.origin));
    last.is_some_and(|run| run.outcome.succeeded() && !is_changed_later(run))
        && has_results(evidence)
}

/// Whether the session read files, and none of its calls can have changed the project.
fn changed_nothing(evidence: &Evidence) -> bool {
    !has_results(evidence)
        && evidence.git_events.is_empty()
        && evidence.publications.is_empty()
        && evidence.outside_changes.is_empty()
        && evidence.delegations.is_empty()
        && !evidence.files.is_empty()
        && evidence.tools.keys().all(|tool| !tool.starts_with("mcp__"))
}

/// Whether the session changed a file other than Markdown.
fn changed_code(evidence: &Evidence) -> bool {
    evidence.changed_files().any(|(path, _)| !path.ends_with(".md"))
}

/// Whether the session has a result: a commit, a pull request, a changed file or a completed task.
fn has_results(evidence: &Evidence) -> bool {
    !evidence.commits.is_empty()
        || !evidence.pull_requests.is_empty()
        || evidence.changes_files()
        || evidence.tasks.iter().any(|task| task.state == TaskState::Completed)
}

/// Whether a prompt only thanks or praises. `Perfect, commit and push` also asks for work.
pub(super) fn is_thanks(prompt: &str) -> bool {
    let prompt = one_line(prompt).to_lowercase().replace(" - ", "; ");
    let orders_after_praise = pattern!(
        r"^(?:(?:great|good|nice|excellent) (?:work|job)|well done|(?:(?:that|it) )?work(?:s|ed)(?: (?:great|perfectly))?|lgtm|looks (?:good|great)|perfect|awesome|excellent|thanks?|thank you|thx|cheers) (?:and |then )?(?:(?:commit|push|merge|deploy|ship|publish|release) \w+|(?:continue|proceed)\b|go (?:on|ahead)\b|keep going\b|(?:do|run|add|fix|make|update|write|remove|delete|try|test) (?:the|an?|all|it|this|that|them)\b)"
    );
    let orders = |clause: &str| {
        asks_for_work(clause)
            || orders_after_praise.is_match(clause)
            || pattern!(r"^(?:and )?(?:commit|push|merge|deploy|ship|publish|release)\b")
                .is_match(clause)
    };
    let mut clauses = prompt.split([',', '.', '!', ';', ':', '—', '–']).map(str::trim);
    prompt.len() < 120
        && is_phrase(Topic::Thanks, &prompt)
        && !clauses.any(orders)
        && !pattern!(r"\b(?:but|can you|could you|please|now|also|next|let's|however|one more)\b|\?|\b(?:commit|push|merge|deploy|ship) (?:it|this|that|them|all|everything)\b").is_match(&prompt)
}

/// Whether the last prompt gives up the work and orders no other work, the session has no commit
/// and no pull request, and no file was changed after the prompt. `Drop it` after a question such
/// as `Keep the column or drop it?` gives up no work.
pub(super) fn is_given_up(evidence: &Evidence) -> bool {
    let Some(last) = evidence.prompts.last() else { return false };
    let is_given_up = |sentence: &&str| is_phrase(Topic::Abandonment, sentence);
    let sentences = sentences(&last.text);
    sentences.iter().any(is_given_up)
        && !sentences.iter().any(|one| !is_given_up(one) && asks_for_work(one))
        && evidence.commits.is_empty()
        && evidence.pull_requests.is_empty()
        && !evidence.changed_files().any(|(_, work)| work.last.follows(last.origin))
        && !follows_removal_question(evidence, last)
}

/// Whether a prompt such as `drop it` answers the question at the end of the report before it: the
/// question contains the verb of the prompt, too.
fn follows_removal_question(evidence: &Evidence, prompt: &Quote) -> bool {
    let verb = pattern!(r"(?i)\b(?:drop|scrap|ditch|abandon)\b");
    let ends_work = pattern!(r"(?i)\b(?:forget|never ?mind|stop)\b");
    let Some(verb) = verb.find(&prompt.text).filter(|_| !ends_work.is_match(&prompt.text)) else {
        return false;
    };
    let report = evidence.reports.iter().rfind(|report| prompt.origin.follows(report.origin));
    let text = report.map_or(String::new(), |report| one_line(&report.text));
    let question = sentences(&text).pop().filter(|last| last.ends_with(['?', '？']));
    question.is_some_and(|question| {
        contains_name(&question.to_lowercase(), &verb.as_str().to_lowercase())
            && !pattern!(
                r"(?i)\b(?:continue|go(?:ing)? on|carry on|keep (?:going|trying|working))\b"
            )
            .is_match(question)
    })
}

pub(super) fn postpones_work(request: &str) -> bool {
    let is_postponed =
        |sentence: &&str| is_phrase(Topic::Adjourned, sentence) && !orders_before_review(sentence);
    sentences(request).iter().any(is_postponed)
}

/// Whether a sentence postpones only what the user does with the result, and orders work before
/// that, as in `I will review it tomorrow, please push it now`.
fn orders_before_review(sentence: &str) -> bool {
    let reviews = pattern!(
        r"(?i)\b(?:i|we)(?:.ll| will| can)? (?:review|test|look|check|see|talk|decide|try)\b.*\b(?:tomorrow|another day)\b"
    );
    let orders = |clause: &str| {
        !reviews.is_match(clause)
            && asks_for_work(clause.trim())
            && pattern!(r"(?i)\b(?:now|today|first|before)\b").is_match(clause)
    };
    reviews.is_match(sentence) && sentence.split([',', ';']).any(orders)
}

/// Returns a phrase if the last attempt to commit or to push failed.
fn failed_step(evidence: &Evidence) -> Option<&'static str> {
    let failed = |step| repository::last_try(evidence, step).is_some_and(|event| !event.succeeded);
    match () {
        () if failed(GitStep::Commit) => Some("the last commit failed"),
        () if failed(GitStep::Push) => Some("the last push failed"),
        () => None,
    }
}

/// Whether tasks are open. A single open task does not count if others are completed and the agent
/// reported the work as done, because agents forget to tick off the last task.
fn has_open_tasks(evidence: &Evidence, done: bool) -> bool {
    let count = |state| evidence.tasks.iter().filter(|task| task.state == state).count();
    let open = open_tasks(evidence).len();
    let forgotten = done && open <= 1 && count(TaskState::Completed) > 0;
    open > 0 && !forgotten
}

/// What the agent's last words say about the end of the session.
#[derive(Default)]
struct LastWords {
    /// Something prevents the work.
    blocked: bool,
    /// The last sentence is a question, or begins with `Let me know`.
    asks: bool,
    /// The words ask the user to choose between several options.
    asks_for_choice: bool,
    /// The words end in a colon or announce a next step.
    announces: bool,
    /// The words ask the user to repeat an attempt, or say what to do if the problem remains.
    asks_to_try_again: bool,
    /// A sentence says what the agent expects, so nobody has verified the result.
    is_unconfirmed: bool,
    /// The first sentence says that the work is done.
    claims_done: bool,
}

impl LastWords {
    fn of(reply: &str) -> LastWords {
        let reply = &reply.replace('’', "'");
        let prose = blocks(reply).into_iter().filter_map(|block| match block {
            Block::Paragraph(text) | Block::Item(text) => Some(one_line(&text)),
            Block::Heading(_) => None,
        });
        let prose: Vec<String> = prose.collect();
        let headings = blocks(reply).into_iter().filter_map(|block| match block {
            Block::Heading(text) => Some(one_line(&text)),
            Block::Paragraph(_) | Block::Item(_) => None,
        });
        let announced: Vec<String> = headings.collect();
        let all: Vec<&str> = prose.iter().flat_map(|line| sentences(line)).collect();
        let (first, last) =
            (all.first().copied().unwrap_or_default(), all.last().copied().unwrap_or_default());
        let claims_done = pattern!(r"(?i)^(?:\w+[!,.] )?(?:all .{0,30}\b(?:tests|checks)\b.{0,30}\bpass|the fix is\b|(?:all )?(?:done|fixed|committed|pushed|complete[d]?|perfect|excellent|success(?:fully)?|resolved|updated|created|merged|implemented|everything|all \w+ (?:pass|done|complete)|the \w+ (?:is|are|has been|have been) (?:now )?(?:fixed|done|complete|updated|created|ready|in place)))\b").is_match(first);
        let reports_work = claims_done || is_phrase(Topic::Done, first);
        let blocks_work = |sentence: &&str| {
            !sentence.starts_with("If ")
                && (is_blocked(sentence)
                    || !claims_done && is_prevented(sentence)
                    || !reports_work && may_be_blocked(sentence))
        };
        LastWords {
            blocked: all.iter().any(blocks_work),
            asks_for_choice: all.iter().rev().take(2).any(|sentence| {
                pattern!(r"(?i)\b(?:which (?:one|approach|option|way|of (?:these|those)|would you|do you|path|direction)|what would you (?:like|prefer)|how would you like)\b.*\?$").is_match(sentence)
                    && !pattern!(r"(?i)\b(?:next|else|anything)\b").is_match(sentence)
            }),
            asks: last.ends_with(['?', '？']) || last.to_lowercase().starts_with("let me know"),
            announces: reply.trim_end().ends_with(':')
                || is_foreign_phrase(Topic::Talk, last)
                || pattern!(r"(?i)^(?:now |next,? |first,? |great[!,.] |perfect[!,.] |good[!,.] )*(?:let me|i'll|i will|let's|i'm going to|now i)\b").is_match(last)
                    && !pattern!(r"(?i)\b(?:let me know|i'll wait|i'll be|once you|when you|if you)\b|^(?:i'll|i will) (?:leave|not|hold|remember|(?:stop|pause|end|wrap up) (?:it )?here|keep (?:it|this|that|the|your|in mind))\b").is_match(last),
            asks_to_try_again: announced.iter().map(String::as_str).chain(all.iter().copied()).any(|sentence| {
                pattern!(r"(?i)^(?:please |now )?try (?:it |that |this )?(?:running )?(?:it )?again\b|^if (?:this|that|it) still (?:fails|doesn't work|does not work)\b").is_match(sentence)
            }),
            is_unconfirmed: all.iter().any(|sentence| is_phrase(Topic::Hope, sentence)),
            claims_done,
        }
    }
}

/// Whether a sentence says that the agent, or a step such as the push, cannot go on.
fn is_blocked(sentence: &str) -> bool {
    pattern!(
        r"(?i)\b(?:(?:i'm|i am|we're|we are) blocked\b|(?:push|merge|deploy|deployment|release|pr|pull request|task|work|progress|everything) (?:is|remains) (?:still |now |currently )?blocked (?:by|on|until)\b|cannot proceed|can't proceed|i (?:don't|do not) have (?:access|permission)|waiting (?:for|on) (?:you|your)\b|need your (?:input|approval|credentials|help)|please (?:log ?in|authenticate)|requires? your (?:manual|authentication|credentials|approval))"
    )
    .is_match(sentence)
}

/// Whether a sentence says what the agent could not do. In a report of completed work, such a
/// sentence describes the program, or a detail.
fn is_prevented(sentence: &str) -> bool {
    pattern!(
        r"(?i)(?:^|\b(?:i'm|i am|i was|we're|we are|i|we) (?:still )?)(?:unable to (?:proceed|continue|access|complete)|couldn't (?:access|connect|authenticate))\b|\brequires (?:manual|authentication|credentials|approval)\b"
    )
    .is_match(sentence)
}

/// Whether a sentence without text in quotes says that something is blocked, or asks for something.
/// After a sentence that reports work, it describes the program.
fn may_be_blocked(sentence: &str) -> bool {
    pattern!(r"(?i)\b(?:is|remains?) blocked\b|\bplease provide\b|\bwaiting (?:for|on) the user\b")
        .is_match(sentence)
        && !sentence.contains(['"', '“', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        evidence::{FileWork, GitEvent, Quote, TestRun, TurnReport},
        transcript::{Origin, Task},
    };

    struct Session(Evidence);

    impl Session {
        fn new(prompts: &[(&str, u64)], reply: Option<(&str, u64)>) -> Session {
            let quote = |(text, line): (&str, u64)| Quote {
                text: text.to_owned(),
                origin: Origin { source: 0, line },
                at: None,
            };
            Session(Evidence {
                prompts: prompts.iter().map(|prompt| quote(*prompt)).collect(),
                last_reply: reply.map(quote),
                ..Evidence::default()
            })
        }

        fn with(mut self, change: impl FnOnce(&mut Evidence)) -> Session {
            change(&mut self.0);
            self
        }

        fn ends(&self, wanted: Outcome) {
            assert_eq!(verdict(&self.0).outcome, wanted, "{:?}", self.0.last_reply);
        }
    }

    fn changed(evidence: &mut Evidence) {
        evidence.files.insert("/a".to_owned(), FileWork { edits: 1, ..FileWork::default() });
    }

    fn tasks(states: &[TaskState]) -> Vec<Task> {
        let task =
            |state: &TaskState| Task { key: String::new(), subject: "t".to_owned(), state: *state };
        states.iter().map(task).collect()
    }

    #[test]
    fn the_last_events_determine_the_outcome() {
        use Outcome::{Abandoned, Blocked, Completed, InProgress};
        let at = |line| Some(Origin { source: 0, line });
        Session::new(&[("fix it", 1)], Some(("Fixed the parser.", 5)))
            .with(changed)
            .ends(Completed);
        Session::new(&[("what is x?", 1)], Some(("`x` is a parser.", 5))).ends(Completed);
        Session::new(&[("fix it", 1)], None).ends(Abandoned);
        Session::new(&[("fix it", 1), ("and fix y in the lexer", 9)], Some(("Fixed x.", 5)))
            .with(changed)
            .ends(InProgress);
        Session::new(&[("fix it", 1), ("thanks!", 9)], Some(("Fixed x.", 5)))
            .with(changed)
            .ends(Completed);
        Session::new(&[("fix it", 1)], Some(("Let me look.", 5)))
            .with(|e| e.interrupted_at = at(6))
            .ends(Abandoned);
        Session::new(&[("fix it", 1)], Some(("Now let me run the tests:", 5)))
            .with(changed)
            .ends(InProgress);
        Session::new(&[("do it", 1)], Some(("I'm blocked: I need your credentials.", 5)))
            .ends(Blocked);
        Session::new(&[("do it", 1)], Some(("The push requires authentication.", 5))).ends(Blocked);
        for report in [
            "Fixed the login. All endpoints now require authentication.",
            "Fixed the login. `/admin` now requires authentication.",
        ] {
            Session::new(&[("do it", 1)], Some((report, 5))).with(changed).ends(Completed);
        }
        Session::new(&[("do it", 1)], Some(("Which one do you prefer?", 5))).ends(InProgress);
        Session::new(&[("do it", 1)], Some(("Done. Want me to commit?", 5)))
            .with(changed)
            .ends(Completed);
    }

    #[test]
    fn work_that_the_user_gives_up_is_abandoned() {
        use Outcome::{Abandoned, Completed, InProgress};
        let session = |last: &str| {
            let replies = Some(("I have removed the file again.", 12));
            Session::new(&[("export the list as a PDF", 1), (last, 9)], replies).with(changed)
        };
        session("Forget about it, we do not need the PDF any more.").ends(Abandoned);
        session("Forget it. Please export the list as text instead.").ends(Completed);
        session("Never mind, I found it.").ends(Completed);
        let later = Origin { source: 0, line: 11 };
        let edit = |e: &mut Evidence| e.files.values_mut().for_each(|work| work.last = later);
        session("Drop it.").with(edit).ends(Completed);
        session("Great, all tests pass now, let's stop here.").ends(Completed);
        session("Forget it, run it with node instead.").ends(Completed);
        let unanswered = [("export the list as a PDF", 1), ("forget it, stop here", 9)];
        Session::new(&unanswered, Some(("I add it.", 5))).with(changed).ends(Abandoned);
        let report = |text: &str| TurnReport {
            text: text.to_owned(),
            origin: Origin { source: 0, line: 8 },
            ..TurnReport::default()
        };
        let asked = "The table still has the old column. Keep it or drop it?";
        session("drop it").with(|e| e.reports = vec![report(asked)]).ends(Completed);
        session("Drop that.").with(|e| e.reports = vec![report(asked)]).ends(Completed);
        let asks = |text: &str| vec![report(text)];
        let other = "Do you want me to remove the old flag, too?";
        session("forget it, stop here").with(|e| e.reports = asks(other)).ends(Abandoned);
        session("drop it").with(|e| e.reports = asks(other)).ends(Abandoned);
        session("forget it").with(|e| e.reports = asks(asked)).ends(Abandoned);
        let goes_on = "The export has no fonts. Keep going or drop it?";
        session("drop it").with(|e| e.reports = vec![report(goes_on)]).ends(Abandoned);
        let stated = "I drop the old column.";
        session("drop it").with(|e| e.reports = vec![report(stated)]).ends(Abandoned);
        let other = [("export the list as a PDF", 1), ("and export the days as text", 9)];
        Session::new(&other, Some(("I add it.", 5))).with(changed).ends(InProgress);
    }

    #[test]
    fn open_tasks_and_failing_tests_keep_it_in_progress() {
        use TaskState::{Completed, InProgress, Pending};
        let session = || Session::new(&[("do it", 1)], Some(("Fixed the first part.", 5)));
        session()
            .with(|e| e.tasks = tasks(&[Completed, Pending, Pending]))
            .ends(Outcome::InProgress);
        session().with(|e| e.tasks = tasks(&[Completed, InProgress])).ends(Outcome::Completed);
        let run = |failed| TestRun {
            framework: "pytest".to_owned(),
            command: "pytest".to_owned(),
            passed: 3,
            failed,
            skipped: 0,
            failed_tests: Vec::new(),
            coverage_pct: None,
            origin: Origin::default(),
            at: None,
            ..TestRun::default()
        };
        session().with(|e| e.tests = vec![run(0), run(2)]).ends(Outcome::InProgress);
        session().with(|e| e.tests = vec![run(2), run(0)]).ends(Outcome::Completed);
    }

    #[test]
    fn work_that_the_user_must_check_is_in_progress() {
        let reply = "Changed the base image. Try again with the new one.";
        Session::new(&[("the build fails", 1)], Some((reply, 5)))
            .with(changed)
            .ends(Outcome::InProgress);
        let ends = |prompt: &str, wanted| {
            Session::new(&[(prompt, 1)], Some(("Wrote it down.", 5))).with(changed).ends(wanted);
        };
        ends("write down what we have, we pick it up tomorrow", Outcome::InProgress);
        ends("i will review this tomorrow, please stop here", Outcome::InProgress);
        ends("commit it now, we continue tomorrow", Outcome::InProgress);
        ends("I will review this tomorrow, please open the PR now", Outcome::Completed);
        ends("open the PR first, I will test it tomorrow", Outcome::Completed);
    }

    #[test]
    fn completed_work_may_lack_a_commit_or_a_confirmation() {
        let reason = |reply: &str, change: fn(&mut Evidence)| {
            let session = Session::new(&[("the list is empty", 1)], Some((reply, 5)));
            verdict(&session.with(change).0).reason
        };
        let in_repository = |evidence: &mut Evidence| {
            changed(evidence);
            evidence.branches.push("main".to_owned());
        };
        assert_eq!(reason("Fixed the list.", changed), None);
        assert_eq!(reason("Fixed the list.", in_repository).as_deref(), Some("not committed"));
        assert_eq!(
            reason("Fixed. Try restarting it: the list should now be visible.", changed).as_deref(),
            Some("not confirmed")
        );
    }

    #[test]
    fn an_announcement_in_another_language_is_no_end() {
        for (reply, wanted) in [
            ("仕様書が見つかりました。最新の v03 を確認します。", Outcome::InProgress),
            ("Der Test fehlt. Ich werde ihn jetzt schreiben.", Outcome::InProgress),
            ("最新の v03 を確認しました。", Outcome::Completed),
            ("Der Test ist geschrieben.", Outcome::Completed),
        ] {
            Session::new(&[("Finde die Spezifikation", 1)], Some((reply, 5))).ends(wanted);
        }
    }

    #[test]
    fn a_commit_that_failed_is_not_the_end() {
        let failed = |evidence: &mut Evidence| {
            evidence.git_events.push(GitEvent {
                step: GitStep::Commit,
                succeeded: false,
                branch: None,
                error: None,
                origin: Origin::default(),
                at: None,
            });
        };
        let session = Session::new(&[("commit it", 1)], Some(("Done.", 5))).with(failed);
        assert_eq!(verdict(&session.0).reason.as_deref(), Some("the last commit failed"));
        session.ends(Outcome::InProgress);
    }

    #[test]
    fn an_attempt_that_the_user_is_to_repeat_waits() {
        let reply = "Try again:\n\n```\n./run.sh\n```\n\nThis should fix it by:\n1. Updating npm\n\nIf this still fails, we can build locally.";
        let session = Session::new(&[("it fails", 1)], Some((reply, 5))).with(changed);
        assert_eq!(verdict(&session.0).reason.as_deref(), Some("waits for the user's check"));
    }

    #[test]
    fn a_choice_that_was_left_to_the_user_waits() {
        let reply = "Fixed the first one. Which approach do you prefer? I can do either.";
        let session = Session::new(&[("fix it", 1)], Some((reply, 5))).with(changed);
        assert_eq!(verdict(&session.0).reason.as_deref(), Some("waits for the user's choice"));
        session.ends(Outcome::InProgress);
    }

    #[test]
    fn a_failing_service_blocks() {
        Session::new(&[("do it", 1)], Some(("Working.", 5)))
            .with(|e| {
                e.service_failure =
                    Some(Quote { text: "limit".to_owned(), origin: Origin::default(), at: None });
            })
            .ends(Outcome::Blocked);
    }

    #[test]
    fn a_result_without_a_later_reply_is_in_progress() {
        let has_later_result = |evidence: &mut Evidence| {
            evidence.last_result = Some(Origin { source: 0, line: 9 });
        };
        let prompts = [("Why is the list slow?", 1)];
        let looks = Session::new(&prompts, Some(("I look at the query first.", 3)));
        looks.with(has_later_result).ends(Outcome::InProgress);
        Session::new(&prompts, Some(("Done. The list is fast.", 3)))
            .with(has_later_result)
            .ends(Outcome::Completed);
        Session::new(&prompts, Some(("The query has no index.", 10)))
            .with(has_later_result)
            .ends(Outcome::Completed);
    }

    #[test]
    fn a_session_that_was_cut_off_in_a_call_is_not_over() {
        let cut_off = |evidence: &mut Evidence| {
            let text = "make migrate".to_owned();
            evidence.unanswered_call =
                Some(Quote { text, origin: Origin { source: 0, line: 6 }, at: None });
        };
        let prompts = [("Migrate the orders table.", 1)];
        Session::new(&prompts, Some(("I start the migration.", 5)))
            .with(cut_off)
            .ends(Outcome::InProgress);
        Session::new(&prompts, None).with(cut_off).ends(Outcome::InProgress);
    }

    #[test]
    fn praise_with_a_request_is_not_thanks() {
        assert!(is_thanks("Excellent work, thank you!"));
        assert!(is_thanks("perfect"));
        assert!(!is_thanks("great, now commit it"));
        assert!(!is_thanks("thanks but it still fails"));
        for (prompt, wanted) in [
            ("perfect, commit and push", false),
            ("looks good, run the tests", false),
            ("lgtm, merge it", false),
            ("lgtm merge it", false),
            ("nice, that works. deploy it to staging", false),
            ("thanks! run the whole test suite", false),
            ("perfect - commit and push", false),
            ("looks good commit and push", false),
            ("great job continue with the rest", false),
            ("works now - do the same for the other two pages", false),
            ("perfect - thanks", true),
            ("great job everyone", true),
            ("it works great on my phone", true),
            ("lgtm", true),
            ("nice, that works. good night", true),
            ("thanks for the quick fix!", true),
            ("thanks for the merge", true),
            ("it works!", true),
            ("ok thx bye", true),
            ("Danke, das war's für heute", true),
            ("super, funktioniert", true),
            ("passt so, danke dir", true),
            ("super, jetzt noch die Tests", false),
            ("danke, pushe es", false),
            ("Merci beaucoup !", true),
            ("merci, ajoute un test", false),
            ("Gracias, perfecto", true),
            ("perfecto, haz el commit", false),
            ("谢谢，辛苦了", true),
            ("好的，没问题", true),
            ("好的，提交吧", false),
            ("ありがとうございます！", true),
            ("ありがとう、テストも追加して", false),
        ] {
            assert_eq!(is_thanks(prompt), wanted, "{prompt}");
        }
    }

    #[test]
    fn praise_with_an_order_is_a_request() {
        use Outcome::{Blocked, Completed, InProgress};
        let prompts = |last: &'static str| [("fix the login", 1), (last, 9)];
        let asks = "The hook fails on a file of yours. Which way do you prefer: skip the hook, or fix the file?";
        for (last, reply, line, wanted) in [
            ("perfect, commit and push", asks, 12, InProgress),
            ("lgtm, merge it", "I am blocked: the host does not exist.", 12, Blocked),
            ("lgtm, merge it", "Fixed the login.", 5, InProgress),
            ("lgtm", "Fixed the login.", 5, Completed),
            ("Merci beaucoup !", "Fixed the login.", 5, Completed),
            ("thanks!", "You're welcome! Let me know if you need more.", 12, Completed),
        ] {
            Session::new(&prompts(last), Some((reply, line))).with(changed).ends(wanted);
        }
    }

    #[test]
    fn a_description_of_the_program_blocks_nothing() {
        use Outcome::{Blocked, Completed, InProgress};
        for (reply, wanted) in [
            (
                "Added the limit. After five failed attempts the account is blocked for ten minutes.",
                Completed,
            ),
            (
                "Fixed the permission check. Users were unable to access the admin page because the role was compared in upper case.",
                Completed,
            ),
            (
                "Fixed. The cause: the worker couldn't connect to Redis, because the host name was wrong in `config.rs`.",
                Completed,
            ),
            (
                "Added the check. An empty field now shows \"Please provide a valid email address\".",
                Completed,
            ),
            (
                "Moved the parsing to a worker. The main thread is blocked no longer while a file is read.",
                Completed,
            ),
            ("I can’t proceed without the token. Send it to me.", Blocked),
            ("Added the retry. The push is blocked by the rules of the branch.", Blocked),
            (
                "Added the migration. I couldn't connect to the database, so it has not run.",
                Blocked,
            ),
            ("Unable to access the registry: the token is missing.", Blocked),
            ("The deployment is blocked. Please provide the token.", Blocked),
            ("I’m waiting for your approval.", Blocked),
            ("The plan is written. I’ll now run the tests.", InProgress),
            ("The plan is written. I'll stop the server now.", InProgress),
            ("The plan is written. I'll stop here.", Completed),
        ] {
            Session::new(&[("fix it", 1)], Some((reply, 5))).with(changed).ends(wanted);
        }
    }

    #[test]
    fn a_question_in_chinese_or_japanese_waits_for_an_answer() {
        for reply in [
            "登录有两种修复方式：改服务器，或者改客户端。你想用哪一种？",
            "サーバーを変更する方法と、クライアントを変更する方法があります。どちらを変更しますか？",
        ] {
            Session::new(&[("修复登录", 1)], Some((reply, 5))).ends(Outcome::InProgress);
        }
        let reply = "登录是用令牌完成的。";
        Session::new(&[("登录是怎么完成的？", 1)], Some((reply, 5))).ends(Outcome::Completed);
    }
}
