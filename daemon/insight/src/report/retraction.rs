//! Recognises retractions of earlier statements. Also finds what the user drops or goes back to,
//! but only in English sentences.

use crate::{
    model::{Evidence, transcript::Origin},
    pattern::pattern,
    report::{Topic, is_phrase},
};

/// Number of bytes at the start of a text that are searched for a retraction.
const OPENING: usize = 400;

/// The next report retracts a statement if its start concedes an error and contains, together with
/// the prompt before the report, at least this share of the statement's words.
const NEXT_REPORT_SHARE: f64 = 0.15;
/// The same share, for the reports after the next report.
const LATER_REPORT_SHARE: f64 = 0.5;
/// Number of bytes at the start of a report that are compared with the statement.
const REPORT_START: usize = 600;

/// Whether the agent later retracted a statement in `line`, or the next prompt contradicted the
/// statement. `share` returns the share of the statement's words that a text contains, from 0 to 1.
pub(crate) fn is_retracted(evidence: &Evidence, line: Origin, share: &dyn Fn(&str) -> f64) -> bool {
    let next_prompt = evidence.prompts.iter().find(|prompt| prompt.origin.follows(line));
    if next_prompt.is_some_and(|prompt| contradicts(&prompt.text)) {
        return true;
    }
    let reports = evidence.reports.iter().filter(|report| report.origin.follows(line));
    let by_report = reports.enumerate().any(|(at, report)| {
        let before = evidence.prompts.iter().rfind(|prompt| prompt.origin < report.origin);
        let objection = before.map_or("", |prompt| prompt.text.as_str());
        let opening = &report.text[..report.text.floor_char_boundary(REPORT_START)];
        let wanted = if at == 0 { NEXT_REPORT_SHARE } else { LATER_REPORT_SHARE };
        concedes(opening) && share(&format!("{objection} {opening}")) >= wanted
    });
    let mut agreed = evidence.statements.iter().filter(|one| one.origin.follows(line));
    by_report
        || agreed.any(|one| {
            one.text.contains("(the agent agreed") && share(&one.text) >= LATER_REPORT_SHARE
        })
}

/// Whether an agent's answer retracts an earlier statement of the agent, or agrees with the user's
/// objection to such a statement.
fn concedes(answer: &str) -> bool {
    let opening = opening(answer);
    is_phrase(Topic::Agreement, opening) || is_phrase(Topic::Retraction, opening)
}

/// Whether a prompt says that the agent's last statement is not true, or lacks something.
fn contradicts(prompt: &str) -> bool {
    let opening = opening(prompt);
    is_phrase(Topic::Refutation, opening)
        || pattern!(r"(?i)^\W*(?:(?:no|nope|nah|wait|but)\b[,. ]+)*you(?:.ve| have)? missed\b|^(?:no|nope|nah)\. +\w")
            .is_match(opening)
}

fn opening(text: &str) -> &str {
    &text[..text.floor_char_boundary(OPENING)]
}

/// Maximum number of words of a dropped or kept object. A longer text contains several things.
const MAX_OBJECT_WORDS: usize = 6;

/// Returns what a sentence of the user drops, for example `mascot` in `no, drop the mascot and keep
/// the name`.
pub(crate) fn dropped(sentence: &str) -> Option<&str> {
    let drops = pattern!(
        r"(?i)(?:^|[,;:.—–-] *|\b(?:let.?s|please|and|just|we (?:can|should)|you can|no|actually) )(?:scrap|drop|forget(?: about)?|ditch|abandon|discard|get rid of|undo|revert|take back|(?:(?:i|we) )?(?:no longer|don.?t|do not) (?:want|need)) (?:(?:the|this|that|our|your|any|all|a|an) )?(.+)$"
    );
    object(drops.captures(sentence)?.get(1)?.as_str())
}

/// Returns what a sentence of the user keeps or goes back to, for example `one file` in `actually,
/// let's go back to one file for each day`.
pub(crate) fn kept(sentence: &str) -> Option<&str> {
    let keeps = pattern!(
        r"(?i)^(?:(?:ok(?:ay)?|no|nope|actually|hm+|wait|then|so|yes|instead|on second thought)[,. ]+)*(?:(?:let.?s|please|just|we (?:should|will|can)|i(?:.d| would)? (?:prefer|rather|want)(?: to)?) )*(?:keep|stay with|stick (?:with|to)|use|go with) (?:(?:the|this|that|our|your|a|an) )?(.+)$"
    );
    match keeps.captures(sentence) {
        Some(found) => object(found.get(1)?.as_str()),
        None => returned_to(sentence),
    }
}

/// Returns what a sentence of the user goes back to, for example `spaces` in `hm, back to spaces`.
pub(crate) fn returned_to(sentence: &str) -> Option<&str> {
    let returns = pattern!(
        r"(?i)(?:^|[,;:.—–-] *|\b(?:let.?s|please|just|then|so|no|actually|we (?:should|will|can|are)|we.re|i want to) )(?:(?:(?:go|switch|change|move) )?back to|revert to|return to|restore|bring back) (?:(?:the|this|that|our|your|a|an) )?(.+)$"
    );
    object(returns.captures(sentence)?.get(1)?.as_str())
}

/// Returns the beginning of a text up to its first punctuation mark, conjunction or preposition, if
/// this beginning is short.
fn object(text: &str) -> Option<&str> {
    let end = pattern!(
        r"(?i)[,.;:!?(—–]|\b(?:and|but|for|from|in|on|because|so|then|since|just|instead|as|when|if|with|until)\b"
    );
    let end = end.find(text).map_or(text.len(), |end| end.start());
    let object = text[..end].trim();
    (!object.is_empty() && object.split_whitespace().count() <= MAX_OBJECT_WORDS).then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_drops_or_goes_back_to_is_found() {
        for (sentence, drops, returns) in [
            ("no, drop the mascot and keep the name", Some("mascot"), None),
            ("ok, forget pnpm", Some("pnpm"), None),
            ("hm no, the formatter complains, back to spaces", None, Some("spaces")),
            ("back to npm then, everywhere", None, Some("npm")),
            ("let's go back to one file for each day", None, Some("one file")),
            ("use one file", None, None),
            ("the call goes back to the server", None, None),
        ] {
            assert_eq!((dropped(sentence), returned_to(sentence)), (drops, returns), "{sentence}");
        }
        assert_eq!(kept("use one file"), Some("one file"));
        assert_eq!(kept("no, back to one file"), Some("one file"));
    }

    #[test]
    fn prompts_that_contradict_the_agent_are_recognised() {
        for (prompt, wanted) in [
            ("no, that's not true, the key is random", true),
            ("That is wrong.", true),
            ("no thats not it, login works fine", true),
            ("that is not itemised", false),
            ("that can't be, login works", true),
            ("then the cookie was not the cause", true),
            ("no. field 7 must be empty", true),
            ("no, go on", false),
            ("you misread the config", true),
            ("you missed the second list", true),
            ("Das stimmt nicht.", true),
            ("Eso no es así.", true),
            ("no need for a test", false),
            ("is that not the case?", false),
            ("that is nice, go on", false),
        ] {
            assert_eq!(contradicts(prompt), wanted, "{prompt}");
        }
    }

    #[test]
    fn answers_that_agree_with_an_objection_are_recognised() {
        for (answer, wanted) in [
            ("You're right, the key is random there.", true),
            ("Ah, good catch — the loop skips it.", true),
            ("I was wrong about the cache: it is read twice.", true),
            ("My earlier claim was too broad.", true),
            ("Sorry, I misread the config.", true),
            ("Looking again, that does not hold for keys.", true),
            ("Du hast recht, das fehlt.", true),
            ("Ah, du hast recht, das fehlt.", true),
            ("你说得对。", true),
            ("Right, the parser reads dates.", false),
            ("The right key is read first.", false),
            ("You fixed it. Then the date was not the cause.", true),
            ("My theory about the cookie was wrong, I leave it.", true),
            ("Good question. The cache is read twice.", false),
        ] {
            assert_eq!(concedes(answer), wanted, "{answer}");
        }
    }
}
