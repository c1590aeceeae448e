//! Finds the last run of each kind of check (build, types, lint). Describes these runs, and the
//! test suites other than the main one, in a phrase.

pub(super) mod test_results;

use crate::{
    model::{
        evidence::{CommandRun, Evidence, TestRun, is_same_place, other_parts},
        transcript::{Origin, Outcome},
        wording::{BEFORE_LAST_CHANGE, CHECKS_FAILED, CHECKS_PASSED, NO_TEST_RUN},
    },
    summarize::{
        evidence::runs_tests,
        from_evidence::checks::test_results::{code_changed_after, failing_runs, main_run, suites},
    },
    text::{around_gap, pattern},
};

/// Maximum number of listed parts of the main suite, besides the part that the main run covers.
const PARTS: usize = 3;

/// A kind of check. Test suites are separate evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckKind {
    Build,
    Types,
    Lint,
}

impl CheckKind {
    const ALL: [CheckKind; 3] = [CheckKind::Build, CheckKind::Types, CheckKind::Lint];

    pub(super) fn name(self) -> &'static str {
        match self {
            CheckKind::Build => "build",
            CheckKind::Types => "type check",
            CheckKind::Lint => "lint",
        }
    }

    /// Whether one command of a command line is a check of this kind.
    fn is_run_by(self, part: &str) -> bool {
        let by_name = match self {
            CheckKind::Build => {
                pattern!(
                    r"^(?:npx |pnpm |yarn |npm run |bun run |cargo |go |make |mvn |mise run |\S*gradlew? |dotnet |swift )(?:\S+ )*?(?:build|compile|assemble|package)(?:[\s:]|$)|^(?:make|pnpm|yarn|npm run|bun run|mise run) build-|^(?:next|vite|tsup|webpack|rollup) build\b|^cmake --build\b"
                )
            }
            CheckKind::Types => {
                pattern!(
                    r"\b(?:tsc|vue-tsc|mypy|pyright|typecheck|type-check|check-types|check:types|types:check)\b|^cargo check\b"
                )
            }
            CheckKind::Lint => {
                pattern!(
                    r"\b(?:lint|eslint|biome|clippy|go vet|golangci-lint|ruff check|flake8|pylint|rubocop|shellcheck|markdownlint|stylelint|ktlint|swiftlint|lint:\w+)\b"
                )
            }
        };
        by_name.is_match(part) && !only_names_check(part)
    }
}

/// Whether a command that contains the name of a check does not run it: the command reads files,
/// writes a commit message, or installs the program.
fn only_names_check(part: &str) -> bool {
    // `find` runs the program after `-exec`.
    let found = pattern!(r"^find .*? -exec(?:dir)? ").find(part);
    let part = found.map_or(part, |found| &part[found.end()..]);
    pattern!(
        r"(?x)^(?:\w+=\S*\ )*(?:sudo\ )?(?:
            (?:git|gh|glab|cat|ls|tree|grep|rg|ag|sed|awk|head|tail|less|wc|find|fd|vim?|nano|code|cp|mv|rm|ln|touch|mkdir|chmod|diff|echo|printf|which|jq|curl|kill|pkill|pgrep)(?:\s|$)
            | (?:npm|pnpm|yarn|bun)\ (?:-\S+\ (?:\S+\ )??)*(?:i|ci|install|add|remove|rm|uninstall|up|update|upgrade|why|view|info|ls|list|outdated)(?:\s|$)
            | (?:pipx?3?|(?:uv|python3?\ -m)\ pip|uv(?:\ tool)?|poetry|brew|apt|apt-get|gem|go|cargo|conda|composer|bundle)\ (?:-\S+\ )*(?:install|add|remove|uninstall|upgrade|get|require|show|info|list|search)(?:\s|$)
            | rustup\ )"
    )
    .is_match(part)
}

/// The result of the last run of one kind of check at one place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LastCheck {
    pub(super) kind: CheckKind,
    /// The folder or package that was checked; `None` for the whole project.
    pub(super) place: Option<String>,
    pub(super) command: String,
    pub(super) failed: bool,
    /// Whether a file that may change the result was changed after the run.
    stale: bool,
    /// Whether this kind of check also ran at another place, with any result.
    is_one_of_several: bool,
}

/// Returns the last run of each kind at each place, if its result is known. A failed or outdated
/// run is left out if a later commit, push or script may have repeated it successfully.
pub(super) fn last_runs(evidence: &Evidence) -> Vec<LastCheck> {
    CheckKind::ALL.into_iter().flat_map(|kind| last_runs_of(evidence, kind)).collect()
}

fn last_runs_of(evidence: &Evidence, kind: CheckKind) -> Vec<LastCheck> {
    let own = evidence.commands.iter().filter(|run| run.origin.source == 0);
    let of_kind = own.rev().filter(|run| parts(&run.command).any(|part| kind.is_run_by(part)));
    let mut last: Vec<&CommandRun> = Vec::new();
    for run in of_kind {
        // A run for the whole project includes each place.
        let covers =
            |later: &&CommandRun| later.place.is_none() || is_same_place(&later.place, &run.place);
        if !last.iter().any(covers) {
            last.push(run);
        }
    }
    let is_one_of_several = last.windows(2).any(|two| !is_same_place(&two[0].place, &two[1].place));
    let checks = last.into_iter().filter_map(|run| last_run(evidence, kind, run));
    checks.map(|check| LastCheck { is_one_of_several, ..check }).collect()
}

fn last_run(evidence: &Evidence, kind: CheckKind, last: &CommandRun) -> Option<LastCheck> {
    let failed = failed(evidence, kind, last)?;
    let stale = code_changed_after(evidence, last.origin, last.at);
    // Commit hooks and scripts that run several checks may have run this check again.
    if (failed || stale) && may_have_passed_since(evidence, last) {
        return None;
    }
    let place = last.place.clone();
    let command = last.command.clone();
    Some(LastCheck { kind, place, command, failed, stale, is_one_of_several: false })
}

/// Returns the command of the last build, if it failed.
pub(super) fn failing_build(evidence: &Evidence) -> Option<&str> {
    let is_build = |run: &&CommandRun| {
        pattern!(r"(?:^|&& ?)(?:npx |pnpm |yarn |npm run |bun run |cargo |go |make |mvn |\./gradlew )(?:build|tsc|compile)\b(?:[^|;&]|[0-9]>&[0-9])*(?:\|[^;&]*)?$").is_match(&run.command)
    };
    let last = evidence.commands.iter().rfind(is_build)?;
    // A pipe such as `| tail` hides the exit code, but not the printed failures. A later commit
    // probably fixed these failures. If the exit code reports the failure, a commit does not count.
    let failed = matches!(last.outcome, Outcome::Failed(_))
        || last.shows_failure && !may_have_passed_since(evidence, last);
    (failed && !tests_were_built_since(evidence, &last.command, last.origin))
        .then_some(last.command.as_str())
}

/// Whether a file was changed after a build, and then all tests at the same place passed whose
/// program builds the code itself, as `cargo test` does after `cargo build`. `make test` may build
/// other targets than `make build`.
pub(super) fn tests_were_built_since(evidence: &Evidence, build: &str, origin: Origin) -> bool {
    let builder = |line: &str| {
        let program = pattern!(r"^(?:\w+=\S* )*(cargo|go|mvn|\S*gradlew|dotnet|swift)\b");
        let of_part = |part: &str| program.captures(part).map(|found| found[1].to_owned());
        parts(line).find_map(of_part)
    };
    let Some(program) = builder(build) else { return false };
    let is_build = |run: &&CommandRun| run.command == build && !run.origin.follows(origin);
    let Some(built) = evidence.commands.iter().rfind(is_build) else { return false };
    let has_passed = |run: &TestRun| {
        run.origin.follows(origin)
            && !run.is_part()
            && is_same_place(&run.place, &built.place)
            && run.failed == 0
            && run.passed > 0
            && builder(&run.command).is_some_and(|other| other == program)
    };
    code_changed_after(evidence, origin, None) && evidence.tests.iter().any(has_passed)
}

/// Whether a later command that may include the check succeeded: a commit, a push, or a script that
/// runs several checks.
fn may_have_passed_since(evidence: &Evidence, run: &CommandRun) -> bool {
    let runs_several = pattern!(
        r"^(?:git (?:-\S+ \S+ )*(?:commit|push)|(?:npm|pnpm|yarn|bun|deno|mise|make|just|task|cargo|composer|poetry|uv|nx|turbo)(?: run)?(?: -\S+)* ?(?:check|checks|ci|verify|validate|qa|all|pre-?commit|test:ci|check:all|default)?$|pre-commit|lefthook|husky|lint-staged|(?:bash |sh )?\S*(?:check|ci|verify)\S*$)"
    );
    evidence.commands.iter().any(|later| {
        later.origin.follows(run.origin)
            && later.outcome == Outcome::Succeeded
            && parts(&later.command).any(|part| runs_several.is_match(part))
    })
}

/// Returns each command of a line, because a check may follow another command such as `cd app`.
/// Text in quotes is part of its command. The middle of a long line may be removed.
fn parts(line: &str) -> impl Iterator<Item = &str> {
    let part = pattern!(r#"(?:'[^']*(?:'|$)|"(?:\\.|[^"\\])*(?:"|$)|\\.|>&|&>|[^;|&'"\\])+"#);
    let (head, tail) = around_gap(line).unwrap_or((line, ""));
    // The removed text may contain the beginning of a quotation.
    let is_in_quotes = tail.matches('"').count() % 2 == 1;
    let tail = tail.split_once('"').filter(|_| is_in_quotes).map_or(tail, |(_, after)| after);
    let found = part.find_iter(head).chain(part.find_iter(tail));
    let parts: Vec<&str> = found.map(|part| part.as_str().trim()).collect();
    parts.into_iter()
}

/// Whether a line runs tests or a check of another kind than `kind`.
fn runs_other_checks(line: &str, kind: CheckKind) -> bool {
    let is_check = |part: &str| CheckKind::ALL.into_iter().any(|kind| kind.is_run_by(part));
    parts(line).any(|part| !kind.is_run_by(part) && (is_check(part) || runs_tests(part)))
}

/// Whether a run failed; `None` if this is not known: the user rejected or stopped the run, an
/// error follows a successful exit code, or another command of the line may have failed.
fn failed(evidence: &Evidence, kind: CheckKind, run: &CommandRun) -> Option<bool> {
    let failed = match run.outcome {
        Outcome::Succeeded if run.shows_failure => Some(true),
        Outcome::Succeeded => {
            let mut later =
                evidence.commands.iter().filter(|other| other.origin.follows(run.origin));
            let next = later.next();
            let end = next.map_or(u64::MAX, |next| next.origin.line);
            // A pipe hides the exit code of a command, but not what the command printed.
            let failed = evidence.errors.iter().any(|error| {
                error.origin.source == run.origin.source
                    && (run.origin.line..=end).contains(&error.origin.line)
                    && error.attempt.split(' ').next() == run.command.split(' ').next()
            });
            (!failed).then_some(false)
        }
        Outcome::Failed(_) => is_only_check(&run.command, kind).then_some(true),
        Outcome::Rejected | Outcome::Interrupted => None,
    };
    failed.filter(|failed| !(*failed && runs_other_checks(&run.command, kind)))
}

/// Whether no other command joined by `&&` can have failed instead of the check, apart from
/// commands such as `cd app`.
fn is_only_check(line: &str, kind: CheckKind) -> bool {
    let is_safe = pattern!(r"^(?:cd|pushd|export|source|echo|set|true|\.)\b");
    line.split("&&").all(|joined| {
        is_safe.is_match(joined.trim()) || parts(joined).any(|part| kind.is_run_by(part))
    })
}

/// Returns a remark if code was changed and no command ran that may be a test. `None` if the
/// evidence does not contain all commands, because a dropped command may have been a test.
pub(super) fn untested(evidence: &Evidence) -> Option<String> {
    let is_code = pattern!(
        r"\.(?:rs|go|py|rb|php|java|kt|kts|swift|scala|cs|fs|c|cc|cpp|h|hpp|m|mm|ts|tsx|js|jsx|mjs|cjs|vue|svelte|ex|exs|erl|clj|hs|dart|lua|zig|sh)$"
    );
    let changed = evidence.changed_files().any(|(path, _)| is_code.is_match(path));
    let may_test = pattern!(
        r"(?i)test|spec|e2e|smoke|bench|coverage|verif|check|validate|\bci\b|\bqa\b|tox|nox"
    );
    // A script in `/tmp`, or code in the arguments of an interpreter, is no test of the project.
    // Programs such as `cat` only read or copy the files of tests.
    let is_no_test = pattern!(
        r"(?i)^(?:cd|cat|ls|grep|rg|find|sed|awk|head|tail|wc|git|echo|mkdir|rm|cp|mv|touch|chmod|diff|which)\b|^(?:(?:go|bun|deno|npx|uv)(?: run| x)? |python3? |node |bash |sh |tsx |ruby |perl )*(?:/private)?/tmp/|^(?:uv run )?(?:python3?|node|bun|deno|ruby|perl)(?: run)? -[ce]\b|<<"
    );
    let tests =
        |line: &str| parts(line).any(|part| may_test.is_match(part) && !is_no_test.is_match(part));
    let tested = !evidence.tests.is_empty()
        || evidence.commands_left_out > 0
        || evidence.commands.iter().any(|run| tests(&run.command));
    (changed && !tested).then(|| NO_TEST_RUN.to_owned())
}

/// Returns a phrase with the checks that passed, and the test suites other than the main one that
/// passed. `None` if no file was changed or nothing passed. Failed checks are next steps. The
/// phrase also contains the other suites that failed, and a failed check if a check of the same
/// kind passed at another place. It then shows both places.
pub(super) fn passed(evidence: &Evidence) -> Option<String> {
    if !evidence.changes_files() {
        return None;
    }
    let runs = last_runs(evidence);
    let suites = other_suites(evidence);
    let names = |stale: bool| {
        let of = runs.iter().filter(|check| !check.failed && check.stale == stale);
        let mut names: Vec<String> = Vec::new();
        for name in of.map(kind_and_place) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.extend(suites.iter().filter(|suite| suite.1 == stale).map(|suite| suite.0.clone()));
        names.join(", ")
    };
    let has_passed = |kind: CheckKind| runs.iter().any(|check| check.kind == kind && !check.failed);
    let failed = runs.iter().filter(|check| check.failed && has_passed(check.kind));
    let main = main_run(evidence);
    let other_suites = failing_runs(evidence).into_iter().filter(|run| main != Some(*run));
    let failed: Vec<String> =
        failed.map(kind_and_place).chain(other_suites.map(TestRun::label)).collect();
    let (fresh, stale) = (names(false), names(true));
    let passed = match (fresh.is_empty(), stale.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("{CHECKS_PASSED}: {fresh}"),
        (true, false) => format!("{CHECKS_PASSED} {BEFORE_LAST_CHANGE}{stale}"),
        (false, false) => format!("{CHECKS_PASSED}: {fresh}; {BEFORE_LAST_CHANGE}{stale}"),
    };
    let failed = match failed.is_empty() {
        true => String::new(),
        false => format!("; {CHECKS_FAILED}{}", failed.join(", ")),
    };
    Some(format!("{passed}{failed}"))
}

/// Returns the kind of a check, with its place if this kind also ran at another place.
fn kind_and_place(check: &LastCheck) -> String {
    let place = check.place.as_deref().filter(|_| check.is_one_of_several);
    place.map_or(check.kind.name().to_owned(), |place| format!("{} in {place}", check.kind.name()))
}

/// Returns the suites that passed, other than the main one. If the main run covers only a part of
/// its suite, adds the latest other parts that passed after the last change. Each text contains the
/// number of passed tests; the boolean is `true` if a file was changed after the run.
fn other_suites(evidence: &Evidence) -> Vec<(String, bool)> {
    let Some(main) = main_run(evidence) else { return Vec::new() };
    let is_stale = |run: &TestRun| code_changed_after(evidence, run.origin, run.at);
    let others = suites(evidence).into_iter().filter(|run| run.origin.source == 0 && *run != main);
    let passed = others.filter(|run| {
        run.failed == 0 && (run.passed > 1 || run.passed == 1 && !run.is_single_test())
    });
    let all: Vec<&TestRun> = evidence.tests.iter().collect();
    let beside =
        other_parts(&all, main, |run| main.is_part() && run.origin.source == 0 && !is_stale(run));
    let beside = beside.into_iter().rev().take(PARTS);
    let results = passed.chain(beside).map(|run| {
        let noun = if run.noun() == "tests" { "" } else { " packages" };
        (format!("{} ({}{noun} passed)", run.label(), run.passed), is_stale(run))
    });
    results.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::transcript::{Item, SessionContext},
        summarize::{
            evidence::scenarios::Script, from_evidence::request::wording_scenarios::summary,
        },
    };

    fn script() -> Script {
        let mut script = Script::default();
        script.prompt("Add a column");
        script.edit("a", "/app/list.ts", "a", "b");
        script.run("b", "cd app && npm run build", Outcome::Succeeded, "");
        script.run(
            "c",
            "npx tsc --noEmit",
            Outcome::Failed(Some(2)),
            "list.ts(3,1): error TS1005\n",
        );
        script
    }

    #[test]
    fn the_last_run_of_each_kind_counts() {
        let mut script = script();
        script.run("d", "npx tsc --noEmit", Outcome::Succeeded, "");
        script.run("e", "npm run lint", Outcome::Failed(Some(1)), "1 problem\n");
        let evidence = script.collect();
        assert_eq!(passed(&evidence).as_deref(), Some("checks passed: build, type check"));
        let failed: Vec<CheckKind> =
            last_runs(&evidence).into_iter().filter(|one| one.failed).map(|one| one.kind).collect();
        assert_eq!(failed, [CheckKind::Lint]);
    }

    #[test]
    fn a_command_of_a_sub_agent_does_not_end_the_output_of_a_check() {
        let mut script = Script::default();
        script.prompt("Add a column");
        script.run("b", "npm run lint | tail", Outcome::Succeeded, "");
        script.run("c", "npm run lint -- src", Outcome::Failed(Some(1)), "src/a.ts: error: x\n");
        let mut evidence = script.collect();
        let check = evidence.commands[0].clone();
        evidence.commands.truncate(1);
        let failed = |evidence: &Evidence| failed(evidence, CheckKind::Lint, &check);
        assert_eq!(failed(&evidence), None);
        let of_sub_agent = Origin { source: 1, line: 1 };
        evidence.commands.push(CommandRun { origin: of_sub_agent, ..check.clone() });
        assert_eq!(failed(&evidence), None);
    }

    #[test]
    fn the_failed_check_of_several_in_a_line_is_unknown() {
        for (line, wanted) in [
            ("npm run lint && npx tsc --noEmit", vec![]),
            ("npm run lint && npx vitest run", vec![]),
            ("cd app && npm run lint", vec![CheckKind::Lint]),
            ("npx eslint src && npx eslint test", vec![CheckKind::Lint]),
            ("npm ci && npm run lint", vec![]),
            ("cd app && npx eslint src && npm publish", vec![]),
            ("npm run lint && echo ok", vec![CheckKind::Lint]),
            ("export CI=1 && cd app && npm run lint 2>&1 | tail -3", vec![CheckKind::Lint]),
        ] {
            let mut script = Script::default();
            script.prompt("Add a column");
            script.run("a", line, Outcome::Failed(Some(1)), "1 problem\n");
            let failed = last_runs(&script.collect()).into_iter().filter(|one| one.failed);
            assert_eq!(failed.map(|one| one.kind).collect::<Vec<_>>(), wanted, "{line}");
        }
    }

    #[test]
    fn a_command_that_only_names_a_check_is_no_check() {
        for line in [
            "git commit -am \"Fix clippy warnings\"",
            "git commit -am \"Fix the list; clippy is silent | eslint\"",
            "git push -u origin fix/lint",
            "git add .eslintrc.json biome.json",
            "cat eslint.config.js",
            "cat .github/workflows/lint.yml",
            "grep -rn \"eslint-disable|biome\" src",
            "npm install -D eslint",
            "pnpm --filter web add -D biome",
            "sudo apt-get install -y shellcheck",
            "pip install mypy",
            "uv pip install mypy",
            "cargo install cargo-audit clippy",
            "npx prettier --write package.json",
            "npm run format -- build.ts",
            "cargo run --bin build-index",
            "npx prettier --write package-lock.json",
            "find . -name shellcheck",
            "find . -name '*.yml' -exec grep shellcheck {} +",
        ] {
            assert_eq!(kinds(line), [], "{line}");
        }
        use CheckKind::{Build, Lint, Types};
        for (line, kind) in [
            ("cd app && npm run lint", Lint),
            ("npx eslint src", Lint),
            ("pnpm -r lint", Lint),
            ("RUSTFLAGS=-Dwarnings cargo clippy --all-targets 2>&1 | tail -5", Lint),
            ("git stash && npx eslint 'src/**'", Lint),
            ("uv run mypy .", Types),
            ("mvn package", Build),
            ("./gradlew assemble", Build),
            ("npm run build:prod", Build),
            ("npm run build; echo 'done'", Build),
            ("go build ./...", Build),
            ("make build-image", Build),
            ("yarn build-storybook", Build),
            ("find . -name '*.sh' -exec shellcheck {} +", Lint),
        ] {
            assert_eq!(kinds(line), [kind], "{line}");
        }
    }

    #[test]
    fn a_check_in_a_line_without_its_middle_is_found() {
        for (line, wanted) in [
            (
                "echo \"=== format ===\" && rustfmt a.rs && echo \"done",
                " && echo \"=== lint ===\" && golangci-lint run ./...",
                true,
            ),
            (
                "echo \"=== format ===\" && rustfmt a.rs && echo \"done",
                "lint ===\" && golangci-lint run ./...",
                true,
            ),
            ("git commit -m \"Format the list", " and eslint; fix it\"", false),
        ]
        .map(|(head, tail, wanted)| (format!("{head} … {tail}"), wanted))
        {
            assert_eq!(kinds(&line).contains(&CheckKind::Lint), wanted, "{line}");
        }
    }

    fn kinds(line: &str) -> Vec<CheckKind> {
        let runs = |kind: &CheckKind| parts(line).any(|part| kind.is_run_by(part));
        CheckKind::ALL.into_iter().filter(runs).collect()
    }

    #[test]
    fn a_check_that_a_commit_or_a_script_may_have_repeated_is_left_out() {
        for later in ["git add -A && git commit -m 'Add a column'", "npm run check", "make ci"] {
            let mut script = script();
            script.run("d", "npm run lint", Outcome::Failed(Some(1)), "1 problem\n");
            script.edit("e", "/app/list.ts", "b", "c");
            script.run("f", later, Outcome::Succeeded, "");
            let evidence = script.collect();
            assert_eq!((last_runs(&evidence), passed(&evidence)), (Vec::new(), None), "{later}");
        }
    }

    #[test]
    fn a_build_that_later_tests_prove_is_not_failing() {
        let cargo = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";
        let vitest = " Test Files  3 passed (3)\n      Tests  230 passed (230)\n";
        let go = "ok  \texample.org/app/list\t0.01s\n";
        for (build, edits, test, output, fails) in [
            ("cargo build", true, "cargo test", cargo, false),
            ("cargo build -p app", true, "cargo test -p app", cargo, false),
            ("cargo build -p app", true, "cargo test -p list", cargo, true),
            ("cargo build", true, "cargo test list", cargo, true),
            ("cargo deny check", true, "cargo test", cargo, true),
            ("cargo check", true, "cargo test", cargo, false),
            ("make build", true, "make test", cargo, true),
            ("go build ./...", true, "go test ./...", go, false),
            ("cd cmd/server && go build ./...", true, "go test ./internal/...", go, true),
            // Without a change, the tests may belong to another package.
            ("cargo build", false, "cargo test -p list", cargo, true),
            // Vitest does not check the types.
            ("npm run build", true, "npx vitest run", vitest, true),
            ("make build", true, "cargo test", cargo, true),
            ("cargo build", true, "ls", "", true),
        ] {
            let mut script = Script::default();
            script.prompt("Add a column");
            script.run("a", build, Outcome::Failed(Some(101)), "error[E0308]: mismatched types\n");
            if edits {
                script.edit("b", "/app/list.rs", "a", "b");
            }
            script.run("c", test, Outcome::Succeeded, output);
            let evidence = script.collect();
            let is_failing = fails && build.contains(" build");
            assert_eq!(failing_build(&evidence).is_some(), is_failing, "{build} {test}");
            let steps = summary(&script).next_steps.unwrap_or_default();
            let is_open = |step: &String| step.starts_with("Resolve") || step.contains("build");
            assert_eq!(steps.iter().any(is_open), fails, "{build} {test}: {steps:?}");
        }
    }

    #[test]
    fn a_build_that_was_repaired_is_not_failing_after_many_commands() {
        for (repairs, fails) in [(true, false), (false, true)] {
            let mut script = Script::default();
            script.prompt("Add a column");
            script.run("a", "npm run build", Outcome::Failed(Some(1)), "error TS2304\n");
            script.edit("b", "/app/list.ts", "a", "b");
            let outcome = if repairs { Outcome::Succeeded } else { Outcome::Failed(Some(1)) };
            script.run("c", "npm run build", outcome, "");
            for number in 0..60 {
                let line = format!("./deploy.sh {number}");
                script.run("d", &line, Outcome::Succeeded, "");
            }
            assert_eq!(failing_build(&script.collect()).is_some(), fails, "{repairs}");
        }
    }

    #[test]
    fn a_check_whose_output_shows_a_failure_has_failed() {
        let error = "src/list.ts(3,1): error TS2304: Cannot find name 'x'.\n";
        let both = "src/list.ts(3,1): error TS2304: Cannot find name 'x'.\nBUILD_FAILED\n";
        for (line, output, fails) in [
            ("npm run build > /tmp/b.log 2>&1; echo \"exit=$?\"", "exit=1\n", true),
            ("npx tsc --noEmit; echo \"EXIT: $?\"", "EXIT: 2\n", true),
            ("npm run lint 2>&1 | tail -3; echo \"exit ${PIPESTATUS[0]}\"", "x\nexit 1\n", true),
            ("npm run build && echo BUILD_OK || echo BUILD_FAILED", both, true),
            ("npx tsc --noEmit && echo ok; ls dist", error, true),
            ("npm run build > log; echo \"exit=$?\"; tail log", "exit=1\nbuilt 3\n", true),
            ("npm run build; echo \"exit=$?\"", "exit=0\n", false),
            ("npm run build; echo \"exit=$?\"", "error: none found\nexit=0\n", false),
            ("npm run build; echo 'exit=$?' 1", "exit=$? 1\n", false),
            ("npm run build | tail -1; echo \"exit=$?\"", "built\nexit=1\n", false),
            ("npm run build; echo \"5 files\"", "5 files\n", false),
            ("npm run build && echo BUILD_OK || echo BUILD_FAILED", "BUILD_OK\n", false),
            ("npx tsc --noEmit && echo \"errors: 0\"", "errors: 0\n", false),
        ] {
            let mut script = Script::default();
            script.prompt("Add a column");
            script.edit("a", "/app/list.ts", "a", "b");
            script.run("b", line, Outcome::Succeeded, output);
            let failed: Vec<bool> =
                last_runs(&script.collect()).iter().map(|one| one.failed).collect();
            assert_eq!(failed, [fails], "{line}");
        }
    }

    #[test]
    fn code_without_a_test_run_is_reported() {
        let wanted = Some("no test run seen".to_owned());
        assert_eq!(untested(&script().collect()), wanted);
        let mut tested = script();
        tested.run("d", "./scripts/test-e2e.sh", Outcome::Succeeded, "");
        assert_eq!(untested(&tested.collect()), None);
        let mut logged = script();
        logged.run("d", "npm test > /tmp/test.log", Outcome::Succeeded, "");
        assert_eq!(untested(&logged.collect()), None);
        for line in ["go run /tmp/test-list.go", "git add a_test.ts", "python3 -c 'test()'"] {
            let mut thrown_away = script();
            thrown_away.run("d", line, Outcome::Succeeded, "All tests passed\n");
            assert_eq!(untested(&thrown_away.collect()), wanted, "{line}");
        }
        let mut only_text = Script::default();
        only_text.prompt("Describe the list");
        only_text.edit("a", "/app/README.md", "a", "b");
        assert_eq!(untested(&only_text.collect()), None);
    }

    #[test]
    fn another_suite_has_its_number_of_passed_tests() {
        let mut script = script();
        let vitest = " Test Files  3 passed (3)\n      Tests  230 passed (230)\n";
        script.run("d", "npx vitest run", Outcome::Succeeded, vitest);
        let cargo = "test result: ok. 113 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";
        script.run("e", "cargo test", Outcome::Succeeded, cargo);
        assert_eq!(
            passed(&script.collect()).as_deref(),
            Some("checks passed: build, vitest (230 passed)")
        );
    }

    #[test]
    fn other_parts_that_passed_since_the_last_change_are_listed() {
        let mut script = script();
        let passed_tests = "test result: ok. 72 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.01s\n";
        script.run("d", "cargo test keys", Outcome::Succeeded, passed_tests);
        let few = "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 90 filtered out; finished in 0.01s\n";
        script.run("e", "cargo test login", Outcome::Succeeded, few);
        let wanted = "checks passed: build, cargo test keys (72 passed)";
        assert_eq!(passed(&script.collect()).as_deref(), Some(wanted));
        script.edit("f", "/app/list.ts", "b", "c");
        let wanted = "checks passed before the last change: build";
        assert_eq!(passed(&script.collect()).as_deref(), Some(wanted));
    }

    #[test]
    fn checks_at_several_places_are_all_listed() {
        let mut script = Script::default();
        script.item(Item::Context(SessionContext {
            cwd: Some("/app".into()),
            ..SessionContext::default()
        }));
        script.prompt("Add a column");
        script.edit("a", "/app/list.ts", "a", "b");
        let fine = Outcome::Succeeded;
        let broken = "api/a.spec.ts(3,1): error TS2345: Argument\n";
        script.run("d", "cd /app/web && npx tsc --noEmit | tail -5", fine, "");
        script.run("e", "cd /app/api && npx tsc --noEmit | tail -5", fine, broken);
        assert_eq!(
            passed(&script.collect()).as_deref(),
            Some("checks passed: type check in web; failed: type check in api")
        );
    }

    #[test]
    fn a_check_of_one_package_has_its_place_beside_other_packages() {
        let mut script = Script::default();
        let home = SessionContext { cwd: Some("/app".into()), ..SessionContext::default() };
        script.item(Item::Context(home));
        script.prompt("Add a column");
        script.edit("a", "/app/list.ts", "a", "b");
        let fine = Outcome::Succeeded;
        script.run("b", "cd /app/web && npx tsc --noEmit", fine, "");
        assert_eq!(passed(&script.collect()).as_deref(), Some("checks passed: type check"));
        // It is unknown whether the stopped run would have passed.
        script.run("c", "cd /app/api && npx tsc --noEmit", Outcome::Interrupted, "");
        let wanted = "checks passed: type check in web";
        assert_eq!(passed(&script.collect()).as_deref(), Some(wanted));
        script.run("d", "cd /app/api && npx tsc --noEmit", fine, "");
        let wanted = "checks passed: type check in api, type check in web";
        assert_eq!(passed(&script.collect()).as_deref(), Some(wanted));
    }

    #[test]
    fn a_check_before_the_last_change_is_marked() {
        let mut script = script();
        script.edit("d", "/app/list.ts", "b", "c");
        assert_eq!(
            passed(&script.collect()).as_deref(),
            Some("checks passed before the last change: build")
        );
    }
}
