//! Stores events while the daemon is down or does not answer.

use std::{
    fs, io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use graphiti_proto::{
    files,
    methods::hook::{self, HookEvent, LONGEST_EVENT},
};

/// Stores an event for the daemon of `home`. The write is atomic and survives a power failure.
/// Nothing is stored if the event is too long or the spool is full. The daemon finds the
/// transcripts of these sessions later.
pub(super) fn leave(event: &HookEvent, home: &Path) {
    // A hook reports no errors.
    let _ = try_leave(event, home);
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
    // Names sort by time as text, for centuries.
    let name = format!("{now:020}-{}", std::process::id());
    let unfinished = folder.join(format!("{name}.new"));
    hook::write_unfinished(&unfinished, &text)?;
    files::rename_durably(&unfinished, &folder.join(format!("{name}.json")))
}

/// Creates a private folder and syncs it to disk; its parent must exist.
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
