//! Finds what the last reports leave open, and what any report postpones or tells the user to set
//! up.

use std::ops::RangeInclusive;

use crate::{
    model::{evidence::GitStep, transcript::Origin},
    report::{Claim, Report, Topic, is_phrase, topic_of_sentence},
    summarize::{
        evidence::{describes_rule, says_that_nothing_is_left},
        from_evidence::{
            entries::{Entries, has_ideographs, push},
            next_steps::settled::{decides_by_number, is_settled},
            reported::{
                items::{first_that_fit, shortened_to_fit},
                overtaken,
            },
            repository::{
                branch,
                pull_request::{is_main_branch, names_closed},
            },
        },
    },
    text::{Block, blocks, capitalised, pattern, share_of_words, words},
};

/// Number of the last reports that are searched for all open work. Earlier reports are searched
/// only for work that they postpone or tell the user to set up.
const RECENT_REPORTS: usize = 3;
/// A later text is about an open end if it contains at least this share of the words of the open
/// end.
const TAKEN_UP: f64 = 0.5;
/// Minimum and maximum length, in bytes, of a listed question.
const QUESTION_BYTES: RangeInclusive<usize> = 20..=280;
/// Maximum number of listed questions.
const MAX_QUESTIONS: usize = 4;
/// Maximum length, in bytes, of a heading with its items in one entry.
const MAX_ENTRY_BYTES: usize = 600;

/// Adds what the last reports leave open, and what any report postpones or tells the user to set
/// up, unless a later text is about it.
pub(crate) fn reported(entries: &Entries<'_>, list: &mut Vec<String>) {
    let reports = &entries.reports.reports;
    let last_rest = reports.iter().rposition(|report| report.claims.iter().any(is_rest));
    for (at, report) in reports.iter().rev().enumerate() {
        // An open end without a heading counts only in the last report, or if it is left to the
        // user.
        let is_last = report.origin == reports[reports.len() - 1].origin;
        // If changes followed a report of a turn without changes, such as a review, the user has
        // decided about the open points of the report.
        let worked = |later: &Report| later.changed && later.origin.line > report.origin.line;
        let is_decided = !report.changed && reports.iter().any(worked);
        let is_recent = at < RECENT_REPORTS;
        let is_last_rest = last_rest == Some(reports.len() - 1 - at);
        let open = report.claims.iter().filter(|claim| claim.topic == Some(Topic::Open));
        let open =
            open.filter(|claim| is_recent || is_for_later(claim) || is_last_rest && is_rest(claim));
        // A gap, such as a missing test, stays open when other work follows.
        let open = open.filter(|claim| !is_decided || claim.listed && is_gap(claim));
        // The prompt after an earlier report decided what that report left to the user.
        let open = open.filter(|claim| is_last || !is_left_to_decide(claim));
        let is_for_user = |claim: &Claim| is_phrase(Topic::LeftToUser, &claim.text);
        let mut under: Option<(&str, Vec<String>)> = None;
        for claim in
            open.filter(|claim| claim.headed || is_last || is_for_user(claim) || is_noted(claim))
        {
            let Some(line) = entries.claim(claim).filter(|_| !is_settled(entries, report, claim))
            else {
                continue;
            };
            let line = without_landed_condition(entries, line, report.origin);
            let is_over = is_vague(&line)
                || says_that_nothing_is_left(&line)
                || !claim.headed && describes_rule(&line)
                || reports_completed_work(&line)
                || is_resolved(entries, claim, &line, report.origin);
            if is_over {
                continue;
            }
            let section = claim.section.as_deref().filter(|_| claim.listed && !claim.nested);
            match (section.filter(|section| says_what_is_left(section)), &mut under) {
                (None, under) => {
                    if let Some((section, items)) = under.take() {
                        push_under(entries, list, section, &items);
                    }
                    push(list, line);
                }
                (Some(section), Some((known, items))) if *known == section => items.push(line),
                (Some(section), _) => {
                    if let Some((section, items)) = under.replace((section, vec![line])) {
                        push_under(entries, list, section, &items);
                    }
                }
            }
        }
        if let Some((section, items)) = under {
            push_under(entries, list, section, &items);
        }
    }
}

/// Whether the session took up or completed an open end of the report at `at`. No report can show
/// whether the user completed a set-up.
fn is_resolved(entries: &Entries<'_>, claim: &Claim, line: &str, at: Origin) -> bool {
    match is_set_up(claim) {
        true => is_asked_for(entries, line, at) || is_supplied(entries, line, at),
        false => is_taken_up_after(entries, line, at),
    }
}

/// Whether a later text is about an open end of the report at `at`. If the user answered the report
/// by number, later reports repeat what is still open. These reports count only if their turns
/// changed something.
fn is_taken_up_after(entries: &Entries<'_>, line: &str, at: Origin) -> bool {
    let mut later = entries.evidence.prompts.iter();
    let next = later.find(|prompt| prompt.origin.follows(at));
    match next.is_some_and(|next| decides_by_number(&next.text)) {
        true => is_taken_up_by(entries, line, at, &|later| later.changed),
        false => is_taken_up(entries, line, at),
    }
}

/// Adds the questions that the list at the end of the last reply asks the user.
pub(crate) fn questions(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    let Some(reply) = &evidence.last_reply else { return };
    if evidence.prompts.last().is_some_and(|prompt| prompt.origin.line > reply.origin.line) {
        return;
    }
    let all = blocks(&reply.text);
    let items = all.iter().rev().skip_while(|block| matches!(block, Block::Paragraph(_)));
    let items = items.take_while(|block| matches!(block, Block::Item(_)));
    let asked = items.filter_map(|block| match block {
        Block::Item(text) => Some(entries.tidy_line(text)),
        Block::Paragraph(_) | Block::Heading(_) => None,
    });
    let is_question = |line: &String| {
        let is_long = line.split(' ').count() >= 4 || has_ideographs(line);
        line.ends_with(['?', '？']) && QUESTION_BYTES.contains(&line.len()) && is_long
    };
    let asked: Vec<String> = asked.filter(is_question).collect();
    for question in asked.iter().rev().take(MAX_QUESTIONS) {
        push(list, format!("To decide: {question}"));
    }
}

/// Whether a line does not say what is to be done.
pub(crate) fn is_vague(line: &str) -> bool {
    pattern!(r"(?i)^`/|\b(?:whatever|anything|what) (?:it|they) (?:\w+)$|\bwhatever (?:it|they)\b|\b(?:to see|and run|and check)$")
        .is_match(line)
}

/// Whether a heading is as long as a sentence, such as `To use it, you need to set these secrets`.
/// The items below such a heading cannot be understood without it.
fn says_what_is_left(section: &str) -> bool {
    section.split_whitespace().count() >= 5
}

/// Adds a heading and the items below it as one entry. Replaces an entry that contains only the
/// heading.
fn push_under(entries: &Entries<'_>, list: &mut Vec<String>, section: &str, items: &[String]) {
    let start = entries.tidy_line(section);
    let items = without_repeated_labels(items);
    let budget = MAX_ENTRY_BYTES.saturating_sub(start.len());
    let short = shortened_to_fit(&items, budget).map(|shown| (shown, 0));
    let (shown, left) = short.unwrap_or_else(|| first_that_fit(&items, budget));
    let mut line = format!("{start}: {}", shown.join("; "));
    if left > 0 {
        line.push_str(&format!("; +{left} more"));
    }
    let line = capitalised(&line);
    list.retain(|known| !line.starts_with(known.as_str()));
    push(list, line);
}

/// Returns all items. Removes the label of an item if the item before has the same label.
fn without_repeated_labels(items: &[String]) -> Vec<String> {
    let label = |item: &str| item.split_once(": ").map(|(label, _)| label.to_owned());
    let mut last = None;
    let kept = items.iter().map(|item| {
        let label = label(item);
        let is_same = label.is_some() && last == label;
        let rest = item.split_once(": ").map_or(item.as_str(), |(_, rest)| rest);
        last = label;
        if is_same { rest.to_owned() } else { item.clone() }
    });
    kept.collect()
}

/// Whether a claim is about work for a later session, or for the user.
fn is_for_later(claim: &Claim) -> bool {
    postpones_work(claim) || is_set_up(claim) || is_noted(claim)
}

/// Whether a claim postpones something to a later time. Such work stays open until it is done.
fn postpones_work(claim: &Claim) -> bool {
    let parts = [claim.section.as_deref(), claim.label.as_deref(), Some(claim.text.as_str())];
    parts.into_iter().flatten().any(|part| {
        pattern!(r"(?i)\bfuture consideration\b|\bfor (?:the |a )?future\b|\bin (?:a )?(?:separate|later|follow-?up) (?:effort|pr|pull request|issue|task|session|change)\b|\bdeferred\b|\bleft for later\b")
            .is_match(part)
    })
}

/// Whether a claim begins with a label that notes work for later, such as `Tomorrow: fix the test`.
fn is_noted(claim: &Claim) -> bool {
    let label = pattern!(
        r"(?i)^(?:tomorrow|(?:still |left )?to ?do|still open|left open|open (?:question|point|item|issue))s?$"
    );
    claim.label.as_deref().is_some_and(|text| label.is_match(text))
        || claim.text.split_once(':').is_some_and(|(start, _)| label.is_match(start))
}

/// Whether a claim is in a list of all the remaining work.
fn is_rest(claim: &Claim) -> bool {
    claim.topic == Some(Topic::Open)
        && claim.listed
        && claim.section.as_deref().is_some_and(|section| {
            pattern!(r"(?i)\bstill (?:\w+ )?(?:open|not done|undone|left|missing|to do)\b|\bgenuinely (?:open|not done)\b|^(?:what remains|what(?:['\u{2019}]s| is) left)\b")
                .is_match(section)
        })
}

/// Whether a claim is below a heading that tells the user what to set up, such as
/// `Before the next deploy, you need to configure`. Only the user can do this.
fn is_set_up(claim: &Claim) -> bool {
    claim.listed
        && claim.section.as_deref().is_some_and(|section| {
            pattern!(r"(?i)^before (?:you |the |your |we |first |next )*(?:deploy|release|launch|go(?:ing)? live|publish|production|staging|rollout)|\byou(?:.ll| will| still| also)* (?:need|have) to (?:set|configure|add|create|provide|register|enable|grant|rotate)\b|\bmust be (?:configured|set)\b|^(?:required|needed|remaining|manual) (?:\w+ )?(?:set-?up|configuration|secrets?|env)")
                .is_match(section)
        })
}

/// Whether a claim is below a heading that leaves a decision to the user.
fn is_left_to_decide(claim: &Claim) -> bool {
    claim.section.as_deref().is_some_and(|section| {
        pattern!(r"(?i)\b(?:decisions?|decide|confirm|your call|questions? for you)\b")
            .is_match(section)
    })
}

/// Whether a claim is below a heading for gaps, such as missing tests.
fn is_gap(claim: &Claim) -> bool {
    claim.section.as_deref().is_some_and(|section| {
        pattern!(r"(?i)\bgaps?\b|\bnot (?:covered|tested)\b|\buntested\b|\buncovered\b")
            .is_match(section)
    })
}

/// Whether a line says what was done.
pub(crate) fn reports_completed_work(line: &str) -> bool {
    topic_of_sentence(line) == Some(Topic::Done)
        || pattern!(r"(?i)\b(?:committed|pushed|merged|added|created) (?:as|in|to) `")
            .is_match(line)
}

/// Removes the condition from a step that waits until the work lands, such as
/// `After this patch lands on main, run the release`, if the work landed after `origin`.
fn without_landed_condition(entries: &Entries<'_>, line: String, origin: Origin) -> String {
    let condition = pattern!(
        r"(?i)^(?:after|once|when) (?:this|that|it|the|your)(?: (?:patch|change|fix|commit|branch|work|pr|pull request)e?s?)? (?:(?:is|are|has|have|been|gets?) )*(?:lands?|landed|merges?|merged)(?: (?:on|in|into|to) \S+?)?, (?:then )?"
    );
    let Some(found) = condition.find(&line) else { return line };
    match has_landed(entries, origin) {
        true => capitalised(&line[found.end()..]),
        false => line,
    }
}

/// Whether a merge, also of a pull request, or a push to the main branch followed `origin` in the
/// same transcript.
fn has_landed(entries: &Entries<'_>, origin: Origin) -> bool {
    let evidence = entries.evidence;
    let is_main = |name: &str| is_main_branch(name.strip_prefix("origin/").unwrap_or(name));
    let mut later =
        evidence.git_events.iter().filter(|event| event.succeeded && event.origin.follows(origin));
    later.any(|event| match event.step {
        GitStep::MergePullRequest => true,
        // The event of a pull has no branch, and a merge of the main branch only updates another
        // branch.
        GitStep::Merge => event.branch.as_deref().is_some_and(|branch| !is_main(branch)),
        GitStep::Push => {
            // The remote branch of `fix/x:main` is `main`.
            let pushed = event.branch.as_deref().and_then(|branch| branch.rsplit(':').next());
            event.error.is_none() && pushed.or_else(|| branch(evidence)).is_some_and(is_main)
        }
        _ => false,
    })
}

/// Whether a prompt after `origin`, or in another transcript, is about the open end in `line`. If
/// `line` mentions settings, the prompt must mention one of them.
pub(crate) fn is_asked_for(entries: &Entries<'_>, line: &str, origin: Origin) -> bool {
    let open = words(line);
    let settings: Vec<&str> = pattern!(r"`[A-Z][A-Z0-9]*_[A-Z0-9_]+`")
        .find_iter(line)
        .map(|name| name.as_str())
        .collect();
    let mentions =
        |prompt: &str| settings.iter().any(|name| prompt.contains(name.trim_matches('`')));
    prompts_after(entries, origin).any(|prompt| {
        prompt.len() < 2_000
            && (settings.is_empty() || mentions(prompt))
            && share_of_words(&open, &words(prompt)) >= TAKEN_UP
    })
}

/// Whether a prompt after `origin` contains what the user was to create, for example
/// `the client id is 1645-uif44` for `Create OAuth client ID`.
fn is_supplied(entries: &Entries<'_>, line: &str, origin: Origin) -> bool {
    let creates = pattern!(r"(?i)(?:^|: )(?:create|generate|get|obtain|register|request) (.+)$");
    let Some(created) = creates.captures(line) else { return false };
    let created = created[1].to_lowercase();
    let supplies = pattern!(r"(?i)\b(?:the|our|my) ((?:[\w-]+ ){0,2}[\w-]+) is:? ([^\s,]{8,})");
    prompts_after(entries, origin).any(|prompt| {
        supplies.captures_iter(prompt).any(|found| {
            let is_value = found[2].contains(|c: char| c.is_ascii_digit());
            is_value && words(&found[1]).is_subset(&words(&created)) && !words(&found[1]).is_empty()
        })
    })
}

/// Returns the prompts after `origin` or in another transcript.
fn prompts_after<'e>(entries: &Entries<'e>, origin: Origin) -> impl Iterator<Item = &'e str> {
    let prompts = entries.evidence.prompts.iter();
    let after = prompts.filter(move |prompt| {
        prompt.origin.source != origin.source || prompt.origin.line > origin.line
    });
    after.map(|prompt| prompt.text.as_str())
}

/// Whether a prompt, commit, report or push after `origin`, or in another transcript, is about the
/// open end in `line`. Also true if something in `line` was removed later.
pub(crate) fn is_taken_up(entries: &Entries<'_>, line: &str, origin: Origin) -> bool {
    is_taken_up_by(entries, line, origin, &|_| true)
}

/// Same as [`is_taken_up`], but only the reports for which `counts` is true can be about the open
/// end.
pub(crate) fn is_taken_up_by(
    entries: &Entries<'_>,
    line: &str,
    origin: Origin,
    counts: &dyn Fn(&Report) -> bool,
) -> bool {
    let evidence = entries.evidence;
    let later = |other: Origin| other.source != origin.source || other.line > origin.line;
    let done = |step: GitStep| {
        evidence
            .git_events
            .iter()
            .any(|event| event.step == step && event.succeeded && later(event.origin))
    };
    if is_about_push(line) {
        return done(GitStep::Push);
    }
    if is_about_commit(line) {
        return evidence.commits.iter().any(|commit| later(commit.origin));
    }
    if overtaken::is_gone(entries, line, origin) || names_closed(evidence, line) {
        return true;
    }
    let open = words(line);
    let shares = |text: &str| share_of_words(&open, &words(text)) >= TAKEN_UP;
    is_asked_for(entries, line, origin)
        || evidence.commits.iter().any(|commit| {
            later(commit.origin) && shares(&format!("{} {}", commit.subject, commit.body))
        })
        || entries
            .reports
            .reports
            .iter()
            .filter(|report| later(report.origin) && counts(report))
            .flat_map(|report| &report.claims)
            .any(|claim| {
                claim.topic != Some(Topic::Open)
                    && shares(&format!(
                        "{} {}",
                        claim.label.as_deref().unwrap_or_default(),
                        claim.text
                    ))
            })
}

/// Whether an open end is only that work is not pushed.
fn is_about_push(line: &str) -> bool {
    pattern!(r"(?i)\b(?:not|un) ?(?:yet )?pushed\b|\bto push(?:[.,;:)]|$| (?:it|this|that|them|these|everything|all|up|to|and|when|once|upstream|origin|main|master|PR|`|(?:the|your|my|our) (?:\w+ ){0,3}(?:branch|commits?|changes?|tags?|fix|work)\b))|\bnicht (?:\w+ ){0,3}(?:gepusht|gepushed)\b|\b(?:pas|jamais) encore (?:été )?poussé|\bsin pushear\b|\bno .{0,20}\b(?:empujad|pushead)|\b(?:commits?|cambios|ramas?)\b.{0,20}\b(?:sin subir\b|no .{0,12}\bsubid)|尚未推送|[还還][没沒]有?推送|プッシュ(?:して|されて)い(?:ません|ない)|未プッシュ").is_match(line)
}

/// Whether an open end is only that work is not committed.
fn is_about_commit(line: &str) -> bool {
    pattern!(r"(?i)\b(?:not|un|nothing is) ?(?:yet )?committed\b|\bto commit(?:[.,;:)]|$| (?:it|this|that|them|these|everything|all|to|and|when|once|`|(?:the|your|my|our) (?:\w+ ){0,3}(?:files?|changes?|fix|work)\b))|\bnicht (?:\w+ ){0,3}(?:committet|committed|eingecheckt)\b|\b(?:pas|jamais) encore (?:été )?(?:commité|committé)|\bsin commitear\b|\bno .{0,20}\bcommitead|(?:代码|代碼|更改|改动|改動|修改|变更|變更)[都也]?(?:尚未|[还還][没沒]有?)提交|^(?:尚未|[还還][没沒]有?)提交(?:[。.!！]|$)|コミット(?:して|されて)い(?:ません|ない)|未コミット").is_match(line)
}

#[cfg(test)]
mod tests {
    use crate::{
        model::transcript::Outcome,
        summarize::{
            evidence::scenarios::Script, from_evidence::request::wording_scenarios::summary,
        },
    };

    #[test]
    fn a_push_closes_what_was_not_pushed_in_any_language() {
        for line in [
            "Noch nicht gepusht.",
            "Die Commits sind noch nicht auf den Server gepusht.",
            "La branche n'est pas encore poussée.",
            "Los commits no están subidos.",
            "代码尚未推送到远程仓库。",
            "还没推送。",
            "まだプッシュしていません。",
        ] {
            assert!(super::is_about_push(line) && !super::is_about_commit(line), "{line}");
        }
        for line in [
            "Die Liste ist noch nicht committet.",
            "更改尚未提交。",
            "还没提交。",
            "代码还没有提交。",
            "コミットしていません。",
        ] {
            assert!(super::is_about_commit(line) && !super::is_about_push(line), "{line}");
        }
        for line in [
            "Die Bilder werden nicht angezeigt.",
            "El archivo no se sube con una cola.",
            "Le test n'est pas encore écrit.",
            "推送通知还没做。",
            "プッシュ通知は未対応です。",
            "Bilder über 5 MB werden nicht hochgeladen.",
            "Las imágenes no están subidas al bucket.",
            "Hay dos imágenes sin subir.",
            "El correo del usuario no está confirmado.",
            "Los pedidos sin confirmar siguen en la lista.",
            "Le formulaire n'est pas encore validé côté serveur.",
            "表单还没提交。",
            "表单尚未提交到服务器。",
        ] {
            assert!(!super::is_about_push(line) && !super::is_about_commit(line), "{line}");
        }
    }

    #[test]
    fn questions_in_a_list_are_found_in_any_script() {
        for question in
            ["Should the names of the list be sorted?", "是否也需要修改注册页面的令牌格式？"]
        {
            let mut script = Script::default();
            script.prompt("Fix the login");
            script.edit("a", "/app/login.rs", "a", "b");
            script.reply("m1", &format!("Fixed the login.\n\n- {question}\n- Add a test\n"));
            let steps = summary(&script).next_steps.unwrap_or_default().join("\n");
            assert!(steps.contains(&format!("To decide: {question}")), "{steps}");
        }
    }

    #[test]
    fn an_empty_list_and_a_rule_of_the_program_are_not_open() {
        let shows = |report: &str, line: &str| {
            let mut script = Script::default();
            script.prompt("Add the cache");
            script.edit("a", "/app/cache.rs", "a", "b");
            script.reply("m1", &format!("Added the cache in `cache.rs`. {report}\n"));
            let steps = summary(&script).next_steps.unwrap_or_default();
            steps.iter().any(|step| step.contains(line))
        };
        for (report, line, wanted) in [
            ("\n\n## Next steps\n\n- None. The work of this ticket is complete.", "None", false),
            ("\n\n## Follow-ups\n\n- Nothing is left to do for this ticket", "Nothing", false),
            ("The store handles rows that are not yet loaded.", "not yet", false),
            ("Rows that are not yet loaded are skipped.", "not yet", false),
            ("\n\n## Next steps\n\n- None of the tests cover the cache", "None of", true),
            ("The importer of the rows is not yet deployed.", "not yet", true),
        ] {
            assert_eq!(shows(report, line), wanted, "{report}");
        }
    }

    #[test]
    fn what_the_user_supplies_is_no_longer_to_be_set_up() {
        let mut script = Script::default();
        script.prompt("Send the mails of the shop");
        script.edit("a", "/app/mail.rs", "a", "b");
        script.reply("m1", "The mails are sent.\n\n**Before the next deploy, you need to configure:**\n\n| Where | What |\n|---|---|\n| **Mail service** | Create a client ID for staging |\n| **Staging env** | `MAIL_CLIENT_ID` |\n");
        script.prompt("ok the client id is 1645-uif44.apps.example.com, update the staging env");
        script.edit("b", "/app/.env.example", "a", "b");
        script.reply("m2", "It is in the example now.");
        assert_eq!(
            summary(&script).next_steps.unwrap(),
            ["Before the next deploy, you need to configure: Staging env: `MAIL_CLIENT_ID`"]
        );
    }

    #[test]
    fn what_the_user_must_set_up_stays_open() {
        let mut script = Script::default();
        script.prompt("Send the mails of the shop");
        script.edit("a", "/app/mail.rs", "a", "b");
        script.reply("m1", "The mails are sent.\n\n**Before the next deploy, you need to configure:**\n\n| Where | What | Type |\n|---|---|---|\n| **Mail service** | Create a key (only for sending) | \u{2014} |\n| **Staging env** | `MAIL_KEY` | Secret |\n| **Staging env** | `MAIL_SENDER` | Variable |\n");
        for round in 0..4 {
            script.prompt("does the proxy matter?");
            script.run(&format!("b{round}"), "ls", Outcome::Succeeded, "");
            script.reply(&format!("n{round}"), "The proxy only forwards the names of the shop.");
        }
        let open = summary(&script).next_steps.unwrap();
        assert_eq!(
            open,
            [
                "Before the next deploy, you need to configure: Mail service: Create a key (only for sending); Staging env: `MAIL_KEY` \u{2013} Secret; `MAIL_SENDER` \u{2013} Variable"
            ]
        );
    }

    #[test]
    fn a_pull_request_that_was_closed_is_told_and_is_no_open_end() {
        let closed = "\u{2713} Closed pull request a/b#12 (Cache)\n";
        for (command, output, step, done) in [
            ("gh pr view 12", "", Some("Review and merge PR #12 tomorrow"), "Pull request #12: "),
            ("gh pr close 12", closed, None, "Pull request #12 (closed without a merge): "),
            (
                "gh pr close 12; gh pr reopen 12",
                "\u{2713} Closed pull request a/b#12 (Cache)\n\u{2713} Reopened pull request a/b#12 (Cache)\n",
                Some("Review and merge PR #12 tomorrow"),
                "Pull request #12: ",
            ),
            (
                "gh pr close 9",
                "",
                Some("Review and merge PR #12 tomorrow"),
                "Closed pull request #9 ",
            ),
        ] {
            let mut script = Script::default();
            script.prompt("Add a cache to the parser and open a pull request");
            script.edit("a", "/app/parser.rs", "a", "b");
            let opened = "https://x.org/a/b/pull/12\n";
            script.run("b", "gh pr create --fill", Outcome::Succeeded, opened);
            script.reply(
                "m1",
                "The parser has a cache.\n\n## Next steps\n\n- Review and merge PR #12 tomorrow.\n",
            );
            script.prompt("do what has to be done with it");
            script.run("c", command, Outcome::Succeeded, output);
            script.reply("m2", "That is done.");
            let summary = summary(&script);
            let steps = summary.next_steps.unwrap_or_default();
            assert_eq!(steps.first().map(String::as_str), step, "{command}: {steps:?}");
            let completed = summary.completed_tasks.unwrap_or_default();
            let is_told = completed.iter().any(|task| task.starts_with(done));
            assert!(is_told, "{command}: {completed:?}");
        }
    }

    #[test]
    fn a_step_that_waits_for_the_work_to_land_loses_its_condition_once_it_landed() {
        let waits = "After this patch lands on `main`, run `gh workflow run Publish`";
        for (command, output, wanted) in [
            (
                "git push origin main",
                "   1a2b3c4..5d6e7f8  main -> main\n",
                "Run `gh workflow run Publish`",
            ),
            (
                "git push origin HEAD:main",
                "   1a2b3c4..5d6e7f8  HEAD -> main\n",
                "Run `gh workflow run Publish`",
            ),
            ("git push", "   1a2b3c4..5d6e7f8  fix -> main\n", "Run `gh workflow run Publish`"),
            ("git push origin main:review", "   1a2b3c4..5d6e7f8  main -> review\n", waits),
            ("git push origin fix", "   1a2b3c4..5d6e7f8  fix -> fix\n", waits),
            ("git pull", "Already up to date.\n", waits),
            ("git merge origin/main", "Already up to date.\n", waits),
            ("gh pr merge 7", "\u{2713} Merged pull request #7\n", "Run `gh workflow run Publish`"),
            ("gh pr close 7", "\u{2713} Closed pull request #7\n", waits),
            (
                "gh pr merge 7 --auto",
                "\u{2713} Pull request a/b#7 will be automatically merged via squash when all requirements are met\n",
                waits,
            ),
        ] {
            let mut script = Script::default();
            script.prompt("The release does not reach npm. Mend it.");
            script.edit("a", "/app/release.ts", "a", "b");
            script.reply(
                "m1",
                &format!("The release repairs its tags.\n\n## Next steps\n\n- {waits}.\n"),
            );
            script.prompt("has it landed? if not, land it");
            script.run("b", command, Outcome::Succeeded, output);
            script.reply("m2", "It is there.");
            assert_eq!(summary(&script).next_steps.unwrap_or_default(), [wanted], "{command}");
        }
    }

    #[test]
    fn a_push_closes_only_what_waits_for_a_push() {
        for (open, is_closed) in [
            ("The branch still needs to be reviewed before you are ready to push", true),
            ("It remains to push the fix to the main branch", true),
            ("It remains to push the new feature branch", true),
            ("Add a way to push notifications to the phones", false),
        ] {
            let mut script = Script::default();
            script.prompt("Send the mails of the shop");
            script.edit("a", "/app/mail.rs", "a", "b");
            script.reply("m1", &format!("The mails are sent.\n\n## Next steps\n\n- {open}.\n"));
            script.prompt("push it");
            let output = "   1a2b3c4..5d6e7f8  fix -> fix\n";
            script.run("b", "git push", Outcome::Succeeded, output);
            script.reply("m2", "It is there.");
            assert_eq!(summary(&script).next_steps.is_none(), is_closed, "{open}");
        }
    }
}
