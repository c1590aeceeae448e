//! Gives the permission to create older summaries again, and stores the new summaries.

use tokio::sync::oneshot;

use super::{EngineEffect, EngineState, sessions::writes_of};
use crate::{
    engine::{new_episode::NewEpisode, remake_permit::RemakePermit},
    model::{
        EpisodeId, SessionKey, Timestamp,
        session::{Session, State as SessionState},
    },
};

impl EngineState {
    /// Gives the permission to create the summary of a session again, if there is no other work.
    pub(super) fn permit_remake(
        &mut self,
        key: SessionKey,
        episode: EpisodeId,
        reply: oneshot::Sender<RemakePermit>,
        now: Timestamp,
    ) {
        let is_writable = self.view.check_writable().is_ok();
        let has_work = self.is_busy() || self.has_due_questions(now);
        if has_work || !is_writable || self.stopping.is_some() {
            self.reply(reply, RemakePermit::Busy);
            return;
        }
        let session = self
            .session_with(key, episode)
            .filter(|session| self.view.quarantine(&session.id, now).is_none());
        let Some(session) = session else {
            self.reply(reply, RemakePermit::Refused);
            return;
        };
        self.remaking = Some(key);
        let (session, parse_context) = (Box::new(session), self.settings.parse_context.clone());
        self.effects.push(EngineEffect::PermitRemake { session, parse_context, reply });
    }

    /// Stores an episode that was created again. Returns `false` if the episode is not stored: no
    /// permission was given, the session has got another episode meanwhile, a model has written
    /// this episode, a user has deleted it, or the engine stops.
    pub(super) fn store_remade(&mut self, made: NewEpisode) -> bool {
        let NewEpisode { episode, .. } = &made;
        let is_permitted = self.remaking.take() == Some(episode.session);
        let is_wanted = is_permitted
            && self.stopping.is_none()
            && self.session_with(episode.session, episode.id).is_some()
            && self.has_episode(episode.id);
        if is_wanted {
            self.effects.push(EngineEffect::Write(writes_of(made)));
        }
        is_wanted
    }

    /// Returns the session if it is indexed and has this episode.
    fn session_with(&self, key: SessionKey, episode: EpisodeId) -> Option<Session> {
        self.session(key).filter(|session| {
            let has_episode =
                session.indexed.as_ref().is_some_and(|indexed| indexed.episode == episode);
            has_episode && session.state == SessionState::Indexed
        })
    }
}
