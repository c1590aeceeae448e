//! How a session ended, in the words of its user and its agent.

/// The last words of a session, and the requests with which it began and ended. A field is `None`
/// if its text is unknown or adds nothing new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionEnding {
    /// The agent's last report on one line, shortened in its middle.
    pub report: Option<String>,
    /// The report before the last report, if the last report is short.
    pub earlier_report: Option<String>,
    /// The user's first meaningful request, if the objective of the summary is worded differently.
    pub asked: Option<String>,
    /// The objective of the summary, if there is no meaningful request with another wording.
    pub about: Option<String>,
    /// The user's last request.
    pub asked_last: Option<String>,
    /// The last run of each test suite, the latest first.
    pub tests: Option<String>,
    /// The question to the user on which the session ended.
    pub question: Option<String>,
}

impl SessionEnding {
    /// Maximum length, in characters, of the last report. About three quarters of the reports of
    /// recorded sessions are shorter, and are quoted as a whole.
    pub const REPORT_LENGTH: usize = 900;
    /// Maximum length, in characters, of the report before the last one.
    pub const EARLIER_REPORT_LENGTH: usize = 450;
    /// Maximum length, in characters, of a request.
    pub const REQUEST_LENGTH: usize = 240;

    /// Returns the fields that are known, each with its name.
    pub fn named(&self) -> Vec<(&'static str, &str)> {
        let fields = [
            (REPORT, &self.report),
            (EARLIER_REPORT, &self.earlier_report),
            (ASKED, &self.asked),
            (ABOUT, &self.about),
            (ASKED_LAST, &self.asked_last),
            (TESTS, &self.tests),
            (QUESTION, &self.question),
        ];
        fields.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?))).collect()
    }

    /// Sets the field with this name, if there is one.
    pub fn set(&mut self, name: &str, text: &str) {
        let field = match name {
            REPORT => &mut self.report,
            EARLIER_REPORT => &mut self.earlier_report,
            ASKED => &mut self.asked,
            ABOUT => &mut self.about,
            ASKED_LAST => &mut self.asked_last,
            TESTS => &mut self.tests,
            QUESTION => &mut self.question,
            _ => return,
        };
        *field = Some(text.to_owned());
    }

    /// Whether a field has this name.
    pub fn has_field(name: &str) -> bool {
        [REPORT, EARLIER_REPORT, ASKED, ABOUT, ASKED_LAST, TESTS, QUESTION].contains(&name)
    }
}

const REPORT: &str = "last report";
const EARLIER_REPORT: &str = "earlier report";
const ASKED: &str = "asked";
const ABOUT: &str = "about";
const ASKED_LAST: &str = "asked last";
const TESTS: &str = "last tests";
const QUESTION: &str = "last question";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_fields_are_read_as_they_were_written() {
        let ending = SessionEnding {
            report: Some("The signer is replaced.".to_owned()),
            asked_last: Some("Push it".to_owned()),
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
