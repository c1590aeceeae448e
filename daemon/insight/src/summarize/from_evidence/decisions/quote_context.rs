//! Finds the text that a quote of the user refers to: the sentence before it in the same prompt, an
//! earlier request, or the question that the agent asked.

use crate::{
    model::transcript::Origin,
    report::{Topic, is_phrase},
    summarize::from_evidence::{
        entries::{Entries, cut_at_clause},
        request::{Request, Weight, wording::is_clarification},
    },
    text::{Block, blocks, one_line, pattern, sentences, without_full_stop, without_opener},
};

/// Maximum length, in bytes, of a quote that may need the question or request before it.
const POINTING: usize = 120;
/// A quote of at most this length, in bytes, always needs the sentence before it, unless the quote
/// contains code.
const SHORT: usize = 60;
/// Maximum length, in characters, of the text that is shown with a quote.
pub(crate) const CONTEXT: usize = 200;
/// A request with more words than this can be understood even if its object is a pronoun.
const LONG: usize = 16;
/// Minimum number of words of a statement of the agent that can be understood alone.
const STATEMENT: usize = 5;
/// Maximum number of earlier requests that are searched for a request whose object is not a
/// pronoun.
const REQUESTS: usize = 3;

/// Whether a quote refers to something that only the text before it mentions.
pub(crate) fn needs_context(quote: &str) -> bool {
    let bare = without_opener(quote);
    // `Go ahead` refers to something, even if more words follow.
    if pattern!(r"(?i)^(?:go ahead|go for it|sounds good|proceed|do (?:it|that|so)\b[.,! ]*$|(?:definitely|probably|maybe|likely) (?:more|not|a|yes|no|only|just)\b)").is_match(bare) {
        return true;
    }
    quote.len() <= POINTING
        && (pattern!(r"(?i)^(?:now )?(?:it|that|this|they|these|those|both|for the (?:first|second|third|other|last)|the (?:first|second|third|last|other))\b")
            .is_match(bare)
            || pattern!(r"(?i)^(?:let.?s |lets )?(?:do|use|keep|leave|drop|skip|go with|add|take) (?:it|that|this|them|these|those|both|the (?:\w+))\b[^.;:]{0,24}[.! ]*$")
                .is_match(bare)
            || pattern!(r"(?i)^(?:let.?s |lets )?go (?:for|with) (?:an? |the )?[\w-]+[.! ]*$").is_match(bare))
        && !quote.contains(['`', '/'])
        && !quote.contains("because")
}

/// Whether the object of an instruction is a noun, and a condition, a reason or another detail
/// follows the noun, for example `let's do the hint if it's small`.
pub(crate) fn names_object(quote: &str) -> bool {
    pattern!(r"(?i)^(?:let.?s |lets )?(?:do|use|keep|leave|drop|skip|add|take) the (?:[a-z-]+ ){0,2}[a-z-]{4,} (?:if|for|in|when|only|as|because|so|until|but|and|without|with)\b")
        .is_match(without_opener(quote))
        && !pattern!(r"(?i)\bthe (?:first|second|third|last|other|same|option|one)\b").is_match(quote)
}

/// Whether a quote continues the previous request, for example
/// `we should call ours like that, as well` or `handle this via a small task`.
pub(crate) fn continues(quote: &str) -> bool {
    let bare = without_opener(quote);
    let is_about_it =
        pattern!(r"(?i)^(?:let.?s )?[a-z]+ (?:this|that|it|these|those|them)(?:[,.;!]|$| (?:in|on|up|out|to|into|for|as|at|by|via|with|from|through|and|then|now|first|together)\b)")
            .is_match(bare);
    is_about_it
        || quote.len() <= POINTING
            && (is_clarification(quote)
                || pattern!(r"(?i)^(?:no,? )?not\b|\b(?:then|and) go ahead[.! ]*$").is_match(quote)
                || pattern!(r"(?i)\b(?:ours|mine|theirs|as well|too|the same)\b|\b(?:for|about|with|on|to|like|of) (?:this|that|it)[.! ]*$").is_match(quote))
}

/// Whether a quote begins with a pronoun whose noun is missing, for example
/// `This should not be changed`.
pub(crate) fn begins_with_pronoun(quote: &str) -> bool {
    pattern!(r"(?i)^(?:this|that|it|these|those|they) (?:should|must|need|can|could|would|will|was|were|is|are|do|does|did|has|have)\w*\b")
        .is_match(without_opener(quote))
}

/// Returns the sentence before a quote in the same prompt, if the quote needs it.
pub(crate) fn sentence_before(prompt: &str, quote: &str) -> Option<String> {
    let needs_it = quote.len() <= SHORT || quote.len() <= POINTING && continues(quote);
    if !needs_it || quote.contains('`') {
        return None;
    }
    // A terminal may have broken the lines of a paragraph.
    let paragraphs: Vec<String> = prompt.split("\n\n").map(one_line).collect();
    let all: Vec<&str> = paragraphs.iter().flat_map(|paragraph| sentences(paragraph)).collect();
    let at = all.iter().position(|sentence| sentence.contains(quote))?;
    let before = *all.get(at.checked_sub(1)?)?;
    let says_something =
        before.split_whitespace().count() >= 6 && before.chars().count() <= CONTEXT;
    says_something.then(|| before.to_owned())
}

/// Returns a request before a quote, shortened: the latest request whose object is not only a
/// pronoun, or else the latest request.
pub(crate) fn request_before(entries: &Entries<'_>, at: Origin) -> Option<String> {
    let before = entries.evidence.prompts.iter().rev().filter(|one| one.origin.line < at.line);
    let requests = before.map(|one| Request::of(&one.text)).take(REQUESTS);
    // `5 looks good` picks from a list that the summary does not show.
    let picks = |request: &Request| pattern!(r"^(?:#|[Oo]ption )?[0-9]\b").is_match(&request.text);
    let requests = requests.map_while(|request| request.filter(|one| one.weight >= Weight::Vague));
    let requests: Vec<Request> = requests.take_while(|request| !picks(request)).collect();
    let names_object = |request: &&Request| {
        request.text.split_whitespace().count() > LONG || !has_pronoun(&request.text)
    };
    let named = requests.iter().find(names_object);
    let request = named.or(requests.first())?;
    Some(cut_at_clause(&entries.tidy_line(&request.text), CONTEXT))
}

/// Returns what the agent said directly before a quote: the first sentence in the last paragraph
/// of the report, shortened. `None` if this sentence is no statement, or if the quote explains an
/// earlier prompt.
pub(crate) fn agent_before(entries: &Entries<'_>, at: Origin, quote: &str) -> Option<String> {
    if is_clarification(quote) {
        return None;
    }
    let previous = entries.evidence.prompts.iter().rfind(|one| one.origin.line < at.line)?;
    let turn = previous.origin.line..at.line;
    let report =
        entries.evidence.reports.iter().rfind(|report| {
            report.origin.source == at.source && turn.contains(&report.origin.line)
        })?;
    let Block::Paragraph(last) = blocks(&report.text).pop()? else { return None };
    let line = entries.tidy_line(&last);
    let first = *sentences(&line).first()?;
    let states = first.split_whitespace().count() >= STATEMENT
        && !first.ends_with(['?', '？', ':'])
        && ![Topic::Talk, Topic::Proposal, Topic::Instruction, Topic::PublishOffer]
            .iter()
            .any(|topic| is_phrase(*topic, first));
    states.then(|| without_full_stop(&cut_at_clause(first, CONTEXT)).to_owned())
}

/// Whether the object of a request is only a pronoun, as in `What about adding this to the list?`.
fn has_pronoun(request: &str) -> bool {
    pattern!(r"(?i)\b(?:this|that|it|these|those|them)(?:[?.!,;]|$| (?:in|on|up|out|to|into|for|as|at|by|via|with|from|through|true|right|correct|reasonable)\b)")
        .is_match(request)
}

/// Returns the last question in the last line of the agent's report before the prompt.
pub(crate) fn question_before(entries: &Entries<'_>, at: Origin) -> Option<String> {
    let before = entries.evidence.reports.iter().rfind(|report| report.origin.line < at.line)?;
    let line = entries.tidy_line(before.text.trim_end().lines().last()?);
    let asked = sentences(&line).into_iter().rev().find(|one| one.ends_with('?'))?;
    Some(asked.to_owned())
}

/// Returns `statement`. If the statement is an objection with which the agent agreed, adds the
/// previous request, because an objection such as `why can't we just use booleans?` is unclear
/// without that request.
pub(crate) fn objection(entries: &Entries<'_>, statement: &str, at: Origin) -> String {
    const AGREED: &str = " (the agent agreed";
    let objects = pattern!(r#"(?i)^User: "(?:but |hmm+,? |so )?(?:why|can.?t|couldn.?t|shouldn.?t|isn.?t|aren.?t|doesn.?t|don.?t)\b"#)
        .is_match(statement);
    let request = if objects { request_before(entries, at) } else { None };
    request.map_or(statement.to_owned(), |request| {
        let request = without_full_stop(&cut_at_clause(&request, CONTEXT / 2)).to_owned();
        statement.replacen(AGREED, &format!(" (after: {request}; the agent agreed"), 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::evidence::{Evidence, Quote},
        report::Reports,
    };

    fn evidence(prompts: &[&str]) -> Evidence {
        let quote = |(at, text): (usize, &&str)| Quote {
            text: (*text).to_owned(),
            origin: Origin { source: 0, line: at as u64 + 1 },
            at: None,
        };
        Evidence { prompts: prompts.iter().enumerate().map(quote).collect(), ..Evidence::default() }
    }

    #[test]
    fn a_quote_without_its_object_gets_the_request_with_the_object() {
        let evidence = evidence(&[
            "is the work to send mails already planned?",
            "what about adding this to the next phase?",
            "ok lets handle this via a quick task then",
        ]);
        let entries =
            Entries { evidence: &evidence, reports: &Reports::of(&evidence), project: None };
        let at = Origin { source: 0, line: 3 };
        assert!(continues(
            "ok lets handle this via a quick task then, together with the login of the page, so that it can be released and used by all of the team at last"
        ));
        assert!(!continues(
            "use this file for the names of all pages, because the other one is written by the generator, which nobody runs any more in this team"
        ));
        assert_eq!(
            request_before(&entries, at).as_deref(),
            Some("Is the work to send mails already planned?")
        );
        assert_eq!(
            objection(&entries, "User: \"why can't we use booleans?\" (the agent agreed: yes)", at),
            "User: \"why can't we use booleans?\" (after: Is the work to send mails already planned?; the agent agreed: yes)"
        );
    }

    #[test]
    fn a_short_quote_gets_the_sentence_before_it() {
        let prompt = "The client is now kept after the first\n    call, so that later settings are ignored.\n\nLet's build one per call.";
        assert_eq!(
            sentence_before(prompt, "Let's build one per call.").as_deref(),
            Some(
                "The client is now kept after the first call, so that later settings are ignored."
            )
        );
        assert_eq!(
            sentence_before("Great. Let's build one per call.", "Let's build one per call."),
            None
        );
    }
}
