//! Generated conversations between friends about many topics, with questions about them.
//!
//! Pairs of people talk for a year. Each session has a few events, mentions of earlier events, and
//! small talk; the expected session differs from its neighbours in little more than one event. The
//! words are real, so that their inflected forms matter.

use graphiti_tests::Random;
use graphitid::model::{Role, Timestamp};
use jiff::{civil::date, tz::TimeZone};

use crate::sessions::{LabelledQuestion, QuestionSet, SearchedSession};

const PAIRS: usize = 12;
const SESSIONS: usize = 24;
const NAMES: [&str; 24] = [
    "Nora", "Emil", "Ruth", "Pavel", "Dana", "Hugo", "Lena", "Omar", "Tess", "Ivan", "Mira",
    "Jonas", "Carla", "Felix", "Greta", "Milo", "Petra", "Simon", "Wanda", "Yusuf", "Alma",
    "Bruno", "Edith", "Karl",
];

struct Topic {
    events: Vec<&'static str>,
    later: Vec<&'static str>,
    questions: Vec<&'static str>,
    values: Vec<&'static str>,
}

/// Returns the conversations and their questions.
pub(crate) fn make() -> QuestionSet {
    let mut random = Random::new(2_026);
    let (topics, small_talk) = topics();
    let mut set = QuestionSet {
        name: "synthetic",
        sessions: Vec::new(),
        questions: Vec::new(),
        now: date(2026, 5, 1).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).expect("a valid date"),
    };
    for pair in 0..PAIRS {
        let people = [NAMES[2 * pair], NAMES[2 * pair + 1]];
        let first = set.sessions.len();
        for session in 0..SESSIONS {
            set.sessions.push(SearchedSession {
                name: format!("pair{pair}-session{session}"),
                agent: "claude".to_owned(),
                project: "/home/ann/talk".to_owned(),
                messages: Vec::new(),
            });
        }
        talk(
            &mut set,
            first,
            people,
            &Subjects { topics: &topics, small_talk: &small_talk },
            &mut random,
        );
    }
    set
}

/// The topics of the conversations.
struct Subjects<'a> {
    topics: &'a [Topic],
    small_talk: &'a [&'a str],
}

/// Adds messages and questions to the sessions of one pair; `first` is the index of the first one.
fn talk(
    set: &mut QuestionSet,
    first: usize,
    people: [&str; 2],
    library: &Subjects<'_>,
    random: &mut Random,
) {
    let mut lines: Vec<Vec<(usize, String)>> = (0..SESSIONS).map(|_| Vec::new()).collect();
    for (who, me) in people.into_iter().enumerate() {
        let you = people[1 - who];
        for topic in library.topics {
            if random.below(4) == 0 {
                continue;
            }
            let value = topic.values[random.below(topic.values.len())];
            let fill =
                |text: &str| text.replace("{x}", value).replace("{me}", me).replace("{you}", you);
            let at = random.below(SESSIONS - 2);
            lines[at].push((who, fill(topic.events[random.below(topic.events.len())])));
            for later in &topic.later {
                let after = at + 1 + random.below(SESSIONS - at - 1);
                lines[after].push((who, fill(later)));
            }
            let question = topic.questions[random.below(topic.questions.len())];
            let answers = vec![set.sessions[first + at].name.clone()];
            set.questions.push(LabelledQuestion { text: fill(question), answers });
        }
    }
    for (number, lines) in lines.into_iter().enumerate() {
        let start = 1_745_000_000 + number as i64 * 1_300_000;
        let session = &mut set.sessions[first + number];
        let mut turn = 0;
        let mut say = |who: usize, text: &str| {
            let at = Timestamp::from_seconds(start + turn * 60);
            turn += 1;
            session.say(Role::User, Some(at), format!("{}: {text}", people[who]));
        };
        say(0, "Hello, are you there?");
        for (who, line) in lines {
            for speaker in [1 - who, who, 1 - who] {
                let filler = library.small_talk[random.below(library.small_talk.len())];
                let filler = filler.replace("{you}", people[1 - speaker]);
                let text = if speaker == who { format!("{filler} {line}") } else { filler };
                say(speaker, &text);
            }
        }
    }
}

fn topics() -> (Vec<Topic>, Vec<&'static str>) {
    let text = include_str!("synthetic.txt");
    let (topics, small_talk) = text.split_once("\n=\n").expect("the file has both parts");
    let blocks = topics.split("\n\n").filter(|block| !block.starts_with('#'));
    let topics = blocks.map(|block| {
        let lines = |mark: &str| -> Vec<&'static str> {
            block.lines().filter_map(|line| line.strip_prefix(mark)).map(str::trim).collect()
        };
        Topic {
            events: lines("+"),
            later: lines("~"),
            questions: lines("?"),
            values: lines("x")
                .into_iter()
                .flat_map(|line| line.split('|'))
                .map(str::trim)
                .collect(),
        }
    });
    (topics.collect(), small_talk.lines().filter(|line| !line.is_empty()).collect())
}
