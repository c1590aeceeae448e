//! Rewrites links between pages of the viewer to links between the files of a copy.
//!
//! Pages are rendered with the viewer's links, and the links are then replaced in the text. This is
//! safe: `maud` escapes `<`, `>` and `"` in inserted text, so every tag was written by our code.

use std::collections::{BTreeMap, BTreeSet};

use axum::{extract::Query, http::Uri};

use super::{page::CopyPage, scope::CopyScope};
use crate::{
    api::{DaemonState, in_process},
    model::{Namespace, Project, graph::Relation},
    view::{
        dates::day_and_time,
        pages::{PageResult, projects, session},
    },
};

/// Rewrites pages, and collects the pages to which they link.
pub(super) struct LinkRewriter<'c> {
    daemon: &'c DaemonState,
    scope: &'c CopyScope,
    pub(super) found: BTreeSet<CopyPage>,
}

struct LinkTarget {
    page: CopyPage,
    /// The anchor in the page, or empty for the top of the page.
    fragment: String,
}

impl<'c> LinkRewriter<'c> {
    pub(super) fn new(daemon: &'c DaemonState, scope: &'c CopyScope) -> LinkRewriter<'c> {
        LinkRewriter { daemon, scope, found: BTreeSet::new() }
    }

    pub(super) async fn rewrite(&mut self, html: &str) -> PageResult<String> {
        let mut written = String::with_capacity(html.len());
        let mut rest = html;
        while let Some((before, tag, after)) = next_tag(rest) {
            written.push_str(before);
            rest = after;
            if tag.starts_with("<time ") {
                // Shows the date, because a time such as "2 days ago" would become wrong.
                let (inside, after) = after.split_once("</time>").unwrap_or((after, ""));
                let at = attribute(tag, "datetime").map(day_and_time).unwrap_or_default();
                let at = if at.is_empty() { inside } else { &at };
                written.push_str(&format!("<time>{at}</time>"));
                rest = after;
            } else if tag.contains(" class=\"live\"") {
                // Omits links to functions that only the viewer has.
                rest = after.split_once("</a>").map_or("", |(_, after)| after);
            } else {
                written.push_str(&self.link(tag).await?);
            }
        }
        written.push_str(rest);
        Ok(written)
    }

    /// Returns the opening tag of a link, without `href` if its target is not in the copy.
    async fn link(&mut self, tag: &str) -> PageResult<String> {
        let Some(href) = attribute(tag, "href").filter(|href| !href.starts_with('#')) else {
            return Ok(tag.to_owned());
        };
        let old = format!(" href=\"{href}\"");
        let Some(LinkTarget { page, fragment }) = self.target(&href.replace("&amp;", "&")).await?
        else {
            return Ok(tag.replacen(&old, "", 1));
        };
        let begin = if fragment.is_empty() { "" } else { "#" };
        let new = format!(" href=\"{}{begin}{fragment}\"", page.file_name());
        self.found.insert(page);
        Ok(tag.replacen(&old, &new, 1))
    }

    async fn target(&self, href: &str) -> PageResult<Option<LinkTarget>> {
        let (address, fragment) = href.split_once('#').unwrap_or((href, ""));
        let (name, query) = address.split_once('?').unwrap_or((address, ""));
        let Some(given) = parameters(query) else { return Ok(None) };
        let value = |name: &str| given.get(name).map_or("", String::as_str);
        let number = |name: &str| value(name).parse().unwrap_or(0);
        let page = match name {
            "session" if self.scope.has_session(value("id")) => {
                return self.session(&given, fragment).await.map(Some);
            }
            "message" if self.scope.has_session(value("id")) => CopyPage::Message {
                id: value("id").to_owned(),
                source: number("source"),
                seq: number("seq"),
                from: value("from").parse().unwrap_or(0),
            },
            "./" => CopyPage::Start,
            "sessions" => CopyPage::Sessions { number: value("number").parse().unwrap_or(0) },
            "projects" => CopyPage::Projects,
            "project" => match self.project(value("dir")) {
                Some(namespace) => CopyPage::Project { namespace: namespace.to_string() },
                None => return Ok(None),
            },
            "open-ends" => CopyPage::OpenEnds,
            "facts" => match Relation::parse(value("kind")) {
                Some(kind) => CopyPage::FactsOf { kind: kind.as_str().to_owned() },
                None => CopyPage::Facts,
            },
            _ => return Ok(None),
        };
        Ok(Some(LinkTarget { page, fragment: fragment.to_owned() }))
    }

    /// Returns the page that contains the message of the address, in the conversation of its
    /// session.
    async fn session(
        &self,
        given: &BTreeMap<String, String>,
        fragment: &str,
    ) -> PageResult<LinkTarget> {
        let number = |name: &str| given.get(name).and_then(|value| value.parse().ok());
        let id = given.get("id").cloned().unwrap_or_default();
        let line = given.get("line").and_then(|line| line.parse().ok());
        let at: Option<u32> = match line {
            Some(line) => in_process::message_at_line(self.daemon, &id, line).await?,
            None => number("at"),
        };
        let (source, at) = (number("source").unwrap_or(0), at.unwrap_or(0));
        // The viewer gets the message as a parameter. A file has no parameters, so the anchor
        // contains the number of the message.
        let fragment = match fragment {
            "here" => format!("m{source}-{at}"),
            fragment => fragment.to_owned(),
        };
        let page = CopyPage::Session { id, source, first: session::first_of_page(at) };
        Ok(LinkTarget { page, fragment })
    }

    /// Returns the project of a directory, if the project is in the copy.
    fn project(&self, directory: &str) -> Option<Namespace> {
        let head = projects::representative(self.daemon, Project::new(directory).namespace());
        self.scope.has_project(head).then_some(head)
    }
}

/// Splits a page at the tag of its next link or time. Returns the text before the tag, the tag, and
/// the text after the tag.
fn next_tag(html: &str) -> Option<(&str, &str, &str)> {
    let begins = html.match_indices('<').map(|(at, _)| at);
    let mut tags =
        begins.filter(|at| ["<a ", "<time "].iter().any(|begin| html[*at..].starts_with(begin)));
    let begin = tags.next()?;
    let end = begin + html[begin..].find('>')? + 1;
    Some((&html[..begin], &html[begin..end], &html[end..]))
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

fn parameters(query: &str) -> Option<BTreeMap<String, String>> {
    let uri: Uri = format!("/?{query}").parse().ok()?;
    Query::try_from_uri(&uri).ok().map(|Query(given)| given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_split_at_links_and_times() {
        let html = "<p><abbr>x</abbr><a class=\"s\" href=\"session?id=1&amp;at=2#m0-2\">y</a></p>";
        let (before, tag, after) = next_tag(html).unwrap();
        assert_eq!((before, after), ("<p><abbr>x</abbr>", "y</a></p>"));
        assert_eq!(attribute(tag, "href"), Some("session?id=1&amp;at=2#m0-2"));
        assert_eq!(attribute(tag, "title"), None);
        assert_eq!(next_tag("<time datetime=\"z\">1").unwrap().1, "<time datetime=\"z\">");
        assert_eq!(next_tag("<p>1 < 2"), None);
        let given = parameters("id=a%26b&at=7").unwrap();
        assert_eq!((given["id"].as_str(), given["at"].as_str()), ("a&b", "7"));
    }
}
