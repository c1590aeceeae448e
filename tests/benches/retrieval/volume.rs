//! Measures speed and size with thousands of generated coding sessions.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use graphiti_tests::Random;
use graphitid::{
    model::{Role, Timestamp},
    search::{
        index::{Position, SearchIndex},
        query::Query,
        rank::{RankRequest, Scope, Weights},
    },
};
use jiff::{civil::date, tz::TimeZone};

use crate::sessions::SearchedSession;

/// Number of messages of a session.
const MESSAGES: usize = 30;
/// Number of different words.
const VOCABULARY: usize = 60_000;
/// Number of timed questions.
const QUESTIONS: usize = 400;

/// The command with which the benchmark starts itself, so that a new process opens the index.
pub(crate) const MEASURE_INDEX: &str = "measure-index";

/// Prints the figures for `sessions` sessions. If `GRAPHITI_VOLUME` is set, it is the path of the
/// folder in which the index is kept.
pub(crate) fn run(sessions: usize) {
    let temporary = tempfile::tempdir().expect("a temporary folder can be made");
    let kept = std::env::var_os("GRAPHITI_VOLUME").map(PathBuf::from);
    let folder = kept.as_deref().unwrap_or(temporary.path());
    let words = vocabulary();
    let mut random = Random::new(42);
    let (index, bytes, spent) = fill(folder, sessions, &words, &mut random);
    println!("{sessions} sessions of {MESSAGES} messages, {:.0} MB of text", bytes as f64 / 1e6);
    println!(
        "  indexed in {:.1} s, {:.1} MB/s, {:.1} MB on disk",
        spent.as_secs_f64(),
        bytes as f64 / 1e6 / spent.as_secs_f64(),
        size(folder) as f64 / 1e6
    );
    freshness(&index, sessions as u64, &words, &mut random);
    drop(index);
    let program = std::env::current_exe().expect("the program has a path");
    let status = Command::new(program).arg(MEASURE_INDEX).arg(folder).status();
    status.expect("the program can be started again");
}

/// Prints how long a new process takes to open the index and to answer questions.
pub(crate) fn measure_index(folder: &Path) {
    let before = resident();
    let start = Instant::now();
    let index = SearchIndex::open(folder).expect("the index can be opened");
    println!("  opened and checked in {:.0} ms", millis(start.elapsed()));
    println!("  memory: {before} before, {} opened", resident());
    let words = vocabulary();
    ask(&index, &words, &mut Random::new(7));
    let after = resident();
    index.release_memory().expect("the index can be read");
    println!(
        "  memory: {after} after the questions, {} at rest; both include the benchmark's vocabulary",
        resident()
    );
}

fn fill(
    folder: &Path,
    sessions: usize,
    words: &[String],
    random: &mut Random,
) -> (SearchIndex, usize, Duration) {
    let index = SearchIndex::create(folder).expect("an index can be made in an empty folder");
    let (mut bytes, mut spent) = (0, Duration::ZERO);
    for key in 1..=sessions as u64 {
        let session = session(key, words, random);
        bytes += session.messages.iter().map(|message| message.text.len()).sum::<usize>();
        let start = Instant::now();
        if index.apply(session.change(key), Position(key)).is_full() {
            index.commit().expect("the index can be written");
        }
        spent += start.elapsed();
    }
    let start = Instant::now();
    index.commit().expect("the index can be written");
    (index, bytes, spent + start.elapsed())
}

fn ask(index: &SearchIndex, words: &[String], random: &mut Random) {
    ask_with(index, words, random, "");
    ask_with(index, words, random, " project:project7 role:user after:2025-03-01");
}

/// Measures questions to which `end` is appended.
fn ask_with(index: &SearchIndex, words: &[String], random: &mut Random, end: &str) {
    let (mut times, mut own_times) = (Vec::new(), Vec::new());
    for _ in 0..QUESTIONS {
        let question = question(words, random) + end;
        let before = processor_time();
        times.push(search(index, &question));
        own_times.push(processor_time().saturating_sub(before));
    }
    for (name, mut times) in [("question", times), ("processor time", own_times)] {
        times.sort();
        let at = |share: f64| millis(times[((times.len() - 1) as f64 * share) as usize]);
        let (median, nine_tenths, high, worst) = (at(0.5), at(0.9), at(0.99), at(1.0));
        println!(
            "  {name}{end}: p50 {median:.1} ms, p90 {nine_tenths:.1} ms, p99 {high:.1} ms, worst {worst:.1} ms"
        );
    }
}

/// Returns the processor time of this thread, which other load on the machine does not affect.
fn processor_time() -> Duration {
    let statistics = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// Measures the time from adding a message to finding it.
fn freshness(index: &SearchIndex, last: u64, words: &[String], random: &mut Random) {
    let (mut times, mut commits) = (Vec::new(), Vec::new());
    for key in last + 1..=last + 40 {
        let mut session = session(key, words, random);
        session.messages.truncate(1);
        session.messages[0].text.push_str(&format!(" uniqueword{key}"));
        let start = Instant::now();
        index.apply(session.change(key), Position(key));
        search(index, &format!("uniqueword{key}"));
        times.push(start.elapsed());
        if key % 10 == 0 {
            let start = Instant::now();
            index.commit().expect("the index can be written");
            commits.push(start.elapsed());
        }
    }
    times.sort();
    commits.sort();
    println!(
        "  from write to found: p50 {:.2} ms, worst {:.2} ms; commit of ten: p50 {:.0} ms, worst {:.0} ms",
        millis(times[times.len() / 2]),
        millis(times[times.len() - 1]),
        millis(commits[commits.len() / 2]),
        millis(commits[commits.len() - 1])
    );
}

fn search(index: &SearchIndex, question: &str) -> Duration {
    let now = date(2026, 5, 1).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).expect("a valid date");
    let start = Instant::now();
    let query = Query::parse(question, &now);
    let request = RankRequest {
        query: &query,
        scope: &Scope::default(),
        now: Timestamp::from_micros(now.timestamp().as_microsecond()),
        limit: 10,
        weights: &Weights::default(),
        second: None,
        session_filter: None,
    };
    let results = index.search(&request).expect("the index can be read");
    let spent = start.elapsed();
    if std::env::var_os("GRAPHITI_HITS").is_some() {
        crate::print_hits(question, &results);
    }
    assert!(question.contains(':') || !results.sessions.is_empty(), "every word is in a session");
    spent
}

/// Returns words in order of decreasing frequency: first real words, then generated ones.
fn vocabulary() -> Vec<String> {
    const COMMON: &str = "the to a and of is in it for that this i with on we be can test file code \
        run not error let now from as are use add check have fix change need build command main \
        function should make new update set get work if but by all will see so you function value \
        session server data user name path type string list read write call return config";
    let syllables = ["ba", "ko", "ri", "tem", "sul", "na", "vor", "de", "lin", "mas", "pu", "gra"];
    let mut words: Vec<String> = COMMON.split_whitespace().map(str::to_owned).collect();
    let mut number = 0_usize;
    while words.len() < VOCABULARY {
        number += 1;
        let (mut word, mut rest) = (String::new(), number * 7_919);
        while rest > 0 {
            word.push_str(syllables[rest % syllables.len()]);
            rest /= syllables.len();
        }
        match number % 40 {
            0 => word.push_str("_handler"),
            1 => word = format!("src/{word}/mod.rs"),
            2 => word.push_str("ing"),
            _ => {}
        }
        words.push(word);
    }
    words
}

fn session(key: u64, words: &[String], random: &mut Random) -> SearchedSession {
    let mut session = SearchedSession {
        name: key.to_string(),
        agent: "claude".to_owned(),
        project: format!("/home/ann/project{}", key % 97),
        messages: Vec::new(),
    };
    // Some words, the subject of the session, are repeated.
    let subject: Vec<usize> = (0..12).map(|_| 200 + random.below(words.len() - 200)).collect();
    for number in 0..MESSAGES {
        let role = [Role::User, Role::Agent, Role::Tool, Role::Tool, Role::Agent][number % 5];
        let mut text = String::new();
        for _ in 0..20 + random.below(100) {
            let word = match random.below(8) {
                0 => subject[random.below(subject.len())],
                _ => zipf(words.len(), random),
            };
            text.push_str(&words[word]);
            text.push(' ');
        }
        let at = Timestamp::from_seconds(1_740_000_000 + key as i64 * 300 + number as i64);
        let message = session.say(role, Some(at), text);
        message.tool = (role == Role::Tool).then(|| "Bash".to_owned());
    }
    session
}

/// Returns a question that ends with four to nine random words, most of them frequent.
fn question(words: &[String], random: &mut Random) -> String {
    let mut question = vec!["what", "did", "we"];
    for _ in 0..4 + random.below(6) {
        let word = match random.below(3) {
            0 => 200 + random.below(5_000),
            _ => zipf(words.len(), random),
        };
        question.push(&words[word]);
    }
    question.join(" ")
}

/// Returns a random number below `count`; high numbers are less frequent than low ones.
fn zipf(count: usize, random: &mut Random) -> usize {
    let share = random.below(1_000_000) as f64 / 1e6;
    ((count as f64).powf(share) - 1.0) as usize
}

fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Returns the memory in use, as the system reports it; zero if the system does not report it.
fn resident() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let megabytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        kilobytes.unwrap_or(0.0_f64) / 1e3
    };
    format!(
        "{:.0} MB anonymous + {:.0} MB of mapped files",
        megabytes("RssAnon:"),
        megabytes("RssFile:")
    )
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
