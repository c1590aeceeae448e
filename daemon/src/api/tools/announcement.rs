//! Recognises messages of the agent that only announce its next step.

/// Maximum length, in bytes, of an announcement; a longer message also has other content.
const MAX_ANNOUNCEMENT_BYTES: usize = 200;

/// Whether a message of the agent only announces its next step: "Now let me look at the tests."
pub(super) fn announces(text: &str) -> bool {
    let text = text.trim();
    if text.len() > MAX_ANNOUNCEMENT_BYTES || text.contains('\n') {
        return false;
    }
    let text = text.to_lowercase().replace('’', "'");
    let openings = ["now", "next", "first", "ok", "okay", "good", "great", "then", "and", "so"];
    let mut rest = text.as_str();
    while let Some((word, after)) = rest.split_once(' ')
        && openings.contains(&word.trim_end_matches([',', '.', '!', ':']))
    {
        rest = after;
    }
    let begins = ["let me ", "let's ", "i'm going to ", "i am going to "];
    let promise = ["i'll ", "i will "].iter().find_map(|begin| rest.strip_prefix(begin));
    // "I'll keep it at 20" is an answer.
    let has_step = begins.iter().any(|begin| rest.starts_with(begin))
        || promise.is_some_and(|step| step.ends_with(':') || has_verb_of_step(step));
    let sentence = rest.trim_end_matches(['.', ':', '…']);
    let has_more = [". ", "! ", "? ", "; ", ": "].iter().any(|end| sentence.contains(end));
    has_step && (rest.ends_with(':') || !has_more)
}

/// Whether a step that an agent promises begins with a verb of looking, running or changing.
fn has_verb_of_step(step: &str) -> bool {
    const VERBS: &str = " look check run rerun re read search find see start begin inspect examine verify try open \
        explore investigate review test fix update add create write explain show summarize ";
    let words = step.split(|c: char| !c.is_alphabetic());
    let mut words =
        words.filter(|word| !["now", "also", "first", "quickly", "just"].contains(word));
    words.next().is_some_and(|verb| VERBS.contains(&format!(" {verb} ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_says_only_what_comes_next() {
        for text in [
            "Now let me look at the tests.",
            "Good. I’ll run them again:",
            "I'll quickly re-run the tests",
            "Let me commit this.",
            "Let me check src/pool.rs and its callers",
        ] {
            assert!(announces(text), "{text}");
        }
        for text in [
            "The pool was full. Now let me fix it.",
            "Let me explain: the pool was full; each request holds two.",
            "I'll keep it. The reason is the pool.",
            "I’ll keep it at 20.",
            "I will not merge it.",
            "Now the tests pass.",
        ] {
            assert!(!announces(text), "{text}");
        }
    }
}
