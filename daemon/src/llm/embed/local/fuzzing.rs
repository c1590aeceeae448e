//! What of this the tests of all parsers may call.

use serde_json::Value;

use super::{Kind, Model, encoder::Encoder, table::Table, tensors::Tensors, words::Words};

/// Reads a model's files, and a text with it. `bytes` are a file of weights, or the header of one,
/// which holds its settings and its tokenizer as `__metadata__`.
pub fn read_model(bytes: &[u8]) {
    drop(Tensors::read(bytes.to_vec()));
    let length = (bytes.len() as u64).to_le_bytes();
    let file = [&length[..], bytes, &[0x3c; 256]].concat();
    let Ok(tensors) = Tensors::read(file) else { return };
    let header: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let settings = &header["__metadata__"];
    let Ok(words) = Words::read(settings) else { return };
    let table = Table::read(&tensors).ok().flatten().map(Kind::Table);
    let encoder = Encoder::read(&tensors, settings, Some(settings)).ok();
    let encoder = encoder.map(|encoder| Kind::Encoder(Box::new(encoder)));
    let Some(kind) = table.or(encoder) else { return };
    let model = Model { words, kind, dimensions: None };
    drop(model.vector("log in time!"));
}
