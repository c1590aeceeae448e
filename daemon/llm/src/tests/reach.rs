//! Tests of the check whether a model is available. The check sends no prompt.

use serde_json::{Value, json};

use crate::{
    client::Client,
    config::ProviderKind,
    tests::{
        server::{Play, ReceivedRequest, Server, ok, status},
        world::{ClientFixture, KEY},
    },
};

/// Checks the request for the list of models. Anthropic and OpenAI expect the key in different
/// headers.
fn check(seen: &ReceivedRequest) -> Result<(), String> {
    let is = |condition: bool, what: &str| if condition { Ok(()) } else { Err(what.to_owned()) };
    let header = |name: &str| seen.headers.get(name).map_or("", String::as_str);
    is(seen.method == "GET" && seen.path == "/v1/models?limit=1000", "start line")?;
    let is_anthropic = header("x-api-key") == KEY && header("anthropic-version") == "2023-06-01";
    is(is_anthropic || header("authorization") == format!("Bearer {KEY}"), "key")
}

fn models(names: &[&str]) -> Value {
    let rows: Vec<Value> = names.iter().map(|name| json!({ "id": name })).collect();
    json!({ "data": rows })
}

async fn reached(provider: ProviderKind, plays: Play) -> Result<String, String> {
    let server = Server::new(check, vec![plays]);
    let mut world = ClientFixture::at(provider, &server.address);
    world.config.model = Some("qwen3".to_owned());
    let found = look(&world, &world.client(), &server).await;
    assert!(world.records().is_empty(), "the check is recorded as a request");
    found.map(|what| what.replace(server.address.trim_start_matches("http://"), "HOST"))
}

async fn look(world: &ClientFixture, client: &Client, server: &Server) -> Result<String, String> {
    world.expire_limit_on(server.silence());
    client.reach(world.config.timeout).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_server_with_the_model_is_available() {
    for provider in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let found = reached(provider, ok(&models(&["llama4", "qwen3:latest"]))).await;
        assert_eq!(found, Ok("HOST has qwen3".to_owned()));
    }
}

#[tokio::test]
async fn a_server_without_a_list_is_available() {
    for play in [
        status(404, "", &json!({})),
        status(501, "", &json!({})),
        ok(&json!({ "data": [] })),
        ok(&json!([])),
    ] {
        let found = reached(ProviderKind::OpenAi, play).await;
        assert_eq!(found, Ok("HOST answers, and does not list its models".to_owned()));
    }
}

#[tokio::test]
async fn problems_are_reported_with_a_remedy() {
    let no_key = status(401, "", &json!({ "error": { "message": format!("bad {KEY}") } }));
    for (play, expected) in [
        (ok(&models(&["llama4"])), "has no model qwen3, only llama4"),
        (
            ok(&models(&["llama4"])),
            "set `session_tracking.llm.model` to one of the server's models",
        ),
        (no_key, "HTTP 401: bad [key]; check the key"),
        (status(500, "", &json!({ "error": "on fire" })), "on fire"),
        (status(418, "", &json!({})), "/v1/models was answered with HTTP 418"),
        (Play::Silence, "no answer in time"),
    ] {
        let error = reached(ProviderKind::OpenAi, play).await.expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported() {
    let mut world = ClientFixture::at(ProviderKind::OpenAi, "http://127.0.0.1:1");
    world.config.model = Some("qwen3".to_owned());
    let client = world.client();
    let error = client.reach(world.config.timeout).await.expect_err("the port is closed");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn a_program_is_searched_for_and_not_run() {
    let mut world = ClientFixture::new(ProviderKind::Command);
    let mut look = async |program: &str| {
        world.config.command = Some(vec![program.to_owned()]);
        world.client().reach(world.config.timeout).await.map_err(|error| error.to_string())
    };
    let found = look("cargo").await.expect("cargo exists, because it runs this test");
    assert!(found.contains("cargo") && found.contains("exists"), "{found}");
    let error = look("no-such-program-9").await.expect_err("the program does not exist");
    assert!(error.contains("no-such-program-9 cannot be started"), "{error}");
}
