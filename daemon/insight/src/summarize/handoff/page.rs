//! Fills a text with the entries of sections up to a limit of characters: the most important
//! entries first, and only whole entries.

use crate::summarize::handoff::HandoffLine;

/// A function from a topic to the share of its lines that later sessions used, from 0 to 1.
pub type UseRate<'u> = &'u dyn Fn(&str) -> f64;

/// A text that is filled up to a limit of characters.
pub(super) struct HandoffPage {
    /// In characters.
    pub(super) remaining: usize,
    sections: Vec<HandoffSection>,
}

pub(super) struct HandoffSection {
    heading: String,
    topic: &'static str,
    entries: Vec<SectionEntry>,
}

struct SectionEntry {
    line: SectionLine,
    /// Entries with a lower number are included first.
    priority: u32,
    is_included: bool,
}

/// The text of an entry, and the line whose use is counted if the entry is included.
pub(super) struct SectionLine {
    pub(super) text: String,
    pub(super) counted: Option<HandoffLine>,
}

impl From<String> for SectionLine {
    fn from(text: String) -> SectionLine {
        SectionLine { text, counted: None }
    }
}

impl HandoffSection {
    pub(super) fn new(heading: &str, topic: &'static str) -> HandoffSection {
        HandoffSection { heading: heading.to_owned(), topic, entries: Vec::new() }
    }

    pub(super) fn add(
        &mut self,
        lines: impl IntoIterator<Item = impl Into<SectionLine>>,
        priority: impl Fn(usize) -> u32,
    ) {
        let entries = lines.into_iter().enumerate().map(|(at, line)| SectionEntry {
            line: line.into(),
            priority: priority(at),
            is_included: false,
        });
        self.entries.extend(entries);
    }

    fn included(&self) -> impl Iterator<Item = &SectionLine> {
        self.entries.iter().filter(|entry| entry.is_included).map(|entry| &entry.line)
    }

    /// Returns the number of characters that one more entry adds.
    fn cost(&self, entry: &SectionEntry) -> usize {
        let is_first = self.included().next().is_none();
        // Two line ends, the heading and its colon.
        let heading = if is_first { length(&self.heading) + 3 } else { 0 };
        heading + length(&entry.line.text) + 3
    }

    fn text(&self) -> Option<String> {
        let entries: Vec<&str> = self.included().map(|line| &*line.text).collect();
        let body = match self.heading.is_empty() {
            true => entries.join("\n"),
            false => format!("{}:\n- {}", self.heading, entries.join("\n- ")),
        };
        (!entries.is_empty()).then_some(body)
    }
}

impl HandoffPage {
    /// Creates a page of at most `max_chars` characters with `head`.
    pub(super) fn filled(
        sections: Vec<HandoffSection>,
        head: &str,
        max_chars: usize,
        rate: UseRate<'_>,
    ) -> HandoffPage {
        let remaining = max_chars.saturating_sub(length(head) + 1);
        let mut page = HandoffPage { remaining, sections };
        page.fill(rate);
        page
    }

    pub(super) fn is_filled(&self) -> bool {
        self.sections.iter().any(|section| section.text().is_some())
    }

    /// Whether the section at this position has entries that fit, and contains `text`.
    pub(super) fn shows(&self, section: usize, text: &str) -> bool {
        let section = self.sections.get(section).and_then(HandoffSection::text);
        section.is_some_and(|shown| shown.contains(text))
    }

    /// Adds entries by importance, then by the use of their topic, then by position, as long as
    /// they fit.
    fn fill(&mut self, rate: UseRate<'_>) {
        let places = self.sections.iter().enumerate().flat_map(|(section, of)| {
            let rate = rate(of.topic);
            of.entries
                .iter()
                .enumerate()
                .map(move |(at, entry)| (entry.priority, rate, section, at))
        });
        let mut places: Vec<(u32, f64, usize, usize)> = places.collect();
        places.sort_by(|one, other| {
            (one.0.cmp(&other.0))
                .then(other.1.total_cmp(&one.1))
                .then((one.2, one.3).cmp(&(other.2, other.3)))
        });
        for (_, _, section, at) in places {
            let section = &mut self.sections[section];
            let cost = section.cost(&section.entries[at]);
            if cost <= self.remaining {
                self.remaining -= cost;
                section.entries[at].is_included = true;
            }
        }
    }

    /// Returns the lines that are included and whose use is counted.
    pub(super) fn counted(&self) -> Vec<HandoffLine> {
        let included = self.sections.iter().flat_map(HandoffSection::included);
        included.filter_map(|line| line.counted.clone()).collect()
    }

    pub(super) fn text(&self, head: &str, foot: Option<&str>) -> String {
        let sections = self.sections.iter().filter_map(HandoffSection::text);
        let parts = std::iter::once(head.to_owned()).chain(sections);
        parts.chain(foot.map(str::to_owned)).collect::<Vec<_>>().join("\n\n")
    }
}

/// Returns the number of characters.
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}
