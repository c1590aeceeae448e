//! Records of every released version, as they are on users' disks. Each line of `golden/v<N>.txt`
//! has a record's name and its envelope in hex.
//!
//! The file of a version never changes after its release; a new version gets a new file.
//! `GOLDEN=write cargo test -p graphitid-store golden` writes the file of the current version.

use std::{fs, path::PathBuf};

use super::{
    ClaimRecord, EpisodeIndexRecord, EpisodeRecord, MarkRecord, MentionRecord, MessageRecord,
    OutboxRecord, SessionRecord, SourceRecord, VectorsRecord,
};
use crate::{
    OutboxChange, Source, SourceKey, contract,
    model::{
        CloseReason, ContentHash, Episode, EpisodeId, Message, SessionKey, Timestamp,
        graph::{Claim, EntityOrFact, Mark, Mention},
        hex,
        session::{Failure, Indexed, Indexing, Session, State, Unindexed},
        vector::Owner,
    },
    sled::envelope,
};

/// A record with its name and its encoding, and a function that reads an envelope.
struct Sample {
    name: String,
    sealed: Vec<u8>,
    reads: Box<Reads>,
}

/// A function that returns whether an envelope contains the value of the sample.
type Reads = dyn Fn(&[u8]) -> Result<bool, String>;

fn sample<M, R>(name: &str, model: M) -> Sample
where
    M: PartialEq + Clone + 'static,
    R: serde::Serialize + serde::de::DeserializeOwned + for<'m> From<&'m M>,
    M: TryFrom<R>,
    M::Error: std::fmt::Display,
{
    Sample {
        name: name.to_owned(),
        sealed: envelope::seal(&R::from(&model)),
        reads: Box::new(move |sealed| {
            let record: R = envelope::open(sealed)?;
            M::try_from(record).map(|read| read == model).map_err(|error| error.to_string())
        }),
    }
}

/// An outbox change whose reference can be converted to a record, as `sample` needs.
#[derive(Clone, PartialEq)]
struct GoldenOutbox(OutboxChange);

impl From<&GoldenOutbox> for OutboxRecord {
    fn from(entry: &GoldenOutbox) -> OutboxRecord {
        entry.0.clone().into()
    }
}

impl From<OutboxRecord> for GoldenOutbox {
    fn from(record: OutboxRecord) -> GoldenOutbox {
        GoldenOutbox(record.into())
    }
}

fn states() -> Vec<(&'static str, State)> {
    let at = Timestamp::from_seconds(1_700_000_000);
    let indexing = Indexing {
        reason: CloseReason::Hook("hook_clear".to_owned()),
        since: at,
        attempts: 2,
        written_since: true,
        again: Some(CloseReason::PreCompact),
    };
    let failure = Failure {
        error: "cannot read".to_owned(),
        attempts: 3,
        retry_at: Some(at),
        reason: CloseReason::LazyQuery,
    };
    vec![
        ("active", State::Active),
        ("inactive", State::Inactive),
        ("indexing", State::Indexing(indexing)),
        ("indexed", State::Indexed),
        ("failed", State::Failed(failure)),
        ("agent-gone", State::Unindexed(Unindexed::AgentGone { since: at })),
        ("history", State::Unindexed(Unindexed::History)),
        ("no-timeout", State::Unindexed(Unindexed::NoTimeout)),
    ]
}

fn samples() -> Vec<Sample> {
    let plain = contract::session(SessionKey(7), "aaaa-1");
    let episode: Episode = contract::episode(&plain, 1_700_000_000);
    let indexed = Indexed {
        episode: episode.id,
        hash: ContentHash([4; 32]),
        at: Timestamp::from_seconds(1_700_000_001),
        reason: CloseReason::InactivityTimeout,
    };
    let mut samples: Vec<Sample> = states()
        .into_iter()
        .map(|(name, state)| {
            let session = Session { state, indexed: Some(indexed.clone()), ..plain.clone() };
            sample::<Session, SessionRecord>(&format!("session-{name}"), session)
        })
        .collect();
    samples.push(sample::<Episode, EpisodeRecord>("episode", episode));
    for seq in 0..4 {
        let message = contract::message(seq, 40);
        samples.push(sample::<Message, MessageRecord>(&format!("message-{seq}"), message));
    }
    let source = contract::source_of(&plain, 1);
    samples.push(sample::<Source, SourceRecord>("source", source));
    let key = SourceKey { session: SessionKey(7), number: 1 };
    let id = EpisodeId(uuid::Uuid::from_bytes([9; 16]));
    let session = SessionKey(7);
    for (name, what) in [
        ("messages", OutboxChange::Messages { source: key, from: 3, count: 4, overwrites: true }),
        ("source-cleared", OutboxChange::SourceCleared(key)),
        ("session", OutboxChange::Session(session)),
        ("episode", OutboxChange::Episode(id)),
        ("episode-dropped", OutboxChange::EpisodeDropped { id, session }),
        ("session-dropped", OutboxChange::SessionDropped(session)),
    ] {
        samples.push(sample::<GoldenOutbox, OutboxRecord>(
            &format!("outbox-{name}"),
            GoldenOutbox(what),
        ));
    }
    samples.extend(of_statements());
    samples.push(of_vectors());
    samples
}

fn of_vectors() -> Sample {
    let vectors = contract::vectors(Owner::Session(SessionKey(7)), 2);
    Sample {
        name: "vectors".to_owned(),
        sealed: envelope::seal(&VectorsRecord::from(&vectors)),
        reads: Box::new(move |sealed| {
            let record: VectorsRecord = envelope::open(sealed)?;
            Ok(record.of(vectors.owner) == vectors)
        }),
    }
}

fn of_statements() -> Vec<Sample> {
    let statements = contract::statements(1_700_000_000);
    let (claim, mention) = (
        Claim { sentence: "It is so.".to_owned(), ..statements.claims[0].clone() },
        statements.mentions[0].clone(),
    );
    let entities_and_facts =
        vec![EntityOrFact::Entity(claim.source), EntityOrFact::Fact(claim.key)];
    let (claims, marks) = (vec![ClaimRecord::new(&claim, 5)], statements.marks.clone());
    let records: Vec<MarkRecord> = marks.iter().map(|mark| MarkRecord::new(mark, 5)).collect();
    let index = EpisodeIndexRecord {
        created_at: 5,
        entities: vec![[1; 16]],
        facts: vec![[2; 16]],
        subjects: vec![[3; 16]],
        renames: vec![([4; 16], [5; 16], 6)],
    };
    vec![
        sample::<GoldenOutbox, OutboxRecord>(
            "outbox-things",
            GoldenOutbox(OutboxChange::EntitiesAndFacts(entities_and_facts)),
        ),
        Sample {
            name: "mention".to_owned(),
            sealed: envelope::seal(&MentionRecord::new(&mention, 5)),
            reads: Box::new(move |sealed| {
                let record: MentionRecord = envelope::open(sealed)?;
                Ok(Mention::try_from(record)? == mention)
            }),
        },
        Sample {
            name: "claims".to_owned(),
            sealed: envelope::seal(&claims),
            reads: Box::new(move |sealed| {
                let mut records: Vec<ClaimRecord> = envelope::open(sealed)?;
                let record = records.pop().ok_or("no claim")?;
                Ok(Claim::try_from(record)? == claim)
            }),
        },
        Sample {
            name: "marks".to_owned(),
            sealed: envelope::seal(&records),
            reads: Box::new(move |sealed| {
                let records: Vec<MarkRecord> = envelope::open(sealed)?;
                Ok(records.into_iter().map(Mark::from).collect::<Vec<_>>() == marks)
            }),
        },
        Sample {
            name: "contents".to_owned(),
            sealed: envelope::seal(&index),
            reads: Box::new(move |sealed| {
                Ok(envelope::open::<EpisodeIndexRecord>(sealed)? == index)
            }),
        },
    ]
}

fn file(version: u8) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/sled/records/golden");
    folder.join(format!("v{version}.txt"))
}

/// A change to a record type needs a new version.
#[test]
fn records_of_this_version_are_unchanged() {
    let samples = samples();
    let file = file(envelope::VERSION);
    if std::env::var("GOLDEN").is_ok_and(|what| what == "write") {
        let lines =
            samples.iter().map(|one| format!("{} {}\n", one.name, hex::encode(&one.sealed)));
        fs::write(&file, lines.collect::<String>()).unwrap();
    }
    let golden = fs::read_to_string(&file).unwrap();
    let golden: Vec<(&str, Vec<u8>)> = golden
        .lines()
        .map(|line| line.split_once(' ').expect("a name and hex"))
        .map(|(name, hex)| (name, hex::decode(hex).expect("hex digits")))
        .collect();
    let names: Vec<&str> = samples.iter().map(|sample| sample.name.as_str()).collect();
    assert_eq!(golden.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    for (sample, (name, golden)) in samples.iter().zip(&golden) {
        assert_eq!((sample.reads)(golden), Ok(true), "reading {name}");
        // Only the payload is compared, because the compression may change.
        assert_eq!(envelope::unpack(&sample.sealed), envelope::unpack(golden), "writing {name}");
    }
}
