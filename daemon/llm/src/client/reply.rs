//! Marks the material of a prompt, checks the length of the prompt, and turns the answer into a
//! reply of the requested form.

use serde_json::Value;

use crate::{
    client::{Client, account::Account, calls::MarkedRequest},
    error::Error,
    json,
    material::{self, Marked},
    reply::{Completion, Ending, Reply},
    request::{CompletionRequest, Plain, ReplyFormat},
    schema::Schema,
    tokens,
};

impl Client {
    pub(super) async fn answer(
        &self,
        request: &CompletionRequest,
        account: &mut Account,
    ) -> Result<Reply, Error> {
        let marked = material::mark(
            &request.prompt,
            |text| (self.ports.redact)(text).into_owned(),
            || self.ports.clock.random(),
        );
        self.check_length(request, &marked)?;
        let question = MarkedRequest { request, marked: &marked, schema_in_prompt: false };
        let (text, json) = match request.form.schema() {
            Some(schema) => self.json(question, schema, account).await?,
            None => self.text(question, account).await?,
        };
        Ok(Reply {
            text,
            json,
            usage: account.usage,
            cost: account.cost,
            model: self.model_name(account),
        })
    }

    fn check_length(&self, request: &CompletionRequest, marked: &Marked) -> Result<(), Error> {
        let estimated = tokens::estimate(&marked.prompt);
        let budget = self.input_budget(request.max_output_tokens);
        if estimated <= budget {
            return Ok(());
        }
        let reason = format!("about {estimated} tokens, but the limit is {budget}");
        Err(Error::TooLong { reason })
    }

    async fn text(
        &self,
        question: MarkedRequest<'_>,
        account: &mut Account,
    ) -> Result<ParsedReply, Error> {
        let answer = self.exchange(question, account).await?;
        if answer.ending == Ending::CutOff {
            return Err(cut_off(question.request));
        }
        match own_words(&answer.text) {
            text if text.is_empty() => Err(Error::BadReply { reason: "it is empty".to_owned() }),
            text => Ok((text, None)),
        }
    }

    /// Requests JSON. If the answer does not match the schema, the request is repeated once, with a
    /// description of the error. A request is not repeated if its answer was cut off, because the
    /// next answer would be cut off, too.
    async fn json(
        &self,
        question: MarkedRequest<'_>,
        schema: &Schema,
        account: &mut Account,
    ) -> Result<ParsedReply, Error> {
        let answer = self.exchange(question, account).await?;
        let form = &question.request.form;
        let problem = match read(form, schema, &answer) {
            Ok(read) => return Ok(read),
            Err(_) if answer.ending == Ending::CutOff => return Err(cut_off(question.request)),
            Err(problem) => problem,
        };
        tracing::debug!(%problem, "the model's answer does not match the schema, retrying once");
        let marked = with_problem(question.marked, form, &problem);
        let again = MarkedRequest { marked: &marked, schema_in_prompt: true, ..question };
        let answer = self.exchange(again, account).await?;
        read(form, schema, &answer).map_err(|reason| match answer.ending {
            Ending::CutOff => cut_off(question.request),
            Ending::Done => Error::BadReply { reason },
        })
    }
}

/// The text of an answer, and its JSON if JSON was requested.
type ParsedReply = (String, Option<Value>);

/// Parses JSON, or accepts the plain text that may replace JSON.
fn read(form: &ReplyFormat, schema: &Schema, answer: &Completion) -> Result<ParsedReply, String> {
    let json = read_json(schema, answer);
    let text = own_words(&answer.text);
    let is_plain = |plain: Plain| text.to_lowercase().contains(&plain.word.to_lowercase());
    match json {
        Err(_) if answer.ending == Ending::Done && form.plain().is_some_and(is_plain) => {
            Ok((text, None))
        }
        json => json,
    }
}

fn read_json(schema: &Schema, answer: &Completion) -> Result<ParsedReply, String> {
    let found = json::find(&answer.text).ok_or("there is no JSON in it")?;
    Ok((own_words(&answer.text), Some(schema.fit(found)?)))
}

fn own_words(text: &str) -> String {
    json::without_thoughts(text).trim().to_owned()
}

/// Returns the prompt with a description of the problem of the last answer. Adds the schema,
/// because the server may have ignored the schema that was sent outside of the prompt.
fn with_problem(marked: &Marked, form: &ReplyFormat, problem: &str) -> Marked {
    let prompt = format!(
        "{}\n\nAn earlier answer could not be used: {problem}. Answer again.{}{}",
        marked.prompt,
        form.schema().map_or(String::new(), Schema::instruction),
        form.plain().map_or("", |plain| plain.instruction)
    );
    Marked { prompt, system: marked.system.clone() }
}

fn cut_off(request: &CompletionRequest) -> Error {
    Error::CutOff { limit: request.max_output_tokens }
}
