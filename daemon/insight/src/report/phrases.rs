//! The headings and phrases that determine the topic of a passage.
//!
//! The phrases are data: one file for each topic in English, and one file for each other language.
//! Each file contains examples, which a test checks. A pattern that is matched with every sentence
//! of a transcript stays in the code: one regular expression costs less than a search in the
//! phrases.

use std::{borrow::Cow, collections::BTreeMap, rc::Rc, sync::LazyLock};

use aho_corasick::AhoCorasick;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::{
    pattern::{Candidates, ExpressionSet, Syntax, compact},
    releasable::Releasable,
    report::{
        cache::{Cache, cached},
        heading_patterns::{matches, plain},
        topic::Topic,
    },
};

/// The phrases of one topic in one language.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Phrases {
    /// Headings and bold labels, in lower case; `*` matches any text.
    headings: Vec<String>,
    /// Regular expressions that match sentences about the topic, under any heading.
    sentences: Vec<String>,
    /// Regular expressions that split a sentence into the groups of [`DecisionParts`].
    parts: Vec<String>,
    /// Headings that must match, for the test.
    heading_examples: Vec<String>,
    /// Sentences that must match, for the test.
    examples: Vec<String>,
    /// Headings and sentences that must not match, for the test.
    counter_examples: Vec<String>,
}

macro_rules! phrases {
    ($($file:literal),* $(,)?) => { &[$(($file, include_str!(concat!("phrases/", $file)))),*] };
}

/// The names and contents of the files. If a heading or a sentence matches several topics, the
/// topic of the earlier file takes precedence.
const FILES: &[(&str, &str)] = phrases![
    "en/left_to_user.toml",
    "en/instruction.toml",
    "en/proposal.toml",
    "en/open.toml",
    "en/fixed_failure.toml",
    "en/known_failure.toml",
    "en/decision.toml",
    "en/cause.toml",
    "en/fix.toml",
    "en/finding.toml",
    "en/done.toml",
    "en/wish.toml",
    "en/symptom.toml",
    "en/withdrawal.toml",
    "en/release.toml",
    "en/postponed.toml",
    "en/abandonment.toml",
    "en/thanks.toml",
    "en/adjourned.toml",
    "en/settled.toml",
    "en/choice.toml",
    "en/aside.toml",
    "en/agreement.toml",
    "en/concession.toml",
    "en/retraction.toml",
    "en/interim.toml",
    "en/hope.toml",
    "en/known_notice.toml",
    "en/publish_offer.toml",
    "en/boast.toml",
    "en/status.toml",
    "en/talk.toml",
    "en/still_fails.toml",
    "en/objection.toml",
    "en/guess.toml",
    "en/refutation.toml",
    "en/contradiction.toml",
    "en/resolved.toml",
    "en/dead_end.toml",
    "en/judgement.toml",
    "en/hedge.toml",
    "en/contrast.toml",
    "en/bare_noun.toml",
    "en/order.toml",
    "en/error_remark.toml",
    "en/general_question.toml",
    "en/agent_step.toml",
    "en/momentary.toml",
    "en/temporary.toml",
    "en/limit.toml",
    "en/advice.toml",
    "en/courtesy.toml",
    "en/offer.toml",
    "en/back_reference.toml",
    "en/session_reference.toml",
    "en/unnamed_object.toml",
    "en/routine_step.toml",
    "en/missing_subject.toml",
    "en/continuation.toml",
    "en/finished_work.toml",
    "en/plan_ahead.toml",
    "en/alternative.toml",
    "en/order_verb.toml",
    "en/user_order.toml",
    "en/fails_again.toml",
    "en/not_done.toml",
    "en/not_now.toml",
    "en/one_task.toml",
    "en/failure.toml",
    "de.toml",
    "es.toml",
    "fr.toml",
    "zh.toml",
    "ja.toml",
];

/// Maximum number of bytes of a sentence that are matched.
const MAX_SENTENCE_BYTES: usize = 800;

type Table = Vec<(Topic, Phrases)>;

/// Parses a file. An English file contains one topic, which the file name states; a file of another
/// language contains several topics.
fn read(name: &str, text: &str) -> Table {
    let invalid = |error: toml::de::Error| -> Table { panic!("{name}: {error}") };
    match name.strip_prefix("en/").and_then(|name| name.strip_suffix(".toml")) {
        Some(topic) => {
            let topic = Topic::deserialize(serde::de::value::StrDeserializer::<
                serde::de::value::Error,
            >::new(topic))
            .expect("the file is named after a topic");
            toml::from_str(text).map_or_else(invalid, |phrases| vec![(topic, phrases)])
        }
        None => {
            let topics: Result<BTreeMap<Topic, Phrases>, _> = toml::from_str(text);
            let mut table = topics.map_or_else(invalid, |topics| topics.into_iter().collect());
            // `Not done` is not `Done`.
            table.sort_by_key(|(topic, _)| *topic != Topic::Open);
            table
        }
    }
}

/// All phrases, prepared for matching.
struct Index {
    headings: Headings,
    /// The topics in the order of their precedence.
    topics: Vec<Topic>,
    /// The expressions of English sentences, with the position of their topic. They match bytes:
    /// for Unicode characters, `.{0,60}` needs ten times as many states.
    english: ExpressionSet,
    /// The expressions of sentences in other languages. They match Unicode characters.
    others: ExpressionSet,
    parts: Vec<Regex>,
}

/// Replaces a dash in the English expressions and in the text, so that both are ASCII.
const DASH: &str = "\x01";

static INDEX: Releasable<Index> = Releasable::new(|| {
    let mut headings = Vec::new();
    let mut topics = Vec::new();
    let mut english = Vec::new();
    let mut others = Vec::new();
    let mut parts = Vec::new();
    for (name, text) in FILES {
        let is_english = name.starts_with("en/");
        for (topic, phrases) in read(name, text) {
            headings.extend(phrases.headings.into_iter().map(|heading| (heading, topic)));
            let at = topics.iter().position(|known| *known == topic).unwrap_or_else(|| {
                topics.push(topic);
                topics.len() - 1
            });
            parts.extend(phrases.parts.iter().map(|one| {
                let built = RegexBuilder::new(&compact(one)).case_insensitive(true).build();
                built.expect("the expressions are valid, which a test checks")
            }));
            let sentences = phrases.sentences.into_iter();
            match is_english {
                true => english
                    .extend(sentences.map(|sentence| (at, sentence.replace(['—', '–'], DASH)))),
                false => others.extend(sentences.map(|sentence| (at, compact(&sentence)))),
            }
        }
    }
    let any_case = Syntax::new().case_insensitive(true);
    Index {
        headings: Headings::of(headings),
        topics,
        english: ExpressionSet::new(english, any_case.unicode(false).utf8(false)),
        others: ExpressionSet::new(others, any_case),
        parts,
    }
});

impl Index {
    fn candidates(&self, sentence: &str) -> SentenceCandidates {
        let prose = Prose::of(sentence);
        let english = self.english.candidates(&prose.english);
        let others = prose.others.map(|text| self.others.candidates(text));
        let of_others = others.iter().flat_map(|others| self.others.ranks(others));
        let topics = self.english.ranks(&english).chain(of_others);
        let topics = topics.fold(0, |topics, at| topics | topic_bit(self.topics[at]));
        SentenceCandidates { topics, english, others }
    }

    /// Returns the first of the wanted topics whose expressions match.
    fn topic(&self, sentence: &str, is_wanted: impl Fn(Topic) -> bool) -> Option<Topic> {
        let candidates = candidates(sentence);
        let is_wanted = |at: usize| is_wanted(self.topics[at]);
        let english = Prose::of(sentence).english;
        let english = self.english.first_match(&english, &candidates.english, is_wanted);
        let text = matched_part(sentence);
        let match_others = |others| self.others.first_match(text, others, is_wanted);
        let others = candidates.others.as_ref().and_then(match_others);
        english.into_iter().chain(others).min().map(|at| self.topics[at])
    }
}

/// The expressions that may match a sentence.
struct SentenceCandidates {
    /// The topics of the expressions, as a set of [`topic_bit`]s.
    topics: u128,
    english: Candidates,
    /// `None` for a sentence in English.
    others: Option<Candidates>,
}

fn topic_bit(topic: Topic) -> u128 {
    1 << topic as u32
}

/// Returns the candidates for a sentence. Many rules ask for different topics of a sentence, and
/// few sentences contain the words that the expressions of a topic require.
fn candidates(sentence: &str) -> Rc<SentenceCandidates> {
    thread_local! {
        static CACHE: Cache<Rc<SentenceCandidates>> = Cache::default();
    }
    let sentence = matched_part(sentence);
    cached(&CACHE, MAX_CACHED_TOPICS, sentence, || Rc::new(INDEX.get().candidates(sentence)))
}

/// Returns the part of a sentence that is matched. The cost of a match is linear in the length.
/// Long text without full stops, such as a log, is not a sentence.
fn matched_part(sentence: &str) -> &str {
    &sentence[..sentence.floor_char_boundary(MAX_SENTENCE_BYTES)]
}

/// A sentence in the forms that the expressions match.
struct Prose<'s> {
    english: Cow<'s, str>,
    /// The unchanged sentence, if it may be in another language.
    others: Option<&'s str>,
}

impl<'s> Prose<'s> {
    fn of(sentence: &'s str) -> Prose<'s> {
        let sentence = matched_part(sentence);
        let english = match sentence.is_ascii() {
            true => Cow::Borrowed(sentence),
            false => Cow::Owned(sentence.replace('’', "'").replace(['—', '–'], DASH)),
        };
        let is_english = english.is_ascii() && ENGLISH_WORDS.is_match(english.as_ref());
        Prose { others: (!is_english).then_some(sentence), english }
    }
}

/// An ASCII sentence that contains one of these words is English.
static ENGLISH_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = [
        "The ", " the ", " to ", " and ", " is ", " with ", " for ", " of ", " that ", " it ",
        " from ",
    ];
    AhoCorasick::new(words).expect("an automaton of a few words can be built")
});

/// The headings of all tables. If several headings match, the first one counts.
struct Headings {
    all: Vec<(String, Topic)>,
    /// For each byte, the indexes of the headings that begin with it.
    by_first: Box<[Vec<usize>; 256]>,
    /// The indexes of the headings that begin with `*`.
    any_first: Vec<usize>,
}

impl Headings {
    fn of(all: Vec<(String, Topic)>) -> Headings {
        let mut by_first = Box::new([const { Vec::new() }; 256]);
        let mut any_first = Vec::new();
        for (at, (pattern, _)) in all.iter().enumerate() {
            match pattern.bytes().next() {
                Some(b'*') | None => any_first.push(at),
                Some(byte) => by_first[usize::from(byte)].push(at),
            }
        }
        Headings { all, by_first, any_first }
    }

    fn topic(&self, heading: &str) -> Option<Topic> {
        let first = *heading.as_bytes().first()?;
        let find =
            |places: &[usize]| places.iter().copied().find(|at| matches(&self.all[*at].0, heading));
        let found = [find(&self.by_first[usize::from(first)]), find(&self.any_first)];
        Some(self.all[found.into_iter().flatten().min()?].1)
    }
}

/// Returns the topic of the text below `heading`.
pub(crate) fn topic_of_heading(heading: &str) -> Option<Topic> {
    thread_local! {
        static CACHE: Cache<Option<Topic>> = Cache::default();
    }
    cached(&CACHE, MAX_CACHED_TOPICS, heading, || INDEX.get().headings.topic(&plain(heading)))
}

/// Returns the topic that the wording of a sentence determines.
pub(crate) fn topic_of_sentence(sentence: &str) -> Option<Topic> {
    cached_topic(None, sentence, || {
        let topic = INDEX.get().topic(sentence, |topic| topic.of_claim().is_some())?;
        topic.of_claim()
    })
}

/// Returns whether a sentence is about `topic`, possibly among other topics.
pub(crate) fn is_phrase(topic: Topic, sentence: &str) -> bool {
    let find = || INDEX.get().topic(sentence, |other| other == topic);
    candidates(sentence).topics & topic_bit(topic) != 0
        && cached_topic(Some(topic), sentence, find).is_some()
}

/// Same as [`is_phrase`], but only for sentences in languages other than English.
pub(crate) fn is_foreign_phrase(topic: Topic, sentence: &str) -> bool {
    let candidates = candidates(sentence);
    let others = candidates.others.as_ref().filter(|_| candidates.topics & topic_bit(topic) != 0);
    let index = INDEX.get();
    let (text, is_wanted) = (matched_part(sentence), |at: usize| index.topics[at] == topic);
    others.is_some_and(|others| index.others.first_match(text, others, is_wanted).is_some())
}

/// A decision without its reason, its reason, and the rejected alternative.
#[derive(Debug, Default)]
pub(crate) struct DecisionParts {
    pub(crate) what: Option<String>,
    pub(crate) why: Option<String>,
    pub(crate) other: Option<String>,
}

/// Splits a sentence that states a decision. The result is empty for a sentence in English.
pub(crate) fn parts_of_decision(sentence: &str) -> DecisionParts {
    let mut parts = DecisionParts::default();
    let trimmed = |part: &str| part.trim_matches([' ', ',', '，', '、', '。']).to_owned();
    let Some(text) = Prose::of(sentence).others else { return parts };
    for found in INDEX.get().parts.iter().filter_map(|one| one.captures(text)) {
        let part = |name: &str| found.name(name).map(|part| trimmed(part.as_str()));
        if parts.what.is_none() {
            (parts.what, parts.why) = (part("what"), part("why"));
        }
        parts.other = parts.other.or_else(|| part("other"));
    }
    parts
}

/// Maximum number of sentences, and of headings, whose topic a thread caches.
const MAX_CACHED_TOPICS: usize = 4_096;

/// Caches the topic of a sentence, because many rules need the topic.
fn cached_topic(
    topic: Option<Topic>,
    sentence: &str,
    find: impl FnOnce() -> Option<Topic>,
) -> Option<Topic> {
    thread_local! {
        static CACHE: Cache<Option<Topic>> = Cache::default();
    }
    cached(&CACHE, MAX_CACHED_TOPICS, (topic, sentence), find)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_matches_its_examples() {
        for (name, text) in FILES {
            for (topic, phrases) in read(name, text) {
                assert!(!phrases.headings.is_empty() || !phrases.sentences.is_empty(), "{name}");
                for heading in &phrases.heading_examples {
                    assert_eq!(topic_of_heading(heading), Some(topic), "{name}: {heading}");
                }
                for sentence in &phrases.examples {
                    assert!(is_phrase(topic, sentence), "{name}: {sentence}");
                    // No earlier file may match the example.
                    if let Some(claim) = topic.of_claim() {
                        assert_eq!(topic_of_sentence(sentence), Some(claim), "{name}: {sentence}");
                    }
                }
                for other in &phrases.counter_examples {
                    assert!(!is_phrase(topic, other), "{name}: {other}");
                    assert_ne!(topic_of_heading(other), Some(topic), "{name}: {other}");
                }
            }
        }
    }

    #[test]
    fn no_word_boundary_is_beside_a_letter_that_is_not_ascii() {
        assert!(has_dead_boundary(r"(?:^|\s)a|\b(?:(?:das|ändere) x|b)"));
        assert!(has_dead_boundary(r"^no (?:la|tú)\b"));
        assert!(!has_dead_boundary(r"\b(?:muß|geändert(?:ä|b))t\b (?:ä|\s)"));
        for (name, text) in FILES.iter().filter(|(name, _)| !name.starts_with("en/")) {
            for (_, phrases) in read(name, text) {
                for pattern in phrases.sentences.iter().chain(&phrases.parts) {
                    assert!(!has_dead_boundary(pattern), "{name}: {pattern}");
                }
            }
        }
    }

    /// Whether the letter directly before or after a `\b` may be a letter that is not ASCII.
    /// Between a space and such a letter, [`compact`]'s `\b` does not match.
    fn has_dead_boundary(pattern: &str) -> bool {
        let is_dead = |letter: &char| letter.is_alphabetic() && !letter.is_ascii();
        pattern.match_indices(r"\b").any(|(at, mark)| {
            let behind = pattern[at + mark.len()..].chars();
            let before = pattern[..at].chars().rev();
            let letters = [first_letters(behind, '(', ')'), first_letters(before, ')', '(')];
            letters.iter().flatten().any(is_dead)
        })
    }

    /// Returns the first letters of the alternatives of the group at the start of an expression, or
    /// the first letter.
    fn first_letters(text: impl Iterator<Item = char>, open: char, close: char) -> Vec<char> {
        let (mut depth, mut starts_at, mut is_start) = (0, 0, true);
        let mut letters = Vec::new();
        for c in text {
            match c {
                _ if c == open => {
                    depth += 1;
                    starts_at = if is_start { depth } else { starts_at };
                }
                _ if c == close => {
                    depth -= 1;
                    starts_at = starts_at.min(depth);
                    is_start = false;
                }
                '|' => is_start = depth <= starts_at,
                '?' | ':' => {}
                _ if is_start => {
                    letters.push(c);
                    is_start = false;
                }
                _ => {}
            }
            if depth <= 0 && !is_start {
                break;
            }
        }
        letters
    }

    #[test]
    fn headings_are_compared_without_their_decoration() {
        assert_eq!(topic_of_heading("✅ Still open:"), Some(Topic::Open));
        assert_eq!(topic_of_heading("3. Root cause"), Some(Topic::Cause));
        assert_eq!(topic_of_heading("Parser"), None);
        assert_eq!(topic_of_heading("###"), None);
    }

    #[test]
    fn a_star_matches_any_text() {
        assert!(matches("before * you need to*", "before the next deploy, you need to"));
        assert!(matches("next*", "next"));
        assert!(!matches("next", "next steps"));
    }
}
