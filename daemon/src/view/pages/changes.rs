//! Corrects facts, by the method that `graphiti facts --done|--wrong|--keep` uses.

use axum::{
    extract::{Query, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use graphiti_proto::methods::corrections::{
    CORRECTIONS, CorrectionRow, CorrectionsAnswer, CorrectionsRequest,
};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    failure::PageFailure,
    parts::{action, address},
};
use crate::{
    api::in_process,
    view::{state::SharedView, texts::T},
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::view) struct MarkQuery {
    fact: String,
    verdict: String,
    /// The page to show afterwards.
    back: String,
}

pub(in crate::view) async fn mark(
    State(view): State<SharedView>,
    Query(query): Query<MarkQuery>,
) -> Result<Response, PageFailure> {
    let correction =
        CorrectionRow { fact: query.fact, verdict: query.verdict, ..CorrectionRow::default() };
    let request =
        CorrectionsRequest { corrections: vec![correction], ..CorrectionsRequest::default() };
    let _: CorrectionsAnswer = in_process::method(&*view.daemon()?, CORRECTIONS, &request).await?;
    Ok(redirect(back(&query.back)))
}

pub(super) fn redirect(address: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response()
}

/// Returns the page to show afterwards: `given` if it is a page of the viewer, or else the page of
/// open ends.
fn back(given: &str) -> &str {
    const PAGES: &[&str] = &["open-ends", "facts", "node", "session", "project"];
    let page = given.split('?').next().unwrap_or_default();
    let is_plain = given.bytes().all(|byte| byte.is_ascii_graphic());
    if PAGES.contains(&page) && is_plain { given } else { "open-ends" }
}

/// Renders the buttons that correct a fact.
pub(super) fn buttons(fact: &str, verdicts: &[&str], page: &str) -> Markup {
    html! {
        div .actions {
            @for verdict in verdicts {
                @let (label, class) = match *verdict {
                    "done" => (T.done, "good"),
                    "wrong" => (T.wrong, "bad"),
                    _ => (T.keep, ""),
                };
                (action(&address("mark", &[("fact", fact), ("verdict", verdict), ("back", page)]), label, class))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_leads_back_to_a_page_of_the_viewer() {
        assert_eq!(back("facts?q=a%20b"), "facts?q=a%20b");
        for wrong in
            ["", "https://evil.example/", "//evil.example", "facts/../x", "facts?\r\nx: y", "open"]
        {
            assert_eq!(back(wrong), "open-ends", "{wrong}");
        }
    }
}
