//! Draws the interactive search as lines for a terminal of any size.

use graphiti_proto::tools::search_sessions::Hit;
use unicode_width::UnicodeWidthStr;

use super::state::{Finder, FinderPurpose, ShownSession};
use crate::{
    commands::{
        list::outcome_or_state,
        search::{distinct_passages, notes, print_passage, title},
        show::Extent,
    },
    screen::{Screen, ago, cut, instant, line, now},
};

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TerminalSize {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// The lines of the screen.
pub(super) struct Frame {
    pub(super) lines: Vec<String>,
    /// The column of the cursor in the first line; `None` hides it.
    pub(super) cursor: Option<usize>,
}

/// The keys for the last line. The longest text that fits is shown.
const LIST_KEYS: &[&str] = &[
    "↑↓ choose · Enter show · ^Y copy id · ^R resume · Esc leave",
    "Enter show · ^R resume · Esc leave",
    "Esc leave",
];
const RESUME_KEYS: &[&str] = &[
    "↑↓ choose · Enter resume · ^O show · ^Y copy id · Esc leave",
    "Enter resume · Esc leave",
    "Esc leave",
];
const SESSION_KEYS: &[&str] = &[
    "↑↓ scroll · y copy text · i copy id · r resume · Esc back",
    "y copy text · r resume · Esc back",
    "Esc back",
];
const PROMPT: &str = "Search: ";
const RESUME_PROMPT: &str = "Resume: ";
/// Minimum number of lines of the preview below the list.
const PREVIEW: usize = 3;
/// Minimum width, in columns, of a title. If less is left, the project and the time next to the
/// title are omitted.
const TITLE: usize = 30;

/// Draws the current state.
pub(super) fn draw(finder: &mut Finder, screen: &Screen, size: TerminalSize) -> Frame {
    // The other lines are the query, the status and the keys.
    let body = size.rows.saturating_sub(3);
    finder.page = body;
    match finder.shown.take() {
        Some(mut shown) => {
            let frame = draw_session(finder, &mut shown, screen, size);
            finder.shown = Some(shown);
            frame
        }
        None => draw_list(finder, screen, size, body),
    }
}

fn draw_list(finder: &Finder, screen: &Screen, size: TerminalSize, body: usize) -> Frame {
    let width = size.columns;
    let (prompt, keys) = match finder.purpose {
        FinderPurpose::Read => (PROMPT, LIST_KEYS),
        FinderPurpose::Resume => (RESUME_PROMPT, RESUME_KEYS),
    };
    let query = end_of(&line_of_query(&finder.query), width.saturating_sub(prompt.len() + 1));
    let cursor = prompt.len() + query.width();
    let hits = &finder.answer.hits;
    let mut lines = vec![format!("{}{query}", screen.dim(prompt))];
    lines.push(screen.dim(cut(&status(finder), width)));
    if let Some(problem) = &finder.problem {
        let text = screen.captured(width, |screen| {
            problem.lines().for_each(|text| screen.print_wrapped(&line(text), 0));
        });
        lines.extend(text.into_iter().take(body));
    } else if !hits.is_empty() {
        let has_preview = body >= 2 * PREVIEW;
        let list = if has_preview { hits.len().min(body / 2) } else { hits.len().min(body) };
        let first = (finder.selected + 1).saturating_sub(list);
        for (at, hit) in hits.iter().enumerate().skip(first).take(list) {
            lines.push(row(hit, at == finder.selected, screen, width));
        }
        if let (true, Some(hit)) = (has_preview, finder.hit()) {
            lines.extend(preview(hit, screen, width, body - list));
        }
    }
    Frame { lines: with_footer(lines, finder, keys, screen, size), cursor: Some(cursor) }
}

fn draw_session(
    finder: &Finder,
    shown: &mut ShownSession,
    screen: &Screen,
    size: TerminalSize,
) -> Frame {
    let body = size.rows.saturating_sub(2);
    let text = screen.captured(size.columns, |screen| {
        shown.session.print(&shown.hit, Extent::Complete, screen);
    });
    shown.top = shown.top.min(text.len().saturating_sub(body));
    let last = (shown.top + body).min(text.len());
    let range = format!("lines {} to {last} of {}", shown.top + 1, text.len());
    let mut lines: Vec<String> = text.into_iter().skip(shown.top).take(body).collect();
    lines.resize(body, String::new());
    lines.push(screen.dim(cut(&range, size.columns)));
    Frame { lines: with_footer(lines, finder, SESSION_KEYS, screen, size), cursor: None }
}

/// Fills the screen with empty lines. The last line is the notice about the last key or, without a
/// notice, the list of keys.
fn with_footer(
    mut lines: Vec<String>,
    finder: &Finder,
    keys: &[&str],
    screen: &Screen,
    size: TerminalSize,
) -> Vec<String> {
    let last = size.rows.saturating_sub(1);
    lines.resize(last, String::new());
    lines.push(match &finder.notice {
        Some(notice) => screen.accent(cut(&line(notice), size.columns)),
        None => {
            let keys = keys.iter().find(|keys| keys.width() <= size.columns);
            screen.dim(keys.copied().unwrap_or_default())
        }
    });
    lines.truncate(size.rows);
    lines
}

fn status(finder: &Finder) -> String {
    let hits = finder.answer.hits.len();
    let found = match (&finder.problem, finder.is_searching(), hits) {
        (Some(_), false, _) => "No answer.".to_owned(),
        (_, true, 0) => "Searching…".to_owned(),
        (_, false, 0) if finder.query.trim().is_empty() => "No sessions.".to_owned(),
        (_, false, 0) => "Nothing found.".to_owned(),
        (_, _, 1) => "1 session".to_owned(),
        (_, _, hits) => {
            let first = if finder.answer.next.is_some() { "the first " } else { "" };
            format!("{} of {first}{hits} sessions", finder.selected + 1)
        }
    };
    let notes = notes(&finder.answer);
    std::iter::once(found).chain(notes).collect::<Vec<_>>().join(" · ")
}

fn row(hit: &Hit, is_selected: bool, screen: &Screen, width: usize) -> String {
    let session = &hit.session;
    let mark = if is_selected { "> " } else { "  " };
    let when = ago(instant(&session.last_activity), now());
    // The time is never cut: a part of it would be another time.
    let project = cut(&line(session.project_name()), (width / 3).saturating_sub(when.width() + 3));
    let facts = if project.is_empty() { when } else { format!("{project} · {when}") };
    let available = width.saturating_sub(mark.len());
    let (available, facts) = match available.checked_sub(facts.width() + 2) {
        Some(title) if title >= TITLE => (title, format!("  {facts}")),
        _ => (available, String::new()),
    };
    let title = cut(&title(hit), available);
    let gap = " ".repeat(available.saturating_sub(title.width()));
    match is_selected {
        true => screen.selected(format!("{mark}{title}{gap}{facts}")),
        false => format!("{mark}{title}{gap}{}", screen.dim(facts)),
    }
}

/// Returns the details and the matching passages of a session, in at most `limit` lines.
fn preview(hit: &Hit, screen: &Screen, width: usize, limit: usize) -> Vec<String> {
    let session = &hit.session;
    let facts = [
        line(session.shown_id()),
        line(&session.agent),
        line(&outcome_or_state(session).replace('_', " ")),
        line(&session.project),
    ];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let mut lines = vec![String::new(), screen.dim(cut(&facts.join(" · "), width))];
    lines.extend(screen.captured(width, |screen| {
        distinct_passages(hit).into_iter().for_each(|passage| print_passage(passage, screen));
    }));
    lines.truncate(limit);
    lines
}

/// Returns the query on one line. Unlike [`line()`], this function keeps all spaces.
fn line_of_query(query: &str) -> String {
    query.chars().map(|c| if line(&c.to_string()).is_empty() { ' ' } else { c }).collect()
}

/// Returns the longest end of a text that fits into `width` columns.
fn end_of(text: &str, width: usize) -> String {
    let starts = text.char_indices().map(|(at, _)| at);
    let fits = starts.map(|at| &text[at..]).find(|end| end.width() <= width);
    fits.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use graphiti_proto::tools::{
        SessionRow,
        get_session::GetSessionAnswer,
        search_sessions::{MatchedPassage, SearchSessionsAnswer},
    };

    use super::*;
    use crate::commands::search::OpenedSession;

    fn hit(title: &str) -> Hit {
        let text = "接続プールが枯渇しました because the pool was exhausted by slow requests";
        let passage = MatchedPassage {
            role: "assistant".to_owned(),
            text: text.to_owned(),
            marks: vec![(text.find("pool").unwrap(), text.find("pool").unwrap() + 4)],
            ..MatchedPassage::default()
        };
        let session = SessionRow {
            session_id: "0c97".to_owned(),
            title: title.to_owned(),
            project: "/work/app".to_owned(),
            ..SessionRow::default()
        };
        Hit { session, passages: vec![passage], ..Hit::default() }
    }

    fn finder() -> Finder {
        let titles =
            ["Fix the connection pool", "データベース接続プールの枯渇を調べて直してください", "c"];
        let hits = titles.iter().cycle().take(12).map(|title| hit(title)).collect();
        let answer = SearchSessionsAnswer { hits, ..SearchSessionsAnswer::default() };
        Finder { query: "pool 接続".to_owned(), answer, selected: 1, ..Finder::default() }
    }

    const SIZES: [(usize, usize); 6] = [(80, 24), (120, 40), (40, 10), (20, 5), (9, 3), (1, 1)];

    fn drawn(finder: &mut Finder, (columns, rows): (usize, usize)) -> Vec<String> {
        let frame = draw(finder, &Screen::of_test(columns), TerminalSize { columns, rows });
        assert_eq!(frame.lines.len(), rows);
        frame.lines
    }

    #[test]
    fn every_line_fits_the_terminal() {
        for size in SIZES {
            let mut finder = finder();
            let lines = drawn(&mut finder, size);
            // A terminal narrower than this has no space for the prompt.
            if size.0 >= 20 {
                let wide = lines.iter().find(|line| line.width() > size.0);
                assert_eq!(wide, None, "{size:?}");
            }
            finder.shown = Some(ShownSession {
                hit: hit("Fix the pool"),
                session: OpenedSession { answer: GetSessionAnswer::default(), blocks: Vec::new() },
                top: 99,
            });
            drawn(&mut finder, size);
            assert!(finder.shown.unwrap().top < 99);
        }
    }

    #[test]
    fn the_selected_session_is_on_the_screen_with_its_passage() {
        for selected in [0, 5, 11] {
            let mut finder = Finder { selected, ..finder() };
            let lines = drawn(&mut finder, (80, 24));
            assert_eq!(lines.iter().filter(|line| line.starts_with("> ")).count(), 1);
            assert!(lines.iter().any(|line| line.contains("[pool]")), "{lines:#?}");
            assert_eq!(lines[1], format!("{} of 12 sessions", selected + 1));
        }
    }

    #[test]
    fn an_incomplete_list_is_named_as_such() {
        let mut finder = finder();
        assert_eq!(drawn(&mut finder, (80, 24))[1], "2 of 12 sessions");
        (finder.answer.next, finder.answer.message) = (Some(12), "20 sessions in all".to_owned());
        let status = drawn(&mut finder, (80, 24)).swap_remove(1);
        assert_eq!(status, "2 of the first 12 sessions · 20 sessions in all");
    }

    #[test]
    fn no_results_and_no_daemon_are_reported() {
        let mut finder = Finder { query: "x".to_owned(), ..Finder::default() };
        assert_eq!(drawn(&mut finder, (40, 10))[1], "Nothing found.");
        finder.problem = Some("graphitid is not running\nStart it with: graphiti up".to_owned());
        let lines = drawn(&mut finder, (40, 10));
        assert_eq!(
            lines[1..4],
            ["No answer.", "graphitid is not running", "Start it with: graphiti up"]
        );
    }

    #[test]
    fn a_long_query_shows_its_end() {
        let mut finder = Finder { query: format!("{}end", "日".repeat(50)), ..Finder::default() };
        let line = drawn(&mut finder, (40, 10)).swap_remove(0);
        assert!(line.width() < 40 && line.ends_with("end"), "{line}");
    }
}
