//! Parses requests of users: removes the polite words around a request, and finds a request within
//! a sentence.

use crate::{
    report::{Topic, is_phrase},
    text::{capitalised, pattern, sentences, without_opener},
};

/// The form of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// An order, even a polite one.
    Orders,
    Asks,
    States,
}

/// Returns a sentence without the words that only make it polite, and its form.
pub(crate) fn plain(line: &str) -> (String, Manner) {
    let polite = pattern!(
        r"(?i)^(?:(?:hey|hi|hello|good morning)\b(?:,? (?:claude|codex|there|gemini|copilot))?[,!.]*|(?:ok|okay|so|well|now|great|good|perfect|nice|alright|right|cool|awesome|thanks|thank you|yes|yep|and|also|then|actually|hm+|ah|oh|fgs|never mind|fair enough|(?:sounds|looks) (?:good|great)|makes sense|got it|agreed|lgtm)[,.!:]+|(?:ok|okay|alright|also|so|and|now|then|but),? )\s*"
    );
    let asking = pattern!(
        r"(?i)^(?:(?:maybe|perhaps|first|i think|i guess|btw|by the way|also),? (?:maybe |first |then )?)?(?:please,?|(?:can|could|would|will) (?:you|u|ya|we)(?: please| pls| also| just| maybe)*|(?:i(?:'d| would)|would) like (?:you )?to(?: ask you to)?|i want (?:you )?to|i need (?:you )?to|(?:do you think )?(?:it would be|would it be|is it) possible to|do you think (?:you|we) (?:can|could|should)|i(?:'d| would) like your help (?:with|to)|help me(?: to)?|let(?:'|’)?s(?: also| now| please| first| just)*|we (?:need|have|should) to|we should|you (?:need|have) to|need to|go ahead and)\s+"
    );
    let mut rest = line.trim_start();
    let mut asks = false;
    loop {
        let found = asking.find(rest).map(|found| (found.end(), true));
        let Some((end, asked)) =
            found.or_else(|| polite.find(rest).map(|found| (found.end(), false)))
        else {
            break;
        };
        let after = rest[end..].trim_start();
        if end == 0 || after.split_whitespace().count() < 2 {
            break;
        }
        asks |= asked;
        rest = after;
    }
    let mut text = rest.to_owned();
    // Without words such as `can you`, the sentence is no longer a question.
    if asks
        && let Some(end) = sentences(&text).first().map(|first| first.len())
        && text[..end].ends_with('?')
    {
        text.replace_range(end - 1..end, ".");
    }
    let is_question = sentences(rest).first().is_some_and(|first| first.ends_with('?'));
    let manner = match () {
        () if asks || orders_work(&text) => Manner::Orders,
        () if is_question => Manner::Asks,
        () => Manner::States,
    };
    (text, manner)
}

/// Replaces the pronoun in an order by the command to whose output the pronoun refers:
/// ``Fix these (after `make lint`)`` becomes ``Fix what `make lint` reported``.
pub(crate) fn with_command(order: &str) -> String {
    pattern!(r"(?i)^([a-z]+ (?:up )?)(?:all (?:of )?)?(?:these|this|those|them|it|that)([.!]?) \(after (`[^`]+`)\)$")
        .replace(order, "${1}what $3 reported$2")
        .into_owned()
}

/// Returns the sentence as a request, if it is an order or a question and contains no quotation.
pub(crate) fn ask(sentence: &str) -> Option<String> {
    let (text, manner) = plain(sentence);
    let quoted = sentence.contains(['"', '“']);
    (!quoted && manner != Manner::States).then(|| capitalised(&text))
}

/// Returns the order at the end of a sentence that begins with a statement, for example
/// `nobody uses it, can you remove it?`.
pub(crate) fn asked_within(sentence: &str) -> Option<String> {
    let found = pattern!(r"(?i)^.{12,}?(?:,| -+| –|;) (?:and |so |but )?(?:can|could|would) (?:you|we) (?:please )?(?:also )?(.{12,}?)\??$")
        .captures(sentence)?;
    orders_work(&found[1]).then(|| capitalised(&found[1]))
}

/// Maximum length, in bytes, of a short order.
const LAST_ORDER: usize = 120;

/// Returns a sentence without its polite words, if it is a short order with a noun as its object.
/// `None` for an order that begins with a verb such as `run`, `read` or `explain`.
pub(crate) fn last_order(sentence: &str) -> Option<String> {
    let (text, manner) = plain(sentence);
    let points = pattern!(r"(?i)^\w+ (?:it|this|that|these|those|them)\b|^(?:run|use|read|check|find|list|show|search|explain|verify)\b").is_match(&text);
    let is_cut = text.ends_with("...") || text.ends_with('…');
    (manner == Manner::Orders
        && orders_work(&text)
        && !(points || is_cut)
        && text.len() <= LAST_ORDER)
        .then(|| capitalised(&text))
}

/// Whether a text asks for work in any form: as an order, a polite question or a need.
pub(crate) fn asks_for_work(text: &str) -> bool {
    plain(text).1 == Manner::Orders
        || pattern!(r"(?i)^(?:new feature|next (?:feature|task|thing))\b|\b(?:please|(?:can|could|would) (?:you|we)|let['’]?s|needs?|need(?:s|ed)? to|feel free to|make sure|i want|(?:is|be) (?:there )?a way to|propose|would be \w+er)\b")
            .is_match(text)
}

/// Whether a sentence says that something is wrong. Such a sentence is also a request.
pub(crate) fn states_problem(sentence: &str) -> bool {
    pattern!(r"(?i)\b(?:bugs?|errors?|fail(?:s|ed|ing|ures?)?|broken|crash(?:es|ed|ing)?|problems?|doesn't work|not working|issues?)\b")
        .is_match(sentence)
}

/// Shortens addresses to a form such as `team/app#12`, or to the host if they are long. Punctuation
/// after an address is kept.
pub(crate) fn short_addresses(line: &str) -> String {
    let line = pattern!(r"https?://(?:www\.)?git(?:hub|lab)\.com/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/(?:-/)?(?:pull|issues|merge_requests)/(\d+)(?:[!-~]*[0-9A-Za-z_/=&-])?")
        .replace_all(line, "$1#$2");
    let line = pattern!(
        r"https?://(?:www\.)?github\.com/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/actions/runs/(\d+)(?:[!-~]*[0-9A-Za-z_/=&-])?"
    )
    .replace_all(&line, "$1 CI run $2");
    let line = pattern!(r"https?://(?:www\.)?git(?:hub|lab)\.com/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/(?:-/)?(?:blob|tree)/[A-Za-z0-9_.-]+/([\w./-]*\w)(?:[!-~]*[0-9A-Za-z_/=&-])?")
        .replace_all(&line, "$1: $2");
    let line = pattern!(
        r"https?://(?:www\.)?git(?:hub|lab)\.com/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/[!-~]{19,}[0-9A-Za-z_/=&-]"
    )
    .replace_all(&line, "$1");
    pattern!(r"https?://(?:www\.)?([A-Za-z0-9_.-]+)/[!-~]{39,}[0-9A-Za-z_/=&-]")
        .replace_all(&line, "$1")
        .into_owned()
}

/// Whether the text begins with a verb that orders work.
pub(crate) fn begins_as_order(text: &str) -> bool {
    is_phrase(Topic::OrderVerb, text)
}

/// Whether a text of the user begins with an order. In a text of the agent, some of these verbs
/// describe what the agent did.
pub(crate) fn orders_work(text: &str) -> bool {
    begins_as_order(text) || is_phrase(Topic::UserOrder, text)
}

/// Whether a sentence rejects or limits the one before it, for example `But I don't think so`.
pub(crate) fn rejects_or_limits_previous(sentence: &str) -> bool {
    pattern!(
        r"(?i)^(?:but|however|although|though|except|unless|actually|instead|no[,.]|not |i (?:(?:don.?t|do not) (?:think|agree|want|like|see why)|disagree|doubt|would not|wouldn.?t)\b|(?:that|this|it)(?:.s| is| was)? (?:not|wrong|incorrect|false)\b|(?:that|this|it) (?:isn.t|doesn.t|does not|won.t)\b|aber|allerdings|pero|mais|但|不过|ただし|しかし)"
    )
    .is_match(sentence)
}

/// Whether a sentence only approves what was just shown, such as `Yeah, please go ahead`.
pub(crate) fn is_approval(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:(?:yes|yeah|yep|ok|okay|sure|great|please|sounds good)[,.!]* )*(?:please )?(?:go ahead|go for it|proceed)\b")
        .is_match(sentence)
        && !pattern!(r"(?i)\b(?:but|except|instead|rather|only|not|don.?t|without|first|with)\b")
            .is_match(sentence)
}

/// Whether a sentence asks something.
pub(crate) fn is_question(sentence: &str) -> bool {
    sentence.trim_end_matches(['"', ')', ' ']).ends_with(['?', '？'])
        || pattern!(r"(?i)^(?:(?:ok|okay|so|and|but|also),? )*(?:can|could|would|will|do|does|did|is|are|should|why|what|how|where|which|when|who) (?:you|we|i|it|this|that|the|there|does|do|did|is|are|was|were|has|have|had)\b")
            .is_match(sentence)
        || pattern!(r"(?i)^(?:(?:ok|okay|so|and|but|also),? )*(?:does|is|are) \w")
            .is_match(sentence)
            && !pattern!(r"(?i)^(?:\w+,? )*?(?:does|is|are) (?:not|fine|ok|okay|good|enough|better)\b")
                .is_match(sentence)
}

/// Whether a question only asks for information and decides nothing, for example
/// `Anything uncommitted that we should remove?`.
pub(crate) fn is_open_question(sentence: &str) -> bool {
    is_question(sentence)
        && pattern!(r"(?i)^(?:is there|are there|any(?:thing|one|where)?|what.?s?|which|where|who|when|how)\b")
            .is_match(without_opener(sentence))
}

/// Whether a sentence explains an earlier prompt, for example `I meant the other repository`.
pub(crate) fn is_clarification(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:(?:no|sorry|oh|well),? )*i meant?\b").is_match(without_opener(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polite_words_are_removed_and_the_manner_is_found() {
        for (sentence, wanted, manner) in [
            ("Hey Claude, could you please add a test?", "add a test.", Manner::Orders),
            ("ok, fix the parser", "fix the parser", Manner::Orders),
            ("Hide the list", "Hide the list", Manner::Orders),
            ("ok, maybe let's first put it on a branch", "put it on a branch", Manner::Orders),
            ("log the answers of the server", "log the answers of the server", Manner::Orders),
            ("log files are too large", "log files are too large", Manner::States),
            ("Why does it fail?", "Why does it fail?", Manner::Asks),
            ("The build fails on main.", "The build fails on main.", Manner::States),
        ] {
            assert_eq!(plain(sentence), (wanted.to_owned(), manner), "{sentence}");
        }
    }

    #[test]
    fn an_address_keeps_what_identifies_it() {
        for (address, wanted) in [
            (
                "https://github.com/team/app/actions/runs/21662/job/62449?pr=1",
                "team/app CI run 21662",
            ),
            (
                "https://github.com/team/app/blob/main/.opencode/plugins/a.js",
                "team/app: .opencode/plugins/a.js",
            ),
            ("https://github.com/team/app/pull/104/files", "team/app#104"),
            (
                "See https://github.com/team/app/pull/104, and (https://github.com/team/app/issues/7).",
                "See team/app#104, and (team/app#7).",
            ),
            (
                "Does https://github.com/team/app/actions/runs/21662/job/62449?pr=1: fail?",
                "Does team/app CI run 21662: fail?",
            ),
            (
                "Read https://github.com/team/app/blob/main/src/a.rs#L3-L9, then fix it",
                "Read team/app: src/a.rs, then fix it",
            ),
            ("(https://github.com/team/app/compare/v1.2.3...v1.2.4-beta)", "(team/app)"),
            (
                "From https://example.com/a/very/long/path/to/a/page/of/the/documentation.html.",
                "From example.com.",
            ),
        ] {
            assert_eq!(short_addresses(address), wanted);
        }
    }

    #[test]
    fn an_order_is_found_within_a_sentence() {
        let sentence = "nobody reads those links, can you please remove them from the page?";
        assert_eq!(asked_within(sentence).as_deref(), Some("Remove them from the page"));
        assert_eq!(asked_within("nobody reads them, can you believe it?"), None);
    }

    #[test]
    fn questions_that_only_ask_for_information_are_found() {
        for (sentence, wanted) in [
            ("Anything uncommitted that we should remove?", true),
            ("is there a test for it?", true),
            ("Can you use the other file instead?", false),
            ("Anything but the old parser.", false),
        ] {
            assert_eq!(is_open_question(sentence), wanted, "{sentence}");
        }
    }
}
