//! Finds the question or request that a report answers, and classifies questions and answers.

use std::collections::BTreeSet;

use crate::{
    model::{evidence::Evidence, transcript::Origin},
    report::{Form, Passage, Report},
    summarize::from_evidence::{
        entries::{ENTRY, Entries},
        request::wording::begins_as_order,
    },
    text::{capitalised, one_line, pattern, sentences, words},
};

/// Maximum length, in bytes, of a prompt of which only the question is quoted.
const QUESTION: usize = 400;
/// Maximum length, in bytes, of a question that is quoted.
const ASKED: usize = 220;
/// Maximum length, in bytes, of the sentence that [`request`] returns.
const REQUEST_SENTENCE: usize = 180;
/// Minimum number of different words of a request that describes what is to be reviewed.
const SUBJECT: usize = 6;
/// Minimum number of words of a question that is clear without the rest of its prompt.
const QUESTION_WORDS: usize = 5;

/// Returns the question that a report answers: the only question of a prompt, if the question is
/// clear alone; otherwise the whole prompt, if the prompt is short and orders no work. A question
/// such as `Would this help?` is returned with the sentence before it. `None` if the prompt asks
/// nothing or the turn changed something.
pub(crate) fn question(entries: &Entries<'_>, report: &Report) -> Option<String> {
    if report.changed {
        return None;
    }
    let mut before = entries.evidence.prompts.iter().rev();
    let asked = before.find(|prompt| prompt.origin.line < report.origin.line)?;
    let text = one_line(&asked.text);
    let all = sentences(&text);
    let questions: Vec<&str> = all.iter().copied().filter(|one| is_question(one)).collect();
    // `Why?` needs the rest of its prompt.
    let is_alone = |only: &str| only.split(' ').count() >= QUESTION_WORDS || text.len() > ASKED;
    let question = match questions.as_slice() {
        [] => return None,
        [only] if asked.text.len() <= QUESTION && is_alone(only) => *only,
        // A prompt that also orders work is not quoted as a whole.
        _ if text.len() <= ASKED && !all.iter().any(|one| is_order(one)) => &text,
        _ => return None,
    };
    // `Would this help at all?` cannot be understood without the sentence before it.
    let before = all.iter().position(|one| *one == question).filter(|at| *at > 0);
    let before = before.filter(|_| refers_back(question)).map(|at| all[at - 1]);
    let question = before.map_or(question.to_owned(), |text| format!("{text} {question}"));
    let longest = if before.is_some() { QUESTION } else { ASKED };
    let is_quotable = (12..=longest).contains(&question.len()) && !is_order(&question);
    is_quotable.then_some(question)
}

/// Whether a report answers the question where an earlier answer came from.
pub(crate) fn names_sources(entries: &Entries<'_>, report: &Report) -> bool {
    !report.changed
        && prompt_before(entries.evidence, report).is_some_and(|asked| {
            pattern!(r"(?i)^(?:(?:ok|okay|so|and|but),? )*(?:(?:where|how) (?:did|have) you (?:find|found|get|got)|how do you know)\b")
                .is_match(asked.trim_start())
        })
}

/// Whether a question asks for steps, for example `how do I test the reader?`.
pub(crate) fn asks_for_steps(question: &str) -> bool {
    pattern!(r"(?i)^(?:(?:ok|okay|so|and|but),? )*how (?:do|can) i (?:test|try|run|verify)\b")
        .is_match(question)
}

/// Whether a question has a pronoun whose noun may be in the sentence before it.
fn refers_back(question: &str) -> bool {
    pattern!(r"(?i)\b(?:this|that|it|these|those|they|them)\b(?: at all| then| too| now|,|\?|$)|^(?:this|that|it|these|those|they)\b")
        .is_match(question)
}

/// Returns the first sentence of the prompt before a report, if this sentence is an order and the
/// turn changed nothing. `None` for the first prompt, because it is the objective.
pub(crate) fn request(entries: &Entries<'_>, report: &Report) -> Option<String> {
    if report.changed {
        return None;
    }
    let prompts = &entries.evidence.prompts;
    let at = prompts.iter().rposition(|prompt| prompt.origin.line < report.origin.line)?;
    let text = one_line(&prompts[at].text);
    let first = sentences(&text).first().copied().unwrap_or_default();
    let opening = pattern!(
        r"(?i)^(?:(?:ok|okay|so|and|also|now|then|please|maybe|to be fair|great|good|fair enough)[,.]? )*"
    );
    let order = opening.find(first).map_or(first, |found| &first[found.end()..]);
    let is_quotable =
        at > 0 && (12..=REQUEST_SENTENCE).contains(&first.len()) && begins_as_order(order);
    is_quotable.then(|| first.to_owned())
}

/// Whether `later` mentions other commits than `earlier`, or asks for a review of something else.
pub(crate) fn asks_for_other_review(earlier: &str, later: &str) -> bool {
    let (asked, other) = (commits_named(earlier), commits_named(later));
    if !asked.is_empty() && !other.is_empty() {
        return asked.is_disjoint(&other);
    }
    let is_review =
        |text: &str| pattern!(r"(?i)^(?:please |now |can you )*review\b").is_match(text.trim());
    let (asked, other) = (words(earlier), words(later));
    is_review(later)
        && is_review(earlier)
        && other.len() >= SUBJECT
        && asked.intersection(&other).count() * 2 < other.len()
}

/// Whether a sentence asks something, with or without a question mark.
fn is_question(sentence: &str) -> bool {
    sentence.ends_with(['?', '？'])
        || pattern!(
            r"(?i)^(?:(?:ok|okay|so|and|but|also|then|hey|hmm),? )*(?:what|why|how|where|when|which|who|is|are|was|were|do|does|did|has|have|can|could|should|would)(?:'s| \w+) (?:we|you|i|it|that|this|they|there|the|an?|to|of|do|does|is|are|my|our|your|both|all|any)\b|^(?:(?:ok|okay|so|and|but|also|then),? )*(?:do|does|did|is|are|should|can|could|would) (?:we|you|i|it|that|this|they|there|the)\b"
        )
        .is_match(sentence)
}

/// Whether a question asks for work rather than for an answer, for example `Can you tag it
/// please?`.
fn is_order(question: &str) -> bool {
    // `Can you check whether it is used?` asks for an answer.
    if pattern!(r"(?i)^(?:can|could|would) you (?:please |also )*check (?:if|whether|why|how)\b")
        .is_match(question)
    {
        return false;
    }
    pattern!(
        r"(?i)(?:^|[,.] )(?:(?:ok|okay|so|and|also|now),? )*(?:(?:can|could|would|will|should|shall) (?:you|we|i)|do (?:you|we) want (?:me )?to) (?:also |please |just |now )?(?:add|apply|check|commit|create|do|drive|explain|fix|get|go|have|look|make|merge|move|open|push|put|read|rebase|remove|rename|review|run|search|show|tag|tell|test|try|update|use|write)\b"
    )
    .is_match(question)
}

/// Whether a text begins with an answer that cannot be understood without its question.
pub(crate) fn is_bare_answer(text: &str) -> bool {
    pattern!(r"(?i)^(?:yes|no|yep|nope|not (?:necessarily|really|quite|exactly|yet)|partly|mostly|exactly|correct|short answer)(?:[,.:]| [—–-])").is_match(text)
}

/// Returns the verdict at the start of a report, for example `No` for `No. The key is public.`.
/// Without such a verdict, returns the heading of the first section if it contains one, for example
/// `Finding 1: yes, but only on Windows`.
pub(crate) fn verdict(report: &Report) -> Option<String> {
    let of_heading =
        pattern!(r"(?i)^[\w ]{1,30}(?::| [—–-]) (?:yes|no|correct|partly|mostly)[,.;]");
    let mut headings = report
        .passages
        .iter()
        .find_map(|one| (!one.headings.is_empty()).then_some(&one.headings))
        .into_iter()
        .flatten();
    verdict_of_opening(report)
        .or_else(|| headings.find(|heading| of_heading.is_match(heading)).cloned())
}

fn verdict_of_opening(report: &Report) -> Option<String> {
    let opening = one_line(report.opening.as_deref()?);
    let found = pattern!(
        r"(?i)^(?:short answer: )?(yes|yep|no|nope|correct|exactly|not (?:necessarily|really|quite|exactly|strictly|yet|directly|entirely)|partly|partially|mostly|it depends|potentially(?: yes)?)(?:[.,:;!]| [—–-])"
    )
    .captures(&opening)?;
    Some(capitalised(&found[1].to_lowercase()))
}

/// Whether a paragraph only announces the answer, for example `That is another tool. Let me explain
/// it directly.`
pub(crate) fn announces_answer(passage: &Passage) -> bool {
    passage.form == Form::Paragraph
        && passage.label.is_none()
        && sentences(&passage.text)
            .last()
            .is_some_and(|last| pattern!(r"(?i)^(?:let me|i.ll) (?:just |now |also )?(?:explain|answer|clarify|show|walk|break|summari[sz]e|go through)\b").is_match(last))
}

/// Whether a paragraph is below the heading `Answer`, or has this label.
pub(crate) fn is_below_answer(passage: &Passage) -> bool {
    let names = [passage.label.as_ref(), passage.headings.last()];
    names
        .into_iter()
        .flatten()
        .any(|name| pattern!(r"(?i)^(?:short |direct |quick )?answer$").is_match(name))
}

/// Returns the commit hashes that a prompt contains.
pub(crate) fn commits_named(prompt: &str) -> BTreeSet<&str> {
    let hash = pattern!(r"\b[0-9a-f]{7,40}\b");
    let hashes = hash.find_iter(prompt).map(|found| found.as_str());
    hashes.filter(|hash| hash.bytes().any(|byte| byte.is_ascii_digit())).collect()
}

/// Returns the last prompt before a report.
pub(crate) fn prompt_before<'e>(evidence: &'e Evidence, report: &Report) -> Option<&'e str> {
    let asked = evidence.prompts.iter().rfind(|prompt| prompt.origin.line < report.origin.line);
    asked.map(|asked| asked.text.as_str())
}

/// Returns the prompt before the one at `line`, if it is short enough to be quoted.
pub(crate) fn short_prompt_before(entries: &Entries<'_>, line: Origin) -> Option<String> {
    let prompts = &entries.evidence.prompts;
    let asked = prompts.iter().rfind(|prompt| prompt.origin.line < line.line)?;
    let asked = capitalised(&entries.tidy_line(&asked.text));
    (asked.len() <= ENTRY).then_some(asked)
}

/// Whether a prompt only asks about the progress of the work.
pub(crate) fn asks_about_progress(prompt: &str) -> bool {
    pattern!(r"(?i)^(?:(?:hey|so|ok|okay|and),? )*(?:what are you (?:doing|working on|up to)|where (?:are|were) (?:we|you)|how far (?:are|along)|how(?:'s| is) it going|are you (?:done|stuck|there|still \w+)|what(?:'s| is) the (?:status|progress))\b.{0,24}$|^(?:(?:hey|so|ok|okay|and),? )*(?:status(?: of (?:the|your|this) [\w-]+)?|still (?:running|working(?: on (?:it|this|that))?|there))(?: the (?:tests?|build|checks?|benchmarks?))?(?: update| report)?(?: please)?[?!. ]*$")
        .is_match(prompt.trim())
}

/// Returns the number of later turns with changes after which the answer to a prompt no longer
/// holds. The prompt must ask how the code is at the moment, how something could be done, or what
/// is left to do. `None` for other prompts.
pub(crate) fn changes_until_overtaken(prompt: &str) -> Option<usize> {
    /// The first few changes after a list of open work leave most of the list open.
    const LEFT: usize = 6;
    if prompt.len() > ENTRY {
        return None;
    }
    let of_moment = pattern!(
        r"(?i)\b(?:what|how) (?:does|do) (?:it|this|that|they) (?:do|work|look)\b.{0,16}\bnow\b|\bexplain\b.{0,24}\bnow\b|\bif\b.*\bup ?(?:to|2)[ -]?date\b|\bstill up ?(?:to|2)[ -]?date\b|\bhow could (?:we|i|one)\b|\b(?:is|are) there (?:an? |any )?(?:other |better )*alternatives?\b|\b(?:is|are) there (?:an? |any )?(?:other|better) options?\b|^(?:(?:ok|so|and|great|good),? )*what(?:['\u{2019}]s| is| would be) next\b"
    );
    let of_rest = pattern!(
        r"(?i)\bwhat (?:would |else )?(?:need(?:s|ed)?|has|have)(?: you)? to be done\b|\bwhat(?:['\u{2019}]s| is) (?:still )?(?:missing|left|open)\b"
    );
    if of_moment.is_match(prompt) {
        return Some(1);
    }
    of_rest.is_match(prompt).then_some(LEFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::evidence::TurnReport, report::Reports, summarize::evidence::scenarios::Script,
    };

    #[test]
    fn an_answer_about_the_moment_is_overtaken_by_work() {
        for (prompt, wanted) in [
            ("can you explain what it does now", Some(1)),
            ("can you check if the readme is still up2date", Some(1)),
            ("how could we do 1?", Some(1)),
            ("is there an alternative to the list?", Some(1)),
            ("what's next?", Some(1)),
            ("what is missing looking at the plan", Some(6)),
            ("how would we know what an older row is?", None),
            ("is there an option to turn the cache off?", None),
            ("how should we store the token, and why?", None),
            ("why is the branch not up to date?", None),
            ("why keep the old list?", None),
            ("who supports the format already?", None),
        ] {
            assert_eq!(changes_until_overtaken(prompt), wanted, "{prompt}");
        }
    }

    #[test]
    fn the_verdict_of_an_answer_is_its_first_word() {
        for (text, wanted) in [
            ("No. The page only has the key.", Some("No")),
            ("**Yes.** The page has the key.", Some("Yes")),
            ("Not really \u{2014} the page has it.", Some("Not really")),
            ("Short answer: no, it has not.", Some("No")),
            ("No key is on the page.", None),
            ("## Row 1: no, it is new\n\nThe row has a key.", Some("Row 1: no, it is new")),
            ("Nothing is read.", None),
        ] {
            let report = TurnReport { text: text.to_owned(), ..TurnReport::default() };
            assert_eq!(verdict(&Report::of(&report)).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn a_question_about_the_sentence_before_is_quoted_with_it() {
        let asked = |prompt: &str| {
            let mut script = Script::default();
            script.prompt("Read the list");
            script.reply("m1", "It is read.");
            script.prompt(prompt);
            script.reply("m2", "Yes, it helps.");
            let evidence = script.collect();
            let reports = Reports::of(&evidence);
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            question(&entries, reports.reports.last().unwrap())
        };
        let long = "We keep the rows of all the years in one list, and nobody has ever looked at the rows that are older than the last five or six years. The list has one column for the day, one for the name, and one for the sum. All rows stand in one list.";
        assert_eq!(
            asked(&format!("{long} Would an index help with that?")).as_deref(),
            Some("All rows stand in one list. Would an index help with that?")
        );
        assert_eq!(
            asked(&format!("{long} Would an index of the days help?")).as_deref(),
            Some("Would an index of the days help?")
        );
    }

    #[test]
    fn the_only_question_of_a_prompt_and_an_order_after_fillers_are_quoted() {
        let asked = |prompt: &str| {
            let mut script = Script::default();
            script.prompt("Read the list");
            script.reply("m1", "It is read.");
            script.prompt(prompt);
            script.reply("m2", "- Order: the rows have no order\n- Size: the rows are long\n");
            let evidence = script.collect();
            let reports = Reports::of(&evidence);
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            let report = reports.reports.last().unwrap();
            (question(&entries, report), request(&entries, report), names_sources(&entries, report))
        };
        let weak = "Can you list the weak points of the archive?";
        assert_eq!(
            asked(&format!("I do not like it much. {weak}")),
            (Some(weak.to_owned()), None, false)
        );
        let order = "OK, so, to be fair, maybe also list its strengths.";
        assert_eq!(asked(order), (None, Some(order.to_owned()), false));
        assert!(asked("where did you find these answers").2);
        assert!(asks_for_steps("ok how do I test the reader?"));
        assert!(!asks_for_steps("how do the readers work?"));
        assert!(!asks_for_steps("how should we use the reader?"));
        assert!(!asked("how do you get the list of open ports?").2);
        let why = "The rows vanish after a restart. Why?";
        assert_eq!(asked(why).0.as_deref(), Some(why));
    }

    #[test]
    fn a_problem_is_no_question_about_progress() {
        for prompt in [
            "status?",
            "status update please",
            "Status report",
            "still running?",
            "hey, still there?",
            "still running the tests?",
            "status of the build?",
            "are you still working on it?",
            "what is the status of the list?",
        ] {
            assert!(asks_about_progress(prompt), "{prompt}");
        }
        for prompt in [
            "status codes are wrong, why?",
            "status bar is empty on mobile",
            "still there after a reload, why?",
            "still running into the timeout, why?",
            "status of the order is wrong",
        ] {
            assert!(!asks_about_progress(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_check_of_a_fact_is_a_question() {
        assert!(!is_order("Can you check if the tests of the list are not duplicated now?"));
        assert!(is_order("Can you check the list and fix it?"));
    }
}
