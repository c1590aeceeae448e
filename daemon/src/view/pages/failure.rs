//! The page that is shown for a failed request.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use graphiti_proto::rpc::{Error, code};
use maud::html;

use crate::view::{
    layout::{NavItem, ViewPage},
    texts::T,
};

/// An error as an answer to a request.
pub(in crate::view) struct PageFailure(Error);

impl From<Error> for PageFailure {
    fn from(error: Error) -> PageFailure {
        PageFailure(error)
    }
}

impl PageFailure {
    pub(in crate::view) fn page(&self) -> ViewPage {
        message(&self.0.message)
    }
}

impl IntoResponse for PageFailure {
    fn into_response(self) -> Response {
        page(&self.0).into_response()
    }
}

pub(in crate::view) fn page(error: &Error) -> (StatusCode, ViewPage) {
    let status = match error.code {
        code::NOT_FOUND => StatusCode::NOT_FOUND,
        code::INVALID_PARAMS | code::AMBIGUOUS => StatusCode::BAD_REQUEST,
        code::STOPPING => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    (status, message(&error.message))
}

pub(in crate::view) async fn missing() -> (StatusCode, ViewPage) {
    (StatusCode::NOT_FOUND, message(T.no_page))
}

pub(in crate::view) fn message(text: &str) -> ViewPage {
    let body = html! {
        h1 { (T.failed) }
        p .empty { (super::parts::text(text)) }
    };
    ViewPage::new(T.failed, NavItem::Search, body)
}
