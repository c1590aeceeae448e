//! Writes old transcripts, which the daemon imports.

use std::{
    fs::{self, File},
    path::Path,
    time::{Duration, SystemTime},
};

use super::{GeneratedSession, Library};
use crate::corpus;

/// The age of the transcripts.
const AGE: Duration = Duration::from_secs(3 * 86_400);

/// Copies the transcripts of `corpus` to an agent's folder repeatedly, each copy with different
/// ids, until `bytes` bytes are written.
pub fn repeat(corpus: &Path, projects: &Path, bytes: u64) {
    let files = corpus::transcripts(corpus);
    let mut written = 0;
    for copy in 0.. {
        let target = projects.join(format!("copy-{copy}"));
        for path in &files {
            let relative = path.strip_prefix(corpus).expect("a file of the corpus");
            let mut name = relative.to_str().expect("a name in UTF-8").as_bytes().to_vec();
            let mut content = fs::read(path).expect("a file of the corpus can be read");
            corpus::change_ids(&mut name, copy);
            corpus::change_ids(&mut content, copy);
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

/// Writes the sessions with these numbers, of at least `bytes` bytes each.
pub fn sessions(
    projects: &Path,
    library: &Library,
    numbers: std::ops::RangeInclusive<u64>,
    bytes: u64,
) {
    for number in numbers {
        GeneratedSession::new(projects, number).write(library, bytes);
    }
}

/// Gives a file an old modification time.
pub fn age(path: &Path) {
    let file = File::options().append(true).open(path).expect("a file that was just made");
    file.set_modified(SystemTime::now() - AGE).expect("set a file's time");
}
