//! Determines the goal of the user, in one or two sentences, and the short name of the session.

use crate::{
    model::evidence::{Choice, Evidence, Quote, Ticket},
    summarize::from_evidence::{
        decisions::listed_options::picked,
        entries::{cut_at_clause, plain_words},
        next_steps::settled::only_settles,
        repository::commit_messages::is_bookkeeping,
        request::{
            REQUEST, Request, Weight, antecedents,
            committed_work::{committed, committed_then, is_followed_by_order},
            first_order::{first_order, is_short_request, names_object_before},
            later_requests::{LATER, asked_besides, later_goals, points_at_something},
            openings::{
                asks_to_continue, is_about_comments, is_bare_command, is_publication, is_question,
                is_remark, is_talk,
            },
            picks::{picks_from_list, without_pick},
            prompt_of, recaps,
            remarks::{is_remark_to_agent, ordered_after_remark},
            short_title::{TITLE, short_title},
            title::{fits, has_later_prompts, reported_work, subject, title, with_file},
        },
        turns::names_a_problem,
    },
    text::{cut, one_line, pattern, sentences, without_full_stop, words},
};

/// From this number of prompts on, the agent's note for an absent user is preferred to a clear
/// first request.
const MANY_PROMPTS: usize = 6;

/// Minimum share of the words of a commit's subject that must occur in the prompts.
const SHARED: f64 = 0.4;
/// If a session has at most this number of commits, its title is a commit's subject instead of a
/// request that was cut.
const FEW_COMMITS: usize = 3;

/// Minimum number of words of a request to continue that says what to continue with.
const SAYS_WHAT: usize = 5;
/// Precedes the opening prompt of a session that turned to something else.
const BEGAN_WITH: &str = " (began with: ";

/// The objective of a session without a request.
const UNSTATED: &str = "No request was recorded";

/// Returns what the user wanted: the first meaningful request, and the later goals of the session.
/// If the request says little, a title, a plan, a commit or the agent's own recap completes or
/// replaces it.
pub(crate) fn objective(evidence: &Evidence) -> String {
    let requests = requests(evidence);
    let first = first_request(evidence, &requests);
    let order = first.and_then(|at| first_order(evidence, &requests, at));
    let goal = match (first, order) {
        (Some(first), Some(at)) => Goal::from(format!(
            "{}{BEGAN_WITH}{})",
            without_full_stop(&requests[at].text),
            without_full_stop(&cut_at_clause(&requests[first].text, LATER))
        )),
        (first, _) => goal(evidence, first.map(|at| &requests[at])),
    };
    let start = match goal.is_note {
        true => recaps::last_before_note(evidence, &requests),
        false => order.or(first),
    };
    let later = start.map_or(Vec::new(), |at| later_goals(evidence, &requests, at, &goal.text));
    let besides = start.filter(|_| !goal.is_note);
    let besides = besides.map_or(Vec::new(), |at| asked_besides(evidence, &requests[at]));
    let mut text = antecedents::with_references(evidence, &goal.text);
    for (label, requests) in [("Also", besides), ("Later", later)] {
        if !requests.is_empty() {
            let stop = if text.ends_with(['.', '!', '?', '…', '。']) { "" } else { "." };
            text = format!("{text}{stop} {label}: {}.", requests.join("; "));
        }
    }
    text
}

/// Returns the first ticket whose key is in one of the first two prompts.
fn ticket(evidence: &Evidence) -> Option<&Ticket> {
    let named = |ticket: &&Ticket| {
        let key = ticket.key.to_lowercase();
        evidence.prompts.iter().take(2).any(|prompt| prompt.text.to_lowercase().contains(&key))
    };
    evidence.tickets.iter().find(named)
}

/// Returns a title for lists, of at most 80 characters.
pub(crate) fn name(evidence: &Evidence) -> String {
    let ticketed = ticket(evidence).map(|ticket| format!("{}: {}", ticket.key, ticket.title));
    if let Some(title) = ticketed {
        return cut_at_clause(&one_line(&title), TITLE);
    }
    if let Some(title) = title(evidence).filter(|title| fits(title, evidence)) {
        return cut_at_clause(&one_line(&title.text), TITLE);
    }
    let requests = requests(evidence);
    if let Some(subject) = asked_subject(evidence, &requests) {
        return cut_at_clause(&one_line(&subject), TITLE);
    }
    let first = first_request(evidence, &requests);
    let order = first.and_then(|at| first_order(evidence, &requests, at));
    // An order describes the session better than the question before the order.
    let goal = match order.map(|at| &requests[at]) {
        Some(order) if names_object_before(order) && points_at_something(&order.ask) => {
            Goal::asked(&order.text, &order.text)
        }
        Some(order) => Goal::asked(&order.text, &order.ask),
        None => goal(evidence, first.map(|at| &requests[at])),
    };
    let named = |text: &str| antecedents::with_references(evidence, text);
    let goal = Goal::asked(&named(&goal.text), &named(&goal.ask));
    let asked = short_title(&goal.text, &goal.ask);
    let is_cut = asked.as_ref().is_some_and(|asked| asked.is_cut);
    let asked = asked.map_or_else(|| UNSTATED.to_owned(), |asked| asked.text);
    // A commit's subject describes all of the work, but a cut request describes only the start, and
    // a remark describes no work.
    let is_remark = is_remark_to_agent(&asked);
    let is_weak = is_remark || is_cut && evidence.commits.len() <= FEW_COMMITS;
    let subject = subject(evidence, 0.0).filter(|_| is_weak && !has_later_prompts(evidence));
    let begin = order.or(first).and_then(|at| prompt_of(evidence, &requests[at]));
    let ordered =
        || begin.filter(|_| is_remark).and_then(|prompt| ordered_after_remark(&prompt.text));
    // The first report after a cut request answers it, and later ones may answer other requests.
    let searched = if is_remark { usize::MAX } else { 1 };
    let reported = || is_weak.then(|| reported_work(evidence, begin, searched)).flatten();
    let done = subject.or_else(ordered).or_else(reported);
    match done {
        Some(done) => cut_at_clause(&one_line(&done), TITLE),
        None => with_file(evidence, asked),
    }
}

/// Returns the title of the pull request or the subject of a commit, if it shares enough words with
/// the prompts. No shared words are needed if the first request is only talk, a remark or a request
/// such as `Address the comments` or `Push it`, or if a clear request came after the agent's last
/// note for an absent user.
fn asked_subject(evidence: &Evidence, requests: &[Request]) -> Option<String> {
    let first = first_request(evidence, requests);
    let names_nothing = recaps::has_overtaken_note(evidence)
        || first.is_some_and(|first| {
            let text = &requests[first].text;
            is_talk(text)
                || is_about_comments(text)
                || asks_to_continue(text)
                || is_publication(text)
        });
    if names_nothing {
        return subject(evidence, 0.0);
    }
    let only_remarks = || {
        first.is_some_and(|first| {
            let text = &requests[first].text;
            is_remark(text)
                && !names_a_problem(text)
                && !picks_from_list(text)
                && first_order(evidence, requests, first).is_none()
        })
    };
    subject(evidence, SHARED).or_else(|| subject(evidence, 0.0).filter(|_| only_remarks()))
}

/// Returns a title for a session of which only the first prompt is known; empty if that prompt has
/// no content.
pub fn title_of(prompt: &str) -> String {
    Request::of(prompt)
        .map(|request| short_title(&request.text, &request.ask))
        .map(|title| title.map_or_else(|| UNSTATED.to_owned(), |title| title.text))
        .unwrap_or_default()
}

/// A goal, and the sentence of the goal that asks for something.
struct Goal {
    text: String,
    ask: String,
    /// Whether the text comes from a recap of the agent, which describes only earlier work.
    is_note: bool,
}

impl Goal {
    fn asked(text: &str, ask: &str) -> Goal {
        Goal { text: text.to_owned(), ask: ask.to_owned(), is_note: false }
    }
}

impl From<String> for Goal {
    fn from(text: String) -> Goal {
        Goal { ask: text.clone(), text, is_note: false }
    }
}

pub(crate) fn requests(evidence: &Evidence) -> Vec<Request> {
    evidence.prompts.iter().filter_map(|prompt| Request::of(&prompt.text)).collect()
}

/// Returns the index of the first clear request, if it is among the first six. Otherwise returns
/// the first request that is at least vague, or else the first routine order, or else the first
/// reaction.
fn first_request(evidence: &Evidence, requests: &[Request]) -> Option<usize> {
    // A prompt that only says what happens to open ends is about work that was asked for before.
    let of_weight = |weight| {
        let mut weighed = requests.iter().enumerate();
        weighed
            .find(|(at, one)| one.weight >= weight && (*at == 0 || !only_settles(&one.text)))
            .map(|(at, _)| at)
    };
    // The text at a refused call is about a part of the work of the command before it.
    let corrects_command = |at: usize| {
        let is_corrected = |prompt: &Quote| {
            let mut corrections = evidence.corrections.iter();
            corrections.any(|one| one.origin == prompt.origin && one.refused.is_some())
        };
        let asked = prompt_of(evidence, &requests[at]);
        at > 0
            && (is_bare_command(&requests[0].text) && asked.is_some_and(is_corrected)
                || says_what(&requests[0])
                    && asked.is_some_and(|asked| stops_work(evidence, asked)))
    };
    let begins_with_work = || is_short_request(evidence, &requests[0]);
    // A clear request much later is about something else.
    of_weight(Weight::Clear)
        .filter(|at| *at < 6)
        .map(|at| if begins_with_work() || corrects_command(at) { 0 } else { at })
        .or_else(|| of_weight(Weight::Vague))
        .or_else(|| of_weight(Weight::Routine))
        .or_else(|| of_weight(Weight::Reaction))
}

/// Whether a request, even one to continue, says what the work is about.
fn says_what(request: &Request) -> bool {
    request.weight >= Weight::Vague || request.text.split_whitespace().count() >= SAYS_WHAT
}

/// Whether a prompt stops what the agent does, as in `stop, don't touch the migrations`.
pub(crate) fn stops_work(evidence: &Evidence, prompt: &Quote) -> bool {
    evidence.corrections.iter().any(|one| one.origin == prompt.origin)
        && pattern!(r"(?i)^\W*(?:(?:stopp?|halt|wait|no|nope|don.?t|do not|warte|nein|nicht|lass|arrête|attends?|non|para|alto|espera)\b|停|等|不要|别|やめ|待|止|ストップ)")
            .is_match(&prompt.text)
}

fn goal(evidence: &Evidence, first: Option<&Request>) -> Goal {
    if let Some(goal) = first.and_then(|request| ticketed(evidence, request)) {
        return goal;
    }
    let is_clear = first.is_some_and(|request| request.weight == Weight::Clear);
    let note =
        || recaps::noted(evidence).filter(|_| !is_clear || evidence.prompts.len() >= MANY_PROMPTS);
    if let Some(known) = recaps::intent(evidence).or_else(note) {
        return Goal { is_note: true, ..known.into() };
    }
    let title = title(evidence).map(|title| one_line(&title.text));
    let title = title.filter(|title| title.split(' ').count() >= 3);
    let Some(request) = first else {
        return title
            .or_else(|| said_first(evidence))
            .unwrap_or_else(|| UNSTATED.to_owned())
            .into();
    };
    let is_bare = pattern!(r"(?i)^\w+ (?:this|that|it|these|those|them)\b").is_match(&request.ask);
    let ask = match is_bare {
        true => antecedents::with_object(request).unwrap_or_else(|| request.text.clone()),
        false => request.ask.clone(),
    };
    if picks_from_list(&request.text)
        && let Some(goal) = picked_goal(evidence, request)
    {
        return goal;
    }
    if is_bare_command(&request.text)
        && let Some(done) = committed(evidence)
    {
        return came_to(&request.text, &done);
    }
    if let Some(goal) = questioned_goal(evidence, request) {
        return goal;
    }
    if is_talk(&request.text)
        && let Some(work) = evidence.commits.iter().find(|commit| !is_bookkeeping(commit))
    {
        return came_to(&request.text, &work.subject);
    }
    if is_publication(&request.text)
        && let Some(done) = committed_then(evidence, request).or_else(|| subject(evidence, 0.0))
    {
        return came_to(&request.text, &done);
    }
    let own = Goal::asked(&request.text, &ask);
    if is_clear {
        let is_cut = request.text.ends_with('…');
        return title.filter(|_| is_cut).map_or(own, Goal::from);
    }
    match title.or_else(|| shown_plan(evidence)) {
        // The command that showed the list of work does not matter.
        Some(better) if request.text.starts_with("Run the `/") => better.into(),
        Some(better) => format!("{}: {better}", without_full_stop(&request.text)).into(),
        None => own,
    }
}

/// Returns the goal of a request that picks from a list: the picked item, or else the newest commit
/// that is more than bookkeeping.
fn picked_goal(evidence: &Evidence, request: &Request) -> Option<Goal> {
    if let Some(picked) = picked(evidence, request) {
        let says_more =
            pattern!(r"(?i)\b(?:but|only|without|instead|also|and|then|first|except|with|not)\b");
        return Some(match says_more.is_match(&request.text) {
            true => {
                Goal::asked(&format!("{picked} (asked: {})", without_pick(&request.text)), &picked)
            }
            false => picked.into(),
        });
    }
    let done = committed(evidence)?;
    // A question about `this` does not mention its subject.
    Some(match is_question(&request.text) {
        true => done.into(),
        false => came_to(&request.text, &done),
    })
}

/// Returns the goal of a question that led to a commit or a pull request.
fn questioned_goal(evidence: &Evidence, request: &Request) -> Option<Goal> {
    if !is_question(&request.text) {
        return None;
    }
    let done = asked_subject(evidence, &requests(evidence))
        .or_else(|| subject(evidence, 0.0).filter(|_| !is_followed_by_order(evidence, request)))?;
    // A question about the state of the repository, or about something else than the commit, is not
    // the purpose of a session.
    let is_aside = antecedents::asks_for_state(&request.text)
        || words(&done).is_disjoint(&words(&request.text));
    Some(match is_aside {
        true => {
            let began = without_full_stop(&request.text);
            Goal::asked(&format!("{}{BEGAN_WITH}{began})", one_line(&done)), &done)
        }
        false => came_to(&request.text, &done),
    })
}

/// Returns a goal that joins an unclear request with the subject of the commit or pull request that
/// resulted.
fn came_to(asked: &str, done: &str) -> Goal {
    let done = one_line(done);
    Goal::asked(&format!("{} (came to: {done})", without_full_stop(asked)), &done)
}

/// Returns the goal of a request that mentions a ticket, in the words of the ticket.
fn ticketed(evidence: &Evidence, request: &Request) -> Option<Goal> {
    let ticket = ticket(evidence)?;
    if !request.text.to_lowercase().contains(&ticket.key.to_lowercase()) {
        return None;
    }
    let title = format!("{}: {}", ticket.key, one_line(&ticket.title));
    let description = one_line(&ticket.description);
    let lead = sentences(&description).first().copied().unwrap_or_default().to_owned();
    let lead = cut(&lead, REQUEST.saturating_sub(title.len()));
    let text = if lead.is_empty() { title.clone() } else { format!("{title}. {lead}") };
    Some(Goal::asked(&text, &title))
}

/// Returns the title of the first accepted plan, or else of the last refused one.
fn shown_plan(evidence: &Evidence) -> Option<String> {
    let answered = |answer: &'static str| move |choice: &&Choice| choice.answer == answer;
    let accepted = evidence.choices.iter().find(answered("accepted"));
    let accepted = accepted.or_else(|| evidence.choices.iter().rfind(answered("refused")))?;
    let plan = pattern!(r"(?i)^(?:implementation )?plan(?: for)?\s*[:—-]\s*")
        .replace(&accepted.question, "");
    let plan = one_line(&plan);
    (plan.len() >= 10).then_some(plan)
}

/// Whether the transcript has no prompt and no call, and the agent's reply begins with a greeting:
/// `I'm ready to help you explore the code.` Agents start sub-agents in this way before they need
/// them.
fn is_greeting(evidence: &Evidence) -> bool {
    let text = evidence.last_reply.as_ref().map_or("", |reply| reply.text.as_str());
    evidence.prompts.is_empty()
        && evidence.counts.tool_calls == 0
        && pattern!(r"(?i)^(?:(?:hello|hi|hey|greetings)\b[,.!]* *)?(?:(?:i(?:.m| am) (?:claude|codex|gemini)|i(?:.ll| will) help you|i appreciate)\b[^.!\n]*[.!] *)?i(?:.m| am) (?:(?:claude|codex|gemini)\b[^.!\n]*, |all set and )?ready to (?:help|assist|explore|search)\b")
            .is_match(text)
}

/// Returns the first statement of the agent's last reply, unless that is a greeting.
fn said_first(evidence: &Evidence) -> Option<String> {
    if is_greeting(evidence) {
        return None;
    }
    let (prose, listed) = plain_words(&evidence.last_reply.as_ref()?.text);
    prose.first().or(listed.first()).map(|first| cut(first, REQUEST))
}
