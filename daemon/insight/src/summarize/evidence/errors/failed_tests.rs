//! Writes the message of an error that is a failed test run.

use crate::summarize::evidence::{errors::message, test_runs::RunReport};

/// Returns the names of up to three failed tests. The reason is added if at most one name is known.
/// If the names are those of packages, their build failed, and only the reason is returned.
pub(super) fn message(report: &RunReport, output: &str) -> String {
    let names: Vec<&str> = report.failed_tests.iter().map(|name| short_name(name)).collect();
    let reason = message::of_test(output);
    let is_build =
        report.failed_tests.iter().all(|name| name.contains('/') && !name.contains("::"));
    match (names.as_slice(), reason) {
        (_, Some(reason)) if is_build && !names.is_empty() => reason,
        ([], Some(reason)) => format!("{} failed: {reason}", tests(report.failed)),
        ([], None) => format!("{} failed", tests(report.failed)),
        ([only], Some(reason)) => format!("{only} failed: {reason}"),
        ([only], None) => format!("{only} failed"),
        (many, _) => {
            let shown = many.iter().take(3).copied().collect::<Vec<_>>().join(", ");
            let more = if many.len() > 3 { ", …" } else { "" };
            let failed = report.failed.max(u32::try_from(many.len()).unwrap_or(u32::MAX));
            format!("{} failed: {shown}{more}", tests(failed))
        }
    }
}

fn tests(number: u32) -> String {
    if number == 1 { "1 test".to_owned() } else { format!("{number} tests") }
}

/// Returns a test's own name, without its file and class.
fn short_name(name: &str) -> &str {
    let name = name.rsplit("::").next().unwrap_or(name);
    name.rsplit(" > ").next().unwrap_or(name)
}
