//! Tests of values, formats, messages, the files and the schema.

mod files;
mod formats;
mod messages;
mod schema;
mod values;

use std::path::Path;

use crate::config::{Loaded, Problems, read::read};

/// Reads `text` as `c.json` of a user whose home is `/home/ann`.
fn read_text(text: &str) -> Result<Loaded, Problems> {
    read(Path::new("c.json"), text, Some(Path::new("/home/ann")))
}

/// Reads `inner` as the content of `session_tracking`, on line 1.
fn read_inner(inner: &str) -> Result<Loaded, Problems> {
    read_text(&format!("{{\"session_tracking\": {{{inner}}}}}"))
}
