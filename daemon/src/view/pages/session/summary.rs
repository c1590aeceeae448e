//! Renders the summary of a session: its phases, and its fields with links to their sources.

use graphiti_proto::tools::graph::NodeRow;
use maud::{Markup, html};

use super::evidence::EvidenceLinks;
use crate::{
    model::summary::{EnhancedSessionSummary, ErrorResolution, TestSummary},
    view::{
        pages::parts::{address, outcome_badge, prose, text},
        texts::{self, T},
    },
};

/// Maximum number of nodes of a kind that are shown.
const MAX_NODES: usize = 12;
/// Number of possible widths of a phase. The style sheet has a class for each width.
const WIDTHS: u64 = 20;

/// Renders the phases of the work as links to their beginnings.
pub(super) fn phases(session: &str, summary: &EnhancedSessionSummary) -> Markup {
    let Some(phases) = &summary.phases else { return html! {} };
    let lines = |first: u64, last: u64| last.saturating_sub(first) + 1;
    let total: u64 = phases.iter().map(|phase| lines(phase.first_line, phase.last_line)).sum();
    html! {
        nav .phases aria-label=(T.phases) {
            ol {
                @for phase in phases {
                    @let width = (lines(phase.first_line, phase.last_line) * WIDTHS).div_ceil(total.max(1));
                    @let activity = phase.vector.primary_activity();
                    li class={ "w-" (width.clamp(1, WIDTHS)) } {
                        a class={ "phase activity-" (activity) } title=(texts::calls(phase.calls))
                            href={ (address("session", &[("id", session), ("line", &phase.first_line.to_string())])) "#here" } {
                            (text(&phase.label))
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn fields(summary: &EnhancedSessionSummary, links: &EvidenceLinks) -> Markup {
    let statement = |words: &str| statement(words, links);
    html! {
        h2 .section { (T.summary) }
        p .objective { (statement(&summary.objective)) }
        p { (outcome_badge(summary.outcome.as_str())) @if let Some(reason) = &summary.outcome_reason { " " (prose(reason)) } }
        @if let Some(last_words) = &summary.last_words { blockquote { (statement(last_words)) } }
        (list(T.done_tasks, summary.completed_tasks.as_deref(), links))
        @if let Some(decisions) = &summary.key_decisions {
            h3 { (T.decisions) }
            ul { @for one in decisions { li {
                (statement(&one.decision))
                @if !one.rationale.is_empty() { p .detail { (T.because) " " (prose(&one.rationale)) } }
                @if let Some(others) = &one.alternatives { p .detail { (T.instead_of) " " (text(&others.join(", "))) } }
            } } }
        }
        @if let Some(errors) = &summary.errors_resolved {
            h3 { (T.errors) }
            ul { @for error in errors { (resolved(error, links)) } }
        }
        @if let Some(cause) = &summary.root_cause_analysis { h3 { (T.cause) } p { (statement(cause)) } }
        (list(T.left_open, summary.next_steps.as_deref(), links))
        (list(T.preferences, summary.preferences.as_deref(), links))
        (list(T.discoveries, summary.discoveries.as_deref(), links))
        (list(T.known_failures, summary.known_failures.as_deref(), links))
        @if let Some(changes) = &summary.config_changes {
            h3 { (T.settings) }
            ul { @for change in changes { li {
                code { (text(&change.setting)) } " " (text(&change.file)) ": "
                @if let Some(old) = &change.old_value { del { (text(old)) } " → " }
                ins { (text(&change.new_value)) }
            } } }
        }
        @if let Some(tests) = &summary.test_results { h3 { (T.tests) } (test_results(tests)) }
        @if let Some(repository) = &summary.repository { h3 { (T.repository) } p { (prose(repository)) } }
        @if let Some(files) = &summary.files_modified {
            h3 { (T.files) " " span .count { (files.len()) } }
            ul .plain { @for file in files { li .path { (text(file)) } } }
        }
    }
}

/// Renders a statement, as a link to its source if the source is known.
fn statement(words: &str, links: &EvidenceLinks) -> Markup {
    html! {
        @match links.address(words) {
            Some(address) => { a .statement href=(address) title=(T.show_source) { (prose(words)) } }
            None => { (prose(words)) }
        }
    }
}

fn list(heading: &str, statements: Option<&[String]>, links: &EvidenceLinks) -> Markup {
    html! {
        @if let Some(statements) = statements.filter(|statements| !statements.is_empty()) {
            h3 { (heading) }
            ul { @for words in statements { li { (statement(words, links)) } } }
        }
    }
}

fn resolved(error: &ErrorResolution, links: &EvidenceLinks) -> Markup {
    let known =
        [(T.cause, &error.root_cause), (T.fix, &error.fix), (T.verified_by, &error.verification)];
    html! {
        li {
            (statement(&error.error, links))
            @for (name, value) in known {
                @if !value.is_empty() { p .detail { span .role { (name) } " " (prose(value)) } }
            }
        }
    }
}

fn test_results(tests: &TestSummary) -> Markup {
    html! {
        p {
            span class={ "badge " (if tests.failed > 0 { "outcome-blocked" } else { "outcome-completed" }) } {
                (texts::tests(tests.passed, tests.failed))
            }
            " " (text(&tests.framework))
        }
        @if let Some(failed) = &tests.failed_tests { ul { @for name in failed { li { code { (text(name)) } } } } }
    }
}

/// Renders the entities of the session, as links to their pages.
pub(super) fn entities(nodes: &[NodeRow]) -> Markup {
    let kinds = [
        ("File", T.files),
        ("Decision", T.decisions),
        ("Error", T.errors),
        ("Setting", T.settings),
        ("Symbol", T.symbols),
        ("Ticket", T.tickets),
    ];
    let of = |kind: &'static str| {
        nodes.iter().filter(move |node| node.labels.iter().any(|label| label == kind))
    };
    html! {
        @if !nodes.is_empty() {
            h3 { (T.related) }
            @for (kind, name) in kinds {
                @if of(kind).next().is_some() {
                    p .chips {
                        span .role { (name) } " "
                        @for node in of(kind).take(MAX_NODES) { a .chip href=(address("node", &[("id", &node.uuid)])) { (text(&node.name)) } " " }
                        @if of(kind).count() > MAX_NODES { (texts::more(of(kind).count() - MAX_NODES)) }
                    }
                }
            }
        }
    }
}
