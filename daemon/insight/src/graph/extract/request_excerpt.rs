//! Shortens a request to the sentences that order something, and leaves out its background first.

use super::{condensed::condensed, orders::is_clear_order};
use crate::{graph::text, pattern::pattern, text::sentences};

/// Maximum length, in bytes, of a prompt that is assumed to be typed.
pub(super) const MAX_TYPED_BYTES: usize = 900;
/// Minimum length, in characters, of the beginning of a sentence that does not fit.
const MIN_BEGINNING_CHARS: usize = 60;
const GAP: &str = "… ";

/// Returns a prompt on one line of at most `limit` characters. If a typed prompt with an order or a
/// question is longer, keeps the sentences that fit, in this precedence: the orders, the questions,
/// the first sentence, the sentences before the first order, and the other sentences.
pub(super) fn with_its_orders(prompt: &str, limit: usize) -> String {
    let whole = condensed(prompt, usize::MAX / 2);
    if whole.chars().count() <= limit {
        return whole;
    }
    let sentences = sentences(&whole);
    let is_question = |at: &usize| sentences[*at].ends_with(['?', '？']);
    let is_order = |at: &usize| is_clear_order(sentences[*at]);
    let orders = (0..sentences.len()).filter(is_order);
    let questions = (0..sentences.len()).filter(is_question);
    let wanted: Vec<usize> = orders.chain(questions).collect();
    let Some(main) = wanted.first().copied().filter(|_| prompt.len() <= MAX_TYPED_BYTES) else {
        return condensed(prompt, limit);
    };
    if sentences[main].chars().count() + GAP.len() > limit {
        return match main {
            0 => condensed(prompt, limit),
            _ => complete(&text::cut(sentences[main], limit - 1)),
        };
    }
    let mut excerpt = RequestExcerpt { sentences, kept: Vec::new(), beginning: None, limit };
    for at in wanted {
        excerpt.keep(at);
    }
    // The first sentence usually names the subject.
    for at in std::iter::once(0).chain((0..main).rev()).chain(main + 1..excerpt.sentences.len()) {
        if !excerpt.keep(at) && excerpt.beginning.is_none() {
            excerpt.begin(at);
        }
    }
    excerpt.line()
}

/// Sentences of a request that fit into its limit.
struct RequestExcerpt<'e> {
    sentences: Vec<&'e str>,
    kept: Vec<usize>,
    /// The beginning of a sentence that does not fit.
    beginning: Option<(usize, String)>,
    /// In characters.
    limit: usize,
}

impl RequestExcerpt<'_> {
    /// Keeps a sentence if it fits. Returns whether the sentence is kept.
    fn keep(&mut self, at: usize) -> bool {
        let is_begun = self.beginning.as_ref().is_some_and(|(begun, _)| *begun == at);
        if self.kept.contains(&at) || is_begun {
            return true;
        }
        self.kept.push(at);
        let fits = self.line().chars().count() <= self.limit;
        if !fits {
            self.kept.pop();
        }
        fits
    }

    /// Keeps the beginning of a sentence, if enough of it fits.
    fn begin(&mut self, at: usize) {
        let room = self.limit.saturating_sub(self.line().chars().count() + GAP.len());
        if room >= MIN_BEGINNING_CHARS {
            self.beginning = Some((at, complete(&text::cut(self.sentences[at], room))));
        }
    }

    fn line(&self) -> String {
        let mut line = String::new();
        let mut next = 0;
        for (at, sentence) in self.sentences.iter().enumerate() {
            let begun = self.beginning.as_ref().filter(|(begun, _)| *begun == at);
            let text = match begun {
                Some((_, beginning)) => beginning.as_str(),
                None if self.kept.contains(&at) => sentence,
                None => continue,
            };
            let is_cut = line.ends_with('…');
            line.push_str(match (at == next, line.is_empty() || is_cut) {
                (_, true) if is_cut => " ",
                (true, true) => "",
                (true, false) => " ",
                (false, true) => GAP,
                (false, false) => " … ",
            });
            line.push_str(text);
            next = at + 1;
        }
        line
    }
}

/// Removes articles and similar words from the end of a text that was cut, because they announce
/// words that are missing.
fn complete(cut: &str) -> String {
    let Some(text) = cut.strip_suffix('…') else { return cut.to_owned() };
    let open = pattern!(
        r"(?i)(?:[\s,;:(]+(?:a|an|the|this|that|these|those|my|our|your|its|their|to|of|in|on|at|by|for|from|with|and|or|but|as|is|are|be|it.s|so|if|which|who|into|like))+[\s,;:(]*$"
    );
    format!("{}…", open.replace(text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_request_loses_its_background_first() {
        let described = "The todo says that the keys change and that the clean break of the last release is to be repeated for every store. ";
        let background = "We have three files of styles on our page that nobody else can easily improve with a pull request, and these are old.";
        let described = described.trim();
        for (prompt, start, end) in [
            (
                format!("{described} {described} {described} Can you update the todo?"),
                described,
                "store. … Can you update the todo?",
            ),
            (
                format!(
                    "{background} Could we move these files into their own repository with a readme? Or do they have to stay? It is only a small repository with a few files."
                ),
                "We have three files of styles on our page that nobody",
                "… Could we move these files into their own repository with a readme? Or do they have to stay?",
            ),
            (
                format!("Add a test of the lexer. {described} {described} Report only failures."),
                "Add a test of the lexer. The todo says",
                "store. … Report only failures.",
            ),
        ] {
            let found = with_its_orders(&prompt, 170);
            assert!(found.chars().count() <= 170, "{found}");
            assert!(found.starts_with(start) && found.ends_with(end), "{found}");
        }
    }

    #[test]
    fn a_cut_text_does_not_end_with_an_announcement() {
        for (cut, wanted) in [
            ("Move these…", "Move…"),
            ("Move the files into the…", "Move the files…"),
            ("Move them", "Move them"),
        ] {
            assert_eq!(complete(cut), wanted);
        }
    }
}
