//! Checks rules about the source itself.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod circles;
mod documents;
mod formats;
mod functions;
mod layers;
mod names;
mod settings;

use std::path::{Path, PathBuf};

/// Returns the folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
