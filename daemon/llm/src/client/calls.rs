//! Makes calls until a call gets an answer. Each call is recorded in the ledger, limited in time,
//! and repeated when a retry may help.

use std::{sync::Arc, time::Duration};

use crate::{
    client::{
        Client, OVERHEAD,
        account::{Account, spent},
    },
    error::{Again, Bill, Error, Failure},
    material::Marked,
    provider::{Call, Provider},
    reply::{Completion, TokenUsage},
    request::CompletionRequest,
    retry::{self, Pause},
    tokens,
};

/// A request, and its prompt with the material between marks.
#[derive(Clone, Copy)]
pub(super) struct MarkedRequest<'q> {
    pub(super) request: &'q CompletionRequest,
    pub(super) marked: &'q Marked,
    /// Whether the prompt ends with the schema.
    pub(super) schema_in_prompt: bool,
}

impl Client {
    /// Makes calls until a call is answered or a retry is useless. The request keeps its
    /// concurrency slot while it waits, so that a busy server gets fewer calls.
    pub(super) async fn exchange(
        &self,
        question: MarkedRequest<'_>,
        account: &mut Account,
    ) -> Result<Completion, Error> {
        let provider = self.provider.as_ref().map_err(Error::clone)?;
        let _place = self.calls.acquire().await.map_err(|_| Error::stopping())?;
        let mut failed = 0;
        loop {
            let failure = match self.attempt(provider, question, account).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            failed += 1;
            let Some(pause) = self.pause(&failure, failed) else { return Err(failure.error) };
            tracing::debug!(
                kind = failure.error.kind(),
                ?pause,
                "retrying the request to the model"
            );
            self.ports.clock.sleep(pause).await;
        }
    }

    /// Returns the pause before the next call after `failed` failures; `None` when no retry
    /// follows.
    fn pause(&self, failure: &Failure, failed: u32) -> Option<Duration> {
        let repeats = match failure.again {
            Again::Never => 0,
            Again::Once => self.config.max_retries.min(1),
            Again::Usual => self.config.max_retries,
        };
        let retry_after = match &failure.error {
            Error::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        };
        match retry::pause(failed, retry_after, self.ports.clock.random()) {
            Pause::Wait(pause) => (failed <= repeats).then_some(pause),
            Pause::GiveUp => None,
        }
    }

    async fn attempt(
        &self,
        provider: &Arc<dyn Provider>,
        question: MarkedRequest<'_>,
        account: &mut Account,
    ) -> Result<Completion, Failure> {
        let now = self.ports.clock.now();
        self.breaker().admit(now)?;
        let MarkedRequest { request, marked, schema_in_prompt } = question;
        let tariff = provider.tariff();
        let most = TokenUsage {
            input: u64::from(tokens::estimate(&marked.prompt)) + u64::from(OVERHEAD),
            output: u64::from(request.max_output_tokens),
            ..TokenUsage::default()
        };
        let expected = tariff.map(|tariff| tariff.cost(&most));
        let budget = &self.config.daily_budget;
        let reservation = self
            .change_ledger(|ledger| ledger.reserve(request.purpose, expected, budget, now))
            .inspect_err(|_| self.breaker().not_called(now))?;
        let call = Call {
            system: &marked.system,
            prompt: &marked.prompt,
            schema: request.form.schema(),
            schema_in_prompt,
            max_output_tokens: request.max_output_tokens,
            now,
        };
        let result = tokio::select! {
            biased;
            result = provider.ask(&call) => result,
            () = self.ports.clock.sleep(self.config.timeout) => Err(too_slow(self.config.timeout)),
        };
        let spent = spent(&result, most, tariff);
        self.change_ledger(|ledger| ledger.settle(reservation, spent));
        let is_estimated = matches!(&result, Err(Failure { bill: Bill::Expected, .. }));
        account.add(spent, is_estimated, result.as_ref().ok());
        if let Ok(Completion { usage: Some(usage), .. }) = &result {
            warn_if_cut(usage.input, most.input);
        }
        match &result {
            Ok(_) => self.breaker().answered(),
            Err(failure) => self.breaker().failed(&failure.error, self.ports.clock.now()),
        }
        result
    }
}

/// Warns if the server seems to have truncated the prompt. Some servers truncate a long prompt
/// instead of refusing it (Ollama, at 4,096 tokens by default). A factor of five is too large to be
/// an error of the estimate.
fn warn_if_cut(read: u64, sent: u64) {
    if read > 0 && read.saturating_mul(5) < sent {
        tracing::warn!(
            read,
            sent,
            "the model read only a part of the prompt: raise its context length, or lower \
             `session_tracking.llm.context_tokens`"
        );
    }
}

fn too_slow(limit: Duration) -> Failure {
    Failure::lost(format!("no answer within {} seconds", limit.as_secs_f64()))
}
