use serde_json::json;

use super::*;
use crate::{
    model::{
        Message, SessionKey,
        episode::{Author, ExternalContent},
    },
    store::{
        Cleaner, NoteNamespace, Store, TextStore, Write, contract, notes::name_of, sled::SledStore,
    },
};

fn secret(n: u32) -> String {
    format!("ghp{}{n}", "_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw1")
}

const PIECE: &str = "Zx9Vb4NmkJ8s2Lq0";

/// Checks that the fields of `record` are redacted the first time, and unchanged the second time.
fn check<R: std::fmt::Debug + Clone>(
    record: &mut R,
    redact: fn(&mut StoredRedactor, &mut R) -> bool,
) {
    let mut again = StoredRedactor::default();
    assert!(redact(&mut again, record));
    assert!(!format!("{record:?}").contains(PIECE), "{record:?}");
    assert_eq!(again.report.changed.values().sum::<u64>(), 1, "{:?}", again.report);
    let mut again = StoredRedactor::default();
    assert!(!redact(&mut again, record), "{record:?}");
    assert_eq!(again.report, RedactionReport::default());
}

#[test]
fn data_that_cannot_be_read_after_redaction_are_unreadable_and_unchanged() {
    /// A text that must be a token.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    struct TokenText(String);

    impl TryFrom<String> for TokenText {
        type Error = &'static str;

        fn try_from(text: String) -> Result<TokenText, &'static str> {
            if text.starts_with("ghp") { Ok(TokenText(text)) } else { Err("not a token") }
        }
    }

    impl From<TokenText> for String {
        fn from(TokenText(text): TokenText) -> String {
            text
        }
    }

    let mut stored = TokenText(secret(1));
    let mut again = StoredRedactor::default();
    assert!(!again.part(&mut stored));
    assert_eq!(stored, TokenText(secret(1)));
    assert_eq!(again.report, RedactionReport { unreadable: 1, ..RedactionReport::default() });
}

#[test]
fn every_text_of_a_record_is_redacted() {
    let reason = || CloseReason::Explicit(Some(format!("left with {}", secret(1))));
    let mut session = contract::session(SessionKey(1), &secret(1));
    session.project = Some(Project::new(&format!("/home/ada/{}", secret(2))));
    session.state = State::Failed(Failure {
        error: format!("cannot read {}", secret(3)),
        attempts: 1,
        retry_at: None,
        reason: reason(),
    });
    let mut episode = contract::episode(&session, 7);
    session.file = "/t/a.jsonl".to_owned();
    let mut source = contract::source_of(&session, 1);
    source.path = "/t/a.jsonl".to_owned();
    source.sub_agent = Some(secret(4));
    source.tally.skipped.insert(secret(5), 3);
    check(&mut session, Cleaner::session);
    check(&mut source, Cleaner::source);
    assert!(source.tally.skipped.values().any(|count| *count == 3));

    episode.name = secret(1);
    episode.summary.objective = secret(1);
    episode.summary.files_modified = Some(vec![secret(1), secret(2)]);
    episode.author = Author::Model(secret(1));
    episode.reason = CloseReason::Hook(secret(1));
    episode.branches = vec![secret(1)];
    let with_secret = || format!("a text with {}", secret(1));
    episode.external = Some(ExternalContent {
        text: with_secret(),
        source: with_secret(),
        description: with_secret(),
        from: Some(with_secret()),
    });
    check(&mut episode, Cleaner::episode);

    let mut message = contract::message(2, 0);
    message.text = format!("token {} and {}", secret(1), secret(2));
    message.tool = Some(format!("mcp__{}", secret(1)));
    message.files = vec![secret(1)];
    message.branch = Some(secret(1));
    check(&mut message, Cleaner::message);

    let statements = contract::statements(5);
    let (mut mention, mut claim) = (statements.mentions[0].clone(), statements.claims[0].clone());
    mention.name = secret(1);
    claim.sentence = secret(1);
    claim.details = vec![(secret(1), secret(2)), ("DB_PASSWORD".to_owned(), "swordfish".into())];
    check(&mut mention, Cleaner::mention);
    check(&mut claim, Cleaner::claim);
    assert_eq!(claim.details[1].1, "[REDACTED:password]");
}

#[test]
fn texts_in_notes_are_redacted() {
    let id = SessionId { agent: "claude".to_owned(), id: secret(1) };
    for (namespace, content) in [
        (NoteNamespace::Awaiting, json!({ "version": 1, "error": secret(1) })),
        (NoteNamespace::Learned, json!({ "learned": { "pattern": { secret(1): [secret(2)] } } })),
        (NoteNamespace::Summaries, json!({ "summary": secret(1) })),
        (NoteNamespace::Forgotten, json!({ "agent": "claude", "id": secret(1), "at": 7 })),
        (NoteNamespace::Forks, json!({ "of": ["claude", secret(1)], "records": 3 })),
    ] {
        let (name, content) = (name_of(&id), Some(content.to_string().into_bytes()));
        let mut note = Note { namespace, name: name.clone(), content };
        let mut again = StoredRedactor::default();
        assert!(again.note(&mut note), "{namespace:?}");
        let text = String::from_utf8(note.content.clone().unwrap()).unwrap();
        assert!(!text.contains(PIECE), "{namespace:?}: {text}");
        assert_eq!(note.name != name, namespace == NoteNamespace::Forgotten);
        assert!(!again.note(&mut note), "{namespace:?}: {text}");
    }
}

#[test]
fn a_value_is_redacted_because_of_the_name_of_its_setting() {
    let mut changes = json!([
        { "setting": "DB_PASSWORD", "old_value": null, "new_value": "swordfish" },
        { "setting": "PORT", "old_value": "80", "new_value": "8080" },
    ]);
    assert!(StoredRedactor::default().value(&mut changes));
    assert_eq!(changes[0]["new_value"], "[REDACTED:password]");
    assert_eq!(changes[1]["new_value"], "8080");
}

#[test]
fn only_new_redactions_are_counted() {
    let mut again = StoredRedactor::default();
    let mut text = format!("password=[REDACTED:password] and {}", secret(1));
    assert!(again.text(&mut text));
    assert_eq!(again.report.kinds, [("github-token".to_owned(), 1)].into());
}

/// Returns a long message that is not a secret, and does not compress well.
fn harmless(seq: u32) -> Message {
    let numbers = (0..600u32).map(|n| (n ^ seq).wrapping_mul(2_654_435_761) % 1_000_000);
    let words: Vec<String> = numbers.map(|number| number.to_string()).collect();
    Message { text: words.join(" "), ..contract::message(seq, 0) }
}

#[test]
fn an_interrupted_redaction_of_a_store_continues_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let store = SledStore::open(&path).unwrap();
    let mut keys = Vec::new();
    for number in 0..4 {
        let key = store.next_session_key().unwrap();
        let mut session = contract::session(key, &format!("session-{number}"));
        let source = contract::source_of(&session, 0).key;
        let mut messages: Vec<Message> = (0..200).map(harmless).collect();
        messages[150].text = format!("use {}", secret(number));
        let session_write = Write::Session(Box::new(session.clone()));
        store.write(vec![session_write, Write::Messages { source, messages }]).wait().unwrap();
        let episode = contract::episode(&session, i64::from(number) + 1);
        contract::index_with_statements(&store, &mut session, &episode, contract::statements(1));
        keys.push(source);
    }
    let (before, end) = (store.quota().content_bytes().unwrap(), store.outbox_end());
    store.close();
    let (mut position, mut report, mut steps) = (Vec::new(), RedactionReport::default(), 0);
    loop {
        // Each step opens the store again, as a separate process would.
        let store = SledStore::open(&path).unwrap();
        let mut again = StoredRedactor::resumed(report);
        let step = store.clean(&mut again, &position).unwrap();
        assert_eq!(step.unreadable, 0);
        (report, steps) = (again.report, steps + 1);
        store.close();
        match step.next {
            Some(next) => position = next,
            None => break,
        }
    }
    assert!(steps > 1, "{steps} steps");
    assert_eq!(report.changed, [("messages".to_owned(), 4)].into());
    assert_eq!(report.kinds, [("github-token".to_owned(), 4)].into());
    let store = SledStore::open(&path).unwrap();
    assert_eq!(store.outbox_end(), end);
    assert!(store.quota().content_bytes().unwrap().abs_diff(before) < 4_096);
    for source in keys {
        let messages = store.messages(source, 0, usize::MAX).unwrap();
        assert_eq!(messages.len(), 200);
        assert_eq!(messages[150].text, "use [REDACTED:github-token]");
        assert_eq!(messages[149], harmless(149));
    }
    assert!(store.bytes_to_clean(&Vec::new()).is_ok());
    let mut again = StoredRedactor::default();
    let mut position = Vec::new();
    while let Some(next) = store.preview_cleaning(&mut again, &position).unwrap().next {
        position = next;
    }
    assert_eq!(again.report, RedactionReport::default());
}
