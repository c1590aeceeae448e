//! An index and sample data for tests.

use jiff::{Zoned, civil::date, tz::TimeZone};

use crate::{
    index::{Card, IndexChange, Position, SearchIndex},
    model::{Message, Namespace, Project, Role, SessionKey, Timestamp, transcript::Origin},
    query::Query,
    rank::{RankRequest, Results, Scope, SecondRanker, Weights},
};

/// Returns Wednesday, 18 March 2026, noon.
pub(crate) fn now() -> Zoned {
    date(2026, 3, 18).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap()
}

/// Returns noon of a day of 2026.
pub(crate) fn day(month: i8, day: i8) -> Timestamp {
    let noon = date(2026, month, day).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap();
    Timestamp::from_micros(noon.timestamp().as_microsecond())
}

/// Builds the card of a session of the project `/home/ann/app`, on 1 March.
pub(crate) fn card(session: u64) -> Card {
    Card {
        session: SessionKey(session),
        namespace: Namespace::from_number(1),
        project: Some(Project::new("/home/ann/app")),
        agent: "claude".to_owned(),
        started_at: Some(day(3, 1)),
        ended_at: day(3, 1),
    }
}

/// Builds the first message of a session's own file.
pub(crate) fn message(role: Role, text: &str) -> Message {
    Message {
        seq: 0,
        origin: Origin { source: 0, line: 1 },
        uuid: None,
        role,
        at: None,
        text: text.to_owned(),
        tool: None,
        files: Vec::new(),
        branch: None,
    }
}

/// Builds messages of the user in a session's own file.
pub(crate) fn user_messages(card: Card, texts: &[&str]) -> IndexChange {
    let messages = (0..).zip(texts).map(|(seq, text)| Message {
        seq,
        origin: Origin { source: 0, line: u64::from(seq) + 1 },
        ..message(Role::User, text)
    });
    IndexChange::Messages { card, messages: messages.collect() }
}

/// An index in a temporary folder.
pub(crate) struct TestIndex {
    pub(crate) index: SearchIndex,
    pub(crate) folder: tempfile::TempDir,
    next: std::cell::Cell<u64>,
}

impl TestIndex {
    pub(crate) fn new() -> TestIndex {
        let folder = tempfile::tempdir().unwrap();
        let index = SearchIndex::create(folder.path()).unwrap();
        TestIndex { index, folder, next: std::cell::Cell::new(1) }
    }

    pub(crate) fn with(changes: impl IntoIterator<Item = IndexChange>) -> TestIndex {
        let index = TestIndex::new();
        changes.into_iter().for_each(|change| index.apply(change));
        index
    }

    /// Applies a change at the next position.
    pub(crate) fn apply(&self, change: IndexChange) {
        self.index.apply(change, Position(self.next.get()));
        self.next.set(self.next.get() + 1);
    }

    /// Returns the numbers of the matching sessions, best first.
    pub(crate) fn find(&self, question: &str) -> Vec<u64> {
        keys(&self.search(question))
    }

    pub(crate) fn search(&self, question: &str) -> Results {
        search(&self.index, question, &Scope::default(), None)
    }
}

pub(crate) fn search(
    index: &SearchIndex,
    question: &str,
    scope: &Scope,
    second: Option<&dyn SecondRanker>,
) -> Results {
    let query = Query::parse(question, &now());
    let now = Timestamp::from_micros(now().timestamp().as_microsecond());
    let weights = Weights::default();
    index
        .search(&RankRequest {
            query: &query,
            scope,
            now,
            limit: 10,
            weights: &weights,
            second,
            session_filter: None,
        })
        .unwrap()
}

pub(crate) fn keys(results: &Results) -> Vec<u64> {
    results.sessions.iter().map(|hit| hit.session.0).collect()
}
