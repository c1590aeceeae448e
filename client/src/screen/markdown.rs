//! Renders Markdown summaries on a terminal.

use super::Screen;

impl Screen {
    /// Prints Markdown unchanged to a pipe. On a terminal, headings and strong words are styled,
    /// tables become lists, and long lines are wrapped.
    pub(crate) fn print_markdown(&self, markdown: &str) {
        if !self.is_terminal() {
            self.print(markdown.trim_end());
            return;
        }
        with_next(markdown.lines())
            .flat_map(|(text, next)| self.rendered(text, next))
            .for_each(|line| self.print(line));
    }

    /// Renders the Markdown line `text`, and returns the resulting lines. `next` is the line after
    /// `text`, which shows whether `text` is the heading of a table.
    pub(super) fn rendered(&self, text: &str, next: Option<&str>) -> Vec<String> {
        if !self.is_terminal() {
            return vec![text.to_owned()];
        }
        if let Some(heading) = heading(text) {
            return vec![self.heading(heading)];
        }
        if text.starts_with('|') {
            let cells: Vec<&str> = text.trim_matches('|').split(" | ").map(str::trim).collect();
            let names: Vec<String> = cells.iter().map(|cell| self.dim(cell)).collect();
            return match is_rule(text) {
                true => Vec::new(),
                false if next.is_some_and(is_rule) => vec![names.join(" · ")],
                false => self.wrapped(&format!("- {}", cells.join(" · "))),
            };
        }
        self.wrapped(text)
    }

    fn wrapped(&self, text: &str) -> Vec<String> {
        let item = text.trim_start();
        let indent = text.len() - item.len() + if item.starts_with("- ") { 2 } else { 0 };
        self.within_width(&self.code(&self.strong(text)), indent)
    }

    /// Prints a line. On a terminal, the line is wrapped, with `indent` spaces before all lines
    /// except the first.
    pub(crate) fn print_wrapped(&self, text: &str, indent: usize) {
        if self.is_terminal() {
            self.within_width(text, indent).iter().for_each(|line| self.print(line));
        } else {
            self.print(text);
        }
    }

    /// Wraps a text. Returns the lines, with `indent` spaces before all lines except the first.
    pub(crate) fn within_width(&self, text: &str, indent: usize) -> Vec<String> {
        let indent = " ".repeat(indent);
        let options = textwrap::Options::new(self.width())
            .subsequent_indent(&indent)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            // A name or a path with hyphens can then be copied.
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
    }

    fn strong(&self, text: &str) -> String {
        between(text, "**", |piece| self.bold(piece))
    }

    /// Styles code. Without colours, the backticks are kept, because nothing else distinguishes
    /// code.
    fn code(&self, text: &str) -> String {
        match self.colors && !text.contains("``") {
            true => between(text, "`", |piece| self.accent(piece)),
            false => text.to_owned(),
        }
    }
}

/// Styles each piece of `text` between a pair of `sign`. If one `sign` is unpaired, nothing is
/// styled.
fn between(text: &str, sign: &str, style: impl Fn(&str) -> String) -> String {
    let pieces: Vec<&str> = text.split(sign).collect();
    if pieces.len().is_multiple_of(2) {
        return text.to_owned();
    }
    let styled = pieces.iter().enumerate().map(|(at, piece)| match at % 2 {
        0 => (*piece).to_owned(),
        _ => style(piece),
    });
    styled.collect()
}

fn heading(text: &str) -> Option<&str> {
    text.trim_start_matches('#').strip_prefix(' ').filter(|_| text.starts_with('#'))
}

/// Whether a line is the line of dashes below the heading of a table.
fn is_rule(text: &str) -> bool {
    text.starts_with('|') && text.chars().all(|c| matches!(c, '-' | '|' | ':' | ' '))
}

/// Returns each line with the line after it.
pub(super) fn with_next<'t>(
    lines: impl Iterator<Item = &'t str>,
) -> impl Iterator<Item = (&'t str, Option<&'t str>)> {
    let mut lines = lines.peekable();
    std::iter::from_fn(move || Some((lines.next()?, lines.peek().copied())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_hyphens_is_not_divided() {
        let screen = Screen::of_test(30);
        let lines = screen.within_width("Review the branch fix/remove-entiredb-store", 2);
        assert_eq!(lines, ["Review the branch", "  fix/remove-entiredb-store"]);
    }

    fn rendered(text: &str) -> Vec<String> {
        let screen = Screen::of_test(40);
        with_next(text.lines()).flat_map(|(line, next)| screen.rendered(line, next)).collect()
    }

    #[test]
    fn markup_becomes_style() {
        let text = "## Errors\n**Outcome**: done\n2 ** 3\n- **Fix**: changed the way in which the pool hands connections out";
        assert_eq!(
            rendered(text),
            [
                "Errors",
                "Outcome: done",
                "2 ** 3",
                "- Fix: changed the way in which the pool",
                "  hands connections out",
            ]
        );
    }

    #[test]
    fn tables_become_lists() {
        let text = "| File | Setting |\n|---|:---|\n| `a.yml` | `1` → `2` |";
        assert_eq!(rendered(text), ["File · Setting", "- `a.yml` · `1` → `2`"]);
    }

    #[test]
    fn only_the_row_above_a_rule_is_a_heading() {
        let text =
            "| Branch | Last state |\n| --- | --- |\n| main | works |\n| next | fails |\nEnd";
        assert_eq!(
            rendered(text),
            ["Branch · Last state", "- main · works", "- next · fails", "End"]
        );
    }

    #[test]
    fn code_is_coloured_or_keeps_its_backticks() {
        let colored = Screen { colors: true, ..Screen::of_test(40) };
        let accent = colored.accent("a.rs");
        assert_eq!(colored.rendered("in `a.rs`", None), [format!("in {accent}")]);
        for text in ["in `a.rs", "`` a`b ``"] {
            assert_eq!(colored.rendered(text, None), [text]);
        }
        assert_eq!(rendered("in `a.rs`"), ["in `a.rs`"]);
    }
}
