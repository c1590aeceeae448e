//! Caches template files. A file is read again only when it has changed.

use std::{
    collections::HashMap,
    fs::{self, File, Metadata},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use crate::prompt::{
    kind::PromptKind,
    problem::{LONGEST, TemplateError},
    template::Template,
};

/// The files that were read, by path and kind of prompt.
#[derive(Default)]
pub(in crate::prompt) struct TemplateCache {
    read: Mutex<HashMap<(PathBuf, PromptKind), (Stamp, Parsed)>>,
}

/// A template, or the reason why the file is not a template.
pub(in crate::prompt) type Parsed = Result<Arc<Template>, TemplateError>;

/// The time of the last change and the length of a file: if one of them differs, the file has
/// changed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
}

/// Maximum number of cached files. The cache is cleared when it is full.
const REMEMBERED: usize = 256;

impl TemplateCache {
    /// Returns the template in the file at `path`; `None` if there is no such file.
    pub(in crate::prompt) fn template(&self, path: &Path, kind: PromptKind) -> Option<Parsed> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return None,
            Err(error) => return Some(Err(unreadable(path, &error))),
        };
        let stamp = Stamp { modified: metadata.modified().ok(), length: metadata.len() };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (path.to_owned(), kind);
        if let Some((known, parsed)) = read.get(&key)
            && *known == stamp
        {
            return Some(parsed.clone());
        }
        let parsed =
            load(path, &metadata).and_then(|text| Template::parse(kind, &text)).map(Arc::new);
        // The reason may disappear without a change of the file, for example when the permissions
        // change.
        if let Err(TemplateError::Unreadable { .. }) = parsed {
            return Some(parsed);
        }
        if read.len() >= REMEMBERED {
            read.clear();
        }
        read.insert(key, (stamp, parsed.clone()));
        Some(parsed)
    }
}

fn load(path: &Path, metadata: &Metadata) -> Result<String, TemplateError> {
    if !metadata.is_file() {
        return Err(TemplateError::Unreadable {
            path: path.to_owned(),
            reason: "it is not a regular file".to_owned(),
        });
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() > LONGEST {
        return Err(TemplateError::TooLong { bytes: bytes.len() });
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| unreadable(path, &io::Error::new(io::ErrorKind::InvalidData, error)))?;
    // A byte order mark at the beginning is not part of the text.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unreadable(path: &Path, error: &io::Error) -> TemplateError {
    TemplateError::Unreadable { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_long_is_reported_as_such_even_if_a_character_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session.md");
        fs::write(&file, format!("{}é", "x".repeat(LONGEST))).unwrap();
        let read = TemplateCache::default().template(&file, PromptKind::SessionSummary).unwrap();
        assert!(matches!(read, Err(TemplateError::TooLong { .. })), "{read:?}");
    }

    #[test]
    fn a_path_that_could_not_be_read_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.md");
        fs::create_dir(&path).unwrap();
        let metadata = fs::metadata(&path).unwrap();
        let cache = TemplateCache::default();
        let template = || cache.template(&path, PromptKind::SessionSummary).unwrap();
        assert!(template().is_err());
        fs::remove_dir(&path).unwrap();
        let length = usize::try_from(metadata.len()).unwrap().max("{content}".len());
        fs::write(&path, format!("{:length$}", "{content}")).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(metadata.modified().unwrap()).unwrap();
        assert!(template().is_ok());
    }
}
