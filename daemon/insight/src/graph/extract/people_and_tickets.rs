//! Extracts the pull requests of a session, the MCP servers that it used, and the tickets, people
//! and topics that prompts, commands, branches and commits mention.

use std::collections::BTreeSet;

use super::draft::{ClaimDraft, Draft};
use crate::{
    graph::text,
    model::graph::{Certainty, EntityKind, Relation},
    pattern::pattern,
};

/// Words that look like the prefix of a ticket, as in `UTF-8`.
const NOT_TICKET_PREFIXES: &[&str] = &[
    "Q1", "Q2", "Q3", "Q4", "CRC", "UTF", "SHA", "ISO", "GPT", "RFC", "CVE", "MD", "HTTP", "HTTPS",
    "TLS", "AES", "RSA", "ES", "EN", "US", "TCP", "UDP", "IPV", "X", "H", "V", "PEP", "CWE",
    "ECMA", "ANSI", "UTC", "GMT", "RS", "HS", "COVID", "PR", "GEMINI", "CLAUDE", "OPUS", "SONNET",
    "STEP", "PHASE", "A", "B", "C",
];
/// Kinds of work in the names of branches.
const KINDS: &[&str] = &[
    "feat", "feature", "fix", "bugfix", "hotfix", "bug", "chore", "refactor", "docs", "test",
    "tests", "perf", "build", "release", "issue", "part", "step", "phase", "version", "task",
    "try", "patch",
];
/// Words in the names of branches that do not say what the branch is about.
const COMMON_BRANCHES: &[&str] = &[
    "main",
    "master",
    "develop",
    "trunk",
    "head",
    "staging",
    "pages",
    "branch",
    "experiment",
    "temp",
    "worktree",
];

pub(super) fn read(draft: &mut Draft<'_>) {
    let evidence = draft.evidence;
    let task = draft.task_name();
    for request in &evidence.pull_requests {
        let name = short_name(&request.url).unwrap_or_else(|| request.url.clone());
        let source = draft.mention(EntityKind::PullRequest, &name, &name);
        draft.claim(
            Relation::Produced,
            source,
            draft.task,
            ClaimDraft {
                sentence: format!("Pull request {name} belongs to “{task}”: {}", request.url),
                certainty: Some(Certainty::Verified),
                details: vec![("url".to_owned(), request.url.clone())],
                ..ClaimDraft::default()
            },
        );
    }
    for ticket in tickets(draft) {
        let source = draft.mention(EntityKind::Ticket, &ticket.to_lowercase(), &ticket);
        draft.claim(
            Relation::Concerns,
            draft.task,
            source,
            ClaimDraft {
                sentence: format!("“{task}” concerns {ticket}."),
                certainty: Some(Certainty::Verified),
                ..ClaimDraft::default()
            },
        );
    }
    for topic in topics(draft) {
        draft.mention(EntityKind::Topic, &text::plain(&topic), &topic);
    }
    for person in people(draft) {
        draft.mention(EntityKind::Person, &text::plain(&person), &person);
    }
    let servers: BTreeSet<&str> = evidence
        .tools
        .keys()
        .filter_map(|tool| tool.strip_prefix("mcp__")?.split("__").next())
        .collect();
    for server in servers {
        draft.mention(EntityKind::Tool, server, server);
    }
}

/// Returns the short name of a pull request or an issue from its URL: `team/app#12`.
fn short_name(url: &str) -> Option<String> {
    let short_name = pattern!(
        r"https?://(?:www\.)?[\w.-]+/([\w.-]+/[\w.-]+)/(?:-/)?(?:pull|pulls|issues|merge_requests)/(\d+)"
    );
    let parts = short_name.captures(url)?;
    Some(format!("{}#{}", &parts[1], &parts[2]))
}

/// Returns the tickets that the user, a branch or a commit mentions.
fn tickets(draft: &Draft<'_>) -> BTreeSet<String> {
    let key = pattern!(
        r"(?:^|[^0-9A-Za-z_/.-])([A-Z][A-Z0-9]{1,9})-(\d{1,6})(?:$|[^0-9A-Za-z_.-]|\.(?:\s|$))"
    );
    let in_branch = pattern!(r"(?i)(?:^|/)([A-Z][A-Z0-9]{1,9})-(\d{1,6})(?:$|[-_/])");
    let issue = pattern!(
        r"(?i)\b(?:issues?|tickets?|fix(?:e[sd])?|close[sd]?|resolve[sd]?|bug)\s*:?\s+#(\d{1,6})\b"
    );
    let link = pattern!(r"https?://\S+/issues/\d+");
    let evidence = draft.evidence;
    let prompts = evidence.prompts.iter().map(|prompt| prompt.text.as_str());
    let commits = evidence.commits.iter().map(|commit| commit.subject.as_str());
    let mut found = BTreeSet::new();
    // The character between two keys belongs to the match of the first key.
    let separator = pattern!(r"[\s,]");
    let texts = prompts.chain(commits).map(|text| separator.replace_all(text, "$0$0"));
    // `fix #2, skip #3` answers a numbered list.
    let answers_list = pattern!(
        r"(?is)\b(?:fix\s+#\d+\b.{0,80}\b(?:skip|ignore|leave|keep|drop)\s+#\d|(?:skip|ignore|leave|keep|drop)\s+#\d+\b.{0,80}\bfix\s+#\d)"
    );
    for text in texts {
        let keys =
            key.captures_iter(&text).filter(|parts| !NOT_TICKET_PREFIXES.contains(&&parts[1]));
        found.extend(keys.map(|parts| format!("{}-{}", &parts[1], &parts[2])));
        let is_answer = answers_list.is_match(&text);
        let is_numbered =
            |parts: &regex::Captures<'_>| is_answer && parts[0].starts_with(['f', 'F']);
        let issues = issue.captures_iter(&text).filter(|parts| !is_numbered(parts));
        found.extend(issues.map(|parts| format!("issue #{}", &parts[1])));
        found.extend(link.find_iter(&text).filter_map(|link| short_name(link.as_str())));
    }
    for branch in &draft.episode.branches {
        let keys = in_branch.captures_iter(branch);
        let keys = keys.map(|parts| (parts[1].to_uppercase(), parts[2].to_owned()));
        let is_ticket = |name: &String| {
            !NOT_TICKET_PREFIXES.contains(&name.as_str())
                && !KINDS.contains(&name.to_lowercase().as_str())
        };
        let keys = keys.filter(|(name, _)| is_ticket(name));
        found.extend(keys.map(|(name, number)| format!("{name}-{number}")));
    }
    found
}

/// Returns the topics that commits and branches mention.
fn topics(draft: &Draft<'_>) -> BTreeSet<String> {
    let scope = pattern!(r"^[a-z]{2,10}\(([^()]+)\)!?: ");
    let numbered =
        pattern!(r"^(?:(?:[A-Za-z]{2,10}-)?\d+[-_])?(.+?)(?:[-_](?:[0-9a-f]{6,}|\d+))?$");
    let commits = draft.evidence.commits.iter();
    let mut found: BTreeSet<String> = commits
        .filter_map(|commit| scope.captures(&commit.subject))
        .filter(|parts| {
            (2..=40).contains(&parts[1].chars().count())
                && parts[1].chars().all(|c| c.is_alphanumeric() || " ,/._-".contains(c))
        })
        .flat_map(|parts| {
            parts[1].split(',').map(|scope| scope.trim().to_owned()).collect::<Vec<_>>()
        })
        .collect();
    for branch in &draft.episode.branches {
        // The text before the last slash is a kind of work or the owner of the branch.
        let name = branch.rsplit('/').next().unwrap_or(branch);
        let name = numbered.replace(name, "$1").replace(['-', '_'], " ");
        let is_topic = name.split(' ').any(|word| {
            let word = word.to_lowercase();
            let is_word = word.len() > 3 && word.chars().all(char::is_alphabetic);
            is_word && !KINDS.contains(&word.as_str()) && !COMMON_BRANCHES.contains(&word.as_str())
        });
        if is_topic && !COMMON_BRANCHES.contains(&branch.to_lowercase().as_str()) {
            found.insert(name);
        }
    }
    found
}

/// Returns the people that commands and prompts mention.
fn people(draft: &Draft<'_>) -> BTreeSet<String> {
    let author = pattern!(r"(?i)co-authored-by: ([^<\n]{3,40}?) <");
    let handle = pattern!(
        r"(?i)\b(?:reviewed by|reviewer|assigned to|assign to|ask|ping|cc|thanks to|according to)\s+@([A-Za-z][\w-]+)(?:$|[\s,.;:!?)])"
    );
    let agent = pattern!(
        r"(?i)claude|copilot|codex|gemini|cursor|\bbot\b|\[bot\]|noreply|openai|anthropic"
    );
    let evidence = draft.evidence;
    let commands = evidence.commands.iter().map(|run| run.command.as_str());
    let prompts = evidence.prompts.iter().map(|prompt| prompt.text.as_str());
    let mut found = BTreeSet::new();
    for text in commands.chain(prompts) {
        found.extend(author.captures_iter(text).map(|parts| parts[1].trim().to_owned()));
        let handles = handle.captures_iter(text).filter(|parts| parts[1].chars().count() < 40);
        found.extend(handles.map(|parts| format!("@{}", &parts[1])));
    }
    found.retain(|name| !agent.is_match(name));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_pull_request_is_shortened() {
        let url = "https://github.com/team/app/pull/12#discussion";
        assert_eq!(short_name(url).as_deref(), Some("team/app#12"));
        let url = "https://gitlab.com/team/app/-/merge_requests/3";
        assert_eq!(short_name(url).as_deref(), Some("team/app#3"));
        assert_eq!(short_name("https://example.com/"), None);
    }
}
