//! Decides whether a sentence can be understood without the text around it, and whether it is about
//! finished work or about a fix that failed.

use super::{orders, reference};
use crate::{
    pattern::pattern,
    report::{Topic, is_phrase},
};

/// Minimum number of words of a sentence; a shorter text is a heading.
const MIN_WORDS: usize = 3;

/// Returns the sentence without list marks, heading marks and emphasis; `None` if it cannot be
/// understood without the text around it.
pub(super) fn self_contained(text: &str) -> Option<String> {
    let marks = pattern!(
        r"^(?:\s|[-*•>]\s+|#{1,6}\s+|\d{1,2}[.)]\s+|\[[ xX]\]\s+|[✅❌⚠️🔴🟡🟢✓✗☐☑→]\s*|\*\*|__)+"
    );
    let text = marks.replace(text.trim(), "").replace("**", "");
    // `The key is split: which nobody reads` is one sentence, without a heading.
    let joint = pattern!(
        r": (which|who|where|whose|so|because|but|and|not|as|since|while|although|unless|until) "
    );
    let text = joint.replace_all(&text, ", $1 ");
    let text = text.trim();
    let is_heading = text.ends_with(':') || text.split_whitespace().count() < MIN_WORDS;
    let has_own_subject = !reference::points_back(text) && !is_pasted(text);
    let is_spaced = text.is_ascii() || text.split_whitespace().count() >= MIN_WORDS;
    let is_long_enough = !is_heading || (!is_spaced && text.chars().count() >= 6);
    (is_long_enough && has_own_subject && !text.ends_with(':')).then(|| text.to_owned())
}

/// Whether a text is a piece of a table, a tree or a block of code.
fn is_pasted(text: &str) -> bool {
    pattern!(r"^\||[│┌└├]|^\s*```|\s\|\s.*\s\|\s").is_match(text)
}

/// Whether a sentence describes finished work, and not an open task.
pub(super) fn describes_finished_work(text: &str) -> bool {
    let open = pattern!(
        r"(?i)\b(?:not|n.t|yet|still|remain\w*|pending|todo|needs?|needed|should|must|to be|blocked|skipped|deferred|postponed|failed|fails|missing|untested|required|unresolved|left)\b"
    );
    !open.is_match(text) && !orders_work(text) && is_phrase(Topic::FinishedWork, text)
}

/// Whether a text begins with a verb that orders work. The verb may also be a noun: `Build was
/// fixed`.
fn orders_work(text: &str) -> bool {
    let verb = pattern!(r"(?i)^(?:ask|clarify|confirm|decide|ensure|find out|make sure)\b");
    let noun = pattern!(r"(?i)^[\w-]+(?: [\w-]+)? (?:was|were|is|are|has|have|had|got)\b");
    (verb.is_match(text) || is_phrase(Topic::OrderVerb, text)) && !noun.is_match(text)
}

/// Whether the user says that something fails as before. False for a plan, a condition and a
/// question, except for the question why something still fails.
pub(super) fn still_fails(text: &str) -> bool {
    let is_planned = pattern!(
        r"(?i)\b(?:if|when|in case|make sure) \w+ (?:still )?fails?\b|\b(?:see|check|test|verify|tell me) (?:if|whether)\b|\bstill (?:(?:need|have|want|got) to|should|must)\b"
    );
    let asks_why = pattern!(r"(?i)^(?:(?:and|but|so|hm+)[, ]+)*(?:why|how come)\b");
    let reports = pattern!(r"(?i)\b(?:still|same|back)\b|(?:n.?t|\bnot) (?:work|help|fix)");
    is_phrase(Topic::FailsAgain, text)
        && !is_planned.is_match(text)
        && (!text.ends_with(['?', '？']) || asks_why.is_match(text))
        && (!orders::begins_with_order(text) || reports.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_has_its_own_subject_and_no_marks() {
        for (text, wanted) in [
            ("- **Parser**: reads dates twice", Some("Parser: reads dates twice")),
            ("1. [ ] Remove the old sessions", Some("Remove the old sessions")),
            ("The key is split: which nobody reads", Some("The key is split, which nobody reads")),
            ("The cache is written at the end.", Some("The cache is written at the end.")),
            ("This function reads dates twice.", Some("This function reads dates twice.")),
            ("It is written at the end.", None),
            ("This means that the cache is stale.", None),
            ("The same applies to republishing.", None),
            ("The only cost is a larger `FilePointer`", None),
            ("Next steps:", None),
            ("Windows build", None),
            ("| a | b | c |", None),
            ("缓存在最后才写入。", Some("缓存在最后才写入。")),
        ] {
            assert_eq!(self_contained(text).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn finished_work_is_distinguished_from_open_tasks() {
        for (text, wanted) in [
            ("Added a test for the parser", true),
            ("The branch was merged and deployed", true),
            ("I've also updated the docs", true),
            ("Remove the old sessions", false),
            ("The Windows build was skipped and still fails", false),
            ("Tests were not run", false),
            ("Blocked by the missing key", false),
            ("Add the added header to the list", false),
            ("Set up CI for the Windows build", false),
            ("Check whether the old keys were deleted on staging", false),
            ("Verify that the migration was applied on production", false),
            ("Find out why the index was created twice", false),
            ("Confirm with Marta that the export is complete", false),
            ("We set up CI for the Windows build", true),
            ("Build was fixed and deployed", true),
            ("Test suite is now finished", true),
        ] {
            assert_eq!(describes_finished_work(text), wanted, "{text}");
        }
    }

    #[test]
    fn reports_of_a_failed_fix_are_found() {
        for (text, wanted) in [
            ("it still fails with the same error", true),
            ("that didn't work", true),
            ("the same error again", true),
            ("es funktioniert nicht", true),
            ("run it again", false),
            ("why does it still fail?", true),
            ("fix it please, it still fails", true),
            ("the same error as before", true),
            ("we still have the same error", true),
            ("tell me if it still fails", false),
            ("check whether the upload still fails", false),
            ("great, run the tests again and see whether the page loads too", false),
            ("please run the tests again and fix the errors", false),
            ("show me the diff again so I can see the names", false),
            ("please run it again and get me the numbers", false),
            ("we still need to fix the errors in the lexer", false),
            ("do not fix the lint warnings now", false),
            ("please do not work on main", false),
            ("ok fix that bug", false),
            ("does it still get the token from the env?", false),
            ("works now, thanks", false),
        ] {
            assert_eq!(still_fails(text), wanted, "{text}");
        }
    }
}
