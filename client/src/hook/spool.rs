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
/// Nothing is stored if the event is too long or the spool is full. The daemon then finds the
/// transcript of the session later.
pub(super) fn store(event: &HookEvent, home: &Path) {
    // A hook reports no errors.
    let _ = try_store(event, home);
}

fn try_store(event: &HookEvent, home: &Path) -> io::Result<()> {
    let text = serde_json::to_vec(&event.to_spool())?;
    let folder = hook::spool(home);
    create_private_folder(home)?;
    create_private_folder(&folder)?;
    if text.len() > LONGEST_EVENT || !hook::has_spool_space(home)? {
        return Err(io::ErrorKind::StorageFull.into());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    // With 20 digits, names that are sorted as text are sorted by time.
    let name = format!("{now:020}-{}", std::process::id());
    let unfinished = folder.join(format!("{name}.new"));
    hook::write_unfinished(&unfinished, &text)?;
    files::rename_durably(&unfinished, &folder.join(format!("{name}.json")))
}

/// Creates a folder that only the user can access, unless it exists. Syncs the parent, which must
/// exist, to disk.
fn create_private_folder(folder: &Path) -> io::Result<()> {
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
