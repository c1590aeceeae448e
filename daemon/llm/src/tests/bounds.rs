//! Tests of outages, time limits, budgets and concurrency.

use std::time::Duration;

use serde_json::json;

use crate::{
    config::{Budget, ProviderKind},
    error::{Error, Retry},
    ports::{Avoided, RequestOutcome},
    price::Money,
    request::Purpose,
    tests::{
        anthropic::{check, text_message},
        server::{Play, Server, ok, status},
        world::{ClientFixture, text_request},
    },
};

fn world(script: Vec<Play>) -> (ClientFixture, Server) {
    let server = Server::new(check, script);
    let world = ClientFixture::at(ProviderKind::Anthropic, &server.address);
    world.expire_limit_on(server.silence());
    (world, server)
}

fn overloaded(code: u16, headers: &'static str) -> Play {
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    status(code, headers, &error)
}

#[tokio::test]
async fn temporary_failures_are_retried() {
    for (failure, pause) in [
        (overloaded(429, "retry-after: 7\r\n"), 7.7),
        (overloaded(429, ""), 1.0),
        (overloaded(500, ""), 1.0),
        (overloaded(529, "retry-after: 20\r\n"), 22.0),
        (overloaded(504, "retry-after: 7\r\n"), 7.7),
        (Play::HangUp, 1.0),
        (Play::Silence, 1.0),
        (Play::Cut(text_message("A summ").to_string()), 1.0),
        (Play::Reply { status: 200, headers: "", body: "<html>".to_owned() }, 1.0),
    ] {
        let (world, server) = world(vec![failure, ok(&text_message("A summary."))]);
        let reply = world.client().complete(&text_request("x")).await.unwrap();
        assert_eq!(reply.text, "A summary.");
        assert_eq!(world.pauses(), [pause]);
        assert_eq!(server.seen().len(), 2);
        assert_eq!(world.records()[0].calls, 2);
    }
}

#[tokio::test]
async fn a_request_fails_after_the_configured_number_of_retries() {
    for status in [408, 503, 522] {
        let (world, server) = world((0..4).map(|_| overloaded(status, "")).collect());
        let error = world.client().complete(&text_request("x")).await.unwrap_err();
        assert_eq!((error.kind(), error.retry()), ("unavailable", Retry::Later(None)));
        assert_eq!(world.pauses(), [1.0, 2.0, 4.0]);
        assert_eq!(server.seen().len(), 4);
        assert_eq!(world.records()[0].end, RequestOutcome::Failed("unavailable"));
        assert_eq!(world.records()[0].cost, Some(Money::ZERO));
    }
}

#[tokio::test]
async fn a_call_that_may_have_cost_something_is_retried_once() {
    for failure in [
        || Play::Silence,
        || Play::HangUp,
        || Play::Cut("{".to_owned()),
        || overloaded(504, ""),
        || overloaded(524, ""),
    ] {
        let (world, server) = world((0..3).map(|_| failure()).collect());
        let client = world.client();
        let error = client.complete(&text_request("x")).await.unwrap_err();
        assert_eq!(error.kind(), "unavailable");
        assert_eq!(server.seen().len(), 2, "{error}");
        assert!(client.ledger().total(world.ports().clock.now()).cost > Money::ZERO);
    }
}

#[tokio::test]
async fn a_server_gets_no_calls_during_a_long_requested_pause() {
    let (world, server) =
        world(vec![overloaded(429, "retry-after: 7200\r\n"), ok(&text_message("A summary."))]);
    let client = world.client();
    let hours = |seconds| Retry::Later(Some(Duration::from_secs(seconds)));
    let error = client.complete(&text_request("x")).await.unwrap_err();
    assert_eq!(error.retry(), hours(7_200));
    world.clock.advance(Duration::from_secs(200));
    assert_eq!(client.complete(&text_request("x")).await.unwrap_err().retry(), hours(7_000));
    assert_eq!(client.outage().map(|error| error.retry()), Some(hours(7_000)));
    assert_eq!(server.seen().len(), 1);
    world.clock.advance(Duration::from_secs(7_000));
    assert!(client.complete(&text_request("x")).await.is_ok());
    assert_eq!(client.outage(), None);
}

#[tokio::test]
async fn an_outage_stops_calls_until_a_probe_succeeds() {
    let script = (0..5).map(|_| overloaded(500, "")).chain([ok(&text_message("A summary."))]);
    let (world, server) = world(script.collect());
    let client = world.client();
    for _ in 0..5 {
        assert_eq!(client.complete(&text_request("x")).await.unwrap_err().kind(), "unavailable");
    }
    assert_eq!(server.seen().len(), 5);
    world.clock.advance(Duration::from_secs(30));
    assert!(client.complete(&text_request("x")).await.is_ok());
}

#[tokio::test]
async fn a_probe_that_the_budget_refuses_does_not_prolong_the_outage() {
    // A call whose reply is lost stays in the ledger.
    let (mut world, server) = world((0..5).map(|_| Play::HangUp).collect());
    world.config.daily_budget = Budget { calls: Some(5), usd: None };
    let client = world.client();
    while client.outage().is_none() {
        assert_eq!(client.complete(&text_request("x")).await.unwrap_err().kind(), "unavailable");
    }
    assert_eq!(server.seen().len(), 5);
    world.clock.advance(Duration::from_secs(30));
    let error = client.complete(&text_request("x")).await.unwrap_err();
    assert!(matches!(error, Error::BudgetSpent { .. }), "{error:?}");
    assert_eq!(client.outage(), None);
}

#[tokio::test]
async fn a_closed_port_is_an_outage() {
    let world = ClientFixture::at(ProviderKind::Anthropic, "http://127.0.0.1:9");
    let error = world.client().complete(&text_request("x")).await.unwrap_err();
    assert_eq!(error.kind(), "unavailable");
    assert!(!error.to_string().contains("127.0.0.1:9/v1"), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_an_outage() {
    let (mut world, server) = world(vec![]);
    world.config.base_url = Some(server.address.replace("http:", "https:"));
    let error = world.client().complete(&text_request("x")).await.unwrap_err();
    assert_eq!(error.kind(), "unavailable", "{error}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn the_daily_budget_survives_restarts_and_is_renewed_on_the_next_day() {
    let (mut world, server) = world((0..3).map(|_| ok(&text_message("A summary."))).collect());
    world.config.daily_budget = Budget { calls: Some(2), usd: None };
    for _ in 0..2 {
        world.client().complete(&text_request("x")).await.unwrap();
    }
    let client = world.client();
    let error = client.complete(&text_request("x")).await.unwrap_err();
    let Retry::At(until) = error.retry() else { panic!("{error}") };
    assert!(error.to_string().contains("2 calls"), "{error}");
    assert_eq!(server.seen().len(), 2);
    world.clock.advance(until.since(world.ports().clock.now()));
    assert!(client.complete(&text_request("x")).await.is_ok());
}

#[tokio::test]
async fn a_cost_limit_counts_the_maximum_cost_of_a_call() {
    let (mut world, server) =
        world(vec![ok(&text_message("A summary.")), ok(&text_message("A summary."))]);
    world.config.daily_budget = Budget { calls: None, usd: Some(0.004) };
    let client = world.client();
    assert!(client.complete(&text_request("x")).await.is_ok());
    let error = client.complete(&text_request("x")).await.unwrap_err();
    assert_eq!(error.kind(), "budget_spent");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_cost_limit_needs_a_known_price() {
    let (mut world, server) = world(vec![ok(&text_message("A summary."))]);
    world.config.daily_budget = Budget { calls: None, usd: Some(1.0) };
    world.config.model = Some("claude-unheard-of".to_owned());
    let error = world.client().complete(&text_request("x")).await.unwrap_err();
    assert!(error.to_string().contains("llm.price"), "{error}");
    assert!(server.seen().is_empty());
    world.config.price.input_per_mtok = Some(1.0);
    world.config.price.output_per_mtok = Some(2.0);
    assert!(world.client().complete(&text_request("x")).await.is_ok());
}

#[tokio::test]
async fn avoided_requests_are_counted() {
    let (world, _server) = world(vec![]);
    let client = world.client();
    client.record_avoided(Purpose::MessageSummary, Avoided::Cached, None);
    assert_eq!(world.records()[0].end, RequestOutcome::Avoided(Avoided::Cached));
    let now = world.ports().clock.now();
    assert_eq!(client.ledger().by_purpose(now)["message_summary"].avoided, 1);
}

#[tokio::test]
async fn the_number_of_concurrent_calls_is_limited() {
    let held = || Play::Held(200, text_message("A summary.").to_string());
    let (mut world, server) = world(vec![held(), held()]);
    world.config.concurrency = 1;
    let client = world.client();
    let request = text_request("x");
    let watch = async {
        server.wait_until_held().await;
        assert_eq!(server.seen().len(), 1);
        server.release();
        server.wait_until_held().await;
        server.release();
    };
    let (one, two, ()) = tokio::join!(client.complete(&request), client.complete(&request), watch);
    assert!(one.is_ok() && two.is_ok());
}

#[tokio::test]
async fn a_stop_cancels_running_requests() {
    let (world, server) = world(vec![Play::Held(200, String::new())]);
    let client = world.client();
    let request = text_request("x");
    let stop = async {
        server.wait_until_held().await;
        client.stop();
    };
    let (answer, ()) = tokio::join!(client.complete(&request), stop);
    let expected = Error::Unavailable {
        reason: "its settings are changing, or the daemon is stopping".to_owned(),
        retry_after: None,
    };
    assert_eq!(answer, Err(expected.clone()));
    assert_eq!(client.complete(&request).await, Err(expected));
    assert_eq!(server.seen().len(), 1);
    server.release();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_blocking_thread_can_send_a_request() {
    let (world, _server) = world(vec![ok(&text_message("A summary."))]);
    let client = world.client();
    let runtime = tokio::runtime::Handle::current();
    let request =
        tokio::task::spawn_blocking(move || client.complete_blocking(&runtime, &text_request("x")));
    assert_eq!(request.await.unwrap().unwrap().text, "A summary.");
}

#[tokio::test]
async fn without_a_provider_no_request_is_sent() {
    let world = ClientFixture::new(ProviderKind::None);
    let client = world.client();
    assert!(!client.is_on());
    assert_eq!(client.complete(&text_request("x")).await, Err(Error::Off));
    assert_eq!(client.ledger(), Default::default());
}
