//! Requests summaries and the classification of tools from models, for sessions that have an
//! episode from evidence.
//!
//! An episode from evidence is stored immediately, and searches find it. A model's answer is added
//! to the episode later. If `persist_to_disk` is set, the queue of sessions that wait for a model
//! survives a restart ([`queued`]). A job prepares a [`ModelQuestion`]. Then the [`Summarizer`]
//! requests the classification of unknown tools in one call ([`tools`]), summaries of the most
//! relevant truncated messages ([`messages`]), and the summary of the session ([`summary`]).
//! [`usage`] counts the calls.

mod estimate;
pub mod learned_tools;
mod messages;
pub mod prompts;
mod question;
pub mod queued;
mod salvage;
mod summary;
pub mod summary_cache;
mod tools;
pub mod usage;

use std::{sync::Arc, time::Duration};

use tokio::runtime::Handle;

pub use self::{question::ModelQuestion, salvage::salvage};
use crate::{
    engine::{
        episode,
        model_queue::{
            learned_tools::LearnedTools, summary_cache::SummaryCache, usage::UsageStats,
        },
        new_episode::NewEpisode,
        parse_context::ParseContext,
    },
    graph,
    llm::{
        client::Client,
        config::Resilience,
        error::{Error, Retry},
    },
    model::{ActivityVector, Episode, Namespace},
    prompt::{self, library::Templates},
    store::Store,
};

/// Sends requests about sessions to a model.
pub struct Summarizer {
    pub client: Arc<Client>,
    pub templates: Arc<Templates>,
    pub parse_context: Arc<ParseContext>,
    pub learned_tools: Arc<LearnedTools>,
    pub usage: Arc<UsageStats>,
    pub summaries: Arc<SummaryCache>,
    /// How messages are summarized.
    pub prompts: prompt::config::Config,
    /// When failed requests are retried.
    pub resilience: Resilience,
    /// Maximum number of sessions whose requests run at the same time.
    pub concurrency: usize,
    /// How long a caller that closes a session waits for the model.
    pub close_timeout: Duration,
    /// The runtime on which the calls run.
    pub runtime: Handle,
}

/// The outcome of [`Summarizer::ask`].
pub enum SummarizeOutcome {
    /// The episode with the answer.
    Made(Box<NewEpisode>),
    /// There is nothing to add to the episode.
    Nothing,
    Failed(Error),
}

impl Summarizer {
    /// Whether a model is configured.
    pub fn is_on(&self) -> bool {
        self.client.is_on()
    }

    /// Whether the model writes summaries.
    pub fn writes_summaries(&self) -> bool {
        self.is_on() && self.parse_context.summarize.auto_summarize
    }

    /// Performs all requests that the session needs. May block for minutes: call it on a separate
    /// thread.
    pub fn ask(&self, mut question: ModelQuestion, store: &dyn Store) -> SummarizeOutcome {
        let learned = match self.ask_about_tools(&mut question) {
            Ok(learned) => learned,
            Err(error) if self.writes_summaries() && concerns_only_this_request(&error) => false,
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
                &question.session,
                question.root.as_ref().unwrap_or(&question.episode.project),
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
        let statements = graph::extract(&episode, &question.evidence);
        SummarizeOutcome::Made(Box::new(NewEpisode { episode, statements, figures: None }))
    }

    fn activity(&self, question: &ModelQuestion) -> ActivityVector {
        let detected = || question.detector.vector();
        self.parse_context.summarize.manual_vector().unwrap_or_else(detected)
    }
}

impl ModelQuestion {
    /// Returns the project of the session, for the usage statistics.
    pub fn project(&self) -> Option<Namespace> {
        Some(self.episode.project.namespace())
    }
}

/// Whether other requests may succeed although a request failed with `error`.
fn concerns_only_this_request(error: &Error) -> bool {
    match error.retry() {
        Retry::Never | Retry::Smaller => true,
        Retry::Later(_) | Retry::At(_) | Retry::AfterChange => false,
    }
}
