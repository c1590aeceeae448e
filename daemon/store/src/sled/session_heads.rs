//! Keeps the heads ([`SessionHead`]) of all sessions in memory after they are first read, because
//! decoding every session for a list takes a quarter of a second for 90,000 sessions.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sled::Tree;

use super::{agent_totals::CountedChanges, keys::table, reading::read, records::SessionRecord};
use crate::{
    SessionHead, StoreError,
    model::{SessionKey, episode::MEMORY, session::Session},
};

/// The heads of all sessions in the tree, without added memories; `None` until they are read.
#[derive(Debug, Default)]
pub(super) struct SessionHeads(Mutex<Option<Heads>>);

#[derive(Debug, Default)]
struct Heads {
    sessions: BTreeMap<SessionKey, SessionHead>,
    /// The names of the agents. The heads share them.
    agents: HashSet<Arc<str>>,
}

impl SessionHeads {
    /// Calls `visit` for every session, in the order of the keys. Reads the sessions of `tree` at
    /// the first call. Meanwhile, [`SessionHeads::update`] blocks, so that no change is missed.
    pub(super) fn visit(
        &self,
        tree: &Tree,
        visit: &mut dyn FnMut(SessionKey, &SessionHead),
    ) -> Result<(), StoreError> {
        let mut heads = self.lock();
        let heads = match &mut *heads {
            Some(heads) => heads,
            none => none.insert(Heads::load(tree)?),
        };
        heads.sessions.iter().for_each(|(key, head)| visit(*key, head));
        Ok(())
    }

    /// Applies changes that the tree contains already.
    pub(super) fn update(&self, changes: &CountedChanges) {
        let mut heads = self.lock();
        if changes.has_rows {
            *heads = None;
        }
        let Some(heads) = &mut *heads else { return };
        for (key, session) in &changes.sessions {
            match session {
                Some(session) => heads.put(session),
                None => drop(heads.sessions.remove(key)),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Heads>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heads {
    fn load(tree: &Tree) -> Result<Heads, StoreError> {
        let mut heads = Heads::default();
        for row in tree.scan_prefix([table::SESSIONS]) {
            let (key, value) = row?;
            let session = read::<SessionRecord, Session>(&key, &value)?;
            if session.id.agent != MEMORY {
                heads.put(&session);
            }
        }
        Ok(heads)
    }

    fn put(&mut self, session: &Session) {
        let mut head = SessionHead::from(session);
        match self.agents.get(&head.agent) {
            Some(agent) => head.agent = agent.clone(),
            None => drop(self.agents.insert(head.agent.clone())),
        }
        self.sessions.insert(session.key, head);
    }
}
