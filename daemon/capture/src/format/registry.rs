//! The active formats: the built-in formats, and the formats that the configuration adds.

use std::{ops::Deref, path::Path, sync::Arc};

use crate::format::{
    FORMATS, Format,
    mapped::{FormatMapping, MappedFormat},
};

/// The active formats. A file gets the first format that claims its path and recognises its
/// content. Built-in formats come first, so a mapped format never gets a file of a built-in format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formats {
    mapped: Arc<[Arc<MappedFormat>]>,
}

/// An active format.
#[derive(Clone)]
pub enum FormatHandle {
    BuiltIn(&'static dyn Format),
    Mapped(Arc<MappedFormat>),
}

impl Formats {
    /// Returns the built-in formats, and the formats of the configuration.
    pub fn new(mappings: &[FormatMapping]) -> Formats {
        let mapped = mappings.iter().cloned().map(|mapping| Arc::new(MappedFormat::new(mapping)));
        Formats { mapped: mapped.collect() }
    }

    pub fn iter(&self) -> impl Iterator<Item = FormatHandle> {
        let built_in = FORMATS.iter().copied().map(FormatHandle::BuiltIn);
        built_in.chain(self.mapped.iter().cloned().map(FormatHandle::Mapped))
    }

    /// Returns the format of an agent, by the agent's name.
    pub fn of_agent(&self, agent: &str) -> Option<FormatHandle> {
        self.iter().find(|format| format.agent() == agent)
    }

    /// Whether the path may belong to a transcript.
    pub fn claim(&self, path: &Path) -> bool {
        self.iter().any(|format| format.claims(path))
    }
}

impl Deref for FormatHandle {
    type Target = dyn Format;

    fn deref(&self) -> &Self::Target {
        match self {
            FormatHandle::BuiltIn(format) => *format,
            FormatHandle::Mapped(format) => format.as_ref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::mapped::tests::mapping;

    #[test]
    fn a_mapped_format_matches_no_file_of_a_built_in_format() {
        let formats = Formats::new(&[mapping(&["/h"])]);
        assert_eq!(formats.iter().count(), FORMATS.len() + 1);
        assert_eq!(formats.of_agent("mine").unwrap().agent(), "mine");
        assert!(formats.claim(Path::new("/h/a.jsonl")));
        assert!(!Formats::default().claim(Path::new("/h/a.txt")));
        let id = "3f0c1a52-9f5e-4a58-8a44-6f0b8f6f9d11";
        let path = format!("/h/.claude/projects/-p/{id}.jsonl");
        let first = formats.iter().find(|format| format.claims(Path::new(&path))).unwrap();
        assert_eq!(first.agent(), "claude");
    }
}
