//! Decides whether a sentence can be understood without the text around it, and whether it is about
//! finished work or about a fix that failed.

use super::reference;
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
    !open.is_match(text) && is_phrase(Topic::FinishedWork, text)
}

/// Whether the user says that something fails as before.
pub(super) fn still_fails(text: &str) -> bool {
    is_phrase(Topic::FailsAgain, text)
        && !pattern!(r"(?i)\b(?:if|when|in case|make sure) \w+ (?:still )?fails?\b").is_match(text)
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
            ("tell me if it still fails", false),
            ("works now, thanks", false),
        ] {
            assert_eq!(still_fails(text), wanted, "{text}");
        }
    }
}
