//! Finds statements that later events made obsolete, because something in them was removed,
//! replaced or taken back.

use crate::{
    model::{
        evidence::{Evidence, FileWork},
        transcript::Origin,
    },
    summarize::from_evidence::{
        entries::Entries,
        reported::restored::{is_name_of, is_restored},
        request::wording::{Manner, begins_as_order, is_question, plain},
    },
    text::{contains_name, pattern, sentences, words},
};

/// Maximum distance, in bytes, between a name and a word that reports its removal.
const MAX_DISTANCE_BYTES: usize = 32;
/// Maximum length, in bytes, of a prompt that [`keeps_other`] searches.
const MAX_PROMPT_BYTES: usize = 2_000;

/// Whether a later text says that something in `text` was removed, replaced or taken back.
///
/// The names in a text are its parts in back quotes, and words of code such as `ScriptProcessor`.
pub(crate) fn is_gone(entries: &Entries<'_>, text: &str, at: Origin) -> bool {
    let names = names(text);
    // A text that reports a removal stays true.
    if removal_words().is_match(text)
        && (names.is_empty() || names.iter().any(|name| reports_removal(text, name)))
    {
        return false;
    }
    let evidence = entries.evidence;
    let says_gone = |later: &str| {
        names.iter().any(|name| reports_removal(later, name)) || restores_value(later, text)
    };
    removed_thing(evidence, text, at).is_some()
        || states_old_value(evidence, text, at)
        || evidence
            .commits
            .iter()
            .any(|commit| commit.origin.follows(at) && says_gone(&commit.subject))
        || evidence.prompts.iter().any(|prompt| {
            prompt.origin.follows(at)
                && prompt.text.len() <= 400
                && sentences(&prompt.text)
                    .into_iter()
                    .any(|one| says_gone(one) && orders_or_states(one))
        })
        || entries
            .reports
            .reports
            .iter()
            .filter(|report| report.origin.follows(at) && report.changed)
            .flat_map(|report| &report.claims)
            .any(|claim| claim.label.as_deref().is_some_and(says_gone) || says_gone(&claim.text))
}

/// Whether a sentence of the user is no question, and neither forbids something nor applies only to
/// a part of the project.
fn orders_or_states(sentence: &str) -> bool {
    let asks = match plain(sentence).1 {
        Manner::Orders => false,
        Manner::Asks => true,
        Manner::States => is_question(sentence),
    };
    let is_limited = pattern!(
        r"(?i)^(?:(?:and|but|please|so|no|ok),? )*(?:don['’]?t|do not|never)\b|\bonly (?:in|on|for|when|where|if)\b|\b(?:in|on|for) [^,;]{1,40} only\b"
    );
    // The reason of a removal limits nothing: `remove it, it was only for the demo`.
    let reason =
        pattern!(r"(?i)[,;:] (?:it|they|this|that|which|because|since|as)\b").find(sentence);
    let order = &sentence[..reason.map_or(sentence.len(), |found| found.start())];
    !asks && !is_limited.is_match(order)
}

/// Whether a text states the value of a setting, such as ``timeout is `60` ``, that the session
/// replaced after `at`.
fn states_old_value(evidence: &Evidence, text: &str, at: Origin) -> bool {
    let later = evidence.settings.iter().filter(|change| change.origin.follows(at));
    later.filter(|change| change.new_value.is_some()).any(|change| {
        let key = change.setting.rsplit('.').next().unwrap_or(&change.setting);
        if key.len() < 4 || !contains_name(text, key) {
            return false;
        }
        let plain = text.replace('`', "");
        let before_key = plain.find(key);
        let rest = before_key.map(|start| &plain[start + key.len()..]);
        let stated = rest.and_then(|rest| {
            let value = pattern!(r"^ (?:is(?: now| set to)?|=) ([\w.:/-]+)").captures(rest)?;
            Some(value[1].trim_end_matches(['.', ':']).to_owned())
        });
        // A change of several steps is kept as one: only the first and the last value are known.
        let is_value = |value: &str| {
            change.old_value.as_deref() == Some(value)
                || value.contains(|c: char| c.is_ascii_digit())
                || text.contains(&format!("`{value}`"))
        };
        stated.is_some_and(|value| change.new_value.as_deref() != Some(&value) && is_value(&value))
    })
}

/// Returns the thing in `text` that a commit after `at` removed, according to the commit's subject,
/// for example `dynamic base tag` after `Remove the dynamic base tag - use plain paths`.
pub(crate) fn removed_thing(evidence: &Evidence, text: &str, at: Origin) -> Option<String> {
    let text = text.to_lowercase();
    let later = evidence.commits.iter();
    let mut later = later.filter(|commit| commit.origin.follows(at));
    later.find_map(|commit| removed_by(&commit.subject).filter(|object| text.contains(object)))
}

/// Returns the object of at least two words and ten bytes that a commit removed, in lower case.
fn removed_by(subject: &str) -> Option<String> {
    let found = pattern!(
        r"(?i)^(?:[a-z]+(?:\([^)]*\))?!?: )?(?:remove|drop|delete|revert) (?:the |all |old |unused |stale )*([a-z`./_-]+(?: [a-z`./_-]+){1,3}?)(?: [-—–] |[,:;]| (?:from|in|and|for|to|as|by|because|which|\()|$)"
    )
    .captures(subject)?;
    Some(found[1].to_lowercase()).filter(|object| object.len() >= 10)
}

/// Whether a claim is about a file whose changes the user reverted.
pub(crate) fn is_about_reverted_file(entries: &Entries<'_>, text: &str) -> bool {
    let evidence = entries.evidence;
    changed_files(evidence, text).any(|(path, work)| is_restored(evidence, path, work))
}

/// Whether a text mentions a file that the session wrote as a whole and deleted after `at`. A text
/// that reports a removal does not count.
pub(crate) fn names_deleted_file(evidence: &Evidence, text: &str, at: Origin) -> bool {
    !removal_words().is_match(text)
        && changed_files(evidence, text)
            .any(|(_, work)| work.deleted && work.writes > 0 && work.last.follows(at))
}

/// Returns the changed files that a text mentions in back quotes.
fn changed_files<'e>(
    evidence: &'e Evidence,
    text: &str,
) -> impl Iterator<Item = (&'e String, &'e FileWork)> {
    let names = text.split('`').skip(1).step_by(2).filter(|name| name.contains(['/', '.']));
    let names = names.filter(|name| name.len() >= 5 && !name.contains(' '));
    names.flat_map(move |name| {
        evidence.changed_files().filter(move |(path, _)| is_name_of(name, path))
    })
}

/// Whether a file that `text` mentions was changed after `at`.
pub(crate) fn is_changed_since(evidence: &Evidence, text: &str, at: Origin) -> bool {
    changed_files(evidence, text).any(|(_, work)| work.last.follows(at))
}

/// Whether the user objected to the report at `at`, the agent agreed at once, and the last change
/// of a file that `text` mentions was in the turn of this objection.
pub(crate) fn is_reworked(evidence: &Evidence, text: &str, at: Origin) -> bool {
    let mut next = evidence.prompts.iter().filter(|prompt| prompt.origin.line > at.line);
    let Some(objection) = next.next() else { return false };
    let end = next.next().map_or(u64::MAX, |prompt| prompt.origin.line);
    let is_of_turn = |work: &FileWork| {
        work.last.source == at.source && (objection.origin.line..end).contains(&work.last.line)
    };
    evidence.concessions.iter().any(|one| one.origin == objection.origin)
        && changed_files(evidence, text).any(|(_, work)| is_of_turn(work))
}

/// Whether the first prompt after `at` objects to the work, and the agent took this work back.
pub(crate) fn is_revoked(evidence: &Evidence, at: Origin) -> bool {
    let next = evidence.prompts.iter().find(|prompt| prompt.origin.line > at.line);
    next.is_some_and(|next| agent_revoked_work(evidence, next.origin))
}

/// Whether the agent agreed with the prompt at `at` and took its work back.
pub(crate) fn agent_revoked_work(evidence: &Evidence, at: Origin) -> bool {
    let takes_back = |reply: &str| {
        pattern!(r"(?i)\b(?:revert|undo|roll(?:ing)? (?:it |this |that )?back|take (?:it|this|that) back|unnecessary|not needed|remove (?:it|this|that)\b)")
            .is_match(reply)
    };
    let mut conceded = evidence.concessions.iter().filter(|one| one.origin == at);
    conceded.any(|one| takes_back(&one.text))
}

/// Whether a later text says that an address in `text` is to be removed or was replaced.
pub(crate) fn is_address_gone(evidence: &Evidence, text: &str, at: Origin) -> bool {
    let addresses: Vec<&str> =
        pattern!(r"https?://[^\s)>`]+").find_iter(text).map(|found| found.as_str()).collect();
    let prompts = evidence.prompts.iter().map(|prompt| (prompt.origin, prompt.text.as_str()));
    let reports = evidence.reports.iter().map(|report| (report.origin, report.text.as_str()));
    let marks_removal = |line: &str| {
        pattern!(r"(?i)\b(?:delet\w+|remov\w+|duplicates?|clean(?:ed)? up|obsolete|replaced|instead of)\b")
            .is_match(line)
    };
    !addresses.is_empty()
        && prompts.chain(reports).filter(|(origin, _)| origin.follows(at)).any(|(_, later_text)| {
            let lines: Vec<&str> =
                later_text.lines().filter(|line| !line.trim().is_empty()).collect();
            let names = |line: &str| addresses.iter().any(|address| line.contains(address));
            (0..lines.len()).any(|at| {
                names(lines[at])
                    && (marks_removal(lines[at]) || at > 0 && marks_removal(lines[at - 1]))
            })
        })
}

/// Whether the user objected to the turn of `origin`, for example with
/// `why can't we just use booleans?`, and the agent agreed and changed its work.
pub(crate) fn is_objected_to(evidence: &Evidence, origin: Origin) -> bool {
    let mut objections = evidence.statements.iter().filter(|one| {
        pattern!(r#"(?i)^User: "(?:why (?:can't|can’t|don't|not|aren't|isn't) |can't we |couldn't we |shouldn't (?:we|it|this|that) )[^"]*.*\(the agent agreed"#)
            .is_match(&one.text)
    });
    objections.any(|objection| {
        let at = objection.origin;
        let before = evidence.prompts.iter().rfind(|prompt| at.follows(prompt.origin));
        let next = evidence.prompts.iter().find(|prompt| prompt.origin.line > at.line);
        let end = next.map_or(u64::MAX, |next| next.origin.line);
        let followed = evidence.reports.iter().any(|report| {
            report.changed && report.origin.line > at.line && report.origin.line < end
        });
        followed
            && origin.source == at.source
            && before.is_some_and(|before| (before.origin.line..at.line).contains(&origin.line))
    })
}

/// Whether a later choice or commit removes something in the chosen option `label`, for example
/// `remove turn ordering` after `Turn-based with short leases`, or whether a later prompt keeps
/// what the option replaces.
pub(crate) fn is_removed_later(entries: &Entries<'_>, label: &str, at: Origin) -> bool {
    let evidence = entries.evidence;
    if evidence.prompts.iter().any(|one| one.origin.follows(at) && keeps_other(&one.text, label)) {
        return true;
    }
    if removal_words().is_match(label) {
        return false;
    }
    let removes = |text: &str| removes_option(text, label);
    evidence.choices.iter().any(|one| one.origin.follows(at) && removes(&one.answer))
        || evidence.commits.iter().any(|one| one.origin.follows(at) && removes(&one.subject))
}

/// Whether a text says that the chosen option `label` was removed, rather than another thing with a
/// word of this option.
fn removes_option(text: &str, label: &str) -> bool {
    let removed = pattern!(
        r"(?i)\b(?:remov\w+|drop(?:ped|s|ping)?|without|no more|get rid of|scrap\w*|delet\w+|revert(?:s|ed)?) (?:the |all |any )?[`*]*((?:[\w.-]+[`*]* ?){1,4})(.?)"
    );
    // What is left over from earlier work is no option.
    let is_leftover = pattern!(
        r"(?i)^(?:old|stale|unused|flaky|dead|obsolete|leftover|duplicated?|extra|redundant) "
    );
    let ends =
        pattern!(r"(?i) (?:from|of|in|on|for|to|by|with|as|and|again|because|so|until)(?: |$)");
    let of_label = words(label);
    removed.captures_iter(text).any(|found| {
        let end = ends.find(&found[1]);
        let object = &found[1][..end.map_or(found[1].len(), |end| end.start())];
        let object = object.trim_end();
        let named = words(object);
        if is_leftover.is_match(object) || named.is_empty() {
            return false;
        }
        // In `turn ordering`, `turn` means an option such as `Turn-based`.
        let begins_alike =
            named.len() > 1 && !begins_as_order(label) && first_word(object) == first_word(label);
        let is_name = object.chars().any(|c| c.is_uppercase() || c.is_ascii_digit() || c == '_')
            && contains_name(label, object.trim_matches(['`', '*']));
        let is_whole = named.len() > 1 || is_name || end.is_none() && found[2].is_empty();
        begins_alike || is_whole && named.is_subset(&of_label)
    })
}

/// Returns the first word of a text in lower case.
fn first_word(text: &str) -> String {
    let word = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    word.unwrap_or_default().to_lowercase()
}

/// Whether a prompt keeps what the chosen option replaces, for example `let's keep per-call
/// construction` after `Cache it instead of building one per call`.
fn keeps_other(prompt: &str, label: &str) -> bool {
    let Some(found) = pattern!(r"(?i)\b(?:instead of|rather than|not) (.{8,})$").captures(label)
    else {
        return false;
    };
    let replaced = words(&found[1]);
    let kept = pattern!(
        r"(?i)\b(?:keep|stay with|stick (?:to|with)|(?:go |switch )?back to|restore) ([^.!?\n]+)"
    );
    prompt.len() <= MAX_PROMPT_BYTES
        && kept
            .captures_iter(prompt)
            .any(|kept| words(&kept[1]).intersection(&replaced).count() >= 2)
}

/// Whether the user asked to try something in `text` again, for example `try acme review again`.
/// The result in `text` then no longer holds.
pub(crate) fn is_tried_again(evidence: &Evidence, text: &str, at: Origin) -> bool {
    let text = text.replace('`', "").to_lowercase();
    let again = pattern!(
        r#"(?i)^(?:(?:please|ok|okay|now|can you|could you),? )*(?:try|run|start|execute) [`*"'“‘]*([\w./-]+(?: [\w./-]+){1,4}?)[`*"'”’]* (?:again|once more)\b"#
    );
    let later = evidence.prompts.iter().filter(|prompt| prompt.origin.follows(at));
    later.filter_map(|prompt| again.captures(prompt.text.trim_start())).any(|found| {
        let object = found[1].to_lowercase();
        let object = object.strip_prefix("the ").unwrap_or(&object);
        object.contains(' ') && text.contains(object)
    })
}

/// Whether `later` restores what `text` changed: ``Reverted to `debug` `` undoes
/// ``Changed `log::debug!` to `log::info!` ``.
fn restores_value(later: &str, text: &str) -> bool {
    let back =
        pattern!(r"(?i)\b(?:revert(?:ed)?|back|restored?|reset)(?: back)? to `([^`]{3,60})`");
    let changed = pattern!(
        r"(?i)\b(?:changed|promoted|switched|moved|set|renamed|updated)\b[^`]{0,40}`([^`]+)` (?:to|→|with|into) `"
    );
    back.captures_iter(later)
        .any(|again| changed.captures_iter(text).any(|change| change[1].contains(&again[1])))
}

/// Matches words for a removal or a replacement.
fn removal_words() -> std::sync::Arc<regex::Regex> {
    pattern!(
        r"(?i)\b(?:remov(?:e[sd]?|ing)|dropp?(?:ed|s|ing)?|delet(?:e[sd]?|ing)|replac(?:e[sd]?|ing)|revert(?:ed|s)?|scrap(?:ped)?|migrat(?:e[sd]?|ing) (?:from|away)|gone|no longer|instead of|→)\b|→"
    )
}

/// Whether words directly before or after `name` in `text` say that `name` was removed or replaced.
fn reports_removal(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = &text[text.floor_char_boundary(at.saturating_sub(MAX_DISTANCE_BYTES))..at];
        let behind = &text[at + name.len()..text.ceil_char_boundary((at + name.len() + MAX_DISTANCE_BYTES).min(text.len()))];
        // In `A deleted 12 rows`, `A` is the subject of the verb.
        // In `A → B` and `replaced A by B`, `B` is the replacement. So the verb must be directly
        // before the name, and an arrow directly after it.
        let starts = pattern!(
            r"(?i)\b(?:remov(?:e[sd]?|ing)|dropp?(?:ed|s|ing)?|delet(?:e[sd]?|ing)|replac(?:e[sd]?|ing)|revert(?:ed|s)?|scrap(?:ped)?|instead of|no longer \w+)(?: the| all| old| stale)* ?`?$"
        );
        let ends = pattern!(
            r"(?i)^`?(?: (?:file|field|flag|reference))?(?: →| (?:(?:is|was|were|are|has been|have been) )?(?:now )?(?:gone|back (?:to|in) (?:its|the|their) (?:original|old|previous))\b| (?:is|was|were|are|has been|have been) (?:now )?(?:removed|deleted|dropped|reverted|replaced)\b| (?:now )?(?:removed|deleted|dropped|reverted|replaced)(?:$|[.,;:)]| \(| [\u{2014}\u{2013}-] | (?:from|by|again|entirely|in favou?r|because|since|with|along|and (?:replaced|moved|merged)|as (?:it|they|nothing|nobody|no))\b))"
        );
        starts.is_match(before) || ends.is_match(behind)
    })
}

/// Returns the names in a text that are long enough to be unambiguous.
fn names(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| {
        let inner = word.chars().skip(1);
        word.len() >= 6
            && (word.contains('_')
                || inner.clone().any(char::is_uppercase) && inner.clone().any(char::is_lowercase))
    });
    quoted.chain(words).filter(|name| name.len() >= 5 && !name.contains(' ')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_says_what_it_removed() {
        for (subject, wanted) in [
            ("Remove dynamic base tag - use simple relative paths", Some("dynamic base tag")),
            ("fix(web): drop the loading spinner from the list", Some("loading spinner")),
            ("Remove spinner", None),
            ("Add a way to remove the old spinner", None),
        ] {
            assert_eq!(removed_by(subject).as_deref(), wanted, "{subject}");
        }
    }

    #[test]
    fn a_commit_removes_the_chosen_option_rather_than_a_thing_with_the_same_word() {
        for (subject, label, wanted) in [
            ("Remove stale sessions on logout", "Store sessions in Redis", false),
            ("Remove sessions of guests", "Store sessions in Redis", false),
            ("Remove old schemas of the cart", "Use Zod schemas for validation", false),
            ("chore: delete flaky test", "Keep one test file per module", false),
            ("refactor: drop unused client options", "Add retries to the client", false),
            ("Remove the client of the old shop", "Add retries to the client", false),
            ("remove turn ordering", "Turn-based with short leases", true),
            ("Remove Redis", "Store sessions in Redis", true),
            ("Drop Zod for now", "Use Zod schemas for validation", true),
            ("refactor: remove retries", "Add retries to the client", true),
            ("Remove the session store", "Keep the session store in memory", true),
            ("Revert `max_size`", "Limit files by `max_size` bytes", true),
        ] {
            assert_eq!(removes_option(subject, label), wanted, "{subject}: {label}");
        }
    }

    #[test]
    fn a_prompt_keeps_what_an_option_replaces() {
        let option = "Cache the client instead of building one per call";
        assert!(keeps_other("The hook must stay.\n\nLet's keep per-call construction.", option));
        assert!(!keeps_other("Let's keep the old name.", option));
        assert!(!keeps_other("Let's keep per-call construction.", "Cache the client"));
    }

    #[test]
    fn a_name_of_a_file_is_not_the_end_of_another_name() {
        let at = Origin { source: 0, line: 3 };
        let work =
            FileWork { last: Origin { source: 0, line: 9 }, edits: 1, ..FileWork::default() };
        let changed = |path: &str, text: &str| {
            let files = [(path.to_owned(), work.clone())].into_iter().collect();
            is_changed_since(&Evidence { files, ..Evidence::default() }, text, at)
        };
        assert!(changed("/app/parser.py", "`parser.py` sorts the rows"));
        assert!(changed("/app/src/parser.py", "`src/parser.py` sorts the rows"));
        assert!(changed("/app/src/parser.py", "`./src/parser.py` sorts the rows"));
        assert!(changed("/app/src/parser.py", "`/app/src/parser.py` sorts the rows"));
        assert!(!changed("/app/test_parser.py", "`parser.py` sorts the rows"));
        assert!(!changed("/app/old_index.ts", "`index.ts` exports the rows"));
    }

    #[test]
    fn work_that_is_tried_again_has_no_result_yet() {
        let at = |line| Origin { source: 0, line };
        let gone = |prompt: &str, text: &str| {
            let text_of =
                crate::model::evidence::Quote { text: prompt.to_owned(), origin: at(5), at: None };
            let evidence = Evidence { prompts: vec![text_of], ..Evidence::default() };
            is_tried_again(&evidence, text, at(3))
        };
        let text = "`acme review` ran without output";
        assert!(gone("Try acme review again. It should work now", text));
        assert!(gone("Try “acme review” again", text));
        assert!(!gone("try again", text));
        assert!(!gone("try acme review again", "`acme check` ran"));
    }

    #[test]
    fn a_later_text_may_report_the_removal_of_a_name() {
        for (later, gone) in [
            ("Removed `ScriptProcessor`", true),
            ("ScriptProcessor → AudioWorklet", true),
            ("the stale ScriptProcessor is gone", true),
            ("ScriptProcessor is now back to its original state", true),
            ("the page no longer describes ScriptProcessor", true),
            ("ScriptProcessor removed", true),
            ("ScriptProcessor removed, AudioWorklet added", true),
            ("ScriptProcessor removed from the page", true),
            ("ScriptProcessor has been deleted", true),
            ("`ScriptProcessor` removed and replaced by `AudioWorklet`", true),
            ("`ScriptProcessor` removed because nothing reads it", true),
            ("`ScriptProcessor` removed (unused)", true),
            ("`ScriptProcessor` deleted along with its tests", true),
            ("`ScriptProcessor` replaced with `AudioWorklet`", true),
            ("ScriptProcessor dropped as many frames as before", false),
            ("ScriptProcessor dropped and opened the connection", false),
            ("Replaced AudioNode by ScriptProcessor", false),
            ("ScriptProcessor works", false),
            ("ScriptProcessor deleted 12 rows of the copy", false),
            ("ScriptProcessor dropped the first frame", false),
            ("ScriptProcessor removed all old frames", false),
        ] {
            assert_eq!(reports_removal(later, "ScriptProcessor"), gone, "{later}");
        }
        let changed = "Changed `log::debug!` to `log::info!` in the mount";
        assert!(restores_value("Reverted back to `debug`", changed));
        assert!(!restores_value("Reverted back to `info`", changed));
        assert_eq!(
            names("Kept `max_size` and ScriptProcessor in a file"),
            ["max_size", "max_size", "ScriptProcessor"]
        );
    }
}
