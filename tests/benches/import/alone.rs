//! Measures the reading of transcripts without a daemon, on one thread.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    time::{Duration, Instant},
};

use graphitid::{
    capture::{
        content_hash::Hasher,
        filter::{Filter, PendingCalls},
        format::{FORMATS, Memory},
        salvage,
        tail::{FileCursor, Tail, TailLine},
    },
    store::Tally,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

#[derive(Clone, Copy)]
pub(crate) struct Speed {
    pub(crate) bytes: u64,
    pub(crate) spent: Duration,
}

impl Speed {
    pub(crate) fn megabytes_a_second(self) -> f64 {
        self.bytes as f64 / 1e6 / self.spent.as_secs_f64()
    }

    pub(crate) fn ratio(self, other: Speed) -> f64 {
        self.megabytes_a_second() / other.megabytes_a_second()
    }
}

/// Returns the faster of two runs of `work` over `bytes` bytes.
pub(crate) fn timed(bytes: u64, work: impl Fn() -> u64) -> Speed {
    let run = || {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed()
    };
    Speed { bytes, spent: run().min(run()) }
}

/// Reads and hashes every byte; no reader that hashes its input can be faster.
pub(crate) fn hash(files: &[PathBuf]) -> u64 {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    for path in files {
        let mut file = File::open(path).expect("a file that was just made");
        loop {
            match file.read(&mut buffer).expect("a file can be read") {
                0 => break,
                read => hasher.update(&buffer[..read]),
            }
        }
    }
    u64::from(hasher.finalize()[0])
}

/// Parses each line into a [`Value`], as most programs that read transcripts do.
pub(crate) fn parse(files: &[PathBuf]) -> u64 {
    let mut records = 0;
    let mut line = Vec::new();
    for path in files {
        let mut file = BufReader::with_capacity(256 << 10, File::open(path).expect("a file"));
        while file.read_until(b'\n', &mut line).expect("a file can be read") > 0 {
            records += u64::from(serde_json::from_slice::<Value>(&line).is_ok());
            line.clear();
        }
    }
    records
}

/// Reads, filters and hashes all text that is stored.
pub(crate) fn capture(files: &[PathBuf]) -> u64 {
    let filter = Filter::default();
    let mut tally = Tally::default();
    let mut kept = 0;
    for path in files {
        let format = FORMATS.iter().find(|format| format.claims(path)).expect("a transcript");
        let (mut memory, mut waiting) = (Memory::default(), PendingCalls::default());
        let mut hasher = Hasher::default();
        let (mut tail, _) = Tail::open(path, &FileCursor::default()).expect("a file can be opened");
        while let Some(line) = tail.next_line(&salvage::is_whole).expect("a file can be read") {
            let TailLine::Whole(line) = line else { continue };
            salvage::read_line(*format, line, &mut memory, &mut tally, &mut |entry| {
                if let Some(message) = filter.keep(&entry.item, &mut waiting) {
                    kept += message.text.len() as u64;
                    hasher.add(message.role, &message.text);
                }
            });
        }
        std::hint::black_box(hasher.hash());
    }
    kept
}
