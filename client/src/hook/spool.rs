//! Where an event waits for a daemon that is down or does not answer.

use std::{
    fs, io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use graphiti_proto::{
    files,
    methods::hook::{self, HookEvent, LONGEST_EVENT},
};

/// Leaves an event for the daemon of `home`. It survives a power cut, and is either whole or not there; not when the spool is full, which needs a daemon that is down for thousands of
/// sessions, whose transcripts it will find in any case.
pub(super) fn leave(event: &HookEvent, home: &Path) {
    // A hook reports no errors.
    drop(try_leave(event, home));
}

fn try_leave(event: &HookEvent, home: &Path) -> io::Result<()> {
    let text = serde_json::to_vec(&event.to_spool())?;
    let folder = hook::spool(home);
    make(home)?;
    make(&folder)?;
    if text.len() > LONGEST_EVENT || !hook::has_room(home)? {
        return Err(io::ErrorKind::StorageFull.into());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    // Sorted by time as text, for centuries.
    let name = format!("{now:020}-{}", std::process::id());
    let unfinished = folder.join(format!("{name}.new"));
    hook::write_unfinished(&unfinished, &text)?;
    files::rename_durably(&unfinished, &folder.join(format!("{name}.json")))
}

/// Makes a folder for the user alone, on the disk; its parent is there.
fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(false);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => folder.parent().map_or(Ok(()), files::sync_folder),
    }
}
