//! Finds real transcripts, which are not part of this repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::namespace::report_skipped;

/// One half of the recorded sessions, selected by the hash of the file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Sessions that may be used to develop rules.
    Build,
    /// Sessions that are only used to evaluate the rules.
    Held,
}

impl Half {
    /// Returns the half to which the session of a file belongs.
    pub fn of(path: &Path) -> Half {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if Sha256::digest(name.as_bytes())[0] % 2 == 0 { Half::Build } else { Half::Held }
    }
}

/// Returns the folder of the corpus: `../shared/corpus` next to the project, or `GRAPHITI_CORPUS`.
/// If it does not exist, prints a message and returns `None`.
pub fn folder() -> Option<PathBuf> {
    let default_folder = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = std::env::var_os("GRAPHITI_CORPUS").map_or_else(default_folder, PathBuf::from);
    if !folder.is_dir() {
        let why = format!("no transcripts in {}; set GRAPHITI_CORPUS", folder.display());
        report_skipped("tests with recorded transcripts", &why);
        return None;
    }
    Some(folder)
}

/// Returns the folder with samples of the agents' newest versions: `samples` in `../shared/agents`
/// next to the project, or in `GRAPHITI_AGENT_KIT`. If it does not exist, prints a message and
/// returns `None`.
pub fn samples() -> Option<PathBuf> {
    let default_folder = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/agents");
    let kit = std::env::var_os("GRAPHITI_AGENT_KIT").map_or_else(default_folder, PathBuf::from);
    let folder = kit.join("samples");
    if !folder.is_dir() {
        let why = format!("no samples in {}; set GRAPHITI_AGENT_KIT", folder.display());
        report_skipped("tests with samples of agents", &why);
        return None;
    }
    Some(folder)
}

/// Returns the folder with Claude Code's transcripts in the corpus.
pub fn claude() -> Option<PathBuf> {
    Some(folder()?.join("claude")).filter(|folder| folder.is_dir())
}

/// Returns every `.jsonl` file under `folder`, sorted by path.
pub fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder can be read") {
            let path = entry.expect("a folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Changes each UUID in `text` by the number of the copy; number 0 changes nothing.
pub fn change_ids(text: &mut [u8], copy: u32) {
    let mut at = 0;
    while at + 36 <= text.len() {
        if text[at + 8] == b'-' && is_uuid(&text[at..at + 36]) {
            let digits = std::str::from_utf8(&text[at..at + 8]).expect("hex digits");
            let number = u32::from_str_radix(digits, 16).expect("hex digits");
            let changed = format!("{:08x}", number ^ copy);
            text[at..at + 8].copy_from_slice(changed.as_bytes());
            at += 36;
        } else {
            at += 1;
        }
    }
}

fn is_uuid(text: &[u8]) -> bool {
    text.iter().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}
