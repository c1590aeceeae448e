//! `graphitid`: the memory of coding agents.
//!
//! The daemon follows the transcripts that agents write, and stores the state of every session in
//! sled. It decides when a session has ended, creates an *episode* (a structured summary from
//! evidence) from it, and answers searches on a local socket. The messages are searchable soon
//! after they are written; the summary is created when the session has ended.
//!
//! ```text
//! transcript file                                          hook, person, MCP host
//!       |                                                          |
//!   capture    watch -> tail -> parse -> filter -> hash        client -- proto --+
//!       | messages                                                               |
//!   session    active .. indexing .. indexed; deadlines      <- engine <------- api
//!       | a session to index                                    |       (methods, tools)
//!   activity   classifies the work and each tool call           |                |
//!       |                                                       |                |
//!   summarize  evidence -> priorities -> summary -> Markdown    |                |
//!       |                                                       |                |
//!   graph      entities and facts                               |                |
//!       | writes                                                |                |
//!   store ---- outbox ---- search <--------------------------------------------- +
//! ```
//!
//! # Dependencies between modules
//!
//! | Layer | Crate | Modules | May use |
//! | --- | --- | --- | --- |
//! | basics | `daemon/core` | [`model`], [`clock`], [`fault`], `clean`, `files`, `pattern`, `releasable`, `sync` | nothing, except that `clock` uses `model`, `pattern` uses `releasable`, and `clean` and `files` use `proto`, whose code they share with the client |
//! | basics | here | [`allocator`] | nothing |
//! | reading | `daemon/core` | `lang` | `model`, `pattern` |
//! | ports | `daemon/llm` (with `prompt`), `daemon/store`, `daemon/redact` | [`prompt`], [`llm`], [`store`], [`redact`] | `daemon/core`; never each other |
//! | stages | `daemon/capture`, `daemon/search`, `daemon/insight` (`activity`, and `summarize` and `graph` above `report` and `text`; `summarize` also uses `activity`), here (`session`, `share`) | [`capture`], [`search`], [`activity`], [`summarize`], [`graph`], [`session`], [`share`] | `daemon/core` and the ports they need; never each other |
//! | order | here | [`engine`] | all of the above: only this module connects the stages |
//! | surface | here | [`api`] | `model`, `clock`, `fault`, `engine`, `search`, `store`; with [`view`], the only user of the wire types, `graphiti_proto` |
//! | page | here | [`view`] | `api`, `model`, `clock`, `engine`, `store` |
//! | wiring | here | [`config`], [`lifecycle`], [`logging`], [`app`], [`cli`] | anything; no other module uses them |
//!
//! The compiler checks the dependencies between crates. `tests/tests/rules/layers.rs` contains all
//! dependencies as data, and also checks the dependencies between the modules of a crate. The
//! crates below are re-exported as modules here.
//!
//! # Where new code goes
//!
//! `CONTRIBUTING.md` has a table of the files for each kind of change. Only two kinds are listed
//! here:
//!
//! | New | File | Line |
//! | --- | --- | --- |
//! | embedding provider | `daemon/llm/src/embed/<provider>` | its row in `llm::embed` |
//! | store backend | `daemon/store/src/<backend>`, passing `daemon/store/src/contract.rs` | `app::database::open` |
//!
//! # Invariants
//!
//! 1. Decisions are pure functions: stages take values and the time, and return values.
//! 2. There are separate types for `model`, for the wire and for the disk. They are converted only
//!    at the borders. The formats of wire and disk have their own version numbers.
//! 3. An acknowledged close is never lost: before the acknowledgement, the daemon writes to the
//!    disk that the session must be closed. A session's episode is replaced in one transaction.
//! 4. The search index is derived from the store: it follows the outbox, and can be rebuilt.
//! 5. When an agent appends to a file, only the new bytes are read. A session that is stored in
//!    another way is read as a whole. Memory use does not depend on the size of a file.
//! 6. Facts are read from the transcript, never generated.
//! 7. Nothing leaves the machine unless a model or a shared graph is configured, and no secret is
//!    stored.
//! 8. Channels are bounded, and their behaviour when they are full is documented. A shutdown is a
//!    value that tasks receive.

pub use graphitid_capture as capture;
pub use graphitid_core::{clock, fault, model};
use graphitid_core::{files, lang, releasable, sync};
pub use graphitid_insight::{activity, graph, summarize};
pub use graphitid_llm::{self as llm, prompt};
pub use graphitid_redact as redact;
pub use graphitid_search as search;
pub use graphitid_store as store;

pub mod session;
pub mod share;

pub mod engine;

pub mod api;

pub mod view;

pub mod allocator;
pub mod app;
pub mod cli;
pub mod config;
pub mod lifecycle;
pub mod logging;
