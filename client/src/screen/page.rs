//! Shortens a summary to one page: keeps the first entries of each section, and the first lines of
//! each entry.

use super::{Screen, markdown::with_next};

/// Maximum number of lines of one entry on a terminal.
const ENTRY: usize = 4;
/// Resets all styles of a terminal.
const RESET: &str = "\u{1b}[0m";
/// Minimum number of entries that are kept before the first heading. These entries contain the
/// outcome.
const LEAD: usize = 4;

/// A heading with its entries. The text before the first heading is a section, too.
struct PageSection {
    heading: Option<String>,
    entries: Vec<Vec<String>>,
}

impl Screen {
    /// Prints Markdown in at most `limit` lines, or in more lines if one entry of each section does
    /// not fit. Returns whether everything was printed.
    pub(crate) fn print_page(&self, markdown: &str, limit: usize) -> bool {
        let whole: Vec<String> = with_next(markdown.trim_end().lines())
            .flat_map(|(text, next)| self.rendered(text, next))
            .collect();
        let fits = whole.len() <= limit;
        let lines = if fits { whole } else { self.fitted(markdown, limit) };
        lines.iter().for_each(|line| self.print(line));
        fits
    }

    /// Returns the first entries of each section: the largest number of entries that fits into
    /// `limit` lines, but at least one, and at least [`LEAD`] before the first heading.
    fn fitted(&self, markdown: &str, limit: usize) -> Vec<String> {
        let sections = self.sections(markdown);
        let longest = sections.iter().map(|section| section.entries.len()).max().unwrap_or(0);
        let page = |entries: usize| -> Vec<String> {
            let mut lines: Vec<String> =
                sections.iter().flat_map(|section| self.shortened(section, entries)).collect();
            lines.pop();
            lines
        };
        let fits = (1..=longest).rev().map(page).find(|lines| lines.len() <= limit);
        fits.unwrap_or_else(|| page(1))
    }

    fn sections(&self, markdown: &str) -> Vec<PageSection> {
        let mut sections = vec![PageSection { heading: None, entries: Vec::new() }];
        for (text, next) in with_next(markdown.lines().filter(|text| !text.trim().is_empty())) {
            let mut lines = self.rendered(text, next);
            let section = sections.last_mut().expect("there is a first section");
            if text.starts_with("## ") {
                sections.push(PageSection { heading: lines.pop(), entries: Vec::new() });
            } else if let (true, Some(entry)) = (text.starts_with(' '), section.entries.last_mut())
            {
                entry.extend(lines);
            } else {
                section.entries.push(lines);
            }
        }
        sections
    }

    fn shortened(&self, section: &PageSection, entries: usize) -> Vec<String> {
        let entries = if section.heading.is_none() { entries.max(LEAD) } else { entries };
        let mut lines: Vec<String> = section.heading.iter().cloned().collect();
        for entry in section.entries.iter().take(entries) {
            lines.extend(entry.iter().take(ENTRY).cloned());
            if let (true, Some(last)) = (entry.len() > ENTRY, lines.last_mut()) {
                last.push('…');
                // The text that was cut off may contain the end of a style.
                last.push_str(if self.colors { RESET } else { "" });
            }
        }
        let more = section.entries.len().saturating_sub(entries);
        if more > 0 {
            lines.push(self.dim(format!("… {more} more")));
        }
        lines.push(String::new());
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(sections: usize, entries: usize, words: usize) -> String {
        let entry = format!("- {}\n", "word ".repeat(words).trim_end());
        let section = |number| format!("## Section {number}\n{}\n", entry.repeat(entries));
        format!("**Outcome**: completed\n\n{}", (0..sections).map(section).collect::<String>())
    }

    #[test]
    fn every_section_keeps_as_many_entries_as_fit() {
        let lines = Screen::of_test(40).fitted(&page(3, 9, 3), 22);
        let text = lines.join("\n");
        assert_eq!(lines.len(), 22, "{text}");
        assert_eq!(text.matches("Section").count(), 3);
        assert_eq!(text.matches("- word word word").count(), 12);
        assert_eq!(text.matches("… 5 more").count(), 3);
        assert_eq!(lines[0], "Outcome: completed");
    }

    #[test]
    fn a_long_entry_is_cut_on_a_terminal_and_whole_in_a_pipe() {
        let long = page(1, 1, 200);
        let lines = Screen::of_test(40).fitted(&long, 10);
        assert_eq!(lines.len(), 3 + ENTRY, "{lines:?}");
        assert!(lines.last().is_some_and(|last| last.ends_with("word…")), "{lines:?}");
        let pipe = Screen { terminal: false, ..Screen::of_test(40) };
        assert_eq!(pipe.fitted(&long, 10).join("\n"), long.trim_end());
    }

    #[test]
    fn a_text_that_cannot_fit_keeps_one_entry_of_each_section() {
        let lines = Screen::of_test(40).fitted(&page(9, 5, 1), 20);
        assert_eq!(lines.iter().filter(|line| *line == "- word").count(), 9);
        assert_eq!(lines.iter().filter(|line| *line == "… 4 more").count(), 9);
    }
}
