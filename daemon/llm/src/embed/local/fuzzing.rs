//! Entry points for the tests that feed arbitrary input to all parsers.

use serde_json::Value;

use super::{
    LoadedModel, ModelWeights, encoder::Encoder, tensors::Tensors, token_table::TokenTable,
    vocabulary::Vocabulary,
};

/// Reads a model and embeds a text with it. `bytes` is a weights file, or only the header of such a
/// file. `__metadata__` in the header contains the model's settings and its tokenizer.
pub fn read_model(bytes: &[u8]) {
    let _ = Tensors::read(bytes.to_vec());
    let length = (bytes.len() as u64).to_le_bytes();
    let file = [&length[..], bytes, &[0x3c; 256]].concat();
    let Ok(tensors) = Tensors::read(file) else { return };
    let header: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let settings = &header["__metadata__"];
    let Ok(words) = Vocabulary::read(settings) else { return };
    let table = TokenTable::read(&tensors).unwrap_or_default().map(ModelWeights::Static);
    let encoder = Encoder::read(&tensors, settings, Some(settings)).ok();
    let encoder = encoder.map(|encoder| ModelWeights::Encoder(Box::new(encoder)));
    let Some(kind) = table.or(encoder) else { return };
    let model = LoadedModel { words, kind, dimensions: None };
    let _ = model.vector("log in time!");
}
