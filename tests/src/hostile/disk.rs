//! Checks the readers of files that may be damaged, such as database records and local models.

use graphiti_proto::{endpoint::Runtime, methods::hook::HookEvent};
use graphitid::{
    capture::tail::{FileCursor, Tail},
    engine::pipeline::SourceState,
    llm::{embed::local::fuzzing, ledger::Ledger},
    store::sled::fuzzing as store,
};

pub(super) const WORDS: &[&str] = &[
    "G\u{1}\u{0}",
    "G\u{1}\u{1}",
    "{\"cursor\":{\"offset\":1,\"line\":1,\"head\":{\"bytes\":1,\"checksum\":0},\"before\":{\"bytes\":2",
    "\"dtype\":\"F32\"",
    "\"shape\":[0,18446744073709551615]",
    "\"data_offsets\":[0,8]",
    "\"embeddings\":{",
    "embeddings.word_embeddings.weight",
    "\"model\":{\"type\":\"WordPiece\",\"vocab\":{",
    "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
];

pub(super) fn check(bytes: &[u8]) {
    store::read_records(bytes);
    fuzzing::read_model(bytes);
    if let Ok(cursor) = serde_json::from_slice::<FileCursor>(bytes) {
        // With a damaged cursor, or a cursor of another file, the file is read from the beginning.
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "{}\n{}\n").expect("write the file");
        // Only a panic matters, here and below.
        let _ = Tail::open(file.path(), &cursor);
    }
    let _ = serde_json::from_slice::<SourceState>(bytes);
    let _ = serde_json::from_slice::<Ledger>(bytes);
    let _ = serde_json::from_slice::<Runtime>(bytes);
    let _ = serde_json::from_slice::<HookEvent>(bytes);
}
