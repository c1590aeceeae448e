//! Requests summaries of single messages from a model.
//!
//! A truncated message is read again from its transcript and summarized with the template of its
//! kind. The summary replaces the truncated text; the summary of a tool's output is added to the
//! truncated text. The new text is shown, searched, and used for the summary of the session. The
//! content hash does not change. A cached summary is reused in all sessions.

use std::{borrow::Cow, collections::BTreeMap, path::Path};

use crate::{
    capture::filter::Keep,
    engine::{
        model_queue::{ModelQuestion, Summarizer, concerns_only_this_request},
        redaction,
        truncated_messages::LocatedMessage,
    },
    llm::{
        error::Error,
        ports::Avoided,
        request::{CompletionRequest, Purpose, ReplyFormat},
        tokens,
    },
    model::{Message, Role},
    prompt::{
        cache_key::SummaryKey, config::TemplateSource, kind::PromptKind, limit, template::Values,
    },
    store::{Reworded, SourceKey, Store, Write},
};

/// Maximum number of tokens of a message in a prompt.
const MESSAGE_TOKENS: u32 = 6_000;
/// Maximum number of tokens that a model may use for thinking before its answer.
const THINKING_TOKENS: u32 = 1_000;

impl Summarizer {
    /// Requests summaries of the most relevant messages, up to the configured number, and stores
    /// the answers. If a request fails for a reason that concerns only its message, continues with
    /// the next message. After another failure, stores the answers so far and returns the error.
    pub(super) fn ask_about_messages(
        &self,
        question: &ModelQuestion,
        store: &dyn Store,
    ) -> Result<(), Error> {
        let most = usize::try_from(self.prompts.max_per_session).unwrap_or(usize::MAX);
        let mut words: BTreeMap<SourceKey, Vec<Reworded>> = BTreeMap::new();
        let mut end = Ok(());
        for located in question.truncated.iter().take(most) {
            match self.reworded(located, question, store) {
                Ok(reworded) => words.entry(located.source).or_default().extend(reworded),
                Err(error) if concerns_only_this_request(&error) => {
                    tracing::debug!(%error, "a message keeps its truncated text");
                }
                Err(error) => {
                    end = Err(error);
                    break;
                }
            }
        }
        words.retain(|_, words| !words.is_empty());
        let writes: Vec<Write> =
            words.into_iter().map(|(source, words)| Write::Reword { source, words }).collect();
        if !writes.is_empty()
            && let Err(error) = store.write(writes).wait()
        {
            tracing::warn!(%error, "failed to store summaries of messages");
        }
        end
    }

    /// Returns the new text of a message; `None` if the message needs no summary or already has
    /// one, or if it cannot be read from the store or from its transcript.
    fn reworded(
        &self,
        located: &LocatedMessage,
        question: &ModelQuestion,
        store: &dyn Store,
    ) -> Result<Option<Reworded>, Error> {
        let unread = |error| {
            tracing::warn!(%error, file = located.path, "failed to read a message of the file");
        };
        let message = store.messages(located.source, located.message.seq, 1);
        let message = message.map_err(unread).ok().and_then(|mut one| one.pop());
        let Some(message) = message.filter(|message| located.message.matches(&message.text)) else {
            return Ok(None);
        };
        let Some(source) = self.template_of(message.role) else { return Ok(None) };
        let format = self.parse_context.formats.of_agent(&question.session.id.agent);
        let known = redaction::known::load(store, located.source.session);
        let Ok(mut known) = known.map_err(unread) else { return Ok(None) };
        let content =
            format.and_then(|format| located.content(&*format, &self.parse_context, &mut known));
        let Some(content) = content else {
            tracing::debug!(file = located.path, "a message is no longer in its transcript");
            return Ok(None);
        };
        let summary = self.summary_of(&message, &content, &source, question)?;
        let is = match message.role {
            Role::Tool => format!("{}\n{summary}", message.text),
            Role::User | Role::Agent | Role::Recap => summary,
        };
        Ok(Some(Reworded { seq: message.seq, was: message.text, is }))
    }

    /// Returns the template for messages of `role`; `None` if such messages are kept whole or
    /// dropped.
    pub(super) fn template_of(&self, role: Role) -> Option<TemplateSource> {
        match self.parse_context.filter.of(role) {
            Keep::Template(name) => Some(TemplateSource::File(name.clone())),
            Keep::Prompt(text) => Some(TemplateSource::Inline(text.clone())),
            Keep::Full | Keep::Omit => None,
        }
    }

    fn summary_of(
        &self,
        message: &Message,
        content: &str,
        source: &TemplateSource,
        question: &ModelQuestion,
    ) -> Result<String, Error> {
        let context = context(message);
        let project = Path::new(question.episode.project.path());
        let kind = PromptKind::of_context(&context);
        let template = self.templates.from_source(kind, source, Some(project));
        let max_chars = self.prompts.max_summary_chars;
        let output =
            self.limit_output(THINKING_TOKENS.saturating_add(tokens::for_answer(max_chars)));
        let values =
            Values { context: Some(&context), max_chars: Some(max_chars), ..Values::default() };
        let frame = tokens::estimate(&template.fill(&values).plain_text());
        let budget = self.client.input_budget(output).saturating_sub(frame).min(MESSAGE_TOKENS);
        let whole = tokens::estimate(content);
        let content = without_middle(content, budget);
        let values = Values { content: &content, ..values };
        let key = SummaryKey::of(&template, &values);
        if let Some(kept) = self.summaries.get(key) {
            self.client.record_avoided(
                Purpose::MessageSummary,
                Avoided::Cached,
                question.project(),
            );
            return Ok(kept);
        }
        let request = CompletionRequest {
            purpose: Purpose::MessageSummary,
            prompt: template.fill(&values),
            form: ReplyFormat::Text,
            max_output_tokens: output,
            project: question.project(),
            saved_tokens: u64::from(whole.saturating_sub(tokens::estimate(&content))),
        };
        let reply = self.client.complete_blocking(&self.runtime, &request)?;
        let text = self.parse_context.redactor.redact(&reply.text).text;
        let summary = limit::within(&readable(&text), max_chars);
        if summary.is_empty() {
            return Err(Error::BadReply { reason: "it is empty".to_owned() });
        }
        tracing::debug!(
            kind = kind.as_str(),
            from = content.len(),
            to = summary.len(),
            "message summarized"
        );
        self.summaries.put(key, &summary);
        Ok(summary)
    }
}

/// Returns the description of the speaker for the placeholder `{context}`.
fn context(message: &Message) -> Cow<'static, str> {
    match message.role {
        Role::User => "user message".into(),
        Role::Agent | Role::Recap => "agent response".into(),
        Role::Tool => format!("tool: {}", message.tool.as_deref().unwrap_or("unknown")).into(),
    }
}

/// Removes control characters, which could control a terminal, except tabs and line ends.
fn readable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// Shortens `text` to about `budget` tokens: two thirds of them from its start, and one third from
/// its end.
fn without_middle(text: &str, budget: u32) -> Cow<'_, str> {
    let estimated = tokens::estimate(text);
    if estimated <= budget {
        return Cow::Borrowed(text);
    }
    let share = f64::from(budget) / f64::from(estimated);
    let bytes = (text.len() as f64 * share) as usize;
    let head = text.floor_char_boundary(bytes / 3 * 2);
    let tail = text.ceil_char_boundary(text.len() - bytes / 3);
    Cow::Owned(format!(
        "{}\n[… {} bytes left out …]\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_text_is_removed() {
        let text = format!("begin {} end", "ä word ".repeat(10_000));
        let cut = without_middle(&text, 1_000);
        assert!(cut.starts_with("begin ") && cut.ends_with(" end") && cut.contains("left out"));
        assert!(tokens::estimate(&cut) < 1_100, "{}", tokens::estimate(&cut));
        assert_eq!(without_middle("short", 10), "short");
    }

    #[test]
    fn control_characters_are_removed() {
        assert_eq!(readable("a\u{1b}[31mb\r\nc\u{7}\td"), "a[31mb\nc\td");
    }
}
