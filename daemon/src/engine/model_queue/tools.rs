//! Requests the classification of unknown tools from a model.

use serde_json::Value;

use crate::{
    activity::classify::ClassificationRequest,
    engine::model_queue::{ModelQuestion, Summarizer},
    llm::{
        error::Error,
        ports::Avoided,
        request::{CompletionRequest, Plain, Purpose, ReplyFormat},
        schema::Schema,
    },
    prompt::{kind::PromptKind, template::Values},
};

/// Maximum number of tokens of an answer about one tool.
const TOKENS_PER_TOOL: u32 = 150;
/// Maximum number of tokens of the thinking before an answer.
const THINKING_TOKENS: u32 = 1_500;

/// A reply that does not match the schema is accepted if it contains `word`, and parsed as far
/// as possible.
const PLAIN: Plain = Plain { word: "\"tool_name\"", instruction: "" };

impl Summarizer {
    /// Requests the classification of the unknown tools of a session, in one call. Returns whether
    /// the answer or an earlier answer changed the activity of the session.
    pub(super) fn ask_about_tools(&self, question: &mut ModelQuestion) -> Result<bool, Error> {
        let mut learned = self.resolve_unknowns(question);
        let Some(request) = question.unknowns.request() else {
            let why = Avoided::Known;
            self.client.record_avoided(Purpose::ToolClassification, why, question.project());
            return Ok(learned);
        };
        let reply = self
            .client
            .complete_blocking(&self.runtime, &self.completion_request(&request, question))?;
        // The prompt was redacted, but a model may invent texts that look like secrets.
        let text = self.parse_context.redactor.redact(&reply.text).text.into_owned();
        let found = request
            .read_reply(&text)
            .map_err(|error| Error::BadReply { reason: error.to_string() })?;
        tracing::info!(
            requested = request.tools.len(),
            learned = found.len(),
            "learned about tools"
        );
        if !found.is_empty() {
            self.learned_tools.change(|learned_tools| {
                for classification in &found {
                    let calls: &[Value] =
                        request.tools.get(&classification.tool_name).map_or(&[], Vec::as_slice);
                    learned_tools.learn(classification, calls);
                }
            });
            learned |= self.resolve_unknowns(question);
        }
        Ok(learned)
    }

    /// Updates the activity of the session with the calls of tools that are known by now. Returns
    /// whether the activity changed.
    fn resolve_unknowns(&self, question: &mut ModelQuestion) -> bool {
        let shared = self.learned_tools.shared();
        let learned_tools = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = question.detector.signals();
        question.detector.add_known_tools(&|tool| learned_tools.signals(tool));
        question.unknowns.forget(|tool| learned_tools.signals(tool).is_some());
        question.detector.signals() != before
    }

    fn completion_request(
        &self,
        classification: &ClassificationRequest,
        question: &ModelQuestion,
    ) -> CompletionRequest {
        let kind = PromptKind::ToolClassification;
        let template = self.templates.template(kind, None);
        let calls = classification.calls_json();
        let values = Values { content: &calls, ..Values::default() };
        let tools = u32::try_from(classification.tools.len()).unwrap_or(u32::MAX);
        CompletionRequest {
            purpose: Purpose::ToolClassification,
            prompt: template.fill(&values),
            form: ReplyFormat::JsonOr(schema(kind), PLAIN),
            max_output_tokens: self.limit_output(
                THINKING_TOKENS.saturating_add(tools.saturating_mul(TOKENS_PER_TOOL)),
            ),
            project: question.project(),
            saved_tokens: 0,
        }
    }

    /// Limits the output to a quarter of the model's context.
    pub(super) fn limit_output(&self, output: u32) -> u32 {
        output.min(self.client.input_budget(0) / 4).max(1)
    }
}

pub(super) fn schema(kind: PromptKind) -> Schema {
    let text = kind.schema().expect("JSON is requested only for kinds with a schema");
    Schema::new(kind.as_str(), text).expect("the built-in schemas are valid")
}
