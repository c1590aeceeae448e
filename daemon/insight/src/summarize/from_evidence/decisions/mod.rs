//! Collects decisions with their reasons: choices and words of the user, accepted plans, and
//! choices that the agent reports.

pub(super) mod listed_options;
mod misdirected;
pub(super) mod quote_context;
pub(super) mod refusals;
mod statement;
pub(super) mod user_words;
pub(super) mod wishes;

use std::borrow::Cow;

use crate::{
    model::{
        evidence::{Choice, Quote, Statement, StatementKind},
        summary::{DecisionRecord, EnhancedSessionSummary},
        transcript::{Task, TaskState},
        wording::{AND_CHANGED, BY_THE_USER, CHOSEN, NO_REASON, PLAN, USERS_WORDS},
    },
    report::{Claim, Topic},
    summarize::{
        evidence::{RECOMMENDED, is_intended_choice},
        from_evidence::{
            entries::{ENTRY, Entries},
            reported::{
                answers::{is_bare_answer, short_prompt_before},
                overtaken, transient,
            },
            request::wording::begins_as_order,
        },
    },
    text::{
        capitalised, cut, pattern, same_words, share_of_words, without_full_stop, without_opener,
        words,
    },
};

/// Maximum number of words of the label of an option that needs its explanation.
const SHORT_LABEL: usize = 2;
/// Maximum number of records. If there are more, the oldest plans that are recorded by their
/// approach are dropped first, then the oldest other records.
const RECORDS: usize = 18;
/// Number of prompts after a choice in which the user may take the choice back.
const ANSWERS: usize = 3;
/// The objective contains a quote if it has at least this share of the words of the quote.
const REQUESTED: f64 = 0.8;
/// The end of the rationale of a plan that is recorded by its title.
const TITLED: &str = " (plan accepted by the user)";
/// A prompt repeats a typed answer if it contains at least this share of the answer's words.
const SAID_AGAIN: f64 = 0.85;

/// Returns the decisions in the task list, and then the other decisions in the order in which they
/// were made.
pub(super) fn key_decisions(entries: &Entries<'_>) -> Vec<DecisionRecord> {
    let mut dated = of_tasks(entries);
    for choice in entries.evidence.choices.iter().filter(|choice| is_decision(choice)) {
        if !is_overtaken(entries, choice) {
            let choice = &without_removed(entries, choice);
            dated.extend(of_choice(entries, choice).map(|record| (choice.origin.line, record)));
        }
    }
    let is_kept = |one: &&Statement| !is_intended_choice(&one.text) || is_followed(entries, one);
    for statement in entries.statements(StatementKind::Decision).filter(is_kept) {
        if let Some(record) = statement::record(&entries.tidy_line(&statement.text)) {
            dated.push((statement.origin.line, record));
        }
    }
    dated.extend(user_words::decisions(entries));
    dated.extend(reported(entries));
    dated.retain(|(_, record)| {
        names_object(&record.decision) && !transient::is_next_step(&record.decision)
    });
    dated.sort_by_key(|(line, _)| *line);
    let mut records: Vec<DecisionRecord> = Vec::new();
    for (_, record) in dated {
        // An answer of the user is more precise than the title of a plan that follows the answer.
        let is_said = |known: &DecisionRecord| same_words(&known.decision, &record.decision);
        if record.rationale.ends_with(TITLED) && records.iter().any(is_said) {
            continue;
        }
        let is_much_shorter = |known: &str| known.len() < record.decision.len() / 3;
        records.retain(|known| {
            is_much_shorter(&known.decision) || !same_words(&known.decision, &record.decision)
        });
        records.push(record);
    }
    while records.len() > RECORDS {
        let plan = records.iter().position(|record| record.rationale.starts_with(PLAN));
        records.remove(plan.unwrap_or(0));
    }
    records
}

/// Removes the quotes of the user that the objective contains already, if nothing is known of what
/// they refer to.
pub(super) fn remove_requests(summary: &mut EnhancedSessionSummary) {
    let objective = words(&summary.objective);
    summary.key_decisions.iter_mut().for_each(|records| {
        records.retain(|record| {
            let quote = record.decision.strip_prefix("User: ");
            let quote = quote.filter(|_| record.rationale == USERS_WORDS);
            let bare = |quote: &str| words(without_opener(quote.trim_matches('"')));
            !quote.is_some_and(|quote| share_of_words(&bare(quote), &objective) >= REQUESTED)
        });
    });
    summary.key_decisions.take_if(|records| records.is_empty());
}

/// Whether a decision mentions its object. `Removed it` does not.
fn names_object(decision: &str) -> bool {
    !pattern!(r"(?i)^[a-z]+(?:ed|t|ing) (?:it|this|that|them|these|those|both)(?: (?:all|now|out|in|there|instead))?$")
        .is_match(decision)
}

/// Whether a file was changed after the agent announced a choice.
fn is_followed(entries: &Entries<'_>, intended: &Statement) -> bool {
    entries.evidence.changed_files().any(|(_, work)| work.last.follows(intended.origin))
}

/// Whether a choice is a decision about the work. Refused plans do not count, because another
/// session may carry them out. Choices about how to proceed do not count, either.
fn is_decision(choice: &Choice) -> bool {
    let how = pattern!(
        r"(?i)\b(?:in background|wait for results|you decide|more questions|next area|keep going|sub-?agent|work on it now)\b|^(?:inline|continue)\b.{0,20}$"
    );
    let more = pattern!(r"(?i)\b(?:more questions|are we done)\b");
    // The choice of where to begin no longer matters when the work is done.
    let begins = choice.question == RECOMMENDED
        && pattern!(r"(?i)^(?:i(?:'d| would) )?(?:start|begin)(?:ing)?\b").is_match(&choice.answer);
    choice.answer != "refused"
        && !begins
        && !how.is_match(&choice.answer)
        && (choice.typed || !more.is_match(&choice.question))
}

/// Whether the chosen option was removed later, or the user took the choice back in one of the next
/// prompts. Plans and typed answers are never overtaken.
fn is_overtaken(entries: &Entries<'_>, choice: &Choice) -> bool {
    let evidence = entries.evidence;
    if choice.answer == "accepted" || choice.typed {
        return false;
    }
    let next = evidence.prompts.iter().filter(|prompt| prompt.origin.line > choice.origin.line);
    // A prompt after another choice is about that choice.
    let chosen_again = |prompt: &&Quote| {
        evidence.choices.iter().any(|other| {
            other.origin.line > choice.origin.line && other.origin.line <= prompt.origin.line
        })
    };
    let mut next = next.take(ANSWERS).take_while(|prompt| !chosen_again(prompt));
    let takes_back = |next: &Quote| {
        pattern!(r"(?i)^(?:no|nope|nah)\b[,. ]+(?:just|only|instead|use|keep|i|let's|lets|don't|do not)\b")
            .is_match(next.text.trim_start())
    };
    let is_gone = |option: &str| overtaken::is_removed_later(entries, option, choice.origin);
    next.any(takes_back) || labelled(&choice.answer).0.split("; ").all(is_gone)
}

/// Returns a choice of several options without those that were removed later.
fn without_removed<'c>(entries: &Entries<'_>, choice: &'c Choice) -> Cow<'c, Choice> {
    let is_gone = |option: &str| overtaken::is_removed_later(entries, option, choice.origin);
    let all: Vec<&str> = choice.answer.split("; ").collect();
    if all.len() < 2 || choice.typed || !all.iter().any(|option| is_gone(option)) {
        return Cow::Borrowed(choice);
    }
    let kept: Vec<&str> = all.into_iter().filter(|option| !is_gone(option)).collect();
    Cow::Owned(Choice { answer: kept.join("; "), ..choice.clone() })
}

/// Returns the decisions that reports list, each with its line in the transcript.
fn reported(entries: &Entries<'_>) -> Vec<(u64, DecisionRecord)> {
    // A report of a turn without a change lists decisions that were made before the session, unless
    // the report is the last one.
    let last = entries.reports.reports.last().map(|report| report.origin);
    let reports = entries.reports.reports.iter().filter(|report| !report.proposes());
    let reports = reports.filter(|report| report.changed || Some(report.origin) == last);
    let claims = reports.flat_map(|report| &report.claims);
    let decided = claims
        .filter(|claim| claim.topic == Some(Topic::Decision))
        .filter(|claim| !overtaken::is_gone(entries, &claim.text, claim.origin))
        .filter(|claim| !is_changed_after_all(entries, claim));
    let records = decided.filter_map(|claim| {
        let line = entries.claim(claim)?;
        let is_only_labelled = statement::without_label(&line).len() < line.len();
        let labelled = line.split_once(": ");
        let labelled = labelled.filter(|_| claim.label.is_some() && !is_only_labelled);
        let fate = claim.section.as_deref().filter(|heading| says_not_done(heading));
        let fate = fate.map_or(String::new(), |heading| {
            format!("{}: ", capitalised(heading.trim_end_matches([':', ' '])))
        });
        let record = match labelled {
            Some((label, rest)) => record(&format!("{fate}{label}"), capitalised(rest)),
            None if !fate.is_empty() => record(&format!("{fate}{line}"), NO_REASON.to_owned()),
            None => statement::record(&line).unwrap_or_else(|| {
                record(&capitalised(statement::without_label(&line)), NO_REASON.to_owned())
            }),
        };
        Some((claim.origin.line, record))
    });
    records.collect()
}

/// Whether a claim below a heading such as `Unchanged` mentions a file that was changed later.
fn is_changed_after_all(entries: &Entries<'_>, claim: &Claim) -> bool {
    let is_heading = |text: &str| {
        pattern!(r"(?i)^(?:files? )?(?:left )?(?:unchanged|untouched|not changed|no changes?)\b")
            .is_match(text)
    };
    let label = claim.label.as_deref().unwrap_or_default();
    claim.section.as_deref().is_some_and(is_heading)
        && overtaken::is_changed_since(
            entries.evidence,
            &format!("{label} {}", claim.text),
            claim.origin,
        )
}

/// Whether a heading says that the items below it were not done. Without such a heading, the items
/// would read as completed work.
fn says_not_done(heading: &str) -> bool {
    heading.len() <= 60
        && pattern!(r"(?i)\b(?:deferred|declined|skipped|rejected|dismissed|ignored|postponed|out of scope|won.t (?:fix|do)|wontfix|not (?:fixed|done|changed|addressed|applied|doing|in scope)|left (?:as[- ]is|alone|unchanged)|no change)\b")
            .is_match(heading)
}

fn record(decision: &str, rationale: String) -> DecisionRecord {
    DecisionRecord { decision: decision.to_owned(), rationale, alternatives: None }
}

/// Returns the tasks that the agent noted as decisions, for example `Decision: use one file`.
fn of_tasks(entries: &Entries<'_>) -> Vec<(u64, DecisionRecord)> {
    let is_kept = |task: &&Task| task.state != TaskState::Dropped;
    let decided = entries.evidence.tasks.iter().filter(is_kept).filter_map(|task| {
        let plain = Some(statement::without_label(&task.subject));
        let plain = plain.filter(|text| text.len() >= 8 && text.len() < task.subject.len())?;
        let decision = capitalised(without_full_stop(plain));
        // Tasks have no line in the transcript, so they are sorted to the front.
        Some((0, record(&entries.tidy_line(&decision), NO_REASON.to_owned())))
    });
    decided.collect()
}

/// Returns the record of an answer that the user typed instead of choosing an option. `None` if the
/// answer is a question or another request, or if a prompt repeats the answer.
fn of_typed_answer(entries: &Entries<'_>, choice: &Choice) -> Option<DecisionRecord> {
    if user_words::asks_back(&choice.answer) {
        return None;
    }
    let answer_words = words(&choice.answer);
    let repeats =
        |prompt: &Quote| share_of_words(&answer_words, &words(&prompt.text)) >= SAID_AGAIN;
    if entries.evidence.prompts.iter().any(repeats) {
        return None;
    }
    let question = entries.tidy_line(&choice.question);
    let rationale = if question.is_empty() {
        USERS_WORDS.to_owned()
    } else {
        format!("{USERS_WORDS}, asked: {}", cut(&question, ENTRY))
    };
    let quote = entries.tidy_line(&choice.answer);
    Some(record(&format!("User: \"{quote}\""), rationale))
}

/// Returns the record of an accepted plan. Its decision is the approach, because most titles decide
/// nothing. If the plan states only its background, the title is the decision and the background is
/// the reason, provided that the title is an order.
fn of_plan(entries: &Entries<'_>, choice: &Choice) -> Option<DecisionRecord> {
    let title = plan_title(&entries.tidy_line(&choice.question));
    // A background such as `Add a reader of archives` describes what is to be done.
    let background = choice.background.as_deref();
    let approach = choice.approach.as_deref().or(background.filter(|text| begins_as_order(text)));
    let Some(approach) = approach else {
        let background = entries.tidy_line(background?);
        let rationale = format!("{}{TITLED}", without_full_stop(&background));
        return begins_as_order(&title).then(|| record(&title, rationale));
    };
    let approach = entries.tidy_line(approach);
    let rationale = format!("{PLAN}{title}, accepted {BY_THE_USER}");
    Some(record(without_full_stop(&approach), rationale))
}

fn of_choice(entries: &Entries<'_>, choice: &Choice) -> Option<DecisionRecord> {
    if choice.answer == "accepted" {
        return of_plan(entries, choice);
    }
    if choice.typed {
        return of_typed_answer(entries, choice);
    }
    let question = entries.tidy_line(&choice.question);
    let question =
        pattern!(r"(?i)^(?:next |first |last |final )?question(?: \d+)?: ").replace(&question, "");
    let answer = pattern!(r"(?i) ?\((?:recommended|default)\)").replace(&choice.answer, "");
    let answer = match choice.question.as_str() {
        RECOMMENDED => capitalised(without_full_stop(&entries.tidy_line(&answer))),
        _ => entries.tidy(&answer),
    };
    let (decision, rationale) = match choice.question.as_str() {
        RECOMMENDED => {
            let (decision, reason) = match labelled(&answer) {
                (label, Some(detail)) if label.split(' ').count() <= 8 => {
                    (label.to_owned(), Some(capitalised(detail)))
                }
                _ => statement::with_reason(&answer),
            };
            let accepted = "recommended by the agent, accepted by the user";
            // `Not yet` cannot be understood without its question.
            let asked = short_prompt_before(entries, choice.origin);
            let asked = asked.filter(|_| is_bare_answer(&decision));
            (
                asked.map_or(decision.clone(), |asked| format!("{asked} {decision}")),
                reason.map_or(capitalised(accepted), |reason| format!("{reason} ({accepted})")),
            )
        }
        _ => {
            let (label, detail) = labelled(&answer);
            let explanation = explanation_of_label(entries, choice, label);
            let detail = detail.or(explanation.as_deref());
            let asked = match question.is_empty() {
                true => CHOSEN.to_owned(),
                false => format!("{CHOSEN}; asked: {}", cut(&question, ENTRY)),
            };
            let asked = match choice.words.as_deref().filter(|words| changes_option(words)) {
                Some(words) => asked.replacen(
                    CHOSEN,
                    &format!("{CHOSEN}{AND_CHANGED}\"{}\"", cut(&entries.tidy_line(words), ENTRY)),
                    1,
                ),
                None => asked,
            };
            (
                with_header(entries, choice, label),
                detail.map_or(asked.clone(), |detail| format!("{} ({asked})", capitalised(detail))),
            )
        }
    };
    let others: Vec<String> =
        choice.alternatives.iter().map(|one| labelled(&entries.tidy(one)).0.to_owned()).collect();
    let alternatives = (!others.is_empty()).then_some(others);
    Some(DecisionRecord { decision, rationale, alternatives })
}

/// Puts the header of the question before a chosen option: `Accept flow: Hybrid`. Leaves out a
/// header that the option contains, and the header `User`, because quotes of the user begin with
/// `User:`.
fn with_header(entries: &Entries<'_>, choice: &Choice, label: &str) -> String {
    let header = choice.header.as_deref().map(|header| entries.tidy_line(header));
    let is_contained = |header: &str| {
        label.to_lowercase().starts_with(&header.to_lowercase())
            || share_of_words(&words(header), &words(label)) >= 0.5
    };
    let is_needed =
        |header: &String| !header.is_empty() && header != "User" && !is_contained(header);
    match header.filter(is_needed) {
        Some(header) => format!("{header}: {label}"),
        None => label.to_owned(),
    }
}

/// Returns the explanation of a chosen option whose label is too short to be clear alone, such as
/// `Hybrid`.
fn explanation_of_label(entries: &Entries<'_>, choice: &Choice, label: &str) -> Option<String> {
    let explanation =
        choice.explanation.as_deref().filter(|_| label.split(' ').count() <= SHORT_LABEL);
    explanation.map(|text| without_full_stop(&entries.tidy_line(text)).to_owned())
}

/// Whether the words with which the user picks an option change the option or add a wish, for
/// example `B, but with the prompts`.
fn changes_option(words: &str) -> bool {
    pattern!(r"(?i)\b(?:but|except|however|without|instead|only|plus|as well|also|require\w*|make sure|(?:we|i) (?:also )?(?:want|need)|should|aber|außer|ohne|pero|excepto|mais|sauf|sans)\b|但|不过|ただし|でも")
        .is_match(words)
}

fn plan_title(question: &str) -> String {
    let plain = pattern!(r"(?i)^(?:implementation )?plan(?: (?:for|to))?\s*(?:[:—-]\s*|\b)")
        .replace(question, "");
    capitalised(&plain)
}

/// Splits an answer such as `Daily — one file for each date` into its label and its detail.
fn labelled(answer: &str) -> (&str, Option<&str>) {
    match answer.split_once(" — ").or_else(|| answer.split_once(" - ")) {
        Some((label, detail)) if label.len() >= 3 && !is_bare_answer(answer) => {
            (label, Some(detail))
        }
        _ => (answer, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::{
        evidence::scenarios::Script, from_evidence::request::wording_scenarios,
    };

    #[test]
    fn the_detail_of_a_bare_answer_is_part_of_its_label() {
        assert_eq!(labelled("Yes — correct it"), ("Yes — correct it", None));
        assert_eq!(labelled("Daily — one file a day"), ("Daily", Some("one file a day")));
    }

    #[test]
    fn a_quote_that_the_objective_contains_is_no_decision() {
        let decided = |objective: &str, rationale: &str| {
            let mut script = Script::default();
            script.prompt("Build it");
            script.reply("m", "Built.");
            let mut summary = wording_scenarios::summary(&script);
            summary.objective = objective.to_owned();
            let quote = "User: \"okay lets add a list of questions to the readme\"";
            summary.key_decisions = Some(vec![record(quote, rationale.to_owned())]);
            remove_requests(&mut summary);
            summary.key_decisions.is_some()
        };
        let objective = "Build it. Later: add a list of questions to the readme.";
        assert!(!decided(objective, USERS_WORDS));
        assert!(decided(objective, "The user's words, on a proposed plan"));
        assert!(decided("Build it", USERS_WORDS));
    }

    #[test]
    fn a_decision_mentions_its_object() {
        for decision in ["Removed it", "Kept them all", "Dropped both"] {
            assert!(!names_object(decision), "{decision}");
        }
        assert!(names_object("Removed the cache") && names_object("Kept these two flags"));
    }
    use crate::model::{evidence::Evidence, transcript::Origin};
    use crate::report::Reports;

    #[test]
    fn sentences_give_decision_reason_and_alternative() {
        for (sentence, wanted) in [
            (
                "I chose a lock file over a socket because it survives a crash.",
                Some(("Chose a lock file over a socket", "It survives a crash", Some("A socket"))),
            ),
            (
                "The cache may be empty at first, so I added a `warm()` call.",
                Some(("Added a `warm()` call", "The cache may be empty at first", None)),
            ),
            (
                "Since no release reads the column yet, I dropped it instead of deprecating it.",
                Some((
                    "Dropped it instead of deprecating it",
                    "No release reads the column yet",
                    Some("Deprecating it"),
                )),
            ),
            (
                "Used `with_lock()` instead of a flag in the loop.",
                Some((
                    "Used `with_lock()` instead of a flag in the loop",
                    "Reason not stated",
                    Some("A flag in the loop"),
                )),
            ),
            (
                "Kept the lock out of the loop to avoid a deadlock.",
                Some(("Kept the lock out of the loop", "To avoid a deadlock", None)),
            ),
            (
                "A table (one row each) rather than a list: the rows keep their order",
                Some((
                    "A table (one row each) rather than a list: the rows keep their order",
                    "Reason not stated",
                    Some("A list"),
                )),
            ),
            ("Went with the second way.", None),
        ] {
            let found = statement::record(sentence);
            let found = found.as_ref().map(|record| {
                let others = record.alternatives.as_ref().map(|others| others[0].as_str());
                (record.decision.as_str(), record.rationale.as_str(), others)
            });
            assert_eq!(found, wanted, "{sentence}");
        }
    }

    #[test]
    fn options_that_were_removed_later_are_left_out() {
        let at = |line| Origin { source: 0, line };
        let evidence = Evidence {
            choices: vec![Choice {
                answer: "Read the rows with one parser; Cache the client instead of building one per call".to_owned(),
                origin: at(3),
                ..Choice::default()
            }],
            prompts: vec![Quote {
                text: "The hook must stay. Let's keep per-call construction.".to_owned(),
                origin: at(9),
                at: None,
            }],
            ..Evidence::default()
        };
        let reports = Reports::default();
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let records = key_decisions(&entries);
        assert_eq!(records[0].decision, "Read the rows with one parser");
    }

    #[test]
    fn choices_of_the_user_are_decisions() {
        let choice = |question: &str, answer: &str| Choice {
            question: question.to_owned(),
            answer: answer.to_owned(),
            alternatives: vec!["Hourly - many files".to_owned()],
            origin: Origin::default(),
            ..Choice::default()
        };
        let evidence = Evidence {
            choices: vec![
                choice("How should the log be split?", "Daily — one file for each date"),
                Choice {
                    alternatives: Vec::new(),
                    approach: Some("One writer that quotes each cell.".to_owned()),
                    ..choice("# Plan: Export to CSV", "accepted")
                },
                Choice { alternatives: Vec::new(), ..choice("# Plan: Untold", "accepted") },
                Choice {
                    approach: Some("Two writers.".to_owned()),
                    ..choice("# Plan: Split the writer", "refused")
                },
                Choice { typed: true, ..choice("Which name?", "`rows`, as in the file") },
                Choice {
                    explanation: Some("Written each day, read on demand.".to_owned()),
                    ..choice("Which approach?", "Hybrid")
                },
            ],
            tasks: vec![Task {
                key: "1".to_owned(),
                subject: "Decision: Use one file".to_owned(),
                state: TaskState::Completed,
            }],
            ..Evidence::default()
        };
        let records = key_decisions(&Entries {
            evidence: &evidence,
            reports: &Reports::of(&evidence),
            project: None,
        });
        assert_eq!(records[0].decision, "Use one file");
        assert_eq!(records[1].decision, "Daily");
        assert_eq!(
            records[1].rationale,
            "One file for each date (Chosen by the user; asked: How should the log be split?)"
        );
        assert_eq!(records[1].alternatives.as_deref(), Some(&["Hourly".to_owned()][..]));
        assert_eq!(records[2].decision, "One writer that quotes each cell");
        assert_eq!(records[2].rationale, "Plan: Export to CSV, accepted by the user");
        assert_eq!(records[3].decision, "User: \"`rows`, as in the file\"");
        assert_eq!(records[3].rationale, "The user's words, asked: Which name?");
        assert_eq!(records[4].decision, "Hybrid");
        assert_eq!(
            records[4].rationale,
            "Written each day, read on demand (Chosen by the user; asked: Which approach?)"
        );
        assert_eq!(records.len(), 5);
    }
}
