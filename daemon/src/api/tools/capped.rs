//! Explains why an answer has fewer results than were requested.

/// Adds a note to the message of an answer with `shown` results, if more results than the maximum
/// `most` were requested, and the answer has this maximum.
pub(super) fn explain(message: String, requested: usize, shown: usize, most: usize) -> String {
    if requested <= most || shown < most {
        return message;
    }
    let note = format!("At most {most} results are returned per request.");
    if message.is_empty() { note } else { format!("{note} {message}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_more_than_the_maximum_is_answered_with_a_note_if_there_may_be_more() {
        let message = |requested, shown| explain("1 is pending.".to_owned(), requested, shown, 100);
        assert_eq!(
            message(101, 100),
            "At most 100 results are returned per request. 1 is pending."
        );
        assert_eq!(message(100, 100), "1 is pending.");
        assert_eq!(message(101, 99), "1 is pending.");
        assert_eq!(explain(String::new(), 9, 5, 5), "At most 5 results are returned per request.");
    }
}
