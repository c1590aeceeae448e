//! Leaves out parts of the lines of a handoff that another line of the same handoff contains.

use crate::{
    summarize::handoff::{EndedSession, SessionLine},
    text::{pattern, share_of_words, words},
};

/// A request repeats a title if the request contains at least this share of the words of the title.
const REPEATED_SHARE: f64 = 0.9;
/// A shorter title, in characters, is shown even if the request repeats it.
const MIN_TITLE: usize = 30;

/// Returns the title of a session, unless the objective, which is quoted, has the same words.
pub(super) fn title(past: &EndedSession) -> Option<&str> {
    let wanted = words(&past.name);
    let is_repeated = past.name.chars().count() >= MIN_TITLE
        && !wanted.is_empty()
        && share_of_words(&wanted, &words(&past.objective)) >= REPEATED_SHARE;
    Some(past.name.as_str()).filter(|name| !name.is_empty() && !is_repeated)
}

/// Returns the beginning of the id of a session that identifies the session: of a UUID, the parts
/// with its time or 48 random bits.
pub(super) fn short_id(id: &str) -> &str {
    pattern!(r"^[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}){2}-[0-9a-f]{12}$")
        .find(id)
        .map_or(id, |uuid| &uuid.as_str()[..13])
}

/// Returns a state of the repository without the branch on which the session ended, and without its
/// title as the subject of the commit or pull request.
pub(super) fn own_state(line: &SessionLine, last: &EndedSession) -> SessionLine {
    let mut text = line.text.clone();
    if let Some(branch) = &last.end_branch {
        text = text.replacen(&format!("“branch `{branch}`; "), "“", 1);
    }
    if let Some(title) = title(last) {
        let subject = format!(" {title}");
        // A title may be the beginning of a longer subject.
        let is_whole = |rest: &str| {
            pattern!(r"^(?:[;”]|: https?:| \((?:on `|merged|closed|draft|open))").is_match(rest)
        };
        let named = pattern!(r"(?:last commit `[0-9a-f]+`|Pull request #\d+)").find(&text);
        let end = named.map_or(text.len(), |named| named.end());
        if text[end..].strip_prefix(&subject).is_some_and(is_whole) {
            text.replace_range(end..end + subject.len(), "");
        }
    }
    SessionLine { text, session: line.session }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::handoff::tests::full;

    fn ended(name: &str, objective: &str) -> EndedSession {
        let past = EndedSession::of(&full(), &Default::default(), &str::to_owned);
        EndedSession {
            name: name.to_owned(),
            objective: objective.to_owned(),
            end_branch: Some("fix/cart".to_owned()),
            ..past
        }
    }

    #[test]
    fn a_long_title_is_left_out_if_the_request_has_its_words() {
        let long = "Review the reader of dates against the plan";
        for (name, objective, is_shown) in [
            (long, "Review the reader of dates against the plan. Focus on time zones.", false),
            (long, "Review the reader against the plan", true),
            ("Fix the login", "Fix the login, please", true),
            (long, "", true),
        ] {
            assert_eq!(title(&ended(name, objective)).is_some(), is_shown, "{name}: {objective}");
        }
    }

    #[test]
    fn a_state_does_not_repeat_the_branch_and_the_title() {
        let last = ended("Round the totals of the cart", "make the totals right");
        for (text, wanted) in [
            (
                "“branch `fix/cart`; last commit `a1b2c3d` Round the totals of the cart; pushed”",
                "“last commit `a1b2c3d`; pushed”",
            ),
            (
                "“Pull request #7 Round the totals of the cart (merged): https://example.com/7”",
                "“Pull request #7 (merged): https://example.com/7”",
            ),
            (
                "“branch `main`; last commit `a1b2c3d` Round the totals of the cart and the bill; pushed”",
                "“branch `main`; last commit `a1b2c3d` Round the totals of the cart and the bill; pushed”",
            ),
            (
                "“last commit `a1b2c3d` Round the totals of the cart (H-01, H-06); pushed”",
                "“last commit `a1b2c3d` Round the totals of the cart (H-01, H-06); pushed”",
            ),
            ("“branch `fix/cart`”", "“branch `fix/cart`”"),
        ] {
            let line = SessionLine { text: text.to_owned(), session: 0 };
            assert_eq!(own_state(&line, &last).text, wanted);
        }
    }

    #[test]
    fn only_a_uuid_is_shortened() {
        for (id, wanted) in [
            ("019d7e48-96e2-77a0-b4ce-607c7aba4b96", "019d7e48-96e2"),
            (
                "2026-01-27-3b1b6293-65e1-4c3e-9f95-d530143332f2",
                "2026-01-27-3b1b6293-65e1-4c3e-9f95-d530143332f2",
            ),
            ("s-9", "s-9"),
        ] {
            assert_eq!(short_id(id), wanted);
        }
    }
}
