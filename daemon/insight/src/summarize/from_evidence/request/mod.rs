//! Converts the prompts of the user into requests for a summary.

pub(super) mod antecedents;
mod committed_work;
pub(super) mod first_order;
pub(super) mod later_requests;
pub(super) mod objective;
pub(super) mod openings;
pub(super) mod pasted_text;
mod picks;
pub(super) mod recaps;
mod remarks;
#[cfg(test)]
pub(crate) mod request_scenarios;
pub(super) mod short_title;
pub(super) mod title;
pub(super) mod typed_text;
pub(super) mod wording;
#[cfg(test)]
pub(crate) mod wording_scenarios;

use crate::{
    lang::prompt::slash_command,
    model::evidence::{Evidence, Quote},
    report::{
        Topic,
        cache::{Cache, cached},
        is_phrase,
    },
    summarize::from_evidence::{
        entries::cut_at_clause,
        request::{
            pasted_text::{without_gap, written},
            wording::{Manner, orders_work},
        },
    },
    text::{Block, blocks, capitalised, cut, one_line, pattern, sentences, spoken_sentences},
};

/// Maximum length, in characters, of a request in a summary.
pub(super) const REQUEST: usize = 600;
/// Maximum length, in characters, of a request with a list. The last item may say what is expected.
const LISTED: usize = 900;

/// Number of characters after which no more sentences are added to a request.
const OPENING: usize = 300;

/// Maximum number of prompts whose requests a thread caches. Many rules compare a prompt with all
/// other prompts of its session.
const MAX_CACHED: usize = 256;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    /// Usually one or two sentences: the request and its background.
    pub(super) text: String,
    /// Only the sentence that asks.
    pub(super) ask: String,
    /// Whether `ask` is an order, even a polite one.
    pub(super) is_order: bool,
    pub(super) weight: Weight,
}

/// How much a prompt says about what is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// A word of agreement, thanks, or a reaction that means nothing by itself.
    Reaction,
    /// Asks for a routine such as a commit.
    Routine,
    /// Asks for something, but gives few details.
    Vague,
    /// Says what is wanted.
    Clear,
}

impl Request {
    /// Parses a prompt; `None` if no person wrote any part of it.
    pub(super) fn of(prompt: &str) -> Option<Request> {
        thread_local! {
            static CACHE: Cache<Option<Request>> = Cache::default();
        }
        cached(&CACHE, MAX_CACHED, prompt, || Request::parse(prompt))
    }

    fn parse(prompt: &str) -> Option<Request> {
        if pattern!(
            r"^(?:Operation stopped by hook|Stop hook feedback|\[Request interrupted|Caveat: )"
        )
        .is_match(prompt)
        {
            return None;
        }
        if let Some(command) = slash_command(prompt) {
            return Some(of_command(command));
        }
        if let Some(plan) = of_plan(prompt) {
            return Some(plan);
        }
        let request = parse_prose(&written(&without_gap(prompt)));
        (request.text.chars().filter(|c| c.is_alphanumeric()).count() >= 1).then_some(request)
    }

    fn from_text(text: &str, weight: Weight) -> Request {
        Request { text: text.to_owned(), ask: text.to_owned(), is_order: orders_work(text), weight }
    }
}

/// Returns the first prompt that is parsed as this request.
pub(super) fn prompt_of<'e>(evidence: &'e Evidence, request: &Request) -> Option<&'e Quote> {
    evidence.prompts.iter().find(|one| Request::of(&one.text).as_ref() == Some(request))
}

/// Converts `/name args` into a request: the arguments if they can be understood alone, or the
/// whole text if the arguments are only the object of the command. Otherwise the request says what
/// the command does or, for an unknown command, that the command is to be run.
fn of_command(command: &str) -> Request {
    let (name, args) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    // The name of the command that ran before is not an argument.
    let args = pattern!(r"\s*\(after `[^`]*`\)\s*$").replace(args, "");
    let args = args.as_ref();
    // `all of phase 14 work` cannot be understood without its command.
    let words = args.split_whitespace().count();
    let names_an_object = (3..=8).contains(&words)
        && !args.contains(['.', '?', '\n'])
        && pattern!(
            r"(?i)^(?:all|the|this|that|my|our|phase|pr|issue|these|every|everything|only)\b"
        )
        .is_match(args);
    if names_an_object {
        return Request::from_text(&format!("/{name} {}", one_line(args)), Weight::Clear);
    }
    if args.split_whitespace().count() >= 3 || args.chars().count() >= 24 {
        return parse_prose(&written(args));
    }
    let known = match name {
        "init" => "Analyse the codebase and write CLAUDE.md for it",
        "review" | "code-review" => "Review the code changes",
        "security-review" => "Review the changes for security",
        "commit" => return Request::from_text("Commit", Weight::Routine),
        _ => "",
    };
    let args = one_line(args);
    let (text, weight) = match (known, args.as_str()) {
        ("", "") => (format!("Run the `/{name}` command"), Weight::Vague),
        ("", args) => (format!("Run the `/{name}` command on {args}"), Weight::Clear),
        (known, "") => (known.to_owned(), Weight::Clear),
        (known, args) => (format!("{known} ({args})"), Weight::Clear),
    };
    Request::from_text(&text, weight)
}

/// Converts a prompt that contains a plan, as after "Implement the following plan:", into the
/// plan's title and its [`background`].
fn of_plan(prompt: &str) -> Option<Request> {
    let is_announcement = |line: &str| {
        pattern!(r"(?i)^(?:please )?(?:implement|execute|carry out|follow) (?:the |this )?(?:following )?plan\b").is_match(line)
    };
    let announced = is_announcement(prompt);
    let blocks = blocks(prompt);
    let headings = blocks.iter().filter_map(|block| match block {
        Block::Heading(heading) => Some(one_line(heading)),
        Block::Item(_) | Block::Paragraph(_) => None,
    });
    let begins_so = matches!(blocks.first(), Some(Block::Heading(_))) && prompt.starts_with('#');
    let title =
        headings.filter(|_| announced || begins_so).find(|heading| !is_announcement(heading))?;
    let title =
        pattern!(r"(?i)^(?:implementation )?plan(?: for)?\s*[:—-]\s*|\s+(?:implementation )?plan$")
            .replace_all(&title, "");
    let title = capitalised(title.trim().trim_end_matches(['.', ':']));
    if title.len() < 12 {
        return None;
    }
    let context = blocks.iter().find_map(|block| match block {
        Block::Paragraph(text) => {
            Some(one_line(text)).filter(|line| line.len() > 40 && !is_announcement(line))
        }
        Block::Heading(_) | Block::Item(_) => None,
    });
    let background = context.as_deref().and_then(background);
    let text = match background.filter(|text| text.chars().count() <= REQUEST) {
        Some(text) => format!("{title}. {text}"),
        None => title.clone(),
    };
    Some(Request { ask: title, ..Request::from_text(&text, Weight::Clear) })
}

/// Returns the first sentence of a plan's context, and the first later sentence that states a wish.
/// Puts `Before: ` before a first sentence about the current state, because the session changes
/// that state.
fn background(context: &str) -> Option<String> {
    let all = sentences(context);
    let first = *all.first()?;
    let wants = |sentence: &&&str| {
        pattern!(r"(?i)^(?:we|i|users?|the (?:users?|team|goal|aim))\b.{0,24}\b(?:wants?|needs?|should|is to)\b")
            .is_match(sentence)
    };
    let is_state =
        pattern!(r"(?i)\b(?:current|currently|existing|right now|at the moment|today)\b");
    let first = match is_state.is_match(first) {
        true => format!("Before: {}", pattern!(r"(?i)^currently,? ").replace(first, "")),
        false => first.to_owned(),
    };
    let wanted = all.iter().skip(1).find(wants);
    Some(wanted.map_or(first.clone(), |wanted| format!("{first} {wanted}")))
}

/// Returns the request without greeting and politeness: the first statement of the prompt, and what
/// the prompt asks for.
fn parse_prose(prose: &str) -> Request {
    // A file that is only attached belongs to the sentence before it.
    let line = pattern!(r"([.?!])\s+@([\w./~-]+\.\w+)[.\s]*$").replace(prose, " (`$2`)$1");
    let line = pattern!(r"(^|\s)@([\w./~-]+\.\w+|[\w.~-]+/[\w./~-]*)").replace_all(&line, "$1$2");
    let line = pattern!(r"(?:^|\s)[:;=]-?[()/|DPp](?:[.\s]|$)").replace_all(&line, ". ");
    let line = wording::short_addresses(&one_line(&line));
    let line = without_examples(&line);
    let (first, manner) = wording::plain(line.trim_start_matches(['.', ' ']));
    let first = wording::with_command(&first);
    // Users begin sentences in lower case.
    let spoken = spoken_sentences(&first);
    let all: Vec<&str> = match spoken.is_empty() {
        true => sentences(&first),
        false => spoken.iter().map(String::as_str).collect(),
    };
    let first_sentence = all.first().copied().unwrap_or_default();
    let ask = all.iter().skip(1).take(8).find_map(|sentence| wording::ask(sentence));
    let within = wording::asked_within(first_sentence).filter(|_| manner != Manner::Orders);
    let is_short = first.chars().count() <= REQUEST;
    let limit = if first.matches("; ").count() >= 3 { LISTED } else { REQUEST };
    let (text, ask) = match (manner, ask) {
        (Manner::States, Some(ask)) if is_short => (in_full(&all), ask),
        (Manner::States, Some(ask))
            if !wording::states_problem(&without_quotes(first_sentence)) =>
        {
            let budget = REQUEST.saturating_sub(ask.chars().count() + 1);
            let first_sentence = if budget < 60 {
                String::new()
            } else {
                with_closed_quote(&cut(first_sentence, budget))
            };
            (format!("{first_sentence} {ask}").trim_start().to_owned(), ask)
        }
        _ => (opening(&all, limit), first_sentence.to_owned()),
    };
    let is_order =
        manner == Manner::Orders || within.is_some() || all.iter().any(|one| orders(one, &ask));
    let ask = within.unwrap_or(ask);
    let tidy =
        |text: &str| capitalised(cut_at_clause(text, limit).trim_end_matches([':', ',', ' ']));
    let (text, ask) = (tidy(&text), tidy(&ask));
    Request { weight: weight(&text), text, ask, is_order }
}

/// Whether a sentence of a prompt is the order `ask`.
fn orders(sentence: &str, ask: &str) -> bool {
    let (text, manner) = wording::plain(sentence);
    manner == Manner::Orders && text.eq_ignore_ascii_case(ask)
}

fn without_quotes(text: &str) -> String {
    text.split('"').step_by(2).collect()
}

/// Closes a quotation that breaks off.
fn with_closed_quote(text: &str) -> String {
    match text.matches('"').count() % 2 {
        1 => format!("{} …\"", text.trim_end_matches([' ', '…'])),
        _ => text.to_owned(),
    }
}

/// Removes long texts in brackets from a request that is longer than [`REQUEST`].
fn without_examples(line: &str) -> String {
    if line.chars().count() <= REQUEST {
        return line.to_owned();
    }
    pattern!(r" ?\([^()]{30,}\)").replace_all(line, "").into_owned()
}

/// Joins all sentences. Leaves out thanks, references such as `see below`, and polite words around
/// requests.
fn in_full(all: &[&str]) -> String {
    let points = |sentence: &&&str| {
        !pattern!(
            r"(?i)^(?:here (?:it|they|you) (?:is|are|go)|see below|thanks?|thank you)\b[^?]{0,20}$"
        )
        .is_match(sentence)
    };
    let kept = all.iter().filter(points);
    // `wording::ask` drops the `So` of a purpose, which would then read like a request.
    let is_purpose =
        |one: &str| pattern!(r"(?i)^so (?:that )?(?:i|we|you|it|they)\b").is_match(one);
    let kept = kept.map(|one| {
        wording::ask(one).filter(|_| !is_purpose(one)).unwrap_or_else(|| (*one).to_owned())
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// Returns the first sentences, up to about [`OPENING`] characters. The sentences directly after
/// them are included, too, if they reject or limit the sentence before them. A short order at the
/// end of the prompt is added if `limit` allows it.
fn opening(all: &[&str], limit: usize) -> String {
    let mut text = String::new();
    let mut count = 0;
    for sentence in all {
        if text.chars().count() > OPENING && !wording::rejects_or_limits_previous(sentence) {
            break;
        }
        count += 1;
        if !text.is_empty() && is_instruction(sentence) {
            continue;
        }
        if text.is_empty() {
            text.push_str(sentence);
            continue;
        }
        text.push(' ');
        text.push_str(&wording::last_order(sentence).unwrap_or_else(|| (*sentence).to_owned()));
    }
    let last = all[count.min(all.len())..].last().and_then(|last| wording::last_order(last));
    match last.filter(|last| text.chars().count() + last.chars().count() < limit) {
        Some(last) => format!("{} {last}", with_closed_quote(&text)),
        None => cut_at_clause(&text, limit),
    }
}

/// Whether a sentence says how to work or to report. This is not part of the goal.
fn is_instruction(sentence: &str) -> bool {
    pattern!(r"(?i)^(?:run `[^`]+`|provide (?:prioriti[sz]ed|actionable|clear|concise|detailed)\b|(?:please )?(?:return|report) (?:only )?(?:the |your |actionable )?findings\b|if you need (?:any |more |some )|let me know\b|you know what to do\b|think (?:hard|carefully|step))")
        .is_match(sentence)
}

fn weight(text: &str) -> Weight {
    let lower = text.to_lowercase();
    let words = lower.split_whitespace().count();
    let reaction = pattern!(
        r"^(?:yes|yep|yeah|no|nope|ok|okay|sure|thanks?|thank you|great|perfect|nice|good|cool|awesome|excellent|lgtm|agreed?|sounds good|looks good|go|go ahead|go on|continue|proceed|do it|done|next|wait|[b-e1-9]|hm+|hi|hello|hey|\?+|and|exactly|correct|right|same|both|all|none|fine|bye)(?:[^\w-]|$)"
    );
    // `clear the cache` and `a user reported it` are more than a reaction.
    let reaction_alone = pattern!(
        r"^(?:stop|test|clear|exit|quit|a)(?:[,.!?;:)]|(?: (?:it|this|that|now|please|here|again|there|then|and|but|or|with|for now))*$)|^a (?:and|but|or|please|with)\b|^(?:stop|exit|quit) (?:doing|plan mode|the session)\b"
    );
    if words <= 4
        && (reaction.is_match(&lower) || reaction_alone.is_match(&lower))
        && !is_about_a_noun(&lower)
        || lower.chars().filter(|c| c.is_alphanumeric()).count() <= 2
    {
        return Weight::Reaction;
    }
    // Only the start of a long text is matched.
    if !lower.contains('\n')
        && is_phrase(Topic::RoutineStep, lower.trim_end_matches(['.', '!']))
        && !continues_named_work(&lower)
    {
        return Weight::Routine;
    }
    // A correction states no goal.
    if pattern!(r"^(?:no,? |oh,? )?(?:that|this|it)(?:['’]?s| is| was) not\b").is_match(&lower) {
        return Weight::Vague;
    }
    let names_something = text.contains('`')
        || text.contains('/')
        || pattern!(r"\b[A-Z]{2,}-\d+\b|#\d+|\w\.\w").is_match(text);
    let names_code =
        pattern!(r"\b[A-Za-z0-9]+_\w{2,}|\b[a-z]+[A-Z]\w{2,}|\w{2,}\.[a-z]{1,4}\b").is_match(text);
    let is_clear = match words {
        0 | 1 => false,
        2 => names_code,
        3 => names_something || names_code,
        _ => true,
    };
    if is_clear { Weight::Clear } else { Weight::Vague }
}

/// Whether the first word of a short text belongs to a noun, as in `all tests fail` and `next page
/// is broken`, and is no reaction.
fn is_about_a_noun(lower: &str) -> bool {
    pattern!(r"^all [\w-]+ (?:still )?(?:fail|crash|break|hang)\b|^(?:next|right|done|all|both) [\w-]+ (?:is|are) (?:\w+ )?(?:broken|missing|gone|wrong|empty|gr[ae]y|disabled|slow|failing|stuck|red)\b|^(?:next|right|done) [\w-]+ (?:fails|crashes|hangs|is)\b")
        .is_match(lower)
        && !pattern!(r"^\w+ (?:that|this|it|there|he|she|one|step|task|phase|thing)\b").is_match(lower)
}

/// Whether a request to continue names the work, as in `continue the migration of the tables`.
fn continues_named_work(lower: &str) -> bool {
    pattern!(r"^continue (?:with |on )?(?:the|our|my) [\w-]+ (?:of|for|to|from) (?:the |our |all )?[\w-]{3,}")
        .is_match(lower)
        && !pattern!(r"^continue (?:with |on )?\w+ (?:work|tasks?|session|plan|conversation|next|rest|previous|last|remaining|other|steps?|part|implementation)\b|\b(?:from|of) (?:yesterday|last|before|earlier|above)\b")
            .is_match(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_worded_for_a_summary() {
        for (prompt, wanted) in [
            (
                "Hey Claude, I'd like your help with splitting the billing module",
                "Splitting the billing module",
            ),
            ("ok, can you please add a test for `x`?\\\n", "Add a test for `x`."),
            ("sounds good. address the 3 findings", "Address the 3 findings"),
            ("npm run docs hangs", "npm run docs hangs"),
            (
                "Let's adjust the port in @src/config.rs. It must be free.",
                "Adjust the port in src/config.rs. It must be free.",
            ),
            ("fix this:\n\n```\nerror: x\n```\n", "Fix this"),
            (
                "why do I get  Check (shell)    ┃  │ make all │ exit 1 ┃ └ Denied by the hook\n\nand fix",
                "Why do I get Check (shell): Denied by the hook. and fix",
            ),
            (
                "were all rules followed? @docs/RULES.md",
                "Were all rules followed (`docs/RULES.md`)?",
            ),
            ("[[ ## query ## ]]\nList all files of the app", "List all files of the app"),
            (
                "why does the upload stop at night?\n\n> upload\n> npm run x && y\n\nIt began in May.",
                "Why does the upload stop at night? It began in May.",
            ),
            (
                "Implement the following plan:\n\n# Plan: Sort invoices by date\n\n## Context\n\nThe list has no order, and people scroll a lot to find one. More.",
                "Sort invoices by date. The list has no order, and people scroll a lot to find one.",
            ),
            (
                "Implement the following plan:\n\n# Plan: Print JSON by default\n\n## Context\n\nThe current default of the list is a table. The user wants JSON to be the default, as tables cannot be read by programs. More.",
                "Print JSON by default. Before: The current default of the list is a table. The user wants JSON to be the default, as tables cannot be read by programs.",
            ),
            (
                "Have a look at this diff, I would like to sort the list by its dates.\\\n\\\ndiff --git a/list.rs b/list.rs\nindex ecd1cfd5e..d6e320515 100644\n--- a/list.rs\n+++ b/list.rs\n@@ -38,2 +38,2 @@ fn list(\n     names: &Names, days: Option<Days>\n+    sorted: bool\n\nIt must be stable.",
                "Have a look at this diff, I would like to sort the list by its dates. It must be stable.",
            ),
            (
                "Review the parser of the list. Provide prioritized, actionable findings. If you need more context, look at the diff.",
                "Review the parser of the list.",
            ),
            ("please fix these (after `uv run ty check`)", "Fix what `uv run ty check` reported"),
            ("/init", "Analyse the codebase and write CLAUDE.md for it"),
            ("/plan draw a map of all the ferries", "Draw a map of all the ferries"),
            (
                "Oh, the tooltip covers the button now :(\n\nHere it is:\n\nul { a: b; }\n\nCan you please move it to the left?",
                "The tooltip covers the button now. Move it to the left.",
            ),
            (
                "see https://github.com/team/app/pull/104 and check its tests",
                "See team/app#104 and check its tests",
            ),
            ("7", "7"),
            ("/foo", "Run the `/foo` command"),
            ("/app/src/list.rs fails at night", "/app/src/list.rs fails at night"),
            ("/foo 14\n\n(after `git pull`)", "Run the `/foo` command on 14"),
            (
                "the footer is gone. can you get that back. it had an indicator",
                "The footer is gone. Get that back. it had an indicator",
            ),
            ("/security:review all of phase 14 work", "/security:review all of phase 14 work"),
        ] {
            assert_eq!(Request::of(prompt).unwrap().text, wanted, "{prompt:?}");
        }
    }

    #[test]
    fn the_order_after_a_long_quotation_is_kept() {
        let quote = "Cutting by bytes breaks long names. If a name has emoji, it is cut in a mark, which gives a text that nothing can read. Consider to cut by letters, and to count them first, as the other list does it already, so that no name is ever broken again in any list.";
        let prompt = format!(
            "I got this feedback for src/list.rs:28 \"{quote} {quote}\"\n\nCan you address this and check the other lists?"
        );
        let request = Request::of(&prompt).unwrap();
        assert_eq!(request.ask, "Address this and check the other lists.");
        assert!(
            request.text.ends_with(" …\" Address this and check the other lists."),
            "{request:?}"
        );
        let long = "Review the reader of the list. It reads one row at a time, and each row is parsed for itself by the parser of the table, which is slow. The table has a cache. The rows are sorted by name. The names are long, and there are many. Please also update the guide for it.";
        assert!(Request::of(long).unwrap().text.ends_with("Update the guide for it."));
    }

    #[test]
    fn each_prompt_has_its_weight() {
        for (prompt, wanted) in [
            ("yes", Weight::Reaction),
            ("b", Weight::Reaction),
            ("thanks, that works great and I like it a lot here", Weight::Clear),
            ("commit and push", Weight::Routine),
            ("commit this", Weight::Routine),
            ("switch to the phase 12 branch", Weight::Routine),
            ("Thats not the branch I was looking for", Weight::Vague),
            ("we need to get back to main, and pull in latest", Weight::Routine),
            ("Continue from where you left off.", Weight::Routine),
            ("fix it", Weight::Vague),
            ("fix src/a.rs please", Weight::Clear),
            ("add a parser for dates", Weight::Clear),
            ("fine-tune the parser", Weight::Vague),
            ("clear the cache", Weight::Vague),
            ("test the login page", Weight::Clear),
            ("a user reported timeouts", Weight::Clear),
            ("stop, that is wrong", Weight::Reaction),
            ("test it again", Weight::Reaction),
            ("a", Weight::Reaction),
            ("fine with me", Weight::Reaction),
            ("all tests fail", Weight::Vague),
            ("next page is broken", Weight::Clear),
            ("right sidebar is missing", Weight::Clear),
            ("done button is grey", Weight::Clear),
            ("continue the migration of the tables", Weight::Clear),
            ("all good", Weight::Reaction),
            ("all tests pass now", Weight::Reaction),
            ("right that is fine", Weight::Reaction),
            ("next one please", Weight::Reaction),
            ("done with the page", Weight::Reaction),
            ("continue with the parser", Weight::Reaction),
            ("continue the work", Weight::Reaction),
            ("continue with the work of yesterday", Weight::Routine),
            ("continue with the rest of the tables", Weight::Routine),
        ] {
            assert_eq!(Request::of(prompt).unwrap().weight, wanted, "{prompt}");
        }
        let long = format!("continue {}\nand fix src/a.rs", "with the next list ".repeat(50));
        assert_ne!(weight(&long), Weight::Routine);
        assert_eq!(Request::of("```\nonly code\n```"), None);
    }
}
