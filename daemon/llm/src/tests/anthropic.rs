//! Tests with a server that implements the messages API.

use serde_json::{Value, json};

use crate::{
    config::ProviderKind,
    error::{Error, Retry},
    price::Money,
    tests::{
        server::{Play, ReceivedRequest, Server, ok, status},
        world::{ClientFixture, KEY, json_request, text_request},
    },
};

/// Checks whether a request follows the API's documentation, for the parts that the client uses.
pub(super) fn check(seen: &ReceivedRequest) -> Result<(), String> {
    let is = |condition: bool, what: &str| if condition { Ok(()) } else { Err(what.to_owned()) };
    let header = |name: &str| seen.headers.get(name).map_or("", String::as_str);
    is(seen.path == "/v1/messages", "path")?;
    is(header("x-api-key") == KEY, "x-api-key")?;
    is(header("anthropic-version") == "2023-06-01", "anthropic-version")?;
    is(header("content-type") == "application/json", "content-type")?;
    let body = seen.body.as_object().ok_or("body")?;
    let known = ["model", "max_tokens", "system", "messages", "tools", "tool_choice"];
    is(body.keys().all(|key| known.contains(&key.as_str())), "unknown key")?;
    is(body["model"].as_str().is_some_and(|model| !model.is_empty()), "model")?;
    is(body["max_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "max_tokens")?;
    is(body["system"].is_string(), "system")?;
    let messages = body["messages"].as_array().ok_or("messages")?;
    is(messages.len() == 1 && messages[0]["role"] == "user", "roles")?;
    is(messages[0]["content"].as_str().is_some_and(|text| !text.trim().is_empty()), "content")?;
    if let Some(choice) = body.get("tool_choice") {
        let tools = body.get("tools").and_then(Value::as_array).ok_or("tools")?;
        is(choice["type"] == "tool", "tool_choice.type")?;
        is(tools.iter().any(|tool| tool["name"] == choice["name"]), "tool_choice.name")?;
        is(tools.iter().all(|tool| tool["input_schema"]["type"] == "object"), "input_schema")?;
    }
    Ok(())
}

pub(super) fn message(content: &Value, stop_reason: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001",
        "content": content, "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": 1_000, "output_tokens": 100,
            "cache_creation_input_tokens": 500, "cache_read_input_tokens": 500},
    })
}

pub(super) fn text_message(text: &str) -> Value {
    message(&json!([{"type": "text", "text": text}]), "end_turn")
}

fn called(input: &Value) -> Value {
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": "summary", "input": input});
    message(&json!([{"type": "text", "text": "I will."}, block]), "tool_use")
}

fn failed(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn world(script: Vec<Play>) -> (ClientFixture, Server) {
    let server = Server::new(check, script);
    (ClientFixture::at(ProviderKind::Anthropic, &server.address), server)
}

#[tokio::test]
async fn text_is_requested_and_parsed() {
    let (world, server) = world(vec![ok(&text_message(" A summary. "))]);
    let reply = world.client().complete(&text_request("the text")).await.unwrap();
    assert_eq!(reply.text, "A summary.");
    assert_eq!(reply.json, None);
    assert_eq!((reply.usage.input, reply.usage.output, reply.usage.cached), (2_000, 100, 500));
    assert_eq!(reply.cost, Some(Money::from_usd(0.002_05)));
    assert_eq!(reply.model, "claude-haiku-4-5-20251001");
    let seen = server.only();
    assert_eq!(seen.body["model"], "claude-haiku-4-5");
    assert_eq!(seen.body["max_tokens"], 300);
    assert!(seen.body.get("tools").is_none());
}

#[tokio::test]
async fn json_is_requested_by_a_forced_tool_call() {
    let (world, server) = world(vec![ok(&called(&json!({"goal": "a", "end": "done", "more": 1})))]);
    let reply = world.client().complete(&json_request("the text")).await.unwrap();
    assert_eq!(reply.json, Some(json!({"goal": "a", "end": "done"})));
    let body = server.only().body;
    assert_eq!(body["tool_choice"]["name"], "summary");
    assert_eq!(body["tools"][0]["input_schema"]["required"], json!(["goal", "end"]));
}

#[tokio::test]
async fn a_model_that_rejects_tool_choice_gets_the_schema_in_the_prompt() {
    let refusal = failed("invalid_request_error", "tool_choice: forced tool use is not supported");
    let answer = || ok(&text_message("```json\n{\"goal\": \"a\", \"end\": \"done\"}\n```"));
    let (world, server) = world(vec![status(400, "", &refusal), answer(), answer()]);
    let client = world.client();
    for _ in 0..2 {
        let reply = client.complete(&json_request("the text")).await.unwrap();
        assert_eq!(reply.json, Some(json!({"goal": "a", "end": "done"})));
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    assert!(seen[1..].iter().all(|seen| seen.body.get("tools").is_none()));
    assert!(seen[2].prompt().contains("by this JSON schema"));
}

#[tokio::test]
async fn concurrent_calls_that_are_rejected_because_of_tool_choice_are_all_repeated() {
    let refusal = failed("invalid_request_error", "tool_choice: forced tool use is not supported");
    let held = || Play::Held(400, refusal.to_string());
    let answer = || ok(&text_message("{\"goal\": \"a\", \"end\": \"done\"}"));
    let (mut world, server) = world(vec![held(), held(), answer(), answer()]);
    world.config.concurrency = 2;
    let (client, request) = (world.client(), json_request("the text"));
    let second = async {
        server.wait_until_held().await;
        let release = async {
            server.wait_until_held().await;
            server.release();
            server.release();
        };
        tokio::join!(client.complete(&request), release).0
    };
    let (one, two) = tokio::join!(client.complete(&request), second);
    for reply in [one, two] {
        assert_eq!(reply.unwrap().json, Some(json!({"goal": "a", "end": "done"})));
    }
    assert_eq!(server.seen().len(), 4);
    assert_eq!(client.outage(), None);
}

#[tokio::test]
async fn errors_are_classified_by_who_acts_on_them() {
    let invalid = "invalid_request_error";
    for (code, kind, text, expected, retry) in [
        (401, "authentication_error", "invalid x-api-key", "misconfigured", Retry::AfterChange),
        (403, "permission_error", "not allowed", "misconfigured", Retry::AfterChange),
        (404, "not_found_error", "model: no-such", "misconfigured", Retry::AfterChange),
        (413, "request_too_large", "Request exceeds the maximum size", "too_long", Retry::Smaller),
        (
            400,
            invalid,
            "prompt is too long: 210000 tokens > 200000 maximum",
            "too_long",
            Retry::Smaller,
        ),
        (400, invalid, "Your credit balance is too low", "misconfigured", Retry::AfterChange),
        (400, invalid, "max_tokens: 300 > 200", "misconfigured", Retry::AfterChange),
    ] {
        let (world, server) = world(vec![status(code, "", &failed(kind, text))]);
        let error = world.client().complete(&text_request("x")).await.unwrap_err();
        assert_eq!((error.kind(), error.retry()), (expected, retry), "{error}");
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(server.seen().len(), 1);
        assert_eq!(world.pauses(), Vec::<f64>::new());
    }
}

#[tokio::test]
async fn a_refusal_is_not_retried_and_its_cost_is_recorded() {
    let (world, server) = world(vec![ok(&message(&json!([]), "refusal"))]);
    let error = world.client().complete(&json_request("x")).await.unwrap_err();
    assert_eq!((error.kind(), error.retry()), ("refused", Retry::Never));
    assert_eq!(server.seen().len(), 1);
    assert_eq!(world.records()[0].cost, Some(Money::from_usd(0.002_05)));
}

#[tokio::test]
async fn a_truncated_answer_is_used_if_it_matches_the_schema() {
    let half = "{\"goal\": \"a\", \"end\": \"done\", \"mo";
    let content = |text: &str| json!([{"type": "text", "text": text}]);
    let (whole, _server) = world(vec![ok(&message(&content(half), "max_tokens"))]);
    let reply = whole.client().complete(&json_request("x")).await.unwrap();
    assert_eq!(reply.json, Some(json!({"goal": "a", "end": "done"})));
    for (request, text) in
        [(json_request("x"), "{\"goal\": \"a\", \"e"), (text_request("x"), "It w")]
    {
        let (world, server) = world(vec![ok(&message(&content(text), "max_tokens"))]);
        let error = world.client().complete(&request).await.unwrap_err();
        assert_eq!((&error, error.retry()), (&Error::CutOff { limit: 300 }, Retry::Smaller));
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_missing_key_is_reported_and_the_default_key_is_sent_only_to_anthropic() {
    for (base_url, variable) in
        [(None, "OTHER"), (Some("http://127.0.0.1:9/"), "ANTHROPIC_API_KEY")]
    {
        let mut world = ClientFixture::new(ProviderKind::Anthropic);
        world.config.base_url = base_url.map(str::to_owned);
        world.environment = vec![(variable.to_owned(), KEY.to_owned())];
        let error = world.client().complete(&text_request("x")).await.unwrap_err();
        assert_eq!(error.kind(), "misconfigured");
        assert!(error.to_string().contains("ANTHROPIC_API_KEY"), "{error}");
    }
}

#[tokio::test]
async fn the_base_url_may_contain_the_path_of_the_endpoint() {
    for end in ["", "/", "/v1", "/v1/", "/v1/messages"] {
        let server = Server::new(check, vec![ok(&text_message("A summary."))]);
        let world = ClientFixture::at(ProviderKind::Anthropic, &format!("{}{end}", server.address));
        assert!(world.client().complete(&text_request("x")).await.is_ok(), "{end}");
    }
    let error = ClientFixture::at(ProviderKind::Anthropic, "no address")
        .client()
        .complete(&text_request("x"))
        .await;
    assert_eq!(error.unwrap_err().kind(), "misconfigured");
}
