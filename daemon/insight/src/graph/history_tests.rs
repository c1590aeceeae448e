//! Tests with random sequences of indexing, replacing and deleting, compared with a small model.
//!
//! The model has no rows, marks or periods. It stores what each session states. For each value, it
//! searches for the next statement of a different value.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::{
    graph::{FactFilter, Graph},
    model::{
        Episode, EpisodeId, Fact, Namespace, Project, SessionEnding, SessionKey, Timestamp,
        graph::{
            Certainty, Claim, EntityId, EntityKind, EntityOrFact, FactKey, Mark, Mention,
            Observation, Relation, Rename, Stance, Statements, Subject, Watch, fingerprint,
        },
    },
    store::{Store, Write, contract, graph::GraphStore, sled::SledStore},
};

const SESSIONS: u64 = 4;

/// The values that a session states, by setting and time.
type StatedValues = BTreeMap<(u8, i64), u8>;

#[derive(Clone, Debug)]
enum HistoryStep {
    /// Indexes an episode of the session, which replaces an earlier episode of the session. The
    /// flag shows whether the session renames the first file.
    Index(u64, StatedValues, bool),
    Delete(u64),
}

/// The statements of each session, and whether the session renames the first file.
type EpisodeModel = BTreeMap<u64, (EpisodeId, StatedValues, bool)>;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn facts_follow_from_the_stored_episodes(steps in history()) {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let mut model = EpisodeModel::new();
        for (number, step) in (0..).zip(&steps) {
            apply(&store, &mut model, step, number);
        }
        store.write(Vec::new()).wait().unwrap();
        check(&store, &model);
        // The same sessions in another order have the same result.
        let other_folder = tempfile::tempdir().unwrap();
        let other = SledStore::open(other_folder.path()).unwrap();
        for (session, (id, values, renames)) in model.iter().rev() {
            write(&other, *session, *id, values, *renames);
        }
        other.write(Vec::new()).wait().unwrap();
        prop_assert_eq!(everything(&store), everything(&other));
        // After all sessions are deleted, nothing remains.
        for session in 0..SESSIONS {
            apply(&store, &mut model, &HistoryStep::Delete(session), 0);
        }
        store.write(Vec::new()).wait().unwrap();
        prop_assert!(entities_and_facts(&store).is_empty());
        check(&store, &model);
    }
}

#[test]
fn sessions_with_the_same_title_have_their_own_endings() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let id = |number: u8| EpisodeId::new(Timestamp::from_seconds(1_000), [number; 10]);
    let report = |number: u8| SessionEnding {
        report: Some(format!("Report {number}")),
        ..SessionEnding::default()
    };
    for number in 1..=2 {
        let session = contract::session(SessionKey(number.into()), &format!("s{number}"));
        let episode = Episode { id: id(number), ..contract::episode(&session, 1_000) };
        let values = BTreeMap::from([((0, i64::from(number)), 1)]);
        let mut statements = statements(&episode, &values, false);
        statements.claims[0].relation = Relation::TaskState;
        let ending = report(number);
        let named = ending.named().into_iter();
        statements.claims[0].details =
            named.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        write_statements(&store, session, episode, statements);
    }
    store.write(Vec::new()).wait().unwrap();
    for number in 1..=2 {
        let states = Graph::of(&store).statement_states(id(number), at(100)).unwrap();
        assert_eq!(*states.ending(), report(number));
    }
}

#[test]
fn a_limit_keeps_the_facts_that_began_last() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    // The value of the first setting holds from second 10, and is stated again at 50 and 60.
    let stated = [((0, 10), 1), ((1, 20), 1), ((2, 30), 1), ((0, 50), 1), ((0, 60), 1)];
    let id = EpisodeId::new(Timestamp::from_seconds(1_000), [1; 10]);
    write(&store, 0, id, &BTreeMap::from(stated), false);
    store.write(Vec::new()).wait().unwrap();
    let latest = |limit: usize| -> Vec<i64> {
        let wanted = FactFilter { limit, ..all() };
        let facts = Graph::of(&store).facts(&[namespace()], &wanted).unwrap();
        facts.iter().map(|fact| seconds(fact.valid_at)).collect()
    };
    assert_eq!(latest(0), [0; 0]);
    assert_eq!(latest(1), [30]);
    assert_eq!(latest(2), [30, 20]);
    assert_eq!(latest(9), [30, 20, 10]);
}

fn history() -> impl Strategy<Value = Vec<HistoryStep>> {
    // The times of the sessions differ, so that no two events coincide.
    let values = prop::collection::btree_map((0..3u8, 0..6i64), 0..3u8, 0..5);
    let index = (0..SESSIONS, values, any::<bool>()).prop_map(|(session, values, renames)| {
        let unique = |time: i64| time * 10 + i64::try_from(session).unwrap() + 1;
        let values =
            values.into_iter().map(|((setting, time), value)| ((setting, unique(time)), value));
        HistoryStep::Index(session, values.collect(), renames)
    });
    let step = prop_oneof![4 => index, 1 => (0..SESSIONS).prop_map(HistoryStep::Delete)];
    prop::collection::vec(step, 1..14)
}

fn apply(store: &SledStore, model: &mut EpisodeModel, step: &HistoryStep, number: u8) {
    match step {
        HistoryStep::Index(session, values, renames) => {
            let ended = Timestamp::from_seconds(1_000 + i64::try_from(*session).unwrap());
            let id = EpisodeId::new(ended, [number; 10]);
            write(store, *session, id, values, *renames);
            model.insert(*session, (id, values.clone(), *renames));
        }
        HistoryStep::Delete(session) => {
            drop(store.write(vec![Write::DropSession(SessionKey(*session + 1))]));
            model.remove(session);
        }
    }
}

fn write(store: &SledStore, session: u64, id: EpisodeId, values: &StatedValues, renames: bool) {
    let mut session = contract::session(SessionKey(session + 1), &format!("s{session}"));
    let episode = Episode { id, ..contract::episode(&session, 1_000) };
    session.indexed = Some(crate::model::session::Indexed {
        episode: id,
        hash: episode.content_hash,
        at: episode.created_at,
        reason: episode.reason.clone(),
    });
    let statements = statements(&episode, values, renames);
    write_statements(store, session, episode, statements);
}

fn write_statements(
    store: &SledStore,
    session: crate::model::session::Session,
    episode: Episode,
    statements: Statements,
) {
    let (id, statements) = (episode.id, Box::new(statements));
    drop(store.write(vec![
        Write::Episode(Box::new(episode)),
        Write::Statements { episode: id, statements },
        Write::Session(Box::new(session)),
    ]));
}

fn statements(episode: &Episode, values: &StatedValues, renames: bool) -> Statements {
    let mut statements = Statements { created_at: episode.created_at, ..Statements::default() };
    let mut mentions: BTreeMap<EntityId, Mention> = BTreeMap::new();
    for ((setting, time), value) in values {
        let (source, subject) = (entity(*setting), subject(*setting));
        mentions.insert(source, mention(*setting, at(*time)));
        let held = fingerprint(&value.to_string());
        statements.marks.push(Mark {
            subject,
            at: at(*time),
            observation: Observation::Value(held),
        });
        statements.claims.push(Claim {
            key: fact(*setting, *value),
            namespace: namespace(),
            relation: Relation::SetTo,
            source,
            target: source,
            others: Vec::new(),
            sentence: format!("{setting} is {value}."),
            at: at(*time),
            certainty: Certainty::Verified,
            watches: vec![Watch { subject, stance: Stance::Value(held) }],
            origins: Vec::new(),
            details: Vec::new(),
        });
    }
    if renames {
        for file in [0, 9] {
            mentions.insert(entity(file), mention(file, at(500)));
        }
        statements.renames.push(Rename { from: entity(0), to: entity(9), at: at(500) });
    }
    statements.mentions = mentions.into_values().collect();
    statements
}

fn check(store: &SledStore, model: &EpisodeModel) {
    let graph = Graph::of(store);
    for setting in 0..3u8 {
        for value in 0..3u8 {
            let found = graph.spans(fact(setting, value)).unwrap();
            let found: Vec<_> = found
                .iter()
                .map(|fact| {
                    let end = fact.invalid_at.map(seconds);
                    (seconds(fact.valid_at), end, fact.episodes.clone())
                })
                .collect();
            assert_eq!(found, spans(model, setting, value), "{setting} is {value}");
        }
        let named = model.values().filter(|(_, values, renames)| {
            let is_stated = values.keys().any(|(stated, _)| *stated == setting);
            is_stated || setting == 0 && *renames
        });
        let entity = graph.entity(entity(setting)).unwrap();
        assert_eq!(entity.map_or(0, |entity| entity.episodes), named.count(), "{setting}");
    }
    let is_renamed = model.values().any(|(_, _, renames)| *renames);
    if let Some(file) = graph.entity(entity(0)).unwrap() {
        let name = if is_renamed { entity(9) } else { entity(0) };
        assert_eq!(file.id, name);
        assert_eq!(graph.around(entity(0), &all()), graph.around(file.id, &all()));
    }
    for (id, values, _) in model.values() {
        let stated = graph.of_episode(*id).unwrap();
        let wanted: BTreeSet<FactKey> =
            values.iter().map(|((setting, _), value)| fact(*setting, *value)).collect();
        let found: BTreeSet<FactKey> = stated.facts.iter().map(|fact| fact.id.key()).collect();
        assert_eq!(found, wanted);
    }
}

/// Returns the periods in which `setting` was `value`, with the episodes that state the value. A
/// period begins with a statement of this value and ends with the next statement of another value.
fn spans(model: &EpisodeModel, setting: u8, value: u8) -> Vec<(i64, Option<i64>, Vec<EpisodeId>)> {
    let mut values: Vec<(i64, u8, EpisodeId)> = Vec::new();
    for (id, stated, _) in model.values() {
        let of_setting = stated.iter().filter(|((stated, _), _)| *stated == setting);
        values.extend(of_setting.map(|((_, time), value)| (*time, *value, *id)));
    }
    values.sort_unstable();
    let mut spans: BTreeMap<Option<i64>, (i64, BTreeSet<EpisodeId>)> = BTreeMap::new();
    for (time, _, id) in values.iter().filter(|(_, stated, _)| *stated == value) {
        let other = values.iter().find(|(later, stated, _)| later > time && *stated != value);
        let end = other.map(|(end, ..)| *end);
        let span = spans.entry(end).or_insert((*time, BTreeSet::new()));
        span.1.insert(*id);
    }
    let mut spans: Vec<_> = spans
        .into_iter()
        .map(|(end, (start, ids))| (start, end, ids.into_iter().collect()))
        .collect();
    spans.sort();
    spans
}

fn everything(store: &SledStore) -> (Vec<EntityOrFact>, Vec<Fact>) {
    let facts = Graph::of(store).facts(&[namespace()], &all()).unwrap();
    (entities_and_facts(store), facts)
}

fn entities_and_facts(store: &SledStore) -> Vec<EntityOrFact> {
    let mut found = Vec::new();
    store
        .visit_entities_and_facts(&mut |row| {
            found.push(row);
            true
        })
        .unwrap();
    found
}

fn all() -> FactFilter {
    FactFilter { relations: Vec::new(), at: None, limit: 1_000 }
}

fn namespace() -> Namespace {
    Project::new("/home/ann/app").namespace()
}

fn entity(setting: u8) -> EntityId {
    EntityId::of(EntityKind::Setting, namespace(), &setting.to_string())
}

fn mention(setting: u8, at: Timestamp) -> Mention {
    Mention {
        entity: entity(setting),
        kind: EntityKind::Setting,
        namespace: namespace(),
        name: setting.to_string(),
        at,
    }
}

fn subject(setting: u8) -> Subject {
    Subject::of("setting", namespace(), &setting.to_string())
}

fn fact(setting: u8, value: u8) -> FactKey {
    FactKey::of(Relation::SetTo, entity(setting), entity(setting), &value.to_string())
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

fn seconds(at: Timestamp) -> i64 {
    at.micros() / 1_000_000
}
