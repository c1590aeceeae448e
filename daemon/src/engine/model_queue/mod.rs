//! Asking a model about a session whose episode is there already, made from evidence.
//!
//! Nobody waits for a model but who wants to: the episode that the evidence makes is stored and
//! found at once, and takes the model's words in when they come. Which sessions a model is still
//! to be asked about survives a restart ([`awaiting`]); a job gathers what is known of one
//! ([`ModelQuestion`]); then the unknown tools are asked about, all in one call ([`tools`]), the longest
//! messages of which a summary is to be kept ([`messages`]), and the session's summary
//! ([`summary`]). What that takes is written down ([`usage`]).

mod estimate;
pub mod learned_tools;
mod messages;
pub mod prompts;
pub mod queued;
mod summary;
pub mod summary_cache;
mod tools;
pub mod usage;

use std::{sync::Arc, time::Duration};

use tokio::runtime::Handle;

use crate::{
    activity::{Detector, classify::Unknowns},
    engine::{
        episode,
        job::NewEpisode,
        model_queue::{
            learned_tools::LearnedTools, summary_cache::SummaryCache, usage::UsageStats,
        },
        pipeline::ParseContext,
        truncated_messages::LocatedMessage,
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
pub struct Summarizer {
    /// The model.
    pub client: Arc<Client>,
    /// What it is asked with.
    pub templates: Arc<Templates>,
    /// What is known of tools, how summaries are made, what takes secrets out.
    pub parse_context: Arc<ParseContext>,
    /// What was learned about tools, kept.
    pub learned_tools: Arc<LearnedTools>,
    /// What was asked, counted.
    pub usage: Arc<UsageStats>,
    /// Summaries of messages that were paid for.
    pub summaries: Arc<SummaryCache>,
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
pub struct ModelQuestion {
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
    pub truncated: Vec<LocatedMessage>,
}

/// What came of a question.
pub enum SummarizeOutcome {
    /// The episode, rewritten.
    Made(Box<NewEpisode>),
    /// There was nothing to ask.
    Nothing,
    /// No answer.
    Failed(Error),
}

impl Summarizer {
    /// Whether a model is asked at all.
    pub fn is_on(&self) -> bool {
        self.client.is_on()
    }

    /// Whether it writes summaries.
    pub fn writes_summaries(&self) -> bool {
        self.is_on() && self.parse_context.summarize.auto_summarize
    }

    /// Asks whatever there is to ask. Blocks, perhaps for minutes; for a thread of its own.
    pub fn ask(&self, mut question: ModelQuestion, store: &dyn Store) -> SummarizeOutcome {
        let learned = match self.ask_about_tools(&mut question) {
            Ok(learned) => learned,
            Err(error) if self.writes_summaries() && is_about_the_question(&error) => false,
            Err(error) => return SummarizeOutcome::Failed(error),
        };
        if self.writes_summaries()
            && let Err(error) = self.ask_about_messages(&question, store)
        {
            return SummarizeOutcome::Failed(error);
        }
        let activity = self.activity(&question);
        let base = match learned {
            true => episode::summary(
                &question.evidence,
                (&question.session, &question.episode.project),
                &self.parse_context.summarize,
                activity,
            ),
            false => question.episode.summary.clone(),
        };
        let mut episode = Episode { summary: base, ..question.episode.clone() };
        episode.summary.phases = episode::phases(&question.detector);
        if self.writes_summaries() && !self.has_recap(&question) {
            match self.ask_for_summary(&question, &episode.summary, store) {
                Ok((summary, author)) => {
                    episode.summary = summary;
                    episode.author = author;
                }
                Err(error) => return SummarizeOutcome::Failed(error),
            }
        } else if !learned {
            return SummarizeOutcome::Nothing;
        }
        let statements = graph::read(&episode, &question.evidence);
        SummarizeOutcome::Made(Box::new(NewEpisode { episode, statements }))
    }

    fn activity(&self, question: &ModelQuestion) -> ActivityVector {
        let detected = || question.detector.vector();
        self.parse_context.summarize.manual_vector().unwrap_or_else(detected)
    }
}

impl ModelQuestion {
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
