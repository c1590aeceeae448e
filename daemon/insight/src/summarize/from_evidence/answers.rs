//! The questions of the user, each with the first words of its answer.

use crate::{
    model::transcript::Origin,
    summarize::{
        from_evidence::{
            entries::{Entries, cut_at_clause, leans, push},
            findings::asks,
        },
        report::Report,
        text::{
            capitalised, one_line, pattern, sentences, share_of_words, without_full_stop, words,
        },
    },
};

/// A prompt with a question is no longer than this; an answer is cut to the second.
const QUESTION: usize = 400;
const ANSWERED: usize = 260;
/// Items of a list that are told with the answer that introduces it, and characters of that answer.
const LISTED: usize = 3;
const LISTED_ANSWER: usize = 440;

/// What the user asked, each with the first words of the answer.
pub(super) fn answers(entries: &Entries<'_>, list: &mut Vec<String>) {
    for report in entries.reports.reports.iter().filter(|report| report.answers && !report.changed)
    {
        let mut before = entries.evidence.prompts.iter().rev();
        let asked = before.find(|prompt| prompt.origin.line < report.origin.line);
        let Some(asked) = asked.filter(|asked| asked.text.len() <= QUESTION) else { continue };
        let asked = one_line(&asked.text);
        let question = sentences(&asked).into_iter().rev().find(|one| one.ends_with('?'));
        let told = report.opening.as_ref().or(report.lead.as_ref());
        let (Some(question), Some(told)) = (question, told) else { continue };
        let told = with_its_list(entries, report, &entries.tidy_line(told));
        let Some(answer) = answer(&told) else { continue };
        let Some(answer) = with_hypothesis(entries, report, answer) else { continue };
        let is_refuted = is_refuted(entries, &answer, report.origin);
        if question.len() >= 12 && !is_order(question) && is_about(&answer, question) && !is_refuted
        {
            push(list, format!("Asked: {question} Answer: {answer}"));
        }
    }
}

/// An answer that ends in the introduction of a list, with the first items; without that sentence
/// where the list is not to be found.
fn with_its_list(entries: &Entries<'_>, report: &Report, told: &str) -> String {
    let all = sentences(told);
    let Some((introduction, before)) = all.split_last().filter(|(last, _)| last.ends_with(':'))
    else {
        return told.to_owned();
    };
    let items = report.claims.iter().skip_while(|claim| !claim.listed);
    let items = items.take_while(|claim| claim.listed).filter(|claim| !claim.nested);
    let items = items.filter(|claim| !asks(claim)).take(LISTED).map(|claim| {
        let label = claim.label.as_deref().map(|label| format!("{label}: ")).unwrap_or_default();
        let first = sentences(&claim.text).first().copied().unwrap_or_default();
        entries.tidy_line(without_full_stop(&format!("{label}{first}")))
    });
    let items = items.collect::<Vec<_>>().join("; ");
    let before = before.join(" ");
    if items.is_empty() { before } else { format!("{before} {introduction} {items}.") }
}

/// An answer that ends in the announcement of a hypothesis, with the hypothesis; `None` where that is
/// not to be found.
fn with_hypothesis(entries: &Entries<'_>, report: &Report, answer: String) -> Option<String> {
    let last = sentences(&answer).last().copied().unwrap_or_default().to_owned();
    if !pattern!(
        r"(?i)\b(?:hypothes[ie]s|theory|theories|suspect|suspicion|idea)\b[^.]{0,40}[.:]?$"
    )
    .is_match(&last)
    {
        return Some(answer);
    }
    let announced = report.claims.iter().position(|claim| {
        pattern!(r"(?i)\b(?:hypothes[ie]s|theory|theories|suspect|suspicion|idea)\b")
            .is_match(&claim.text)
    })?;
    // The hypothesis is a heading, or an item of a list, with its first sentence.
    let at = &report.claims[announced];
    let mut behind = report.claims[announced + 1..].iter();
    let named = behind
        .find(|claim| claim.listed || claim.label.is_some() || claim.section != at.section)?;
    let name = named.label.as_deref().or(named.section.as_deref()).unwrap_or_default();
    let name = name.trim_start_matches(|c: char| !c.is_alphabetic() && c != '`');
    let first = sentences(&named.text).first().copied().unwrap_or_default();
    let text = entries.tidy_line(without_full_stop(if name.is_empty() { first } else { name }));
    let answer = answer.trim_end_matches([':', '.', ' ']);
    (text.len() >= 12).then(|| format!("{answer}: {text} (not verified)"))
}

/// Whether a later report corrects what was answered, by a test or in so many words.
fn is_refuted(entries: &Entries<'_>, answer: &str, at: Origin) -> bool {
    let told = words(answer);
    let later = entries.reports.reports.iter().filter(|report| report.origin.line > at.line);
    later.flat_map(|report| &report.claims).any(|claim| {
        let text = format!("{} {}", claim.label.as_deref().unwrap_or_default(), claim.text);
        pattern!(r"(?i)\b(?:we|i) tested and found\b|\bturn(?:s|ed) out\b|\bcorrection\b|\b(?:was|were) wrong\b|\bcontrary to\b")
            .is_match(&text)
            && share_of_words(&told, &words(&text)) >= 0.2
    })
}

/// The first sentences of an answer that are about the matter.
fn answer(lead: &str) -> Option<String> {
    let is_talk = |sentence: &&str| {
        sentence.ends_with('?')
            || sentence.ends_with(':') && sentence.split_whitespace().count() < 8
            || pattern!(
                r"(?i)^(?:(?:(?:that's an? |an? )?(?:good|great|fair|excellent|interesting) (?:question|point|catch|call|pushback|idea)|(?:both|these|those|that) (?:are|is) (?:fair|good|valid)|you're (?:absolutely )?right|here(?:'s| is| are)|let me|let's|i'll|i'm going|looking at|based on|now (?:i|let)|perfect|got it|happy to|i (?:just )?(?:looked|checked|read|searched)|i(?:'ve| have) (?:already )?(?:looked|explored|checked|read))\b|(?:ok(?:ay)?|sure)[,.!])"
            )
            .is_match(sentence)
    };
    let all = sentences(lead);
    let told = all.into_iter().skip_while(is_talk);
    let told: Vec<&str> = told.take_while(|sentence| !is_announcement(sentence)).collect();
    let has_list = told.last().is_some_and(|last| last.contains(": ") && last.contains("; "));
    let limit = if has_list { LISTED_ANSWER } else { ANSWERED };
    let mut line = cut_at_clause(&told.join(" "), limit);
    // What limits an answer is part of it.
    let limit =
        told.iter().find(|one| pattern!(r"(?i)^(?:however|but|most likely)\b").is_match(one));
    if let Some(limit) = limit.filter(|limit| !line.contains(**limit) && limit.len() <= ANSWERED) {
        line = format!("{line} … {limit}");
    }
    let line = line.trim_end_matches(':');
    (line.len() >= 30 && !leans(line)).then(|| capitalised(line))
}

/// `Specifically:` announces what is not told here.
fn is_announcement(sentence: &str) -> bool {
    sentence.ends_with(':') && sentence.split_whitespace().count() <= 4
}

/// Whether an answer shares a word with its question, or begins with yes or no: a question that
/// was asked while the agent worked may be followed by the report of other work.
fn is_about(answer: &str, question: &str) -> bool {
    pattern!(r"(?i)^(?:yes|no)\b").is_match(answer)
        || !answer.is_ascii()
        || words(answer).intersection(&words(question)).next().is_some()
}

/// `Can you tag it please?` asks for work, not for an answer.
fn is_order(question: &str) -> bool {
    pattern!(
        r"(?i)(?:^|[,.] )(?:(?:ok|okay|so|and|also|now),? )*(?:(?:can|could|would|will|should|shall) (?:you|we|i)|do (?:you|we) want (?:me )?to) (?:also |please |just |now )?(?:add|apply|check|commit|create|do|drive|explain|fix|get|go|have|look|make|merge|move|open|push|put|read|rebase|remove|rename|review|run|search|show|tag|tell|test|try|update|use|write)\b"
    )
    .is_match(question)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_begins_where_the_talk_ends() {
        let told = "The cache lives in one process and is lost at its end.";
        assert_eq!(answer(&format!("Good question. Let me think. {told}")).as_deref(), Some(told));
        let limited = format!("{told} However, a file would survive.");
        assert_eq!(answer(&limited).as_deref(), Some(limited.as_str()));
        assert_eq!(answer("Both are fair pushback. Here's my read:"), None);
        assert_eq!(answer("That confirms three callers in the same package."), None);
    }

    #[test]
    fn an_answer_keeps_what_announces_the_rest_and_is_about_the_question() {
        let told = "Yes — we chose a hosted store for the logs of staging. Specifically:";
        assert_eq!(
            answer(told).as_deref(),
            Some("Yes — we chose a hosted store for the logs of staging.")
        );
        let told = "The function `agent()` in the settings returns the configured one:";
        assert_eq!(answer(told).as_deref(), Some(told.trim_end_matches(':')));
        assert_eq!(answer("Sure, let me open the page and sign in for you now."), None);
        assert!(is_about("The test passes locally.", "does it fail locally?"));
        assert!(!is_about("Two tasks race for the folder.", "does it fail locally?"));
    }

    #[test]
    fn a_polite_order_is_no_question() {
        for (question, wanted) in [
            ("ok, merged. can we tag it please?", true),
            ("Can you rename the file?", true),
            ("Can the cache be shared?", false),
            ("Would there be a portable way?", false),
        ] {
            assert_eq!(is_order(question), wanted, "{question}");
        }
    }
}
