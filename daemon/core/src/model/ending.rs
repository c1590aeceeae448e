//! How a session ended, in the words of its user and its agent.

/// The last words of a session, and the requests with which it began and ended. A field is `None`
/// if its text is unknown or adds nothing new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionEnding {
    /// The agent's last report on one line, shortened in its middle.
    pub report: Option<String>,
    /// An earlier report with more content, if the last report is short.
    pub earlier_report: Option<String>,
    /// The user's request that the objective of the summary rewords, or else the first clear
    /// request of the user.
    pub first_request: Option<String>,
    /// The objective of the summary, if `first_request` is `None`.
    pub about: Option<String>,
    /// The user's last request and the earlier requests that led to most work, in order.
    pub later_requests: Vec<String>,
    /// The last run of each test suite, the latest first.
    pub tests: Option<String>,
    /// The question to the user on which the session ended.
    pub question: Option<String>,
    /// Branches that the session deleted.
    pub deleted_branches: Vec<String>,
}

impl SessionEnding {
    /// Maximum length, in characters, of the last report. About three quarters of the reports of
    /// recorded sessions are shorter, and are quoted as a whole.
    pub const REPORT_LENGTH: usize = 1_100;
    /// Maximum length, in characters, of the earlier report.
    pub const EARLIER_REPORT_LENGTH: usize = 600;
    /// Maximum length, in characters, of the first request.
    pub const REQUEST_LENGTH: usize = 320;
    /// Maximum length, in characters, of a later request.
    pub const LATER_REQUEST_LENGTH: usize = 220;

    /// Returns the fields that are known, each with its name.
    pub fn named(&self) -> Vec<(&'static str, &str)> {
        let fields = [
            (REPORT, &self.report),
            (EARLIER_REPORT, &self.earlier_report),
            (ASKED, &self.first_request),
            (ABOUT, &self.about),
            (TESTS, &self.tests),
            (QUESTION, &self.question),
        ];
        let fields = fields.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
        let later = self.later_requests.iter().map(|text| (ASKED_LATER, text.as_str()));
        let deleted = self.deleted_branches.iter().map(|name| (DELETED_BRANCH, name.as_str()));
        fields.chain(later).chain(deleted).collect()
    }

    /// Sets the field `name`, or adds the text to the list `name`. Ignores unknown names.
    pub fn set(&mut self, name: &str, text: &str) {
        let field = match name {
            REPORT => &mut self.report,
            EARLIER_REPORT => &mut self.earlier_report,
            ASKED => &mut self.first_request,
            ABOUT => &mut self.about,
            ASKED_LATER => return self.later_requests.push(text.to_owned()),
            DELETED_BRANCH => return self.deleted_branches.push(text.to_owned()),
            TESTS => &mut self.tests,
            QUESTION => &mut self.question,
            _ => return,
        };
        *field = Some(text.to_owned());
    }

    /// Whether a field has this name.
    pub fn has_field(name: &str) -> bool {
        [REPORT, EARLIER_REPORT, ASKED, ABOUT, ASKED_LATER, TESTS, QUESTION, DELETED_BRANCH]
            .contains(&name)
    }
}

const REPORT: &str = "last report";
const EARLIER_REPORT: &str = "earlier report";
const ASKED: &str = "asked";
const ABOUT: &str = "about";
// Stored facts have this name, because earlier versions kept only the last request.
const ASKED_LATER: &str = "asked last";
const TESTS: &str = "last tests";
const QUESTION: &str = "last question";
const DELETED_BRANCH: &str = "deleted branch";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_fields_are_read_as_they_were_written() {
        let ending = SessionEnding {
            report: Some("The signer is replaced.".to_owned()),
            later_requests: vec!["Describe it".to_owned(), "Push it".to_owned()],
            deleted_branches: vec!["fix/x".to_owned()],
            ..SessionEnding::default()
        };
        let mut read = SessionEnding::default();
        for (name, text) in ending.named() {
            assert!(SessionEnding::has_field(name));
            read.set(name, text);
        }
        read.set("outcome", "completed");
        assert_eq!(read, ending);
    }
}
