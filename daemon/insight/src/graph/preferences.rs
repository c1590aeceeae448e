//! Finds the user's lasting wishes for projects.

use std::collections::BTreeSet;

use crate::{
    graph::{FactFilter, Graph, text},
    model::{
        Fact, Namespace, Timestamp,
        graph::{FactId, Relation},
    },
    pattern::pattern,
    store::StoreError,
};

/// A lasting wish of the user, in the user's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Preference {
    pub fact: Fact,
    /// An earlier wish that contradicts this one. Both hold until the user withdraws one of them.
    pub contradicts: Option<FactId>,
}

const MAX_PREFERENCES: usize = 100;
/// Options of which only one can be used at a time.
const EXCLUSIVE: &[&[&str]] = &[&["spaces", "tabs"], &["bun", "npm", "pnpm", "yarn"]];
/// Languages in which the agent can be asked to write. The agent answers in one of them.
const LANGUAGES: &[&str] = &[
    "chinese",
    "dutch",
    "english",
    "french",
    "german",
    "italian",
    "japanese",
    "korean",
    "polish",
    "portuguese",
    "russian",
    "spanish",
    "swedish",
    "turkish",
];
/// Words of a wish that say neither what is chosen nor for which work.
const WORDS_WITHOUT_SCOPE: &[&str] = &[
    "always",
    "everywhere",
    "instead",
    "never",
    "now",
    "only",
    "please",
    "prefer",
    "project",
    "rather",
    "repo",
    "repository",
    "stick",
    "use",
];

impl Graph<'_> {
    /// Returns the wishes for `projects` and the wishes for all projects that hold at `now`, the
    /// latest first.
    pub fn preferences(
        &self,
        projects: &[Namespace],
        now: Timestamp,
    ) -> Result<Vec<Preference>, StoreError> {
        let wanted = FactFilter {
            relations: vec![Relation::Prefers],
            at: Some(now),
            limit: MAX_PREFERENCES,
        };
        let namespaces: Vec<Namespace> =
            projects.iter().copied().chain([Namespace::default()]).collect();
        let facts = self.facts(&namespaces, &wanted)?;
        let earlier = |number: usize| facts[number + 1..].iter();
        let preferences = facts.iter().enumerate().map(|(number, fact)| Preference {
            fact: fact.clone(),
            contradicts: earlier(number)
                .find(|other| contradict(&fact.sentence, &other.sentence))
                .map(|other| other.id),
        });
        Ok(preferences.collect())
    }
}

/// Whether one wish forbids what the other wish requires, or the wishes choose differently between
/// the same alternatives.
fn contradict(one: &str, other: &str) -> bool {
    if let (Some(mine), Some(theirs)) = (PreferredOption::of(one), PreferredOption::of(other)) {
        return mine.excludes(&theirs);
    }
    let (mine, theirs) = (text::topic_words(one), text::topic_words(other));
    let common = mine.iter().filter(|word| theirs.contains(word)).count();
    let fewest = mine.len().min(theirs.len());
    text::is_negative(one) != text::is_negative(other) && common > 0 && common * 3 >= fewest * 2
}

/// The option that a wish chooses, for example `pnpm` of `use pnpm instead of npm`.
struct PreferredOption {
    chosen: String,
    rejected: Option<String>,
    /// The other words of the wish, for example the kind of file to which it applies.
    scope: BTreeSet<String>,
    /// Whether another option in the same scope cannot be chosen as well, for example in `answer in
    /// German`.
    is_only: bool,
}

impl PreferredOption {
    fn of(wish: &str) -> Option<PreferredOption> {
        let choice = pattern!(
            r"(?i)\b(?:(use|stick to|stick with|prefer|indent with)|((?:answer|reply|respond|speak|write)(?: to me| me)? in))\s+\W?([\w.-]+)\W?(?: (for|in)\b[\w .-]{1,60}?)?(?:,?\s+(?:instead of|rather than|not|never|over)\s+(?:use )?\W?([\w.-]+)|[.!]*$)|^(?:always )?([\w.-]{3,}),? (?:not|never) ([\w.-]+)[.!]*$"
        );
        let parts = choice.captures(wish)?;
        let name = |part: regex::Match<'_>| part.as_str().trim_end_matches('.').to_lowercase();
        let chosen = parts.get(3).or(parts.get(6)).map(name)?;
        let rejected = parts.get(5).or(parts.get(7)).map(name);
        if text::is_negative(&wish[..parts.get(0)?.start()]) {
            return None;
        }
        let mut scope = text::words(wish);
        scope.retain(|word| {
            *word != chosen
                && Some(word) != rejected.as_ref()
                && !WORDS_WITHOUT_SCOPE.contains(&word.as_str())
        });
        // `text::words` leaves out short names, such as `Go`.
        let short = wish.split(|c: char| !c.is_alphanumeric());
        let short = short.filter(|word| word.len() < 3 && word.starts_with(char::is_uppercase));
        scope.extend(short.map(str::to_lowercase));
        let is_language = || LANGUAGES.contains(&chosen.as_str());
        let is_only = parts.get(2).is_some() && is_language();
        Some(PreferredOption { chosen, rejected, scope, is_only })
    }

    fn excludes(&self, other: &PreferredOption) -> bool {
        let rejects = |one: &PreferredOption, other: &PreferredOption| {
            one.rejected.as_ref() == Some(&other.chosen)
        };
        let both = [self.chosen.as_str(), other.chosen.as_str()];
        let is_known = EXCLUSIVE.iter().any(|all| both.iter().all(|one| all.contains(one)));
        self.chosen != other.chosen
            && self.scope == other.scope
            && (rejects(self, other)
                || rejects(other, self)
                || self.is_only && other.is_only
                || is_known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_contradicts_only_its_opposite() {
        for (one, other, wanted) in [
            ("Always squash commits.", "Never squash commits.", true),
            ("Use npm instead of pnpm.", "Use pnpm instead of npm.", true),
            ("Use pnpm instead of npm.", "Use pnpm instead of npm.", false),
            ("Always squash commits.", "Never push to main.", false),
            ("Always sign commits.", "Always squash commits.", false),
            ("tabs, never spaces", "spaces, never tabs", true),
            (
                "Always use spaces in Python files, never tabs.",
                "Always use tabs in Python files, never spaces.",
                true,
            ),
            ("Always use spaces in Python files.", "Always use tabs in Python files.", true),
            (
                "Please always use npm for packages.",
                "From now on always use pnpm for packages.",
                true,
            ),
            ("Use pnpm in this repo, not npm.", "Use npm.", true),
            ("Always answer in German.", "Always answer in English.", true),
            ("Never use tabs in Python files.", "Use tabs in Python files.", true),
            ("Use tabs in Go files.", "Use spaces in Python files.", false),
            ("Use tabs in Go files, not spaces.", "Use spaces in Python files, not tabs.", false),
            ("Answer in German.", "Write commits in English.", false),
            ("Answer in German.", "Answer in short sentences.", false),
            ("Use ruff in CI.", "Use mypy in CI.", false),
            ("Use pytest for tests.", "Use factories for tests.", false),
            ("Answer in German.", "Answer in Markdown.", false),
            ("Write in English.", "Write in TypeScript.", false),
            ("Use npm in CI.", "Use pnpm.", false),
            ("Use tabs in Go.", "Use spaces in JS.", false),
            ("Do not push.", "Always push.", true),
            ("Use small commits.", "Use signed commits.", false),
            ("Use ruff for linting.", "Use mypy for types.", false),
            (
                "Always run the tests before a commit.",
                "Always run the linter before a commit.",
                false,
            ),
            ("Never use tabs.", "Never use spaces in names.", false),
        ] {
            assert_eq!(contradict(one, other), wanted, "{one} / {other}");
        }
    }
}
