//! The state of the interactive search. [`Finder::handle`] decides what each event changes, and
//! what the caller has to do.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use graphiti_proto::tools::{
    SessionRow,
    search_sessions::{Hit, SearchSessionsAnswer},
};

use crate::{commands::search::OpenedSession, screen::block, setup::resume};

/// Input from the terminal, or an answer of the daemon.
pub(super) enum FinderEvent {
    Key(KeyEvent),
    Pasted(String),
    /// The size of the terminal changed.
    Resized,
    /// The terminal is gone.
    Closed,
    /// The daemon answered a search.
    Searched {
        query: String,
        answer: Box<Result<SearchSessionsAnswer, String>>,
    },
    /// The daemon answered the request for a session.
    Opened {
        session_id: String,
        session: Box<Result<OpenedSession, String>>,
    },
}

/// What the caller of [`Finder::handle`] has to do.
#[derive(Debug, PartialEq)]
pub(super) enum FinderEffect {
    Search(String),
    Open(Box<Hit>),
    /// Put the text into the clipboard.
    Copy(String),
    Resume(Box<SessionRow>),
    Leave,
}

/// The purpose for which the user chooses a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::commands) enum FinderPurpose {
    /// Enter shows the session.
    #[default]
    Read,
    /// Enter resumes the session.
    Resume,
}

/// The query, the list of sessions that match it, and the session that is shown.
#[derive(Default)]
pub(super) struct Finder {
    pub(super) query: String,
    pub(super) purpose: FinderPurpose,
    pub(super) answer: SearchSessionsAnswer,
    /// Why the last search failed.
    pub(super) problem: Option<String>,
    pub(super) selected: usize,
    pub(super) shown: Option<ShownSession>,
    /// The result of the last key, for the user.
    pub(super) notice: Option<String>,
    /// Number of lines of a page; set when the page is drawn.
    pub(super) page: usize,
    /// The query that the daemon is searching for. The next query is sent after the answer.
    pub(super) searching: Option<String>,
    /// The session that was requested last. Selecting another session cancels the request.
    pub(super) opening: Option<String>,
    /// What to do with the selected session when the current query is answered.
    pub(super) awaited: Option<SelectionAction>,
}

/// What a key does with the selected session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SelectionAction {
    Open,
    Resume,
    CopyId,
}

/// A session on the whole screen.
pub(super) struct ShownSession {
    pub(super) hit: Hit,
    pub(super) session: OpenedSession,
    /// The first line on the screen.
    pub(super) top: usize,
}

impl Finder {
    /// Starts with the first query, or with the latest sessions if that query is empty.
    pub(super) fn start(&mut self) -> FinderEffect {
        self.searching = Some(self.query.clone());
        FinderEffect::Search(self.query.clone())
    }

    /// Whether a search is running.
    pub(super) fn is_searching(&self) -> bool {
        self.searching.is_some()
    }

    pub(super) fn handle(&mut self, event: FinderEvent) -> Option<FinderEffect> {
        match event {
            FinderEvent::Key(key) if key.kind == KeyEventKind::Release => None,
            FinderEvent::Key(key) => {
                self.notice = None;
                self.awaited = None;
                let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
                match (key.code, is_control) {
                    (KeyCode::Char('c'), true) => Some(FinderEffect::Leave),
                    (KeyCode::Char('r'), true) => self.act(SelectionAction::Resume),
                    (KeyCode::Char('y'), true) => self.act(SelectionAction::CopyId),
                    _ if self.shown.is_some() => self.handle_reading(key.code, is_control),
                    _ => self.handle_typing(key, is_control),
                }
            }
            FinderEvent::Pasted(text) => {
                self.shown = None;
                let words: Vec<&str> = text.split_whitespace().collect();
                self.edit(|query| query.push_str(&words.join(" ")))
            }
            FinderEvent::Resized => None,
            FinderEvent::Closed => Some(FinderEffect::Leave),
            FinderEvent::Searched { query, answer } => self.show_answer(&query, *answer),
            FinderEvent::Opened { session_id, session } => {
                self.show_session(&session_id, *session);
                None
            }
        }
    }

    /// Handles a key while the list is shown: letters change the query.
    fn handle_typing(&mut self, key: KeyEvent, is_control: bool) -> Option<FinderEffect> {
        match (key.code, is_control) {
            (KeyCode::Esc, _) => return Some(FinderEffect::Leave),
            (KeyCode::Enter, _) => {
                return self.act(match self.purpose {
                    FinderPurpose::Read => SelectionAction::Open,
                    FinderPurpose::Resume => SelectionAction::Resume,
                });
            }
            (KeyCode::Char('o'), true) => return self.act(SelectionAction::Open),
            (KeyCode::Up | KeyCode::BackTab, _) | (KeyCode::Char('p'), true) => self.select(-1),
            (KeyCode::Down | KeyCode::Tab, _) | (KeyCode::Char('n'), true) => self.select(1),
            (KeyCode::PageUp, _) => self.select(-5),
            (KeyCode::PageDown, _) => self.select(5),
            (KeyCode::Backspace, false) => return self.edit(remove_character),
            (KeyCode::Char('u'), true) => return self.edit(String::clear),
            (KeyCode::Char('w'), true) | (KeyCode::Backspace, true) => {
                return self.edit(remove_word);
            }
            (KeyCode::Char(c), false) if !key.modifiers.contains(KeyModifiers::ALT) => {
                return self.edit(|query| query.push(c));
            }
            _ => {}
        }
        None
    }

    /// Handles a key while a session is shown.
    fn handle_reading(&mut self, code: KeyCode, is_control: bool) -> Option<FinderEffect> {
        let page = self.page.max(1) as isize;
        match (code, is_control) {
            (KeyCode::Esc | KeyCode::Char('q') | KeyCode::Left | KeyCode::Backspace, false) => {
                self.shown = None;
            }
            (KeyCode::Up | KeyCode::Char('k'), false) | (KeyCode::Char('p'), true) => {
                self.scroll(-1);
            }
            (KeyCode::Down | KeyCode::Enter | KeyCode::Char('j'), false)
            | (KeyCode::Char('n'), true) => self.scroll(1),
            (KeyCode::PageUp | KeyCode::Char('b'), _) => self.scroll(-page),
            (KeyCode::PageDown | KeyCode::Char(' ' | 'f'), _) => self.scroll(page),
            (KeyCode::Home | KeyCode::Char('g'), false) => self.scroll(isize::MIN),
            (KeyCode::End | KeyCode::Char('G'), false) => self.scroll(isize::MAX),
            (KeyCode::Char('r'), false) => return self.resume(),
            (KeyCode::Char('y'), false) => return self.copy_text(),
            (KeyCode::Char('i'), false) => return self.copy_id(),
            _ => {}
        }
        None
    }

    /// Changes the query and searches for it, at once or after the answer to a running search.
    fn edit(&mut self, change: impl FnOnce(&mut String)) -> Option<FinderEffect> {
        let before = self.query.clone();
        change(&mut self.query);
        // The terminal would execute control characters, and a search ignores them.
        self.query.retain(|c| !c.is_control());
        match self.searching {
            None if self.query != before => self.search(),
            _ => None,
        }
    }

    fn search(&mut self) -> Option<FinderEffect> {
        self.searching = Some(self.query.clone());
        Some(FinderEffect::Search(self.query.clone()))
    }

    fn show_answer(
        &mut self,
        query: &str,
        answer: Result<SearchSessionsAnswer, String>,
    ) -> Option<FinderEffect> {
        self.searching = None;
        self.problem = None;
        match answer {
            Ok(answer) => {
                // The selected session stays selected while the user continues to type.
                let chosen = self.hit().filter(|_| self.selected > 0);
                let chosen = chosen.map(|hit| hit.session.session_id.clone());
                let again = |hit: &Hit| Some(&hit.session.session_id) == chosen.as_ref();
                self.selected = answer.hits.iter().position(again).unwrap_or(0);
                self.answer = answer;
            }
            Err(problem) => {
                self.answer = SearchSessionsAnswer::default();
                self.problem = Some(problem);
            }
        }
        if query != self.query {
            return self.search();
        }
        self.awaited.take().and_then(|action| self.act(action))
    }

    /// Acts on the session that is shown, or else on the selected session. While a search is
    /// running, an action on the selected session is delayed, because the user means a session of
    /// the new result.
    fn act(&mut self, action: SelectionAction) -> Option<FinderEffect> {
        if self.shown.is_none() && self.is_searching() {
            self.awaited = Some(action);
            return None;
        }
        match action {
            SelectionAction::Open => self.open(),
            SelectionAction::Resume => self.resume(),
            SelectionAction::CopyId => self.copy_id(),
        }
    }

    fn show_session(&mut self, session_id: &str, session: Result<OpenedSession, String>) {
        // The answer is ignored if the user has selected another session in the meantime.
        if self.opening.take_if(|opening| opening == session_id).is_none() {
            return;
        }
        let hit = self.answer.hits.iter().find(|hit| hit.session.session_id == session_id);
        match (session, hit.cloned()) {
            (Ok(session), Some(hit)) => self.shown = Some(ShownSession { hit, session, top: 0 }),
            (Ok(_), None) => {}
            (Err(problem), _) => self.notice = Some(problem),
        }
    }

    /// Returns the session that is shown. If no session is shown, returns the selected session.
    pub(super) fn hit(&self) -> Option<&Hit> {
        let shown = self.shown.as_ref().map(|shown| &shown.hit);
        shown.or_else(|| self.answer.hits.get(self.selected))
    }

    fn select(&mut self, steps: isize) {
        let last = self.answer.hits.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(steps).min(last);
        self.opening = None;
    }

    fn scroll(&mut self, lines: isize) {
        if let Some(shown) = &mut self.shown {
            shown.top = shown.top.saturating_add_signed(lines);
        }
    }

    fn open(&mut self) -> Option<FinderEffect> {
        let hit = self.hit()?.clone();
        self.opening = Some(hit.session.session_id.clone());
        Some(FinderEffect::Open(Box::new(hit)))
    }

    fn resume(&mut self) -> Option<FinderEffect> {
        let session = &self.hit()?.session;
        match resume(session) {
            Ok(_) => Some(FinderEffect::Resume(Box::new(session.clone()))),
            Err(problem) => {
                self.notice = Some(problem);
                None
            }
        }
    }

    fn copy_id(&mut self) -> Option<FinderEffect> {
        let id = self.hit()?.session.session_id.clone();
        self.notice = Some(format!("Copied {id}"));
        Some(FinderEffect::Copy(id))
    }

    /// Copies the summary of the session. Without a summary, copies the matching passages.
    fn copy_text(&mut self) -> Option<FinderEffect> {
        let shown = self.shown.as_ref()?;
        let passages = || {
            let texts = shown.hit.passages.iter().map(|passage| passage.text.as_str());
            texts.collect::<Vec<_>>().join("\n\n")
        };
        let (text, notice) = match &shown.session.answer.markdown {
            Some(summary) => (summary.clone(), "Copied the summary"),
            None => (passages(), "Copied the passages"),
        };
        self.notice = Some(notice.to_owned());
        Some(FinderEffect::Copy(block(&text)))
    }
}

fn remove_character(query: &mut String) {
    query.pop();
}

/// Removes the last word with the white space after it.
fn remove_word(query: &mut String) {
    let kept = query.trim_end().trim_end_matches(|c: char| !c.is_whitespace());
    query.truncate(kept.len());
}

#[cfg(test)]
mod tests;
