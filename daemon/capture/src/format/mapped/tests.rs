//! Invented records of invented agents.

use serde_json::json;

use super::*;
use crate::format::tests::{items, verdict};

/// Returns the mapping of an agent `mine` with messages in `/message`.
pub(crate) fn mapping(paths: &[&str]) -> FormatMapping {
    let pointer = |text: &str| Pointer::parse(text).unwrap();
    FormatMapping {
        name: "mine".to_owned(),
        paths: paths.iter().map(|path| PathPattern::new(Path::new(path))).collect(),
        role: pointer("/message/from"),
        text: pointer("/message/body"),
        time: Some(pointer("/at")),
        session: Some(pointer("/conversation")),
        cwd: Some(pointer("/dir")),
        id: Some(pointer("/id")),
        model: Some(pointer("/message/model")),
        branch: Some(pointer("/git/branch")),
        version: Some(pointer("/version")),
        roles: RoleNames::default(),
    }
}

fn format() -> MappedFormat {
    MappedFormat::new(mapping(&["/h/mine"]))
}

#[test]
fn messages_and_surroundings_are_read() {
    let records = [
        json!({"conversation": "s", "dir": "/p", "git": {"branch": "main"}, "version": "2",
            "message": {"from": "human", "body": "hi"}}),
        json!({"conversation": "s", "dir": "/p", "message": {"from": "ai", "model": "m",
            "body": [{"type": "text", "text": "a"}, "b", {"type": "image", "data": "x"}, ["c"]]}}),
        json!({"conversation": "s", "dir": "/q", "message": {"from": "tool", "body": "out"}}),
    ];
    let expected = ["context: /p main 2", "prompt: hi", "context: m", "reply: a\nb", "context: /q"];
    assert_eq!(items(&format(), &records), expected);
}

#[test]
fn other_records_are_counted_by_their_role() {
    for (message, expected) in [
        (json!({"from": "tool", "body": "x"}), "tool"),
        (json!({"from": "user", "body": "  "}), "user without text"),
        (json!({"from": "ai", "body": 7}), "ai without text"),
        (json!({"from": null, "body": "x"}), "no role"),
        (json!({"from": {"a": 1}}), "no role"),
        (json!("text"), "no role"),
    ] {
        let record = json!({"message": message});
        assert_eq!(verdict(&format(), &record), RecordVerdict::Skipped(expected.to_owned()));
    }
}

#[test]
fn a_file_belongs_to_the_session_of_its_first_record() {
    let of = |session: &str| json!({"conversation": session, "message": {"from": "user", "body": session}});
    assert_eq!(items(&format(), &[of("s"), of("t"), of("s")]), ["prompt: s", "prompt: s"]);
    let path = Path::new("/h/mine/x.jsonl");
    let head = format!("{}\n{}\n", json!({"a": 1}), of("s"));
    assert_eq!(format().identify(path, &head).unwrap().session, "s");
    let numbered = json!({"conversation": 7, "dir": "/p"}).to_string();
    let identity = format().identify(path, &numbered).unwrap();
    assert_eq!((identity.session.as_str(), identity.directory.as_deref()), ("7", Some("/p")));
    for nothing in ["", "{}", "[]", r#"{"conversation":""}"#, r#"{"conversation":"a\u0007"}"#] {
        assert_eq!(format().identify(path, nothing), None, "{nothing}");
    }
}

#[test]
fn without_session_ids_each_file_is_a_session() {
    let mapping = FormatMapping { session: None, ..mapping(&["/h/mine"]) };
    let format = MappedFormat::new(mapping);
    let path = Path::new("/h/mine/a/work.jsonl");
    let head = json!({"message": {"from": "user"}}).to_string();
    assert_eq!(format.identify(path, &head).unwrap().session, "a/work");
    let same_name = Path::new("/h/mine/b/work.jsonl");
    assert_eq!(format.identify(same_name, &head).unwrap().session, "b/work");
    let flat = Path::new("/h/mine/work.jsonl");
    assert_eq!(format.identify(flat, &head).unwrap().session, "work");
    assert_eq!(format.identify(path, r#"{"other":1}"#), None);
}

#[test]
fn times_are_texts_or_numbers() {
    let at = |time: serde_json::Value| time_of(&time.to_string());
    let expected = Timestamp::parse("2026-01-02T03:04:05Z");
    assert!(expected.is_some());
    for time in [
        json!("2026-01-02T03:04:05Z"),
        json!("2026-01-02T04:04:05+01:00"),
        json!(1_767_323_045),
        json!(1_767_323_045.0),
        json!("1767323045"),
        json!(1_767_323_045_000_u64),
        json!("1767323045000"),
    ] {
        assert_eq!(at(time.clone()), expected, "{time}");
    }
    for time in [json!("yesterday"), json!(true), json!(1e30), json!("NaN"), json!({})] {
        assert_eq!(at(time.clone()), None, "{time}");
    }
}
