//! A static copy of the viewer: its pages as files that a browser opens without a server.
//!
//! The client requests pages, and then the pages to which they link
//! ([`graphiti_proto::methods::static_copy`]); the daemon keeps no state between requests.
//! [`scope`] determines which sessions are in the copy, [`lists`] renders the pages that only a
//! copy has, and [`links`] rewrites links between pages to links between files. Functions that need
//! the daemon (forms, corrections, the graph) are omitted. A script on the start page searches
//! titles and summaries.

mod links;
mod lists;
mod page;
mod scope;

use std::collections::BTreeSet;

use axum::{extract::Query, http::Uri};
use graphiti_proto::{
    methods::static_copy::{StaticCopyFile, StaticCopyPart, StaticCopyRequest},
    rpc::{Error, code},
};
use serde::de::DeserializeOwned;

use self::{links::LinkRewriter, page::CopyPage, scope::CopyScope};
use super::{
    assets, layout,
    pages::{PageAnswer, failure, message, session},
};
use crate::{
    api::{CopyAnswer, SharedDaemon, in_process},
    view::texts::T,
};

/// If a part is larger than this, in bytes, no further page is added to it.
const PART_BYTES: usize = 3 << 19;
/// Maximum size of a part, in bytes, so that the part fits into a line of the protocol.
const MAX_PART_BYTES: usize = 7 << 19;

/// Renders as many of the requested pages as fit into a part. The answer to a request without pages
/// contains the files that all pages use, and a link to the start page.
pub async fn render(daemon: &SharedDaemon, request: &StaticCopyRequest) -> CopyAnswer {
    in_process::guarded(part(daemon, request)).await?
}

async fn part(daemon: &SharedDaemon, request: &StaticCopyRequest) -> CopyAnswer {
    let scope = CopyScope::read(daemon, request).await?;
    let mut part = StaticCopyPart { sessions: scope.sessions.len(), ..StaticCopyPart::default() };
    if request.pages.is_empty() {
        part.files = shared_files();
        part.links = vec![CopyPage::Start.to_text()];
        return Ok(part);
    }
    let mut pages = Vec::new();
    for page in &request.pages {
        let wrong =
            || Error::new(code::INVALID_PARAMS, format!("`{page}` is not a page of a copy"));
        pages.push(CopyPage::parse(page).ok_or_else(wrong)?);
    }
    let mut bytes = 0;
    let mut links = BTreeSet::new();
    for page in &pages {
        let (text, found) = file(daemon, &scope, page).await?;
        bytes += json_length(&text);
        if bytes > MAX_PART_BYTES && part.rendered > 0 {
            break;
        }
        part.files.push(StaticCopyFile { name: page.file_name(), text });
        part.rendered += 1;
        links.extend(found);
        if bytes > PART_BYTES {
            break;
        }
    }
    part.links = links.iter().map(CopyPage::to_text).collect();
    Ok(part)
}

/// Returns the files that all pages use.
fn shared_files() -> Vec<StaticCopyFile> {
    let files =
        [("view.css", assets::STYLE), ("copy.js", assets::COPY_SCRIPT), ("icon.svg", assets::ICON)];
    let file = |(name, text): (&str, &str)| StaticCopyFile {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    files.into_iter().map(file).collect()
}

/// Returns the content of the file of a page, and the pages to which it links.
async fn file(
    daemon: &SharedDaemon,
    scope: &CopyScope,
    page: &CopyPage,
) -> Result<(String, BTreeSet<CopyPage>), Error> {
    if let CopyPage::Index { number } = page {
        return Ok((lists::index(daemon, scope, *number).await?, BTreeSet::new()));
    }
    let shown = match content(daemon, scope, page).await {
        Ok(shown) => shown,
        // For example, the session was forgotten in the meantime.
        Err(failure) => failure.page(),
    };
    let scripts: Vec<CopyPage> = match page {
        CopyPage::Start => scope.chunks().map(|number| CopyPage::Index { number }).collect(),
        _ => Vec::new(),
    };
    let names: Vec<String> = scripts.iter().map(CopyPage::file_name).collect();
    let mut rewriter = LinkRewriter::new(daemon, scope);
    let mut text = rewriter.rewrite(&layout::copy_document(&shown, &names).into_string()).await?;
    if json_length(&text) > MAX_PART_BYTES {
        tracing::warn!("a page is too long for a static copy");
        text = layout::copy_document(&failure::message(T.too_long), &names).into_string();
        text = rewriter.rewrite(&text).await?;
    }
    let mut found = rewriter.found;
    found.extend(scripts);
    Ok((text, found))
}

async fn content(daemon: &SharedDaemon, scope: &CopyScope, page: &CopyPage) -> PageAnswer {
    match page {
        CopyPage::Start => lists::start(daemon, scope).await,
        CopyPage::Sessions { number } => lists::sessions(daemon, scope, *number).await,
        CopyPage::Projects => lists::projects(daemon, scope),
        CopyPage::Project { namespace } => lists::project(daemon, scope, namespace).await,
        CopyPage::OpenEnds => lists::open_ends(daemon, scope).await,
        CopyPage::Facts => lists::facts(daemon, scope).await,
        CopyPage::FactsOf { kind } => lists::facts_of(daemon, scope, kind).await,
        CopyPage::Session { .. } => session::show(daemon, &query(page)?, None).await,
        CopyPage::Message { .. } => message::show(daemon, &query(page)?).await,
        // An index is a script, not a page.
        CopyPage::Index { .. } => Ok(failure::message(T.no_page)),
    }
}

/// Returns the parameters with which the viewer shows `page`.
fn query<T: DeserializeOwned>(page: &CopyPage) -> Result<T, Error> {
    let wrong = |error: String| Error::new(code::INVALID_PARAMS, error);
    let uri: Uri =
        page.address().parse().map_err(|_| wrong("this is not an address".to_owned()))?;
    let query = Query::<T>::try_from_uri(&uri);
    query.map(|Query(query)| query).map_err(|error| wrong(error.to_string()))
}

/// Returns the approximate length of a text as a JSON string, in bytes.
fn json_length(text: &str) -> usize {
    text.len() + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\' | b'\n')).count()
}
