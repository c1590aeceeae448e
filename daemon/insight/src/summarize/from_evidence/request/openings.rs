//! Recognises first prompts that order no new work, such as questions, preparations and talk.

use crate::{
    summarize::from_evidence::request::wording::{self, Manner},
    text::{pattern, spoken_sentences},
};

/// Whether a request only asks, and orders nothing. A path or an address may follow the question.
pub(crate) fn is_question(text: &str) -> bool {
    let orders = |sentence: &String| wording::plain(sentence).1 == Manner::Orders;
    let asks = |sentence: &String| sentence.ends_with('?') || !sentence.trim().contains(' ');
    let all = spoken_sentences(text);
    let is_asked = text.ends_with('?') || text.contains("? ") && all.iter().all(asks);
    (is_asked || asks_without_mark(text)) && !all.iter().any(orders)
}

/// Whether a text begins with the words of a question, although it has no question mark.
fn asks_without_mark(text: &str) -> bool {
    let begins = pattern!(
        r"(?i)^(?:in (?:the |our |this )?[\w./-]{2,40},? )?(?:(?:what|how|why|which|where|who)\b|(?:do|does|did|is|are|was|were|has|have) (?:we|you|i|it|they|the|this|that|these|those|there)\b)"
    );
    begins.is_match(text)
        && !pattern!(r"(?i)^(?:what|how) (?:we|i) (?:need|want|do)\b|\b(?:let.?s|please)\b")
            .is_match(text)
}

/// Whether a first prompt only asks to look something up or to explain it.
pub(crate) fn is_check(text: &str) -> bool {
    let looks_up = pattern!(
        r"(?i)^(?:(?:check|see|look|find out|tell me|explain|let me know) (?:if|whether|what|why|how|which|where|who)\b|(?:have a )?look (?:at|into|through)\b)"
    );
    let is_only = !text.contains("and fix") && !text.contains("and then");
    is_only && looks_up.is_match(text)
}

/// Whether a first prompt only states something, without a request.
pub(crate) fn is_remark(text: &str) -> bool {
    let states = |sentence: &String| wording::plain(sentence).1 == Manner::States;
    spoken_sentences(text).iter().all(states) && !wording::asks_for_work(text) && !is_question(text)
}

/// Whether a request only runs a command whose argument, if any, is as short as a number. A request
/// such as `/plan 14` cannot be understood alone.
pub(crate) fn is_bare_command(text: &str) -> bool {
    pattern!(r"^Run the `[^`]+` command(?: on [\w.-]{1,3})?$").is_match(text)
}

/// Whether a first prompt only prepares the agent for the work.
pub(crate) fn is_preparation(text: &str) -> bool {
    pattern!(
        r"(?i)^(?:analy[sz]e (?:the|this) (?:codebase|repo\w*|project) and write (?:claude|agents|gemini)\.md\b|(?:read|explore|study|familiari[sz]e yourself with|get (?:familiar|acquainted) with|make yourself familiar with) (?:through )?(?:the |this |our )?(?:codebase|code|repo\w*|project|docs?|documentation|readme|(?:claude|agents|gemini)\.md)\b[^.;:]{0,40}$)"
    )
    .is_match(text.trim_end_matches('.'))
}

/// Whether a first prompt only greets, or asks to read, talk or recall something.
pub(crate) fn is_talk(text: &str) -> bool {
    pattern!(
        r"(?i)^(?:(?:please )?read\b.*\b(?:then|and) (?:talk|tell me|discuss|let's|we)\b|talk to me\b|let's (?:talk|chat|discuss)\b|do you (?:remember|know|recall)\b|what (?:is|was|were|are) (?:the|our|we)\b|hello\b|hi\b)"
    )
    .is_match(text)
}

/// Whether a first prompt only asks to commit, push or merge existing work.
pub(crate) fn is_publication(text: &str) -> bool {
    text.split_whitespace().count() <= 8
        && pattern!(r"(?i)^(?:please )?(?:commit|push|merge)\b[^,;:?]*$").is_match(text)
}

/// Whether a first prompt only asks to continue work that it does not name.
pub(crate) fn asks_to_continue(text: &str) -> bool {
    pattern!(
        r"(?i)^(?:please )?(?:continue|go on|proceed|carry on|resume|keep going|pick up)(?: (?:with|from|where|what|the|your|our|work|rest|we|you|i|is|was|left|off|open|remaining|last|next|steps?|tasks?|todos?|handoff|please|there|here|it|this|that|on|of|still))*[.!]?$"
    )
    .is_match(text)
}

/// Whether a first prompt only refers to review comments, without their contents.
pub(crate) fn is_about_comments(text: &str) -> bool {
    // Users begin sentences in lower case.
    let spoken = spoken_sentences(text);
    let first = spoken.first().map_or("", String::as_str);
    first.split_whitespace().count() <= 14
        && !first.contains(['`', '/', '"'])
        && pattern!(
            r"(?i)^(?:there(?:['’]?s| is| are)|address|check|look at|fix|handle|resolve|see|go through|some)\b.{0,48}\b(?:comments?|feedback|findings|points)\b"
        )
        .is_match(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_asks_to_look_something_up() {
        assert!(is_check("Check if the tests of the list are duplicated."));
        assert!(is_check("Have a look at the diff of `a.py` and explain what `read` does"));
        assert!(!is_check("Check if the tests of the list pass, and fix them"));
        assert!(!is_check("Check the metadata of the folders"));
    }

    #[test]
    fn a_remark_asks_for_nothing() {
        assert!(is_remark("There isn't much to see here, mostly one idea about the notes."));
        assert!(!is_remark("The list of notes is long. Sort it by name."));
        assert!(!is_remark("This is the list, let's review the list together"));
    }

    #[test]
    fn a_question_may_lack_its_mark() {
        assert!(is_question("In the reader what happens when both names are set. does it fail"));
        assert!(is_question("do we have anything left in this branch"));
        assert!(!is_question("Do a review of the list"));
        assert!(!is_question("What we need is a list of names"));
        assert!(!is_question("do we have anything left in this branch, if not lets delete it"));
    }

    #[test]
    fn requests_about_comments_without_their_contents_are_found() {
        assert!(is_about_comments("Theres a comment on the PR from coderabbit. Address it."));
        assert!(is_about_comments("Address the 3 findings in separate commits"));
        assert!(is_about_comments(
            "there are more comments from the bot on it. one of the comments is about a list that is read twice"
        ));
        assert!(!is_about_comments("Address the comments about the lock in `list.rs`"));
        assert!(!is_about_comments("Add a field for comments"));
    }
}
