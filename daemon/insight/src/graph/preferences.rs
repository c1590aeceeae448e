//! Finds the user's lasting wishes for projects.

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
/// the same two alternatives.
fn contradict(one: &str, other: &str) -> bool {
    if let (Some((chosen, rejected)), Some(earlier)) = (choice(one), choice(other)) {
        return (rejected, chosen) == earlier;
    }
    let (mine, theirs) = (text::topic_words(one), text::topic_words(other));
    let common = mine.iter().filter(|word| theirs.contains(word)).count();
    let fewest = mine.len().min(theirs.len());
    is_negative(one) != is_negative(other) && common > 0 && common * 3 >= fewest * 2
}

/// Returns the chosen and the rejected alternative of a wish, for example `pnpm` and `npm` of `use
/// pnpm instead of npm`.
fn choice(wish: &str) -> Option<(String, String)> {
    let choice = pattern!(
        r"(?i)\b(?:use|stick to|stick with|prefer)\s+\W?([\w.-]+)\W?,?\s+(?:instead of|rather than|not|over)\s+\W?([\w.-]+)"
    );
    let parts = choice.captures(wish)?;
    let name = |text: &str| text.trim_end_matches('.').to_lowercase();
    Some((name(&parts[1]), name(&parts[2])))
}

fn is_negative(wish: &str) -> bool {
    pattern!(r"(?i)\b(?:never|don.?t|do not|not|no|avoid|stop|without|nicht|nie|niemals|kein\w*|nunca|jam[aá]s|jamais|pas)\b|不要|别|不得|しない|禁止")
        .is_match(wish)
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
        ] {
            assert_eq!(contradict(one, other), wanted, "{one} / {other}");
        }
    }
}
