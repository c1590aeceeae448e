//! The parts of a rule that recognises the form of a secret.

use crate::SecretKind;

pub(super) struct Rule {
    /// The kind of the secret, which is shown in its replacement.
    pub(super) kind: SecretKind,
    /// Every match of the pattern contains one of these literals.
    pub(super) anchors: &'static [&'static str],
    /// A regular expression over bytes that matches the whole form.
    pub(super) pattern: &'static str,
    pub(super) start: Start,
    pub(super) check: Check,
    /// Maximum number of bytes that the pattern reads from its anchor.
    pub(super) window: usize,
}

/// Maximum number of bytes that most patterns read from their anchor. The longest known token is
/// shorter.
const WINDOW: usize = 64 * 1024;

/// The same limit for patterns that are tried at many positions, such as a pattern that may begin
/// before its anchor. The limit is smaller, because each try takes time.
const NARROW_WINDOW: usize = 256;

/// The same limit for patterns that read the arguments of a command.
const COMMAND_WINDOW: usize = 1_024;

/// Where a pattern begins, relative to its anchor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// At the anchor, which must not follow a letter or digit.
    Edge,
    /// At the anchor, which must not follow a character of `[A-Za-z0-9_-]`. For patterns that may
    /// read many bytes and then fail: each run of such characters is read only once.
    Run,
    /// At the anchor, which must not follow a base64 character. For short forms that occur inside
    /// encoded data.
    Alone,
    /// At the anchor, after any text.
    Anywhere,
    /// At most this number of bytes before the anchor.
    Back(usize),
}

/// A condition on the secret that the pattern matched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Neither a placeholder nor a repetition of a few characters.
    Varied,
    /// Like `Varied`, and contains a digit or looks random, unlike most identifiers.
    Mixed,
    /// Like `Varied`, and looks random.
    Random,
    /// Like `Random`, and contains a digit.
    Drawn,
    /// At least two bytes, and neither a placeholder nor a plain word nor a `file:` reference.
    Password,
    /// Like `Password`, and contains a lower-case letter. The names of methods, such as `LOGIN` in
    /// `AUTH LOGIN`, contain none.
    Chosen,
    /// Resembles a password rather than a word or a name.
    Told,
    /// Like `Told`, but letters with a single digit must look random. For patterns that often match
    /// other text.
    ClearlyTold,
    /// Contains no words such as "the" and "and": a sentence contains them, a seed phrase does not.
    /// The pattern requires at least twelve words.
    SeedWords,
    /// The base64 of `user:password`.
    BasicPair,
    /// Is neither the number of a pin of a processor nor a pinned version: no word for electronics
    /// is near, and no word such as `nightly` precedes `pin`.
    PinOfPerson,
    /// Is the code of a login rather than of a program: a word such as `2FA` is near, and no word
    /// such as `exit` precedes `code`.
    LoginCode,
    /// A list of which most words contain digits.
    RecoveryCodes,
    /// The number of a payment card, by its checksum, but not the number of a test card.
    CardNumber,
    /// An IBAN, by its checksum, but not the IBAN of an example.
    AccountNumber,
    /// Like `Told`, and the command before it is `kubectl create secret`.
    OfKubernetes,
    Nothing,
}

impl Rule {
    pub(super) const fn check(mut self, check: Check) -> Rule {
        self.check = check;
        self
    }

    pub(super) const fn back(mut self, bytes: usize) -> Rule {
        self.start = Start::Back(bytes);
        self.window = NARROW_WINDOW;
        self
    }

    /// Reduces the window, for patterns whose matches are short. Their anchors may occur at many
    /// positions, and each try may read the whole window.
    pub(super) const fn narrow(mut self) -> Rule {
        self.window = NARROW_WINDOW;
        self
    }

    /// Sets the window and the check for patterns with `args!`, which read many bytes.
    pub(super) const fn command(mut self) -> Rule {
        self.window = COMMAND_WINDOW;
        self.check(Check::Password)
    }

    pub(super) const fn alone(mut self) -> Rule {
        self.start = Start::Alone;
        self
    }

    pub(super) const fn run(mut self) -> Rule {
        self.start = Start::Run;
        self
    }
}

/// Returns the rule of a form that must not follow a letter or digit, because the form is short
/// enough to occur inside other text.
pub(super) const fn edged(
    kind: &'static str,
    anchors: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule {
        kind: SecretKind(kind),
        anchors,
        pattern,
        start: Start::Edge,
        check: Check::Varied,
        window: WINDOW,
    }
}

/// Returns the rule of a form that is found even directly after other text.
pub(super) const fn glued(
    kind: &'static str,
    anchors: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    let mut rule = edged(kind, anchors, pattern);
    rule.start = Start::Anywhere;
    rule
}
