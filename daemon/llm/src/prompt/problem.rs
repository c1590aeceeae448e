//! What can be wrong with a template.

use std::path::PathBuf;

use crate::prompt::template::{LONGEST, Placeholder};

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// No file of the configured name was found.
    #[error("there is no template {name}; put it into ~/.graphiti/prompts, or write \"default\"")]
    NotFound {
        /// The name in the configuration.
        name: String,
    },
    /// The file cannot be read.
    #[error("{} cannot be read: {reason}", .path.display())]
    Unreadable {
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// It is too long for a template.
    #[error("it has {bytes} bytes; a template has at most {LONGEST}")]
    TooLong { bytes: usize },
    /// It has no place for what it is about.
    #[error("it has no {{content}}; write {{content}} where the text to be summarised belongs")]
    NoContent,
    /// It has a place that has no value. The braces are sent as they are.
    #[error("{name} is no place in this template and stays as it is; there are {}", places())]
    UnknownPlace {
        /// It with its braces.
        name: String,
    },
}

impl TemplateError {
    /// Whether the template cannot be used, so that the built-in one stands in for it.
    pub fn is_fatal(&self) -> bool {
        match self {
            TemplateError::NotFound { .. }
            | TemplateError::Unreadable { .. }
            | TemplateError::TooLong { .. }
            | TemplateError::NoContent => true,
            TemplateError::UnknownPlace { .. } => false,
        }
    }
}

fn places() -> String {
    Placeholder::ALL.map(Placeholder::as_str).join(", ")
}
