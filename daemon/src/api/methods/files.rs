//! `graphiti/files`: checks that each transcript file is registered only once and was read up to
//! its last complete line.

use graphiti_proto::{methods::files::FileCheckReport, rpc::Error};
use serde_json::Value;

use super::write;
use crate::{
    api::{
        DaemonState,
        errors::{engine_error, store_error},
        request_limits::panic_error,
    },
    clock,
    engine::file_check::{self, FileBehind, FileCheck},
};

/// Maximum number of examples in the report of each problem: registered twice, not read completely.
const MAX_EXAMPLES: usize = 3;

pub(super) async fn files(daemon: &DaemonState) -> Result<Value, Error> {
    let open_files = daemon.engine.open_sources().await.map_err(engine_error)?;
    let (store, now) = (daemon.engine.store().clone(), clock::now());
    let checking =
        tokio::task::spawn_blocking(move || file_check::check(store.as_ref(), &open_files, now));
    let checked = checking.await.map_err(|_| panic_error())?;
    let FileCheck { files, twice, behind } = checked.map_err(store_error)?;
    let left = |file: &FileBehind| {
        format!("{} was read up to byte {} of {}", file.path, file.read, file.complete)
    };
    let examples = twice.iter().take(MAX_EXAMPLES).cloned();
    let examples = examples.chain(behind.iter().take(MAX_EXAMPLES).map(left)).collect();
    Ok(write(&FileCheckReport { files, twice: twice.len(), behind: behind.len(), examples }))
}
