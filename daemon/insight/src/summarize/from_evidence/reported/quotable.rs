//! Decides which sentences and headings of a report can be quoted.

use crate::{
    report::{Topic, announces_contents, is_phrase, topic_of_heading, topic_of_sentence},
    summarize::from_evidence::{
        entries::{depends_on_context, is_generic, is_unfinished_work},
        request::wording::begins_as_order,
    },
    text::{pattern, sentences},
};

/// Minimum number of letters in a statement.
const LETTERS: usize = 14;
/// Maximum number of words of an introduction that announces what is left to do.
const INTRODUCTION_WORDS: usize = 4;

/// Whether a sentence cannot be understood without the one before it.
pub(crate) fn depends_on_previous(sentence: &str) -> bool {
    depends_on_context(sentence)
        || pattern!(r"(?i)^(?:\w+ ){1,4}(?:have|had|do|did|does|need|get|got|know) (?:that|this)(?:[.,;:]| (?:because|since|so|already|today|now|by|from|in)\b)").is_match(sentence)
        // The sentence before says what was restored.
        || pattern!(r"(?i)^(?:reverted|restored|switched|changed|moved|set|put) (?:it |them )?(?:back )?to\b").is_match(sentence)
        || pattern!(r"(?i)^(?:\w+ed|wrote|put|made|set|built|sent) (?:it|them|this|these|those)\b").is_match(sentence)
        || pattern!(r#"(?i)^(?:(?:feels|matches|seems|sounds|stuck on) |(?:from|to): ["“])"#).is_match(sentence)
        || pattern!(r"(?i)^(?:\.\.\.|the (?:section|comment|thread|entry|row|line|step|second|third|others?|remaining|rest|two|three|same)\b)").is_match(sentence)
        || pattern!(r"(?i)^(?:not|already|still|worth|just|only|same|likewise|right now|until then|because|which|so|after (?:this|that)|with (?:no|this|that)|without (?:it|this|that)|similar(?:ly)?|again|even|no need|at (?:this|that) point|as a result|therefore|meanwhile|otherwise|(?:everything|anything|all) else)\b")
            .is_match(sentence)
}

/// Whether a sentence says what was done. A label before the sentence is ignored.
pub(crate) fn states_result(sentence: &str) -> bool {
    // The colon of a setting in code ends no label.
    let mut colons = sentence.match_indices(": ");
    let label = colons.find(|(at, _)| is_balanced(&sentence[..*at]));
    let deed = label.map_or(sentence, |(at, colon)| &sentence[at + colon.len()..]);
    topic_of_sentence(deed) == Some(Topic::Done)
}

/// Whether a heading or an introduction announces a plan, a guess or instructions rather than
/// facts.
pub(crate) fn announces_no_fact(text: &str) -> bool {
    let text = sentences(text).last().copied().unwrap_or_default();
    // `I checked whether a key could get into the log` states what was done.
    let asked =
        pattern!(r"(?i)^(?:i|we) \w+ed\b.* (whether|if|that nothing|that no) ").captures(text);
    let text = asked.and_then(|asked| asked.get(1)).map_or(text, |asked| &text[..asked.start()]);
    is_phrase(Topic::Proposal, text)
        || is_phrase(Topic::Guess, text)
        || announces_contents(text)
        || pattern!(r"(?i)^if\b|\(if\b|\b(?:would|could|might)\b|\balternatives?\b|\bshould(?: (?:then|now))?$|\b(?:downsides?|drawbacks?|trade-?offs?)\b").is_match(text)
        || pattern!(r"(?i), (?:it|this|that|they|you|we|i)$").is_match(text)
        || pattern!(r"(?i)\b(?:things?|points?|questions?|options?) to (?:decide|discuss|clarify|settle|consider)\b|^(?:do|does|did) (?:[a-mo-z]|n[a-np-z])").is_match(text)
        || matches!(topic_of_heading(text), Some(Topic::Proposal | Topic::Instruction))
        || announces_open_work(text)
}

/// Whether an introduction such as `Before you deploy` announces what is left to do. A sentence such
/// as `Blocked requests are logged` begins like such an introduction, but states a fact.
fn announces_open_work(text: &str) -> bool {
    topic_of_heading(text) == Some(Topic::Open)
        && text.split_whitespace().count() <= INTRODUCTION_WORDS
        && !pattern!(r"(?i)\b(?:are|was|were|has|have|now|no longer)\b").is_match(text)
}

/// Whether the items below a heading such as `Tech Choices` are options for the user.
pub(crate) fn offers_choices(heading: &str) -> bool {
    pattern!(r"(?i)^\W*(?:(?:tech(?:nology|nical)?|stack|design|tooling|possible|your|the) )*choices$|\bto (?:choose|pick) from$")
        .is_match(heading.trim_end_matches(':'))
}

/// Whether a heading is specific enough to introduce the items below it.
pub(crate) fn is_specific_heading(heading: &str) -> bool {
    let heading = sentences(heading).last().copied().unwrap_or_default();
    let heading = without_pointer(heading);
    let plain = heading.trim_matches(|c: char| !c.is_alphanumeric());
    // `All findings fixed` says more than `Done`.
    let is_telling = match topic_of_heading(heading) {
        None => true,
        Some(Topic::Done | Topic::Fix) => plain.split_whitespace().count() >= 3,
        Some(topic) => topic == Topic::Cause,
    };
    // `Problem` and `Before` show that the items below them no longer hold.
    announces_obsolete_state(plain)
        || !is_generic(plain) && !is_phrase(Topic::Talk, heading) && is_telling
}

/// Whether a heading says that the text below it describes a problem, a risk or an earlier state.
pub(crate) fn announces_obsolete_state(heading: &str) -> bool {
    pattern!(r"(?i)^(?:the )?(?:original |old |real |actual )?(?:problems?|issues?|bugs?|symptoms?|before|previous(?:ly)?|old (?:behaviou?r|way|approach)|current(?:ly| behaviou?r| state)?|expected(?: behaviou?r)?|what (?:went|was) wrong|without\b.*|risks?|cons)$")
        .is_match(heading)
}

/// Whether a sentence can be quoted as part of an item.
pub(crate) fn is_part(sentence: &str) -> bool {
    !sentence.ends_with('?')
        && !is_phrase(Topic::Proposal, sentence)
        && !is_phrase(Topic::PublishOffer, sentence)
        && !is_phrase(Topic::LeftToUser, sentence)
        && !points_elsewhere(sentence)
        && !names_numbers(sentence)
        // The sentence only points at a file or an address.
        && !pattern!(r"^See `?[\w./:-]+`?\.?$").is_match(sentence)
        && !is_usage(sentence)
        // `git push` prints this address to offer a new pull request.
        && !sentence.contains("/pull/new/")
        && !is_row_of_numbers(sentence)
        // The evidence replaces the middle of a long text with this mark.
        && !sentence.contains(" … ")
}

/// Whether a sentence refers to the numbers of a list, which are not quoted.
pub(crate) fn names_numbers(sentence: &str) -> bool {
    pattern!(r"(?i)(?:^|[ (])#\d{1,2}(?:,| and| or|&) ?#\d{1,2}\b|\b(?:same|identical|as|like)\b[\w ]* #\d{1,2}\b|^\([a-e1-9]\) (?:is|are|was|makes?|has|does|can|would|needs?)\b")
        .is_match(sentence)
}

/// Whether a line explains a key or a slash command, for example `` `q` to exit ``.
fn is_usage(line: &str) -> bool {
    pattern!(r"(?i)^`(?:/[\w:-]+[^`]*|[a-z?])`(?: to | for |: | [—–-] |$)").is_match(line)
}

/// Whether a line is a row of a table whose columns were lost: mostly numbers.
pub(crate) fn is_row_of_numbers(line: &str) -> bool {
    let all = line.split_whitespace();
    let numbers = all.clone().filter(|word| {
        *word == "~" || pattern!(r"^[(+±-]*[pn=]*\d[\d.,]*[%\w/]{0,4}\)?[,;]?$").is_match(word)
    });
    let compares = line.contains(['%', '~', '±']);
    let (all, numbers) = (all.count(), numbers.count());
    compares && numbers >= 4 && numbers * 2 > all
}

/// Whether a sentence refers to another part of its text.
fn points_elsewhere(sentence: &str) -> bool {
    pattern!(r"(?i)\b(?:see|as|shown|listed|described|mentioned|noted|discussed|stated) (?:above|below|earlier|previously)\b|\b(?:above|below|the following|as follows)[.:]?$")
        .is_match(sentence)
}

/// Whether a sentence of a paragraph is an instruction for the next step.
fn is_next_step(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:clean up|remove|delete|run|create|check|verify|make|write|install|restart|stop|start|kill|unmount|wait for|try) (?:the|an?|all|any|it|this|that|these|those|them|my|our|your)\b")
        .is_match(sentence)
}

/// Whether a text is the banner of a command, for example `APP ► PLANNING`.
pub(crate) fn is_banner(text: &str) -> bool {
    text.contains(['\u{25ba}', '\u{25b6}', '\u{25c6}', '\u{25c7}'])
}

/// Whether a sentence of a paragraph states something about the work.
pub(crate) fn is_statement(sentence: &str) -> bool {
    let letters = sentence.chars().filter(|c| c.is_alphabetic()).count();
    letters >= LETTERS
        && !is_banner(sentence)
        && !is_next_step(sentence)
        && is_part(sentence)
        && !is_phrase(Topic::Talk, sentence)
        && !is_phrase(Topic::Hope, sentence)
        && (!is_phrase(Topic::Instruction, sentence) || names_by_code(sentence))
        && !is_unfinished_work(sentence)
        && is_balanced(sentence)
}

/// Whether a sentence ends with a value in code, for example ``The only mode is `a` ``.
fn names_by_code(sentence: &str) -> bool {
    pattern!(r"\b(?:is|are):? `[^`]+`\.?$").is_match(sentence)
}

/// Whether an introduction tells the user what to do. The items below it are steps for the user.
pub(crate) fn addresses_user(introduction: &str) -> bool {
    is_phrase(Topic::Instruction, introduction)
        || pattern!(r"(?i)^(?:please |now |then |to (?:test|try|verify|check|use|run)\b)|\b(?:your|you(?:'ll| can| should| need)?)\b.*\b(?:and|then|to)$").is_match(introduction)
}

/// Whether an introduction is an order, for example `Check the other folders`.
pub(crate) fn orders_user_to_act(introduction: &str) -> bool {
    begins_as_order(introduction)
        && pattern!(r"^\w+(?: up)? (?:the|an?|all|any|each|every|your|our|if|whether|`)\b")
            .is_match(introduction)
}

/// Whether two or more addresses take up more than half of a line. Addresses in code do not count,
/// because they are values.
pub(crate) fn is_list_of_addresses(line: &str) -> bool {
    let address = pattern!(r"https?://\S+");
    let all = line.split('`').step_by(2).flat_map(|part| address.find_iter(part));
    let all: Vec<usize> = all.map(|found| found.len()).collect();
    all.len() > 1 && all.iter().sum::<usize>() * 2 > line.len()
}

/// Whether brackets and quotes are balanced. If they are not, the text was cut.
pub(crate) fn is_balanced(text: &str) -> bool {
    let count = |mark: char| text.matches(mark).count();
    count('`').is_multiple_of(2) && count('(') == count(')') && count('"').is_multiple_of(2)
}

/// Returns an introduction without `Here's`, if the rest says what the items are, for example
/// ``Here's where `log` is called``.
pub(crate) fn without_pointer(text: &str) -> &str {
    let pointer = pattern!(r"(?i)^here(?:['’]s| is| are) ");
    let rest = pointer.find(text).map(|found| &text[found.end()..]);
    rest.filter(|rest| {
        rest.contains('`') && pattern!(r"(?i)^(?:where|how|why|what|when|which)\b").is_match(rest)
    })
    .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colon_in_code_ends_no_label() {
        assert!(states_result("Updated `list.json` to remove the old `read: false` of the list"));
        assert!(states_result("`list.json`: Removed the old `read: false`"));
        assert!(states_result("Setting `a: 1` in the reader: Removed the cache"));
        assert!(!states_result("The old `read: false` of the list is removed by the reader"));
        assert!(!states_result("Updated rows: the reader is slow"));
    }

    #[test]
    fn addresses_in_code_are_values() {
        assert!(is_list_of_addresses("https://x.org/a/b; https://x.org/a/c"));
        assert!(!is_list_of_addresses(
            "Origins: `https://x.org/orders`: A; `https://y.org/orders`: B"
        ));
    }

    #[test]
    fn what_was_checked_is_a_fact() {
        assert!(!announces_no_fact(
            "I traced each path with attention to whether a key could leak"
        ));
        assert!(announces_no_fact("The reader could also be one of these"));
    }

    #[test]
    fn an_order_above_a_list_is_an_instruction() {
        assert!(orders_user_to_act("Check the other folders"));
        assert!(
            !orders_user_to_act("Check of the folders") && !orders_user_to_act("Review findings")
        );
    }

    #[test]
    fn a_list_of_questions_is_no_fact() {
        for question in ["Two things to decide", "Do these tools exist already as"] {
            assert!(announces_no_fact(question), "{question}");
        }
        assert!(
            !announces_no_fact("Does not need a lock") && !announces_no_fact("Done in the list")
        );
    }

    #[test]
    fn an_introduction_of_open_work_announces_no_fact() {
        for introduction in ["Before you deploy", "What's left", "Not done", "Further ideas"] {
            assert!(announces_no_fact(introduction), "{introduction}");
        }
        for introduction in [
            "Blocked requests are logged",
            "Remaining readers now close the file",
            "Pending rows were moved to the new table",
            "Further changes",
            "Future dates are refused",
        ] {
            assert!(!announces_no_fact(introduction), "{introduction}");
        }
    }

    #[test]
    fn a_sentence_that_needs_its_context_is_no_statement() {
        for sentence in
            ["Clean up the test files and unmount.", "Same change as #2 for directories."]
        {
            assert!(!is_statement(sentence), "{sentence}");
        }
        assert!(is_statement("Build passes without new warnings."));
        assert!(is_statement("The crash is the same as in acme/app#212."));
        assert!(depends_on_previous("Reverted back to `debug`."));
        assert!(!depends_on_previous("Reverted the log level to `debug`."));
    }
}
