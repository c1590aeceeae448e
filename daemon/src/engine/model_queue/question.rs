//! A question to a model about a session.

use crate::{
    activity::{Detector, classify::Unknowns},
    engine::truncated_messages::LocatedMessage,
    model::{Episode, Evidence, Project, session::Session},
};

/// A session and the data for the prompts of the requests about it.
pub struct ModelQuestion {
    pub session: Session,
    /// The episode from evidence.
    pub episode: Episode,
    /// The root of the repository of the session's project, if it is known.
    pub root: Option<Project>,
    /// The evidence of all files.
    pub evidence: Evidence,
    pub detector: Detector,
    /// The calls whose tool was unknown when the call was read.
    pub unknowns: Unknowns,
    /// The truncated messages, the most relevant first.
    pub truncated: Vec<LocatedMessage>,
}
