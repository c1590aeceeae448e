//! Finds the later goals of a session, after its first request.

use std::collections::BTreeSet;

use crate::{
    lang::prompt::slash_command,
    model::evidence::{Evidence, Quote},
    report::{Topic, is_phrase},
    summarize::{
        from_evidence::{
            decisions::listed_options::picked,
            entries::cut_at_clause,
            next_steps::settled::decides_by_number,
            reported::{overtaken, quotable::is_balanced},
            request::{
                Request, Weight, prompt_of,
                wording::{self, asks_for_work, orders_work},
            },
            turns::{names_a_problem, turn_of},
        },
        lists::keep_latest,
    },
    text::{
        one_line, pattern, sentences, share_of_words, spoken_sentences, without_full_stop,
        without_opener, words,
    },
};

/// Minimum number of words of a slash command, including its name, that describes a goal.
const COMMANDED: usize = 7;
/// Maximum length, in characters, of each goal that came up later.
pub(crate) const LATER: usize = 240;
/// Maximum length, in bytes, of the part of a prompt that is searched for a request.
const START: usize = 600;
/// Maximum number of words of an order whose object may be in the sentence before.
const SHORT_ORDER: usize = 5;
/// In a session with at most this number of requests, each request shows what the session was
/// about.
const FEW: usize = 4;
/// Minimum number of words of a remark that shows what the session was about.
const REMARK: usize = 8;
/// Maximum number of goals that came up later. If there are more, the latest are kept.
const SHIFTS: usize = 6;
/// A request repeats a goal if the goal contains at least this share of the request's words.
const REPEATED: f64 = 0.5;
/// A request that is no order or led to no change repeats the earlier requests if they contain at
/// least this share of its words.
const FAMILIAR: f64 = 0.3;
/// Maximum length, in bytes, of a prompt whose paragraphs are read as separate requests.
const TYPED: usize = 900;

/// Maximum length, in bytes, of a quotation that does not count as pasted text.
const QUOTED: usize = 80;

/// Returns what the session turned to after the request at the index `first`, whose goal is `goal`:
/// items that the user picked from a list, slash commands, new work, and orders that led to a
/// change. A problem counts if its prompt also asks for work and led to a change. If the request at
/// `first` led to no change, any request that asks for work and led to a change counts. In a
/// session with at most [`FEW`] requests, the description of a matter counts, too.
///
/// Repetitions are left out. An order that led to a change is compared with each goal
/// ([`REPEATED`]). Any other request is compared with all earlier requests together ([`FAMILIAR`]).
pub(crate) fn later_goals(
    evidence: &Evidence,
    requests: &[Request],
    first: usize,
    goal: &str,
) -> Vec<String> {
    let commands = commands(evidence);
    let began = led_to_change(evidence, &requests[first]);
    let mut known = words(&requests[first].text);
    let mut goals = vec![known.clone(), words(goal)];
    let mut found: Vec<String> = Vec::new();
    for (before, request) in requests[first..].iter().zip(&requests[first + 1..]) {
        if let Some(picked) = picked_later(evidence, request) {
            let new = words(&picked);
            if !contained_in_one(&new, &goals) {
                found.push(cut_at_clause(&picked, LATER));
            }
            known.extend(new.iter().cloned());
            goals.push(new);
            continue;
        }
        let asked = prompt_of(evidence, request);
        let is_revoked = asked.is_some_and(|asked| overtaken::is_revoked(evidence, asked.origin));
        if is_revoked || is_about_a_draft(request) {
            known.extend(words(&request.text));
            continue;
        }
        let changed = led_to_change(evidence, request);
        // The fix of a problem that the user only described is among the completed tasks.
        let asks = || asked.is_some_and(|asked| asks_for_work(start(&asked.text)));
        let is_matter = requests.len() <= FEW && describes_matter(request);
        let is_goal = is_new_work(request)
            || is_matter
            || commands.contains(request)
            || changed
                && !is_answer(request)
                && (orders(request) || (!began || names_a_problem(&request.text)) && asks());
        let goal = is_goal.then(|| {
            let line = request_sentence(request, asked);
            (request.clone(), line.or_else(|| is_matter.then(|| shortened(&request.text))))
        });
        let paragraphs = asked.filter(|_| changed).map(|asked| paragraph_requests(&asked.text));
        for (request, line) in goal.into_iter().chain(paragraphs.into_iter().flatten()) {
            let new = words(&request.text);
            let is_work = changed && (orders(&request) || is_new_work(&request));
            let is_repeated = match is_work {
                true => contained_in_one(&new, &goals),
                false => share_of_words(&new, &known) >= FAMILIAR,
            };
            if let Some(line) = line.filter(|_| new.len() >= 3 && !is_repeated) {
                goals.push(words(&line));
                found.push(with_previous_request(line, before));
            }
        }
        known.extend(words(&request.text));
    }
    keep_latest(&mut found, SHIFTS);
    found
}

/// Whether one of the goals contains at least the share [`REPEATED`] of the words of a request.
fn contained_in_one(request: &BTreeSet<String>, goals: &[BTreeSet<String>]) -> bool {
    goals.iter().any(|goal| share_of_words(request, goal) >= REPEATED)
}

/// Whether a request only describes a matter, for example `we have open pull requests, are any of
/// them ready to merge`. A question with a question mark does not count, because the findings
/// contain it with its answer.
fn describes_matter(request: &Request) -> bool {
    request.weight == Weight::Clear
        && request.text.split(' ').count() >= REMARK
        && !request.text.contains('?')
        && pattern!(
            r"(?i)^(?:(?:also|and|now),? )*(?:we have|there (?:is|are)|(?:it )?seems|looks like|i(?:['’]ve| have)? (?:noticed|found|saw)|i see)\b"
        )
        .is_match(&request.text)
}

/// Returns what the later paragraphs of a request's prompt ask for besides the request.
pub(crate) fn asked_besides(evidence: &Evidence, request: &Request) -> Vec<String> {
    let Some(asked) = prompt_of(evidence, request) else { return Vec::new() };
    let mut known = words(&request.text);
    let mut found = Vec::new();
    for (_, line) in paragraph_requests(&asked.text) {
        let Some(line) = line else { continue };
        let new = words(&line);
        if new.len() >= 3 && share_of_words(&new, &known) < REPEATED {
            known.extend(new);
            found.push(line);
        }
    }
    found
}

/// Returns the requests in a typed prompt after its first paragraph, each with the sentence that
/// the summary shows. A paragraph counts if its first sentence orders something, or describes a
/// problem that the paragraph asks to solve.
fn paragraph_requests(prompt: &str) -> Vec<(Request, Option<String>)> {
    if prompt.len() > TYPED || slash_command(prompt).is_some() || has_pasted_text(prompt) {
        return Vec::new();
    }
    // A terminal leaves a backslash at the end of a continued line.
    let prompt = prompt.replace("\\\n", "\n");
    let requests = prompt.split("\n\n").skip(1).filter_map(|paragraph| {
        let paragraph = one_line(paragraph);
        let spoken = spoken_sentences(&paragraph);
        let first = Request::of(spoken.first()?)?;
        let asks = || spoken.iter().any(|sentence| asks_for_work(sentence));
        let is_wanted = orders(&first) && !is_answer(&first)
            || is_new_work(&first)
            || names_a_problem(&first.text) && asks();
        let line = request_sentence(&first, None);
        is_wanted.then_some((first, line))
    });
    requests.collect()
}

/// Whether a prompt contains a long quotation, or code that is not in back quotes.
fn has_pasted_text(prompt: &str) -> bool {
    let prose: String = prompt.split('`').step_by(2).collect();
    let mut quoted = prose.split('"').skip(1).step_by(2);
    prose.contains(['{', '}', '|', '<', '>', '=', '“']) || quoted.any(|text| text.len() > QUOTED)
}

/// Whether a request is an order that can be understood without other text. Orders such as `run`,
/// `check` or `commit` do not count.
fn orders(request: &Request) -> bool {
    request.weight == Weight::Clear
        && (request.is_order || orders_work(&request.ask))
        && !points_at_something(&request.ask)
        && !pattern!(r"(?i)^(?:check|explain|find|list|read|run|search|show|test|use|verify|commit|merge|rebase|push|publish|tag|squash|make sure|tell|look|help|see|go|continue|stop|wait|try|pause|double.check|get back|don.?t|do not|never)\b")
            .is_match(&request.ask)
}

/// Returns the start of a prompt. Later text may be pasted.
pub(crate) fn start(prompt: &str) -> &str {
    &prompt[..prompt.floor_char_boundary(START)]
}

/// Returns the sentence that says what a request asks for. `Get that back` needs the sentence
/// before it, or another order of the same prompt.
fn request_sentence(request: &Request, asked: Option<&Quote>) -> Option<String> {
    let spoken = asked.map_or(Vec::new(), |asked| spoken_sentences(&asked.text));
    let orders = spoken.iter().filter_map(|sentence| wording::last_order(sentence));
    // The first sentence of a prompt may only comment on something. Before a short order such as
    // `Get that back`, it contains the object of the order.
    let is_short = request.ask.split_whitespace().count() <= SHORT_ORDER;
    let whole = Some(shortened(&request.text))
        .filter(|line| is_short || asks_for_work(line) || names_a_problem(line));
    let all = [Some(shortened(&request.ask)), whole].into_iter().flatten();
    let mut all = all.chain(orders.map(|order| shortened(&order)));
    let line = all.find(|line| {
        !points_at_something(line)
            && line.split(' ').count() > 4
            && is_balanced(line)
            && !is_no_request(line)
            && Request::of(line).is_some_and(|line| line.weight != Weight::Routine)
    })?;
    Some(with_limit(line, &spoken))
}

/// Whether a line is an opinion, a doubt about the agent's answer, or console output.
pub(crate) fn is_no_request(line: &str) -> bool {
    let is_opinion = pattern!(r"(?i)^(?:i (?:think|guess|believe|feel)|not sure)\b").is_match(line);
    let asks = pattern!(r"(?i)\b(?:please|(?:can|could) (?:you|we)|let.?s|should|need to)\b");
    is_opinion && !asks.is_match(line)
        || pattern!(
            r#"(?i)\bcorrect me if\b|^(?:are you sure|did you|have you)\b|["“]https?://|[{}]"#
        )
        .is_match(line)
}

/// Adds the next sentence to a request if that sentence rejects or limits the request, or asks for
/// what the request only describes, for example `I've seen a broken list. We should support those
/// lists, too`.
fn with_limit(line: String, spoken: &[String]) -> String {
    let same = |sentence: &String| {
        without_full_stop(sentence).to_lowercase().ends_with(&line.to_lowercase())
    };
    let next = spoken.iter().position(same).and_then(|at| spoken.get(at + 1));
    let asks = |next: &str| {
        !asks_for_work(&line.replace("new feature", ""))
            && asks_for_work(next)
            && next.split_whitespace().count() > SHORT_ORDER
    };
    let belongs = |next: &&String| {
        (wording::rejects_or_limits_previous(next) || asks(next)) && line.len() + next.len() < LATER
    };
    match next.filter(belongs) {
        Some(next) => format!("{line}. {}", without_full_stop(next)),
        None => line,
    }
}

/// Whether a request corrects a draft and then tells the agent to continue, for example `drop the
/// last line, then go ahead`.
fn is_about_a_draft(request: &Request) -> bool {
    pattern!(r"(?i)\b(?:then|and) (?:go ahead|proceed)[.! ]*$").is_match(&request.text)
}

/// Whether a request only answers the agent. A choice is listed with the decisions, and an
/// approval is left out.
fn is_answer(request: &Request) -> bool {
    let ask = without_opener(&request.ask);
    is_phrase(Topic::Choice, ask)
        || is_phrase(Topic::Choice, &request.text)
        || pattern!(r"(?i)^(?:yes|yeah|yep|ok|okay|sure|no)\b|\b(?:sounds|looks) (?:good|great|right)\b|^(?:go ahead|proceed|continue)\b")
            .is_match(&request.text)
}

/// Whether files were changed or committed in a request's turn. Checks the files, too, because an
/// interrupted turn has no report.
pub(crate) fn led_to_change(evidence: &Evidence, request: &Request) -> bool {
    let Some(turn) = prompt_of(evidence, request).and_then(|one| turn_of(evidence, one.origin))
    else {
        return false;
    };
    let mut reports = evidence.reports.iter();
    reports.any(|report| report.changed && turn.holds(report.origin))
        || evidence.changed_files().any(|(_, work)| turn.holds(work.last))
}

/// Returns the requests in slash commands of at least [`COMMANDED`] words. Each counts as new work,
/// whatever its words are.
fn commands(evidence: &Evidence) -> Vec<Request> {
    let prompts = evidence.prompts.iter().filter(|prompt| slash_command(&prompt.text).is_some());
    let given = prompts.filter(|prompt| prompt.text.split_whitespace().count() >= COMMANDED);
    given.filter_map(|prompt| Request::of(&prompt.text)).collect()
}

/// Returns the work that the user picked from a list by its number. A number that answers a
/// question is a decision instead.
fn picked_later(evidence: &Evidence, request: &Request) -> Option<String> {
    if !begins_with_pick(&request.text) {
        return None;
    }
    let asked = prompt_of(evidence, request)?;
    if decides_by_number(&asked.text) {
        return None;
    }
    let answers = evidence.choices.iter().any(|choice| choice.origin == asked.origin);
    // Work that the user stopped with the next prompt was not done.
    let next = evidence.prompts.iter().find(|prompt| prompt.origin.line > asked.origin.line);
    let is_stopped = next.is_some_and(|next| {
        evidence.corrections.iter().any(|correction| correction.origin == next.origin)
    });
    let picked = picked(evidence, request).filter(|picked| !picked.ends_with('?'));
    picked.filter(|_| !answers && !is_stopped)
}

/// Whether a text begins with the number of an item, such as `2, please`, rather than with a count,
/// such as `2 tests still fail`.
fn begins_with_pick(text: &str) -> bool {
    pattern!(r"(?i)^(?:#|number )?\d(?:$|[,;:!]| ?[-–—](?: |$)| ?[&+]| (?:but|and|with|without|please|then|only|first|instead|seems?|looks?|sounds?|is (?:good|fine|the|an?))\b)")
        .is_match(text)
}

/// Whether a request refers to earlier text, such as `Create a commit with that content`.
pub(crate) fn points_at_something(ask: &str) -> bool {
    let object = pattern!(r"(?i)^\w+ (?:it|them)\b").is_match(ask);
    object && !pattern!(r"(?i)^make it (?:possible|easy|easier|clear|so)\b").is_match(ask)
        || pattern!(r"(?i)^\w+ (?:that|this|these|those)\b[^,;:]{0,12}$|^\w+ (?:this|that) (?:in|on|up|out|to|into|for|as|at|by|via|with|from|done|through)\b|^(?:get|do|finish|push|merge|apply|commit) (?:that|those|these) \w+|\b(?:with|support|of|to|for|as|in|do|from) (?:that|those|these) \(?\w+\b")
        .is_match(ask)
        || pattern!(r"(?i)^\w+ (?:that|those|these) \(").is_match(ask)
        || pattern!(r"(?i)^(?:we|you|i)(?:['’](?:re|ve|m)| are| have)? \w+ (?:(?:it|this|them)\b|that[.!,])")
            .is_match(ask)
        || ask.split_whitespace().count() <= 12
            && pattern!(r"(?i) (?:that|this|those|these) (?:behaviou?r|case|change|issue|problem|way|one|fix|approach)s?[.!?]?$|\b(?:confirm|of|for|with|to|in|on|like|do|about) (?:that|this|those|these|them|it)[.!?]?$")
                .is_match(ask)
}

/// Whether a request orders new work rather than comments on the last work.
fn is_new_work(request: &Request) -> bool {
    // "Fix these" refers to what was just shown. A longer sentence contains its object.
    let points_back =
        pattern!(r"(?i)^(?:\w+ (?:it|this|that|these|those|them|a task|the todo|todo)\b)")
            .is_match(&request.ask)
            && request.ask.split(' ').count() < 8;
    request.weight == Weight::Clear
        && !points_back
        && pattern!(
            r"(?i)^(?:add|address|apply|build|clean up|configure|convert|create|debug|deploy|design|disable|document|enable|explore|extract|fix|generate|implement|improve|integrate|investigate|migrate|move|optimi[sz]e|port|refactor|remove|rename|replace|research|resolve|review|rework|rewrite|set up|simplify|split|support|translate|update|upgrade|write|new feature|next (?:feature|task|thing))\b"
        )
        .is_match(&request.ask)
}

/// Adds the previous request to a request with a word such as `ours`, for example `call ours
/// max_size as well`.
fn with_previous_request(line: String, before: &Request) -> String {
    let compares = pattern!(r"(?i)\b(?:ours|mine|theirs)\b").is_match(&line);
    match compares {
        true => format!("{line} (after: {})", shortened(&before.text)),
        false => line,
    }
}

fn shortened(text: &str) -> String {
    // An opening such as `before you do that,` or `do that, and then` is no goal.
    let step = pattern!(
        r"(?i)^(?:before (?:you|we|i) (?:go |start |begin )?(?:and )?(?:do|doing)|once you(?:['’]?re| are) (?:done|finished)(?: with)?) (?:that|this|it),? +(?:it (?:seems|looks) like )?|^(?:let.?s )?(?:do|take|go with) (?:that|this|it)(?:, *| +(?:and|then|but) +)(?:(?:and|then|but|also) +)*"
    );
    let text = step.find(text).map_or(text, |found| &text[found.end()..]);
    let first = sentences(text).first().copied().unwrap_or(text);
    // `and ensure this never happens again` contains nothing specific.
    let tail = pattern!(
        r"(?i)^(.{24,}?),? and (?:also |then )?(?:make sure|ensure|see|check|confirm|avoid|prevent) (?:that )?(?:this|that|it|they)\b[^,;]*$"
    );
    let first =
        tail.captures(first).and_then(|found| found.get(1)).map_or(first, |head| head.as_str());
    let line = cut_at_clause(first, LATER);
    // If the user writes in lower case, the first word of the next sentence may remain.
    let stump = pattern!(r"^(.{12,}[.!?]) \S+$").captures(&line).map(|found| found[1].to_owned());
    let line = stump.unwrap_or(line);
    // A log that was pasted after the text may leave punctuation.
    let line =
        line.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | '`' | '"'));
    // The text after the last word was code.
    let open = pattern!(r"(?i)^(.{12,}?)(?:,? (?:to|of|from|into|than|and|or|but|the|an?))+$");
    let line = open.captures(line).and_then(|found| found.get(1)).map_or(line, |one| one.as_str());
    let mut line = line.to_owned();
    let is_plain =
        line.split(' ').next().is_some_and(|word| word.chars().skip(1).all(char::is_lowercase));
    if is_plain
        && !line.starts_with("I ")
        && let Some(first) = line.get_mut(0..1)
    {
        first.make_ascii_lowercase();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::transcript::Outcome, summarize::evidence::scenarios::Script};

    #[test]
    fn a_pick_is_distinguished_from_a_count() {
        for pick in [
            "2",
            "2, please",
            "2 please",
            "#2",
            "number 2 first",
            "2 - but on this branch",
            "3 but on this branch",
            "5 seems like a low hanging fruit",
            "1 is a good one",
            "1 & 2",
            "2 and 3",
        ] {
            assert!(begins_with_pick(pick), "{pick}");
        }
        for count in [
            "2 tests still fail after your change",
            "1 more thing: rename the button",
            "5 is too many",
            "2 of 3 tests pass now",
            "2-column layout please",
            "1. fix the parser",
            "12 rows",
        ] {
            assert!(!begins_with_pick(count), "{count}");
        }
    }

    #[test]
    fn a_described_problem_is_a_goal_only_with_a_request() {
        let goals = |later: &str| {
            let mut script = Script::default();
            script.prompt("Push the new list up");
            script.run("a", "git commit -qam List", Outcome::Succeeded, "[list 1a2b3c4] List\n");
            script.reply("m1", "Pushed.");
            script.prompt(later);
            script.edit("b", "/app/a.ts", "a", "b");
            script.reply("m2", "Fixed the selector.");
            let evidence = script.collect();
            let requests: Vec<Request> =
                evidence.prompts.iter().filter_map(|one| Request::of(&one.text)).collect();
            later_goals(&evidence, &requests, 0, "")
        };
        let problem = "theres 4 new comments from the reviewer, and the browser test is failing in ci, but feel free to address both";
        assert_eq!(goals(problem).len(), 1, "{:?}", goals(problem));
        assert_eq!(
            goals(
                "lets get that update done in a branch.\n\nthe deployment failed. Fix the problem of the list in the pipeline."
            ),
            ["fix the problem of the list in the pipeline"]
        );
        assert_eq!(
            goals(
                "new feature: we support lists, but i've seen a broken tree. we should support those (all trees) too"
            ),
            [
                "new feature: we support lists, but i've seen a broken tree. we should support those (all trees) too"
            ]
        );
        assert_eq!(
            goals("ok, let's do that, write the notes of the list into a file for later"),
            ["write the notes of the list into a file for later"]
        );
        assert_eq!(
            goals("the footer of the login is missing since today. can you get that back."),
            ["the footer of the login is missing since today"]
        );
        for remark in [
            "we have five open requests are any of them ready to merge",
            "seems like the list is no longer valid since the last change",
        ] {
            assert_eq!(goals(remark), [remark]);
        }
        for comment in [
            "I think that nobody needs the other design. please correct me if I am wrong here.",
            "ok can you apply the simplify skill to do that. $worktree",
            "still failing on the second page, and so is the other one",
            "ok great, the list is much better and faster now",
            "refreshing the page solves the problem with the login being displayed.",
            "hmmm, the docs branch is somehow failing the browser tests of the list",
            "lets get this in quite early, but not top prio",
            "we need to get back to main, and pull in latest.",
            "I think the library is setting the name, it is an inline style (and it is wrong here:",
            "are you sure the list is the issue? that is the only part of the page that was loaded, please",
            "remove the second paragraph and the comment on the tree, then go ahead.",
        ] {
            assert_eq!(goals(comment), [""; 0], "{comment}");
        }
    }

    #[test]
    fn a_paragraph_of_a_prompt_is_a_goal_of_its_own() {
        let mut script = Script::default();
        script.prompt("Check the metadata of the folders against the guidelines");
        script.edit("a", "/app/a.md", "a", "b");
        script.reply("m1", "Checked.");
        script.prompt("ok lets get that docs update done in a separate branch.\n\nonce youre done with that, it seems like there was a problem running the migration during the deployment. Fix it.");
        script.edit("b", "/app/b.sql", "a", "b");
        script.reply("m2", "Added the migration.");
        script.prompt("could you also add a guide for the schema, similar to the one for metadata");
        script.edit("c", "/app/c.md", "a", "b");
        script.reply("m3", "Added.");
        let evidence = script.collect();
        let requests: Vec<Request> =
            evidence.prompts.iter().filter_map(|one| Request::of(&one.text)).collect();
        let goals = later_goals(&evidence, &requests, 0, "");
        assert!(
            goals.contains(
                &"there was a problem running the migration during the deployment".to_owned()
            ),
            "{goals:?}"
        );
        assert!(goals.iter().any(|one| one.starts_with("add a guide for the schema")), "{goals:?}");
    }

    #[test]
    fn a_request_has_the_sentence_that_limits_it() {
        let spoken =
            ["can you drop the old names?".to_owned(), "But keep those of the list.".to_owned()];
        assert_eq!(with_limit("drop the old names".to_owned(), &spoken), "drop the old names");
        let spoken = ["drop the old names.".to_owned(), "But keep those of the list.".to_owned()];
        assert_eq!(
            with_limit("drop the old names".to_owned(), &spoken),
            "drop the old names. But keep those of the list"
        );
    }

    #[test]
    fn the_other_paragraphs_of_the_first_prompt_are_requests_too() {
        let mut script = Script::default();
        script.prompt("Hide the group of the timeline instead of all of its items, because that collapses the row of the group, too. The place for it is marked in the template of the timeline, near the function that applies the filters. Keep the names of the groups, and keep their order, because the other page of the timeline reads both of them from the same file.\\\n\\\nAlso, I noticed that the colour of the header isn't the one of the items, can you make it the same?");
        let evidence = script.collect();
        let first = Request::of(&evidence.prompts[0].text).unwrap();
        assert_eq!(
            asked_besides(&evidence, &first),
            [
                "I noticed that the colour of the header isn't the one of the items, can you make it the same"
            ]
        );
    }

    #[test]
    fn references_to_earlier_text_are_found_and_requests_are_shortened() {
        assert!(points_at_something("Add a test to confirm that behaviour."));
        assert!(!points_at_something("Add a test for the empty list."));
        assert!(points_at_something("Make it the same as the items."));
        assert!(points_at_something("Handle this via a quick task"));
        assert!(!points_at_something("Make it possible to sort the items."));
        assert!(points_at_something("We're importing it in two different methods."));
        assert!(points_at_something("Get that docs update done in a separate branch."));
        assert_eq!(
            shortened("Add an entry to the guide of the team and ensure this never happens again."),
            "add an entry to the guide of the team"
        );
        assert_eq!(
            shortened("switch the reader of all the lists to the"),
            "switch the reader of all the lists"
        );
        assert_eq!(shortened("say what the new list is for"), "say what the new list is for");
        assert_eq!(
            shortened("The footer is gone. can you restore the footer. status."),
            "the footer is gone. can you restore the footer"
        );
    }
}
