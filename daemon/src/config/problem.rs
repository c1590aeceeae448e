//! Problems and notices of a configuration file.

use std::{
    fmt,
    path::{Path, PathBuf},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    pub file: PathBuf,
    /// Counted from 1.
    pub line: usize,
}

/// A reason why a file is rejected, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigProblem {
    /// The file cannot be read.
    Unreadable {
        file: PathBuf,
        error: String,
    },
    TooLong {
        file: PathBuf,
        max_bytes: u64,
    },
    /// The file contains bytes that are not valid UTF-8. The first such bytes are in this line.
    NotUtf8 {
        place: FilePosition,
    },
    /// The file is not valid JSON.
    Syntax {
        place: FilePosition,
        /// What the parser reports.
        error: String,
    },
    InvalidValue {
        place: FilePosition,
        key: String,
        /// The value, shortened and without secrets.
        found: String,
        /// A description of the valid values.
        allowed: String,
        remedy: String,
    },
    /// A secret, which must not be in the file.
    Secret {
        place: FilePosition,
        key: String,
        remedy: String,
    },
    /// The file belongs to a project, but the key is valid only in the user's own file.
    Guarded {
        place: FilePosition,
        key: &'static str,
        own_file: PathBuf,
    },
    /// Values that are valid individually, but not together.
    Conflict {
        /// The position of one of the values.
        place: FilePosition,
        key: String,
        text: String,
    },
}

/// A remark that does not make the file invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A key that does not exist.
    Unknown {
        place: FilePosition,
        key: String,
        /// The most similar known key.
        nearest: Option<&'static str>,
    },
    /// A key that occurs twice in one object.
    Twice {
        /// The position of the last occurrence, whose value is used.
        place: FilePosition,
        key: String,
    },
    /// A deprecated key, which is read as its current name.
    OlderKey {
        place: FilePosition,
        /// The key in the file.
        from: String,
        to: &'static str,
    },
    /// A deprecated key that is ignored, because another spelling of the same key is used.
    Superseded {
        place: FilePosition,
        /// The key in the file.
        from: String,
        /// The current name of the key.
        to: &'static str,
    },
    /// A deprecated spelling of a value, which is read as the current spelling.
    OlderValue {
        place: FilePosition,
        key: String,
        /// The value in the file.
        from: String,
        to: String,
    },
    /// A key that is no longer used.
    Retired {
        place: FilePosition,
        key: String,
        /// Why the key is no longer used.
        reason: &'static str,
    },
    /// A value that is replaced with a similar value.
    Adjusted {
        place: FilePosition,
        key: String,
        /// The value in the file.
        found: String,
        used: String,
        reason: &'static str,
    },
    /// A value that has no effect because of another value.
    Idle { place: FilePosition, key: String, reason: &'static str },
}

/// The problems and notices of a rejected file.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Problems {
    /// Never empty.
    pub problems: Vec<ConfigProblem>,
    pub notices: Vec<Notice>,
}

impl FilePosition {
    pub(super) fn new(file: &Path, line: usize) -> FilePosition {
        FilePosition { file: file.to_owned(), line }
    }
}

impl ConfigProblem {
    /// Returns the line, or 0 for a problem with the whole file.
    pub(super) fn line(&self) -> usize {
        match self {
            ConfigProblem::Unreadable { .. } | ConfigProblem::TooLong { .. } => 0,
            ConfigProblem::NotUtf8 { place }
            | ConfigProblem::Syntax { place, .. }
            | ConfigProblem::InvalidValue { place, .. }
            | ConfigProblem::Secret { place, .. }
            | ConfigProblem::Guarded { place, .. }
            | ConfigProblem::Conflict { place, .. } => place.line,
        }
    }
}

impl Notice {
    pub(super) fn line(&self) -> usize {
        match self {
            Notice::Unknown { place, .. }
            | Notice::Twice { place, .. }
            | Notice::OlderKey { place, .. }
            | Notice::Superseded { place, .. }
            | Notice::OlderValue { place, .. }
            | Notice::Retired { place, .. }
            | Notice::Adjusted { place, .. }
            | Notice::Idle { place, .. } => place.line,
        }
    }

    /// Whether the notice reports a deprecated spelling that is read, or a retired key. Other
    /// notices probably report a mistake.
    pub fn is_migration(&self) -> bool {
        matches!(self, Notice::OlderKey { .. } | Notice::OlderValue { .. } | Notice::Retired { .. })
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigProblem::Unreadable { file, error } => {
                write!(f, "{}: cannot be read ({error}); ", file.display())?;
                f.write_str("change the permissions of the file, or remove it")
            }
            ConfigProblem::TooLong { file, max_bytes } => write!(
                f,
                "{}: is longer than {} kB; shorten the file, or remove it",
                file.display(),
                max_bytes >> 10
            ),
            ConfigProblem::NotUtf8 { place } => {
                write!(f, "{place}: is not valid UTF-8; save the file as UTF-8")
            }
            ConfigProblem::Syntax { place, error } => write!(
                f,
                "{place}: is not JSON from here on ({error}); apart from comments and trailing \
                commas, the file must be JSON"
            ),
            ConfigProblem::InvalidValue { place, key, found, allowed, remedy } => {
                write!(f, "{place}: `{key}` is {found}, but must be {allowed}; {remedy}")
            }
            ConfigProblem::Secret { place, key, remedy } => {
                write!(
                    f,
                    "{place}: `{key}` contains a secret, which must not be in this file; {remedy}"
                )
            }
            ConfigProblem::Guarded { place, key, own_file } => write!(
                f,
                "{place}: `{key}` is valid only in your own file, because it runs a program, sends text or \
                 contains the path of a file; move it to {}",
                own_file.display()
            ),
            ConfigProblem::Conflict { place, key, text } => write!(f, "{place}: `{key}` {text}"),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Unknown { place, key, nearest: Some(nearest) } => {
                write!(f, "{place}: `{key}` is unknown and ignored; did you mean `{nearest}`?")
            }
            Notice::Unknown { place, key, nearest: None } => write!(
                f,
                "{place}: `{key}` is unknown and ignored; `graphitid config schema` shows all keys"
            ),
            Notice::Twice { place, key } => {
                write!(f, "{place}: `{key}` occurs twice; this occurrence is used")
            }
            Notice::OlderKey { place, from, to } => {
                write!(f, "{place}: `{from}` is an older spelling and read as `{to}`")
            }
            Notice::Superseded { place, from, to } => {
                write!(
                    f,
                    "{place}: `{from}` is an older spelling of `{to}`, which is also set and applies"
                )
            }
            Notice::OlderValue { place, key, from, to } => {
                write!(f, "{place}: `{key}` is {from}, an older spelling that is read as {to}")
            }
            Notice::Retired { place, key, reason } => {
                write!(f, "{place}: `{key}` is no longer used; {reason}")
            }
            Notice::Adjusted { place, key, found, used, reason } => {
                write!(f, "{place}: `{key}` is {found} and used as {used}; {reason}")
            }
            Notice::Idle { place, key, reason } => {
                write!(f, "{place}: `{key}` has no effect; {reason}")
            }
        }
    }
}

impl fmt::Display for Problems {
    /// Writes one line for each problem, then one for each notice.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems = self.problems.iter().map(ToString::to_string);
        let notices = self.notices.iter().map(ToString::to_string);
        let lines: Vec<String> = problems.chain(notices).collect();
        f.write_str(&lines.join("\n"))
    }
}
