//! The folders with transcripts that the configuration selects, and notices about them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    capture::format::{Formats, Surroundings},
    config::Config,
    engine::TranscriptFolders,
};

/// Maximum number of files and folders that are read to find a transcript.
const MAX_ENTRIES: usize = 5_000;

/// Returns the folders in which the daemon searches for transcripts. There are no folders if
/// tracking is disabled or the user's home folder is not known.
pub(super) fn transcript_folders(config: &Config) -> TranscriptFolders {
    let Some(home) = std::env::home_dir().filter(|_| config.capture.enabled) else {
        return TranscriptFolders::none();
    };
    let surroundings = Surroundings { home: &home, variable: &|name| std::env::var(name).ok() };
    let formats = Formats::new(&config.capture.watch_formats);
    TranscriptFolders::for_formats(&surroundings, &formats, &config.capture.watch_directories)
}

/// Returns a sentence for each configured folder that does not exist; none if tracking is disabled.
pub(super) fn missing_folders(config: &Config) -> Vec<String> {
    if !config.capture.enabled {
        return Vec::new();
    }
    let missing = config.capture.watch_directories.iter().filter(|folder| !folder.exists());
    let sentence = |folder: &PathBuf| {
        format!(
            "`session_tracking.watch_directories` has {}, which does not exist; it is followed when \
             it is created",
            folder.display()
        )
    };
    missing.map(sentence).collect()
}

/// Returns a notice about folders of agents that are not followed although they contain
/// transcripts, because `watch_directories` selects other folders.
pub(super) fn left_out_notice(folders: &TranscriptFolders) -> Option<String> {
    let formats = Formats::new(&[]);
    let is_transcript = |file: &Path| formats.iter().any(|format| format.claims(file));
    let used = folders.left_out.iter().filter(|folder| has_transcript(folder, &is_transcript));
    let used: Vec<String> = used.map(|folder| folder.display().to_string()).collect();
    (!used.is_empty()).then(|| {
        format!(
            "`session_tracking.watch_directories` selects other folders, so these folders with \
             transcripts are not followed: {}; list them there, too, or remove this setting",
            used.join(", ")
        )
    })
}

/// Whether `path` is a transcript or a folder with a transcript.
fn has_transcript(path: &Path, is_transcript: &dyn Fn(&Path) -> bool) -> bool {
    if path.is_file() {
        return is_transcript(path);
    }
    let mut left = vec![path.to_owned()];
    let mut entries = 0;
    while let Some(folder) = left.pop() {
        // A folder that cannot be read contains no transcripts that the daemon could follow.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            entries += 1;
            if entries > MAX_ENTRIES {
                return false;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => left.push(entry.path()),
                Ok(_) if is_transcript(&entry.path()) => return true,
                _ => {}
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_transcripts_that_other_folders_replace_are_reported() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let surroundings = Surroundings { home: &root, variable: &|_| None };
        let formats = Formats::new(&[]);
        let notice = |configured: &[PathBuf]| {
            left_out_notice(&TranscriptFolders::for_formats(&surroundings, &formats, configured))
        };
        let other = [root.join("logs")];
        let project = root.join(".claude/projects/-app");
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(root.join(".gemini/tmp")).unwrap();
        assert_eq!(notice(&other), None, "no folder has a transcript");
        fs::write(project.join("0b5e2f6a-0000-4000-8000-000000000001.jsonl"), "{}").unwrap();
        let text = notice(&other).unwrap();
        assert!(text.contains(".claude/projects;") && !text.contains(".gemini"), "{text}");
        assert_eq!(notice(&[]), None);
        assert_eq!(notice(&[root.join(".claude")]), None);
    }
}
