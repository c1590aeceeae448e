//! Parses sentences of the agent that state a decision.

use crate::{
    model::{summary::DecisionRecord, wording::NO_REASON},
    report::parts_of_decision,
    summarize::{evidence::is_intended_choice, from_evidence::entries::ENTRY},
    text::{capitalised, cut, pattern, without_full_stop},
};

/// Parses a sentence that states a decision, with its reason and the rejected alternative. Returns
/// `None` if the sentence has no reason and no alternative, and does not announce a choice.
pub(super) fn record(sentence: &str) -> Option<DecisionRecord> {
    let labelled = without_label(sentence);
    let is_labelled = labelled.len() < sentence.len();
    let sentence = without_full_stop(labelled);
    // After the label, the decision may be a single name.
    let because = [", because ", ", weil "].into_iter();
    let short = because.filter_map(|word| sentence.split_once(word)).next().filter(|_| is_labelled);
    let parts = parts_of_decision(sentence);
    let (decision, reason) = match (parts.what.zip(parts.why), heading(sentence).or(short)) {
        (Some((what, why)), _) => (what, Some(capitalised(&why))),
        (None, Some((label, rest))) => (label.to_owned(), Some(capitalised(rest))),
        (None, None) => with_reason(sentence),
    };
    let others = alternative(&decision).or_else(|| alternative(sentence));
    let others = others.or(parts.other.map(|other| capitalised(&other)));
    if reason.is_none() && others.is_none() && !is_intended_choice(sentence) {
        return None;
    }
    let decision = pattern!(
        r"(?i)^(?:so |and |therefore,? |instead,? )?(?:I|we)(?:['’](?:ve|ll|m)| have| will| am)?(?: going to)? (?:also |now |just )?"
    )
    .replace(&decision, "");
    Some(DecisionRecord {
        decision: cut(&capitalised(decision.trim()), ENTRY),
        rationale: reason.map_or(NO_REASON.to_owned(), |reason| cut(&reason, ENTRY)),
        alternatives: others.map(|other| vec![other]),
    })
}

/// Returns a sentence without a label such as `Decision:`, in any of the supported languages.
pub(super) fn without_label(sentence: &str) -> &str {
    let label = pattern!(
        r"(?i)^\*{0,2}(?:(?:key |main |design |architectural )*decisions?(?: made)?|entscheidung(?:en)?|decisi(?:ón|ones)|décisions?|决定|決定|決定事項) ?[:：][*\s]*"
    );
    label.find(sentence).map_or(sentence, |found| &sentence[found.end()..])
}

/// Splits a sentence such as `Explicit units: the old ones were read as minutes` into its heading
/// and the rest.
fn heading(sentence: &str) -> Option<(&str, &str)> {
    let (label, rest) = sentence.split_once(": ").or_else(|| sentence.split_once(" — "))?;
    let is_label = label.split(' ').count() <= 8 && !label.contains(['(', ',']) && rest.len() > 20;
    is_label.then_some((label, rest))
}

/// Returns the decision, and the reason that the sentence gives.
pub(super) fn with_reason(sentence: &str) -> (String, Option<String>) {
    let so = pattern!(r"(?i)^(.{20,}?),? so (?:I|we)(?:'ve| have)? (.+)$");
    let since = pattern!(
        r"(?i)^(?:since|because|given that|as) (.{12,}?), (?:I|we)(?:['’](?:ve|ll|m)| have| will| am)?(?: going to)? (.+)$"
    );
    for pattern in [since, so] {
        if let Some(parts) = pattern.captures(sentence) {
            return (capitalised(&parts[2]), Some(capitalised(&parts[1])));
        }
    }
    let reason = pattern!(
        r"(?i)^(.{12,}?)(?:,| —)? (?:because|since|due to|(?:so (?:that )?(?:it|we|the|that|they)|to (?:avoid|keep|prevent|stay|match|preserve|reduce|ensure|allow|minimi[sz]e|simplify)|for (?:consistency|simplicity|compatibility|safety|performance|clarity|backwards?)))\b"
    );
    let Some(found) = reason.captures(sentence) else { return (sentence.to_owned(), None) };
    let decision = found[1].to_owned();
    let rest =
        sentence[found.get(1).map_or(0, |part| part.end())..].trim_start_matches([',', ' ', '—']);
    let rest = pattern!(r"(?i)^(?:because|since)\s+").replace(rest, "");
    (decision, Some(capitalised(&rest)))
}

/// Returns the text after `instead of`, `rather than` or `over`.
fn alternative(sentence: &str) -> Option<String> {
    let found = pattern!(
        r"(?i)\b(?:instead of|rather than|(?:chose|opted for|picked|preferred|went with) .{2,60}? over) (.+?)(?:[,;(]|[:.] | [–—-] | because| since| so | to avoid| to keep| which| when| as |$)"
    )
    .captures(sentence)?;
    let other = without_full_stop(found[1].trim());
    (other.len() >= 3).then(|| capitalised(other))
}
