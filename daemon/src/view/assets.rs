//! Serves the static files of the pages: style, script and icon.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};

pub(super) const STYLE: &str = include_str!("assets/view.css");
pub(super) const SCRIPT: &str = include_str!("assets/view.js");
pub(super) const COPY_SCRIPT: &str = include_str!("assets/copy.js");
pub(super) const ICON: &str = include_str!("assets/icon.svg");

pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", STYLE)
}

pub(super) async fn script() -> Response {
    file("text/javascript; charset=utf-8", SCRIPT)
}

pub(super) async fn icon() -> Response {
    file("image/svg+xml", ICON)
}

fn file(media_type: &'static str, content: &'static str) -> Response {
    // The browser may cache the files, because each server has a different path.
    let headers =
        [(header::CONTENT_TYPE, media_type), (header::CACHE_CONTROL, "private, max-age=86400")];
    (headers, content).into_response()
}
