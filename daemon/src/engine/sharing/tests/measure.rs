//! Measures how long a real engine takes to write and search many episodes. `tests/share/run
//! measure` starts the engine and runs this test.

#![expect(clippy::print_stdout, reason = "this test prints its measurements")]

use std::time::Instant;

use uuid::Uuid;

use super::*;
use crate::share::{
    id,
    node::{EntityNode, EpisodicNode, FactEdge, SharedSession},
    schema, write,
};

/// Number of words of an episode's summary. This and the next four sizes are means of 165 real
/// sessions.
const WORDS: u64 = 300;
/// Number of entities that only this episode mentions.
const OWN: u64 = 6;
/// Number of files that other episodes also mention.
const FILES: u64 = 5;
/// Number of words of an entity's summary.
const WORDS_OF_ENTITY: u64 = 60;
/// Number of words of a fact.
const WORDS_OF_FACT: u64 = 22;
const SESSIONS_OF_BATCH: usize = 32;
const QUERIES: u64 = 500;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real engine: GRAPHITI_SHARE_ENGINE, and GRAPHITI_SHARE_EPISODES"]
async fn many_episodes_are_written_and_found() {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let url = variable("GRAPHITI_SHARE_ENGINE");
    let count: u64 = variable("GRAPHITI_SHARE_EPISODES").parse().unwrap();
    let machine = SharingMachine::new();
    machine.projects.note(&Project::new(PROJECT), Timestamp::default());
    let pauses = Pauses { answer: Duration::from_secs(30), ..Pauses::default() };
    let (store, projects) = (machine.store.clone(), machine.projects.clone());
    let target = ShareTarget::new(&machine.config(&url));
    let engine = target.engine.clone().unwrap();
    let sharing = Arc::new(Sharing::new(store, projects, "laptop".to_owned(), target, pauses));
    let groups = sharing.team_groups(None);
    let group = groups[0].group.clone();
    schema::prepare(engine.as_ref(), &group).await.unwrap();
    let began = Instant::now();
    let numbers: Vec<u64> = (0..count).collect();
    for batch in numbers.chunks(SESSIONS_OF_BATCH) {
        let sessions: Vec<SharedSession> =
            batch.iter().map(|number| session(&group, *number)).collect();
        engine.run(&group, &write::put(engine.dialect(), &sessions)).await.unwrap();
    }
    let took = began.elapsed().as_secs_f64();
    println!("{count} episodes written in {took:.0} s, {:.0} a second", count as f64 / took);
    let (mut sessions, mut facts) = (Vec::new(), Vec::new());
    for number in 0..QUERIES {
        let mut random = Random(number + 7);
        let question: Vec<String> = (0..3).map(|_| random.word()).collect();
        let began = Instant::now();
        let found = sharing.clone().team_episodes(groups.clone(), question.join(" "), 20).await;
        sessions.push(began.elapsed());
        assert_eq!(found.problem, None);
        let began = Instant::now();
        let found = sharing.clone().team_facts(groups.clone(), question.join(" ")).await;
        facts.push(began.elapsed());
        assert_eq!(found.problem, None);
    }
    for (name, mut times) in [("sessions", sessions), ("facts", facts)] {
        times.sort();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_millis();
        println!("search of {name}: p50 {} ms, p99 {} ms", at(0.5), at(0.99));
    }
    let began = Instant::now();
    let latest = sharing.clone().team_latest(groups, 3).await;
    println!("latest {}: {} ms", latest.rows.len(), began.elapsed().as_millis());
}

/// Pseudo-random numbers, which are the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    /// Returns one of 20,000 words; a few of them are frequent.
    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ba", "ko", "ri", "tu", "ne", "sal", "mo", "pex", "lin", "dor", "ga", "vi", "zun",
            "he", "fra", "qui",
        ];
        let rank = self.next(20_000).min(self.next(20_000)).min(self.next(20_000));
        let digits = [rank % 16, rank / 16 % 16, rank / 256 % 16, rank / 4096];
        digits.iter().map(|digit| SYLLABLES[*digit as usize]).collect()
    }

    fn words(&mut self, count: u64) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

fn session(group: &str, number: u64) -> SharedSession {
    let mut random = Random(number.wrapping_mul(0x9e37_79b9));
    let at = crate::clock::now().minus(Duration::from_secs(60 * number));
    let uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + u128::from(number));
    let entity = |label: &'static str, name: String, summary: String| EntityNode {
        uuid: id::entity(group, label, &name),
        label,
        name,
        summary,
        created_at: at,
    };
    let mut entities: Vec<EntityNode> = (0..OWN)
        .map(|_| entity("Decision", random.words(8), random.words(WORDS_OF_ENTITY)))
        .collect();
    for _ in 0..FILES {
        let file = format!("src/module_{}.rs", random.next(2_000));
        entities.push(entity("File", file, random.words(WORDS_OF_ENTITY)));
    }
    entities.sort_by_key(|entity| entity.uuid);
    entities.dedup_by_key(|entity| entity.uuid);
    let facts = entities.windows(2).enumerate().map(|(at_fact, ends)| FactEdge {
        uuid: id::mention(uuid, Uuid::from_u128(at_fact as u128)),
        source: ends[0].uuid,
        target: ends[1].uuid,
        name: "DECIDED".to_owned(),
        fact: random.words(WORDS_OF_FACT),
        episodes: vec![uuid],
        created_at: at,
        valid_at: at,
        invalid_at: None,
        expired_at: None,
    });
    let facts = facts.collect();
    let episode = EpisodicNode {
        uuid,
        name: random.words(6),
        source: "text".to_owned(),
        source_description: format!("claude session s-{number}, by Bob on desk"),
        content: format!("---\nsession_id: s-{number}\n---\n\n{}", random.words(WORDS)),
        created_at: at,
        valid_at: at,
    };
    SharedSession { group: group.to_owned(), episode, entities, facts }
}
