//! Simulates a disk that fails and works again, and a wrong clock. Needs Linux and gcc.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::World;

/// The faults of the machine on which the programs of a world run.
pub struct Faulty {
    order: PathBuf,
}

/// The operation that fails on a faulty disk.
#[derive(Clone, Copy, Debug)]
pub enum Refused {
    /// Read the database.
    Read,
    /// Write the database.
    Write,
    /// Sync the database.
    Sync,
}

/// Compiles a library, and puts it before the C library in the programs that `world` starts from
/// now on. The library gets `path` in the environment variable `name`.
///
/// # Panics
///
/// When gcc cannot compile the library.
pub(crate) fn preload(world: &mut World, source: &str, name: &str, path: &Path) {
    let library = path.with_extension("so");
    let mut gcc = Command::new("gcc");
    gcc.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library);
    gcc.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source));
    assert!(gcc.status().expect("run gcc").success(), "gcc cannot compile {source}");
    for (name, path) in [("LD_PRELOAD", &*library), (name, path)] {
        let path = path.to_str().expect("a path as text").to_owned();
        world.variables.push((name.to_owned(), path));
    }
}

impl Faulty {
    /// Allows faults in the programs that `world` starts from now on. At first, there is no fault.
    ///
    /// # Panics
    ///
    /// When gcc cannot compile the library.
    pub fn under(world: &mut World) -> Faulty {
        // The folder is not in the home, because the daemon watches the home for folders of agents.
        // The library reads the file `order` at each call, also in the thread of the watcher, and
        // each read would notify the watcher.
        let folder = world.path("faulty");
        fs::create_dir_all(&folder).expect("a folder for orders");
        let order = folder.join("order");
        preload(world, "src/faulty.c", "FAULTY", &order);
        Faulty { order }
    }

    /// From now on, the operation `what` fails with an error (`EIO`).
    pub fn fails(&self, what: Refused) {
        self.set_order(match what {
            Refused::Read => "read",
            Refused::Write => "write",
            Refused::Sync => "sync",
        });
    }

    /// From now on, write number `write` to the home and all later writes fail (`ENOSPC`).
    pub fn is_full_from(&self, write: u32) {
        self.set_order(&format!("full {write}"));
    }

    /// The program is killed (`SIGKILL`) at write number `write` to the home.
    pub fn dies_at(&self, write: u32) {
        self.set_order(&format!("dies {write}"));
    }

    /// Each sync of a file of the home takes this long.
    pub fn is_slow(&self, sync: Duration) {
        self.set_order(&format!("slow {}", sync.as_millis()));
    }

    /// Sets the clock forward by `seconds`, or back if the number is negative.
    pub fn is_ahead(&self, seconds: i64) {
        self.set_order(&format!("CLOCK {seconds}"));
    }

    /// From now on, the disk works, and the clock is right.
    ///
    /// # Panics
    ///
    /// When there was no fault.
    pub fn works(&self) {
        fs::remove_file(&self.order).expect("a fault was set");
    }

    fn set_order(&self, order: &str) {
        // The file is replaced atomically, so that no process reads an incomplete order.
        let new = self.order.with_extension("new");
        fs::write(&new, order).and_then(|()| fs::rename(&new, &self.order)).expect("an order");
    }
}
