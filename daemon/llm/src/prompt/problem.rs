//! Problems of templates.

use std::path::PathBuf;

/// Maximum length, in bytes, of a template.
pub const LONGEST: usize = 64 << 10;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// No file with the configured name exists.
    #[error("there is no template {name}; put it into ~/.graphiti/prompts, or write \"default\"")]
    NotFound { name: String },
    #[error("{} cannot be read: {reason}", .path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("it is longer than {LONGEST} bytes, the maximum length of a template")]
    TooLong {
        /// The length of the text. If the text is from a file, only [`LONGEST`] bytes and one more
        /// byte are read and counted.
        bytes: usize,
    },
    #[error("it has no {{content}}; write {{content}} where the text to be summarised belongs")]
    NoContent,
    /// The template has a placeholder that templates of its kind do not have. The placeholder is
    /// sent unchanged.
    #[error("{name} is not a placeholder of this kind of template and is sent unchanged; these placeholders exist, some of them in only one kind: {}", .known.join(", "))]
    UnknownPlaceholder {
        /// The placeholder with its braces.
        name: String,
        /// All placeholders, including those of other kinds of templates.
        known: Vec<&'static str>,
    },
}

impl TemplateError {
    /// Whether the template cannot be used, so that the built-in template is used.
    pub fn is_fatal(&self) -> bool {
        match self {
            TemplateError::NotFound { .. }
            | TemplateError::Unreadable { .. }
            | TemplateError::TooLong { .. }
            | TemplateError::NoContent => true,
            TemplateError::UnknownPlaceholder { .. } => false,
        }
    }
}
