//! Distinguishes decisions about the work from words about the next step of a session.

use crate::pattern::pattern;

/// Whether the user's words are a decision about the work. If `is_asked`, the words answer a
/// question, so they may begin with "this" or "it".
pub fn is_users_decision(quote: &str, is_asked: bool) -> bool {
    let quote = quote.trim_matches('"');
    let settles = pattern!(
        r"(?i)\b(?:we|i) (?:also |really |explicitly |definitely |only )?(?:want|don.?t want|do not want|need|should|shouldn.t|do|use|support|prefer|never|always|must|can only)\b|\bwe (?:will |still )?keep (?:the|our)\b|\blet.?s (?:use|keep|go with|stick|drop|avoid)\b|\b(?:should|must|has to|have to|needs? to) (?:not |never |only |always )?(?:be|have|contain|use|support|work|stay|return)\b|\b(?:instead of|rather than)\b|\bnot\b.*\bbut\b|\bonly\b|\b(?:do not|don.?t) (?:use|add|do)\b|\b(?:wir|ich) (?:wollen|will|brauchen|nutzen|verwenden)\b|\bqueremos\b|\bon veut\b"
    );
    let is_of_the_moment = pattern!(
        r"(?i)^(?:\(|h+m+|u+m+|ah|oh|it seems|ok(?:ay)?,? (?:theres?|there.s|so|first)|sorry)|^(?:ok(?:ay)?,? |yes,? |no,? )*(?:so,? )?(?:what if|first|can you|could you)\b|\b(?:laying|lying) around\b|^(?:yes|yeah|yep|ok(?:ay)?),? i (?:want|would like) to (?:continue|proceed|go on)\b|\byou.ve\b|\bdepends?\b|\bi (?:also )?(?:think|guess) (?:the|it|that|this)\b|\b(?:make|open|create) (?:a|the) (?:pr|pull request|branch)\b|\bfor (?:now|this session)\b|\b(?:can|could|would) you\b|\b(?:not|n.t)\b[^.]{0,80}\byet\b|\bright[?.! ]*$"
    );
    let points = pattern!(
        r"(?i)^(?:this|that|it|they|these|those|them)\b|^let.?s \w+ (?:this|that|it|them|these|those)\b"
    );
    (settles.is_match(quote) || is_foreign(quote))
        && !quote.contains('?')
        && !is_of_the_moment.is_match(quote)
        && (is_asked || !points.is_match(quote))
}

/// Whether a question or its answer is about how the agent proceeds, not about what is built.
pub fn is_procedural(question: &str, header: &str, answer: &str) -> bool {
    let (question, header) = (question.trim(), header.trim());
    let asks_permission = pattern!(
        r"(?i)^(?:should|shall|may|can) i\b|^(?:push|commit|merge|rebase|tag|publish) (?:(?:it|this|that|them|now)\b|(?:the |this |your )?(?:branch|pr|pull request|changes|commits?)\b|`?[\w-]+/[\w./-]*[\w-]{5,}`?(?:[ ?]|$))[^?]*\?|\b(?:do you want|would you like|want|like) me to\b|\bhow (?:should i|(?:do|would) you (?:like|want)(?: me)? to)\b|\bready to\b|\b(?:proceed|continue|go ahead|go on)\b|\bwhat(?: would you like| should (?:we|i))?.{0,20}\bnext\b|\b(?:this|the|before) (?:release|commit|tagging|tag|pr|pull request|branch|session|merge)\b|\bwhich .{0,40}\bfirst\b|\bwhich (?:areas?|topics?|parts?|points?|questions?)\b.{0,40}\b(?:discuss|talk about)\b"
    );
    let is_step = pattern!(
        r"(?i)^(?:integration|merge|commits?|push|next(?: steps?)?|version|changelog|mock-?ups?|(?:ui )?workflow|proceed|continue|branch|pr|pull request|release|action|approval|confirm\w*|go ahead|research|context|ready|done|review|execution)$"
    );
    asks_permission.is_match(question)
        || is_step.is_match(header)
        || is_for_now(answer)
        || pattern!(
            r"(?i)^(?:start with|continue|proceed|do it|yes,? (?:go|do|please)|you decide)\b"
        )
        .is_match(answer)
}

/// Whether a text only orders a step of the session, such as a commit, a review or the steps of a
/// plan.
pub fn is_order(text: &str) -> bool {
    let text = text.trim_matches(['"', ' ']);
    let orders = pattern!(
        r"(?i)^(?:(?:ok(?:ay)?|yes|yeah|yep|sure|no|please|and|now|so|then|first|let.s|lets|we should|you should|just|also|go ahead and|can you|could you)[,.! ]+)*(?:commit|push|merge|rebase|revert|squash|tag|release|publish|address|apply|proceed|continue|rerun|re-run|implement|review|investigate|look (?:at|into)|fix|do|start|resume|decompose|delegate|spawn|focus(?: only| just| narrowly)? on|(?:open|create|make|update) (?:a|the|an|new) (?:\w+ )?(?:pr|pull request|branch|commit|issue|ticket|todo|plan|description|changelog)|committe|pushe|behebe|setze|haz|corrige|sube|fais|corrige|pousse)\b|^(?:提交|推送|修复|继续|コミット|プッシュ|修正して)"
    );
    let of_work_at_hand = pattern!(
        r"(?i)\b(?:the|this|that|your) (?:plan|pr|pull request|branch|commit|commits|description|title|message|todo|todos|list|diff)\b"
    );
    let is_general = pattern!(
        r"(?i)\b(?:always|never|every|from now on|immer|nie|siempre|nunca|toujours|jamais)\b"
    );
    (orders.is_match(text) || of_work_at_hand.is_match(text)) && !is_general.is_match(text)
}

/// Whether a text limits a choice to the current session or step.
pub fn is_for_now(text: &str) -> bool {
    pattern!(
        r"(?i)\bfor (?:this session|the moment|now)\b|\bthis (?:time|once|session)\b|\bright now\b"
    )
    .is_match(text)
}

/// Whether most letters of a text are not Latin. The patterns cover other scripts only in part.
pub fn is_foreign(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let foreign = letters.clone().filter(|c| *c > '\u{24f}').count();
    foreign * 2 > letters.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lasting_decisions_are_distinguished_from_next_steps() {
        for (quote, wanted) in [
            ("\"we explicitly don't want hardcoded visual tests.\"", true),
            ("let's use apple containers instead of docker proper.", true),
            ("in this repo we want to commit the generated state", true),
            ("yeah please go ahead, and feel free to start the app", false),
            ("it seems like I can edit the existing tokens", false),
            ("This should not be changed, only the other flag", false),
            ("We keep the old reader for XLS files", true),
            ("We keep getting the old error", false),
            ("We keep the old reader, right?", false),
            ("hmm, this would depend on how the share is done", false),
            ("ok, first commit the changes, then proceed with the plan", false),
            ("should we only use one of them?", false),
            ("the footer is gone, can you get that back. it should be on all pages", false),
            ("do not update the version of the schema yet", false),
            ("deletion should be handled outside of the tool right", false),
            ("anything that's laying around uncommitted we should remove", false),
            ("the tool must refuse to run with uncommitted changes, only", true),
            ("yes I want to continue, but before that I want to set up tests", false),
        ] {
            assert_eq!(is_users_decision(quote, false), wanted, "{quote}");
        }
    }

    #[test]
    fn a_step_of_the_session_is_an_order() {
        for (text, wanted) in [
            ("\"commit it, then address the rest\"", true),
            ("ok, please fix the warnings only", true),
            ("let's take the cache out of the plan", true),
            ("Fix all", true),
            ("Focus only on: the links of the README", true),
            ("Decompose the work into independent subtasks", true),
            ("let's use apple containers instead of docker proper", false),
            ("never push without asking", false),
            ("we do container-first", false),
            ("Per-recipient revoke", false),
        ] {
            assert_eq!(is_order(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_question_about_the_next_step_is_procedural() {
        for (question, header, answer, wanted) in [
            ("Which formats should be supported?", "Formats", "Also .tgz", false),
            ("Merge strategy of the branches?", "Strategy", "Squash", false),
            ("Merge `src/a.rs` and `src/b.rs` into one module?", "Modules", "Yes", false),
            ("Publish to npm or to JSR?", "Registry", "npm", false),
            ("How should agents signal the end of a turn?", "", "By a file", false),
            ("How should I bring the branch up to date?", "Integration", "Rebase", true),
            ("Would you like me to make mockups?", "Mockups", "Yes", true),
            ("Version for this release?", "Version", "v0.3.4", true),
            ("How is it found?", "", "Just an alias for this session", true),
            ("Push `ann/fixes` to the server?", "Fixes", "Don't push yet", true),
        ] {
            assert_eq!(is_procedural(question, header, answer), wanted, "{question}");
        }
    }
}
