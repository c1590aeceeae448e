//! Explains to a model why an answer is empty if the model requested no results, or skipped all
//! results.

use crate::api::client_context::ReplyForm;

/// The start of the explanation.
const NOTHING_SHOWN: &str = "Nothing is shown";

/// Adds the permitted values of the argument `name` to the message of a text answer, if the
/// argument is 0. `most` is the highest value.
pub(super) fn explain(
    message: String,
    form: ReplyForm,
    name: &str,
    given: usize,
    most: usize,
) -> String {
    if form == ReplyForm::Structured || given > 0 {
        return message;
    }
    let note = format!("{NOTHING_SHOWN}, because `{name}` is 0: it may be 1 to {most}.");
    if message.is_empty() { note } else { format!("{note} {message}") }
}

/// Adds the number of results to the message of an answer, if a model skipped all of them.
pub(super) fn explain_offset(message: &str, offset: usize, all: usize, what: &str) -> String {
    let results = if all == 1 { format!("1 {what} was") } else { format!("{all} {what}s were") };
    let note = format!("{NOTHING_SHOWN}, because `offset` is {offset}: only {results} found.");
    if message.is_empty() { note } else { format!("{note} {message}") }
}

/// Whether a message contains the explanation. An answer with the explanation does not show whether
/// there are results.
pub(super) fn is_explained(message: &str) -> bool {
    message.starts_with(NOTHING_SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_requests_no_results_gets_the_permitted_values() {
        let message =
            |form, given| explain("1 session was indexed.".to_owned(), form, "limit", given, 50);
        let shown = message(ReplyForm::Text, 0);
        assert_eq!(
            shown,
            "Nothing is shown, because `limit` is 0: it may be 1 to 50. 1 session was indexed."
        );
        assert!(is_explained(&shown));
        let shown = explain_offset("", 40, 2, "session");
        assert_eq!(shown, "Nothing is shown, because `offset` is 40: only 2 sessions were found.");
        assert!(is_explained(&shown));
        for (form, given) in [(ReplyForm::Text, 1), (ReplyForm::Structured, 0)] {
            assert!(!is_explained(&message(form, given)));
        }
    }
}
