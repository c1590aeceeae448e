//! Finds statements that later events made obsolete, because something in them was removed,
//! replaced or taken back.

use std::collections::BTreeSet;

use crate::{
    model::{
        evidence::{Evidence, FileWork, GitStep},
        transcript::Origin,
    },
    summarize::from_evidence::entries::Entries,
    text::{contains_name, pattern, words},
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
            prompt.origin.follows(at) && prompt.text.len() <= 400 && says_gone(&prompt.text)
        })
        || entries
            .reports
            .reports
            .iter()
            .filter(|report| report.origin.follows(at) && report.changed)
            .flat_map(|report| &report.claims)
            .any(|claim| claim.label.as_deref().is_some_and(says_gone) || says_gone(&claim.text))
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

/// Whether git restored the file at `path` after its last change, or the user reported that this
/// change or all changes were reverted.
pub(crate) fn is_restored(evidence: &Evidence, path: &str, work: &FileWork) -> bool {
    let resets = evidence.git_events.iter().filter(|event| {
        event.step == GitStep::Reset && event.succeeded && event.origin.follows(work.last)
    });
    // A commit between the change and the command contains the change, and git does not restore
    // files that it does not track.
    let is_committed = |at: Origin| {
        let mut commits = evidence.commits.iter();
        commits.any(|commit| commit.origin.follows(work.last) && at.follows(commit.origin))
    };
    // The event is at the result of the command.
    let restores_it = |at: Origin| {
        let later = evidence.commands.iter().filter(|run| run.origin.follows(work.last));
        let mut until = later.filter(|run| run.outcome.succeeded() && !run.origin.follows(at));
        until.any(|run| restores(&run.command, path))
    };
    let mut resets = resets.map(|event| event.origin);
    !work.created && resets.any(|at| !is_committed(at) && restores_it(at))
        || is_reverted_by_user(evidence, path, work)
}

/// Whether a command line with a reset or a restoration of files restores the file at `path`.
fn restores(command: &str, path: &str) -> bool {
    let resets_all =
        pattern!(r"\bgit (?:reset (?:\S+ )*--hard|(?:checkout|restore)(?: --)? \.(?:$|[\s;&]))");
    let named = pattern!(
        r"\bgit (?:-C \S+ )?(?:checkout (?:\S+ )?--|checkout|restore) ((?:[^-;&|\s]\S*(?:\s+|$))+)"
    );
    let is_path = |name: &str| {
        let name = name.trim_matches(['"', '\'']);
        name.contains('.') && (path == name || path.ends_with(&format!("/{name}")))
    };
    resets_all.is_match(command)
        || named.captures_iter(command).any(|found| found[1].split_whitespace().any(is_path))
}

/// Whether the user reported, after the last change to the file at `path`, that this change or all
/// changes were reverted.
fn is_reverted_by_user(evidence: &Evidence, path: &str, work: &FileWork) -> bool {
    let later = evidence.prompts.iter().filter(|prompt| prompt.origin.follows(work.last));
    later.filter_map(|prompt| object_taken_back(&prompt.text)).any(|object| {
        object.is_empty() || {
            let parts = words(path);
            object.iter().all(|word| parts.contains(word))
        }
    })
}

/// Returns the words for what the user reverted; an empty set means all changes.
fn object_taken_back(prompt: &str) -> Option<BTreeSet<String>> {
    let reverted = pattern!(
        r"(?i)\bI(?:'ve|’ve| have)? (?:just |already |now )?(?:reverted|removed|deleted|discarded|undone|undid|dropped|rolled back) (?:your|the|all|those|these)(?: of)?(?: your| the| those| these)?((?: [\w./-]+){1,4})"
    )
    .captures(&prompt[..prompt.floor_char_boundary(300)])?;
    let object = reverted[1].split([',', '.']).next().unwrap_or_default();
    let stop = [" but", " and", " so", " as", " because", " from", " in", " again"];
    let end = stop.iter().filter_map(|stop| object.find(&format!("{stop} "))).min();
    let object = words(&object[..end.unwrap_or(object.len())]);
    let means_all =
        object.iter().all(|word| matches!(word.as_str(), "chang" | "change" | "edit" | "work"));
    let plain = object
        .into_iter()
        .filter(|word| !matches!(word.as_str(), "file" | "new" | "fil" | "added"));
    Some(if means_all { BTreeSet::new() } else { plain.collect() })
        .filter(|object: &BTreeSet<String>| means_all || !object.is_empty())
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
        evidence.changed_files().filter(move |(path, _)| path.ends_with(name))
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
    let named: BTreeSet<String> = words(label).into_iter().filter(|word| word.len() >= 4).collect();
    let removes = |text: &str| {
        let object = pattern!(
            r"(?i)\b(?:remov\w+|drop(?:ped|s|ping)?|without|no more|get rid of|scrap\w*|delet\w+|revert(?:s|ed)?) (?:the |all |any )?[`*]*((?:[\w.-]+[`*]* ?){1,3})"
        );
        object.captures_iter(text).any(|found| !words(&found[1]).is_disjoint(&named))
    };
    evidence.choices.iter().any(|one| one.origin.follows(at) && removes(&one.answer))
        || evidence.commits.iter().any(|one| one.origin.follows(at) && removes(&one.subject))
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
        // In `A → B` and `replaced A by B`, `B` is the replacement. So the verb must be directly
        // before the name, and an arrow directly after it.
        let starts = pattern!(
            r"(?i)\b(?:remov(?:e[sd]?|ing)|dropp?(?:ed|s|ing)?|delet(?:e[sd]?|ing)|replac(?:e[sd]?|ing)|revert(?:ed|s)?|scrap(?:ped)?|instead of|no longer \w+)(?: the| all| old| stale)* ?`?$"
        );
        let ends = pattern!(
            r"(?i)^`?(?: (?:file|field|flag|reference))?(?: →| (?:is|was|were|are|has been|have been)? ?(?:now )?(?:gone|removed|deleted|dropped|reverted|replaced|back (?:to|in) (?:its|the|their) (?:original|old|previous))\b)"
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
    fn a_prompt_keeps_what_an_option_replaces() {
        let option = "Cache the client instead of building one per call";
        assert!(keeps_other("The hook must stay.\n\nLet's keep per-call construction.", option));
        assert!(!keeps_other("Let's keep the old name.", option));
        assert!(!keeps_other("Let's keep per-call construction.", "Cache the client"));
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
            ("Replaced AudioNode by ScriptProcessor", false),
            ("ScriptProcessor works", false),
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
