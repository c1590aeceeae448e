//! Quotes the decisions of the user.

use crate::{
    model::{
        evidence::Quote,
        summary::DecisionRecord,
        transcript::Origin,
        wording::{DROPPED, USERS_WORDS},
    },
    report::{Topic, is_phrase},
    summarize::from_evidence::{
        decisions::{
            listed_options::{named_options, names_options},
            misdirected::{is_misdirected, takes_back_prompt},
            quote_context::{
                CONTEXT, agent_before, begins_with_pronoun, continues, names_object, needs_context,
                question_before, request_before, sentence_before,
            },
            record,
            wishes::{QUOTE, is_wish},
        },
        entries::{Entries, cut_at_clause},
        outcome::postpones_work,
        reported::overtaken,
        request::{
            Request, Weight,
            typed_text::{arguments, quotes_before, spoken, unquoted},
            wording::{is_approval, is_open_question, is_question, rejects_or_limits_previous},
        },
    },
    text::{
        cut, one_line, pattern, sentences, spoken_sentences, without_full_stop, without_opener,
    },
};

/// Maximum number of sentences of a prompt that only interrupts the work.
const STOP_SENTENCES: usize = 2;
/// Maximum length, in characters, of the whole quote from one prompt.
const WHOLE: usize = 480;
/// Maximum length, in bytes, of a prompt that is searched for decisions. Longer prompts usually
/// contain pasted text.
const SPOKEN: usize = 900;
/// Minimum number of words of the reason for which the agent agreed with an objection.
const REASON_WORDS: usize = 6;
/// A sentence that calls a statement of the agent wrong decides nothing if the sentence has at most
/// this number of words.
const BARE_CORRECTION: usize = 4;

/// Returns the decisions that the user made in prompts after the first prompt, each with its line
/// in the transcript. Empty if another agent wrote the prompts.
pub(crate) fn decisions(entries: &Entries<'_>) -> Vec<(u64, DecisionRecord)> {
    if entries.evidence.is_instructed {
        return Vec::new();
    }
    let prompts = entries.evidence.prompts.iter().skip(1);
    let prompts = prompts.filter(|prompt| {
        !overtaken::is_objected_to(entries.evidence, prompt.origin)
            && !is_misdirected(entries, prompt)
    });
    prompts.filter_map(|prompt| Some((prompt.origin.line, decision(entries, prompt)?))).collect()
}

fn decision(entries: &Entries<'_>, prompt: &Quote) -> Option<DecisionRecord> {
    let own_text = unquoted(entries, prompt);
    let text = spoken(arguments(&own_text), SPOKEN)?;
    if let Some(dropped) = dropped(entries, prompt, &text) {
        return Some(dropped);
    }
    let correction = entries.evidence.corrections.iter().find(|one| one.origin == prompt.origin);
    let is_edit = |call: &&str| pattern!(r"^(?:\w*Edit|Write) \S").is_match(call);
    let stopped = correction.and_then(|one| one.stopped.as_deref()).filter(is_edit);
    let refused = correction.and_then(|one| one.refused.as_deref()).or(stopped);
    let all = own_sentences(&text);
    // `Stop, we continue tomorrow` corrects nothing.
    if correction.is_some() && all.len() <= STOP_SENTENCES && postpones_work(&text) {
        return None;
    }
    let quote = match correction.and_then(|one| corrects(&all, one.refused.is_some())) {
        Some(whole) => whole,
        None => match quoted(&all, &|sentence| is_choice(sentence) && !is_wish(sentence)) {
            Some(quote) => quote,
            None => return accepted_objection(entries, prompt, &all.join(" ")),
        },
    };
    if is_picked(entries, &quote, prompt.origin) || introduces_pasted_text(&quote) {
        return None;
    }
    let on = named_options(entries, &one_line(&text), prompt.origin);
    let asked = || question_before(entries, prompt.origin);
    let pasted = begins_with_pronoun(&quote).then(|| quotes_before(entries, prompt)).flatten();
    let pasted = pasted.or_else(|| sentence_before(&text, &quote));
    let rationale = match (on.is_empty(), refused, pasted) {
        (false, _, _) => format!("{USERS_WORDS}, on {}", on.join("; ")),
        (true, Some(refused), _) if refused.starts_with("ExitPlanMode") => {
            format!("{USERS_WORDS}, on a proposed plan")
        }
        (true, Some(refused), _) => {
            format!("{USERS_WORDS}, on a proposed `{}`", call(entries, refused))
        }
        (true, None, _) if names_options(&quote) => return None,
        (true, None, Some(line)) => {
            format!("{USERS_WORDS}, on \"{}\"", cut_at_clause(&entries.tidy_line(&line), CONTEXT))
        }
        (true, None, _) if needs_context(&quote) => {
            match asked().filter(|asked| asked.chars().count() <= CONTEXT) {
                Some(asked) => format!("{USERS_WORDS}, asked: {asked}"),
                None if names_object(&quote) => USERS_WORDS.to_owned(),
                None => return None,
            }
        }
        (true, None, _) if continues(&quote) => {
            let request = request_before(entries, prompt.origin);
            let agent = || agent_before(entries, prompt.origin, &quote);
            match request.map(|request| agent().unwrap_or(request)) {
                Some(text) => format!("{USERS_WORDS}, after: {text}"),
                None => USERS_WORDS.to_owned(),
            }
        }
        (true, None, _) => USERS_WORDS.to_owned(),
    };
    Some(record(&format!("User: \"{}\"", cut(&entries.tidy_line(&quote), WHOLE)), rationale))
}

/// Whether a quote such as `here's one to try` only introduces pasted text.
fn introduces_pasted_text(quote: &str) -> bool {
    pattern!(r"(?i)^(?:here.?s|here is|here are) (?:one|another|some|an?|the)\b[^,;]{0,24}?\b(?:to (?:try|test|check)|examples?|outputs?|logs?|errors?)\W*$")
        .is_match(quote)
}

/// Returns the sentences of a prompt, without those that take back another prompt.
fn own_sentences(text: &str) -> Vec<String> {
    let mut all = spoken_sentences(text);
    all.retain(|sentence| !takes_back_prompt(sentence));
    all
}

/// Returns the record of an objection that is only a question, such as `The new file is read
/// anyway, why would you change the old one?`, if the agent agreed and took its work back.
fn accepted_objection(entries: &Entries<'_>, prompt: &Quote, text: &str) -> Option<DecisionRecord> {
    let objects = text.ends_with('?')
        && text.len() <= QUOTE
        && pattern!(r"(?i)\b(?:but|why|isn.?t|aren.?t|shouldn.?t|doesn.?t|don.?t)\b")
            .is_match(text);
    (objects && overtaken::agent_revoked_work(entries.evidence, prompt.origin)).then(|| {
        let decision = format!("User: \"{}\"", entries.tidy_line(text));
        let reason = reason_of_agreement(entries, prompt.origin);
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        record(&decision, format!("{USERS_WORDS}, the agent agreed{reason}"))
    })
}

/// Returns the first sentence after `You're right` that mentions its subject, which says why the
/// agent agreed with the prompt at `at`.
fn reason_of_agreement(entries: &Entries<'_>, at: Origin) -> Option<String> {
    let agreed = entries.evidence.concessions.iter().find(|one| one.origin == at)?;
    let line = entries.tidy_line(&agreed.text);
    let is_reason = |sentence: &&&str| {
        sentence.split_whitespace().count() >= REASON_WORDS
            && sentence.ends_with('.')
            && !pattern!(
                r"(?i)^(?:it|this|that|these|those|they|i|i.ll|i.m|you|let|we|reverting|having)\b"
            )
            .is_match(sentence)
    };
    let reason = sentences(&line).get(1..)?.iter().find(is_reason).copied()?.to_owned();
    Some(without_full_stop(&cut_at_clause(&reason, CONTEXT)).to_owned())
}

/// Returns a record of the previous request if the prompt drops the request, for example with
/// `Never mind`.
fn dropped(entries: &Entries<'_>, prompt: &Quote, text: &str) -> Option<DecisionRecord> {
    let drops = pattern!(
        r"(?i)^(?:ok(?:ay)?,? |ah,? |oh,? |actually,? )?(never ?mind|forget (?:it|that|about it))\b(?:[.,!]|$| (?:that|then|it)\b)"
    );
    let quote = drops.captures(text.trim_start())?[1].to_lowercase();
    let all = &entries.evidence.prompts;
    let before = all.iter().rfind(|one| one.origin.line < prompt.origin.line)?;
    let turn = before.origin.line..prompt.origin.line;
    let is_of_turn = |at: Origin| at.source == prompt.origin.source && turn.contains(&at.line);
    // A request that was carried out stays as it is.
    let mut reports = entries.evidence.reports.iter();
    if reports.any(|report| report.changed && is_of_turn(report.origin))
        || entries.evidence.changed_files().any(|(_, work)| is_of_turn(work.last))
    {
        return None;
    }
    let asked = Request::of(&before.text)?;
    let decision = format!("{DROPPED}{}", cut(&entries.tidy_line(&asked.text), CONTEXT));
    Some(record(&decision, format!("{USERS_WORDS}, with \"{quote}\"")))
}

/// Formats a call such as `Edit a.go`, with the path relative to the project.
fn call(entries: &Entries<'_>, shown: &str) -> String {
    match shown.split_once(' ') {
        Some((tool, path)) => format!("{tool} {}", entries.path(path)),
        None => shown.to_owned(),
    }
}

/// Returns a short prompt after a refused tool call or an interruption if the prompt says how to
/// continue.
fn corrects(all: &[String], refuses: bool) -> Option<String> {
    let says_how = |sentence: &&String| {
        !is_aside_alone(sentence)
            && !is_wish(sentence)
            && !is_routine(sentence)
            && (refuses && !is_open_question(sentence)
                || !is_question(sentence) && !names_possibility(sentence))
    };
    let whole = all.join(" ");
    (whole.len() <= QUOTE && all.iter().any(|one| says_how(&one))).then_some(whole)
}

/// Whether a sentence only says what is possible, for example `We can have a second list`.
fn names_possibility(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:we|i) (?:can|could)\b").is_match(without_opener(sentence))
        && !is_choice(sentence)
}

/// Whether a sentence asks only for a routine step, such as `Push up and make a PR`.
fn is_routine(sentence: &str) -> bool {
    Request::of(without_opener(sentence)).is_some_and(|request| request.weight == Weight::Routine)
}

/// Returns the sentences that state a decision. Each is quoted with the sentence on which it
/// depends, and with the reasons and limits after it.
fn quoted(all: &[String], decides: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut taken = vec![false; all.len()];
    for (at, sentence) in all.iter().enumerate() {
        let needed = at.checked_sub(1).filter(|_| depends_on_previous(sentence));
        // `Can you write a summary? Keep it short` limits a request.
        let is_of_request = needed.is_some_and(|needed| asks_agent(&all[needed]));
        if sentence.len() > QUOTE || !decides(sentence) || is_of_request {
            continue;
        }
        taken[at] = true;
        needed.into_iter().for_each(|needed| taken[needed] = true);
        let limits =
            |next: &str| rejects_or_limits_previous(next) && !is_question(next) && !is_aside(next);
        let belongs = |next: &&String| gives_reason(next) || limits(next);
        let reasons = all[at + 1..].iter().take_while(belongs);
        let count = reasons.take_while(|reason| reason.len() <= QUOTE).count();
        taken[at + 1..=at + count].fill(true);
    }
    let mut quote = String::new();
    let mut before = None;
    for (at, sentence) in all.iter().enumerate().filter(|(at, _)| taken[*at]) {
        let is_next = before.is_none_or(|before| before + 1 == at);
        quote.push_str(match (quote.is_empty(), is_next) {
            (true, _) => "",
            (false, true) => " ",
            (false, false) => " … ",
        });
        quote.push_str(sentence);
        before = Some(at);
    }
    (!quote.is_empty()).then_some(quote)
}

/// Whether a question asks the agent to do something.
fn asks_agent(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:can|could|would|will) you (?:please |also |now )?\w+ .*\?$")
        .is_match(without_opener(sentence))
}

fn depends_on_previous(sentence: &str) -> bool {
    let bare = without_opener(sentence);
    pattern!(r"(?i)^(?:because|so|otherwise|then|that|this|it|they|these|those|instead|rather|weil|porque|parce que)\b")
        .is_match(bare)
        || pattern!(r"(?i)^(?:but|and|so|then)\b").is_match(sentence)
        || pattern!(r"(?i)^(?:drop|throw|scrap|leave|skip|undo|revert|remove|keep) (?:it|that|this|them|everything|the (?:whole|entire) (?:thing|idea))\b").is_match(bare)
}

fn gives_reason(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:because|since|otherwise|so that|that way|it.s |it (?:works|is|will|would)|[\w.-]+ would (?:be|have|then|still|only|stay)\b|they (?:are|were)|(?:that|this|it)\b.*\b(?:because|since|due to)\b|weil|porque|parce que|因为|なぜなら)")
        .is_match(sentence)
        && !is_question(sentence)
}

fn is_choice(sentence: &str) -> bool {
    let contradicts =
        is_phrase(Topic::Refutation, sentence) || is_phrase(Topic::Contradiction, sentence);
    let objects = is_objection(sentence)
        || !is_question(sentence)
            && !contradicts
            && sentence.len() >= 30
            && is_phrase(Topic::Objection, sentence);
    let is_bare = contradicts && sentence.split_whitespace().count() <= BARE_CORRECTION;
    let chooses = !is_bare
        && !is_question(sentence)
        && !is_approval(sentence)
        && !is_order_of_steps(sentence)
        && is_phrase(Topic::Choice, without_opener(sentence))
        && !is_aside_alone(sentence);
    // A sentence that ends in a colon only announces pasted text.
    !sentence.ends_with(':') && (objects || chooses)
}

/// Whether a sentence only orders a commit, push, merge or edit before the next step.
fn is_order_of_steps(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:first,? )?(?:commit|push|merge)\b.*\b(?:then|before|and after that)\b|^(?:remove|delete|fix|edit|change|update|rename|move|add) (?:the|that|this|these|those)\b.*\b(?:then|and) (?:go ahead|go on|continue|proceed)[.! ]*$")
        .is_match(without_opener(sentence))
        && !pattern!(r"(?i)\b(?:not|don['’]?t|only|separate|instead|because)\b").is_match(sentence)
}

/// Whether a question mentions the preferred alternative, for example `Why is A changed rather than
/// B?`.
fn is_objection(sentence: &str) -> bool {
    pattern!(r"(?i)^why (?:is|are|do|does|did|was|were|would|should|not|can.?t|don.?t)\b.*\b(?:rather than|instead of|and not)\b")
        .is_match(without_opener(sentence))
}

/// Whether a sentence is only an aside, which decides nothing. `I've reverted it - keep A` is more
/// than an aside, because a choice follows the dash.
fn is_aside_alone(sentence: &str) -> bool {
    let behind = sentence.split_once(" - ").or_else(|| sentence.split_once(" — "));
    let decides = |rest: &str| is_phrase(Topic::Choice, rest) && !is_aside(rest);
    is_aside(sentence) && !behind.is_some_and(|(_, rest)| decides(rest))
}

/// Whether the answer that the user typed in place of an option is a question or another request.
pub(crate) fn asks_back(answer: &str) -> bool {
    is_question(answer)
        || pattern!(r"(?i)^(?:please |hmm,? )?(?:give|show|explain|tell|pros and cons)\b")
            .is_match(answer)
}

fn is_aside(sentence: &str) -> bool {
    is_phrase(Topic::Aside, without_opener(sentence))
        || pattern!(
            r"(?i)^(?:yes|no|ok|okay|sure|thanks|thank you|go ahead|go on|continue|proceed|stop|wait|try again|sorry|oops)[.! ]*$"
        )
        .is_match(sentence)
}

/// Whether a short quote only repeats a choice that is recorded for the same prompt.
fn is_picked(entries: &Entries<'_>, quote: &str, at: Origin) -> bool {
    quote.len() <= 60 && entries.evidence.choices.iter().any(|choice| choice.origin == at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::evidence::{Correction, Evidence},
        report::Reports,
        summarize::evidence::scenarios::{Script, evidence_of_prompts},
    };

    #[test]
    fn a_dropped_request_quotes_the_words_that_drop_it() {
        for (text, wanted) in [("Never mind.", "never mind"), ("forget it, sort them", "forget it")]
        {
            let quote = |text: &str, line| Quote {
                text: text.to_owned(),
                origin: Origin { source: 0, line },
                at: None,
            };
            let prompts = vec![quote("Add a parser for dates", 1), quote(text, 2)];
            let evidence = Evidence { prompts, ..Evidence::default() };
            let reports = Reports::of(&evidence);
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            let record = dropped(&entries, &evidence.prompts[1], text).unwrap();
            assert_eq!(record.rationale, format!("{USERS_WORDS}, with \"{wanted}\""));
        }
    }

    fn decided(prompts: &[&str]) -> Vec<String> {
        let evidence = evidence_of_prompts(prompts);
        let reports = Reports::of(&evidence);
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        decisions(&entries).into_iter().map(|(_, record)| record.decision).collect()
    }

    #[test]
    fn an_introduction_of_pasted_text_is_distinguished_from_decisions() {
        for quote in ["here's one to try", "Here is the output:", "heres another example"] {
            assert!(introduces_pasted_text(quote), "{quote}");
        }
        for quote in [
            "here's one to try instead of the old one",
            "try this name instead",
            "here is the name to use",
        ] {
            assert!(!introduces_pasted_text(quote), "{quote}");
        }
    }

    #[test]
    fn a_prompt_for_another_conversation_decides_nothing() {
        let wrong =
            "instead of finalize call it update, no need to rename the branch, reuse the PR";
        let objection = format!("User: \"{wrong}\"");
        assert_eq!(decided(&["Simplify it", wrong, "Go on with the parser"]), [objection]);
        for next in [
            "sorry wrong chat. ignore last message. what about the parser?",
            "Ignore my previous message, please.",
            "oops, wrong window",
        ] {
            assert_eq!(decided(&["Simplify it", wrong, next]), Vec::<String>::new(), "{next}");
        }
    }

    #[test]
    fn a_prompt_about_a_wrong_tab_of_the_program_takes_nothing_back() {
        let choice = "no, use a popup instead of the dialog";
        for next in ["The link opens in the wrong tab", "It runs on the wrong thread."] {
            let decided = decided(&["Simplify it", choice, next]);
            assert_eq!(decided, [format!("User: \"{choice}\"")], "{next}");
        }
    }

    #[test]
    fn a_choice_by_letters_needs_its_list() {
        for prompt in [
            "ok, let's just add tests, ignore A, do B, C, D and E too",
            "Lets go for 1-3, with benchmarks to confirm the improvement.",
            "Let's go for a one-liner",
            "why did i even have those untracked config folders in the repo",
            "does acme-cli support the open endpoint instead of azure, or do we need new code",
            "okay we should answer the following questions rather than all:",
        ] {
            assert_eq!(decided(&["Review the parser", prompt]), Vec::<String>::new(), "{prompt}");
        }
    }

    #[test]
    fn the_sentences_that_decide_are_quoted_alone() {
        for (prompt, wanted) in [
            (
                "todomvc is great.  let's use something simple. i don't know for sure if we want mcp. remember that I'd rather implement it as click tools",
                "User: \"let's use something simple.\"",
            ),
            (
                "Why is the first migration changed, rather than adding a new one to the same effect?",
                "User: \"Why is the first migration changed, rather than adding a new one to the same effect?\"",
            ),
            (
                "yeah, I think the other alternative is a sign-in at the server. sub would be the address. that way users have both.",
                "User: \"yeah, I think the other alternative is a sign-in at the server. sub would be the address. that way users have both.\"",
            ),
            (
                "those look...ancient?  proving it is very hard to test. we do container-first.  but let's research frameworks",
                "User: \"we do container-first.\"",
            ),
            (
                "ok. let's use apple container instead of docker proper. it works basically the same way. can you push all the way through?",
                "User: \"let's use apple container instead of docker proper. it works basically the same way.\"",
            ),
            (
                "lets get this in early, but not top prio. that remains mfa, due to the key questions.",
                "User: \"lets get this in early, but not top prio. that remains mfa, due to the key questions.\"",
            ),
            (
                "First line.\nwe explicitly don't want hardcoded visual tests. crash detection is boring.",
                "User: \"we explicitly don't want hardcoded visual tests.\"",
            ),
            (
                "it feels implausible? because we want the agent doing the driving.",
                "User: \"it feels implausible? because we want the agent doing the driving.\"",
            ),
        ] {
            assert_eq!(decided(&["Build it", prompt]), [wanted], "{prompt}");
        }
    }

    #[test]
    fn a_status_a_symptom_or_a_step_decides_nothing() {
        let prompts = [
            "Build it",
            "ok I think I am missing some setup steps on grafana. not seeing any logs from staging there.",
            "ok I updated it",
            "ok I just deployed the latest code to staging. looks like its working well. can you make sure the docker env settings have stuck",
            "ok lets get a pr up for this",
            "I want to see all options",
            "use the reviewer superpower on this",
            "ok, let's do it",
            "$ git status\nSession count: 2\nit should not be attributed",
        ];
        assert!(decided(&prompts).is_empty(), "{:?}", decided(&prompts));
    }

    #[test]
    fn a_limit_of_a_request_a_possibility_and_a_clarification_decide_nothing() {
        for prompt in [
            "Fair enough. Can you write a balanced opinion on it? Keep it as long as the others.",
            "I meant for the other list which we set up in this folder",
            "Remove the first paragraph and the comment, then go ahead.",
        ] {
            assert_eq!(decided(&["Build it", prompt]), Vec::<String>::new(), "{prompt}");
        }
        let possible = ["we can have it as a second list".to_owned()];
        assert_eq!(corrects(&possible, false), None);
        assert_eq!(corrects(&["have it as a second list".to_owned()], false).unwrap().len(), 24);
    }

    #[test]
    fn an_accepted_objection_has_the_reason_of_the_agent() {
        let mut script = Script::default();
        script.prompt("Add the table to the baseline");
        script.edit("a", "/app/baseline.sql", "a", "b");
        script.reply("m1", "The table is in the baseline now.");
        script.prompt("but all migrations always run, why would you repeat the table?");
        script.reply("m2", "You're right — that's unnecessary duplication. The migration of the table always runs after the baseline. Let me revert.");
        let evidence = script.collect();
        let reports = Reports::of(&evidence);
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let rationale = decisions(&entries).remove(0).1.rationale;
        assert_eq!(
            rationale,
            "The user's words, the agent agreed: The migration of the table always runs after the baseline"
        );
    }

    #[test]
    fn a_wish_is_not_a_decision() {
        assert!(decided(&["Build it", "Never push to main."]).is_empty());
    }

    #[test]
    fn a_prompt_after_a_refusal_is_quoted_as_a_whole() {
        let at = Origin { source: 0, line: 2 };
        let evidence = Evidence {
            prompts: vec![
                Quote { text: "Fix it".into(), origin: Origin::default(), at: None },
                Quote {
                    text: "branch and PR. but also is there any other way to solve this?".into(),
                    origin: at,
                    at: None,
                },
            ],
            corrections: vec![Correction {
                origin: at,
                refused: Some("Edit a.go".into()),
                stopped: None,
            }],
            ..Evidence::default()
        };
        let reports = Reports::of(&evidence);
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        let found = &decisions(&entries)[0].1;
        assert_eq!(
            found.decision,
            "User: \"branch and PR. but also is there any other way to solve this?\""
        );
        assert_eq!(found.rationale, "The user's words, on a proposed `Edit a.go`");
    }
}
