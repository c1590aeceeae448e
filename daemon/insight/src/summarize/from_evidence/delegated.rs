//! What sub-agents report under headings such as `Key findings` and `Design decisions`. All else in
//! their reports is for the agent that asked: it tells in its own words what came of it.

use crate::{
    model::{
        evidence::{Delegation, TurnReport},
        summary::DecisionRecord,
    },
    summarize::{
        from_evidence::{
            entries::{Entries, cut_at_clause},
            overtaken, refuted,
        },
        report::{Claim, Report, Topic},
        text::{capitalised, pattern, without_full_stop},
    },
};

/// Entries of one kind from one report.
const OF_A_REPORT: usize = 5;
/// Characters of an entry.
const LINE: usize = 240;
const BY_A_SUB_AGENT: &str = "by a sub-agent";

/// What sub-agents found, in order.
pub(super) fn findings(entries: &Entries<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for delegation in entries.evidence.delegations.iter().filter(|one| holds(entries, one)) {
        let Some(report) = report_of(delegation) else { continue };
        let mut lines: Vec<String> = named_by_headings(&report).collect();
        let claims = report.claims.iter().filter(|claim| section_is(claim, is_finding));
        lines.extend(claims.filter_map(|claim| line(entries, claim)));
        found.extend(lines.into_iter().take(OF_A_REPORT));
    }
    found
}

/// What sub-agents decided, each with its line.
pub(super) fn decisions(entries: &Entries<'_>) -> Vec<(u64, DecisionRecord)> {
    let mut found = Vec::new();
    let decided = entries.evidence.delegations.iter().filter(|one| !only_looks(one));
    for delegation in decided.filter(|one| holds(entries, one)) {
        let Some(report) = report_of(delegation) else { continue };
        let claims = report.claims.iter().filter(|claim| section_is(claim, is_decision));
        let claims = claims.filter(|claim| !overtaken::is_gone(entries, &claim.text, claim.origin));
        let lines = claims.filter_map(|claim| line(entries, claim));
        found.extend(lines.map(|line| (delegation.origin.line, record(&line))));
    }
    found
}

fn record(line: &str) -> DecisionRecord {
    let (decision, reason) = line.split_once(": ").unwrap_or((line, ""));
    let rationale = match reason {
        "" => BY_A_SUB_AGENT.to_owned(),
        reason => format!("{} ({BY_A_SUB_AGENT})", capitalised(reason)),
    };
    DecisionRecord { decision: decision.to_owned(), rationale, alternatives: None }
}

/// Whether a sub-agent was to look at something: the decisions that it reports were made before.
fn only_looks(delegation: &Delegation) -> bool {
    pattern!(r"(?i)\b(?:find|explore|read|research|review|understand|analy[sz]e|investigate|look|search|check|verify|audit|map)\b")
        .is_match(&delegation.subject)
}

/// Whether a report was not followed by the end of the plan that it is about.
fn holds(entries: &Entries<'_>, delegation: &Delegation) -> bool {
    let later = |line: u64| line > delegation.origin.line;
    !entries.evidence.commits.iter().any(|commit| {
        later(commit.origin.line) && refuted::is_superseded_plan(entries.evidence, commit)
    })
}

fn report_of(delegation: &Delegation) -> Option<Report> {
    let text = delegation.report.clone()?;
    Some(Report::of(&TurnReport { text, origin: delegation.origin, ..TurnReport::default() }))
}

fn section_is(claim: &Claim, is: fn(&str) -> bool) -> bool {
    claim.section.as_deref().is_some_and(is)
        && claim.listed
        && !claim.nested
        && claim.label.is_some()
        && !claim.text.is_empty()
}

fn is_finding(heading: &str) -> bool {
    pattern!(r"(?i)^(?:\W*\d*[.)]? *)(?:key|critical|main|important|major) (?:[\w-]+ )?(?:findings?|facts?|insights?|discover(?:y|ies)|takeaways?|conclusions?)$")
        .is_match(heading.trim_end_matches(':'))
}

fn is_decision(heading: &str) -> bool {
    pattern!(r"(?i)^(?:\W*\d*[.)]? *)(?:key |main |important |major )?(?:[\w-]+ )?decisions?(?: made| taken| honou?red| applied| kept)?$")
        .is_match(heading.trim_end_matches(':'))
}

/// `Critical finding: the kit has no transfer between devices` is a finding by itself.
fn named_by_headings(report: &Report) -> impl Iterator<Item = String> {
    let mut before = None;
    let headings = report.claims.iter().filter_map(move |claim| {
        let heading = claim.section.as_deref()?;
        let is_new = before != Some(heading);
        before = Some(heading);
        is_new.then_some(heading)
    });
    headings.filter_map(|heading| {
        let found = pattern!(
            r"(?i)^\W*(?:key|critical|main|important|major) (?:finding|insight|discovery|fact)[^:]{0,4}: *(\S.{19,})$"
        )
        .captures(heading)?;
        Some(capitalised(without_full_stop(&found[1])))
    })
}

fn line(entries: &Entries<'_>, claim: &Claim) -> Option<String> {
    let claim = Claim { topic: Some(Topic::Finding), ..claim.clone() };
    let line = entries.claim(&claim)?;
    Some(cut_at_clause(&line.replace(" -- ", " — "), LINE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::evidence::Evidence, summarize::report::Reports};

    #[test]
    fn key_findings_and_decisions_of_sub_agents_are_told_and_nothing_else_of_them() {
        let report = "## Research complete\n\n**Confidence:** HIGH\n\n### Key Findings\n\n\
             1. **The wrapping of keys exists.** `wrapKey()` is enough for all of it.\n\n\
             ### Plans\n\n- The table `shares` holds one row for each share of a folder\n\n\
             ### Critical Finding: No transfer between two devices\n\nThe kit exports no call for it.\n\n\
             ### Key Design Decisions Honored\n\n- **Instant share** (no accept or decline) -- by the context\n";
        let delegation = Delegation {
            agent: None,
            subject: "Plan sharing".to_owned(),
            report: Some(report.to_owned()),
            outcome: None,
            origin: crate::model::transcript::Origin::default(),
        };
        let evidence = Evidence { delegations: vec![delegation], ..Evidence::default() };
        let entries = Entries { evidence: &evidence, reports: &Reports::default(), project: None };
        assert_eq!(
            findings(&entries),
            [
                "No transfer between two devices",
                "The wrapping of keys exists: `wrapKey()` is enough for all of it"
            ]
        );
        let (_, decided) = &decisions(&entries)[0];
        assert_eq!(decided.decision, "Instant share (no accept or decline)");
        assert_eq!(decided.rationale, "By the context (by a sub-agent)");
    }
}
