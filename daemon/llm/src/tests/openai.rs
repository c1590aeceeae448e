//! Tests with servers that implement different parts of chat completions.

use serde_json::{Value, json};

use crate::{
    client::Client,
    config::ProviderKind,
    error::Retry,
    price::Money,
    tests::{
        server::{Play, ReceivedRequest, Server, ok, status},
        world::{ClientFixture, KEY, json_request, text_request},
    },
};

/// Checks whether a request follows the API's documentation, for the parts that the client uses.
fn check(seen: &ReceivedRequest) -> Result<(), String> {
    let is = |condition: bool, what: &str| if condition { Ok(()) } else { Err(what.to_owned()) };
    let header = |name: &str| seen.headers.get(name).map_or("", String::as_str);
    is(seen.path == "/v1/chat/completions", "path")?;
    is(header("authorization") == format!("Bearer {KEY}"), "authorization")?;
    is(header("content-type") == "application/json", "content-type")?;
    let body = seen.body.as_object().ok_or("body")?;
    let known = ["model", "messages", "max_tokens", "max_completion_tokens", "response_format"];
    is(body.keys().all(|key| known.contains(&key.as_str())), "unknown key")?;
    is(!(body.contains_key("max_tokens") && body.contains_key("max_completion_tokens")), "limits")?;
    let messages = body["messages"].as_array().ok_or("messages")?;
    let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    is(roles == ["system", "user"], "roles")?;
    is(messages.iter().all(|message| message["content"].is_string()), "content")?;
    match body.get("response_format").map(|format| (&format["type"], &format["json_schema"])) {
        None => Ok(()),
        Some((kind, _)) if kind == "json_object" => is(
            messages[1]["content"].as_str().is_some_and(|text| text.contains("JSON")),
            "JSON not mentioned",
        ),
        Some((kind, schema)) if kind == "json_schema" => {
            is(schema["name"].is_string() && schema["schema"].is_object(), "json_schema")?;
            let is_closed = schema["schema"]["additionalProperties"] == false;
            is(schema["strict"] == is_closed, "strict")
        }
        Some(_) => Err("response_format".to_owned()),
    }
}

fn completion(message: &Value, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4.1-mini-2025-04-14",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100,
            "prompt_tokens_details": {"cached_tokens": 200}},
    })
}

fn text_message(text: &str) -> Value {
    completion(&json!({"role": "assistant", "content": text, "refusal": null}), "stop")
}

fn failed(message: &str, code: &str) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": code}})
}

fn world(script: Vec<Play>) -> (ClientFixture, Client, Server) {
    let server = Server::new(check, script);
    let mut world = ClientFixture::at(ProviderKind::OpenAi, &server.address);
    world.config.model = Some("gpt-4.1-mini".to_owned());
    let client = world.client();
    (world, client, server)
}

const ANSWER: &str = r#"{"goal": "a", "end": "done"}"#;

#[tokio::test]
async fn text_is_requested_and_parsed() {
    let (_world, client, server) = world(vec![ok(&text_message("A summary."))]);
    let reply = client.complete(&text_request("the text")).await.unwrap();
    assert_eq!(reply.text, "A summary.");
    assert_eq!((reply.usage.input, reply.usage.output, reply.usage.cached), (1_000, 100, 200));
    assert_eq!(reply.cost, Some(Money::from_usd(0.000_5)));
    let body = server.only().body;
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("gpt-4.1-mini"), &json!(300)));
    assert!(body.get("response_format").is_none());
}

#[tokio::test]
async fn json_is_requested_with_a_schema_that_the_server_enforces() {
    let (_world, client, server) = world(vec![ok(&text_message(ANSWER))]);
    let reply = client.complete(&json_request("the text")).await.unwrap();
    assert_eq!(reply.json, Some(json!({"goal": "a", "end": "done"})));
    let format = &server.only().body["response_format"];
    assert_eq!(
        (&format["type"], &format["json_schema"]["strict"]),
        (&json!("json_schema"), &json!(true))
    );
}

#[tokio::test]
async fn rejected_parameters_are_left_out_from_then_on() {
    for (code, first, second) in [
        (
            400,
            "'response_format.type' must be 'json_object'",
            "'response_format.type' must be 'text'",
        ),
        (422, "json_schema is not supported by this model", "unknown field `response_format`"),
        (500, "failed to parse grammar", "json_object: not implemented"),
    ] {
        let (_world, client, server) = world(vec![
            status(code, "", &failed(first, "")),
            status(code, "", &json!({"error": second})),
            ok(&text_message(&format!("Here it is: {ANSWER}"))),
            ok(&text_message(ANSWER)),
        ]);
        for _ in 0..2 {
            let reply = client.complete(&json_request("the text")).await.unwrap();
            assert_eq!(reply.json, Some(json!({"goal": "a", "end": "done"})));
        }
        let seen = server.seen();
        let formats: Vec<&Value> =
            seen.iter().map(|seen| &seen.body["response_format"]["type"]).collect();
        assert_eq!(
            formats,
            [&json!("json_schema"), &json!("json_object"), &Value::Null, &Value::Null]
        );
        assert!(seen[3].prompt().contains("by this JSON schema"));
    }
}

#[tokio::test]
async fn the_length_is_limited_by_the_parameter_that_the_server_accepts() {
    let text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let (_world, client, server) = world(vec![
        status(
            400,
            "",
            &json!({"error": {"message": text, "param": "max_tokens", "code": "unsupported_parameter"}}),
        ),
        ok(&text_message("one")),
        ok(&text_message("two")),
    ]);
    client.complete(&text_request("x")).await.unwrap();
    client.complete(&text_request("x")).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    assert!(seen[1..].iter().all(|seen| seen.body["max_completion_tokens"] == 300));
}

#[tokio::test]
async fn errors_are_classified_by_who_acts_on_them() {
    for (code, body, expected) in [
        (
            401,
            failed(&format!("Incorrect API key provided: {KEY}"), "invalid_api_key"),
            "misconfigured",
        ),
        (404, failed("The model does not exist", "model_not_found"), "misconfigured"),
        (429, failed("You exceeded your current quota", "insufficient_quota"), "misconfigured"),
        (
            400,
            failed("This model's maximum context length is 8192 tokens", "context_length_exceeded"),
            "too_long",
        ),
        (
            400,
            json!({"error": {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error"}}),
            "too_long",
        ),
        (400, failed("flagged", "content_policy_violation"), "refused"),
        (402, failed("Insufficient credits", ""), "misconfigured"),
        (307, Value::Null, "misconfigured"),
        (200, json!({"error": {"code": 402, "message": "Insufficient credits"}}), "misconfigured"),
    ] {
        let (_world, client, server) = world(vec![status(code, "", &body)]);
        let error = client.complete(&text_request("x")).await.unwrap_err();
        assert_eq!(error.kind(), expected, "{error}");
        assert!(!error.to_string().contains(KEY), "{error}");
        assert_eq!(server.seen().len(), 1, "{error}");
    }
}

#[tokio::test]
async fn a_refusal_is_not_retried() {
    let message =
        json!({"role": "assistant", "content": null, "refusal": "I cannot help with that."});
    for body in [
        completion(&message, "stop"),
        completion(&json!({"role": "assistant", "content": ""}), "content_filter"),
    ] {
        let (_world, client, server) = world(vec![ok(&body)]);
        let error = client.complete(&json_request("x")).await.unwrap_err();
        assert_eq!((error.kind(), error.retry()), ("refused", Retry::Never));
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn reasoning_is_removed_and_parts_of_the_content_are_joined() {
    let parts = json!([{"type": "text", "text": "A "}, {"type": "text", "text": "summary."}]);
    let message = json!({"role": "assistant", "content": parts});
    let (_world, client, _server) = world(vec![
        ok(&text_message("<think>\nHm.\n</think>\n\nA summary.")),
        ok(&completion(&message, "stop")),
    ]);
    for _ in 0..2 {
        assert_eq!(client.complete(&text_request("x")).await.unwrap().text, "A summary.");
    }
}

#[tokio::test]
async fn the_cost_that_the_server_reports_is_used() {
    let mut body = text_message("A summary.");
    body["usage"]["cost"] = json!(0.25);
    let (world, client, _server) = world(vec![ok(&body)]);
    assert_eq!(
        client.complete(&text_request("x")).await.unwrap().cost,
        Some(Money::from_usd(0.25))
    );
    assert_eq!(world.records()[0].cost, Some(Money::from_usd(0.25)));
}

#[tokio::test]
async fn a_server_on_this_machine_needs_no_key_and_costs_nothing() {
    fn keyless(seen: &ReceivedRequest) -> Result<(), String> {
        if seen.headers.contains_key("authorization") { Err("a key".to_owned()) } else { Ok(()) }
    }
    let server = Server::new(keyless, vec![ok(&text_message("A summary."))]);
    let mut world = ClientFixture::new(ProviderKind::OpenAi);
    world.config.base_url = Some(format!("{}/v1/", server.address));
    let reply = world.client().complete(&text_request("x")).await.unwrap();
    assert_eq!(reply.cost, Some(Money::ZERO));
    assert!(server.only().body.get("model").is_none());
}

#[tokio::test]
async fn an_invalid_address_is_reported() {
    for base_url in ["localhost:11434", "ftp://host/v1", "http://"] {
        let world = ClientFixture::at(ProviderKind::OpenAi, base_url);
        let error = world.client().complete(&text_request("x")).await.unwrap_err();
        assert_eq!(error.kind(), "misconfigured", "{base_url}");
        assert!(error.to_string().contains("base_url"), "{error}");
    }
}
