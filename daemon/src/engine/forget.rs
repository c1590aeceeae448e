//! Forgets sessions, and restores forgotten ones.

use crate::{
    clock,
    engine::{
        Engine, EngineError, ForgottenSession,
        command::EngineCommand,
        command::failed,
        defect,
        forgotten::{self, ForgottenWrites},
    },
    model::{SessionId, SessionKey, Timestamp, episode::MEMORY},
    store::{StoreError, Write},
};

impl Engine {
    /// Forgets sessions. Stored sessions are deleted with all data derived from them. Sessions
    /// that were not read yet will not be read. The work continues to its end even if the caller
    /// disconnects. Returns the sessions with damaged messages, which are not recognised in copies.
    pub async fn forget(
        &self,
        sessions: Vec<(SessionId, Option<SessionKey>)>,
    ) -> Result<Vec<SessionId>, EngineError> {
        let engine = self.clone();
        let forgetting = tokio::spawn(async move { engine.forget_all(sessions).await });
        forgetting.await.map_err(|error| failed(defect::describe(&error)))?
    }

    async fn forget_all(
        &self,
        mut sessions: Vec<(SessionId, Option<SessionKey>)>,
    ) -> Result<Vec<SessionId>, EngineError> {
        let now = clock::now();
        // From here on, a file of these sessions does not start a new session.
        for (id, _) in &sessions {
            self.forgotten.add(id, now, &[]);
        }
        let released = self.release_all(&mut sessions).await;
        let forget_uses = || sessions.iter().for_each(|(id, _)| self.memory_use.forget(&id.id));
        let (mut position, mut failure) = (0, None);
        let mut damaged = Vec::new();
        // The messages of added memories are not summarized.
        let has_summaries =
            sessions.iter().any(|(id, session)| session.is_some() && id.agent != MEMORY);
        if released.is_ok() && has_summaries {
            // If the process ends during the deletions, no text of a deleted session may be left.
            failure = self.clear_message_summaries().await.err();
            forget_uses();
        }
        // Each session has its own list of writes. The list removes the session and records that it
        // was forgotten, in one transaction.
        for (id, session) in &sessions {
            let dropped = match &released {
                Ok(()) => self.drop_session(id.clone(), *session, now).await.map_err(failed),
                Err(error) => Err(error.clone()),
            };
            match dropped {
                Ok(dropped) => {
                    position = dropped.position;
                    damaged.extend((!dropped.is_complete).then(|| id.clone()));
                }
                Err(error) => {
                    self.forgotten.remove(id);
                    failure = Some(error);
                }
            }
        }
        // A handoff may have offered lines of the sessions during the deletions.
        forget_uses();
        let keys = keys_of(&sessions);
        self.request(|reply| EngineCommand::ReleaseEnded { sessions: keys, reply }).await?;
        let projects = self.projects.clone();
        // The directory of a project is forgotten together with its last session.
        let noting = tokio::task::spawn_blocking(move || projects.note_all(clock::now(), &|| true));
        noting.await.map_err(|error| failed(defect::describe(&error)))?;
        // The sessions are deleted from the database. The search index deletes them at the next
        // start at the latest.
        let _ = self.wait_until_searchable(position).await;
        failure.map_or(Ok(damaged), Err)
    }

    /// Looks up the sessions, and makes the engine stop tracking them. Does this twice, because a
    /// session may be registered between the two steps.
    async fn release_all(
        &self,
        sessions: &mut [(SessionId, Option<SessionKey>)],
    ) -> Result<(), EngineError> {
        for _ in 0..2 {
            for (id, session) in sessions.iter_mut().filter(|(_, session)| session.is_none()) {
                *session = self.store.find_session(id).map_err(failed)?;
            }
            let keys = keys_of(sessions);
            self.request(|reply| EngineCommand::Release { sessions: keys, reply }).await?;
        }
        Ok(())
    }

    /// Deletes the cached summaries of messages. The cache does not know the sessions of the
    /// messages.
    async fn clear_message_summaries(&self) -> Result<(), EngineError> {
        let summarizer = self.summarizer().await?;
        let clearing = tokio::task::spawn_blocking(move || summarizer.summaries.clear());
        let cleared = clearing.await.map_err(|error| failed(defect::describe(&error)))?;
        cleared.map_err(failed)
    }

    async fn drop_session(
        &self,
        id: SessionId,
        session: Option<SessionKey>,
        now: Timestamp,
    ) -> Result<DroppedSession, StoreError> {
        let (store, known) = (self.store.clone(), id.clone());
        let gathered = tokio::task::spawn_blocking(move || {
            forgotten::writes(store.as_ref(), &known, session, now)
        });
        let ForgottenWrites { mut writes, fork_keys, is_complete } = gathered
            .await
            .map_err(|error| StoreError::Backend(defect::describe(&error).to_owned()))??;
        writes.extend(session.map(Write::DropSession));
        let position = self.store.write(writes).done().await?;
        self.forgotten.add(&id, now, &fork_keys);
        Ok(DroppedSession { position, is_complete })
    }

    /// Returns the sessions that were forgotten.
    pub fn forgotten(&self) -> Vec<ForgottenSession> {
        self.forgotten.list()
    }

    pub fn is_forgotten(&self, id: &SessionId) -> bool {
        self.forgotten.has(id)
    }

    /// Removes a session from the list of forgotten sessions, and ingests its transcript if the
    /// transcript still exists. Returns whether the transcript was ingested.
    pub async fn restore_forgotten(&self, id: &SessionId) -> Result<bool, EngineError> {
        self.store.write(forgotten::restore_writes(id)).done().await.map_err(failed)?;
        self.forgotten.remove(id);
        let candidates = self.backfill_candidates(None).await?;
        match candidates.iter().find(|candidate| candidate.id == *id) {
            Some(candidate) => Ok(self.ingest(candidate).await?.is_some()),
            None => Ok(false),
        }
    }
}

/// A session that was deleted.
struct DroppedSession {
    /// The outbox position after the deletion.
    position: u64,
    /// See [`ForgottenWrites::is_complete`].
    is_complete: bool,
}

/// Returns the keys of the sessions that have a key. A session that was never read has no key.
fn keys_of(sessions: &[(SessionId, Option<SessionKey>)]) -> Vec<SessionKey> {
    sessions.iter().filter_map(|(_, session)| *session).collect()
}
