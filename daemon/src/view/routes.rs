//! Maps addresses to pages. All addresses are below the random path of the server; links are
//! relative, so they do not contain this path.

use axum::{
    Router,
    extract::{Query, State},
    http::header,
    middleware,
    response::{IntoResponse, Response},
    routing::{MethodRouter, get, post},
};
use serde::Deserialize;

use crate::{
    clock,
    view::{
        assets, events,
        guard::{guard, refusal_response},
        layout,
        pages::{
            calendar, changes, facts, failure, forget, graph, health, message, open_ends, projects,
            search, session, sessions, usage,
        },
        state::SharedView,
    },
};

pub(super) fn router(view: SharedView) -> Router {
    let area = view.access().area().to_owned();
    let pages: [(&str, MethodRouter<SharedView>); 21] = [
        ("", get(search::overview)),
        ("search", get(search::results)),
        ("sessions", get(sessions::list)),
        ("session", get(session::page)),
        ("message", get(message::page)),
        ("calendar", get(calendar::page)),
        ("projects", get(projects::projects_page)),
        ("project", get(projects::project_page)),
        ("open-ends", get(open_ends::page)),
        ("facts", get(facts::page)),
        ("node", get(graph::page)),
        ("usage", get(usage::page)),
        ("health", get(health::page)),
        ("forget", get(forget::preview).post(forget::forget)),
        ("restore", post(forget::restore)),
        ("mark", post(changes::mark)),
        ("events", get(events::events)),
        ("open", get(open)),
        ("view.css", get(assets::style)),
        ("view.js", get(assets::script)),
        ("icon.svg", get(assets::icon)),
    ];
    let router = pages
        .into_iter()
        .fold(Router::new(), |router, (name, page)| router.route(&format!("/{area}/{name}"), page));
    router
        .fallback(failure::missing)
        .layer(middleware::from_fn_with_state(view.clone(), guard))
        .with_state(view)
}

#[derive(Deserialize)]
struct TokenQuery {
    token: String,
}

/// Checks the token in the address, sets the cookie, and redirects to the start page.
///
/// The answer is a page instead of an HTTP redirect. A local file caused the request, and in this
/// case browsers do not send a `SameSite=Strict` cookie to the target of a redirect.
async fn open(State(view): State<SharedView>, Query(query): Query<TokenQuery>) -> Response {
    let redeemed = view.access().redeem(&query.token, clock::now());
    match redeemed {
        Ok(cookie) => ([(header::SET_COOKIE, cookie)], layout::redirect_page("./")).into_response(),
        Err(refusal) => refusal_response(refusal),
    }
}
