//! Rewords the question of a decision for a reader who does not know its conversation.

use super::phrases;
use crate::{graph::text, model::evidence::Choice, pattern::pattern};

/// Maximum length, in characters, of a question.
const MAX_QUESTION_CHARS: usize = 300;

/// Returns the subject of a decision: the header of the dialogue and the question. A question that
/// names nothing, such as `Which approach?`, is left out. The result may be empty.
pub(super) fn subject(asked: &Choice) -> String {
    let question = reworded(&asked.question);
    // A header adds nothing if the question contains all of its words.
    let header = asked.header.as_deref().map(str::trim);
    let header =
        header.filter(|header| text::share(&text::words(header), &text::words(&question)) < 1.0);
    let parts = [header.unwrap_or_default(), &question];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(": ")
}

/// Returns a question without an introduction and without its reference to an earlier message;
/// empty if the question names nothing. From a long question, text in brackets is removed, too.
fn reworded(question: &str) -> String {
    let reference = pattern!(
        r"(?i)^(?:so,? )?(?:based on|given|considering|looking at|with|from) (?:the|these|those|this|that|all|my|our)\b[a-z0-9'` -]{0,60}?(?:[,:]| [—–-]) *"
    );
    let question = own_question(question);
    let question = reference.replace(question, "");
    if phrases::GENERAL_QUESTION.matches(&question) {
        return String::new();
    }
    let mut letters = question.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let question = format!("{first}{}", letters.as_str());
    if question.chars().count() <= MAX_QUESTION_CHARS {
        return question;
    }
    let without_asides = pattern!(r" ?\([^()]*\)").replace_all(&question, "").into_owned();
    text::cut(&without_asides, MAX_QUESTION_CHARS)
}

/// Returns a question without an introduction such as `Next question:`, up to its question mark.
fn own_question(question: &str) -> &str {
    let opener = pattern!(
        r"(?i)^(?:the )?(?:next|last|first|second|final|another|one more) question\b[^:?]{0,60}:\s*"
    );
    let question = question.trim();
    let question = opener.find(question).map_or(question, |found| &question[found.end()..]);
    // The text after the question mark explains the question.
    let end = question.find(['?', '？']).map(|at| question.ceil_char_boundary(at + 1));
    end.map_or(question, |end| &question[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_reworded_for_readers_without_its_conversation() {
        let subject_of = |header: Option<&str>, question: &str| {
            subject(&Choice {
                header: header.map(str::to_owned),
                question: question.to_owned(),
                ..Choice::default()
            })
        };
        for (header, question, wanted) in [
            (Some("Accept flow"), "Based on the tradeoffs — which approach?", "Accept flow"),
            (None, "Given these limits, where do keys live?", "Where do keys live?"),
            (None, "Want to go with the wrapper approach?", ""),
            (Some("Keys"), "Where do keys live? (On disk)", "Where do keys live?"),
            (Some("Storage"), "Where do keys live?", "Storage: Where do keys live?"),
            (None, "Next question: Where do keys live?", "Where do keys live?"),
        ] {
            assert_eq!(subject_of(header, question), wanted, "{question}");
        }
        let long = format!("Should the cache ({}) stay, or go?", "very long ".repeat(40));
        assert_eq!(subject_of(None, &long), "Should the cache stay, or go?");
    }
}
