//! Asking a model about a session whose episode is there already, made from evidence.
//!
//! Nobody waits for a model but who wants to: the episode that the evidence makes is stored and
//! found at once, and takes the model's words in when they come. Which sessions a model is still
//! to be asked about survives a restart ([`awaiting`]); a job gathers what is known of one
//! ([`Question`]); then the unknown tools are asked about, all in one call ([`tools`]), the longest
//! messages of which a summary is to be kept ([`messages`]), and the session's summary
//! ([`summary`]). What that takes is written down ([`usage`]).

pub mod awaiting;
mod estimate;
pub mod learned;
mod messages;
pub mod prompts;
pub mod summaries;
mod summary;
mod tools;
pub mod usage;

use std::{sync::Arc, time::Duration};

use tokio::runtime::Handle;

use crate::{
    activity::{Detector, classify::Unknowns},
    engine::{
        asking::{learned::Lessons, summaries::Summaries, usage::Books},
        episode,
        job::Made,
        long::LongIn,
        pipeline::Means,
    },
    graph,
    llm::{
        client::Client,
        config::Resilience,
        error::{Error, Retry},
    },
    model::{ActivityVector, Episode, Evidence, Namespace, session::Session},
    prompt::{self, library::Templates},
    store::Store,
};

/// All that asking needs.
pub struct Asker {
    /// The model.
    pub client: Arc<Client>,
    /// What it is asked with.
    pub templates: Arc<Templates>,
    /// What is known of tools, how summaries are made, what takes secrets out.
    pub means: Arc<Means>,
    /// What was learned about tools, kept.
    pub lessons: Arc<Lessons>,
    /// What was asked, counted.
    pub books: Arc<Books>,
    /// Summaries of messages that were paid for.
    pub summaries: Arc<Summaries>,
    /// How messages are summarised.
    pub prompts: prompt::config::Config,
    /// What becomes of questions without an answer.
    pub resilience: Resilience,
    /// Questions asked at a time.
    pub concurrency: usize,
    /// How long someone who closes a session waits for the model's words.
    pub patience: Duration,
    /// Where calls are made.
    pub runtime: Handle,
}

/// All that is known of a session that a model is to be asked about.
pub struct Question {
    /// The session.
    pub session: Session,
    /// Its episode, as the evidence made it.
    pub episode: Episode,
    /// Facts of all of its files.
    pub evidence: Evidence,
    /// What was done in it.
    pub detector: Detector,
    /// Its tools that were unknown when they were seen.
    pub unknowns: Unknowns,
    /// Its messages that are kept in short, those that say most first.
    pub longs: Vec<LongIn>,
}

/// What came of a question.
pub enum AskEnd {
    /// The episode, rewritten.
    Made(Box<Made>),
    /// There was nothing to ask.
    Nothing,
    /// No answer.
    Failed(Error),
}

impl Asker {
    /// Whether a model is asked at all.
    pub fn is_on(&self) -> bool {
        self.client.is_on()
    }

    /// Whether it writes summaries.
    pub fn summarises(&self) -> bool {
        self.is_on() && self.means.summarize.auto_summarize
    }

    /// Asks whatever there is to ask. Blocks, perhaps for minutes; for a thread of its own.
    pub fn ask(&self, mut question: Question, store: &dyn Store) -> AskEnd {
        let learned = match self.ask_about_tools(&mut question) {
            Ok(learned) => learned,
            Err(error) if self.summarises() && is_about_the_question(&error) => false,
            Err(error) => return AskEnd::Failed(error),
        };
        if self.summarises()
            && let Err(error) = self.ask_about_messages(&question, store)
        {
            return AskEnd::Failed(error);
        }
        let activity = self.activity(&question);
        let base = match learned {
            true => episode::summary(
                &question.evidence,
                (&question.session, &question.episode.project),
                &self.means.summarize,
                activity,
            ),
            false => question.episode.summary.clone(),
        };
        let mut episode = Episode { summary: base, ..question.episode.clone() };
        episode.summary.phases = episode::phases(&question.detector);
        if self.summarises() && !self.has_recap(&question) {
            match self.ask_for_summary(&question, &episode.summary, store) {
                Ok((summary, author)) => {
                    episode.summary = summary;
                    episode.author = author;
                }
                Err(error) => return AskEnd::Failed(error),
            }
        } else if !learned {
            return AskEnd::Nothing;
        }
        let statements = graph::read(&episode, &question.evidence);
        AskEnd::Made(Box::new(Made { episode, statements }))
    }

    fn activity(&self, question: &Question) -> ActivityVector {
        let detected = || question.detector.vector();
        self.means.summarize.manual_vector().unwrap_or_else(detected)
    }
}

impl Question {
    /// The project it is about, for accounts.
    pub fn project(&self) -> Option<Namespace> {
        Some(self.episode.project.namespace())
    }
}

/// Whether another question may well be answered.
fn is_about_the_question(error: &Error) -> bool {
    match error.retry() {
        Retry::Never | Retry::Smaller => true,
        Retry::Later(_) | Retry::At(_) | Retry::AfterChange => false,
    }
}
