//! Finds what the user postponed, and a question of the user whose answer the user interrupted.

use crate::{
    model::evidence::Quote,
    report::{Topic, is_phrase},
    summarize::from_evidence::{
        entries::{Entries, cut_at_clause, push},
        next_steps::left_open::{is_asked_for, is_taken_up_by},
        request::{Request, Weight},
    },
    text::{pattern, spoken_sentences, without_full_stop, words},
};

/// Begins the step about a question of the user that a later request interrupted.
pub(crate) const NOT_ANSWERED: &str = "Asked, not answered: ";

/// Maximum length, in bytes, of a prompt that is searched. Longer prompts usually contain pasted
/// text.
const MAX_PROMPT_BYTES: usize = 600;
/// Maximum length, in characters, of a quoted sentence.
const MAX_QUOTE_CHARS: usize = 200;
/// Minimum number of different words of a sentence that names what is postponed.
const MIN_WORDS: usize = 2;

/// Adds the sentences with which the user postponed something, unless a later text is about it.
pub(super) fn by_user(entries: &Entries<'_>, list: &mut Vec<String>) {
    let prompts = entries.evidence.prompts.iter();
    let spoken = prompts.filter(|prompt| prompt.text.len() <= MAX_PROMPT_BYTES);
    for prompt in spoken {
        let all = spoken_sentences(&prompt.text);
        for sentence in all.iter().filter(|sentence| postpones(sentence)) {
            let line = entries.tidy_line(without_full_stop(sentence));
            let is_open = |subject: &str| {
                // A reply without changes only repeats what is postponed, so it does not count.
                let is_taken_up =
                    is_taken_up_by(entries, subject, prompt.origin, &|report| report.changed);
                // Chinese and Japanese texts have no blanks between words.
                let names_work = !subject.contains(' ') || words(subject).len() >= MIN_WORDS;
                names_work && !is_taken_up
            };
            if is_open(subject(&line)) {
                let quote = cut_at_clause(&line, MAX_QUOTE_CHARS);
                push(list, format!("Postponed by the user: \"{quote}\""));
            }
        }
    }
}

/// Whether a sentence leaves work for later. A sentence about the date of an event, such as a demo,
/// postpones nothing.
fn postpones(sentence: &str) -> bool {
    is_phrase(Topic::Postponed, sentence)
        && !pattern!(r"(?i)\b(?:the|our|my) (?:\w+ )?(?:demo|deadline|meeting|launch|presentation) (?:is|are)\b").is_match(sentence)
}

/// Returns the part of a sentence before an English expression of time, or else the whole sentence.
fn subject(sentence: &str) -> &str {
    let time = pattern!(
        r"(?i)\b(?:for |until |till |in )?(?:(?:a|the) )?(?:tomorrow|later|next|another)\b"
    );
    time.find(sentence).map_or(sentence, |found| &sentence[..found.start()])
}

/// Adds the last question that the user interrupted before the agent did anything, unless a later
/// prompt repeats the question.
pub(super) fn interrupted_question(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let is_asked = |pair: &&[Quote]| {
        let [asked, next] = pair else { return false };
        let is_stopped = evidence
            .corrections
            .iter()
            .any(|one| one.origin == next.origin && one.refused.is_none() && one.stopped.is_none());
        let mut reports = evidence.reports.iter();
        is_stopped
            && asked.text.trim_end().ends_with('?')
            && !reports.any(|report| {
                report.origin.follows(asked.origin) && !report.origin.follows(next.origin)
            })
            && !is_asked_for(entries, &asked.text, asked.origin)
    };
    let Some([asked, _]) = evidence.prompts.windows(2).rfind(is_asked) else { return };
    let request = Request::of(&asked.text).filter(|request| request.weight >= Weight::Vague);
    if let Some(request) = request {
        push(list, format!("{NOT_ANSWERED}{}", entries.tidy(&request.text)));
    }
}

#[cfg(test)]
mod tests {
    use crate::summarize::{
        evidence::scenarios::Script, from_evidence::request::wording_scenarios::summary,
    };

    #[test]
    fn what_the_user_postpones_is_open_until_it_is_done() {
        let mut script = Script::default();
        script.prompt("Sort the names of the list");
        script.edit("a", "/app/list.rs", "a", "b");
        script.reply("m1", "The names are sorted. The rounding of the prices is not specified.");
        script.prompt("ask Ben about the rounding, we do that next week. bye");
        script.reply("m2", "OK.");
        let postponed =
            ["Postponed by the user: \"ask Ben about the rounding, we do that next week\""];
        assert_eq!(summary(&script).next_steps.unwrap(), postponed);
        script.prompt("Ben wants half-even for the rounding, please do that");
        script.edit("b", "/app/price.rs", "a", "b");
        script.reply("m3", "Prices are rounded half-even now.");
        assert_eq!(summary(&script).next_steps, None);
    }

    #[test]
    fn a_date_alone_postpones_nothing() {
        for (sentence, wanted) in [
            ("the failing test is for tomorrow", true),
            ("leave the old links for another day", true),
            ("let's fix the slow import in the next session", true),
            ("the demo is for next week, make it nice", false),
            ("our next launch is for tomorrow", false),
            ("stop, i have a meeting, we continue with the report tomorrow", true),
            ("gotta run to a meeting, do the failing cart test another day", true),
            ("let's fix the launch script tomorrow", true),
            ("the job runs until tomorrow", false),
            ("can we do the links later?", false),
        ] {
            assert_eq!(super::postpones(sentence), wanted, "{sentence}");
        }
    }

    #[test]
    fn work_is_postponed_in_other_languages_too() {
        for prompt in ["Den alten Test beheben wir morgen.", "这个测试明天再修。"] {
            let mut script = Script::default();
            script.prompt("Sort the names of the list");
            script.edit("a", "/app/list.rs", "a", "b");
            script.reply("m1", "The names are sorted.");
            script.prompt(prompt);
            script.reply("m2", "OK.");
            let steps = summary(&script).next_steps.unwrap_or_default();
            assert!(
                steps.iter().any(|step| step.starts_with("Postponed by the user: ")),
                "{steps:?}"
            );
        }
    }
}
