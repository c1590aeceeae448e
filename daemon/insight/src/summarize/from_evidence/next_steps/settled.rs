//! Finds the open ends that the user settled: somebody else does the work, nobody needs it, or it
//! is done.

use std::collections::BTreeSet;

use crate::{
    model::{evidence::Quote, transcript::Origin},
    report::{Claim, Report, Topic, is_phrase},
    summarize::from_evidence::{entries::Entries, request::wording::asks_for_work},
    text::{one_line, pattern, share_of_words, spoken_sentences, words},
};

/// Maximum length, in bytes, of a prompt that is searched. Longer prompts usually contain pasted
/// text.
const MAX_PROMPT_BYTES: usize = 600;
/// Maximum number of words before a number that the user answers, as in `you do 2`.
const MAX_WORDS_BEFORE: usize = 2;
/// A sentence is about an open end if the open end contains at least this share of the words of the
/// sentence's first clause.
const SHARED: f64 = 0.5;
/// Minimum number of shared words.
const MIN_SHARED: usize = 2;

/// The characters that end a clause.
const ENDS: [char; 9] = ['.', ',', ';', '!', '?', '。', '，', '、', '；'];

/// What a prompt says about some numbers of a list.
struct NumberedAnswer {
    numbers: Vec<usize>,
    text: String,
    /// What the prompt says about the other numbers.
    others: Option<String>,
}

/// Whether the user settled an open end of a report: the prompt after the report answers its number
/// in the list, or a later sentence is about it.
pub(crate) fn is_settled(entries: &Entries<'_>, report: &Report, claim: &Claim) -> bool {
    let all = &entries.evidence.prompts;
    let mut later = all.iter().filter(|prompt| prompt.origin.follows(report.origin));
    let next = later.next();
    let place = place(report, claim);
    let answered = |next: &Quote| {
        let answers = answers(&next.text);
        let own = answers.iter().find(|one| place.is_some_and(|at| one.numbers.contains(&at)));
        match own {
            Some(answer) => is_phrase(Topic::Settled, &answer.text),
            None => place.is_some() && answers.iter().any(settles_others),
        }
    };
    let line = match &claim.label {
        Some(label) => format!("{label}: {}", claim.text),
        None => claim.text.clone(),
    };
    next.is_some_and(answered) || is_settled_in_words(entries, &line, report.origin)
}

/// Whether a sentence of the user after `origin` settles the open end in `line` and contains its
/// words.
pub(crate) fn is_settled_in_words(entries: &Entries<'_>, line: &str, origin: Origin) -> bool {
    let open = words(line);
    let mut later = entries.evidence.prompts.iter().filter(|one| one.origin.follows(origin));
    later.any(|prompt| {
        prompt.text.len() <= MAX_PROMPT_BYTES
            && spoken_sentences(&prompt.text)
                .iter()
                .any(|sentence| is_phrase(Topic::Settled, sentence) && is_about(sentence, &open))
    })
}

/// Whether the first clause of a sentence contains words of an open end.
fn is_about(sentence: &str, open: &BTreeSet<String>) -> bool {
    let clause = sentence.split(ENDS).next().unwrap_or(sentence);
    let said = words(clause);
    let shared = said.intersection(open).count();
    // In `enabled it on the server`, `it` is the open end, so only the verbs can be compared.
    let did =
        pattern!(r"(?i)^(?:i(?:.ve| have)? )?(?:just |already )?(\w+ed|\w+en) (?:it|that|them)\b");
    if let Some(found) = did.captures(clause) {
        return words(&found[1]).intersection(open).next().is_some();
    }
    shared >= MIN_SHARED && share_of_words(&said, open) >= SHARED
}

/// Whether a prompt only says what happens to open ends: it answers a list by number, or settles
/// something, and asks for no work.
pub(crate) fn only_settles(prompt: &str) -> bool {
    if prompt.len() > MAX_PROMPT_BYTES {
        return false;
    }
    if decides_by_number(prompt) {
        return true;
    }
    let sentences = spoken_sentences(prompt);
    let is_open = |one: &String| !is_phrase(Topic::Settled, one) && asks_for_work(one);
    sentences.iter().any(|one| is_phrase(Topic::Settled, one)) && !sentences.iter().any(is_open)
}

/// Whether a prompt answers the numbers of a list, and settles or postpones some of them.
pub(crate) fn decides_by_number(prompt: &str) -> bool {
    let later = |text: &str| {
        pattern!(r"(?i)\b(?:tomorrow|later|morgen|später|demain|plus tard|mañana|más tarde)\b|明天|以后|明日|後で")
            .is_match(text)
    };
    let answers = answers(prompt);
    answers
        .iter()
        .any(|one| is_phrase(Topic::Settled, &one.text) || settles_others(one) || later(&one.text))
}

/// Whether an answer settles the numbers that the prompt does not contain.
fn settles_others(answer: &NumberedAnswer) -> bool {
    answer.others.as_ref().is_some_and(|others| is_phrase(Topic::Settled, others))
}

/// Splits the text of an answer before what it says about the other numbers.
fn split_others(text: &str) -> (&str, Option<&str>) {
    let others = pattern!(
        r"(?i)\b(?:the (?:others?|rest)|(?:die|der) (?:anderen|rest)|les autres|le reste|(?:los|las) (?:demás|otr[oa]s))\b|其他|其它|他は|残りは"
    );
    match others.find(text) {
        Some(found) => (&text[..found.start()], Some(text[found.end()..].trim_start())),
        None => (text, None),
    }
}

/// Returns the number of a claim in its list, counted from one.
fn place(report: &Report, claim: &Claim) -> Option<usize> {
    if !claim.listed || claim.nested {
        return None;
    }
    if let Some(mark) = &claim.mark {
        return mark.parse().ok();
    }
    let is_beside = |one: &&Claim| {
        one.listed && !one.nested && one.section == claim.section && one.mark.is_none()
    };
    let at = report.claims.iter().filter(is_beside).position(|one| one == claim)?;
    Some(at + 1)
}

/// Splits a prompt such as `1 does Omar. you do 2 and 3 tomorrow` into what it says about the
/// numbers.
fn answers(prompt: &str) -> Vec<NumberedAnswer> {
    if prompt.len() > MAX_PROMPT_BYTES {
        return Vec::new();
    }
    let text = with_digits(&prompt.lines().collect::<Vec<_>>().join(". "));
    // One number, or several numbers that are joined.
    let group = pattern!(
        r"(?i)(?:^|[\s,;:(，、。；])(?:(?:#|number|no\.?|nr\.?|nummer|punkt|point|número|numéro|punto|item) ?)?([1-9](?: ?(?:,|&|\+|and|und|et|y|、|と|和) ?[1-9])*)(?:[.:)] |[,;、は番]|\s|[.!]?$)"
    );
    let mut starts: Vec<(usize, usize, Vec<usize>)> = Vec::new();
    let mut from = 0;
    while let Some(found) = group.captures_at(&text, from) {
        let Some(numbers) = found.get(1) else { break };
        let start = numbers.start();
        from = numbers.end();
        let before = &text[..start];
        let clause = before.rfind(ENDS).map_or(0, |at| before.ceil_char_boundary(at + 1));
        let is_label = text[numbers.end()..].starts_with([':', ')']);
        let is_near = text[clause.min(start)..start].split_whitespace().count() <= MAX_WORDS_BEFORE;
        if is_label || is_near {
            let digits = numbers.as_str().chars().filter_map(|digit| digit.to_digit(10));
            let numbers_said = digits.map(|digit| digit as usize).collect();
            let clause = if is_label { start } else { clause.min(start) };
            starts.push((clause, numbers.end(), numbers_said));
        }
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|one| one.0).chain([text.len()]).collect();
    let answered = starts.into_iter().zip(ends).map(|((_, said, numbers), end)| {
        let rest =
            text[said..end.max(said)].trim_start_matches(['.', ':', ')', ',', ' ', '番', 'は']);
        let (own, others) = split_others(rest);
        NumberedAnswer { numbers, text: one_line(own), others: others.map(one_line) }
    });
    answered.collect()
}

/// Replaces the ordinal numbers at the start of a clause by digits.
fn with_digits(text: &str) -> String {
    let ordinals = [
        (
            pattern!(
                r"(?i)(^|[.,;:] )(?:the first|(?:das|der|die) erste|(?:le premier|la première)|(?:el|lo) primero|第一个|一つ目)(?: one| point| item)?"
            ),
            "${1}1",
        ),
        (
            pattern!(
                r"(?i)(^|[.,;:] )(?:the second|(?:das|der|die) zweite|(?:le|la) (?:deuxième|seconde?)|(?:el|lo) segundo|第二个|二つ目)(?: one| point| item)?"
            ),
            "${1}2",
        ),
        (
            pattern!(
                r"(?i)(^|[.,;:] )(?:the third|(?:das|der|die) dritte|(?:le|la) troisième|(?:el|lo) tercero|第三个|三つ目)(?: one| point| item)?"
            ),
            "${1}3",
        ),
    ];
    ordinals.iter().fold(text.to_owned(), |text, (ordinal, digit)| {
        ordinal.replace_all(&text, *digit).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers that a prompt settles.
    fn settled(prompt: &str) -> Vec<usize> {
        let answers = answers(prompt);
        let own = answers.iter().filter(|one| is_phrase(Topic::Settled, &one.text));
        own.flat_map(|one| one.numbers.clone()).collect()
    }

    #[test]
    fn each_number_has_its_own_answer() {
        for (prompt, wanted) in [
            ("1 is for Marta, I will ask her. you do 2 and 3 tomorrow", vec![1]),
            ("1 does Omar, he has the keys. 2 we need, but tomorrow. 3 forget it", vec![1, 3]),
            ("1: Omar does it\n2: yes, tomorrow\n3: no", vec![1, 3]),
            ("1: Omar does it 2: yes, tomorrow 3: no", vec![1, 3]),
            ("number 1 is done already, 2 and 3 later", vec![1]),
            ("the first: yes do that now. the second is something for Kim", vec![2]),
            ("1 macht Omar. 2 brauchen wir, aber morgen. 3 vergiss es", vec![1, 3]),
            ("1 c'est pour Marta. 2 demain. 3 laisse tomber", vec![1, 3]),
            ("1 lo hace Marta. 2 mañana. 3 no hace falta", vec![1, 3]),
            ("1 让小王做，2 明天做，3 不用做", vec![1, 3]),
            ("1は田中さんに頼みます。2は明日お願いします。3は不要です。", vec![1, 3]),
            ("go with 1 and 2", vec![]),
            ("use 2 threads, and add 3 tests", vec![]),
        ] {
            assert_eq!(settled(prompt), wanted, "{prompt}");
        }
        assert!(answers("do 2 tomorrow, the others are not important").iter().any(settles_others));
    }
}
