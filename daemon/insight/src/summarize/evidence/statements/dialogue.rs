//! Interprets a short prompt after a reply of the agent: `b` after a list of options, `yes` after a
//! recommendation.

use crate::{
    report::{Topic, is_phrase},
    text::{Block, blocks, capitalised, cut, one_line, pattern, sentences},
};

/// A choice in the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::summarize::evidence) struct Chosen {
    /// The question, if the agent asked one.
    pub(in crate::summarize::evidence) question: String,
    /// The chosen option.
    pub(in crate::summarize::evidence) answer: String,
    pub(in crate::summarize::evidence) alternatives: Vec<String>,
}

/// The question that is recorded for an accepted recommendation.
pub(in crate::summarize) const RECOMMENDED: &str = "Recommended by the agent";

/// Maximum length, in bytes, of a prompt that may pick an option or agree. A longer prompt is a new
/// task.
const ANSWER: usize = 2_000;
/// Maximum length, in characters, of a recommendation.
const RECOMMENDATION: usize = 390;
/// Maximum number of proposals that are kept of a reply that the user approves.
const APPROVED: usize = 4;

/// Returns the choices that `prompt` makes: it accepts a recommendation or proposals in `reply`, or
/// picks options in `reply` or in one of the `earlier` reports. The newest report is the first.
pub(in crate::summarize::evidence) fn chosen(
    reply: &str,
    earlier: &[&str],
    prompt: &str,
) -> Vec<Chosen> {
    if prompt.len() > ANSWER {
        return Vec::new();
    }
    let prompt = one_line(prompt).to_lowercase();
    let marks = marks(&prompt);
    if let Some(accepted) = accepted(reply, &prompt).filter(|one| mentions_all(&one.answer, &marks))
    {
        return vec![accepted];
    }
    // A letter answers the last question that offered letters. A number may answer an earlier one.
    let is_letter = marks.first().is_some_and(|mark| !is_number(mark));
    let offers = [reply].into_iter().chain(earlier.iter().copied());
    let mut offers = offers.filter(|offer| !options_like(offer, &marks).is_empty());
    let found = match is_letter {
        true => offers.next().and_then(|offer| picked(offer, &marks)),
        false => offers.find_map(|offer| picked(offer, &marks)),
    };
    if let Some(picked) = found {
        return vec![picked];
    }
    if marks.is_empty() && agrees(&prompt) { approved(reply) } else { Vec::new() }
}

/// Whether a recommendation mentions all options that the user picked, for example as `(a)`.
fn mentions_all(recommended: &str, marks: &[String]) -> bool {
    let recommended = recommended.to_lowercase();
    marks.iter().all(|mark| {
        recommended.contains(&format!("({mark})"))
            || recommended.contains(&format!("option {mark}"))
    })
}

/// Whether `prompt` asks for information, not for a change.
pub(in crate::summarize::evidence) fn asks_about(prompt: &str) -> bool {
    let prompt = one_line(prompt);
    pattern!(
        r"(?i)^(?:(?:ok|okay|so|and|hey|hi|please|can you|could you|i want you to|i'd like you to)[, ]+)*(?:what|how|why|where|when|which|who|is|are|does|do|did|has|have|explain|check|investigate|research|find out|look (?:at|into|up)|tell me|show me|describe|summari[sz]e|list|analy[sz]e|explore|review|examine|compare|read|verify|search|inspect|understand|identify|give me an overview)\b"
    )
    .is_match(&prompt)
        || (prompt.ends_with('?') && prompt.len() < 400)
}

fn is_number(mark: &str) -> bool {
    mark.bytes().all(|byte| byte.is_ascii_digit())
}

/// If the marks are numbers, returns the options in `offer` that have numbers, otherwise the
/// options that have letters. Returns no options if there are no marks.
fn options_like(offer: &str, marks: &[String]) -> Vec<(String, String)> {
    let Some(first) = marks.first() else { return Vec::new() };
    options(offer).into_iter().filter(|(mark, _)| is_number(mark) == is_number(first)).collect()
}

/// Returns an option without its explanation: `Daily` for `Daily — one file for each date`.
pub(in crate::summarize::evidence) fn option_label(option: &str) -> &str {
    let parts = option.split_once(" — ").or_else(|| option.split_once(" - "));
    parts.map_or(option, |(label, _)| label).trim()
}

fn picked(offer: &str, marks: &[String]) -> Option<Chosen> {
    let (taken, others): (Vec<_>, Vec<_>) =
        options_like(offer, marks).into_iter().partition(|(mark, _)| marks.contains(mark));
    if taken.is_empty() {
        return None;
    }
    // Several options are joined by their labels, because an explanation applies to one option
    // only.
    let is_single = taken.len() == 1;
    let taken = taken.iter().map(|(_, text)| if is_single { text } else { option_label(text) });
    let answer = taken.collect::<Vec<_>>().join("; ");
    let question = last_question(offer).unwrap_or_default();
    // `Implement these changes?` is not clear without the sentence above the options.
    let is_vague = pattern!(r"(?i)\b(?:this|that|these|those|them|it)\b").is_match(&question);
    let question = introduction(offer).filter(|_| is_vague).unwrap_or(question);
    let alternatives = others.into_iter().map(|(_, text)| text).collect();
    Some(Chosen { question, answer, alternatives })
}

/// Returns the letters or numbers that a prompt picks. These marks are nearly the whole prompt,
/// follow a verb such as `implement`, or have a bracket, a full stop, `option` or `#` next to them.
fn marks(prompt: &str) -> Vec<String> {
    let alone = pattern!(
        r"^(?:(?:ok|okay|yes|sure|great|please|can you|could you|just|let'?s|lets|implement|fix|do|take|use|go|with|for|i|i'd|prefer|choose|pick|option|options|number)[, ]+)*((?:option |#)?\(?[a-e1-9]\)?(?:(?: ?, ?| ?& ?| ?- ?| and |, and | to )(?:option |#)?\(?[a-e1-9]\)?)*)[.!)]?(?: (?:please|it is|sounds good|is good|is fine|then|for now|for sure|looks good))*[.!]?$"
    );
    let numbers = pattern!(
        r"^(?:(?:ok|okay|yes|sure|great|please)[, ]+)*(?:let'?s |lets )?(?:go (?:with|for)|implement|do|fix|take|address) (#?[1-9](?:(?: ?, ?| ?& ?| ?- ?| and |, and | to )#?[1-9])*)(?:[,.;]| and | but | please|$)"
    );
    let marked = pattern!(
        r"^(?:i think |i'd say |i'd go (?:with|for) |i (?:like|prefer|choose|vote for) |let's (?:go with|do) |go with |do |use )?(?:((?:option |#)[a-e1-9](?: and (?:option |#)?[a-e1-9])?)(?:[\s,.!)]|$)|([a-e1-9])\)(?:[\s,.!]|$)|([a-e])\. )"
    );
    // A reason may come before the number, as in `the team wants no partitions, so 2`.
    let concluded = pattern!(
        r"(?:^|, )(?:so|also|donc|entonces|所以|则) (?:we (?:do|take) |wir nehmen |option |number |nummer )?([1-9a-e])(?:[.,;!]|$)"
    );
    let marked = Some(marked).filter(|_| !is_own_list(prompt));
    let found = [Some(alone), Some(numbers), marked, Some(concluded)]
        .into_iter()
        .flatten()
        .find_map(|pattern| pattern.captures(prompt));
    let listed = found.and_then(|found| found.iter().skip(1).flatten().next());
    listed.map_or(Vec::new(), |listed| marks_in_list(listed.as_str()))
}

/// Whether a prompt is a list of the user: the first mark begins the prompt, and the next mark
/// follows the text of the first item, as in `1) rename it 2) test it`. In `a) because b) is slow`,
/// the second mark is a part of the reason.
fn is_own_list(prompt: &str) -> bool {
    let words: Vec<&str> = prompt.split(' ').collect();
    let first = pattern!(r"^([1-9a-e])([).])$").captures(words[0]);
    let Some((mark, closer)) = first.as_ref().map(|found| (found[1].as_bytes()[0], &found[2]))
    else {
        return false;
    };
    let next = format!("{}{closer}", char::from(mark + 1));
    let refers =
        pattern!(r"^(?:because|since|as|than|over|not|if|but|while|though|when|unless|or)$");
    words.iter().position(|word| *word == next).is_some_and(|at| {
        words[1..at].iter().any(|word| *word != "and") && !refers.is_match(words[at - 1])
    })
}

/// Returns the marks of a list such as `1, 2 and 4` or `1-3`.
fn marks_in_list(listed: &str) -> Vec<String> {
    let listed = listed.replace("option", "");
    let mut marks: Vec<char> = Vec::new();
    let mut is_range = false;
    for word in listed.replace('-', " to ").replace([',', '&', '#', '(', ')'], " ").split(' ') {
        match (word, word.chars().next(), marks.last().copied()) {
            ("to", ..) => is_range = true,
            ("and" | "", ..) => {}
            (_, Some(mark), Some(from)) if is_range => {
                marks.extend((from..=mark).skip(1));
                is_range = false;
            }
            (_, mark, _) => marks.extend(mark),
        }
    }
    marks.into_iter().map(String::from).collect()
}

/// Whether a prompt agrees, without a limit or a replacement, and orders no other work.
fn agrees(prompt: &str) -> bool {
    let agreement = pattern!(
        r"^(yes|yep|yeah|yup|ok|okay|sure|do it|do that|go ahead|go for it|sounds good|agreed|agree|lgtm|please do|proceed|perfect|great|makes sense|good idea|i like (?:it|that)|love it|let's do (?:it|that)|go with (?:that|your recommendation))\b([^?]{0,40})$"
    );
    let limits = pattern!(
        r"\b(?:but|no|not|nope|don.?t|\w+n['’]t|instead|except|rather|without|stop|wait|however|leave|skip|later)\b"
    );
    let Some(found) = agreement.captures(prompt).filter(|_| prompt.len() <= 60) else {
        return false;
    };
    // These words may also only praise the last work, before an order of other work.
    let may_praise = matches!(&found[1], "ok" | "okay" | "perfect" | "great");
    let orders = || found[2].split(['.', ',', '!']).any(is_new_order);
    let consents = pattern!(
        r"\b(?:why not|no (?:problem|objections?|worries|need to ask))(?: with (?:that|it|this))?(?:[.,!]|$)"
    );
    let rest = consents.replace_all(&found[2], "");
    !limits.is_match(&rest) && (!may_praise || !orders())
}

/// Whether a part of a short prompt is an order that does not point to the agent's proposal, as
/// `implement it` does. A commit of "it" is new work.
fn is_new_order(part: &str) -> bool {
    let opener = pattern!(r"^(?: |(?:now|next|then|please|and|also)\b)+");
    let order = opener.replace(part, "");
    let points = pattern!(
        r"^\w+(?: up)?(?: (?:it|that|this|them|these|those|both|all)\b| (?:the|this|that|your) (?:changes?|fix|plan|proposal|recommendation|suggestion)\b|(?: please)?$)"
    );
    let publishes = pattern!(r"^(?:commit|push|merge|rebase|release)\b");
    is_phrase(Topic::OrderVerb, &order) && (publishes.is_match(&order) || !points.is_match(&order))
}

fn accepted(reply: &str, prompt: &str) -> Option<Chosen> {
    if !agrees(prompt) {
        return None;
    }
    let prose = blocks(reply).into_iter().filter_map(|block| match block {
        Block::Item(text) | Block::Paragraph(text) => Some(one_line(&text)),
        Block::Heading(_) => None,
    });
    let recommended = pattern!(
        r"(?i)(?:^|\b)(?:my (?:recommendation|vote|lean|suggestion|preference|verdict)(?: is:?|:| would be:?)|i(?:'d| would)? (?:recommend|suggest|propose|lean towards?|go with)|(?:^|: )(?:recommend(?:ed|ation)(?: approach| option)?|verdict):) *(.+)$"
    );
    let mut found = None;
    for line in prose {
        let all = sentences(&line);
        for (at, sentence) in all.iter().enumerate().filter(|(_, one)| !one.ends_with('?')) {
            if let Some(words) = recommended.captures(sentence).and_then(|words| words.get(1)) {
                let mut answer = capitalised(words.as_str());
                // After a label, the rest of the paragraph is the recommendation. A short answer
                // such as `Not yet.` needs the rest too.
                if sentence[..words.start()].ends_with(": ") || answer.len() < 12 {
                    let rest = all[at + 1..].iter().take_while(|one| !one.ends_with('?'));
                    rest.for_each(|one| answer.extend([" ", *one]));
                }
                let answer = cut(&answer, RECOMMENDATION);
                found = Some(answer.trim_end_matches(['.', ':']).to_owned());
            }
        }
    }
    let answer = found.filter(|answer| answer.len() >= 12)?;
    Some(Chosen { question: RECOMMENDED.to_owned(), answer, alternatives: Vec::new() })
}

/// Returns the proposals with bold labels in a reply that asks the user to approve the proposals.
fn approved(reply: &str) -> Vec<Chosen> {
    let asks = last_question(reply).is_some_and(|question| {
        pattern!(
            r"(?i)\b(?:does|do|would|will) (?:this|that|the|these)\b.{0,40}\b(?:work|sound|look|make sense|seem|fit)|\b(?:sounds?|looks?) (?:good|right|ok|okay|reasonable|about right)\b|\bhappy with (?:this|that|the)\b|\b(?:shall|should) i (?:proceed|go ahead|continue) with (?:this|that|the)\b"
        )
        .is_match(&question)
    });
    let labelled = pattern!(r"^\*\*([^*]{3,60}?):?\*\*:? +(?:[—–-] +)?(.{12,})$");
    let is_talk = |label: &str| {
        pattern!(r"(?i)^(?:pros?|cons?|notes?|next|files?|questions?|example|option|current|why|what|how|status|context|problem|i|we|you|i.m|i.ve)\b|[.!?]$").is_match(label)
            || label.split(' ').count() > 6
    };
    let lines = reply.lines().filter(|_| asks).filter_map(|line| labelled.captures(line));
    let proposed = lines.filter(|found| !is_talk(&found[1])).map(|found| Chosen {
        question: RECOMMENDED.to_owned(),
        answer: format!("{} — {}", &found[1], one_line(&found[2])),
        alternatives: Vec::new(),
    });
    proposed.take(APPROVED).collect()
}

/// Returns the last list of options in a reply, each with its letter or number in lower case.
fn options(reply: &str) -> Vec<(String, String)> {
    let line_of = pattern!(
        r"^\s*(?:[-*•] +|#{1,6} +)?(?:\*\*)?(?:[Oo]ption +)?\(?([A-Ea-e1-9])[).:](?:\*\*)?:? +(.+)$"
    );
    let named = pattern!(
        r"^\s*(?:[-*•] +|#{1,6} +)?(?:\*\*)?Option ([A-E1-9]) [–—-] (.+)$|^\s*\| *(?:\*\*)?([A-E])(?:\*\*)? *\| *(.+?) *\|"
    );
    let mut found: Vec<(String, String)> = Vec::new();
    for line in reply.lines() {
        let Some(option) = line_of.captures(line).or_else(|| named.captures(line)) else {
            continue;
        };
        let mut parts = option.iter().skip(1).flatten().map(|part| part.as_str());
        let (mark, text) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let label = text.split(" - ").next().unwrap_or_default();
        // A numbered question is not an option.
        if label.contains('?') {
            continue;
        }
        let mark = mark.to_lowercase();
        // A repeated mark begins another list.
        if found.iter().any(|(known, _)| *known == mark) {
            found.clear();
        }
        let text = one_line(text);
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

/// Returns the line directly above the first option of a reply, if the line contains code, ends
/// with a colon, and has at most 160 bytes without the colon.
fn introduction(reply: &str) -> Option<String> {
    let option = pattern!(r"^\s*(?:\*\*)?(?:Option +)?\(?[1A][).:]");
    let mut lines = reply.lines().filter(|line| !line.trim().is_empty());
    let mut above = None;
    let found = lines.find(|line| {
        let is_option = option.is_match(line);
        if !is_option {
            above = Some(*line);
        }
        is_option
    });
    let line = one_line(above.filter(|_| found.is_some())?);
    let text = line.strip_suffix(':').filter(|text| text.contains('`') && text.len() <= 160)?;
    let pointer = pattern!(r"(?i)^here(?:['’]s| is| are) ");
    Some(capitalised(&pointer.replace(text, "")))
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
        let found = chosen(reply, &[], "b").remove(0);
        assert_eq!(found.question, "How should the log be split?");
        assert_eq!(found.answer, "Daily — one file for each date");
        assert_eq!(found.alternatives, ["By size — a file for each megabyte", "Not at all"]);
        assert_eq!(chosen(reply, &[], "A and C")[0].answer, "By size; Not at all");
        for prompt in [
            "I think B) is fine, let's start there",
            "option b, but smaller",
            "b. also keep it short",
        ] {
            assert_eq!(
                chosen(reply, &[], prompt)[0].answer,
                "Daily — one file for each date",
                "{prompt}"
            );
        }
        assert_eq!(chosen(reply, &[], "a few more things to do"), []);
        assert_eq!(chosen(reply, &[], "1"), []);
    }

    #[test]
    fn options_may_be_headings_or_rows() {
        for reply in [
            "Which?\n\n### Option A — Fail loud\nText.\n\n### Option B — Ignore it\nText.",
            "Which?\n\n### A. Fail loud\nText.\n\n### B. Ignore it\nText.",
            "Which?\n\n| | What |\n|---|---|\n| A | Fail loud |\n| **B** | Ignore it |",
        ] {
            let found = chosen(reply, &[], "A").remove(0);
            assert_eq!(found.answer, "Fail loud", "{reply}");
            assert_eq!(found.alternatives, ["Ignore it"], "{reply}");
        }
    }

    #[test]
    fn yes_accepts_a_recommendation() {
        let reply = "Both work. I'd recommend a single file because it is easier to lock. Want me to start?";
        let found = chosen(reply, &[], "Yes, please").remove(0);
        assert_eq!(found.answer, "A single file because it is easier to lock");
        assert_eq!(chosen("Done. Want me to commit?", &[], "yes"), []);
        assert_eq!(chosen(reply, &[], "yes but what about windows?"), []);
    }

    #[test]
    fn a_limit_or_an_order_after_the_first_word_is_no_agreement() {
        let reply = "Both work. I'd recommend Redis because it is shared between the workers. Want me to start?";
        for prompt in [
            "ok but use sqlite instead",
            "yes, but keep the old name",
            "sure, except for the cache",
            "ok no, leave it as it is",
            "ok, not now",
            "yes, that isn't needed",
            "perfect. now run the tests",
            "great, thanks. commit it",
            "great. now rename the page to carts",
            "ok, use sqlite",
            "sure, why not sqlite",
            "yes, no problem, but keep the old name",
            "ok, no need to change the cache",
        ] {
            assert_eq!(chosen(reply, &[], prompt), [], "{prompt}");
        }
        for prompt in [
            "yes, please",
            "ok go ahead",
            "great, do it",
            "great, thanks",
            "ok, please implement it",
            "perfect. then make the change",
            "ok, implement",
            "yes, add the cache",
            "sure, start with the note of the worker",
            "sure, why not",
            "ok why not",
            "yes, no problem",
            "go for it, no objections",
            "yes, no need to ask",
        ] {
            assert_eq!(chosen(reply, &[], prompt).len(), 1, "{prompt}");
        }
    }

    #[test]
    fn a_numbered_list_of_the_user_picks_no_option() {
        let numbered = "Done. I made these changes:\n\n1. Added the parser of rows\n2. Sorted the rows by day\n\nAnything else?";
        let lettered = "Which?\n\na) Fail loud\nb) Ignore it";
        for (reply, prompt) in [
            (numbered, "1) rename the page to carts 2) add a test for the parser"),
            (numbered, "1) carts\n2) 8080"),
            (lettered, "a) rename it b) add a test"),
            (lettered, "a. rename it and b. add a test"),
        ] {
            assert_eq!(chosen(reply, &[], prompt), [], "{prompt}");
        }
        for (reply, prompt) in [
            (numbered, "1) but only for the page"),
            (numbered, "1) and 2)"),
            (lettered, "a) because b) is slow"),
            (lettered, "a) over b) for now"),
            (lettered, "b) and a) later"),
            (lettered, "a. also keep it short"),
        ] {
            assert_eq!(chosen(reply, &[], prompt).len(), 1, "{prompt}");
        }
    }

    #[test]
    fn several_marks_and_ranges_are_picked_from_an_earlier_report_too() {
        let offer = "Here is where:\n\n**1. `a.go:153`** - Best place\n\n**2. `b.go`** - Handlers\n\n**3. `c.go:31`** - Git hooks\n\n**4. `d/`** - Optional\n\nWould you like me to?";
        for prompt in ["Implement 1,2 and 3.", "Lets go for 1-3, with benchmarks to confirm it."] {
            let found = chosen(offer, &[], prompt).remove(0);
            assert_eq!(found.answer, "`a.go:153`; `b.go`; `c.go:31`");
            assert_eq!(found.alternatives, ["`d/` - Optional"]);
        }
        assert_eq!(chosen("That works.", &["No.", offer], "#4")[0].answer, "`d/` - Optional");
        assert_eq!(chosen(offer, &[], "fix 3 tests first"), []);
        let letters =
            "**A) Start with the run** - \"Can it finish?\"\n**B) Start with the oracle** - later";
        assert_eq!(
            chosen("So be it.", &[letters], "A ")[0].answer,
            "Start with the run - \"Can it finish?\""
        );
        // A letter answers the last question that offered letters.
        let later = "Which size?\n\nA) Small\nB) Large";
        assert_eq!(chosen(later, &["How?\n\nA) Now\nC) Never"], "C"), []);
    }

    #[test]
    fn a_recommendation_under_a_label_is_accepted_completely() {
        let reply = "**My recommendation:** Not yet. The gain is low with three skills. For now, it should just handle **(a)** — registering the path.\n\nDoes that reasoning track?";
        let found = chosen(reply, &[], "okay can you just do a then").remove(0);
        assert_eq!(
            found.answer,
            "Not yet. The gain is low with three skills. For now, it should just handle (a) — registering the path"
        );
    }

    #[test]
    fn yes_to_an_approach_accepts_its_points() {
        let reply = "## The picture\n\n**Framework**: LangGraph v1.0 TypeScript\n- Model-agnostic\n\n**The one compromise**: Using Playwright under the hood.\n\nDoes this approach work for you?";
        let found: Vec<String> =
            chosen(reply, &[], "ok").into_iter().map(|one| one.answer).collect();
        assert_eq!(
            found,
            [
                "Framework — LangGraph v1.0 TypeScript",
                "The one compromise — Using Playwright under the hood."
            ]
        );
        assert_eq!(chosen(reply, &[], "no"), []);
    }

    #[test]
    fn questions_are_distinguished_from_orders() {
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
