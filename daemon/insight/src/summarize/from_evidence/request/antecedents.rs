//! Resolves references in a request, such as `this branch` and `that PR`, and finds the main
//! request of a sentence.

use std::collections::BTreeSet;

use crate::{
    model::evidence::Evidence,
    summarize::from_evidence::{
        repository,
        request::{Request, openings::is_bare_command},
    },
    text::{capitalised, pattern, sentences, without_full_stop},
};

/// Inserts the name of the branch and the number of the pull request after the words that refer to
/// them.
pub(crate) fn with_references(evidence: &Evidence, text: &str) -> String {
    with_branch(evidence, &with_number(evidence, text))
}

/// Inserts the session's branch after `this branch`, after `Review the changes` without a branch,
/// or after a command whose argument does not say what the session is about. Does not insert a
/// branch such as `main`.
fn with_branch(evidence: &Evidence, text: &str) -> String {
    let first = evidence.branches.first().map(String::as_str);
    let is_own = |branch: &&str| {
        !branch.is_empty() && !matches!(*branch, "main" | "master" | "develop" | "HEAD")
    };
    // If there are several branches, it is unknown which branch was meant.
    let own = evidence.branches.iter().filter(|branch| is_own(&branch.as_str())).count();
    if own > 1 {
        return text.to_owned();
    }
    let branch = first.filter(is_own).or_else(|| repository::branch(evidence).filter(is_own));
    let Some(branch) = branch.filter(|branch| !text.contains(*branch)) else {
        return text.to_owned();
    };
    if is_bare_command(text) {
        return format!("{text} (branch `{branch}`)");
    }
    if let Some(meant) = pattern!(r"(?i)\b(?:this|our|my|(?:the )?current) branch\b").find(text) {
        let (before, behind) = text.split_at(meant.end());
        return format!("{before} (`{branch}`){behind}");
    }
    let review = pattern!(r"^Review the (?:code )?changes\b");
    let alone = pattern!(
        r"^Review the (?:code )?changes(?: for security)?(?: against the base branch '[^']+')?(?:$|\.)"
    );
    match review.find(text).filter(|_| alone.is_match(text)) {
        Some(review) => {
            let (before, behind) = text.split_at(review.end());
            format!("{before} on `{branch}`{behind}")
        }
        None => text.to_owned(),
    }
}

/// Inserts the number after `that PR`, if only one pull request occurs in the session.
fn with_number(evidence: &Evidence, text: &str) -> String {
    let meant = pattern!(r"(?i)\b(?:that|this|the|our|my) (?:pr|pull request|mr)\b(?: #?\d+)?");
    let Some(meant) = meant.find(text).filter(|found| !found.as_str().contains('#')) else {
        return text.to_owned();
    };
    let named = pattern!(
        r"\bgh pr (?:view|checkout|diff|checks|comment|review|edit|merge) (?:-\S+ )*(\d+)\b|/pulls?/(\d+)\b"
    );
    let commands = evidence.commands.iter();
    let mut numbers: BTreeSet<u64> = commands
        .flat_map(|run| named.captures_iter(&run.command))
        .filter_map(|found| found.get(1).or(found.get(2))?.as_str().parse().ok())
        .collect();
    numbers.extend(evidence.pull_requests.iter().filter_map(|request| request.number));
    let (Some(number), 1) = (numbers.first(), numbers.len()) else { return text.to_owned() };
    let (before, behind) = text.split_at(meant.end());
    format!("{before} (#{number}){behind}")
}

/// Returns an order without a noun, such as `Address this`, with the noun of the request's first
/// sentence: `I got this feedback for a.rs` gives `Address the feedback for a.rs`.
pub(crate) fn with_object(request: &Request) -> Option<String> {
    let order = pattern!(
        r"(?i)^(address|check|debug|explain|fix|handle|implement|investigate|look into|resolve|review|solve) (?:this|that|these|it|them)\b"
    );
    let order = order.captures(&request.ask)?;
    let object = pattern!(
        r"(?i)^(?:i|we)(?:['’]ve| have)? (?:just )?(?:got|get|received|see|have|found) (?:this|these|the following|some|the) ((?:[a-z-]+ ){1,3}(?:for|on|in|about|from|with|when|regarding) .{4,})$"
    );
    let first = sentences(&request.text).first().copied()?;
    let object = object.captures(without_full_stop(first))?;
    Some(format!("{} the {}", &order[1], &object[1]))
}

/// Whether a question asks for the state of the repository: what is committed, pushed or merged.
pub(crate) fn asks_for_state(question: &str) -> bool {
    question.split_whitespace().count() <= 12
        && pattern!(
            r"(?i)\b(?:un(?:committed|pushed|staged|tracked)|committed|pushed|merged|git status)\b"
        )
        .is_match(question)
}

/// Returns the main request of a sentence, without a file to base the work on, the base branch of a
/// review, or instructions about the method. `Based on a.sh can you write another one` becomes
/// `Write another one`.
pub(crate) fn main_request(sentence: &str) -> String {
    let based = pattern!(
        r"(?i)^(?:based on|following|similar to|like) (?:the )?\S+,? (?:can|could|would|will) you (?:please )?(.{12,})$"
    );
    if let Some(found) = based.captures(sentence) {
        return capitalised(&found[1]);
    }
    let review = pattern!(
        r"^(Review the (?:code )?changes on `[^`]+`)(?: for security)? against the base branch '[^']+'\.?$"
    );
    if let Some(found) = review.captures(sentence) {
        return found[1].to_owned();
    }
    let manner = pattern!(
        r"(?i)^(.{24,}?), (?:can|could|would|will) you (?:please )?(?:look|do|make|check|be|have|go)\b"
    );
    manner.captures(sentence).map_or_else(|| sentence.to_owned(), |found| found[1].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_without_a_noun_takes_it_from_the_sentence_before() {
        let named = |prompt: &str| with_object(&Request::of(prompt).unwrap());
        assert_eq!(
            named("I got this feedback for src/list.rs:28. Can you address this and check the other lists?").as_deref(),
            Some("Address the feedback for src/list.rs:28")
        );
        assert_eq!(named("The tooltip covers the button. Can you fix it?"), None);
    }
}
