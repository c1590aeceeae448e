//! Finds the calls of test runners in a command line, with their folders, packages, and arguments
//! that select tests.
//!
//! The options of the runners are in `runners.txt`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::{
    summarize::evidence::{
        bounds,
        shell::{
            kind::Invocation,
            words::SimpleCommand,
            working_directory::{WorkingDirectory, resolve},
        },
    },
    text::{before_gap, kept, pattern},
};

const RUNNERS: &str = include_str!("runners.txt");
/// Maximum length, in bytes, of the arguments that limit a run.
const LIMIT: usize = 90;
/// Maximum number of operands among these arguments.
const OPERANDS: usize = 2;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::summarize::evidence) struct TestCall {
    /// The framework that prints the output; `*` for a script that may run any framework.
    framework: String,
    /// The options, names and files that limit the run, as they were typed.
    pub(in crate::summarize::evidence) limited_to: Option<String>,
    /// The task, if it runs only a part of the tests, for example `test:integration`.
    pub(in crate::summarize::evidence) task: Option<String>,
    pub(in crate::summarize::evidence) package: Option<String>,
    /// The directory that the call runs in.
    pub(in crate::summarize::evidence) directory: String,
}

/// The meaning of a runner's operands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operand {
    Filter,
    Path,
    Package,
    Nothing,
}

/// A row of the table of runners.
struct Runner {
    start: Vec<&'static str>,
    framework: &'static str,
    limits: Vec<&'static str>,
    values: Vec<&'static str>,
    packages: Vec<&'static str>,
    operand: Operand,
}

static TABLE: LazyLock<Vec<Runner>> = LazyLock::new(|| {
    let rows = RUNNERS.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    rows.filter_map(runner).collect()
});

fn runner(row: &'static str) -> Option<Runner> {
    let columns: Vec<&str> = row.split('|').map(str::trim).collect();
    let [start, framework, limits, values, packages, operand] = columns.as_slice() else {
        return None;
    };
    let words = |column: &'static str| column.split_whitespace().collect::<Vec<_>>();
    Some(Runner {
        start: words(start),
        framework,
        limits: words(limits),
        values: words(values),
        packages: words(packages),
        operand: match *operand {
            "filter" => Operand::Filter,
            "path" => Operand::Path,
            "package" => Operand::Package,
            _ => Operand::Nothing,
        },
    })
}

/// Returns the calls of test runners among `commands`, which run one after the other from
/// `directory`.
pub(super) fn of(commands: &[SimpleCommand], directory: &str) -> Vec<TestCall> {
    let mut directory = WorkingDirectory::new(directory);
    let mut calls = Vec::new();
    for command in commands {
        directory.advance_to(command);
        if directory.run(command) {
            continue;
        }
        let Some(invocation) = Invocation::of(command) else { continue };
        calls.extend(call(&invocation, directory.current()));
    }
    calls
}

/// Whether `commands` call test runners, but only to build or list tests.
pub(super) fn only_prepares(commands: &[SimpleCommand]) -> bool {
    let invocations = commands.iter().filter_map(Invocation::of);
    let mut calls = invocations
        .filter_map(|one| runner_of(&one).map(|runner| runs_none(runner.framework, &one.arguments)))
        .peekable();
    calls.peek().is_some() && calls.all(|runs_none| runs_none)
}

/// Returns the call that printed the report of `framework`: the last call of its runner, or else
/// the last call of a script.
pub(in crate::summarize::evidence) fn printed<'c>(
    calls: &'c [TestCall],
    framework: &str,
) -> Option<&'c TestCall> {
    let framework = framework.trim_end_matches(" (packages)");
    let of_runner = calls.iter().rfind(|call| call.framework == framework);
    of_runner.or_else(|| calls.iter().rfind(|call| call.framework == "*"))
}

fn runner_of(invocation: &Invocation<'_>) -> Option<&'static Runner> {
    let words = &invocation.arguments;
    let is_operand = |word: &&&str| !word.starts_with(['-', '+']);
    let operands: Vec<&str> = words.iter().filter(is_operand).copied().collect();
    let starts = |runner: &&Runner| {
        let (program, rest) = runner.start.split_first().expect("each row begins with a program");
        let operands = &operands[..operands.len().min(rest.len())];
        let is_begun = |word: &&str| match word.starts_with('-') {
            true => words.contains(word),
            false => operands.contains(word),
        };
        let is_it = invocation.program == *program && rest.iter().all(is_begun);
        is_it && (runner.framework != "*" || runs_tests(words))
    };
    TABLE.iter().find(starts)
}

/// Whether the arguments of a runner make it build or list the tests instead of running them.
fn runs_none(framework: &str, arguments: &[&str]) -> bool {
    let has = |options: &[&str]| arguments.iter().any(|word| options.contains(word));
    match framework {
        "cargo test" | "cargo nextest" => has(&["--no-run", "--list"]),
        "go test" => {
            pattern!(r"(?: |^)-(?:c|list|exec[= ](?:\S*/)?true|run[= ](?:\^\$|XXX|NONE))(?: |=|$)")
                .is_match(&arguments.join(" "))
        }
        "jest" => has(&["--listTests"]),
        "pytest" => has(&["--collect-only", "--co"]),
        _ => false,
    }
}

fn call(invocation: &Invocation<'_>, directory: &str) -> Option<TestCall> {
    let words = &invocation.arguments;
    let runner = runner_of(invocation)?;
    let mut read = ArgumentReader::new(runner, directory);
    let mut rest = words.iter().copied().filter(|word| !runner.start[1..].contains(word));
    while let Some(word) = rest.next() {
        read.word(word, &mut rest);
    }
    Some(TestCall {
        framework: runner.framework.to_owned(),
        limited_to: read.limit(),
        task: read.task,
        package: read.package,
        directory: read.moved_to.unwrap_or_else(|| directory.to_owned()),
    })
}

/// Whether one of the words of a script runner is a test task.
fn runs_tests(words: &[&str]) -> bool {
    words.iter().any(|word| is_test_task(word))
}

fn is_test_task(word: &str) -> bool {
    pattern!(r"^(?:\w+:)*(?:unit[:_-]?)?(?:tests?|spec|vitest|jest|e2e|check)(?:[:_-][\w:-]+)?$")
        .is_match(word)
}

/// Whether a test task runs only a part of the tests according to its name. For example, `test:e2e`
/// does, and `test:ci` does not.
fn is_partial_task(task: &str) -> bool {
    let general = pattern!(
        r"^(?:test|tests|check|vitest|jest|spec)(?:[:_-](?:ci|cov|coverage|all|run|once|watch|full|report|verbose|race|silent|quick|js|ts))?$"
    );
    !general.is_match(task)
}

/// Reads a runner's arguments, one after the other.
struct ArgumentReader<'r> {
    runner: &'r Runner,
    directory: &'r str,
    limits: Vec<String>,
    operands: usize,
    task: Option<String>,
    package: Option<String>,
    moved_to: Option<String>,
    /// Whether the task of a script runner was seen; true for runners that have no tasks.
    has_task: bool,
}

impl<'r> ArgumentReader<'r> {
    fn new(runner: &'r Runner, directory: &'r str) -> ArgumentReader<'r> {
        ArgumentReader {
            runner,
            directory,
            limits: Vec::new(),
            operands: 0,
            task: None,
            package: None,
            moved_to: None,
            has_task: runner.framework != "*",
        }
    }

    fn word<'w>(&mut self, word: &'w str, rest: &mut impl Iterator<Item = &'w str>) {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with('-') => (name, Some(value)),
            _ => (word, None),
        };
        if word == "workspace" && !self.has_task {
            self.package = rest.next().map(|package| kept(package, bounds::NAME));
        } else if !word.starts_with('-') {
            self.operand(word);
        } else if self.runner.packages.contains(&name) {
            let package = value.or_else(|| rest.next());
            self.package = package.map(|package| kept(package, bounds::NAME));
        } else if self.runner.limits.contains(&name) && !self.is_of_script_runner(name) {
            let value = if self.is_flag(name) { value } else { value.or_else(|| rest.next()) };
            let joint = if word.contains('=') { "=" } else { " " };
            let value = value.map_or(String::new(), |value| format!("{joint}{}", typed(value)));
            self.limits.push(format!("{name}{value}"));
        } else if self.runner.values.contains(&name) {
            let value = value.or_else(|| rest.next());
            if matches!(name, "--prefix" | "--cwd" | "--dir" | "--root" | "-C") {
                self.moved_to = value.map(|folder| resolve(self.directory, folder));
            }
        }
    }

    /// Whether an option belongs to the script runner itself, because it precedes the task, as in
    /// `task -t Taskfile.yml test`.
    fn is_of_script_runner(&self, name: &str) -> bool {
        !self.has_task && self.runner.values.contains(&name)
    }

    /// Whether an option that limits a run takes no value.
    fn is_flag(&self, name: &str) -> bool {
        let is_of_cargo = self.runner.framework.starts_with("cargo") && name == "--tests";
        let flags = pattern!(
            r"^--(?:lib|bins|doc|exact|ignored|lf|last-failed|onlyChanged|onlyFailures|only-failures|stale|failed|test-only|changed|runTestsByPath|findRelatedTests)$|^-o$"
        );
        is_of_cargo || flags.is_match(name)
    }

    fn operand(&mut self, word: &str) {
        if !self.has_task {
            if word == "run" || word == "t" {
                return;
            }
            if is_test_task(word) {
                self.has_task = true;
                self.task = is_partial_task(word).then(|| kept(word, bounds::NAME));
            }
            return;
        }
        let limits = match self.runner.operand {
            Operand::Nothing => false,
            Operand::Filter => !matches!(word, "run" | "watch" | "dev" | "." | "test"),
            Operand::Path => {
                let path = word.trim_start_matches("./").trim_end_matches('/');
                pattern!(r"[/\\]|::|\.\w+$").is_match(path)
            }
            Operand::Package => !matches!(word, "./..." | "..." | "all"),
        };
        if limits {
            self.operands += 1;
            if self.operands <= OPERANDS {
                self.limits.push(typed(&self.shortened(word)));
            }
        }
    }

    /// Returns a path below the directory as a path relative to the directory.
    fn shortened(&self, word: &str) -> String {
        let below = word.strip_prefix(self.directory).and_then(|path| path.strip_prefix('/'));
        below.filter(|_| !self.directory.is_empty()).unwrap_or(word).to_owned()
    }

    fn limit(&self) -> Option<String> {
        let more = if self.operands > OPERANDS { " …" } else { "" };
        let limit = format!("{}{more}", self.limits.join(" "));
        (!limit.is_empty()).then(|| before_gap(&kept(&limit, LIMIT)).into_owned())
    }
}

/// Returns a word as it is typed in a shell, with quotes if necessary.
fn typed(word: &str) -> String {
    let is_plain = !word.contains(|c: char| c.is_whitespace() || "()|&;<>*$".contains(c));
    if is_plain { word.to_owned() } else { format!("\"{word}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::evidence::shell::words::simple_commands;

    /// Returns the last call as `framework #task limit @package directory`.
    fn read(line: &str) -> String {
        let calls = of(&simple_commands(line), "/app");
        let Some(call) = calls.last() else { return "-".to_owned() };
        let part = |mark: &str, text: &Option<String>| {
            text.as_ref().map_or(String::new(), |text| format!(" {mark}{text}"))
        };
        let directory = call.directory.strip_prefix("/app").unwrap_or(&call.directory);
        format!(
            "{}{}{}{}{}",
            call.framework,
            part("#", &call.task),
            part("", &call.limited_to),
            part("@", &call.package),
            if directory.is_empty() { String::new() } else { format!(" {directory}") }
        )
    }

    #[test]
    fn limits_of_a_run_are_read_from_its_command() {
        for (line, wanted) in [
            ("uv run pytest -v", "pytest"),
            ("pytest tests/ -x --cov=app", "pytest"),
            ("uv run pytest -m browser", "pytest -m browser"),
            ("pytest -m \"not (tui or browser)\" -v", "pytest -m \"not (tui or browser)\""),
            ("python -m pytest test/test_a.py::TestX -n 4", "pytest test/test_a.py::TestX"),
            ("pytest /app/test/test_a.py", "pytest test/test_a.py"),
            ("npx jest --testPathPattern='shares' --no-coverage", "jest --testPathPattern=shares"),
            ("npx jest", "jest"),
            ("npx vitest run", "vitest"),
            ("npx vitest run src/a.test.ts", "vitest src/a.test.ts"),
            ("pnpm --filter api test", "* @api"),
            (
                "pnpm --filter api test -- --testPathPattern shares.controller",
                "* --testPathPattern shares.controller @api",
            ),
            ("cd apps/web && npm test", "* /apps/web"),
            ("npm run test:e2e", "* #test:e2e"),
            ("npm run test:ci", "*"),
            ("npm run build", "-"),
            ("mise run test:integration -- -run TestGemini", "* #test:integration -run TestGemini"),
            ("mise run test", "*"),
            ("task -t Taskfile.ci.yml test", "*"),
            ("task test -- -t login", "* -t login"),
            ("cargo test --workspace", "cargo test"),
            ("cargo test --features fuse", "cargo test"),
            ("cargo test -p core lexer::keys", "cargo test lexer::keys @core"),
            ("cargo test --lib", "cargo test --lib"),
            ("go test ./...", "go test"),
            (
                "go test -run 'A|B' ./sts/... ./flow/...",
                "go test -run \"A|B\" ./sts/... ./flow/...",
            ),
            ("go test ./a ./b ./c", "go test ./a ./b …"),
            ("go test -count=1 -race ./...", "go test"),
            ("bun test a.test.ts", "bun test a.test.ts"),
            ("bun run test", "*"),
            ("mvn test -Dtest=LoginTest", "maven surefire -Dtest=LoginTest"),
            ("./gradlew :app:test --tests Login", "gradle --tests Login"),
            ("yarn workspace web test", "* @web"),
            ("git log", "-"),
            ("(cd web && npm ci) && npm test", "*"),
            ("cd && npm test", "* ~"),
        ] {
            assert_eq!(read(line), wanted, "{line}");
        }
    }

    #[test]
    fn a_call_that_only_builds_or_lists_tests_runs_no_tests() {
        for line in [
            "cargo test --no-run",
            "cargo test -- --list",
            "go test -c ./a",
            "GOOS=windows go test -exec=true ./...",
            "go test -run '^$' ./...",
            "npx jest --listTests",
            "pytest --collect-only -q",
        ] {
            assert!(only_prepares(&simple_commands(line)), "{line}");
        }
        for line in ["go test -run TestX ./...", "cargo test", "go vet ./...", "ls"] {
            assert!(!only_prepares(&simple_commands(line)), "{line}");
        }
    }

    #[test]
    fn a_report_belongs_to_the_call_of_its_runner() {
        let calls =
            of(&simple_commands("cd web && npx vitest run a && cd ../api && npm test"), "/app");
        let limit = |framework| printed(&calls, framework).and_then(|call| call.limited_to.clone());
        assert_eq!((limit("vitest").as_deref(), limit("jest")), (Some("a"), None));
    }
}
