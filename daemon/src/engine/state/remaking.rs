//! Permits that older summaries are made again, and stores them.

use super::{EngineState, sessions::writes_of};
use crate::{
    engine::{
        job::NewEpisode,
        remake::{RemakeContext, RemakePermit},
    },
    model::{
        EpisodeId, SessionKey, Timestamp,
        session::{Session, State as SessionState},
    },
};

impl EngineState {
    /// Permits that the summary of a session is made again, when nothing else is to be done.
    pub(super) fn permit_remake(
        &mut self,
        key: SessionKey,
        episode: EpisodeId,
        now: Timestamp,
    ) -> RemakePermit {
        let is_writable = self.engine.check_writable().is_ok();
        let has_work = self.is_busy() || self.has_due_questions(now);
        if has_work || !is_writable || self.stopping.is_some() {
            return RemakePermit::Busy;
        }
        let Some(session) = self.session_with(key, episode) else { return RemakePermit::Refused };
        if self.reader.crash_tracker.quarantine(&session.id, now).is_some() {
            return RemakePermit::Refused;
        }
        self.remaking = Some(key);
        let (reader, parse_context) = (self.reader.clone(), self.settings.parse_context.clone());
        RemakePermit::Granted(Box::new(RemakeContext { session, reader, parse_context }))
    }

    /// Stores an episode that was made again. Returns whether it is still wanted: the session may have
    /// another episode, or a model may have written this one meanwhile.
    pub(super) fn store_remade(&mut self, made: NewEpisode) -> bool {
        let NewEpisode { episode, .. } = &made;
        let is_permitted = self.remaking.take() == Some(episode.session);
        let is_wanted = is_permitted
            && self.stopping.is_none()
            && self.session_with(episode.session, episode.id).is_some();
        if is_wanted {
            // A failed write changes the condition of the store, which ends the round.
            let _ = self.engine.store.write(writes_of(made));
        }
        is_wanted
    }

    /// An indexed session that has this episode.
    fn session_with(&self, key: SessionKey, episode: EpisodeId) -> Option<Session> {
        self.session(key).filter(|session| {
            let has_episode =
                session.indexed.as_ref().is_some_and(|indexed| indexed.episode == episode);
            has_episode && session.state == SessionState::Indexed
        })
    }
}
