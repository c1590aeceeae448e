//! Finds and rewords the question of a decision for a reader who does not know its conversation.

use super::{draft::Draft, reference};
use crate::{
    graph::text,
    model::evidence::Choice,
    pattern::pattern,
    report::{Topic, is_phrase},
};

const MAX_QUESTION_CHARS: usize = 300;
/// Minimum number of different words of a line that says what its options are about.
const MIN_INTRODUCTION_WORDS: usize = 2;

/// Returns the subject of a decision: the header of the dialogue and the question. A question that
/// does not say what is decided, such as `Which approach?`, is left out. The result may be empty.
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
/// empty if the question does not say what is decided. From a long question, text in brackets is
/// removed, too.
fn reworded(question: &str) -> String {
    let reference = pattern!(
        r"(?i)^(?:so,? )?(?:based on|given|considering|looking at|with|from) (?:the|these|those|this|that|all|my|our)\b[a-z0-9'` -]{0,60}?(?:[,:]| [—–-]) *"
    );
    let question = own_question(question);
    let question = reference.replace(question, "");
    let without_asides = pattern!(r" ?\([^()]*\)").replace_all(&question, "").into_owned();
    if is_phrase(Topic::GeneralQuestion, &without_asides) {
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

/// Returns the line above the options of which the user chose one, if the line says what the
/// options are about, for example `For --generate when a summary exists:`.
pub(super) fn above_options(draft: &Draft<'_>, asked: &Choice) -> Option<String> {
    let report = draft.report_before(asked.origin)?;
    let answer = text::plain(asked.answer.split("; ").next()?);
    let option =
        pattern!(r"^\W*(?:[Oo]ption +)?\(?([A-Ea-e1-9])(?:[).:]|(?:\*\*)? *\||(?:\*\*)? [–—-] )");
    let lines: Vec<&str> = report.text.lines().collect();
    let is_chosen = |line: &&str| option.is_match(line) && text::plain(line).contains(&answer);
    let chosen = lines.iter().rposition(is_chosen)?;
    let is_first = |line: &&str| {
        option.captures(line).is_some_and(|found| matches!(&found[1], "A" | "a" | "1"))
    };
    let first = lines[..=chosen].iter().rposition(is_first)?;
    let mut above = lines[..first].iter().rev();
    let introduction = above.find(|line| !line.trim().is_empty() && !line.starts_with('|'))?;
    own_introduction(introduction)
}

/// Returns the introduction of a list of options, without Markdown and without a label such as
/// `Question 1 of 4:`; `None` if the introduction ends like a statement or does not say what the
/// options are about.
fn own_introduction(line: &str) -> Option<String> {
    let label =
        pattern!(r"(?i)^(?:[a-z]+ )?question(?: [0-9]{1,2})?(?: (?:of|/) ~?[0-9]{1,2})?: *");
    let plain =
        line.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`').replace("**", "");
    let plain = label.replace(plain.trim(), "");
    let is_introduction = plain.ends_with([':', '?', '？', '：']);
    let question = reworded(plain.trim_end_matches([':', '：']));
    (is_introduction
        && text::words(&question).len() >= MIN_INTRODUCTION_WORDS
        && !reference::points_back(&question)
        && !pattern!(r"(?i)^(?:here (?:are|is)|here.s|options?\b|(?:the|my|some|two|three|four|possible) (?:options?|ideas|approaches|ways|choices)\b)").is_match(&question))
    .then_some(question)
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
    use crate::{
        graph::extract::scenarios::{SessionFixture, line},
        model::evidence::TurnReport,
    };

    #[test]
    fn the_line_above_the_options_says_what_they_are_about() {
        let mut session = SessionFixture::new(10, "Mark the answers");
        let asked = Choice {
            question: "Which is closest to what you want?".to_owned(),
            answer: "Branding; Delight".to_owned(),
            origin: line(5),
            ..Choice::default()
        };
        for (above, wanted) in [
            (
                "**Question 1 of ~4: What is the goal of the mascot?**",
                Some("What is the goal of the mascot?"),
            ),
            ("Do you want the mascot to be:", Some("Do you want the mascot to be")),
            ("I read all of the skills.", None),
            ("Here are the options for you:", None),
            ("Which one?", None),
        ] {
            session.evidence.reports = vec![TurnReport {
                text: format!(
                    "One more thing.\n\n{above}\n\n- **A. Branding** — it is seen\n- **B. Delight** — fun\n\nWhich?"
                ),
                origin: line(3),
                ..TurnReport::default()
            }];
            let draft = Draft::new(&session.episode, &session.evidence);
            assert_eq!(subject(&asked), "");
            assert_eq!(above_options(&draft, &asked).as_deref(), wanted, "{above}");
        }
        session.evidence.reports[0].text = "| **B) Pre-extract** | small |\n\n**Question:** Do you want the summary to be based on:\n- **A) Full transcript** (risk token limits, but complete)\n- **B) Extracted highlights** (prompts + actions + final response)\n- **C) Hybrid** - try full first".to_owned();
        let asked = Choice {
            question: String::new(),
            answer: "Extracted highlights (prompts + actions + final response)".to_owned(),
            ..asked
        };
        let draft = Draft::new(&session.episode, &session.evidence);
        assert_eq!(
            above_options(&draft, &asked).as_deref(),
            Some("Do you want the summary to be based on")
        );
    }

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
