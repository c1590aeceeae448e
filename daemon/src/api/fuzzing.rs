//! Entry points for the tests that feed arbitrary input to all parsers.

use graphiti_proto::rpc::Request;
use rmcp::{RoleServer, service::RxJsonRpcMessage};

use crate::api::mcp;

/// Parses a line as a connection does; returns whether the line begins the Model Context Protocol,
/// or is a valid message of this protocol.
pub fn is_mcp_message(line: &[u8]) -> bool {
    let begins = Request::read(line).is_ok_and(|request| mcp::is_mcp_request(&request));
    begins | serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line).is_ok()
}
