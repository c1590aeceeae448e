//! Renders the frame of all pages.

use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use crate::view::texts::T;

/// The policy of a copy, in a `meta` element because files have no headers. Browsers interpret
/// `'self'` differently for files, so `file:` is allowed, too. Inline scripts and styles are not
/// allowed, and nothing is loaded from the network.
const COPY_POLICY: &str = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; \
    img-src 'self' file:; form-action 'none'; base-uri 'none'";

/// A page without its frame.
#[derive(Clone)]
pub(super) struct ViewPage {
    pub(super) title: String,
    pub(super) nav: NavItem,
    pub(super) body: Markup,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NavItem {
    Search,
    Sessions,
    Calendar,
    Projects,
    Open,
    Facts,
    Usage,
    Health,
    Forget,
}

impl NavItem {
    const ALL: [NavItem; 9] = [
        NavItem::Search,
        NavItem::Sessions,
        NavItem::Calendar,
        NavItem::Projects,
        NavItem::Open,
        NavItem::Facts,
        NavItem::Usage,
        NavItem::Health,
        NavItem::Forget,
    ];

    /// The entries of a static copy.
    const COPIED: [NavItem; 5] =
        [NavItem::Search, NavItem::Sessions, NavItem::Projects, NavItem::Open, NavItem::Facts];

    /// Returns the address and the name of an entry.
    fn entry(self) -> (&'static str, &'static str) {
        match self {
            NavItem::Search => ("./", T.search),
            NavItem::Sessions => ("sessions", T.sessions),
            NavItem::Calendar => ("calendar", T.calendar),
            NavItem::Projects => ("projects", T.projects),
            NavItem::Open => ("open-ends", T.open_ends),
            NavItem::Facts => ("facts", T.facts),
            NavItem::Usage => ("usage", T.usage),
            NavItem::Health => ("health", T.health),
            NavItem::Forget => ("forget", T.forgotten),
        }
    }
}

impl ViewPage {
    pub(super) fn new(title: impl Into<String>, nav: NavItem, body: Markup) -> ViewPage {
        ViewPage { title: title.into(), nav, body }
    }

    /// Returns the part inside the frame.
    pub(super) fn content(&self) -> Markup {
        html! {
            div #content data-title=(self.title) {
                (self.body)
            }
        }
    }
}

impl IntoResponse for ViewPage {
    /// Puts the page into an extension of the response. The guard renders the page with or without
    /// the frame.
    fn into_response(self) -> Response {
        let mut response = Response::default();
        response.extensions_mut().insert(self);
        response
    }
}

pub(super) fn redirect_page(address: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(T.language) {
            head {
                meta charset="utf-8";
                meta name="color-scheme" content="light dark";
                meta http-equiv="refresh" content={ "0; url=" (address) };
                title { "graphiti" }
            }
            body { p { a href=(address) { "graphiti" } } }
        }
    }
}

pub(super) fn document(page: &ViewPage) -> Markup {
    framed(page, &NavItem::ALL, &html! { script src="view.js" defer {} })
}

/// Returns a page of a static copy with additional scripts.
pub(super) fn copy_document(page: &ViewPage, scripts: &[String]) -> Markup {
    let head = html! {
        meta http-equiv="Content-Security-Policy" content=(COPY_POLICY);
        meta name="referrer" content="no-referrer";
        meta name="robots" content="noindex";
        @for script in scripts { script src=(script) defer {} }
        script src="copy.js" defer {}
    };
    framed(page, &NavItem::COPIED, &head)
}

fn framed(page: &ViewPage, items: &[NavItem], head: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(T.language) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (page.title) " · graphiti" }
                link rel="icon" href="icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="view.css";
                (head)
            }
            body data-text-closed=(T.closed) data-text-failed=(T.request_failed)
                data-text-undo=(T.undo) data-text-saved=(T.saved) {
                a .skip href="#main" { (T.skip) }
                header .top {
                    a .brand href="./" { "graphiti" }
                    nav aria-label=(T.views) {
                        ul {
                            @for item in items {
                                @let (address, name) = item.entry();
                                li {
                                    a href=(address) aria-current=[(*item == page.nav).then_some("page")] { (name) }
                                }
                            }
                        }
                    }
                }
                main #main tabindex="-1" { (page.content()) }
                p #status .hidden role="status" {}
                div #notice .notice role="alert" hidden {}
            }
        }
    }
}
