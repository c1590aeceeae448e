//! Tests that the data of other machines are read within a time limit, and that the answers name
//! the authors.

use super::*;
use crate::engine::sharing::team::TeamAnswer;

/// Returns two answers of an engine. The first answer contains an episode of this machine and a
/// colleague's episode, both without content. The second answer contains the colleague's episode,
/// whose content contains a secret.
fn rows_of_two(own: &str) -> (serde_json::Value, serde_json::Value) {
    let key = format!("ghp{}", "_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw1x");
    let row = |id: &str, content: Option<String>| {
        let mut row = serde_json::json!({
            "uuid": id, "name": "Fix the pool", "valid_at": "2026-03-01T10:00:00.000000+00:00",
            "description": "codex session s-9, by Bob on desk",
        });
        if let Some(content) = content {
            row["content"] = content.into();
        }
        row
    };
    let theirs = "0190aaaa-0000-7000-8000-000000000001";
    let content = format!("---\ngraphiti_session_metadata:\n---\n\n# Pool\nthe token is {key}");
    let found = serde_json::json!([row(own, None), row(theirs, None)]);
    (found, serde_json::json!([row(theirs, Some(content))]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_colleague_s_episode_is_found_marked_and_redacted() {
    for engine in [FakeEngine::falkordb(), FakeEngine::neo4j()] {
        let machine = SharingMachine::new();
        let own = machine.episode(&machine.close(1).await).id.to_string();
        let running = machine.start(&engine.url);
        running.sharing.wait_until_settled().await;
        let (found, contents) = rows_of_two(&own);
        engine.answer("fulltext.queryNodes", found.clone());
        engine.answer("AS content", contents);
        engine.answer("is_own, e.valid_at", found);
        let groups = running.sharing.team_groups(None);
        assert_eq!(groups[0].group, running.group());
        let query = running.sharing.clone().team_episodes(groups.clone(), "why pool".into(), 9);
        let answer = query.await;
        assert_eq!(answer.problem, None);
        assert_eq!(answer.rows.len(), 1, "this machine's own episode is left out");
        let episode = &answer.rows[0];
        assert_eq!((&*episode.author.name, &*episode.author.machine), ("Bob", "desk"));
        assert_eq!((&*episode.agent, &*episode.session_id), ("codex", "s-9"));
        assert!(episode.content.starts_with("# Pool"), "{}", episode.content);
        assert!(episode.content.contains("REDACTED"), "{}", episode.content);
        // The handoff has no time to query the engine, so it gets only cached answers.
        assert_eq!(running.sharing.team_latest_known(&groups, 3), []);
        let latest = running.sharing.clone().team_latest(groups.clone(), 3).await;
        assert_eq!(running.sharing.team_latest_known(&groups, 3), latest.rows);
        assert_eq!(latest.rows.len(), 1);
        assert_eq!(running.sharing.team_latest_known(&groups, 0), [], "the limit applies");
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_colleague_s_fact_is_found_among_many_facts_of_this_machine() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let own = machine.episode(&machine.close(1).await).id.to_string();
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let fact = |id: String, episode: &str| {
        serde_json::json!({
            "uuid": id, "name": "SET_TO", "fact": "pool_size is 20", "episodes": [episode],
        })
    };
    let theirs = "0190aaaa-0000-7000-8000-000000000001";
    let many: Vec<_> = (0..400).map(|at| fact(format!("f{at}"), &own)).collect();
    engine.answer("ORDER BY is_own", serde_json::json!([fact("t".into(), theirs)]));
    engine.answer("queryRelationships", serde_json::Value::Array(many));
    let groups = running.sharing.team_groups(None);
    let answer = running.sharing.clone().team_facts(groups.clone(), "pool_size".into()).await;
    assert_eq!(answer.rows.iter().map(|row| &*row.fact.id).collect::<Vec<_>>(), ["t"]);
    running.sharing.clone().team_episodes(groups, "pool_size".into(), 9).await;
    let queries = engine.queries();
    let episodes = queries.iter().find(|(_, query)| query.contains("queryNodes"));
    let (_, episodes) = episodes.expect("episodes are queried");
    assert!(episodes.contains("ORDER BY is_own") && episodes.contains(" on "), "{episodes}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_colleague_s_fact_is_found_with_its_author() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let own = machine.episode(&machine.close(1).await).id.to_string();
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let fact = |id: &str, episode: &str| {
        serde_json::json!({
            "uuid": id, "name": "SET_TO", "fact": "pool_size is 20", "episodes": [episode],
            "source": "a", "source_name": "pool_size", "target": "b", "target_name": "config",
            "valid_at": "2026-03-01T10:00:00.000000+00:00", "invalid_at": null,
        })
    };
    let (_, contents) = rows_of_two(&own);
    let theirs = contents[0]["uuid"].as_str().unwrap().to_owned();
    engine.answer("queryRelationships", serde_json::json!([fact("f1", &own), fact("f2", &theirs)]));
    engine.answer("UNWIND $ids", contents);
    let groups = running.sharing.team_groups(None);
    let answer = running.sharing.clone().team_facts(groups, "pool_size".into()).await;
    assert_eq!(answer.problem, None);
    let [fact] = answer.rows.as_slice() else { panic!("{answer:?}") };
    assert_eq!((&*fact.fact.id, &*fact.author.name, &*fact.session_id), ("f2", "Bob", "s-9"));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_texts_of_a_colleague_s_fact_are_redacted_before_they_are_cut() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let own = machine.episode(&machine.close(1).await).id.to_string();
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let key = format!("ghp{}", "_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw1x");
    let (_, contents) = rows_of_two(&own);
    let sentence = format!("{} {key}", "word ".repeat(398));
    assert!(sentence.len() > 2_000 && sentence.find(&key).unwrap() < 2_000);
    let fact = serde_json::json!({
        "uuid": format!("f {key}"), "name": format!("USES {key}"), "fact": sentence,
        "episodes": [contents[0]["uuid"], format!("e {key}")],
        "source": format!("s {key}"), "source_name": "pool_size",
        "target": format!("t {key}"), "target_name": "config",
        "valid_at": "2026-03-01T10:00:00.000000+00:00", "invalid_at": null,
    });
    engine.answer("queryRelationships", serde_json::json!([fact]));
    engine.answer("UNWIND $ids", contents);
    let groups = running.sharing.team_groups(None);
    let answer = running.sharing.clone().team_facts(groups, "pool_size".into()).await;
    let [found] = answer.rows.as_slice() else { panic!("{answer:?}") };
    assert_eq!(&*found.author.name, "Bob");
    let shown = format!("{found:?}");
    assert!(!shown.contains("kJ8s") && shown.contains("REDACTED"), "{shown}");
    running.stop().await;
}

#[tokio::test]
async fn the_message_of_a_panic_is_not_part_of_an_answer() {
    let machine = SharingMachine::new();
    let mut queries = tokio::task::JoinSet::new();
    queries.spawn(async { panic!("a line of a transcript") });
    let sharing = machine.sharing("redis://127.0.0.1:1");
    let answer: TeamAnswer<String> = sharing.collect(Ok(queries)).await;
    let problem = answer.problem.unwrap();
    assert!(!problem.contains("transcript") && problem.contains("a defect"), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_answer_is_reported() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    machine.close(1).await;
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let groups = running.sharing.team_groups(None);
    for (trouble, wanted) in [
        (Behaviour::Stall, "did not answer within 200ms"),
        (Behaviour::HangUp, "does not answer"),
        (Behaviour::Fail("NOPERM no permissions to run GRAPH.RO_QUERY"), "rejects the login"),
    ] {
        engine.set(trouble);
        let query = running.sharing.clone().team_episodes(groups.clone(), "pool".into(), 9);
        let answer = query.await;
        let problem = answer.problem.unwrap_or_default();
        assert!(answer.rows.is_empty() && problem.contains(wanted), "{problem}");
    }
    engine.set(Behaviour::Work);
    let query = running.sharing.clone().team_episodes(groups.clone(), "--".into(), 9);
    assert!(query.await.problem.unwrap().contains("has no words"));
    let query = running.sharing.clone().team_episodes(Vec::new(), "pool".into(), 9);
    assert!(query.await.problem.unwrap().contains("not shared"));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_reports_the_problems_of_the_engine() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    machine.close(1).await;
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let limit = Duration::from_millis(500);
    let check = running.sharing.check(limit).await;
    assert!(check.findings[0].is_good && check.version == "Redis 8.2", "{check:?}");
    engine.answer("db.indexes", serde_json::json!([{ "entity": "Entity", "kinds": "{}" }]));
    let check = running.sharing.check(limit).await;
    let [missing] = check.findings.as_slice() else { panic!("{check:?}") };
    assert!(missing.what.contains("lacks the full-text index for Entity, Episodic"), "{missing:?}");
    engine.set(Behaviour::HangUp);
    let check = running.sharing.check(limit).await;
    assert!(!check.findings[0].is_good && check.findings[0].remedy.contains("share.url"));
    running.stop().await;
}
