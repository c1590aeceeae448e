//! The pages: each turns answers of the `api` into HTML.

pub(super) mod calendar;
pub(super) mod changes;
pub(super) mod facts;
pub(super) mod failure;
pub(super) mod forget;
pub(super) mod graph;
pub(super) mod health;
pub(super) mod message;
pub(super) mod open_ends;
pub(super) mod parts;
pub(super) mod projects;
pub(super) mod search;
pub(super) mod session;
pub(super) mod sessions;
pub(super) mod usage;

use graphiti_proto::rpc::Error;

use self::failure::PageFailure;
use crate::view::layout::ViewPage;

pub(super) type PageResult<T> = Result<T, Error>;
pub(super) type PageAnswer = Result<ViewPage, PageFailure>;
