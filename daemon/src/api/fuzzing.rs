//! What of this the tests of all parsers may call.

use graphiti_proto::rpc::Request;
use rmcp::{RoleServer, service::RxJsonRpcMessage};

use crate::api::mcp;

/// Reads a line as a connection does that speaks the Model Context Protocol; whether it is one of
/// its messages.
pub fn read_message(line: &[u8]) -> bool {
    let begins = Request::read(line).is_ok_and(|request| mcp::is_spoken(&request));
    begins | serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line).is_ok()
}
