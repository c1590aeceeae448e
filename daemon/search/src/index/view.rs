//! A consistent view of the whole index at one moment.

use std::collections::HashSet;

use crate::{
    index::{
        change::Card,
        disk::{CardRow, DiskShard},
        facts::CardFacts,
        passages::seconds,
        shard::{Shard, Store},
        tail::Tail,
        terms,
    },
    model::Project,
    text::language::LanguageSet,
};

/// All shards of the index, earlier shards first.
pub(crate) struct View<'s> {
    pub shards: Vec<Shard<'s>>,
    disk: &'s [DiskShard],
    layers: &'s [Tail],
}

impl<'s> View<'s> {
    pub(crate) fn new(disk: &'s [DiskShard], layers: &'s [Tail]) -> View<'s> {
        let tombstones_after = |layer: usize| {
            let later = layers[layer..].iter().map(Tail::tombstones);
            later.filter(|tombstones| !tombstones.is_empty()).collect::<Vec<_>>()
        };
        let on_disk = disk.iter().enumerate().map(|(number, shard)| Shard {
            number,
            store: Store::Disk(shard),
            tombstones: tombstones_after(0),
        });
        let in_memory = layers.iter().enumerate().map(|(layer, tail)| Shard {
            number: disk.len() + layer,
            store: Store::Memory(tail.shard()),
            tombstones: tombstones_after(layer + 1),
        });
        View { shards: on_disk.chain(in_memory).collect(), disk, layers }
    }

    /// Returns the number of passages. Deletions by later layers are not subtracted.
    pub(crate) fn passages(&self) -> u64 {
        self.shards.iter().map(|shard| u64::from(shard.passages())).sum()
    }

    /// Whether a word occurs in any form.
    pub(crate) fn contains(&self, word: &str) -> tantivy::Result<bool> {
        for term in terms::terms_for_all_forms(word, self.languages())
            .iter()
            .map(String::as_str)
            .chain([word])
        {
            for shard in &self.shards {
                if shard.term(term)?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns the languages, other than English, of the texts in the index.
    pub(crate) fn languages(&self) -> LanguageSet {
        self.shards.iter().map(Shard::languages).fold(LanguageSet::default(), LanguageSet::union)
    }

    pub(crate) fn length(&self) -> u64 {
        self.shards.iter().map(Shard::length).sum()
    }

    /// Returns the approximate number of sessions: the number on disk or in the largest layer,
    /// whichever is greater.
    pub(crate) fn sessions(&self) -> u64 {
        let on_disk: u64 = self.disk.iter().map(|shard| u64::from(shard.cards())).sum();
        let latest = self.layers.iter().map(|layer| layer.cards().len() as u64).max();
        on_disk.max(latest.unwrap_or_default())
    }

    pub(crate) fn card(&self, session: u64) -> tantivy::Result<Option<CardFacts>> {
        for layer in self.layers.iter().rev() {
            if let Some(card) = layer.cards().get(&session) {
                return Ok(Some(facts(card)));
            }
            if layer.tombstones().sessions.contains(&session) {
                return Ok(None);
            }
        }
        for shard in self.disk {
            if let Some(card) = shard.card(session)? {
                return Ok(Some(card));
            }
        }
        Ok(None)
    }

    pub(crate) fn each_session(
        &self,
        visit: &mut dyn FnMut(SessionRow<'_>),
    ) -> tantivy::Result<()> {
        let mut seen: HashSet<u64> = HashSet::new();
        for layer in self.layers.iter().rev() {
            for card in layer.cards().values().filter(|card| !seen.contains(&card.session.0)) {
                visit(SessionRow {
                    session: card.session.0,
                    namespace: card.namespace.number(),
                    project: card.project.as_ref().map(Project::path),
                    agent: &card.agent,
                    ended: seconds(card.ended_at),
                });
            }
            seen.extend(layer.cards().keys());
            seen.extend(&layer.tombstones().sessions);
        }
        for shard in self.disk {
            let (projects, agents) = (shard.project_names()?, shard.agent_names()?);
            shard.each_card(&mut |row: CardRow| {
                if seen.contains(&row.session) {
                    return;
                }
                let agent = row.agent.and_then(|number| agents.get(&number));
                let project = row.project.and_then(|number| projects.get(&number));
                visit(SessionRow {
                    session: row.session,
                    namespace: row.namespace,
                    project: project.map(String::as_str),
                    agent: agent.map_or("", String::as_str),
                    ended: row.ended,
                });
            })?;
        }
        Ok(())
    }
}

/// The data of a session that [`View::each_session`] passes to `visit`.
pub(crate) struct SessionRow<'r> {
    pub(crate) session: u64,
    pub(crate) namespace: u32,
    pub(crate) project: Option<&'r str>,
    pub(crate) agent: &'r str,
    /// Seconds since the epoch.
    pub(crate) ended: i64,
}

fn facts(card: &Card) -> CardFacts {
    CardFacts {
        namespace: card.namespace.number(),
        project: card.project.as_ref().map(|project| project.path().to_owned()),
        agent: card.agent.clone(),
        started: seconds(card.started_at.unwrap_or(card.ended_at)),
        ended: seconds(card.ended_at),
    }
}
