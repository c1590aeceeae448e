//! Tests with transcripts that are read while they are written.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use super::shown;
use crate::{
    content_hash::Hasher,
    filter::{Filter, PendingCalls},
    format::{FORMATS, Format, Memory, opencode::fuzzing},
    model::ContentHash,
    salvage,
    store::Tally,
    tail::{FileCursor, Tail, TailLine},
};

/// Numbers of bytes that are appended at a time.
const PIECES: [usize; 3] = [61, 997, 4_099];
/// Samples with fewer bytes than this are cut at each byte.
const SHORT: usize = 3_000;

#[test]
fn a_transcript_that_is_written_in_pieces_is_read_completely() {
    let mut agents = Vec::new();
    for sample in samples() {
        let whole = sample.read_in_pieces(sample.text.len());
        assert!(whole.items.len() > 3, "{}: {:?}", sample.name, whole.items);
        assert_eq!((whole.tally.broken, whole.tally.repaired), (0, 0), "{}", sample.name);
        let cuts = PIECES.into_iter().chain((sample.text.len() < SHORT).then_some(1));
        for piece in cuts {
            assert_eq!(sample.read_in_pieces(piece), whole, "{} by {piece}", sample.name);
        }
        agents.push(sample.format.agent());
    }
    let all = FORMATS.iter().all(|format| agents.contains(&format.agent()));
    assert!(all, "a format has no sample: {agents:?}");
}

#[test]
fn a_truncated_record_does_not_affect_other_records() {
    for sample in samples() {
        let lines: Vec<&str> = sample.text.lines().collect();
        let whole = sample.read(&lines);
        for torn in 1..lines.len() {
            let half = lines[torn].floor_char_boundary(lines[torn].len() / 2);
            let mut lines = lines.clone();
            lines[torn] = &lines[torn][..half];
            let read = sample.read(&lines);
            let what = format!("{}, line {torn}: {:?}", sample.name, read.tally);
            assert!(read.tally.broken + read.tally.repaired >= 1, "{what}");
            let known = |tally: &Tally| tally.read + tally.skipped.values().sum::<u64>();
            assert!(known(&whole.tally) - known(&read.tally) <= 1, "{what}");
        }
    }
}

/// Reads the rows of a database while they are added one after the other.
#[test]
fn new_rows_only_add_records() {
    for sample in rows() {
        let rows: Vec<&str> = sample.text.lines().collect();
        for version in fuzzing::VERSIONS {
            let whole = fuzzing::records(version, &rows);
            for count in fuzzing::ends(version, &rows) {
                let records = fuzzing::records(version, &rows[..count]);
                assert!(whole.starts_with(&records), "{version:?}: {count} rows: {records:?}");
            }
        }
    }
}

#[test]
fn an_incomplete_document_has_no_records() {
    let documents = seeds().into_iter().filter(|sample| sample.name.contains("document"));
    for sample in documents {
        let document = sample.text.trim_end();
        assert!(sample.format.records_of(document).is_some_and(|records| records.len() > 3));
        for end in 0..document.len() {
            assert_eq!(sample.format.records_of(&document[..end]), None, "the first {end} bytes");
        }
    }
}

struct Sample {
    name: String,
    format: &'static dyn Format,
    text: String,
}

/// The result of reading a sample.
#[derive(Debug, PartialEq)]
struct ReadSample {
    items: Vec<String>,
    tally: Tally,
    hash: Option<ContentHash>,
    memory: Memory,
}

/// Returns the seeds for fuzzing. The first line of a seed is the name of the agent.
fn seeds() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/seeds/format");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let sample = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let (agent, text) = text.split_once('\n').unwrap();
        let format = FORMATS.iter().copied().find(|format| format.agent() == agent)?;
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        Some(Sample { name, format, text: text.to_owned() })
    };
    paths.into_iter().filter_map(sample).collect()
}

/// Returns the seeds that are lines of a transcript.
fn samples() -> Vec<Sample> {
    let is_lines = |sample: &Sample| sample.name.ends_with(".jsonl");
    seeds().into_iter().filter(is_lines).collect()
}

fn rows() -> impl Iterator<Item = Sample> {
    seeds().into_iter().filter(|sample| sample.name.contains("rows"))
}

impl Sample {
    /// Reads the text while it is appended to a file, `piece` bytes at a time. Saves cursor and
    /// memory after each piece, as the engine does.
    fn read_in_pieces(&self, piece: usize) -> ReadSample {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let (mut cursor, mut reader) = (FileCursor::default(), SampleReader::default());
        for piece in self.text.as_bytes().chunks(piece) {
            file.write_all(piece).unwrap();
            let (mut tail, _) = Tail::open(file.path(), &cursor).unwrap();
            while let Some(line) = tail.next_line(&salvage::is_whole).unwrap() {
                let TailLine::Whole(line) = line else { panic!("a line is too long") };
                reader.line(self.format, line);
            }
            cursor = tail.mark();
            let saved = serde_json::to_string(&reader.memory).unwrap();
            reader.memory = serde_json::from_str(&saved).unwrap();
        }
        reader.finish()
    }

    fn read(&self, lines: &[&str]) -> ReadSample {
        let mut reader = SampleReader::default();
        lines.iter().for_each(|line| reader.line(self.format, line.as_bytes()));
        reader.finish()
    }
}

#[derive(Default)]
struct SampleReader {
    memory: Memory,
    tally: Tally,
    pending: PendingCalls,
    hasher: Hasher,
    items: Vec<String>,
}

impl SampleReader {
    fn line(&mut self, format: &dyn Format, line: &[u8]) {
        let SampleReader { memory, tally, pending, hasher, items } = self;
        salvage::read_line(format, line, memory, tally, &mut |entry| {
            items.push(shown(&entry));
            if let Some(kept) = Filter::default().keep(&entry.item, pending) {
                hasher.add(kept.role, &kept.text);
            }
        });
    }

    fn finish(self) -> ReadSample {
        let SampleReader { memory, tally, pending: _, hasher, items } = self;
        ReadSample { items, tally, hash: hasher.hash(), memory }
    }
}
