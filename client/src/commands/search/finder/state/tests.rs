use graphiti_proto::tools::{SessionRow, get_session::GetSessionAnswer};

use super::*;

fn answer(ids: &[&str]) -> SearchSessionsAnswer {
    let hit = |id: &&str| Hit {
        session: SessionRow {
            session_id: (*id).to_owned(),
            agent: "claude".to_owned(),
            ..SessionRow::default()
        },
        ..Hit::default()
    };
    SearchSessionsAnswer { hits: ids.iter().map(hit).collect(), ..SearchSessionsAnswer::default() }
}

fn key(code: KeyCode) -> FinderEvent {
    FinderEvent::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn control(c: char) -> FinderEvent {
    FinderEvent::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))
}

fn answered(query: &str, ids: &[&str]) -> FinderEvent {
    FinderEvent::Searched { query: query.to_owned(), answer: Box::new(Ok(answer(ids))) }
}

fn search(query: &str) -> Option<FinderEffect> {
    Some(FinderEffect::Search(query.to_owned()))
}

fn opened(session_id: &str) -> FinderEvent {
    let markdown = Some("the summary".to_owned());
    let answer = GetSessionAnswer { markdown, ..GetSessionAnswer::default() };
    let session = OpenedSession { answer, blocks: Vec::new() };
    FinderEvent::Opened { session_id: session_id.to_owned(), session: Box::new(Ok(session)) }
}

/// A list of three sessions for the query `p`.
fn listed() -> Finder {
    let mut finder = Finder::default();
    finder.start();
    finder.handle(answered("", &[]));
    finder.handle(key(KeyCode::Char('p')));
    assert_eq!(finder.handle(answered("p", &["a", "b", "c"])), None);
    finder
}

fn selected(finder: &Finder) -> &str {
    &finder.hit().unwrap().session.session_id
}

#[test]
fn keys_during_a_search_cause_one_search_after_its_answer() {
    let mut finder = Finder::default();
    assert_eq!(Some(finder.start()), search(""));
    for c in "pool".chars() {
        assert_eq!(finder.handle(key(KeyCode::Char(c))), None);
    }
    assert_eq!(finder.handle(answered("", &["a"])), search("pool"));
    assert!(finder.is_searching());
    assert_eq!(finder.handle(answered("pool", &["b"])), None);
    assert!(!finder.is_searching());
    assert_eq!(selected(&finder), "b");
}

#[test]
fn a_removed_word_ends_at_any_white_space() {
    for (query, kept) in [
        ("a\u{3000}b", "a\u{3000}"),
        ("接続\u{3000}プール \u{a0}", "接続\u{3000}"),
        ("pool size", "pool "),
        ("size", ""),
        (" ", ""),
        ("", ""),
    ] {
        let mut query = query.to_owned();
        remove_word(&mut query);
        assert_eq!(query, kept);
    }
}

#[test]
fn a_query_is_edited_by_letters_words_and_pastes() {
    let mut finder = listed();
    for (event, query) in [
        (key(KeyCode::Char('q')), "pq"),
        (FinderEvent::Pasted("a\nb \u{1b}c".to_owned()), "pqa b c"),
        (key(KeyCode::Backspace), "pqa b "),
        (control('w'), "pqa "),
        (control('u'), ""),
        (key(KeyCode::Char('日')), "日"),
        (key(KeyCode::Char('\u{7}')), "日"),
    ] {
        finder.handle(event);
        assert_eq!(finder.query, query);
    }
}

#[test]
fn a_selected_session_stays_selected_while_it_is_found() {
    let mut finder = listed();
    finder.handle(key(KeyCode::Down));
    finder.handle(control('n'));
    finder.handle(control('n'));
    finder.handle(key(KeyCode::Up));
    assert_eq!(selected(&finder), "b");
    finder.handle(key(KeyCode::Char('o')));
    finder.handle(answered("po", &["c", "a", "b"]));
    assert_eq!(selected(&finder), "b");
    finder.handle(key(KeyCode::Char('o')));
    finder.handle(answered("poo", &["c", "a"]));
    assert_eq!(selected(&finder), "c");
}

#[test]
fn enter_shows_a_session_and_letters_then_act_on_the_session() {
    let mut finder = listed();
    let Some(FinderEffect::Open(hit)) = finder.handle(key(KeyCode::Enter)) else { panic!() };
    assert_eq!(hit.session.session_id, "a");
    finder.handle(opened("a"));
    assert!(finder.shown.is_some());
    finder.handle(key(KeyCode::Char('j')));
    assert_eq!(finder.shown.as_ref().unwrap().top, 1);
    let copy = |text: &str| Some(FinderEffect::Copy(text.to_owned()));
    assert_eq!(finder.handle(key(KeyCode::Char('y'))), copy("the summary"));
    assert_eq!(finder.handle(key(KeyCode::Char('i'))), copy("a"));
    let Some(FinderEffect::Resume(session)) = finder.handle(key(KeyCode::Char('r'))) else {
        panic!()
    };
    assert_eq!(session.session_id, "a");
    assert_eq!(finder.handle(key(KeyCode::Esc)), None);
    assert!(finder.shown.is_none());
    assert_eq!(finder.query, "p");
    assert_eq!(finder.handle(key(KeyCode::Esc)), Some(FinderEffect::Leave));
}

#[test]
fn a_key_during_a_search_acts_on_its_result_unless_another_key_follows() {
    let mut finder = listed();
    assert_eq!(finder.handle(key(KeyCode::Char('o'))), search("po"));
    assert_eq!(finder.handle(key(KeyCode::Char('o'))), None);
    assert_eq!(finder.handle(key(KeyCode::Enter)), None);
    assert_eq!(finder.handle(answered("po", &["b", "c"])), search("poo"));
    let Some(FinderEffect::Open(hit)) = finder.handle(answered("poo", &["c"])) else { panic!() };
    assert_eq!(hit.session.session_id, "c");
    finder.handle(key(KeyCode::Char('l')));
    assert_eq!(finder.handle(control('r')), None);
    finder.handle(key(KeyCode::Char('s')));
    assert_eq!(finder.handle(answered("pool", &["c"])), search("pools"));
    assert_eq!(finder.handle(answered("pools", &["c"])), None);
}

#[test]
fn enter_resumes_a_session_if_that_is_the_purpose() {
    let mut finder =
        Finder { query: "p".to_owned(), purpose: FinderPurpose::Resume, ..Finder::default() };
    assert_eq!(Some(finder.start()), search("p"));
    finder.handle(answered("p", &["a", "b"]));
    finder.handle(key(KeyCode::Down));
    let Some(FinderEffect::Resume(session)) = finder.handle(key(KeyCode::Enter)) else { panic!() };
    assert_eq!(session.session_id, "b");
    assert!(matches!(finder.handle(control('o')), Some(FinderEffect::Open(_))));
    finder.answer.hits[1].session.agent = "unknown".to_owned();
    assert_eq!(finder.handle(key(KeyCode::Enter)), None);
    assert!(finder.notice.is_some_and(|notice| notice.contains("unknown")));
}

#[test]
fn a_late_session_is_not_shown_after_another_selection() {
    let mut finder = listed();
    finder.handle(key(KeyCode::Enter));
    finder.handle(key(KeyCode::Down));
    finder.handle(opened("a"));
    assert!(finder.shown.is_none());
}

#[test]
fn a_failed_search_is_reported_and_the_next_key_searches_again() {
    let mut finder = listed();
    finder.handle(key(KeyCode::Char('o')));
    let failed = Err("graphitid is not running".to_owned());
    finder.handle(FinderEvent::Searched { query: "po".to_owned(), answer: Box::new(failed) });
    assert_eq!(finder.problem.as_deref(), Some("graphitid is not running"));
    assert!(finder.hit().is_none());
    assert_eq!(finder.handle(key(KeyCode::Enter)), None);
    assert_eq!(finder.handle(control('r')), None);
    assert_eq!(finder.handle(key(KeyCode::Char('o'))), search("poo"));
    finder.handle(answered("poo", &["a"]));
    assert_eq!(finder.problem, None);
}

#[test]
fn control_keys_work_beside_the_list() {
    let mut finder = listed();
    assert_eq!(finder.handle(control('y')), Some(FinderEffect::Copy("a".to_owned())));
    assert_eq!(finder.notice.as_deref(), Some("Copied a"));
    assert!(matches!(finder.handle(control('r')), Some(FinderEffect::Resume(_))));
    assert_eq!(finder.notice, None);
    assert_eq!(finder.handle(control('c')), Some(FinderEffect::Leave));
}
