//! Decides which sessions and passages match a query's filters.

use rustc_hash::FxHashSet;

use crate::{
    index::{attributes, memory::Attribute, shard::Shard, view::View, work},
    model::Timestamp,
    passage::{Kinds, PassageKind},
    query::{Filter, Query, dates::TimeRange},
    rank::{cards, lists, scope::Scope},
    text,
};

/// A query's filters, resolved for one view.
pub(crate) struct FilterSet {
    /// Admitted sessions; `None` for all.
    allowed: Option<FxHashSet<u64>>,
    banned: FxHashSet<u64>,
    kinds: Kinds,
    /// The start (inclusive) and the end (exclusive), in seconds since the epoch.
    during: Vec<(i64, i64)>,
    not_during: Vec<(i64, i64)>,
    /// One entry for each shard.
    documents: Vec<Documents>,
}

/// The documents of one shard that the filters on tools and branches admit or exclude.
#[derive(Default)]
struct Documents {
    /// In ascending order, like `banned`.
    allowed: Option<Vec<u32>>,
    banned: Vec<u32>,
}

impl FilterSet {
    pub(crate) fn new(query: &Query, scope: &Scope, view: &View<'_>) -> tantivy::Result<FilterSet> {
        let mut filters = FilterSet {
            allowed: scope.within.map(|session| FxHashSet::from_iter([session.0])),
            banned: scope.without.iter().map(|session| session.0).collect(),
            kinds: kinds(query),
            during: ranges(query, false),
            not_during: ranges(query, true),
            documents: Vec::with_capacity(view.shards.len()),
        };
        if let Some(allowed) = cards::allowed(query, scope, view)? {
            filters.restrict(allowed);
        }
        filters.apply_file_filters(query, view)?;
        filters.apply_excluded_phrases(query, view)?;
        for shard in &view.shards {
            filters.documents.push(documents(query, shard)?);
        }
        Ok(filters)
    }

    pub(crate) fn has_passage_filters(&self) -> bool {
        self.kinds != Kinds::ALL
            || !self.during.is_empty()
            || !self.not_during.is_empty()
            || self
                .documents
                .iter()
                .any(|documents| documents.allowed.is_some() || !documents.banned.is_empty())
    }

    #[inline]
    pub(crate) fn admits_session(&self, session: u64) -> bool {
        !self.banned.contains(&session)
            && self.allowed.as_ref().is_none_or(|allowed| allowed.contains(&session))
    }

    /// Whether a passage is admitted, regardless of its session.
    #[inline]
    pub(crate) fn admits(&self, shard: &Shard<'_>, document: u32, kind: PassageKind) -> bool {
        let documents = &self.documents[shard.number];
        self.kinds.contains(kind)
            && documents.allowed.as_ref().is_none_or(|all| all.binary_search(&document).is_ok())
            && (documents.banned.is_empty() || documents.banned.binary_search(&document).is_err())
            && ((self.during.is_empty() && self.not_during.is_empty())
                || self.admits_time(shard.at(document)))
    }

    fn admits_time(&self, at: i64) -> bool {
        let within = |range: &(i64, i64)| range.0 <= at && at < range.1;
        self.during.iter().all(within) && !self.not_during.iter().any(within)
    }

    fn apply_file_filters(&mut self, query: &Query, view: &View<'_>) -> tantivy::Result<()> {
        let mut wanted: Option<FxHashSet<u64>> = None;
        for condition in &query.conditions {
            let Filter::File(file) = &condition.filter else { continue };
            let sessions = match condition.is_negated {
                true => &mut self.banned,
                false => wanted.get_or_insert_default(),
            };
            let name = attributes::end_of_path(work::without_line(file));
            for shard in &view.shards {
                let documents = shard.documents_with(Attribute::File, &name)?;
                sessions.extend(documents.into_iter().map(|document| shard.session(document)));
            }
        }
        if let Some(wanted) = wanted {
            self.restrict(wanted);
        }
        Ok(())
    }

    fn apply_excluded_phrases(&mut self, query: &Query, view: &View<'_>) -> tantivy::Result<()> {
        for phrase in &query.excluded {
            for shard in &view.shards {
                let found = lists::with_phrase(shard, phrase, usize::MAX)?.into_iter();
                let alive = found.map(|(document, _)| document).filter(|it| shard.is_alive(*it));
                self.banned.extend(alive.map(|document| shard.session(document)));
            }
        }
        Ok(())
    }

    fn restrict(&mut self, sessions: FxHashSet<u64>) {
        self.allowed = Some(match self.allowed.take() {
            Some(allowed) => allowed.intersection(&sessions).copied().collect(),
            None => sessions,
        });
    }
}

fn kinds(query: &Query) -> Kinds {
    let mut only: Option<Kinds> = None;
    let mut not = Kinds::of(&[]);
    for condition in &query.conditions {
        match condition.filter {
            Filter::Kinds(kinds) if condition.is_negated => not = not.or(kinds),
            Filter::Kinds(kinds) => only = Some(only.map_or(kinds, |only| only.or(kinds))),
            _ => {}
        }
    }
    only.unwrap_or(Kinds::ALL).and(not.inverse())
}

/// Returns the periods in which passages must lie, or must not lie if `is_negated`.
fn ranges(query: &Query, is_negated: bool) -> Vec<(i64, i64)> {
    let conditions = query.conditions.iter().filter(|it| it.is_negated == is_negated);
    let ranges = conditions.filter_map(|condition| match condition.filter {
        Filter::During(range) => Some(in_seconds(range)),
        _ => None,
    });
    ranges.collect()
}

/// Resolves the filters on tools and branches for one shard.
fn documents(query: &Query, shard: &Shard<'_>) -> tantivy::Result<Documents> {
    let mut found = Documents::default();
    for attribute in [Attribute::Tool, Attribute::Branch] {
        let mut wanted: Option<Vec<u32>> = None;
        for condition in &query.conditions {
            let term = match (&condition.filter, attribute) {
                (Filter::Tool(name), Attribute::Tool) => text::folded(name),
                (Filter::Branch(name), Attribute::Branch) => text::folded(name),
                _ => continue,
            };
            let documents = shard.documents_with(attribute, &term)?;
            if condition.is_negated {
                found.banned.extend(documents);
            } else {
                wanted.get_or_insert_default().extend(documents);
            }
        }
        if let Some(mut wanted) = wanted {
            wanted.sort_unstable();
            wanted.dedup();
            if let Some(allowed) = &found.allowed {
                wanted.retain(|document| allowed.binary_search(document).is_ok());
            }
            found.allowed = Some(wanted);
        }
    }
    found.banned.sort_unstable();
    Ok(found)
}

fn in_seconds(range: TimeRange) -> (i64, i64) {
    let seconds = |at: Timestamp| match at {
        Timestamp::MAX => i64::MAX,
        at => at.micros().div_euclid(1_000_000),
    };
    let from = if range.from == Timestamp::MIN { i64::MIN } else { seconds(range.from) };
    (from, seconds(range.to))
}
