//! The result of a job. A job reads the files of a session and may make the session's episode.

use std::collections::BTreeMap;

use crate::{
    engine::{
        model_queue::ModelQuestion,
        new_episode::NewEpisode,
        reading::{ReadError, ReadProgress},
    },
    model::{Project, SessionKey, Timestamp, session::Content},
    store::SourceKey,
};

pub struct JobResult {
    pub session: SessionKey,
    /// The progress of each file that was read.
    pub files: Vec<ReadProgress>,
    /// The numbers of messages of files that the job did not read, as far as they are saved and the
    /// job had to look them up.
    pub others: BTreeMap<SourceKey, u32>,
    /// The digest of the files that the job read.
    pub digest: SessionDigest,
    /// The outcome of making the episode; `None` if the job did not have to make one.
    pub index: Option<IndexOutcome>,
    pub gathered: GatherOutcome,
    /// Why files were not read (one error for each file), or why the job was not started.
    pub errors: Vec<ReadError>,
}

/// The outcome of preparing a question to a model.
pub enum GatherOutcome {
    /// The job did not have to prepare a question.
    NotRequested,
    /// No question is needed, for example because the session changed or a model has written the
    /// episode.
    Nothing,
    Question(Box<ModelQuestion>),
    /// The question could not be prepared; contains the error.
    Failed(String),
}

/// The outcome of making an episode.
pub enum IndexOutcome {
    /// The new episode, which is not stored yet.
    Made(Box<NewEpisode>),
    /// The content of the session did not change since its last episode.
    Unchanged,
    /// The session has no content yet.
    Nothing,
    /// The settings turn episodes off.
    NotWanted,
    Failed(String),
}

/// The project, the times and the content hash of a session, from its files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionDigest {
    /// The hash of the content and the number of messages; `None` when there is no content yet.
    pub content: Option<Content>,
    /// The project in which the session started.
    pub project: Option<Project>,
    /// The root of the repository that contains the project, if it is known.
    pub root: Option<Project>,
    /// The time of the first message.
    pub started_at: Option<Timestamp>,
    /// The latest time in the transcript. If the last message of a file has no time, the time when
    /// the file was modified counts instead.
    pub last_at: Option<Timestamp>,
}
