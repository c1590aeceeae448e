//! `graphiti export --follow` and `graphiti import --follow`: exchange episodes with other machines
//! through a folder that Git, Syncthing or a network drive synchronises.
//!
//! Each machine writes one file for each session into its own subfolder, so that no file has two
//! writers. A file is replaced as a whole. An importer skips a file that is incomplete, and reads
//! it in a later round. A file that was imported, or that contains no valid episode, is read again
//! only when it has changed. A file or folder that cannot be read is reported once and tried in
//! each round. The corrections of facts are exchanged in the same way (`corrections`).
//! They apply only to facts of projects that have a session in the folder.

mod corrections;
mod synced_files;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    slice, thread,
    time::Duration,
};

use graphiti_proto::{
    endpoint, files as durable,
    methods::{
        forget::{FORGET, Forget, Forgotten},
        transfer::{IMPORT, ImportReport, ImportRequest, PortableEpisode},
    },
};

use self::synced_files::{SyncStamp, SyncedFile, new_files, other_machines};
use super::{export, import};
use crate::{
    connection::{AskError, Connection},
    screen::{Screen, line},
};

/// The file in the home folder that contains the name of this machine's folder.
const MACHINE: &str = "sync-folder";
/// Maximum length, in characters, of a name that is a part of a path; a longer name is cut.
const MAX_NAME_CHARS: usize = 100;

/// What to do about a correction that was not imported.
const CORRECTION_HELP: &str = "the other corrections of the file were imported; update graphiti if that machine has a later version, or else repair or delete this line on that machine";

/// Runs `round` repeatedly, or once if `every` is zero.
fn repeat(
    every: Duration,
    screen: &Screen,
    mut round: impl FnMut() -> Result<(), AskError>,
) -> Result<(), AskError> {
    loop {
        match round() {
            result if every.is_zero() => return result,
            // The daemon may be restarting, or the folder may be mounted later.
            Err(error) => screen.complain(&error),
            Ok(()) => {}
        }
        thread::sleep(every);
    }
}

/// Writes the episodes that were created on this machine to the machine's folder, and removes the
/// files of forgotten sessions. Each round writes only the episodes that have changed.
pub(super) fn export(
    folder: &Path,
    project: Option<&str>,
    every: Duration,
    screen: &Screen,
) -> Result<(), AskError> {
    let own = folder.join(machine()?);
    repeat(every, screen, || {
        let failed = |error: io::Error| AskError::NotWritten { path: own.clone(), error };
        let mut connection = Connection::open_for_work()?;
        let episodes = export::episodes(&mut connection, project)?;
        // A request without sessions returns the forgotten sessions.
        let forgotten: Forgotten = connection.ask(FORGET, &Forget::default())?;
        let forgotten: HashSet<String> =
            (forgotten.sessions.iter()).map(|row| file_name(&row.agent, &row.session_id)).collect();
        let wanted: BTreeMap<String, PortableEpisode> =
            episodes.into_iter().filter(is_own).filter_map(named).collect();
        let (mut written, removed) = write_files(&own, &wanted, &forgotten).map_err(failed)?;
        let corrected = corrections::stored(&mut connection)?;
        written += usize::from(corrections::write(&own, corrected).map_err(failed)?);
        if written + removed > 0 {
            let files = super::counted(written as u64, "file", "files");
            let text = format!("{files} written, {removed} removed in {}", own.display());
            screen.print(line(&text));
        }
        Ok(())
    })
}

/// Imports the files of other machines. Each round imports only files that are new or have changed.
pub(super) fn import(folder: &Path, every: Duration, screen: &Screen) -> Result<(), AskError> {
    let own = machine()?;
    let mut importer = FolderImporter::new(screen);
    repeat(every, screen, || {
        let failed = |error: io::Error| AskError::file(folder, &error);
        let machines = other_machines(folder, &own).map_err(failed)?;
        let new = new_files(&machines, &importer.seen);
        let is_silent = new.is_empty();
        let mut sum = ImportReport::default();
        for page in import::pages(&importer.readable(new), SyncedFile::bytes) {
            importer.import(page, &mut sum)?;
        }
        // A single round always reports its result.
        if !is_silent || every.is_zero() {
            import::print("Imported", &sum, screen);
        }
        let has_new = importer.add_own(&folder.join(&own)) || !is_silent;
        // A correction may concern a fact of an episode that was imported in this round.
        importer.import_corrections(&machines, has_new)
    })
}

/// An importer that remembers which files were imported or rejected.
struct FolderImporter<'s> {
    screen: &'s Screen,
    seen: HashMap<PathBuf, SyncStamp>,
    /// The ids of the episodes in the folders of all machines.
    episodes: HashSet<String>,
}

impl FolderImporter<'_> {
    fn new(screen: &Screen) -> FolderImporter<'_> {
        FolderImporter { screen, seen: HashMap::new(), episodes: HashSet::new() }
    }

    /// Remembers the ids of the episodes that this machine wrote to its folder `own`. Returns
    /// whether any of them is new.
    fn add_own(&mut self, own: &Path) -> bool {
        let new = new_files(&[own.to_owned()], &self.seen);
        let new = self.readable(new);
        self.add(&new);
        !new.is_empty()
    }

    /// Remembers that files were read, and the ids of their episodes.
    fn add(&mut self, files: &[SyncedFile]) {
        self.seen.extend(files.iter().map(|file| (file.path.clone(), file.stamp)));
        let episodes = files.iter().filter_map(|file| file.episode.as_ref().ok());
        self.episodes.extend(episodes.map(|portable| portable.episode.uuid.clone()));
    }

    /// Returns the files with an episode, and reports the other files.
    fn readable(&mut self, mut files: Vec<SyncedFile>) -> Vec<SyncedFile> {
        files.retain(|file| {
            if let Err(problem) = &file.episode {
                self.complain(&file.path, problem);
                self.seen.insert(file.path.clone(), file.stamp);
            }
            file.episode.is_ok()
        });
        files
    }

    /// Imports files by one request. If the request fails or reports a problem, nothing was
    /// imported. The files are then imported one by one, so that one file does not block the
    /// others. A file whose own request fails is tried again in the next round.
    fn import(&mut self, files: &[SyncedFile], sum: &mut ImportReport) -> Result<(), AskError> {
        let readable = files.iter().filter_map(|file| file.episode.as_ref().ok());
        let episodes: Vec<PortableEpisode> = readable.cloned().collect();
        let request = ImportRequest { episodes, dry_run: false };
        let answer = Connection::open_for_work()?.ask::<ImportReport>(IMPORT, &request);
        match (answer, files) {
            (Ok(answer), files) if answer.problems.is_empty() => {
                sum.taken += answer.taken;
                sum.known += answer.known;
                sum.forgotten += answer.forgotten;
                self.add(files);
            }
            (Ok(answer), [file]) => {
                answer.problems.iter().for_each(|problem| self.complain(&file.path, &problem.what));
                self.seen.insert(file.path.clone(), file.stamp);
            }
            (Err(error), [file]) => self.complain(&file.path, &error.to_string()),
            (_, files) => {
                return files.iter().try_for_each(|file| self.import(slice::from_ref(file), sum));
            }
        }
        Ok(())
    }

    /// Imports the corrections of changed files. If the folder `has_new` episodes, imports all
    /// corrections, because the facts of unchanged corrections may have been unknown before.
    fn import_corrections(&mut self, machines: &[PathBuf], has_new: bool) -> Result<(), AskError> {
        let unseen = HashMap::new();
        let seen = if has_new { &unseen } else { &self.seen };
        let episodes: Vec<String> = self.episodes.iter().cloned().collect();
        for synced in corrections::new(machines, seen) {
            if let Some(problem) = &synced.unreadable {
                if self.seen.insert(synced.path.clone(), synced.stamp) != Some(synced.stamp) {
                    self.complain(&synced.path, problem);
                }
                continue;
            }
            let imported = match synced.import(&episodes) {
                Ok(imported) => imported,
                // The file is tried again in the next round, and does not block other machines.
                Err(AskError::Refused(error)) => {
                    self.complain(&synced.path, &error.message);
                    continue;
                }
                Err(error) => return Err(error),
            };
            if imported.taken > 0 {
                let count = imported.taken;
                self.screen.print(format!("Corrections of facts: {count} imported."));
            }
            for problem in &imported.problems {
                self.complain(&synced.path, &format!("{problem}; {CORRECTION_HELP}"));
            }
            self.seen.insert(synced.path, synced.stamp);
        }
        Ok(())
    }

    fn complain(&self, file: &Path, problem: &str) {
        let text = format!("{}: {problem}", file.display());
        self.screen.print(self.screen.warn(line(&text)));
    }
}

/// Returns the name of this machine's folder. The name is chosen once and stored in the home
/// folder.
fn machine() -> Result<String, AskError> {
    let home = endpoint::home().ok_or(AskError::NoHome)?;
    let file = home.join(MACHINE);
    let stored = fs::read_to_string(&file).unwrap_or_default();
    if !stored.trim().is_empty() {
        return Ok(stored.trim().to_owned());
    }
    let failed = |error: io::Error| AskError::NotWritten { path: file.clone(), error };
    fs::create_dir_all(&home).map_err(failed)?;
    chosen_name(&file).map_err(failed)
}

/// Returns the name that `file` contains. Writes a new name if the file contains none. The file is
/// locked, because an exporter and an importer may start at the same time.
fn chosen_name(file: &Path) -> io::Result<String> {
    let mut file = fs::File::options().read(true).append(true).create(true).open(file)?;
    file.lock()?;
    let mut name = String::new();
    file.read_to_string(&mut name)?;
    if !name.trim().is_empty() {
        return Ok(name.trim().to_owned());
    }
    let host = fs::read_to_string("/etc/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { "machine" } else { host.trim() };
    // Two machines may have the same host name.
    let random = RandomState::new().build_hasher().finish();
    let name = format!("{}-{:08x}", sanitized(host), random >> 32);
    file.write_all(name.as_bytes())?;
    file.sync_all()?;
    Ok(name)
}

/// Whether an episode was created on this machine. Other episodes are in the folders of their
/// machines.
fn is_own(episode: &PortableEpisode) -> bool {
    episode.imported_from.is_none()
}

/// Returns the episode with its file's name; `None` when its content has no agent or session id.
fn named(episode: PortableEpisode) -> Option<(String, PortableEpisode)> {
    let value = |key: &str| {
        let start = format!("  {key}: ");
        let mut lines = episode.episode.content.lines().take_while(|line| !line.is_empty());
        let value = lines.find_map(|line| line.strip_prefix(&start))?;
        serde_json::from_str::<String>(value).ok()
    };
    let name = file_name(&value("agent")?, &value("session_id")?);
    Some((name, episode))
}

fn file_name(agent: &str, session: &str) -> String {
    format!("{}-{}.json", sanitized(agent), sanitized(session))
}

/// Returns a name that every file system accepts. Different names stay different, except for
/// collisions of the hash.
fn sanitized(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    if name.chars().all(is_plain) && name.len() <= MAX_NAME_CHARS && !name.is_empty() {
        return name.to_owned();
    }
    let plain: String =
        name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_NAME_CHARS).collect();
    // FNV-1a, because the name must be the same in every version.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{plain}.{hash:016x}")
}

/// Writes the files that have changed, and removes the files of forgotten sessions. Returns the
/// numbers of written and removed files.
///
/// A file whose episode is missing here is kept, because it may be the last copy: a damaged
/// database may have been replaced, or the quota of this machine may have evicted the episode.
fn write_files(
    own: &Path,
    wanted: &BTreeMap<String, PortableEpisode>,
    forgotten: &HashSet<String>,
) -> io::Result<(usize, usize)> {
    fs::create_dir_all(own)?;
    let (mut written, mut removed) = (0, 0);
    for (name, episode) in wanted {
        let file = own.join(name);
        let mut text = serde_json::to_vec_pretty(episode)?;
        text.push(b'\n');
        if fs::read(&file).is_ok_and(|current| current == text) {
            continue;
        }
        durable::replace(&file, &text)?;
        written += 1;
    }
    for name in forgotten.iter().filter(|name| !wanted.contains_key(*name)) {
        match fs::remove_file(own.join(name)) {
            Ok(()) => removed += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok((written, removed))
}

#[cfg(test)]
mod tests {
    use graphiti_proto::tools::get_episodes::EpisodeNode;

    use super::*;

    fn episode(session: &str, text: &str) -> PortableEpisode {
        let content = format!(
            "---\ngraphiti_session_metadata:\n  agent: \"claude\"\n  session_id: \"{session}\"\n---\n\n{text}"
        );
        let node = EpisodeNode { uuid: session.to_owned(), content, ..EpisodeNode::default() };
        PortableEpisode { episode: node, ..PortableEpisode::default() }
    }

    fn files_of(episodes: Vec<PortableEpisode>) -> BTreeMap<String, PortableEpisode> {
        episodes.into_iter().filter_map(named).collect()
    }

    #[test]
    fn each_session_is_a_file_that_is_replaced_only_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("laptop");
        let none = HashSet::new();
        let two = files_of(vec![episode("a", "x"), episode("b", "y")]);
        assert_eq!(write_files(&own, &two, &none).unwrap(), (2, 0));
        assert_eq!(write_files(&own, &two, &none).unwrap(), (0, 0));
        let changed = files_of(vec![episode("a", "z")]);
        // The database has lost `b`; then `b` is forgotten.
        assert_eq!(write_files(&own, &changed, &none).unwrap(), (1, 0));
        assert_eq!(write_files(&own, &BTreeMap::new(), &none).unwrap(), (0, 0));
        assert!(own.join("claude-b.json").exists());
        let forgotten = HashSet::from(["claude-b.json".to_owned()]);
        assert_eq!(write_files(&own, &changed, &forgotten).unwrap(), (0, 1));
        assert_eq!(write_files(&own, &changed, &forgotten).unwrap(), (0, 0));
    }

    #[test]
    fn an_importer_reads_complete_new_files_of_other_machines() {
        let folder = tempfile::tempdir().unwrap();
        let (mine, theirs) = (folder.path().join("mine"), folder.path().join("theirs"));
        write_files(&mine, &files_of(vec![episode("a", "x")]), &HashSet::new()).unwrap();
        write_files(&theirs, &files_of(vec![episode("b", "y")]), &HashSet::new()).unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::write(folder.path().join(".git/x.json"), "{}").unwrap();
        fs::write(theirs.join("claude-c.json"), "{\"uuid\": \"c\", \"cont").unwrap();
        fs::write(theirs.join("claude-b.sync-conflict-1.json"), "{}").unwrap();
        let mut seen = HashMap::new();
        let new = new_files(&other_machines(folder.path(), "mine").unwrap(), &seen);
        assert_eq!(
            new.iter()
                .map(|file| &*file.episode.as_ref().unwrap().episode.uuid)
                .collect::<Vec<_>>(),
            ["b"]
        );
        seen.extend(new.into_iter().map(|file| (file.path, file.stamp)));
        assert!(new_files(&other_machines(folder.path(), "mine").unwrap(), &seen).is_empty());
        write_files(&theirs, &files_of(vec![episode("c", "z")]), &HashSet::new()).unwrap();
        let new = new_files(&other_machines(folder.path(), "mine").unwrap(), &seen);
        assert_eq!(new.len(), 1, "a file that is complete now is read");
    }

    #[test]
    fn an_importer_reports_a_file_that_is_not_an_episode() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("theirs");
        write_files(&theirs, &files_of(vec![episode("b", "y")]), &HashSet::new()).unwrap();
        fs::write(theirs.join("claude-a.json"), "<<<<<<< ours\n{}").unwrap();
        let new = new_files(&other_machines(folder.path(), "mine").unwrap(), &HashMap::new());
        let problem = new[0].episode.as_ref().unwrap_err();
        assert!(problem.starts_with("is not an episode: expected value at line 1"), "{problem}");
        let screen = Screen::of_test(80);
        let mut importer = FolderImporter::new(&screen);
        let readable = importer.readable(new);
        let paths: Vec<&Path> = readable.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, [theirs.join("claude-b.json")]);
        assert_eq!(
            new_files(&other_machines(folder.path(), "mine").unwrap(), &importer.seen).len(),
            1
        );
    }

    #[test]
    fn an_unreadable_file_or_folder_is_reported_once_and_blocks_no_machine() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("theirs");
        write_files(&theirs, &files_of(vec![episode("b", "y")]), &HashSet::new()).unwrap();
        // A file instead of a folder cannot be listed. The third folder was deleted.
        let broken = folder.path().join("broken");
        fs::write(&broken, "").unwrap();
        let machines = [broken.clone(), folder.path().join("deleted"), theirs.clone()];
        let screen = Screen::of_test(80);
        let mut importer = FolderImporter::new(&screen);
        let new = new_files(&machines, &importer.seen);
        let paths: Vec<&Path> = new.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, [&*broken, &*theirs.join("claude-b.json")]);
        let problem = new[0].episode.as_ref().unwrap_err();
        assert!(problem.starts_with("cannot be read: "), "{problem}");
        let readable = importer.readable(new);
        importer.add(&readable);
        assert!(new_files(&machines, &importer.seen).is_empty());
        // The permissions of a file can change without a change of its stamp.
        let path = theirs.join("claude-b.json");
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        importer
            .seen
            .extend(synced_files::unreadable(&path, &denied).map(|file| (file.path, file.stamp)));
        assert_eq!(new_files(&machines, &importer.seen).len(), 1);
    }

    #[test]
    fn processes_that_start_at_the_same_time_choose_one_name() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(MACHINE);
        let start = std::sync::Barrier::new(8);
        let names: Vec<String> = thread::scope(|scope| {
            let choose = || {
                start.wait();
                chosen_name(&file).unwrap()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(choose)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), names[0]);
    }

    #[test]
    fn different_names_give_different_file_names() {
        assert_eq!(file_name("claude", "6f0d-ab"), "claude-6f0d-ab.json");
        let names = [
            sanitized("a/b"),
            sanitized("a_b"),
            sanitized("A_b"),
            sanitized("../x"),
            sanitized(""),
        ];
        for (index, name) in names.iter().enumerate() {
            assert!(!name.contains('/'), "{name}");
            assert!(names[index + 1..].iter().all(|other| other != name));
        }
    }

    #[test]
    fn an_episode_of_another_machine_is_not_exported_again() {
        let mut imported = episode("a", "x");
        imported.imported_from = Some("desk".to_owned());
        let mut memory = episode("a", "x");
        memory.episode.source_description = "notes of the meeting, from Ann".to_owned();
        assert!(!is_own(&imported) && is_own(&memory));
    }
}
