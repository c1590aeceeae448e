//! Counts the allocations, writes and syncs of a program. These counts hardly depend on the speed
//! of the machine. Needs Linux with glibc, and gcc.

use std::{fs, path::PathBuf};

use crate::{World, faulty::preload};

/// The counts of one program, from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub allocations: u64,
    pub allocated_bytes: u64,
    /// Bytes written to files in the home.
    pub written_bytes: u64,
    /// Syncs of files in the home.
    pub syncs: u64,
}

/// The file to which a program writes its counts when it ends.
pub struct CountsFile(PathBuf);

impl CountsFile {
    /// Counts the operations of the programs that `world` starts from now on. Each program overwrites
    /// the counts of the previous program.
    ///
    /// # Panics
    ///
    /// When gcc cannot compile the library that counts.
    pub fn of(world: &mut World) -> CountsFile {
        let counts = world.path("counts");
        preload(world, "src/counts.c", "COUNTS", &counts);
        CountsFile(counts)
    }

    /// Returns the counts of the program that ended last.
    ///
    /// # Panics
    ///
    /// When no program has ended.
    pub fn read(&self) -> Counts {
        let text = fs::read_to_string(&self.0).expect("a program has ended");
        let counts: Vec<u64> = text.split_whitespace().flat_map(str::parse).collect();
        let [allocations, allocated_bytes, written_bytes, syncs] = counts[..] else {
            panic!("four counts expected, not {text:?}");
        };
        Counts { allocations, allocated_bytes, written_bytes, syncs }
    }
}
