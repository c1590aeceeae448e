//! The protocol between `graphitid` and its clients.
//!
//! # Overview
//!
//! The daemon listens on a Unix socket, by default `~/.graphiti/mcp.sock` (on Windows a named
//! pipe), which only the user who runs the daemon can access. A client connects and sends the first
//! message. Both sides use [JSON-RPC 2.0](https://www.jsonrpc.org/specification), one object per
//! line, in UTF-8, with lines of at most [`frame::LONGEST`] bytes. A client may send several
//! requests without waiting for answers. The answers arrive in any order; each contains the `id` of
//! its request.
//!
//! Most operations of the daemon are **tools**, called as in the Model Context Protocol:
//!
//! ```text
//! --> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"session_tracking_close","arguments":{"reason":"task_complete"}}}
//! <-- {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"status\":\"success\",...}"}],"structuredContent":{...}}}
//! ```
//!
//! The text of a tool's answer is JSON; `structuredContent` contains the same data as an object. A
//! request with `"_meta":{"graphiti/structured":false}` gets only text: Markdown for a model. A
//! request over the Model Context Protocol gets only text, too, unless its `_meta` has
//! `"graphiti/structured":true` or its arguments have `"structured":true`. The answer of a tool
//! that failed has `isError`, and an `error` with the problem and its remedy. An invalid request
//! gets a JSON-RPC error with a [code](rpc::code) whose meaning never changes.
//!
//! In addition to the tools there are a few [`methods`], named `graphiti/…`, for the command line
//! and for hooks. The Model Context Protocol is served on the same socket.
//!
//! # What may change
//!
//! [`PROTOCOL`] is the version of the protocol. Within one version, members may be added to
//! requests and answers. A reader ignores unknown members, and uses the `Default` of the type for
//! missing members. A client can query the version with `graphiti/hello`.
//!
//! # What else is here
//!
//! Code that the daemon and the client share: the address of the daemon ([`endpoint`]), the files
//! of the spool ([`methods::hook`]), writing files safely ([`files`]), and cleaning external text
//! before it is shown ([`clean`]). File operations of this crate block, because the crate does not
//! depend on tokio.

#![warn(missing_docs)]

pub mod clean;
pub mod endpoint;
pub mod files;
pub mod frame;
pub mod methods;
pub mod rpc;
pub mod tools;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;
