//! Recognises requests for routine steps: a step with git, such as a commit, or the order to
//! continue. The state of the repository shows whether a step with git was carried out.

use crate::pattern::pattern;

/// Maximum number of words of a prompt that begins with a routine step and can have other words,
/// such as the name of a branch.
const MAX_ROUTINE_WORDS: usize = 9;
/// Words of requests that only order or ask for routine steps.
const STEPS: &[&str] = &[
    "branch",
    "commit",
    "committed",
    "continue",
    "create",
    "deliver",
    "get",
    "land",
    "landed",
    "latest",
    "main",
    "master",
    "merge",
    "merged",
    "open",
    "origin",
    "patch",
    "pr",
    "prs",
    "pull",
    "pulled",
    "push",
    "pushed",
    "rebase",
    "remote",
    "request",
    "resume",
    "ship",
    "shipped",
    "stage",
];
/// Words that add nothing to a routine step.
const FILLERS: &[&str] = &[
    "a",
    "all",
    "already",
    "an",
    "and",
    "are",
    "back",
    "be",
    "before",
    "can",
    "change",
    "changes",
    "could",
    "did",
    "do",
    "doing",
    "done",
    "everything",
    "first",
    "for",
    "go",
    "going",
    "good",
    "great",
    "has",
    "have",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "it's",
    "just",
    "let",
    "let's",
    "lets",
    "me",
    "my",
    "need",
    "new",
    "not",
    "now",
    "of",
    "off",
    "ok",
    "okay",
    "on",
    "our",
    "please",
    "ready",
    "saved",
    "should",
    "so",
    "sorry",
    "that",
    "the",
    "them",
    "then",
    "these",
    "this",
    "those",
    "to",
    "up",
    "us",
    "want",
    "was",
    "we",
    "will",
    "with",
    "would",
    "yeah",
    "yep",
    "yes",
    "you",
];

/// Whether a prompt only orders or asks for a routine step.
pub(super) fn is_routine(prompt: &str) -> bool {
    let words = prompt.split_whitespace().map(|word| {
        word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'")
    });
    let words: Vec<String> = words.filter(|word| word.contains(char::is_alphabetic)).collect();
    let is_step = |word: &String| STEPS.contains(&word.as_str());
    let only_steps = words.iter().any(is_step)
        && words.iter().all(|word| is_step(word) || FILLERS.contains(&word.as_str()));
    let begins = pattern!(
        r"(?i)^(?:(?:ok(?:ay)?|now|and|then|great|good|yes|please|lets?|let.s|can you|could you|just|so|also|sorry)\b[,.! ]*)*(?:commit|push|merge|rebase|pull|(?:get|go|switch) back to|check ?out|continue|resume|proceed|go on|keep going|(?:cut|create|make|open) (?:a|the|another) (?:new )?(?:branch|pr|pull request))\b"
    );
    only_steps || words.len() <= MAX_ROUTINE_WORDS && begins.is_match(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_only_orders_routine_steps_is_recognised() {
        for (prompt, wanted) in [
            ("has the patch landed? if not can you merge it", true),
            ("ok push all this up and lets get it merged.", true),
            ("ok saved, please commit this", true),
            ("before you go doing that, we need to get back to main, and pull in latest.", true),
            ("yeah please ship them", true),
            ("let's cut a branch first", true),
            ("pr 177 has some merge conflicts. can you resolve these?", false),
            ("please do these changes", false),
            ("commit, then add a test of the parser to the branch of the lexer", false),
        ] {
            assert_eq!(is_routine(prompt), wanted, "{prompt}");
        }
    }
}
