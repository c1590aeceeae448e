//! Requests the summary of a session from a model.

use std::path::Path;

use crate::{
    engine::model_queue::{ModelQuestion, Summarizer, tools::schema},
    llm::{
        error::{Error, Retry},
        ports::Avoided,
        reply::Reply,
        request::{CompletionRequest, Plain, Purpose, ReplyFormat},
        tokens,
    },
    model::{EnhancedSessionSummary, Message, episode::Author, transcript::RecapKind},
    prompt::{kind::PromptKind, template::Values},
    store::{SourceKey, Store},
    summarize::{
        notes::notes,
        pack::{Packed, Packer},
        priority::Field,
        prompt::extraction_instructions_without,
        reply::{Claims, Grounds, merge},
    },
};

/// Maximum number of tokens of an answer, including the thinking before it.
const MAX_OUTPUT_TOKENS: u32 = 8_000;
/// Maximum number of parts of a session. Each part needs one call.
pub(super) const MAX_PARTS: u32 = 4;
/// Number of messages that are read from the store in one batch.
const MESSAGES: usize = 256;
/// The notes about a session take at most `1 / NOTES_SHARE` of the tokens for its content.
const NOTES_SHARE: u32 = 6;
/// Fields that come from the transcript; requests to the model leave them out.
const FIELDS_FROM_TRANSCRIPT: [Field; 3] =
    [Field::FilesModified, Field::TestResults, Field::McpToolsUsed];

/// The form of a summary for models that cannot write JSON.
const PLAIN: Plain = Plain {
    word: "OVERVIEW:",
    instruction: "\nIf you cannot write JSON, write this instead:\nOVERVIEW: two or three sentences\n\n\
                  TOPICS:\n- ...\n\nDECISIONS:\n- ...\n\nCODE_REFERENCES:\n- ...\n\nKEY_POINTS:\n- ...\n",
};

impl Summarizer {
    /// Whether the agent's own summary makes a summary by a model unnecessary: the settings accept
    /// such summaries, and no prompt follows the agent's summary in the session. If so, counts the
    /// request as avoided.
    pub(super) fn has_recap(&self, question: &ModelQuestion) -> bool {
        let evidence = &question.evidence;
        let recap = evidence.recaps.iter().rfind(|recap| recap.kind == RecapKind::Compaction);
        let suffices = self.parse_context.summarize.recap_suffices
            && recap.is_some_and(|recap| {
                let prompts = evidence.prompts.iter().filter(|prompt| prompt.origin.source == 0);
                prompts.into_iter().all(|prompt| prompt.origin.line <= recap.origin.line)
            });
        if suffices {
            self.client.record_avoided(Purpose::SessionSummary, Avoided::Recap, question.project());
        }
        suffices
    }

    /// Requests the summary, in one call if the session fits into one prompt. `base` is the summary
    /// from evidence.
    pub(super) fn ask_for_summary(
        &self,
        question: &ModelQuestion,
        base: &EnhancedSessionSummary,
        store: &dyn Store,
    ) -> Result<(EnhancedSessionSummary, Author), Error> {
        match self.try_summary(question, base, store, 1) {
            // The estimate of tokens was too low, or the answer was too long. The second attempt
            // has half the budget.
            Err(error) if error.retry() == Retry::Smaller => {
                tracing::debug!(%error, "requesting the summary again with a shorter prompt");
                self.try_summary(question, base, store, 2)
            }
            result => result,
        }
    }

    fn try_summary(
        &self,
        question: &ModelQuestion,
        base: &EnhancedSessionSummary,
        store: &dyn Store,
        divisor: u32,
    ) -> Result<(EnhancedSessionSummary, Author), Error> {
        let summary_request = SummaryRequest::new(self, question);
        let frame = tokens::estimate(&summary_request.prompt("").plain_text());
        let budget =
            self.client.input_budget(summary_request.output).saturating_sub(frame) / divisor;
        let notes = notes(&self.wanted(base.clone()), &question.evidence, budget / NOTES_SHARE);
        let packed = pack(question, store, budget - tokens::estimate(&notes))?;
        tracing::debug!(
            parts = packed.parts.len(),
            left_out = packed.left_out,
            "requesting a summary"
        );
        let mut claims = Vec::with_capacity(packed.parts.len());
        let mut model = String::new();
        for (at, part) in packed.parts.iter().enumerate() {
            let head = match packed.parts.len() {
                1 => String::new(),
                count => format!("[Part {} of {count} of the session]", at + 1),
            };
            let texts = [head.as_str(), &notes, part].into_iter().filter(|text| !text.is_empty());
            let content = texts.collect::<Vec<_>>().join("\n\n");
            // The tokens of the omitted part of the session are counted once, for the first call.
            let saved_tokens = if at == 0 { packed.saved_tokens } else { 0 };
            let request = CompletionRequest { saved_tokens, ..summary_request.request(&content) };
            let reply = self.client.complete_blocking(&self.runtime, &request)?;
            claims.push(self.read(&reply)?);
            model = reply.model;
        }
        let grounds = Grounds { evidence: &question.evidence, packed: &packed, notes: &notes };
        let merged = merge(base.clone(), Claims::joined(claims), &grounds);
        tracing::info!(
            session = %question.session.id,
            model,
            calls = packed.parts.len(),
            saved_tokens = packed.saved_tokens,
            dropped = merged.dropped,
            "session summarized"
        );
        Ok((self.wanted(merged.summary), Author::Model(model)))
    }

    /// Returns a summary without the fields that the settings exclude.
    fn wanted(&self, mut summary: EnhancedSessionSummary) -> EnhancedSessionSummary {
        let config = &self.parse_context.summarize;
        if !config.include_decisions {
            summary.key_decisions = None;
        }
        if !config.include_errors_resolved {
            summary.errors_resolved = None;
        }
        summary
    }

    /// Parses a reply and redacts it: a model may invent texts that look like secrets.
    fn read(&self, reply: &Reply) -> Result<Claims, Error> {
        let claims = match &reply.json {
            Some(json) => {
                let mut json = json.clone();
                self.parse_context.redactor.redact_value(&mut json);
                Claims::of_json(&json)
            }
            None => Claims::of_text(&self.parse_context.redactor.redact(&reply.text).text),
        };
        claims.ok_or_else(|| Error::BadReply { reason: "it is not a summary".to_owned() })
    }
}

/// The request about a session, without the content of the session.
struct SummaryRequest<'a> {
    summarizer: &'a Summarizer,
    question: &'a ModelQuestion,
    profile: String,
    instructions: String,
    output: u32,
}

impl<'a> SummaryRequest<'a> {
    fn new(summarizer: &'a Summarizer, question: &'a ModelQuestion) -> SummaryRequest<'a> {
        let activity = summarizer.activity(question);
        let config = &summarizer.parse_context.summarize;
        let mut left_out = FIELDS_FROM_TRANSCRIPT.to_vec();
        if !config.include_decisions {
            left_out.push(Field::KeyDecisions);
        }
        if !config.include_errors_resolved {
            left_out.push(Field::ErrorsResolved);
        }
        let instructions =
            |threshold| extraction_instructions_without(&activity, threshold, &left_out);
        let wanted = instructions(config.extraction_threshold);
        SummaryRequest {
            summarizer,
            question,
            profile: profile(question, &activity.activity_profile()),
            // Without any activity, no field has priority, so all fields are requested.
            instructions: if wanted.is_empty() { instructions(0.0) } else { wanted },
            output: summarizer.limit_output(MAX_OUTPUT_TOKENS),
        }
    }

    fn prompt(&self, content: &str) -> crate::model::Prompt {
        let kind = PromptKind::SessionSummary;
        let project = Path::new(self.question.episode.project.path());
        let template = self.summarizer.templates.template(kind, Some(project));
        template.fill(&Values {
            content,
            activity_profile: Some(&self.profile),
            extraction_instructions: Some(&self.instructions),
            ..Values::default()
        })
    }

    fn request(&self, content: &str) -> CompletionRequest {
        CompletionRequest {
            purpose: Purpose::SessionSummary,
            prompt: self.prompt(content),
            form: ReplyFormat::JsonOr(schema(PromptKind::SessionSummary), PLAIN),
            max_output_tokens: self.output,
            project: self.question.project(),
            saved_tokens: 0,
        }
    }
}

/// Returns the activity of the session, with its phases if there were several.
fn profile(question: &ModelQuestion, whole: &str) -> String {
    const PHASES: usize = 8;
    let segments = question.detector.segments();
    if segments.len() < 2 {
        return whole.to_owned();
    }
    let labels: Vec<&str> =
        segments.iter().take(PHASES).map(|segment| segment.label.as_str()).collect();
    let more = if segments.len() > PHASES { "; …" } else { "" };
    format!("{whole}; in phases: {}{more}", labels.join("; "))
}

/// Packs the messages of the session's own file. If this file has no messages, packs the messages
/// of a sub-agent's file.
fn pack(question: &ModelQuestion, store: &dyn Store, budget: u32) -> Result<Packed, Error> {
    let unreadable = |error: crate::store::StoreError| Error::Unavailable {
        reason: format!("the session cannot be read: {error}"),
        retry_after: None,
    };
    let session = question.session.key;
    for source in store.sources_of(session).map_err(unreadable)? {
        let mut packer = Packer::new(&question.evidence, budget, MAX_PARTS);
        let mut from = 0;
        loop {
            let key = SourceKey { session, number: source.key.number };
            let messages: Vec<Message> = store.messages(key, from, MESSAGES).map_err(unreadable)?;
            messages.iter().for_each(|message| packer.add(message));
            match messages.last() {
                Some(last) if messages.len() == MESSAGES => from = last.seq + 1,
                _ => break,
            }
        }
        let packed = packer.finish();
        if !packed.parts.is_empty() {
            return Ok(packed);
        }
    }
    Err(Error::BadReply { reason: "the session is empty".to_owned() })
}
