//! Extracts the standing wishes of the user, and the withdrawals of such wishes.

use super::{
    context,
    draft::{ClaimDraft, Draft},
    phrases, worth,
};
use crate::{
    graph::text,
    model::{
        Namespace,
        graph::{Certainty, EntityKind, Observation, Relation, Stance, Subject, Watch},
        transcript::Origin,
        wording::{EVERYWHERE, WITHDRAWN},
    },
    pattern::pattern,
};

pub(super) fn read(draft: &mut Draft<'_>) {
    for wish in draft.episode.summary.preferences.iter().flatten() {
        if let Some(words) = wish.strip_prefix(WITHDRAWN) {
            withdrawn(draft, unquoted(words));
        } else if let Some(words) = wish.strip_prefix(EVERYWHERE) {
            wished(draft, unquoted(words), Namespace::default());
        } else {
            wished(draft, unquoted(wish), draft.namespace);
        }
    }
}

fn wished(draft: &mut Draft<'_>, words: &str, namespace: Namespace) {
    let key = text::plain(words);
    if key.is_empty() {
        return;
    }
    let source = draft.mention_in(namespace, EntityKind::Preference, &key, words);
    let is_everywhere = namespace == Namespace::default();
    let target = if is_everywhere { source } else { draft.project };
    let scope = if is_everywhere { "everywhere" } else { "project" };
    let topic = text::topic_words(words);
    let origins: Vec<Origin> = origin(draft, words).into_iter().collect();
    let sentence = text::sentence(without_conjunction(words));
    // A wish about `this` or `the script` is clear only with the task of its session.
    let needs_task =
        !is_everywhere && (worth::has_pronoun_object(words) || phrases::BARE_NOUN.matches(words));
    let sentence = match needs_task && draft.is_evidence() {
        true => context::with_task(draft, &sentence, origins.first().copied()).unwrap_or(sentence),
        false => sentence,
    };
    draft.claim(
        Relation::Prefers,
        (source, target),
        ClaimDraft {
            namespace: Some(namespace),
            sentence,
            certainty: Some(Certainty::Verified),
            origins,
            watches: vec![Watch { subject: subject(namespace), stance: Stance::Words(topic) }],
            details: vec![("scope".to_owned(), scope.to_owned())],
            ..ClaimDraft::default()
        },
    );
}

/// Returns the words without a conjunction that joins them to the sentence before.
fn without_conjunction(words: &str) -> &str {
    let joint = pattern!(
        r"(?i)^(?:and|but|so|also|btw|by the way|oh|plus|(?:please )?remember that)\b,? (?:also |(?:please )?remember that )?"
    );
    joint.find(words).map_or(words, |found| &words[found.end()..])
}

fn withdrawn(draft: &mut Draft<'_>, words: &str) {
    let origins: Vec<Origin> = origin(draft, words).into_iter().collect();
    let at = draft.moments.of(&origins);
    for namespace in [draft.namespace, Namespace::default()] {
        draft.mark(subject(namespace), at, Observation::Words(text::topic_words(words)));
    }
}

fn subject(namespace: Namespace) -> Subject {
    Subject::of("wish", namespace, "")
}

/// Returns the position of the prompt that contains the words, or of the message that has most of
/// them.
fn origin(draft: &Draft<'_>, words: &str) -> Option<Origin> {
    let wanted = text::plain(words);
    let mut prompts = draft.evidence.prompts.iter();
    let quoted = prompts.find(|prompt| text::plain(&prompt.text).contains(&wanted));
    quoted.map(|prompt| prompt.origin).or_else(|| draft.places.of(words).map(|found| found.origin))
}

fn unquoted(words: &str) -> &str {
    let words = words.trim();
    words.strip_prefix('"').and_then(|words| words.strip_suffix('"')).unwrap_or(words).trim()
}
