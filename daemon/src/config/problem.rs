//! Problems and notices of a configuration file.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// Why a file cannot be used, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigProblem {
    /// It cannot be read.
    Unreadable {
        file: PathBuf,
        /// What the system says.
        error: String,
    },
    /// It is no JSON.
    Syntax {
        place: FilePosition,
        /// What was expected there.
        error: String,
    },
    /// A value that its key cannot have.
    Wrong {
        place: FilePosition,
        key: String,
        /// The value, shortened and without secrets.
        found: String,
        /// What may stand there.
        allowed: String,
        remedy: String,
    },
    /// A secret, which has no place in the file.
    Secret { place: FilePosition, key: String, remedy: String },
    /// A key that only the user's own file may set, in one that came with a project.
    Guarded {
        place: FilePosition,
        key: &'static str,
        /// The user's own file.
        own_file: PathBuf,
    },
    /// Values that are right by themselves and do not go together.
    Conflict {
        /// Where one of them stands.
        place: FilePosition,
        key: String,
        /// What is the matter.
        text: String,
    },
}

/// What is worth knowing about a file that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A key that means nothing.
    Unknown {
        place: FilePosition,
        key: String,
        /// The known key that it resembles most.
        nearest: Option<&'static str>,
    },
    /// A key that stands twice in one object.
    Twice {
        /// Where it stands the last time.
        place: FilePosition,
        key: String,
    },
    /// An older spelling of a key, read as the present one.
    OlderKey {
        place: FilePosition,
        /// The key as it stands there.
        from: String,
        /// The key that it is read as.
        to: &'static str,
    },
    /// An older spelling of a key that also stands in its present one, which counts.
    Superseded {
        place: FilePosition,
        /// The key as it stands there.
        from: String,
        /// The key that counts.
        to: &'static str,
    },
    /// An older spelling of a value, read as the present one.
    OlderValue {
        place: FilePosition,
        key: String,
        /// The value as it stands there.
        from: String,
        /// The value that it is read as.
        to: String,
    },
    /// A key that once meant something.
    Retired {
        place: FilePosition,
        key: String,
        /// What became of it.
        reason: &'static str,
    },
    /// A value that is used in another form.
    Adjusted {
        place: FilePosition,
        key: String,
        /// The value as it stands there.
        found: String,
        /// The value that is used.
        used: String,
        reason: &'static str,
    },
    /// A value that has no effect beside another.
    Idle { place: FilePosition, key: String, reason: &'static str },
}

/// The problems of a file, and its notices.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Problems {
    /// What is wrong; never empty.
    pub problems: Vec<ConfigProblem>,
    /// What else is worth knowing.
    pub notices: Vec<Notice>,
}

impl FilePosition {
    pub(super) fn new(file: &Path, line: usize) -> FilePosition {
        FilePosition { file: file.to_owned(), line }
    }
}

impl ConfigProblem {
    /// The line that it is about; 0 when it is about the whole file.
    pub(super) fn line(&self) -> usize {
        match self {
            ConfigProblem::Unreadable { .. } => 0,
            ConfigProblem::Syntax { place, .. }
            | ConfigProblem::Wrong { place, .. }
            | ConfigProblem::Secret { place, .. }
            | ConfigProblem::Guarded { place, .. }
            | ConfigProblem::Conflict { place, .. } => place.line,
        }
    }
}

impl Notice {
    /// The line that it is about.
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

    /// Whether it reports an older spelling that was understood, not a mistake.
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
                f.write_str("make it a file that you may read, or remove it")
            }
            ConfigProblem::Syntax { place, error } => write!(
                f,
                "{place}: is no JSON from here on ({error}); comments and trailing commas are fine, \
                 all else must be JSON"
            ),
            ConfigProblem::Wrong { place, key, found, allowed, remedy } => {
                write!(f, "{place}: `{key}` is {found}, but must be {allowed}; {remedy}")
            }
            ConfigProblem::Secret { place, key, remedy } => {
                write!(
                    f,
                    "{place}: `{key}` holds a secret, which has no place in this file; {remedy}"
                )
            }
            ConfigProblem::Guarded { place, key, own_file } => write!(
                f,
                "{place}: `{key}` runs a program or says where text goes, which a project may not \
                 decide; move it to {}",
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
                "{place}: `{key}` is unknown and ignored; `graphiti config schema` shows all keys"
            ),
            Notice::Twice { place, key } => {
                write!(f, "{place}: `{key}` stands there twice; this one counts")
            }
            Notice::OlderKey { place, from, to } => {
                write!(f, "{place}: `{from}` is an older spelling and read as `{to}`")
            }
            Notice::Superseded { place, from, to } => {
                write!(
                    f,
                    "{place}: `{from}` is an older spelling of `{to}`, which is there too and counts"
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
    /// A line each, problems first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems = self.problems.iter().map(ToString::to_string);
        let notices = self.notices.iter().map(ToString::to_string);
        let lines: Vec<String> = problems.chain(notices).collect();
        f.write_str(&lines.join("\n"))
    }
}
