//! What a short word of the user means after what the agent said: `b` after a list of options,
//! `yes` after a recommendation.

use crate::summarize::text::{Block, blocks, capitalised, one_line, pattern, sentences};

/// A choice made in conversation.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::summarize::evidence) struct Chosen {
    /// What was asked, as far as the agent asked.
    pub(in crate::summarize::evidence) question: String,
    /// What was chosen.
    pub(in crate::summarize::evidence) answer: String,
    /// What else was offered.
    pub(in crate::summarize::evidence) alternatives: Vec<String>,
}

/// How the words of a recommendation are kept as the question of a choice.
pub(in crate::summarize) const RECOMMENDED: &str = "Recommended by the agent";

/// The choice that `prompt` makes among what `reply` offered; `None` when it makes none.
pub(in crate::summarize::evidence) fn chosen(reply: &str, prompt: &str) -> Option<Chosen> {
    let prompt = prompt.trim().to_lowercase();
    picked(reply, &prompt).or_else(|| accepted(reply, &prompt))
}

/// Whether `prompt` asks about something rather than for a change.
pub(in crate::summarize::evidence) fn asks_about(prompt: &str) -> bool {
    let prompt = one_line(prompt);
    pattern!(
        r"(?i)^(?:(?:ok|okay|so|and|hey|hi|please|can you|could you|i want you to|i'd like you to)[, ]+)*(?:what|how|why|where|when|which|who|is|are|does|do|did|has|have|explain|check|investigate|research|find out|look (?:at|into|up)|tell me|show me|describe|summari[sz]e|list|analy[sz]e|explore|review|examine|compare|read|verify|search|inspect|understand|identify|give me an overview)\b"
    )
    .is_match(&prompt)
        || (prompt.ends_with('?') && prompt.len() < 400)
}

fn picked(reply: &str, prompt: &str) -> Option<Chosen> {
    let marks = marks(prompt);
    let first = marks.first()?;
    let is_number = |mark: &str| mark.bytes().all(|byte| byte.is_ascii_digit());
    let (taken, others): (Vec<_>, Vec<_>) = options(reply)
        .into_iter()
        .filter(|(mark, _)| is_number(mark) == is_number(first))
        .partition(|(mark, _)| marks.contains(&mark.as_str()));
    if taken.is_empty() {
        return None;
    }
    let answer = taken.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("; ");
    let question = last_question(reply).unwrap_or_default();
    let alternatives = others.into_iter().map(|(_, text)| text).collect();
    Some(Chosen { question, answer, alternatives })
}

/// The letters or numbers that a prompt picks: as nearly all that it says, or with a bracket,
/// `option` or `#` that leaves no doubt, whatever follows.
fn marks(prompt: &str) -> Vec<&str> {
    let alone = pattern!(
        r"^(?:(?:option|number|let's (?:do|go with)|go with|i (?:prefer|choose|pick)|lets do) )?\(?([a-e1-9])\)?(?:(?:,| and|,? &) \(?([a-e1-9])\)?)?[.!)]?(?: (?:please|it is|sounds good|is good|is fine|then|for now|for sure|looks good))?[.!]?$"
    );
    let marked = pattern!(
        r"^(?:i think |i'd say |i'd go (?:with|for) |i (?:like|prefer|choose|vote for) |let's (?:go with|do) |go with |do |use )?(?:(?:option |#)([a-e1-9])(?: and (?:option |#)?([a-e1-9]))?(?:[\s,.!)]|$)|([a-e1-9])\)(?:[\s,.!]|$)|([a-e])\. )"
    );
    let found = alone.captures(prompt).or_else(|| marked.captures(prompt));
    found.map_or(Vec::new(), |found| {
        (1..found.len()).filter_map(|group| found.get(group)).map(|mark| mark.as_str()).collect()
    })
}

fn accepted(reply: &str, prompt: &str) -> Option<Chosen> {
    let agrees = prompt.len() <= 60
        && pattern!(
        r"^(?:yes|yep|yeah|yup|ok|okay|sure|do it|do that|go ahead|go for it|sounds good|agreed|agree|lgtm|please do|proceed|perfect|great|makes sense|good idea|i like (?:it|that)|love it|let's do (?:it|that)|go with (?:that|your recommendation))\b[^?]{0,40}$"
    )
    .is_match(prompt);
    if !agrees {
        return None;
    }
    let prose = blocks(reply).into_iter().filter_map(|block| match block {
        Block::Item(text) | Block::Paragraph(text) => Some(one_line(&text)),
        Block::Heading(_) => None,
    });
    let recommended = pattern!(
        r"(?i)(?:^|\b)(?:my (?:recommendation|vote|lean|suggestion|preference)(?: is|:| would be)|i(?:'d| would)? (?:recommend|suggest|propose|lean towards?|go with)|(?:^|: )recommend(?:ed|ation)(?: approach| option)?:) *(.+)$"
    );
    let mut found = None;
    for line in prose {
        for sentence in sentences(&line).into_iter().filter(|sentence| !sentence.ends_with('?')) {
            if let Some(words) = recommended.captures(sentence).and_then(|words| words.get(1)) {
                found = Some(capitalised(words.as_str().trim_end_matches(['.', ':'])));
            }
        }
    }
    let answer = found.filter(|answer| answer.len() >= 12)?;
    Some(Chosen { question: RECOMMENDED.to_owned(), answer, alternatives: Vec::new() })
}

/// The options at the end of a reply, each with its letter or number in lower case.
fn options(reply: &str) -> Vec<(String, String)> {
    let line_of = pattern!(
        r"^\s*(?:[-*•] +)?(?:\*\*)?(?:[Oo]ption +)?\(?([A-Ea-e1-9])[).:](?:\*\*)?:? +(.+)$"
    );
    let mut found: Vec<(String, String)> = Vec::new();
    for line in reply.lines() {
        // A numbered question is no option.
        let Some(option) = line_of.captures(line).filter(|_| !line.contains('?')) else { continue };
        let mark = option[1].to_lowercase();
        // A mark that comes again begins another list.
        if found.iter().any(|(known, _)| *known == mark) {
            found.clear();
        }
        let text = one_line(&option[2]);
        let text = sentences(&text)
            .first()
            .copied()
            .unwrap_or_default()
            .trim_end_matches(['.', ':'])
            .to_owned();
        if text.len() >= 3 {
            found.push((mark, text));
        }
    }
    found
}

fn last_question(reply: &str) -> Option<String> {
    let found = blocks(reply).into_iter().rev().find_map(|block| match block {
        Block::Item(text) | Block::Paragraph(text) | Block::Heading(text) => {
            let line = one_line(&text);
            sentences(&line).into_iter().rev().find(|one| one.ends_with('?')).map(str::to_owned)
        }
    });
    found.filter(|question| question.len() >= 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_picks_an_option() {
        let reply = "How should the log be split?\n\n**A)** By size — a file for each megabyte. More text.\n- **B) Daily** — one file for each date\nC) Not at all";
        let found = chosen(reply, "b").unwrap();
        assert_eq!(found.question, "How should the log be split?");
        assert_eq!(found.answer, "Daily — one file for each date");
        assert_eq!(found.alternatives, ["By size — a file for each megabyte", "Not at all"]);
        assert_eq!(
            chosen(reply, "A and C").unwrap().answer,
            "By size — a file for each megabyte; Not at all"
        );
        for prompt in [
            "I think B) is fine, let's start there",
            "option b, but smaller",
            "b. also keep it short",
        ] {
            assert_eq!(
                chosen(reply, prompt).unwrap().answer,
                "Daily — one file for each date",
                "{prompt}"
            );
        }
        assert_eq!(chosen(reply, "a few more things to do"), None);
        assert_eq!(chosen(reply, "1"), None);
    }

    #[test]
    fn yes_accepts_a_recommendation() {
        let reply = "Both work. I'd recommend a single file because it is easier to lock. Want me to start?";
        let found = chosen(reply, "Yes, please").unwrap();
        assert_eq!(found.answer, "A single file because it is easier to lock");
        assert_eq!(chosen("Done. Want me to commit?", "yes"), None);
        assert_eq!(chosen(reply, "yes but what about windows?"), None);
    }

    #[test]
    fn questions_are_told_from_orders() {
        for (prompt, asks) in [
            ("why does the parser drop lines", true),
            ("Can you check whether this is used?", true),
            ("ok, explain the cache", true),
            ("fix the parser", false),
            ("commit", false),
        ] {
            assert_eq!(asks_about(prompt), asks, "{prompt}");
        }
    }
}
