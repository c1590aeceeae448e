//! Histories to be imported.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use graphiti_tests::World;

use crate::{library::Library, made_up::Session};

/// How long ago transcripts were written.
const AGE: Duration = Duration::from_secs(3 * 86_400);
/// Bytes of a short session.
const SHORT: u64 = 20_000;

/// Where Claude Code's transcripts lie in the corpus, if it is there.
pub(crate) fn corpus() -> Option<PathBuf> {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = std::env::var_os("GRAPHITI_CORPUS").map_or_else(usual, PathBuf::from);
    Some(folder.join("claude")).filter(|folder| folder.is_dir())
}

/// Every transcript under `folder`.
pub(crate) fn transcripts(folder: &Path) -> Vec<PathBuf> {
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

/// Copies `corpus` to where the agent of `world` keeps transcripts, each time with other ids, until
/// there are `bytes`.
pub(crate) fn repeat(corpus: &Path, world: &World, bytes: u64) {
    let files = transcripts(corpus);
    let mut written = 0;
    for copy in 0.. {
        let target = world.claude().join("projects").join(format!("copy-{copy}"));
        for path in &files {
            let relative = path.strip_prefix(corpus).expect("a file of the corpus");
            let mut name = relative.to_str().expect("a name in UTF-8").as_bytes().to_vec();
            let mut content = fs::read(path).expect("a file of the corpus can be read");
            change_ids(&mut name, copy);
            change_ids(&mut content, copy);
            let copied = target.join(String::from_utf8(name).expect("ids are changed to ASCII"));
            fs::create_dir_all(copied.parent().expect("a folder")).expect("make a folder");
            fs::write(&copied, &content).expect("write a transcript");
            age(&copied);
            written += content.len() as u64;
            if written >= bytes {
                return;
            }
        }
    }
}

/// Writes so many short sessions.
pub(crate) fn short_sessions(world: &World, library: &Library, count: u64) {
    for number in 1..=count {
        Session::new(world, number).write(library, SHORT);
    }
}

/// Makes a file look as if it was written long ago.
pub(crate) fn age(path: &Path) {
    let file = File::options().append(true).open(path).expect("a file that was just made");
    file.set_modified(SystemTime::now() - AGE).expect("set a file's time");
}

/// Changes each UUID in `text` to one that belongs to the copy of this number.
fn change_ids(text: &mut [u8], copy: u32) {
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
