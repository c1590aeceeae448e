//! Describes how a session ended: the agent's last words, and whether tests ran.

use crate::{
    model::{
        evidence::{Evidence, TestRun},
        wording::{BEFORE_THAT, BEFORE_THE_CHANGE},
    },
    report::{Report, Topic, is_phrase, topic_of_heading, topic_of_sentence},
    summarize::from_evidence::{
        entries::{Entries, cut_at_clause},
        next_steps::settled::is_settled_in_words,
        reported::{
            answers::{self, is_bare_answer},
            fate::{Fate, fate, is_refused},
            overtaken,
            quotable::is_banner,
            quote_collector::quoted,
            transient,
        },
    },
    text::{pattern, sentences},
};

/// Maximum total length, in bytes, of the sentences from the opening of a report. A longer first
/// sentence is kept, too.
const LAST_WORDS: usize = 400;
/// Maximum length, in characters, of the first sentence. Also the budget, in bytes, for last words
/// with a list; a list of up to [`LISTED`] bytes may exceed this budget.
const FIRST: usize = 600;
/// Maximum length, in bytes, of a list in the last words.
const LISTED: usize = 840;
/// Minimum length, in bytes, of an opening that needs no items of the list after it.
const ENOUGH: usize = 110;
/// Minimum length, in bytes, of last words that are worth an entry.
const SAYS: usize = 8;
/// Maximum number of commits that are listed. If there are more, the newest are listed.
const ITEMS: usize = 4;
/// A last report without changes and with fewer characters may only acknowledge what the user said.
const ACKNOWLEDGEMENT: usize = 200;
/// Maximum numbers of reports before an acknowledgement that are searched: first for a report about
/// changes, and then for any report with substance.
const SEARCHED: (usize, usize) = (8, 3);

/// Returns the gist of the last report. If the last report has little content, adds the gist of an
/// earlier report that has more.
pub(crate) fn last_words(entries: &Entries<'_>) -> Option<String> {
    let reports = &entries.reports.reports;
    let (last, earlier) = reports.split_last()?;
    let is_void = |report: &&Report| {
        is_refused(entries.evidence, report)
            || report.changed && fate(entries, report) == Fate::Discarded
    };
    let earlier = || earlier.iter().rev().filter(|report| !is_void(report));
    let words = gist(entries, last).map(|words| with_question(entries, last, words));
    let acknowledges = acknowledges(entries, last)
        && !words.as_deref().is_some_and(|words| is_phrase(Topic::Resolved, words));
    if last.has_substance() && words.is_some() && !acknowledges {
        return words;
    }
    let describes_work = |report: &&Report| report.changed && report.has_substance();
    let states = |report: &&Report| report.has_substance() && !report.proposes();
    let before = match &words {
        Some(_) if acknowledges => (earlier().take(SEARCHED.0).find(describes_work))
            .or_else(|| earlier().take(SEARCHED.1).find(states)),
        // A change in the last turn may have made the earlier report obsolete.
        Some(words) if last.changed && !reports_publication(words) => None,
        // The latest change may have made the reports before it obsolete.
        Some(_) => {
            let mut before = earlier().take(2);
            before.find(|report| report.changed).filter(describes_work)
        }
        // If the last report has no gist, an earlier report describes how the session ended.
        None => {
            let talks_last = !last.changed && !last.asks;
            (earlier().take(2).find(states))
                .or_else(|| earlier().find(describes_work))
                .or_else(|| earlier().find(|report| report.changed && talks_last))
        }
    };
    let before = before.and_then(|report| {
        let words = gist(entries, report)?;
        without_settled(entries, &words, report)
    });
    match (words, before) {
        (Some(words), Some(before)) => Some(match still_valid(&before) {
            Some(before) => format!("{words}{BEFORE_THAT}{before}"),
            None => words,
        }),
        // A change without a report may have made the earlier words obsolete.
        (None, Some(before)) if last.changed => {
            still_valid(&before).map(|before| format!("{BEFORE_THE_CHANGE}{before}"))
        }
        (words, before) => words.or(before),
    }
}

/// Whether a report only acknowledges what the user said: the report is short, its turn changed
/// nothing, and neither the user nor the agent asks something. An earlier report describes the
/// work.
fn acknowledges(entries: &Entries<'_>, report: &Report) -> bool {
    let length = report.passages.iter().map(|passage| passage.text.chars().count()).sum::<usize>();
    let asked = answers::prompt_before(entries.evidence, report);
    !report.changed
        && !report.asks
        && length < ACKNOWLEDGEMENT
        && !asked.is_some_and(|asked| asked.contains(['?', '？']))
}

/// Removes the clauses of an earlier report's gist that call something open, if the user settled it
/// later. `None` if nothing is left.
fn without_settled(entries: &Entries<'_>, words: &str, report: &Report) -> Option<String> {
    let is_over = |clause: &str| {
        topic_of_sentence(clause) == Some(Topic::Open)
            && is_settled_in_words(entries, clause, report.origin)
    };
    let kept = sentences(words).into_iter().filter_map(|sentence| {
        if !sentence.split("; ").any(is_over) {
            return Some(sentence.to_owned());
        }
        let clauses: Vec<&str> = sentence.split("; ").filter(|clause| !is_over(clause)).collect();
        let text = clauses.join("; ");
        let end = if text.ends_with(['.', '!', '。']) { "" } else { "." };
        (!text.is_empty()).then(|| format!("{text}{end}"))
    });
    let kept: Vec<String> = kept.collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// Adds the question to a bare answer such as `No.`.
fn with_question(entries: &Entries<'_>, report: &Report, words: String) -> String {
    match answers::question(entries, report).filter(|_| is_bare_answer(&words)) {
        Some(question) => format!("Asked: {question} Answer: {words}"),
        None => words,
    }
}

/// Whether the last words report a commit, a push or a pull request. A turn that only publishes
/// does not change the work itself.
fn reports_publication(words: &str) -> bool {
    let prose = words.split('`').step_by(2).collect::<String>();
    pattern!(r"(?i)\b(?:commit(?:s|ted)?|push(?:e[sd]|ing)?|merged?|shipped|deployed|released|tagged|pr|pull request|branch)\b")
        .is_match(&prose)
}

/// Returns the gist of an earlier report without its questions, offers and remarks on uncommitted
/// work, because later turns settled them. Also leaves out sentences that begin with a pronoun,
/// announce a step, or say that the work is committed or pushed.
fn still_valid(before: &str) -> Option<String> {
    let is_over = |sentence: &&str| {
        sentence.ends_with(['?', '？'])
            || is_phrase(Topic::Proposal, sentence)
            || is_phrase(Topic::PublishOffer, sentence)
            || is_phrase(Topic::Status, sentence)
                && pattern!(r"\b(?:uncommitted|unpushed)\b").is_match(sentence)
            || pattern!(
                r"(?i)^(?:that|this|it|these|those|committed|pushed|i need to|i'll|let me|now i|(?:now )?everything is (?:now )?(?:committed|pushed|deployed))\b"
            )
            .is_match(sentence)
    };
    let kept: Vec<&str> = sentences(before).into_iter().filter(|one| !is_over(one)).collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// Returns the opening of a report without announcements, praise and talk. Adds the items of the
/// first list to a short opening. Returns the commits if the opening only praises the result.
fn gist(entries: &Entries<'_>, report: &Report) -> Option<String> {
    let opening = report.opening.as_deref().unwrap_or_default();
    let first = report.claims.iter().find(|claim| claim.listed && !claim.nested);
    // The parser treats a short line that ends in a colon as the heading of the list after it.
    let heading = first.and_then(|claim| claim.section.as_deref());
    let heading =
        heading.filter(|text| text.split(' ').count() >= 4 && topic_of_heading(text).is_none());
    let heading = heading.filter(|text| !transient::is_boast(text));
    let heading = heading.map_or(String::new(), |text| format!(" {text}:"));
    // A full stop separates the heading from an opening that ends, for example, with an address.
    let end = if opening.ends_with(|c: char| c.is_alphanumeric()) && !heading.is_empty() {
        "."
    } else {
        ""
    };
    let opening = entries.tidy_line(&format!("{opening}{end}{heading}"));
    let is_kept = |sentence: &&str| {
        !is_announcement(sentence)
            && !is_talk(sentence)
            && !links_to_form(sentence)
            && !claims_unseen_tests(entries.evidence, sentence)
            && !transient::is_boast(sentence)
    };
    let all = sentences(&opening);
    let boasts = all.iter().any(|sentence| transient::is_boast(sentence));
    let mut kept: Vec<&str> = all.into_iter().filter(is_kept).collect();
    // A sentence such as `Yes, it is in now` is clear only with its question. The next sentence
    // states the fact.
    if kept.len() > 1 && !kept[1].ends_with(':') && answers_with_pronoun(kept[0]) {
        kept.remove(0);
    }
    let introduction = kept.pop_if(|last| last.ends_with(':'));
    // A sentence in the middle that ends in a colon introduced code, which is left out.
    kept.retain(|sentence| !sentence.ends_with([':', ';', ',']));
    // If the opening only praises the result, the items after it are praise, too. The commits show
    // what was done.
    if boasts && kept.is_empty() {
        return committed_since_asked(entries, report);
    }
    let mut words = whole(&kept, LAST_WORDS);
    // `Findings` alone is a heading.
    if words.is_ascii() && words.split_whitespace().count() < 2 {
        words.clear();
    }
    if words.len() >= ENOUGH || report.asks || report.proposes() {
        return (words.len() >= SAYS).then_some(words);
    }
    let budget = FIRST.saturating_sub(words.len());
    let listed = listed(entries, report, introduction, budget)
        .or_else(|| complete_introduction(introduction?));
    let words = match (words.is_empty(), listed) {
        (true, listed) => listed?,
        (false, Some(listed)) => format!("{words} {listed}"),
        (false, None) => words,
    };
    (words.len() >= SAYS).then_some(words)
}

/// Whether a sentence contains the address at which a pull request could be opened. The agent often
/// calls this address a pull request.
fn links_to_form(sentence: &str) -> bool {
    pattern!(r"/pull/new/|/merge_requests/new\b|/compare/\S+\?expand=1").is_match(sentence)
}

/// Whether a sentence only answers `yes` or `no` and refers to its subject with a pronoun.
fn answers_with_pronoun(sentence: &str) -> bool {
    sentence.split_whitespace().count() <= 7
        && pattern!(r"(?i)^(?:yes|yep|yeah|no|nope|correct|right)[,.:;\u{2014} -]+(?:it|this|that|they|these|those|all|both)(?:['\u{2019}]\w+)?\b[^`]*$")
            .is_match(sentence)
}

/// Whether a sentence is a banner, only talks to the user, or offers to publish the work. The next
/// steps list the offer.
fn is_talk(sentence: &str) -> bool {
    is_banner(sentence)
        || is_courtesy(sentence)
        || is_phrase(Topic::PublishOffer, sentence)
        || pattern!(r"(?i)\bi (?:now )?have (?:everything|all|enough)\b").is_match(sentence)
            && is_phrase(Topic::Talk, sentence)
}

/// Whether a sentence only answers thanks or takes leave.
fn is_courtesy(sentence: &str) -> bool {
    pattern!(
        r"(?i)^(?:you(?:['’]re| are) (?:very |most )?welcome|(?:i am |i['’]m )?(?:glad|happy) (?:i |to |that )|my pleasure|anytime[!.]*$|see you\b.{0,20}$|good ?(?:bye|night)|bye\b|have a (?:great|good|nice|lovely)|i(?:['’]ll| will) be here\b)"
    )
    .is_match(sentence)
}

/// Returns whole sentences of about `budget` bytes in total. Only a first sentence of more than
/// [`FIRST`] characters is cut, at a clause.
fn whole(kept: &[&str], budget: usize) -> String {
    let mut words = kept.first().map_or(String::new(), |first| cut_at_clause(first, FIRST));
    for sentence in kept.iter().skip(1) {
        if words.len() + sentence.len() > budget {
            break;
        }
        words.extend([" ", sentence]);
    }
    words
}

/// Returns the subjects of the newest commits between a report and the prompt before it, and the
/// number of the session's last pull request.
fn committed_since_asked(entries: &Entries<'_>, report: &Report) -> Option<String> {
    let evidence = entries.evidence;
    let asked = evidence.prompts.iter().rfind(|prompt| prompt.origin.line < report.origin.line);
    let asked = asked.map_or(0, |prompt| prompt.origin.line);
    let since = evidence.commits.iter().filter(|commit| {
        (asked..report.origin.line).contains(&commit.origin.line)
            && commit.origin.source == report.origin.source
    });
    let mut subjects: Vec<String> =
        since.map(|commit| entries.tidy_line(&commit.subject)).collect();
    if subjects.is_empty() {
        return None;
    }
    let earlier = subjects.len().saturating_sub(ITEMS);
    subjects.drain(..earlier);
    subjects.extend((earlier > 0).then(|| format!("+{earlier} earlier")));
    let request = evidence.pull_requests.last().and_then(|request| request.number);
    let request = request.map_or(String::new(), |number| format!(" (pull request #{number})"));
    Some(format!("Committed since the last request: {}{request}.", subjects.join("; ")))
}

/// Returns an introduction without its list, if the introduction alone says what was done.
fn complete_introduction(introduction: &str) -> Option<String> {
    let text = introduction.trim_end_matches(':');
    let says_what =
        pattern!(r"(?i)\b(?:updated|added|created|changed|removed|fixed|renamed)\b").is_match(text);
    (says_what && text.split(' ').count() >= 6).then(|| format!("{text}."))
}

/// Returns the first list of a report that states facts other than causes and findings, in about
/// `budget` bytes. The introduction is added only if it limits the items, for example `This should
/// fix it by:`.
fn listed(
    entries: &Entries<'_>,
    report: &Report,
    introduction: Option<&str>,
    budget: usize,
) -> Option<String> {
    let mut list = quoted(entries, report).into_iter().find(|one| {
        one.listed
            && !one.is_steps()
            && !one.first().is_some_and(transient::is_boast)
            && !matches!(one.topic, Some(Topic::Cause | Topic::Finding))
    })?;
    list.retain(|part| !overtaken::is_gone(entries, part, report.origin));
    let items = list.line_of_first_items(budget)?;
    let limits = introduction.filter(|text| is_phrase(Topic::Hope, text));
    let start = limits.map_or(String::new(), |text| format!("{text} "));
    (items.len() <= budget.max(LISTED)).then(|| format!("{start}{items}."))
}

/// Whether the session contains a test run, or a command whose words look like a test run. The name
/// of a folder does not count.
pub(crate) fn shows_a_test_run(evidence: &Evidence) -> bool {
    let is_word = |word: &&str| {
        let is_folder = word.contains('/') && !word.starts_with("./") && !word.ends_with(".sh");
        !is_folder && (!word.starts_with("--") || *word == "--test")
    };
    let runs_tests = |line: &str| {
        let line = line.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ");
        pattern!(r"(?:^|[;&|(] ?|\s)(?:pytest|jest|vitest|tox|nox|rspec|phpunit|ctest|playwright|cypress|mocha|ava)\b|\b(?:npm|pnpm|yarn|bun|deno|npx|node|go|cargo|make|just|task|mise|uv|poetry|hatch|python3?|mvn|dotnet|bundle|rake|rails|mix|swift|xcodebuild|flutter|dart|php|composer|turbo|nx|bazel|sbt|lein|zig|\S*gradlew?|\S+\.(?:sh|py|js|ts|rb|pl))\b[^|;&]*(?:test|spec|check|verify|\bci\b)|\./\S*(?:test|check|spec|ci)")
            .is_match(&line)
    };
    let mut commands = evidence.commands.iter().filter(|run| !run.command.starts_with("git "));
    !evidence.tests.is_empty() || commands.any(|run| runs_tests(&run.command))
}

/// Whether a sentence says that all tests pass in a session that shows no test run, or only runs of
/// parts of the suite.
pub(crate) fn claims_unseen_tests(evidence: &Evidence, sentence: &str) -> bool {
    let is_limited = |run: &TestRun| run.is_part() || run.is_single_test();
    let sees_parts = !evidence.tests.is_empty() && evidence.tests.iter().all(is_limited);
    pattern!(r"(?i)^all (?:of )?(?:the )?(?:[0-9]+ )?tests (?:are )?(?:now )?pass")
        .is_match(sentence)
        && (sees_parts || !shows_a_test_run(evidence))
}

/// Whether a sentence only announces something, for example `Here's what changed:`.
fn is_announcement(sentence: &str) -> bool {
    // `Done — the endpoint returns 404` says more than its first word.
    let exclamation = pattern!(
        r"(?i)^(?:great|perfect|excellent|done|looks good|all good|got it|sure|ok(?:ay)?)(?: ?[—–:,]| -)+ (.+)$"
    );
    let rest = |text| exclamation.captures(text).and_then(|found| found.get(1));
    let mut sentence = sentence;
    while let Some(rest) = rest(sentence).filter(|rest| rest.as_str().split(' ').nth(2).is_some()) {
        sentence = rest.as_str();
        if pattern!(r"^[a-z]+ing\b").is_match(sentence) {
            return true;
        }
    }
    let short = sentence.split(' ').count();
    let is_hope = short > 3
        && (is_phrase(Topic::Hope, sentence)
            || pattern!(r"(?i)\b(?:updated|added|created|changed|removed|fixed|renamed) ")
                .is_match(sentence));
    sentence.ends_with(':') && short < 6 && !is_hope
        || pattern!(
            r"(?i)^(?:here(?:'s| is| are)|let me|now (?:let|i)|i'll (?:now )?(?:write|run|check|start|look|create|update|read|add)|let's|next,? i|good (?:plan|question|point)|great|perfect|excellent|done|looks good|all good|got it|sure|ok(?:ay)?|no response requested)\b(?:[^.!?]{0,12}[.!:]|[^.!?]*[.:!]$)"
        )
        .is_match(sentence)
            && !pattern!(r"(?i)\b(?:pass|passed|fixed|pushed|committed|complete|merged|wait)\b").is_match(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{evidence::TurnReport, transcript::Outcome},
        report::Reports,
        summarize::{
            evidence::scenarios::Script, from_evidence::request::wording_scenarios::summary,
        },
    };

    fn words(text: &str) -> Option<String> {
        let report = TurnReport { text: text.to_owned(), changed: true, ..TurnReport::default() };
        let evidence = Evidence { reports: vec![report], ..Evidence::default() };
        last_words(&Entries {
            evidence: &evidence,
            reports: &Reports::of(&evidence),
            project: None,
        })
    }

    #[test]
    fn a_list_of_hopes_has_its_introduction() {
        let text = "Try again:\n\nThis should fix it by:\n1. Updating npm to the latest version first\n2. Running the file directly\n";
        assert_eq!(
            words(text).unwrap(),
            "This should fix it by: Updating npm to the latest version first; Running the file directly."
        );
    }

    #[test]
    fn an_opening_without_a_full_stop_gets_one_before_its_list() {
        let text = "PR open: https://x.org/a/pull/9\n\nThree files in it:\n- **a.md**: the guide of the list\n- **b.md**: the rule\n";
        assert_eq!(
            words(text).unwrap(),
            "PR open: https://x.org/a/pull/9. Three files in it: a.md: the guide of the list; b.md: the rule."
        );
    }

    #[test]
    fn a_state_that_the_user_had_changed_is_left_out() {
        for last in [
            "Logic: `push_sessions: false` is off, and without the key it is on.",
            "Committed the switch with real booleans.",
        ] {
            let mut script = Script::default();
            script.prompt("Let the push be switched off");
            script.edit("a", "/app/setup.go", "a", "b");
            script.reply("m1", "Changed the switch from `off` to the text `false` for consistency with the other keys of the file.");
            script.prompt("why can't we just use real booleans?");
            script.reply("m2", "You're right, we should use real booleans. Let me fix it.");
            script.edit("b", "/app/setup.go", "b", "c");
            script.reply("m3", last);
            let ending = summary(&script).last_words.unwrap();
            assert!(ending.starts_with(&last[..6]) && !ending.contains("consistency"), "{ending}");
        }
    }

    #[test]
    fn an_acknowledgement_is_followed_by_the_report_of_the_work() {
        for (request, answer) in [
            (
                "thanks. we need the post-mortem by wednesday",
                "Noted: the post-mortem is to be written by Wednesday, and an alert on idle sessions is to be added.",
            ),
            ("merge mach ich selber heute abend", "Alles klar."),
            ("merci, je m'occupe du reste demain matin", "C'est noté."),
            ("ありがとう。続きは明日やる", "承知しました。"),
        ] {
            let mut script = Script::default();
            script.prompt("Payments fail since nine. Find out why.");
            script.run("a", "psql -c 'select 1'", Outcome::Succeeded, "1\n");
            script.reply("m1", "The payments failed because the export left a transaction open, which used up the pool of connections. The deploy had nothing to do with it.");
            script.prompt(request);
            script.reply("m2", answer);
            let words = summary(&script).last_words.unwrap();
            let wanted = format!("{answer} Before that: The payments failed because the export");
            assert!(words.starts_with(&wanted), "{words}");
        }
    }

    #[test]
    fn an_offer_is_an_open_end_and_no_last_word() {
        assert_eq!(
            words("Updated both lists of the shop. Want me to commit this?").unwrap(),
            "Updated both lists of the shop."
        );
    }

    #[test]
    fn all_tests_pass_only_if_all_ran() {
        let claims = |limited_to: Option<&str>| {
            let run = TestRun {
                limited_to: limited_to.map(str::to_owned),
                passed: 9,
                ..TestRun::default()
            };
            let evidence = Evidence { tests: vec![run], ..Evidence::default() };
            claims_unseen_tests(&evidence, "All tests pass and the list is posted.")
        };
        assert!(claims(Some("-k list")));
        assert!(!claims(None));
    }

    #[test]
    fn earlier_words_lose_the_sentences_that_later_turns_settled() {
        let before =
            "That's only the old server. The tests are stable now. I need to commit. Shall I?";
        assert_eq!(still_valid(before).as_deref(), Some("The tests are stable now."));
        assert_eq!(still_valid("Committed. Shall I push?"), None);
    }

    #[test]
    fn a_sentence_after_an_exclamation_is_kept() {
        for text in [
            "Done — the endpoint now returns 404 for unknown ids.",
            "Done: the endpoint now returns 404 for unknown ids.",
            "Perfect, the endpoint now returns 404 for unknown ids.",
            "Got it — removed the second lookup from the handler, so unknown ids answer 404.",
        ] {
            assert_eq!(words(text).as_deref(), Some(text));
        }
        for text in [
            "Great, let me look at the second handler of the shop first.",
            "Perfect, now I write the test for the handler.",
            "Great question.",
            "Got it — skipping the design, straight to the handler.",
            "Sure, here is the list:",
        ] {
            assert!(is_announcement(text), "{text}");
        }
        let repeated = "okay, ".repeat(4000);
        assert!(is_announcement(&format!("{repeated}let me look at the list.")));
        assert!(!is_announcement(&format!("{repeated}the list has two rows.")));
    }

    #[test]
    fn an_introduction_is_kept_and_an_announcement_is_removed() {
        let text = "Updated. The todo now asks for a migration with two readers of the format:\n\n- **Dual read**: old files stay readable\n- **Lazy write**: new ones carry the key\n";
        assert_eq!(
            words(text).unwrap(),
            "The todo now asks for a migration with two readers of the format: Dual read: old files stay readable; Lazy write: new ones carry the key."
        );
        let text = "All four comments are addressed. Here's what changed:\n\n- Added a guard to the list\n- the list is shorter\n";
        assert_eq!(
            words(text).unwrap(),
            "All four comments are addressed. Added a guard to the list; the list is shorter."
        );
        assert_eq!(words("Good plan. Let me write it up and present it for approval."), None);
        let text = "Pushed the branch `days`. PR URL: https://example.org/a/b/pull/new/days. The list is sorted.";
        assert_eq!(words(text).unwrap(), "Pushed the branch `days`. The list is sorted.");
    }
}
