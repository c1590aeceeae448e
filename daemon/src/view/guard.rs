//! Wraps each request: checks access, records the request, limits the time, and adds headers.

use axum::{
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use maud::Markup;
use tokio::time::Instant;

use crate::{
    api::in_process,
    view::{
        access::{Refusal, RequestOrigin},
        connections::Admission,
        layout::{self, ViewPage},
        pages::failure,
        state::SharedView,
        texts::T,
        usage,
    },
};

/// Content comes only from this server, and nothing is sent to other servers. Inline scripts and
/// styles are not allowed, so the text of a transcript cannot act as a script or style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ("x-robots-tag", "noindex"),
];

/// The admission of the connection of a request.
type ConnectedBy = ConnectInfo<Admission>;

/// The script sends this header to request the content of a page without its frame.
const PART_HEADER: &str = "x-part";

/// Answers a request if it is allowed.
pub(super) async fn guard(
    State(view): State<SharedView>,
    request: Request,
    next: Next,
) -> Response {
    let is_part = request.headers().contains_key(PART_HEADER);
    let mut response = match admit(&view, &request) {
        Err(refusal) => refusal_response(refusal),
        Ok(()) => {
            usage::record_request(&view.page_use, Instant::now());
            if let Some(ConnectInfo(admission)) = request.extensions().get::<ConnectedBy>() {
                admission.admit();
            }
            let answered = in_process::guarded(next.run(request)).await;
            answered.unwrap_or_else(|error| failure::page(&error).into_response())
        }
    };
    if let Some(page) = response.extensions_mut().remove::<ViewPage>() {
        let status = response.status();
        let markup: Markup = if is_part { page.content() } else { layout::document(&page) };
        response = (status, markup).into_response();
    }
    add_headers(response.headers_mut());
    response
}

fn admit(view: &SharedView, request: &Request) -> Result<(), Refusal> {
    let header =
        |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let access = view.access();
    let has_token = request.uri().path() == format!("/{}/open", access.area());
    let origin = RequestOrigin {
        host: header(header::HOST.as_str()),
        origin: header(header::ORIGIN.as_str()),
        site: header("sec-fetch-site"),
        cookies: header(header::COOKIE.as_str()),
        is_change: request.method() != Method::GET && request.method() != Method::HEAD,
        has_token,
    };
    access.check_origin(&origin)?;
    if has_token {
        return Ok(());
    }
    access.check_cookie(&origin)
}

pub(super) fn refusal_response(refusal: Refusal) -> Response {
    let text = match refusal {
        Refusal::Host | Refusal::OtherSite => T.refused_site,
        Refusal::NoCookie => T.refused_cookie,
        Refusal::StaleToken => T.refused_token,
    };
    (StatusCode::FORBIDDEN, format!("{text}\n")).into_response()
}

fn add_headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    // The browser must not cache sessions.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
