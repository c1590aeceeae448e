//! Serves the Model Context Protocol to agents: the same tools as for other clients, episodes as
//! resources, and the prompts `handoff` and `recall`.
//!
//! The SDK (the crate `rmcp`) implements the handshake of the protocol versions 2024-11-05 to
//! 2025-11-25, the stateless form of version 2026-07-28, progress and cancellation. [`transport`]
//! connects the SDK to our own framing, [`outgoing`] makes the messages of the SDK harmless for a
//! model, [`catalogue`] describes our tools, [`arguments`] checks their arguments, and
//! [`mod@client_kind`] adapts instructions to the agent.

mod arguments;
mod catalogue;
mod client_kind;
mod outgoing;
mod prompts;
mod resources;
mod transport;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use graphiti_proto::rpc::{Error, Request, code};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
        DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation,
        InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
        ReadResourceRequestParams, ReadResourceResponse, ResultType, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

pub(super) use self::{client_kind::ClientKind, transport::LineTransport};
use crate::{
    api::{
        SharedDaemon, blocking,
        client_context::{ClientContext, ReplyForm},
        connection_slots::SlotGuard,
        peer::Peer,
        progress::{ProgressReporter, ProgressStep},
        request_limits::{MAX_CONCURRENT_REQUESTS, panic_error, with_deadline},
        tools,
    },
    fault,
};

pub(super) const CANCELLED: &str = "notifications/cancelled";
pub(super) const PROGRESS: &str = "notifications/progress";

/// Whether a request belongs to the Model Context Protocol, and is not a bare request.
pub(super) fn is_mcp_request(request: &Request) -> bool {
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    matches!(&*request.method, "initialize" | "server/discover")
        || request.params["_meta"][VERSION].is_string()
}

/// Serves a client until the connection ends.
pub(super) async fn serve(
    daemon: &SharedDaemon,
    peer: Peer,
    slot: Arc<SlotGuard>,
    lines: LineTransport,
) {
    let agent = McpSession {
        daemon: daemon.clone(),
        peer,
        slot,
        request_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_REQUESTS)),
    };
    match agent.serve(lines).await {
        Ok(service) => {
            // It does not matter how the connection ended.
            let _ = service.waiting().await;
        }
        Err(error) => tracing::debug!(%error, "the handshake of an agent failed"),
    }
}

struct McpSession {
    daemon: SharedDaemon,
    peer: Peer,
    slot: Arc<SlotGuard>,
    request_permits: Arc<Semaphore>,
}

impl McpSession {
    /// Returns the context of the client that sends `params` in a request.
    fn client(&self, params: &Value, context: &RequestContext<RoleServer>) -> ClientContext {
        let meta = serde_json::to_value(&context.meta).unwrap_or_default();
        let request = json!({ "_meta": meta, "arguments": params["arguments"] });
        let client = ClientContext::new(self.peer.process, &request);
        client.for_agent(&request, client_kind(context))
    }

    /// Calls a tool, and reports its progress if the agent requested this.
    async fn call(
        &self,
        params: Value,
        mut client: ClientContext,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, Error> {
        let Ok(_permit) = self.request_permits.try_acquire() else {
            let what = "too many concurrent requests; wait for an answer first";
            return Err(Error::new(code::BUSY, what));
        };
        let (progress, steps) = ProgressReporter::channel();
        client.progress = progress;
        let _serving = self.slot.serve();
        let work = async move {
            let outcome = with_deadline(async {
                fault::point("request: taken");
                tools::call(&self.daemon, &client, params).await
            })
            .await;
            // Forwarding ends when the reporter is dropped.
            drop(client);
            outcome
        };
        let given_up = context.ct.clone();
        tokio::select! {
            (outcome, ()) = async { tokio::join!(work, forward_progress(context, steps)) } => outcome,
            () = given_up.cancelled() => {
                Err(Error::new(code::STOPPING, "the request was cancelled"))
            }
        }
    }
}

impl McpSession {
    fn info(kind: ClientKind) -> ServerConfig {
        // Resources can be requested but are not announced: for announced resources, a host adds
        // further tools, which use a part of every context window.
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().build();
        let program = Implementation::new("graphiti", env!("CARGO_PKG_VERSION"))
            .with_title("Graphiti session memory");
        let instructions = kind.instructions();
        ServerConfig::new(capabilities).with_server_info(program).with_instructions(instructions)
    }
}

impl ServerHandler for McpSession {
    fn get_info(&self) -> ServerConfig {
        McpSession::info(ClientKind::Unknown)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let kind = ClientKind::of(Some(&request.client_info));
        let negotiated = self.negotiate_initialize(&request)?;
        context.peer.set_peer_info(request);
        Ok(negotiated.with_instructions(kind.instructions()))
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, McpSession::info(client_kind(&context))))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let form = self.client(&Value::Null, &context).reply_form;
        let listed = self.daemon.listed_tools();
        let target = self.daemon.sharing.target();
        let is_shared = target.reader.is_some() && !target.config.projects.is_empty();
        let tools = catalogue::tools_for(client_kind(&context), form, &listed, is_shared);
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        catalogue::tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let params = json!({ "name": request.name, "arguments": request.arguments });
        let client = self.client(&params, &context);
        let form = client.reply_form;
        let called = match arguments::check(&request.name, request.arguments.as_ref()) {
            Ok(()) => self.call(params, client, context).await,
            Err(error) => Err(error),
        };
        match called {
            Ok(result) => Ok(call_result(result)?.into()),
            // The agent can correct its arguments, so the error is a tool result.
            Err(error) if error.code == code::INVALID_PARAMS => {
                Ok(call_result(tools::failed(error, form))?.into())
            }
            Err(error) => Err(error_data(error)),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let client = self.client(&Value::Null, &context);
        let cursor = request.and_then(|request| request.cursor);
        catch_panics(|| blocking::read(|| resources::list(&self.daemon, &client, cursor)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let client = self.client(&Value::Null, &context);
        let read = || resources::read(&self.daemon, &client, &request.uri);
        catch_panics(|| blocking::read(read)).map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = prompts::Prompt::of(&request)?;
        let params = prompt.tool_call();
        let client = self.client(&params, &context);
        let client = ClientContext { reply_form: ReplyForm::Structured, ..client };
        let result = self.call(params, client, context).await.map_err(error_data)?;
        prompt.filled(&result).map(Into::into)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(unknown_request(&request.method))
    }
}

/// Returns the error for a request that the SDK does not recognise: an unknown method, or a known
/// method with wrong parameters.
fn unknown_request(method: &str) -> ErrorData {
    let wanted = match method {
        "tools/call" => "`name`, the name of a tool, and may have `arguments`, an object",
        "prompts/get" => "`name`, the name of a prompt, and may have `arguments`, an object",
        "resources/read" => "`uri`, the URI of a resource",
        _ => {
            let what = format!("the method `{method}` is not known");
            return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None);
        }
    };
    let what = format!("`params` of `{method}` must have {wanted}");
    error_data(Error::new(code::INVALID_PARAMS, what))
}

/// Returns the kind of the client, from the request or, if the request does not identify the
/// client, from the handshake.
fn client_kind(context: &RequestContext<RoleServer>) -> ClientKind {
    match context.meta.client_info() {
        Some(client) => ClientKind::of(Some(&client)),
        None => {
            ClientKind::of(context.peer.peer_info().map(|peer| peer.client_info.clone()).as_ref())
        }
    }
}

/// Returns the result of `work`, or an error if `work` panics: after a panic, the SDK would not
/// answer the request.
fn catch_panics<T>(work: impl FnOnce() -> Result<T, ErrorData>) -> Result<T, ErrorData> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(error_data(panic_error())))
}

/// Forwards the progress of a request until the request ends.
async fn forward_progress(
    context: RequestContext<RoleServer>,
    mut steps: watch::Receiver<ProgressStep>,
) {
    let Some(token) = context.meta.get_progress_token() else { return };
    while steps.changed().await.is_ok() {
        let ProgressStep { done, total, message } = steps.borrow_and_update().clone();
        let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let mut param =
            ProgressNotificationParam::new(token.clone(), number(done)).with_message(message);
        if total > 0 {
            param = param.with_total(number(total));
        }
        if context.peer.notify_progress(param).await.is_err() {
            return;
        }
    }
}

fn call_result(result: Value) -> Result<CallToolResult, ErrorData> {
    let mut result: CallToolResult = serde_json::from_value(result)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    result.result_type = Some(ResultType::COMPLETE);
    Ok(result)
}

fn error_data(error: Error) -> ErrorData {
    let number = match error.code {
        // The protocol's code for a tool, resource or prompt that does not exist.
        code::NO_METHOD => code::INVALID_PARAMS,
        other => other,
    };
    let number = i32::try_from(number).unwrap_or(ErrorCode::INTERNAL_ERROR.0);
    ErrorData::new(ErrorCode(number), error.message, error.data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_parameters_of_a_known_method_are_not_reported_as_an_unknown_method() {
        for method in ["tools/call", "prompts/get", "resources/read"] {
            let error = unknown_request(method);
            assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{method}");
            assert!(error.message.contains(method), "{}", error.message);
        }
        for method in ["prompts/fetch", "resources/reads", "tools"] {
            assert_eq!(unknown_request(method).code, ErrorCode::METHOD_NOT_FOUND);
        }
    }
}
