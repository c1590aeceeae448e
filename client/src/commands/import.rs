//! `graphiti import`: imports what `graphiti export` wrote on another machine.
//!
//! All files are read first, and the daemon checks the episodes and the corrections of facts: if a
//! file is damaged, or an episode or a correction is invalid, nothing is imported. The daemon skips
//! classifications that it cannot read.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use graphiti_proto::{
    methods::{
        CHECK_CORRECTIONS,
        corrections::{
            self, CORRECTIONS, CorrectionRow, CorrectionsAnswer, CorrectionsRequest,
            MAX_CORRECTIONS,
        },
        models::{TOOLS, ToolKnowledge, Tools},
        transfer::{IMPORT, ImportReport, ImportRequest, MAX_EPISODES, PortableEpisode},
    },
    rpc::code,
    tools::get_episodes::EpisodeNode,
};
use serde_json::Value;

use super::export::{CLASSIFICATIONS, CORRECTIONS_FILE, EPISODE_LINES, EPISODES, STATES};
use crate::{
    cli,
    connection::{AskError, Connection},
    files,
    screen::{Screen, line},
};

/// Maximum length, in bytes, of a file.
const LONGEST: u64 = 512 << 20;
/// Maximum length, in bytes, of an episode, which must fit into one request.
const LONGEST_EPISODE: usize = 1 << 20;
/// The error for an episode longer than [`LONGEST_EPISODE`].
const TOO_LONG: &str = "is longer than 1 MB, the maximum for an episode";
/// The key that the content of every exported episode contains.
const SESSION_METADATA: &str = "graphiti_session_metadata:";
/// Maximum total length, in bytes, of the episodes in one request.
const REQUEST_BYTES: usize = 2 << 20;
/// Maximum number of problems that are shown.
const SHOWN_PROBLEMS: usize = 20;

/// An episode, and where it was read.
struct ReadEpisode {
    portable: PortableEpisode,
    file: PathBuf,
    /// The line number; `None` when the episode is a whole file.
    line: Option<usize>,
    /// Number of bytes that the episode needs in a request.
    bytes: usize,
}

/// The content of an export.
#[derive(Default)]
struct ExportFiles {
    episodes: Vec<ReadEpisode>,
    classifications: Option<Value>,
    corrections: Vec<CorrectionRow>,
    problems: Vec<String>,
}

pub(super) fn run(args: &cli::Import, screen: &Screen) -> Result<(), AskError> {
    let mut export = ExportFiles::default();
    export.read(&args.path)?;
    let is_export = export.is_export();
    let mut connection = Connection::open_for_work()?;
    let preview = import_episodes(&mut connection, &mut export, true)?;
    let ids: Vec<String> =
        export.episodes.iter().map(|read| read.portable.episode.uuid.clone()).collect();
    match import_corrections(&mut connection, &export.corrections, &ids, true) {
        Ok(_) => {}
        Err(AskError::Refused(error)) if error.code == code::INVALID_PARAMS => {
            export.problems.push(format!("{CORRECTIONS_FILE}: {}", error.message));
        }
        Err(error) => return Err(error),
    }
    if !export.problems.is_empty() {
        let shown = shown_problems(export.problems, is_export);
        let why = if is_export {
            "the export is damaged".to_owned()
        } else {
            let path = args.path.display();
            format!(
                "{path} is not an export of graphiti (transcripts are not imported: the daemon \
                 reads them in the folders that `graphiti status` shows, and `graphiti sync` \
                 indexes earlier sessions)"
            )
        };
        return Err(AskError::InvalidInput(format!(
            "nothing was imported, because {why}:\n{shown}"
        )));
    }
    if args.dry_run {
        print("Would be imported", &preview, screen);
        return Ok(());
    }
    let imported = import_episodes(&mut connection, &mut export, false)?;
    print("Imported", &imported, screen);
    if let Some(document) = export.classifications {
        let known: ToolKnowledge = connection.ask(TOOLS, &Tools::Import { document })?;
        let (taken, there) = (known.taken, known.known);
        screen.print(format!("Classifications of tools: {taken} imported, {there} skipped (known already, covered by built-in rules, or the cache is full)."));
    }
    if !export.corrections.is_empty() {
        let counts = import_corrections(&mut connection, &export.corrections, &ids, false)?;
        counts.print(export.corrections.len(), screen);
    }
    Ok(())
}

/// Joins the first problems. If the files are not an export, one problem is enough: each line of a
/// transcript has the same problem.
fn shown_problems(problems: Vec<String>, is_export: bool) -> String {
    if !is_export {
        return problems.into_iter().next().unwrap_or_default();
    }
    let count = problems.len();
    let mut shown: Vec<String> = problems.into_iter().take(SHOWN_PROBLEMS).collect();
    if count > SHOWN_PROBLEMS {
        shown.push(format!("… and {} more", count - SHOWN_PROBLEMS));
    }
    shown.join("\n")
}

/// The numbers of imported corrections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CorrectionCounts {
    /// The corrections that were new.
    pub(super) taken: usize,
    /// The corrections that were skipped, because their facts are unknown on this machine, or
    /// belong to projects without an imported episode.
    skipped: usize,
}

impl CorrectionCounts {
    /// Prints the counts of `given` corrections.
    fn print(self, given: usize, screen: &Screen) {
        let CorrectionCounts { taken, skipped } = self;
        let known = given.saturating_sub(taken + skipped);
        screen.print(format!("Corrections of facts: {taken} imported, {known} known already."));
        if skipped > 0 {
            let rows = super::counted(skipped as u64, "correction", "corrections");
            screen.print(format!(
                "{rows} of facts skipped, because the facts are unknown here, or the import has no \
                 session of their projects."
            ));
        }
    }
}

/// Imports the corrections of facts, or only checks them. `episodes` are the ids of the imported
/// episodes.
pub(super) fn import_corrections(
    connection: &mut Connection,
    corrections: &[CorrectionRow],
    episodes: &[String],
    dry_run: bool,
) -> Result<CorrectionCounts, AskError> {
    let mut sum = CorrectionCounts::default();
    if dry_run && !corrections.is_empty() {
        connection.require(CHECK_CORRECTIONS, "the check before the import of corrections")?;
    }
    // Without episodes, one request for each page is still needed: it checks the form of the
    // corrections.
    let mut groups: Vec<&[String]> = episodes.chunks(corrections::MAX_EPISODES).collect();
    if groups.is_empty() {
        groups.push(&[]);
    }
    for page in corrections.chunks(MAX_CORRECTIONS) {
        let mut skipped = 0;
        for episodes in &groups {
            let (corrections, episodes) = (page.to_vec(), episodes.to_vec());
            let request = CorrectionsRequest { corrections, imported: true, episodes, dry_run };
            let answer: CorrectionsAnswer = connection.ask(CORRECTIONS, &request)?;
            sum.taken += answer.corrections.len();
            // Only the last count is used: corrections that an earlier request stored are known in
            // the last request, and are not skipped there.
            skipped = answer.skipped;
        }
        sum.skipped += skipped;
    }
    Ok(sum)
}

/// Imports all episodes, or only checks them.
fn import_episodes(
    connection: &mut Connection,
    export: &mut ExportFiles,
    dry_run: bool,
) -> Result<ImportReport, AskError> {
    let mut sum = ImportReport::default();
    for page in pages(&export.episodes, |found| found.bytes) {
        let episodes = page.iter().map(|found| found.portable.clone()).collect();
        let answer: ImportReport = connection.ask(IMPORT, &ImportRequest { episodes, dry_run })?;
        sum.taken += answer.taken;
        sum.known += answer.known;
        sum.forgotten += answer.forgotten;
        for problem in answer.problems {
            let Some(ReadEpisode { file, line, .. }) = page.get(problem.episode) else { continue };
            export.problems.push(match line {
                Some(number) => format!(
                    "{}:{number}: in line {} of the content: {}",
                    file.display(),
                    problem.line,
                    problem.what
                ),
                None => format!("{}:{}: {}", file.display(), problem.line, problem.what),
            });
        }
    }
    Ok(sum)
}

/// Splits episodes into groups that fit into one request each.
pub(super) fn pages<E>(episodes: &[E], bytes_of: impl Fn(&E) -> usize) -> Vec<&[E]> {
    let mut pages = Vec::new();
    let mut rest = episodes;
    while !rest.is_empty() {
        let mut left = REQUEST_BYTES;
        let fitting = rest.iter().take(MAX_EPISODES).take_while(|episode| {
            let bytes = bytes_of(episode);
            let fits = bytes <= left;
            left = left.saturating_sub(bytes);
            fits
        });
        // An episode that is too long for a request was rejected when it was read.
        let (page, others) = rest.split_at(fitting.count().max(1));
        pages.push(page);
        rest = others;
    }
    pages
}

pub(super) fn print(verb: &str, imported: &ImportReport, screen: &Screen) {
    let ImportReport { taken, known, forgotten, .. } = imported;
    let mut text = format!("{verb}: {taken} {}", if *taken == 1 { "episode" } else { "episodes" });
    if *known > 0 {
        text.push_str(&format!("; {known} known already"));
    }
    if *forgotten > 0 {
        text.push_str(&format!(
            "; {forgotten} skipped, because their sessions were forgotten here"
        ));
    }
    screen.print(line(&format!("{text}.")));
}

impl ExportFiles {
    /// Whether any part was written by `graphiti export`. A line of a transcript may have a member
    /// `content`, too, but this `content` has no metadata of an episode.
    fn is_export(&self) -> bool {
        let is_episode =
            |read: &ReadEpisode| read.portable.episode.content.contains(SESSION_METADATA);
        self.episodes.iter().any(is_episode)
            || !self.corrections.is_empty()
            || self.classifications.is_some()
    }

    fn read(&mut self, path: &Path) -> Result<(), AskError> {
        if !path.is_dir() {
            return self.read_file(path);
        }
        let lines = path.join(EPISODE_LINES);
        if lines.exists() {
            self.read_file(&lines)?;
        }
        let mut files: Vec<PathBuf> = Vec::new();
        if let Ok(entries) = fs::read_dir(path.join(EPISODES)) {
            files.extend(entries.flatten().map(|entry| entry.path()));
            files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
        }
        files.sort();
        let known: HashSet<String> =
            self.episodes.iter().map(|found| found.portable.episode.uuid.clone()).collect();
        // An export in both formats contains each episode twice.
        files.retain(|file| {
            let name = file.file_stem().and_then(|name| name.to_str());
            name.is_none_or(|name| !known.contains(name))
        });
        files.iter().try_for_each(|file| self.read_file(file))?;
        self.classifications = self.read_json(&path.join(CLASSIFICATIONS))?;
        if self.classifications.as_ref().is_some_and(|document| !document.is_object()) {
            self.problems.push(format!("{CLASSIFICATIONS}: is not an object"));
        }
        if let Some(rows) = self.read_json(&path.join(CORRECTIONS_FILE))? {
            match serde_json::from_value(rows) {
                Ok(rows) => self.corrections = rows,
                Err(error) => self.problems.push(format!("{CORRECTIONS_FILE}: {error}")),
            }
        }
        // The session states of the other machine are not imported, but the file must be valid.
        self.read_json(&path.join(STATES))?;
        let is_empty = self.episodes.is_empty()
            && self.classifications.is_none()
            && self.corrections.is_empty()
            && self.problems.is_empty();
        if is_empty {
            let hint = match path.ends_with(EPISODES) {
                true => format!("; give the folder that contains {EPISODES}"),
                false => String::new(),
            };
            let what = format!(
                "there is no export in {}: neither {EPISODE_LINES} nor {EPISODES}/*.md{hint}",
                path.display()
            );
            return Err(AskError::InvalidInput(what));
        }
        Ok(())
    }

    fn read_file(&mut self, file: &Path) -> Result<(), AskError> {
        let bytes = files::read(file, LONGEST).map_err(|error| AskError::file(file, &error))?;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let lines = error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count();
                self.problems.push(format!("{}:{}: is not valid UTF-8", file.display(), lines + 1));
                return Ok(());
            }
        };
        if file.extension().is_some_and(|extension| extension == "md") {
            if text.len() > LONGEST_EPISODE {
                self.problems.push(format!("{}:1: {TOO_LONG}", file.display()));
                return Ok(());
            }
            let bytes = text.len();
            let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let uuid = name.to_owned();
            let episode = EpisodeNode { uuid, content: text, ..EpisodeNode::default() };
            let portable = PortableEpisode { episode, ..PortableEpisode::default() };
            self.episodes.push(ReadEpisode { portable, file: file.to_owned(), line: None, bytes });
            return Ok(());
        }
        for (number, row) in (1..).zip(text.lines()).filter(|(_, row)| !row.trim().is_empty()) {
            if row.len() > LONGEST_EPISODE {
                self.problems.push(format!("{}:{number}: {TOO_LONG}", file.display()));
                continue;
            }
            match serde_json::from_str(row) {
                Ok(portable) => self.episodes.push(ReadEpisode {
                    portable,
                    file: file.to_owned(),
                    line: Some(number),
                    bytes: row.len(),
                }),
                Err(error) => self.problems.push(format!("{}:{number}: {error}", file.display())),
            }
        }
        Ok(())
    }

    fn read_json(&mut self, file: &Path) -> Result<Option<Value>, AskError> {
        if !file.exists() {
            return Ok(None);
        }
        let text = files::read(file, LONGEST).map_err(|error| AskError::file(file, &error))?;
        match serde_json::from_slice(&text) {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                self.problems.push(format!("{}:{}: {error}", file.display(), error.line()));
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_not_an_export() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session.jsonl");
        let episode = r#"{"content":"---\ngraphiti_session_metadata:\n  version: \"1\"\n---\n"}"#;
        for (lines, wanted) in [
            (r#"{"type":"system","content":"Compacted","uuid":"u"}"#, false),
            (r#"{"role":"user","content":"Fix it"}"#, false),
            (episode, true),
        ] {
            fs::write(&file, lines).unwrap();
            let mut export = ExportFiles::default();
            export.read(&file).unwrap();
            assert_eq!(export.is_export(), wanted, "{lines}");
        }
    }

    #[test]
    fn one_problem_of_a_file_that_is_no_export_is_enough() {
        let problems: Vec<String> = (1..=30).map(|line| format!("a:{line}: broken")).collect();
        let shown = shown_problems(problems.clone(), true);
        assert_eq!(shown.lines().count(), SHOWN_PROBLEMS + 1);
        assert!(shown.ends_with("… and 10 more"));
        assert_eq!(shown_problems(problems, false), "a:1: broken");
    }

    #[test]
    fn a_folder_with_corrections_only_is_an_export() {
        let folder = tempfile::tempdir().unwrap();
        let mut export = ExportFiles::default();
        assert!(export.read(folder.path()).is_err(), "the folder is empty");
        let episodes = folder.path().join(EPISODES);
        fs::create_dir(&episodes).unwrap();
        let error = export.read(&episodes).unwrap_err().to_string();
        assert!(error.ends_with("; give the folder that contains episodes"), "{error}");
        fs::write(folder.path().join(CORRECTIONS_FILE), "[{}]").unwrap();
        assert!(export.read(folder.path()).is_ok());
        assert_eq!(export.corrections.len(), 1);
    }
}
