//! Determines the kind of claim that a single sentence makes, by its words.

use crate::{
    model::evidence::StatementKind,
    report::{Topic, is_foreign_phrase, is_phrase},
    text::{capitalised, pattern, patterns, without_full_stop},
};

/// Minimum and maximum length, in bytes, of what the agent states after it admits its mistake.
const CONCEDED_BYTES: std::ops::RangeInclusive<usize> = 40..=260;

/// Returns the kind of a firm statement: a cause, a decision with its reason or alternative, a
/// discovery or a dead end. A choice that the agent is about to carry out is a decision.
/// `announced` is true after a sentence such as "Found it!".
pub(super) fn statement_kind(sentence: &str, announced: bool) -> Option<StatementKind> {
    if is_intended_choice(sentence) {
        return Some(StatementKind::Decision);
    }
    if is_not_firm(sentence) {
        return None;
    }
    if is_decision(sentence) || is_reasoned_action(sentence) {
        return Some(StatementKind::Decision);
    }
    let follows_announcement =
        announced && (is_fault(sentence) || sentence.contains('`') && !is_about_agent(sentence));
    if is_cause(sentence) || follows_announcement {
        return Some(StatementKind::Cause);
    }
    if is_dead_end(sentence) {
        return Some(StatementKind::DeadEnd);
    }
    is_discovery(sentence).then_some(StatementKind::Discovery)
}

/// Whether a sentence such as "Found it!" announces that the next sentence states a cause.
pub(super) fn announces_cause(sentence: &str) -> bool {
    sentence.len() < 80
        && pattern!(r"(?i)^(?:\w+[!,.] )?(?:I(?:'ve| have)? |we )?(?:now )?(?:found|see|identified) (?:it|the (?:actual |real |exact )?(?:issue|problem|bug|cause|culprit|root cause))(?: now)?[.!]*$")
            .is_match(sentence)
}

/// Whether a sentence is a guess, a question, an announcement, or talk with the user. Such a
/// sentence is not a firm statement.
pub(in crate::summarize::evidence) fn is_not_firm(sentence: &str) -> bool {
    sentence.ends_with(['?', '…'])
        || sentence.starts_with(['❌', '|', '/', '$', '{', '<', '('])
        || pattern!(
            r"(?i)^(?:let me|let's|i'll|i will|i'm going|i'd|i would|i need|i should|i want|i can|now (?:let|i|we)|next[, ]|first[, ]|would|could|should|shall|want me|do you|if |when you|once you|maybe|perhaps|wait|hmm|actually,? wait|ok(?:ay)?,? (?:so|let)|please|feel free|to (?:test|verify|check|fix)|you(?:'re| are) (?:absolutely |completely )?right|good (?:question|catch|call|point)|great (?:question|catch|call|point)|thanks|sorry|note that you|for example|e\.g\.|option [a-d0-9]|step \d)"
        )
        .is_match(sentence)
        || pattern!(
            r"(?i)\b(?:might|may be|maybe|probably|likely|perhaps|possibly|could be|i think|i suspect|i believe|i guess|seems?|appears? to|looks like|not sure|presumably|let me|i'll|should be able|want me to|would you)\b"
        )
        .is_match(sentence)
}

/// Whether a sentence begins with a label such as `Decision:`, or states a decision with its reason
/// or its rejected alternative.
pub(super) fn is_decision(sentence: &str) -> bool {
    let chosen = pattern!(
        r"(?i)^(?:so |instead,? |therefore,? )?(?:(?:I|we)(?:'ve| have)? |the (?:team|plan|design|user) )?(?:deliberately |intentionally |explicitly |ultimately |finally )?(?:chose|chosen|opted for|decided (?:to|on|against|not)|went with|going with|settled on|picked|preferred|deferred|ruled out|rejected|kept|left|used|using|switched|stuck with|avoided|reused|shelled? out)\b"
    )
    .is_match(sentence);
    let declared =
        pattern!(r"(?i)^\*{0,2}(?:key |main |design |architectural )*decision(?: made)?:")
            .is_match(sentence);
    if !chosen && !declared {
        return false;
    }
    let contrasted =
        pattern!(r"(?i)\b(?:instead of|rather than|over (?:the )?\w+|in favou?r of)\b")
            .is_match(sentence);
    let reasoned = pattern!(
        r"(?i)\b(?:because|since|so that|so (?:it|we|the|that|they)|to (?:avoid|keep|prevent|stay|match|preserve|reduce|ensure|make|allow|minimi[sz]e|simplify)|for (?:consistency|simplicity|compatibility|safety|performance|now|clarity|backwards?)|due to|as (?:it|this|that|the|they)|— )|^[^:`]{4,60}: (?:\S+ ){3,}"
    )
    .is_match(sentence);
    let strong = pattern!(r"(?i)\b(?:chose|chosen|opted for|decided|went with|settled on|ruled out|deliberately|intentionally)\b").is_match(sentence);
    let undecided = pattern!(r"(?i)\b(?:decided by|decide (?:whether|if|which)|your choice|up to you|has not been decided)\b").is_match(sentence);
    !undecided
        && (declared
            || (chosen
                && (contrasted && (reasoned || strong || sentence.contains('`'))
                    || (strong && reasoned))))
}

/// Whether the agent states a choice that it is about to carry out or that it made on purpose, for
/// example `I'll resolve by keeping the old name` or `This is deliberately not migrated`. The
/// summary uses such a choice only if a file is changed after it.
pub(in crate::summarize) fn is_intended_choice(sentence: &str) -> bool {
    let chosen = patterns!(
        r"(?i)^(?:for [^,]{3,60},? )?(?:i['’]ll|i will|i['’]m(?: going to)?|i am(?: going to)?) (?:also |therefore |deliberately |intentionally )*(?:(?:resolve|resolving) .{0,60}\bby (?:keeping|taking|using|dropping|leaving)\b|(?:keep|keeping|leave|leaving|preserve|preserving)\b.{8,}\b(?:rather than|instead of|but|because|since|so that|alongside|without|aligned|compatib\w+|for consistency)\b|.{8,}\band (?:keep|leave|preserve)\b .{8,}|(?:add|remov|us|tak|drop|replac|mov|split|compos|merg|renam)(?:e|ing|ping|ting|ging)?\b.{3,}\b(?:rather than|instead of)\b .{8,})",
        r"(?i)^(?:since|because|given that) .{12,}?, (?:i['’]ll|i will|i['’]m going to|i am going to) .{12,}",
        r"(?i)\b(?:deliberately|intentionally) (?:not|left|leave|leaving|kept|keep|keeping)\b"
    );
    let is_unsure = pattern!(
        r"(?i)\b(?:might|maybe|probably|perhaps|possibly|i think|not sure|let me|if you|posted)\b|\?$|\bso (?:that )?(?:i|we|it) can\b|, then i(?:['’]ll| will)\b|\brather than just\b|\b(?:notes?|says?|claims?|comments?) that\b|\bbefore deciding\b|^.{0,24}(?:ing|e|ve) (?:it|this|that|them|these|those)\b|, (?:i['’]ll|i will|i['’]m going to|i am going to) (?:now )?(?:create|write|generate|draft) (?:an?|the) (?:[\w.-]+ ){0,3}(?:file|document|readme|notebook|page)[.!]?$"
    );
    chosen.is_match(sentence) && !is_unsure.is_match(sentence) && !announces_routine(sentence)
}

/// Whether the agent announces a routine step with its reason, for example
/// `Since all tests pass, I'll commit the change`, or keeps a program running meanwhile.
fn announces_routine(sentence: &str) -> bool {
    let step = pattern!(
        r"(?i), (?:i['’]ll|i will|i['’]m going to|i am going to) (?:now |also |just |first )*(?:(?:(?:commit|push|run|rerun|re-run|check|read|test|verify|start)(?:(?:,| and) (?:commit|push|run|rerun|re-run|check|test|verify))*) (?:(?:(?:the|this|that|all|my|your|more) )?(?:[\w-]+ ){0,2}(?:tests?|suite|build|lint(?:er)?|changes?|file|files|fix|branch|diff|logs?|output|docs|server)|it|this|that|them|everything)(?: (?:again|now|first|once more|with a filter|locally))*(?: to (?:see|verify|check|confirm|make sure) .*)?|look .*|check (?:whether|if|how|what|where) .*|continue(?: with .*)?|open (?:the|an?) (?:file|page|pr|pull request|browser))[.!]?$"
    );
    let contrasts = pattern!(r"(?i)\b(?:instead of|rather than|alongside|because|until|without)\b");
    let keeps_running = pattern!(
        r"(?i)\b(?:keep|keeping|leave|leaving) (?:it|them|(?:the|this) (?:[\w-]+ ){0,2}[\w-]+) running\b(.*)"
    );
    step.captures(sentence).is_some_and(|found| !contrasts.is_match(&found[0]))
        || keeps_running.captures(sentence).is_some_and(|found| !contrasts.is_match(&found[1]))
}

/// Returns what the agent states after it admits its mistake, as in ``My mistake — the list is in
/// `a.rs` ``, if the statement mentions a name and can be understood alone.
pub(super) fn conceded(sentence: &str) -> Option<&str> {
    let admits = pattern!(
        r"(?i)^(?:my (?:mistake|bad)|i was (?:wrong|mistaken)|correction|you(?:['\u{2019}]re| are) (?:\w+ )?right|(?:good|great) (?:catch|point))(?: - | [\u{2014}\u{2013}] ?|: |, )"
    );
    let stated = sentence[admits.find(sentence)?.end()..].trim_start();
    let is_firm = CONCEDED_BYTES.contains(&stated.len())
        && stated.contains('`')
        && !stated.ends_with(':')
        && !is_not_firm(stated)
        && !pattern!(r"(?i)^(?:i|we|you|that|this|these|those|it|they|one|there|in|so|and|but|yes|no|both|after|when)\b")
            .is_match(stated);
    is_firm.then_some(stated)
}

/// Whether a sentence states the cause of an error.
pub(super) fn is_cause(sentence: &str) -> bool {
    let named = pattern!(
        r"(?i)^(?:so |ah,? |and )?(?:the |this |that |my )?(?:(?:actual|real|underlying|core|main|first|second) )?(?:(?:root )?cause|issue|problem|bug|culprit|failures?|crash|regression|mismatch|tests?|ci|build|lint|push|job)(?: here| there| now)? (?:is|are|was|were|comes? from|came from|stems? from|stemmed from|existed|exists|happen(?:s|ed)|occur(?:s|red)|fail(?:s|ed)?|broke)\b"
    )
    .is_match(sentence)
        && pattern!(r"(?i)\b(?:because|that|due to|since|from|caused by|when|by|didn't|doesn't|isn't|wasn't|not|missing|wrong|only|without|instead of)\b").is_match(sentence)
        && !pattern!(r"(?i)\b(?:we can see|looking for|now passing|now pass|passing|is (?:just|in|with) (?:the|how)\b|I'm calling|happening|clear)\b").is_match(sentence)
        && !pattern!(r"(?i)\b(?:is|was|were|now) (?:now )?(?:fixed|resolved|solved|gone|clear|clear now|that (?:you|i)\b|to (?:be|add|use)|simple|minor|acceptable|fine)\b").is_match(sentence);
    // For example: `parse()` drops the sign instead of keeping it.
    let is_wrong_code = pattern!(
        r"(?i)^(?:the )?(?:`[^`]+`|[a-z_][\w.]*\(\)) (?:always |only |still |just |silently )?(?:drops|forgets|ignores|loses|overwrites|truncates)\b.{4,}\b(?:instead of|rather than)\b"
    )
    .is_match(sentence);
    let is_foreign =
        is_foreign_phrase(Topic::Cause, sentence) && !is_foreign_phrase(Topic::Guess, sentence);
    // For example: `The button exists in the page but has no listener.`
    let is_incomplete = pattern!(
        r"(?i)^(?:the|this|that|each|every) (?:[\w`./-]+ ){0,4}?(?:button|field|form|link|menu|handler|function|method|class|route|endpoint|option|flag|hook|variable|component|element|event|template|script|style)s?(?: [^.;:?]{1,60}?)? (?:exists?|is (?:there|defined|declared|rendered|registered|shown))\b[^;:?]{0,60}?,? but (?:it )?(?:has no|is (?:never|not)|isn['’]t|does(?: not|n['’]t)|never|nothing)\b"
    )
    .is_match(sentence)
        && !pattern!(r"(?i)\byet\b").is_match(sentence);
    (named || is_root_cause(sentence)) && !is_plain_remark(sentence)
        || is_wrong_code
        || is_foreign
        || is_incomplete
}

/// Whether a sentence that begins as a cause does not state it: it says how or when the tests are
/// run, that they are not affected, what the problem is not, or who reported the problem.
fn is_plain_remark(sentence: &str) -> bool {
    let about_runs = pattern!(
        r"(?i)^(?:so |and )?(?:the |this |that |my )?(?:tests?|build|lint|ci|job|push)(?: here| there| now)? (?:is|are|was|were) (?:not |only |now |also |always |still )*(?:affected|run|ran|forced|required|needed|triggered|scheduled|written|executed|started|part of)\b"
    );
    let of_problem = pattern!(
        r"(?i)^(?:so |and )?(?:the |this |that )?(?:\w+ )?(?:issue|problem|bug|cause) (?:is|was) (?:(not (?:in|with|about|due|the|this|our|my|here|there|related)\b)|(?:reported|found|raised) by\b)"
    );
    // `The problem is not in the reader, but in the parser` states where the problem is.
    let contrasts = pattern!(r"(?i)\b(?:but|rather)\b|\bit(?:['’]s| is| was)\b|[;:] ");
    let gives_reason = pattern!(
        r"(?i)\b(?:because|since|due to|twice|against|wrong|without|although|instead of)\b"
    );
    let denies_or_reports = of_problem
        .captures(sentence)
        .is_some_and(|found| found.get(1).is_none() || !contrasts.is_match(sentence));
    about_runs.is_match(sentence) && !gives_reason.is_match(sentence) || denies_or_reports
}

fn is_root_cause(sentence: &str) -> bool {
    patterns!(
        r"(?i)^(?:the |these |this |both |all )?(?:failing |two |three )?tests? (?:still )?expect(?:s|ed)? .{8,}\bbut\b.{8,}",
        r"(?i)(?:\broot causes?(?: identified| found)?|^(?:the )?(?:actual |real )?cause)(?: is| was|:| —| -)",
        r"(?i)\b(?:was|were|is|are) (?:failing|broken|crashing|hanging|rejected|interfering|not (?:working|found|loaded|firing|detected)) (?:because|since|due to)\b|\bfail(?:s|ed) (?:[a-zA-Z0-9_`@/.-]+ ){0,8}because\b|\b(?:was|were) caused by\b|\b(?:didn't|did not) work because\b",
    )
    .is_match(sentence)
}

pub(super) fn is_discovery(sentence: &str) -> bool {
    let is_about_finding = patterns!(
        r"(?i)^(?:I notice[d]? (?:that )?(?:there(?:'s| is) )?(?:a |an )?(?:discrepancy|mismatch|inconsistency)\b|interesting[!:.,] .{10,}\b(?:only|never|always|strips?|drops?|ignores?|returns?|keeps?|actually)\b.*|the \w+ (?:had|have) already (?:terminated|exited|expired)\b)",
        // `Since a imports b, I can't import a from b`: why an approach failed.
        r"(?i)^(?:since|because) .{8,}, (?:i|we) (?:can.t|cannot|can not) .{12,}",
        r"(?i)\b(?:errors?|failures?|failing|fails?|warnings?|tests?|lint)\b.*\b(?:pre-?existing|(?:unrelated|not related) to (?:my|our|this|these|the) change|not (?:caused|introduced) by (?:my|our|this|these))",
        // A defect that a test or a review exposed, and the reason for the use of another tool.
        r"(?i)\b(?:exposed|uncovered|surfaced|revealed) (?:an?|one|two|another) (?:real|actual|concrete|subtle|genuine) (?:\w+ )?(?:bug|defect|detail|race|issue|problem|mismatch|deadlock|leak)\b.{12,}",
        r"(?i)\b(?:fail(?:s|ed|ing)|not usable|cannot|can['’]t|blocked|denied|unavailable|broken|rejects?|refuses?|(?:does|do|did)(?: not|n['’]t) (?:support|work|exist|accept|allow))\b.{3,160}[,;] so i(?:['’]m| am) (?:now |instead )?(?:switching|using|falling back|moving|pointing|routing)\b",
    )
    .is_match(sentence);
    let is_learned = pattern!(
        r"(?i)^(?:it |as it )?turn(?:s|ed) out\b|\bit turn(?:s|ed) out (?:that )?|^(?:I |we )?(?:also )?(?:found|discovered|learned|confirmed|verified|noticed) (?:out )?that\b"
    );
    is_about_finding && is_about_code(sentence)
        || is_learned.is_match(sentence) && sentence.len() > 40
}

/// Whether a sentence reports an attempt that failed or was abandoned.
pub(super) fn is_dead_end(sentence: &str) -> bool {
    is_phrase(Topic::DeadEnd, sentence)
}

/// Whether a sentence reports an action with its reason: `X returned nil, so I added a check`,
/// `Since nobody reads it, I removed the field`,
/// `Moved the lock out of the loop to avoid a deadlock`.
fn is_reasoned_action(sentence: &str) -> bool {
    patterns!(
        r"(?i)^.{20,}, so (?:I|we)(?:'ve| have)? (?:also |now |just |instead )?(?:added|used|kept|left|removed|switched|made|skipped|created|chose|moved|went|changed|put|set|wrapped|replaced|dropped|renamed|merged|split|excluded|disabled|limited|pinned)\b",
        r"(?i)^(?:since|because|given that|as) .{15,}, (?:I|we)(?:'ve| have)? (?:also |now |just |instead )?(?:added|used|kept|left|removed|switched|made|skipped|created|chose|moved|went|changed|put|set|wrapped|replaced|dropped|renamed|decided)\b",
        r"(?i)^(?:(?:I|we)(?:'ve| have)? )?(?:kept|left|moved|switched|replaced|dropped|skipped|excluded|pinned|wrapped|split|limited|avoided|deferred|removed) .{12,} (?:because|so that|to avoid|to keep|to prevent|since|rather than|instead of|for consistency|for backwards?[- ]compatibility) .{6,}",
    )
    .is_match(sentence)
        && !is_obedience_or_routine(sentence)
}

/// Whether an action only follows a request, or is a routine step: the next file, or the removal of
/// temporary files.
fn is_obedience_or_routine(sentence: &str) -> bool {
    patterns!(
        r"(?i)^as (?:requested|asked|mentioned|noted|discussed|planned|agreed|described|explained|suggested|proposed|instructed|before|above|usual|promised|part of|you (?:asked|requested|said|wanted|suggested|noted|mentioned))\b",
        r"(?i)\bmoved on\b",
        r"(?i)\b(?:removed|deleted|dropped) (?:the |all |my |both |these )*(?:temporary|temp|scratch|throwaway) (?:\w+ )?(?:files?|folders?|scripts?|outputs?|prints?|logs?)\b",
    )
    .is_match(sentence)
}

/// Whether the subject of a sentence is the agent, as in ``I changed `total()` ``.
fn is_about_agent(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:so |now |then |and )?(?:i|we)(?:['’](?:ve|m|ll|re|d))? ").is_match(sentence)
}

/// Whether a sentence after "Found it!" describes the fault, not the search for the fault.
pub(super) fn is_fault(sentence: &str) -> bool {
    sentence.len() >= 40
        && (is_about_code(sentence) || describes_fault(sentence))
        && !is_not_firm(sentence)
        && !pattern!(r"(?i)^(?:i|i've|we|here|this is|these are|all|both tests|two tests|the test is)\b|\bnow (?:passing|works?|passes)\b|\bI'm\b")
            .is_match(sentence)
}

/// Whether a sentence without code says what is wrong with a part of the program, for example `The
/// current mapping is too narrow`.
fn describes_fault(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:the|our|each|every) (?:[\w-]+ ){1,5}?(?:(?:is|are) (?:too|never|not|missing|hard-?coded)\b|has no\b|have no\b|maps? to\b|(?:does|do)(?: not|n['’]t)\b)")
        .is_match(sentence)
}

/// Whether the sentence mentions code or a file.
pub(super) fn is_about_code(sentence: &str) -> bool {
    sentence.contains('`')
        || pattern!(r"\w\.(?:rs|go|py|ts|tsx|js|jsx|md|json|ya?ml|toml|sh|html|css|java|rb|c|h|cpp)\b|\w\(\)|\b[a-z]+[A-Z]\w|\w_\w|/\w+/\w")
            .is_match(sentence)
}

/// Returns the change that the agent announces, as an imperative: `Let me add the missing import.`
/// becomes `Add the missing import`. Returns `None` for other announcements, and for a change that
/// the sentence does not describe (`Let me fix this`).
pub(in crate::summarize::evidence) fn intention(sentence: &str) -> Option<String> {
    let announced = pattern!(
        r"(?i)^(?:(?:now|so|ok|okay|good|great|perfect|right|i see)[,!.]? )*(?:(?:let me|let's|i'll|i will|i need to|i should|we need to|we should|i can|i just need to|now i'll|the (?:simplest |right |proper )?(?:fix|solution) is to) )(?:just |also |now |simply |first |instead |quickly |properly )?(add|adjust|allow|bump|change|convert|correct|create|declare|delete|disable|downgrade|drop|enable|escape|exclude|export|expose|extend|extract|fix|handle|ignore|implement|import|increase|initiali[sz]e|install|limit|lower|make|mark|mock|modify|move|normali[sz]e|pass|patch|pin|put|raise|refactor|regenerate|reinstall|relax|remove|rename|reorder|replace|reset|restore|restructure|return|revert|rewrite|set|simplify|skip|split|suppress|swap|switch|unset|update|upgrade|use|wrap|write)\b(.*)$"
    );
    let found = announced.captures(sentence)?;
    let rest = without_full_stop(found[2].trim());
    let vague = pattern!(
        r"(?i)^(?:(?:this|it|that|them|these|those|both|all|the (?:issue|problem|test|tests|error|errors|code|file|bug|failing tests?|lint (?:issues?|errors?)))(?: (?:now|too|properly|issue|issues|error|errors|problem|by))?)?$"
    );
    if vague.is_match(rest) || rest.len() < 10 {
        return None;
    }
    Some(capitalised(&format!("{} {rest}", found[1].to_lowercase())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_an_admitted_mistake_is_found() {
        for (sentence, wanted) in [
            (
                "My mistake — the warnings are in `apps/api/src`, not in the client.",
                Some("the warnings are in `apps/api/src`, not in the client."),
            ),
            (
                "You're right: `Row` uses only `onDoubleClick`, and no `onClick`.",
                Some("`Row` uses only `onDoubleClick`, and no `onClick`."),
            ),
            ("You're right — that is a real regression in `Row` and `List`.", None),
            ("You're right — the warnings are in the backend, not in the client.", None),
            ("Good catch — I should have read `apps/api/src` before the edit.", None),
        ] {
            assert_eq!(conceded(sentence), wanted, "{sentence}");
        }
    }

    #[test]
    fn unfinished_work_is_no_cause() {
        for (sentence, wanted) in [
            ("The button exists in the page but has no listener.", true),
            ("The route is registered, but it never reads the body.", true),
            ("The branch exists on the remote but has no pull request yet.", false),
            ("The migration is created but is not applied on production.", false),
            ("The tag exists but is not signed.", false),
            ("The endpoint exists but is not deployed yet.", false),
        ] {
            assert_eq!(is_cause(sentence), wanted, "{sentence}");
        }
    }

    #[test]
    fn a_remark_about_tests_or_a_denied_problem_is_no_cause() {
        for sentence in [
            "The tests are run by GitHub Actions on each push, too.",
            "The tests are not affected by this change.",
            "The tests were not run in this environment.",
            "The job is scheduled by cron at midnight.",
            "The lint is only run in CI.",
            "The tests were written by hand.",
            "The issue was reported by two users.",
            "The problem is not in the parser, so the reader is next.",
            "The root cause is not the cache, so it stays.",
        ] {
            assert!(!is_cause(sentence), "{sentence}");
        }
        for sentence in [
            "The tests were failing because the mock never returned a value.",
            "The tests are broken by the new field, which the mock is missing.",
            "The build was using the wrong compiler from the cache.",
            "The job is missing the token that the push needs.",
            "The problem is that the list is not sorted.",
            "The issue is not setting the header when the body is empty.",
            "The tests were run against the old schema because DATABASE_URL was not set.",
            "The job is triggered twice because the webhook is registered in both repositories.",
            "The problem is not the query; the index is missing.",
            "The bug is not in `parse()`: the caller passes the wrong offset.",
            "The bug is caused by the second worker, which has no lock.",
            "The bug was introduced by the commit that dropped the lock.",
            "The problem is not in the reader, but in the parser of rows.",
        ] {
            assert!(is_cause(sentence), "{sentence}");
        }
        for sentence in ["I updated `total()` to round only the sum.", "I've moved `total()`."] {
            assert_eq!(statement_kind(sentence, true), None, "{sentence}");
        }
        for sentence in ["`total()` rounds each row.", "In `total()`, each row is rounded."] {
            assert_eq!(statement_kind(sentence, true), Some(StatementKind::Cause), "{sentence}");
        }
    }

    fn kind(sentence: &str) -> Option<StatementKind> {
        statement_kind(sentence, false)
    }

    #[test]
    fn the_creation_of_a_file_is_no_choice() {
        for sentence in [
            "Since there is very little code, I'll create a foundational CLAUDE.md file.",
            "Because nothing exists yet, I will write the first notebook.",
        ] {
            assert!(!is_intended_choice(sentence), "{sentence}");
        }
        for sentence in [
            "Since `a` imports `b`, I'll create a third module for the types.",
            "Since the parser is slow, I'll write a new file instead of one more branch in it.",
            "Since nobody reads the field, I'll remove it from the page.",
        ] {
            assert!(is_intended_choice(sentence), "{sentence}");
        }
    }

    #[test]
    fn a_part_that_exists_without_its_effect_is_a_cause() {
        for sentence in [
            "The close button exists in the HTML but has no click listener.",
            "The flag is defined in `cli.rs`, but it is never read by the parser.",
        ] {
            assert!(is_cause(sentence), "{sentence}");
        }
        for sentence in [
            "The close button exists in the HTML and has a listener.",
            "A second list exists, but nobody asked for it.",
            "The page is shown in all browsers but the list is new.",
        ] {
            assert!(!is_cause(sentence), "{sentence}");
        }
        let fault = "The current mapping is too narrow and does not use the whole range of values.";
        assert_eq!(statement_kind(fault, true), Some(StatementKind::Cause));
        assert_eq!(statement_kind(fault, false), None);
        let work = "The tests of the mapping run in ten seconds on this computer.";
        assert_eq!(statement_kind(work, true), None);
    }

    #[test]
    fn the_kinds_of_firm_statements_are_distinguished() {
        use StatementKind::{Cause, DeadEnd, Decision, Discovery};
        for (sentence, wanted) in [
            ("The issue was that the parser dropped the last line without a newline.", Some(Cause)),
            ("Root cause: the timeout is read in seconds but given in minutes.", Some(Cause)),
            ("The tests were failing because the mock never returned a value.", Some(Cause)),
            ("The cause: the loop starts at 3 instead of 1, so two retries are lost.", Some(Cause)),
            ("The push failed because the remote has a newer commit.", Some(Cause)),
            (
                "The tests expect messages on stderr, but the command returns plain errors.",
                Some(Cause),
            ),
            (
                "The suite failed before reaching this change because the built `core` is stale.",
                Some(Cause),
            ),
            ("I chose a lock file over a socket because it survives a crash.", Some(Decision)),
            ("Decided to keep the old field since clients still read it.", Some(Decision)),
            ("Used `with_lock()` instead of a flag that every caller sets.", Some(Decision)),
            (
                "It turns out the cache is only written when the process exits cleanly.",
                Some(Discovery),
            ),
            (
                "Since `cli` imports `strategy`, I can't import `cli` from that package.",
                Some(Discovery),
            ),
            (
                "The errors of the API are all pre-existing (in `auth.spec.ts`, not related to my changes).",
                Some(Discovery),
            ),
            (
                "One of the new tests exposed a real detail: `list()` also counts the empty rows.",
                Some(Discovery),
            ),
            (
                "`gh pr edit` is failing on an old field, so I’m switching to the REST endpoint.",
                Some(Discovery),
            ),
            ("The build is failing, so I'm looking at `list.rs`.", None),
            ("I tried a global lock, but that did not help with the second worker.", Some(DeadEnd)),
            ("Reverted the change of the default port.", Some(DeadEnd)),
            ("Den Index habe ich wieder verworfen, weil er nichts bringt.", Some(DeadEnd)),
            ("J'ai essayé un index, mais ça n'apporte rien, donc je l'ai retiré.", Some(DeadEnd)),
            ("Probé un índice, pero no aporta nada, así que lo quité.", Some(DeadEnd)),
            ("试过加索引，但没有效果，所以撤销了。", Some(DeadEnd)),
            ("インデックスも試しましたが効果がなかったので元に戻しました。", Some(DeadEnd)),
            ("Die Ursache ist vermutlich, dass der Zeiger ungültig war.", None),
            ("The issue might be that the cache is stale.", None),
            ("Let me check whether the issue was the port.", None),
            ("The issue is fixed now.", None),
            ("Should we use sled instead of a file?", None),
            ("You could use a map instead of a list because it is faster.", None),
            ("All tests pass.", None),
        ] {
            assert_eq!(kind(sentence), wanted, "{sentence}");
        }
    }

    #[test]
    fn a_sentence_after_an_announcement_is_a_cause() {
        assert!(announces_cause("Found it!"));
        assert!(announces_cause("I found the bug!"));
        assert!(announces_cause("Perfect! I found the issue."));
        assert!(!announces_cause("I found the file."));
        assert_eq!(
            statement_kind("`flush()` runs before the header is complete.", true),
            Some(StatementKind::Cause)
        );
        assert_eq!(statement_kind("`flush()` runs before the header is complete.", false), None);
    }

    #[test]
    fn intentions_become_imperatives() {
        for (sentence, wanted) in [
            ("Let me add the missing import to `a.rs`.", Some("Add the missing import to `a.rs`")),
            (
                "Now I'll update the mock to return the new type:",
                Some("Update the mock to return the new type"),
            ),
            (
                "I need to limit the total before it is stored.",
                Some("Limit the total before it is stored"),
            ),
            (
                "The fix is to also reset the new session's state",
                Some("Reset the new session's state"),
            ),
            ("Let me fix this:", None),
            ("Let me check the parser first.", None),
            ("I'll run the tests again.", None),
        ] {
            assert_eq!(intention(sentence).as_deref(), wanted, "{sentence}");
        }
    }

    #[test]
    fn routine_steps_and_obedience_are_no_decisions() {
        for (sentence, wanted) in [
            ("Since all tests pass now, I'll commit and push the change.", false),
            ("Because the output was too long, I'll run the tests again with a filter.", false),
            ("I'll run the tests and leave the server running for the next step.", false),
            (
                "I'll start the dev server in the background and keep it running while I check the page.",
                false,
            ),
            ("Since the suite is slow, I'll run the tests in parallel rather than in order.", true),
            ("Since the rows are stored as JSON, I'll read them with `serde`.", true),
            ("Because the tests share one database, I'll run them sequentially.", true),
            (
                "Since the value comes from the user, I'll verify the signature before it is parsed.",
                true,
            ),
            ("Since the job is idempotent, I'll run it on every deploy.", true),
            (
                "I'll keep the old API running alongside the new one until the clients have moved.",
                true,
            ),
            ("Since the fix is complete, I'll run the whole suite again.", false),
            ("Because the build is green now, I'll push it.", false),
            ("Since the mock was wrong, I'll run the tests to see if they pass now.", false),
            ("Since the page is public, I'll open the port for the proxy only.", true),
            ("I'll remove the list and keep the running total in the store.", true),
            ("As requested in your last message, I removed the debug output of `util.py`.", false),
            ("As part of this refactor, I moved the helper into `utils.py`.", false),
            ("I moved on to the next file to keep the order of your list.", false),
            ("I removed the temporary files to keep the folder clean.", false),
            ("As the helper is used by two pages, I moved it into `utils.py`.", true),
            ("As `total` is never read by a page, I removed the field.", true),
            ("I moved the helper into `utils.py` to avoid a cycle of imports.", true),
            ("I removed the temporary table of the import to avoid the lock.", true),
        ] {
            assert_eq!(kind(sentence) == Some(StatementKind::Decision), wanted, "{sentence}");
        }
    }

    #[test]
    fn a_deliberate_choice_of_the_agent_is_a_decision() {
        for (sentence, wanted) in [
            (
                "I’ll resolve by keeping the newer contract rather than resurrecting the old budget.",
                true,
            ),
            (
                "I'm going to add `max_jobs` as the override and keep legacy `workers` rejected.",
                true,
            ),
            ("Since the column is still read, I'm going to keep it for one more release.", true),
            ("The archive is deliberately not migrated, because nobody opens it.", true),
            ("I'll maybe keep the old contract instead of the new one.", false),
            ("I'll run the tests.", false),
            ("I'll keep you posted.", false),
            (
                "I'm looking at the client now so I can run the list over `test` and keep all of it in one file.",
                false,
            ),
            ("Replaced it with a note that the schema was intentionally not updated.", false),
            ("I'm reading the list rather than just polishing the manual of the parser.", false),
            ("I'm resolving them by keeping the newer contract rather than the old one.", false),
            (
                "I'm removing the entry of the manual entirely rather than softening its words.",
                true,
            ),
        ] {
            assert_eq!(kind(sentence) == Some(StatementKind::Decision), wanted, "{sentence}");
        }
    }
}
