//! `graphitid`: the memory of coding agents.
//!
//! It follows the transcripts that agents write, keeps every session's state in sled, decides when
//! a session is over, turns a finished session into an *episode* (a structured summary grounded in
//! what happened), and answers searches over all of it on a local socket. Raw text is searchable
//! the moment it is written; only the summary waits for the end of a session.
//!
//! ```text
//! transcript file                                          hook, person, MCP host
//!       |                                                          |
//!   capture    watch -> tail -> parse -> filter -> hash        client -- proto --+
//!       | messages                                                               |
//!   session    active .. indexing .. indexed; who falls due  <- engine <------- api
//!       | a session to index                                    |       (methods, tools)
//!   activity   what was being done; what kind each call was     |                |
//!       |                                                       |                |
//!   summarize  evidence -> priorities -> summary -> Markdown    |                |
//!       |                                                       |                |
//!   graph      entities and facts                               |                |
//!       | writes                                                |                |
//!   store ---- outbox ---- search <--------------------------------------------- +
//! ```
//!
//! # Who may know whom
//!
//! | Layer | Crate | Modules | May name |
//! | --- | --- | --- | --- |
//! | words | `daemon/core` | [`model`], [`clock`], [`fault`], `clean`, `files`, `pattern`, `sync` | nothing, but `clean` and `files` name `proto`: they share code with the client |
//! | reading | `daemon/core` | `lang` | `model`, `pattern` |
//! | ports | `daemon/llm` (with `prompt`), `daemon/store`, `daemon/redact` | [`prompt`], [`llm`], [`store`], [`redact`] | `daemon/core`; never each other |
//! | stages | `daemon/capture`, `daemon/search`, `daemon/insight` (`activity`, `summarize`, `graph`), here (`session`) | [`capture`], [`search`], [`activity`], [`summarize`], [`graph`], [`session`] | `daemon/core` and the ports they need; never each other |
//! | order | here | [`engine`] | all of the above: it alone knows how the stages connect |
//! | surface | here | [`api`] | `model`, `clock`, `fault`, `engine`, `search`, `store`; the only user of the words of the wire, `graphiti_proto` |
//! | wiring | here | [`config`], [`lifecycle`], [`logging`], [`app`], [`cli`] | anything; nothing names them |
//!
//! The compiler keeps a crate from naming one that it does not depend on. A test of the workspace
//! (`tests/tests/rules/layers.rs`) holds as data who depends on whom, and who names whom inside a
//! crate. The crates below are modules here, too.
//!
//! # Where a new thing goes
//!
//! | New | File | Line |
//! | --- | --- | --- |
//! | agent format | `daemon/capture/src/format/<agent>` | [`capture::format::FORMATS`] |
//! | model provider | `daemon/llm/src/provider/<provider>.rs` | [`llm::provider::PROVIDERS`] |
//! | maker of vectors | `daemon/llm/src/embed/<provider>` | its row in `llm::embed` |
//! | prompt | `prompts/<kind>.md` | the entries of [`prompt::kind`] |
//! | rule of summaries | `daemon/insight/src/summarize/from_evidence` | [`summarize::RULES_VERSION`], raised |
//! | store backend | `daemon/store/src/<backend>`, passing `daemon/store/src/contract.rs` | `app::open_store` |
//! | tool | `api/tools/<tool>.rs`, its types in `proto/src/tools` | [`api::tools::TOOLS`] |
//! | setting | the stage's own `config.rs` | `config/table.rs`, the table of keys |
//! | disk record | a new version of `daemon/store/src/sled/records`, a golden file | `records::golden`; its text: `daemon/store/src/sled/clean.rs` |
//!
//! # Rules that hold it together
//!
//! 1. Decisions are pure: stages take values and the time, and return values.
//! 2. Three vocabularies, converted at the edges only: `model`, wire, disk. Wire and disk carry
//!    version numbers of their own.
//! 3. An acknowledged close is never lost: the intent is on disk before the acknowledgement, and
//!    work goes on from it. A session's episode is replaced in one step.
//! 4. The search index is derived: it follows an outbox in the store and can be made anew.
//! 5. Cost follows new bytes where an agent appends to a file; a session that is stored otherwise
//!    is read whole. Memory does not grow with a file.
//! 6. Facts are read from the transcript, never generated.
//! 7. Nothing leaves the machine unasked, and no secret is stored.
//! 8. Channels are bounded and say what happens when full. Stopping is a value that flows.

pub use graphitid_capture as capture;
pub use graphitid_core::{clock, fault, model};
use graphitid_core::{files, lang, sync};
pub use graphitid_insight::{activity, graph, summarize};
pub use graphitid_llm::{self as llm, prompt};
pub use graphitid_redact as redact;
pub use graphitid_search as search;
pub use graphitid_store as store;

pub mod session;

pub mod engine;

pub mod api;

pub mod allocator;
pub mod app;
pub mod cli;
pub mod config;
pub mod lifecycle;
pub mod logging;
