//! Tests of the embedding model in a folder.

use std::{fs, path::Path};

use serde_json::json;

use crate::{
    config::ProviderKind,
    embed::{
        Embeddings,
        config::{Config, EmbeddingProvider},
    },
    tests::world::ClientFixture,
};

/// Writes a static model with one token.
fn write_model(folder: &Path) {
    let header = json!({ "embeddings": {
        "dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8],
    }});
    let header = header.to_string();
    let length = (header.len() as u64).to_le_bytes();
    let numbers = [3.0_f32.to_le_bytes(), 4.0_f32.to_le_bytes()].concat();
    let weights = [&length[..], header.as_bytes(), &numbers].concat();
    fs::write(folder.join("model.safetensors"), weights).unwrap();
    let tokenizer = json!({ "model": { "type": "WordPiece", "vocab": { "login": 0 } } });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}

#[tokio::test]
async fn a_local_model_is_read_again_after_a_failure() {
    let world = ClientFixture::new(ProviderKind::None);
    let config = Config {
        provider: EmbeddingProvider::Local,
        path: Some(world.home().to_owned()),
        ..Config::default()
    };
    let limit = world.config.timeout;
    let embeddings = Embeddings::new(config, world.ports());
    let error = embeddings.identity().await.unwrap_err().to_string();
    assert!(error.contains("model.safetensors"), "{error}");
    write_model(world.home());
    assert!(embeddings.reach(limit).await.is_ok());
    let vectors = embeddings.embed(&["login".to_owned()], limit).await.unwrap();
    assert_eq!(vectors, [[0.6, 0.8]]);
    // A model that was read is kept.
    let identity = embeddings.identity().await.unwrap();
    fs::remove_file(world.home().join("model.safetensors")).unwrap();
    assert_eq!(embeddings.identity().await.unwrap(), identity);
}
