//! Classifies tasks and scripts by their names: `npm run lint`, `make test`, `./scripts/deploy.sh`.

use crate::{
    activity::words,
    model::tool::{ToolDomain, ToolIntent},
};

/// Returns the intent and domain of a task or script; `None` when the words of its name are not
/// meaningful.
pub(super) fn of_name(name: &str) -> Option<(ToolIntent, ToolDomain)> {
    let words = words::of_name(name);
    let row = |word: &String| TASKS.iter().find(|(names, ..)| names.contains(&word.as_str()));
    let strong = words.iter().filter(|word| !WEAK.contains(&word.as_str())).find_map(row);
    let (_, intent, domain) = strong.or_else(|| words.iter().find_map(row))?;
    let only_checks = words.iter().any(|word| word == "check" || word == "verify");
    match (intent, domain) {
        (ToolIntent::Modify, ToolDomain::Code) if only_checks => {
            Some((ToolIntent::Validate, *domain))
        }
        _ => Some((*intent, *domain)),
    }
}

/// Words that count only if the table has no other word of the name: `run` in `run-e2e`.
const WEAK: [&str; 4] = ["run", "all", "start", "package"];

type Task = (&'static [&'static str], ToolIntent, ToolDomain);

static TASKS: &[Task] = &[
    (
        &[
            "test",
            "tests",
            "e2e",
            "unit",
            "integration",
            "spec",
            "specs",
            "coverage",
            "cov",
            "pytest",
            "jest",
            "vitest",
            "smoke",
            "playwright",
            "cypress",
            "testall",
            "regression",
            "bench",
            "benchmark",
            "benchmarks",
            "ctest",
        ],
        ToolIntent::Validate,
        ToolDomain::Testing,
    ),
    (
        &[
            "lint",
            "linter",
            "linters",
            "lints",
            "check",
            "checks",
            "typecheck",
            "types",
            "tsc",
            "typing",
            "mypy",
            "pyright",
            "eslint",
            "clippy",
            "vet",
            "ruff",
            "audit",
            "verify",
            "validate",
            "ci",
            "precommit",
            "quality",
            "knip",
            "analyze",
            "analyse",
            "stylelint",
            "biome",
            "doctor",
        ],
        ToolIntent::Validate,
        ToolDomain::Code,
    ),
    (
        &["fmt", "format", "formatting", "prettier", "fix", "tidy", "black", "rustfmt"],
        ToolIntent::Modify,
        ToolDomain::Code,
    ),
    (
        &["generate", "gen", "codegen", "proto", "protos", "scaffold", "bindings", "stubs"],
        ToolIntent::Create,
        ToolDomain::Code,
    ),
    (
        &["docs", "doc", "documentation", "readme", "changelog", "typedoc"],
        ToolIntent::Create,
        ToolDomain::Documentation,
    ),
    (
        &["migrate", "migration", "migrations", "db", "database", "schema", "prisma", "seeds"],
        ToolIntent::Modify,
        ToolDomain::Database,
    ),
    (
        &["deploy", "deployment", "publish", "release", "ship", "upload", "promote"],
        ToolIntent::Communicate,
        ToolDomain::Network,
    ),
    (
        &[
            "build",
            "compile",
            "bundle",
            "dist",
            "assemble",
            "rebuild",
            "package",
            "all",
            "webpack",
            "rollup",
            "esbuild",
            "transpile",
        ],
        ToolIntent::Execute,
        ToolDomain::Code,
    ),
    (
        &["install", "deps", "dependencies", "upgrade", "bootstrap"],
        ToolIntent::Configure,
        ToolDomain::Package,
    ),
    (
        &["setup", "init", "configure", "config", "env", "provision", "prepare"],
        ToolIntent::Configure,
        ToolDomain::Process,
    ),
    (
        &["clean", "clear", "purge", "reset", "distclean", "clobber", "cleanup"],
        ToolIntent::Delete,
        ToolDomain::Filesystem,
    ),
    (
        &[
            "dev",
            "start",
            "serve",
            "server",
            "watch",
            "preview",
            "run",
            "up",
            "down",
            "stop",
            "restart",
            "storybook",
            "develop",
            "launch",
        ],
        ToolIntent::Execute,
        ToolDomain::Process,
    ),
    (&["list", "help", "tasks", "targets"], ToolIntent::Read, ToolDomain::Documentation),
    (&["logs", "log", "status", "ps", "info", "version"], ToolIntent::Read, ToolDomain::Process),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_meaningful_word_decides() {
        for (name, intent, domain) in [
            ("lint", ToolIntent::Validate, ToolDomain::Code),
            ("test:e2e", ToolIntent::Validate, ToolDomain::Testing),
            ("build:test", ToolIntent::Execute, ToolDomain::Code),
            ("fmt", ToolIntent::Modify, ToolDomain::Code),
            ("format:check", ToolIntent::Validate, ToolDomain::Code),
            ("lint-fix", ToolIntent::Validate, ToolDomain::Code),
            ("buildRelease", ToolIntent::Execute, ToolDomain::Code),
            ("scripts/deploy.sh", ToolIntent::Communicate, ToolDomain::Network),
            ("run-e2e.sh", ToolIntent::Validate, ToolDomain::Testing),
            ("dev", ToolIntent::Execute, ToolDomain::Process),
        ] {
            assert_eq!(of_name(name), Some((intent, domain)), "{name}");
        }
        assert_eq!(of_name("latest-contest"), None);
    }
}
