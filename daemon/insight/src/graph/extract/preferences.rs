//! Extracts the lasting wishes of the user, and the withdrawals of such wishes.

use super::{
    context,
    draft::{ClaimDraft, Draft},
    fact_selection, locate, progress,
};
use crate::{
    graph::text,
    lang::lasting,
    model::{
        Namespace,
        graph::{Certainty, EntityKind, Observation, Relation, Stance, Subject, Watch},
        transcript::Origin,
        wording::{EVERYWHERE, WITHDRAWN},
    },
    pattern::pattern,
    report::{
        Topic, is_phrase,
        retraction::{dropped, returned_to},
    },
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
    taken_back(draft);
}

/// Marks where the user dropped something, released the agent from something, or went back to
/// something. This may end an earlier wish. The sentences of one prompt, such as `back to npm.
/// forget pnpm`, are joined to one mark.
fn taken_back(draft: &mut Draft<'_>) {
    let takes_back = |sentence: &&str| {
        let takes_back = is_phrase(Topic::Release, sentence)
            || is_phrase(Topic::Withdrawal, sentence)
            || dropped(sentence).is_some()
            || returned_to(sentence).is_some();
        takes_back && !is_exception(sentence)
    };
    for prompt in &draft.evidence.prompts {
        let sentences =
            progress::prompt_sentences(&prompt.text).take(progress::MAX_PROMPT_SENTENCES);
        let sentences: Vec<&str> = sentences.filter(takes_back).collect();
        let words = text::topic_words(&sentences.join(" "));
        if locate::is_compaction(&prompt.text) || words.len() < 2 {
            continue;
        }
        let at = prompt.at.unwrap_or_else(|| draft.moments.at(prompt.origin));
        for namespace in [draft.namespace, Namespace::default()] {
            draft.mark(subject(namespace), at, Observation::Words(words.clone()));
        }
    }
}

/// Whether a sentence is about one task only, so that a lasting wish still holds after the task.
fn is_exception(sentence: &str) -> bool {
    let lasts = pattern!(
        r"(?i)\b(?:any ?more|any longer|no longer|from now on|going forward|in (?:the )?future)\b"
    );
    (is_phrase(Topic::OneTask, sentence) || lasting::is_for_now(sentence))
        && !lasts.is_match(sentence)
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
    let needs_task = !is_everywhere
        && (fact_selection::has_pronoun_object(words)
            || is_phrase(Topic::BareNoun, words)
            || names_bare_object(words));
    let sentence = match needs_task && draft.is_from_evidence() {
        true => context::with_task(draft, &sentence, origins.first().copied()).unwrap_or(sentence),
        false => sentence,
    };
    draft.claim(
        Relation::Prefers,
        source,
        target,
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

/// Whether a text refers to a thing of the session's work without its name, for example `the
/// migrations`.
pub(super) fn has_bare_object(words: &str) -> bool {
    // Every project has these things, so they are clear without a name.
    let known = pattern!(
        r"^(?:agent|branch|build|changelog|code|codebase|command|commit|commits|computer|default|docs|documentation|end|file|files|first|formatter|future|history|internet|language|last|latest|linter|machine|main|master|moment|name|names|next|only|other|output|pr|project|readme|repo|repository|rest|root|rules|same|shell|style|suite|system|task|terminal|test|tests|time|user|users|way|whole|work)$"
    );
    let object = pattern!(r"(?i)\b(?:the|these|those) ([a-z]+)\b");
    object.captures_iter(words).any(|found| !known.is_match(&found[1].to_lowercase()))
}

/// Whether a wish contains no name, and refers to an unnamed thing of the session's work or begins
/// with a bare noun, for example `full schema should not be updated`.
fn names_bare_object(words: &str) -> bool {
    let bare = pattern!(
        r"^(?:[a-z]+ ){1,2}(?:should|must) (?:not |never |only |always )?(?:be|have|stay|contain|use)\b"
    );
    let mine = pattern!(r"(?i)^(?:i|we|you|it|they|everything|nothing|all|each|every|no)\b");
    !fact_selection::names_something(words)
        && (has_bare_object(words) || bare.is_match(words) && !mine.is_match(words))
}

/// Returns the words without an introduction such as `and also` or `to be clear:`.
fn without_conjunction(words: &str) -> &str {
    let joint = pattern!(
        r"(?i)^(?:(?:and|but|so|also|btw|by the way|oh|ok(?:ay)?|plus|again|fyi|note|(?:just )?to be clear|to clarify|one (?:more|last) thing|(?:please )?(?:remember|note) that)\b[,:]? )+"
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
    quoted
        .map(|prompt| prompt.origin)
        .or_else(|| draft.sentence_index.of(words).map(|found| found.origin))
}

fn unquoted(words: &str) -> &str {
    let words = words.trim();
    words.strip_prefix('"').and_then(|words| words.strip_suffix('"')).unwrap_or(words).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_about_a_thing_without_a_name_needs_its_task() {
        for (wish, wanted) in [
            ("Please don't run the migrations on the server.", true),
            ("full schema should not be updated ever", true),
            ("Always run the tests before a commit.", false),
            ("Never touch the `users` table of the server.", false),
            ("we should not use mocks", false),
        ] {
            assert_eq!(names_bare_object(wish), wanted, "{wish}");
        }
    }

    #[test]
    fn a_wish_has_no_introduction() {
        for (wish, wanted) in [
            ("To be clear: use the built-in teams", "use the built-in teams"),
            ("and also please note that we use tabs", "we use tabs"),
            ("Always sign commits", "Always sign commits"),
        ] {
            assert_eq!(without_conjunction(wish), wanted);
        }
    }
}
