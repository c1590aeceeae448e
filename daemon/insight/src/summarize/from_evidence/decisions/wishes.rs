//! Quotes the lasting wishes of the user, and finds those that the user takes back.

use std::collections::BTreeSet;

use crate::{
    model::wording::{EVERYWHERE, WITHDRAWN},
    report::{
        Topic, is_phrase,
        retraction::{dropped, returned_to},
    },
    summarize::{
        from_evidence::{
            decisions::misdirected::is_misdirected,
            entries::{Entries, push},
            request::{
                typed_text::{spoken, unquoted},
                wording::is_question,
            },
        },
        lists::keep_latest,
    },
    text::{one_line, pattern, share_of_words, spoken_sentences, words},
};

/// Maximum length, in bytes, of a sentence that is quoted.
pub(super) const QUOTE: usize = 420;
/// Maximum number of lasting wishes. If there are more, the latest are kept.
const WISHES: usize = 12;
/// Maximum length, in bytes, of a prompt that is searched for lasting wishes.
const INSTRUCTIONS: usize = 2_500;

/// Whether a text states a lasting wish of the user.
pub fn states_wish(text: &str) -> bool {
    is_wish(text.trim())
}

/// Formats a wish that the user asked to remember, as [`wishes`] formats the wishes in prompts.
pub fn remembered_wish(text: &str, is_for_all: bool) -> String {
    let label = if is_for_all || is_everywhere(text) { EVERYWHERE } else { "" };
    format!("{label}\"{}\"", one_line(text))
}

/// Returns the lasting wishes of the user, and the wishes that the user took back. A wish that a
/// later sentence takes back is left out. Empty if another agent wrote the prompts.
pub(crate) fn wishes(entries: &Entries<'_>) -> Vec<String> {
    let mut list = Vec::new();
    if entries.evidence.is_instructed {
        return list;
    }
    for prompt in entries.evidence.prompts.iter().filter(|one| !is_misdirected(entries, one)) {
        let Some(words) = spoken(&unquoted(entries, prompt), INSTRUCTIONS) else { continue };
        let sentences = spoken_sentences(&words);
        let parts = sentences.iter().flat_map(|whole| {
            let parts = separate_wishes(whole);
            let is_list = parts.len() > 1;
            parts.into_iter().map(move |part| (is_list, part))
        });
        for (is_of_list, sentence) in parts {
            let earlier = list.len();
            list.retain(|wish: &String| !takes_back(sentence, wish));
            let is_of_wish = list.len() < earlier || is_lasting_withdrawal(sentence);
            let label = match () {
                () if is_withdrawal(sentence) && is_of_wish => WITHDRAWN,
                () if !is_of_list && !is_wish(sentence) => continue,
                () if is_everywhere(sentence) => EVERYWHERE,
                () => "",
            };
            let words = sentence.trim_start_matches(['-', '*', '•', ' ']);
            push(&mut list, format!("{label}\"{}\"", entries.tidy_line(words)));
        }
    }
    keep_latest(&mut list, WISHES);
    list
}

/// Splits a sentence with several wishes, for example `never touch a.yml, and always run the
/// linter`, so that the user can take back one of them later.
fn separate_wishes(sentence: &str) -> Vec<&str> {
    let joint = pattern!(
        r"(?i)[,;] (?:and|but) (?:also )?((?:please )?(?:always|never|keep|do not|don.?t)\b)"
    );
    let mut parts = Vec::new();
    let mut rest = sentence;
    while let Some(found) = joint.captures(rest) {
        let (Some(whole), Some(next)) = (found.get(0), found.get(1)) else { break };
        let (first, second) = (&rest[..whole.start()], &rest[next.start()..]);
        if !is_wish(first) || is_question(second) {
            break;
        }
        parts.push(first);
        rest = second;
    }
    parts.push(rest);
    parts
}

/// Minimum share of the words of a wish that are in a sentence that takes it back.
const TAKEN_BACK_SHARE: f64 = 0.5;

/// Whether a later sentence of the session takes a wish back: the sentence withdraws most of its
/// words, drops the thing that the wish is about, or goes back to what the wish rejects.
fn takes_back(sentence: &str, wish: &str) -> bool {
    if wish.starts_with(WITHDRAWN) || is_question(sentence) {
        return false;
    }
    let (chosen, rejected) = split_alternative(wish);
    let (chosen, rejected) = (words(chosen), words(rejected));
    let withdraws =
        is_withdrawal(sentence) && share_of_words(&chosen, &words(sentence)) >= TAKEN_BACK_SHARE;
    let is_of = |object: Option<&str>, wanted: &BTreeSet<String>| {
        let object = object.map(words).unwrap_or_default();
        !object.is_empty() && object.is_subset(wanted)
    };
    // `Revert the commit` and `we don't need a test for this one` are about work, not about a rule.
    let is_about_work = is_for_now(sentence)
        || pattern!(r"(?i)\b(?:revert|undo|take back|discard)\b|\b(?:for this|this one)\b")
            .is_match(sentence);
    let object = dropped(sentence).filter(|_| !is_about_work);
    let is_main_object = object.is_some_and(|object| {
        share_of_words(&chosen, &words(object)) >= TAKEN_BACK_SHARE || is_used(object, wish)
    });
    withdraws || is_main_object && is_of(object, &chosen) || is_of(returned_to(sentence), &rejected)
}

/// Whether a wish is to use `object`, for example `use pnpm in this repo`.
fn is_used(object: &str, wish: &str) -> bool {
    let object = object.to_lowercase();
    let uses = pattern!(r"(?i)\b(?:use|using|prefer|stick (?:to|with)) (?:the |an? |our )?");
    uses.find_iter(wish).any(|found| {
        let rest = wish[found.end()..].to_lowercase();
        let rest = rest.trim_start_matches(['`', '\'', '"']);
        rest.strip_prefix(object.as_str())
            .is_some_and(|after| !after.starts_with(|next: char| next.is_alphanumeric()))
    })
}

/// Splits a wish before the alternative that it rejects, for example `use tabs, not spaces`.
fn split_alternative(wish: &str) -> (&str, &str) {
    let alternative = pattern!(r"(?i),? (?:instead of|rather than|and not|not|over) ");
    alternative.find(wish).map_or((wish, ""), |found| wish.split_at(found.start()))
}

pub(super) fn is_wish(sentence: &str) -> bool {
    let opener = pattern!(
        r"(?i)^(?:(?:btw|by the way|fyi|ps|one (?:more|last) thing|oh|thanks)\b[,:]? (?:and |also )?|(?:(?:our|the|a|new|team|house|project|company|general) )*(?:rule|convention|policy)(?: (?:here|for \w+))?: |(?:team|projekt)?regel: |(?:et )?règle(?: d.équipe)? ?: |regla(?: del equipo)?: |(?:チームの)?ルール[:：] ?|(?:团队)?(?:规则|规定)[:：] ?)"
    );
    let bare = opener.find(sentence).map_or(sentence, |found| &sentence[found.end()..]);
    let asks_politely =
        pattern!(r"(?i)^(?:could|can|would|will) you (?:please )?(?:always|never)\b");
    (!is_question(sentence) || asks_politely.is_match(bare))
        && !sentence.ends_with(':')
        && (12..=QUOTE).contains(&sentence.len())
        && is_phrase(Topic::Wish, bare)
        && !is_for_now(sentence)
        && !is_reproach(bare)
        && !picks(bare)
}

/// Whether a sentence complains about something past, or describes what a program must do.
fn is_reproach(sentence: &str) -> bool {
    pattern!(
        r"(?i)\bshould (?:never|not|always) have (?:been|done|gone|had|made|\w+ed|\w+en)\b|^from now on,? (?:it|they) should\b"
    )
    .is_match(sentence)
        || is_phrase(Topic::Symptom, sentence)
}

/// Whether a sentence with `prefer` only picks an option that was shown before. `The latest version
/// of each library` was not shown.
fn picks(sentence: &str) -> bool {
    let option = pattern!(
        r"(?i)^(?:(?:(?:i|we) )?(?:would )?prefer|prefiero|preferimos|je préfère|(?:nous préférons|on préfère)) (?:options?|the (?:first|second|third|last|latter|former|other|one|(?:\w+ )?(?:one|option|version|variant|layout|design))|(?:la|le|el|l.)? ?(?:opci[oó]n|option|prim[eè]\w+|segund[oa]|seconde?|deuxi[eè]me)|this|that|these|it|if|number|[a-h1-9])\b"
    );
    option.find(sentence).is_some_and(|found| {
        let is_kind =
            pattern!(r"(?i)\b(?:version|variant|layout|design)$").is_match(found.as_str());
        !(is_kind && sentence[found.end()..].starts_with(" of "))
    })
}

/// Whether a sentence takes back a lasting wish.
fn is_withdrawal(sentence: &str) -> bool {
    !is_question(sentence)
        && (12..=QUOTE).contains(&sentence.len())
        && is_phrase(Topic::Withdrawal, sentence)
}

/// Whether a withdrawal says that a rule ends. Without this, `you can run the tests again` is only
/// a permission for the current task, unless the user stated a wish about it.
fn is_lasting_withdrawal(sentence: &str) -> bool {
    pattern!(
        r"(?i)\b(?:any ?more|any longer|no longer|from now on|rules?|what i said|wish|instructions?|preferences?|stop always)\b|\b(?:nicht|keine?n?)\b.{0,60}\b(?:mehr|länger)\b|\b(?:vergiss|ab jetzt|ya no|olvida|oublie)\b|\bplus (?:(?:besoin|nécessaire|la peine)\b|à(?:\s|$))|再|忘|もう|取り消|無視"
    )
    .is_match(sentence)
        && !pattern!(r"可以重新").is_match(sentence)
}

/// Whether a sentence limits a wish to the current task.
fn is_for_now(sentence: &str) -> bool {
    pattern!(r"(?i)\b(?:yet|for now|this time|right now|just now|today|at the moment|this once|in this (?:case|commit|pr|branch|session))\b|\bvorerst\b|\bdiesmal\b|\bpor ahora\b|\bpour l.instant\b|暂时|这次|今回")
        .is_match(sentence)
}

/// Whether a wish says that it is for all projects.
fn is_everywhere(sentence: &str) -> bool {
    pattern!(r"(?i)\b(?:in|for|across) (?:all|every|any|each) (?:of )?(?:my |our |the )?(?:projects?|repos?|repositor(?:y|ies))\b|\b(?:everywhere|globally|no matter which (?:project|repo))\b|\bin (?:allen|jedem) (?:meinen |unseren )?(?:projekten?|repos?|repositories)\b|\ben todos (?:los|mis) (?:proyectos|repos)|\bdans tous (?:les|mes) (?:projets|dépôts)|所有项目|すべてのプロジェクト|全てのプロジェクト")
        .is_match(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::Reports, summarize::evidence::scenarios::evidence_of_prompts};

    fn wishes_in(prompts: &[&str]) -> Vec<String> {
        let evidence = evidence_of_prompts(prompts);
        let reports = Reports::of(&evidence);
        wishes(&Entries { evidence: &evidence, reports: &reports, project: None })
    }

    #[test]
    fn a_wish_that_the_user_takes_back_in_the_session_is_left_out() {
        for (wish, later, is_taken_back) in [
            ("from now on use pnpm in this repo, not npm", "back to npm then, everywhere", true),
            ("from now on use pnpm in this repo, not npm", "security said no. forget pnpm", true),
            ("from now on use pnpm in this repo, not npm", "back to the parser then", false),
            (
                "use tabs from now on, not spaces",
                "hm no, the formatter complains. back to spaces",
                true,
            ),
            (
                "run make check before every commit",
                "no need for make check before commits anymore",
                true,
            ),
            ("run make check before every commit", "no need for the cache anymore", false),
            ("run make check before every commit", "drop the old cache", false),
            ("never touch config/prod.yml", "you may edit config/prod.yml again", true),
            ("Always run the tests before you commit.", "revert the commit", false),
            ("Never commit without asking me.", "ok, revert that commit please", false),
            ("Always run the linter before you push to main.", "undo the push", false),
            ("Always add a test for every bug fix.", "we don't need a test for this one", false),
            ("Always add a test for every bug fix.", "drop the test", false),
            ("I prefer small commits.", "forget the small commits", true),
            ("Always use `pnpm` here.", "actually, drop pnpm", true),
        ] {
            let kept = wishes_in(&["Fix it", wish, later]);
            let is_left = kept.iter().any(|line| line == &format!("\"{wish}\""));
            assert_eq!(!is_left, is_taken_back, "{wish} / {later}: {kept:?}");
        }
    }

    #[test]
    fn wishes_in_one_sentence_and_below_a_label_are_found() {
        assert_eq!(
            wishes_in(&[
                "never touch config/prod.yml, and always run npm run lint before you commit, and please keep answers short"
            ]),
            [
                "\"never touch config/prod.yml\"",
                "\"always run npm run lint before you commit\"",
                "\"please keep answers short\""
            ]
        );
        for wish in [
            "Team rule: never run a migration in production on a Friday",
            "Teamregel: nie am Freitag deployen",
            "Règle d'équipe : jamais de déploiement le vendredi",
            "that's how we want all our reports: one page, conclusion first",
            "no people's names in documents, ever",
            "comments in english please, always",
            "also german comments from now on, the new team reads german",
            "use tabs from now on, not spaces",
            "mets toujours les montants en centimes",
            "ne fais jamais de rebase",
            "必ず田中さんの承認を取ってから適用",
            "勝手に本番へ反映しないで",
        ] {
            assert_eq!(wishes_in(&[wish]).len(), 1, "{wish}");
        }
    }

    #[test]
    fn wishes_have_their_scope_and_may_be_withdrawn() {
        for (prompt, wanted) in [
            ("Never push to main.", Some("\"Never push to main.\"")),
            (
                "fix it. Always sign commits, in all my projects.",
                Some("Everywhere: \"Always sign commits, in all my projects.\""),
            ),
            (
                "You don't have to sign commits any more.",
                Some("Withdrawn: \"You don't have to sign commits any more.\""),
            ),
            ("Don't commit yet.", None),
            ("It failed. Please dont just run the migrations by hand.", None),
            (
                "Always fix the cause, don't just disable the rule.",
                Some("\"Always fix the cause, don't just disable the rule.\""),
            ),
            ("The install will always run all the migrations.", None),
            ("Do you remember which service we use?", None),
        ] {
            assert_eq!(wished(prompt).as_deref(), wanted, "{prompt}");
        }
    }

    #[test]
    fn a_permission_for_the_current_task_withdraws_no_wish() {
        for (prompt, is_listed) in [
            ("you can run the tests again", false),
            ("it's ok to push it now", false),
            ("no need to update the docs now", false),
            ("no need for the migration since the table is empty", false),
            ("Ya puedes volver a ejecutar las pruebas.", false),
            ("你可以重新运行测试了。", false),
            ("Du kannst jetzt wieder den Server starten.", false),
            ("no need to update the docs anymore", true),
            ("It's fine to push to main from now on.", true),
            ("Forget what I said about pnpm.", true),
            ("Ya no hace falta firmar los commits.", true),
            ("Tu n'as plus à signer les commits.", true),
            ("不用再签名提交了。", true),
            ("Du musst die Commits nicht mehr signieren.", true),
            ("もうコミットに署名する必要はありません。", true),
        ] {
            let found = wished(prompt).is_some_and(|wish| wish.starts_with(WITHDRAWN));
            assert_eq!(found, is_listed, "{prompt}");
        }
        assert_eq!(
            wishes_in(&["never push to main", "You may push to main again."]),
            ["Withdrawn: \"You may push to main again.\""]
        );
    }

    #[test]
    fn lasting_wishes_are_recognised_in_six_languages() {
        let rows = include_str!("wish_examples.txt").lines();
        let mut wrong = Vec::new();
        for row in rows.filter(|row| row.starts_with(['+', '-'])) {
            let (sign, row) = row.split_at(1);
            let (prompt, sentence) = row.trim().split_once(" => ").unwrap_or((row.trim(), ""));
            let wanted = (sign == "+").then(|| format!("\"{sentence}\""));
            let found = wished(prompt);
            if found != wanted {
                wrong.push(format!("{prompt}\n    {found:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }

    fn wished(prompt: &str) -> Option<String> {
        wishes_in(&[prompt]).pop()
    }
}
