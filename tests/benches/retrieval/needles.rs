//! Hides a hundred sentences, each in a message in the middle of a session.

use graphiti_tests::Random;
use graphitid::model::{Message, Role};

use crate::sessions::{LabelledQuestion, QuestionSet, SearchedSession};

const PARTS: [&str; 10] = [
    "checkout",
    "billing",
    "upload",
    "thumbnail",
    "audit",
    "webhook",
    "invoice",
    "mailer",
    "importer",
    "gateway",
];
const SETTINGS: [&str; 10] = [
    "timeout",
    "retry limit",
    "queue size",
    "batch size",
    "port",
    "cache lifetime",
    "pool size",
    "rate limit",
    "chunk size",
    "lease time",
];

/// Hides the sentences in the sessions of `set`, and adds a question about each. A part or a
/// setting occurs in ten sentences, but the two together only in one.
pub(crate) fn hide(mut set: QuestionSet) -> QuestionSet {
    let mut random = Random::new(11);
    set.questions.clear();
    for (part, setting) in PARTS.iter().flat_map(|part| SETTINGS.map(|setting| (part, setting))) {
        let at = random.below(set.sessions.len());
        let session = &mut set.sessions[at];
        let middle = session.messages.len() / 2;
        let (before, behind) = session.messages.split_at_mut(middle);
        let mut texts = behind.iter_mut().chain(before).filter(|message| is_prose(message));
        let Some(message) = texts.next() else { continue };
        let value = 10 + random.below(990);
        message.text.push_str(&format!("\nBy the way, the {part} {setting} is {value} now."));
        set.questions.push(LabelledQuestion {
            text: format!("what is the {part} {setting}?"),
            answers: vec![session.name.clone()],
        });
    }
    set
}

/// The names in the sentences of [`questions_with_names`]; each name occurs once.
const NAMES: &str = "almond anchor antler apricot armadillo badger bagpipe bamboo barnacle beacon birch \
    bobcat bonsai bramble buffalo cactus camel canyon caramel caribou cashew cavern chestnut cicada \
    cinnamon clover cobalt comet condor coral cougar cricket crimson cypress daffodil dolphin dragon \
    ember falcon fennel ferret fjord flamingo gazelle ginger glacier granite hazel heron hornet \
    hyena iguana indigo jackal jaguar jasmine juniper kestrel lagoon lantern lemur lichen lilac \
    lobster lotus lynx magnolia mammoth maple marble marmot meadow monsoon moose nectar nutmeg oasis \
    opal orchid osprey otter panther papaya parrot pebble pelican pepper poplar puffin quartz raven \
    saffron salmon sequoia sparrow tangerine thistle tundra walrus willow";

/// Returns questions of three words about a hundred sentences. A call without `is_misspelled` also
/// adds the sentences to the sessions. With `is_misspelled`, the rarest word of each question has a
/// typing error.
pub(crate) fn questions_with_names(
    sessions: &mut [SearchedSession],
    is_misspelled: bool,
) -> Vec<LabelledQuestion> {
    let (mut random, mut errors) = (Random::new(23), Random::new(29));
    let mut questions = Vec::new();
    for (number, name) in NAMES.split_whitespace().take(100).enumerate() {
        let (part, setting) = (PARTS[number % 10], SETTINGS[number / 10]);
        let at = random.below(sessions.len());
        let session = &mut sessions[at];
        let spelling = if is_misspelled { misspelled(name, &mut errors) } else { name.to_owned() };
        let sentence = format!("\nRemember that the {part} host {name} has its own {setting}.");
        let Some(message) = session.messages.iter_mut().rfind(|message| is_prose(message)) else {
            continue;
        };
        if !is_misspelled {
            message.text.push_str(&sentence);
        }
        let setting = setting.split(' ').next().unwrap_or(setting);
        let text = format!("{part} {spelling} {setting}");
        questions.push(LabelledQuestion { text, answers: vec![session.name.clone()] });
    }
    questions
}

/// Swaps, omits, doubles or replaces one letter after the first.
fn misspelled(word: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = 1 + random.below(letters.len() - 2);
    match random.below(4) {
        0 if letters[at] != letters[at + 1] => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        2 => letters.insert(at, letters[at]),
        _ => letters[at] = if letters[at] == 'e' { 'r' } else { 'e' },
    }
    letters.into_iter().collect()
}

/// Whether the user or the agent wrote the message. Outputs of tools have less weight in a search.
fn is_prose(message: &Message) -> bool {
    matches!(message.role, Role::User | Role::Agent)
}
