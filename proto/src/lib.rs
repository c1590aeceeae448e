//! The protocol between `graphitid` and its clients.
//!
//! # The story
//!
//! The daemon listens on a Unix socket, `~/.graphiti/mcp.sock` (on Windows a named pipe), that
//! belongs to one user. A client connects and speaks first. Both sides speak
//! [JSON-RPC 2.0](https://www.jsonrpc.org/specification), one object a line, in UTF-8, no line
//! longer than [`frame::LONGEST`]. A client may send many requests without waiting; answers come as
//! they are ready and carry the request's `id`.
//!
//! What the daemon can do for anyone is a **tool**, asked for as in the Model Context Protocol:
//!
//! ```text
//! --> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"session_tracking_close","arguments":{"reason":"task_complete"}}}
//! <-- {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"status\":\"success\",...}"}],"structuredContent":{...}}}
//! ```
//!
//! The text of a tool's answer is JSON; `structuredContent` is the same as an object. A tool that
//! fails answers with `isError` and an `error` that says what to do; a request that cannot be
//! understood gets a JSON-RPC error with a [code](rpc::code) that never changes its meaning.
//!
//! Beside the tools stand a few [`methods`] of our own, named `graphiti/…`, for the command line and
//! for hooks. The Model Context Protocol is served on the same socket.
//!
//! # What may change
//!
//! [`PROTOCOL`] is the version of all this. Within one version members may be added to requests
//! and answers; a reader ignores members that it does not know, and a missing member has the
//! default that its type documents. A client that needs to know asks with `graphiti/hello`.
//!
//! This crate does no I/O but finding the user's home and replacing files ([`files`]), and knows
//! nothing of tokio. What both sides need to show text of others stands in [`clean`].

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
