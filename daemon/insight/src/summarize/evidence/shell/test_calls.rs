//! Finds the calls of test runners in a command line, with their folders, packages, and arguments
//! that select tests.
//!
//! The options of the runners are in `runners.txt`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::{
    activity::classify::bash::{self, command},
    lang::shell::{
        inner::{self, Inner, MAX_SCRIPT_DEPTH},
        parse::{self, ShellCommand},
    },
    model::tool::{ToolDomain, ToolIntent},
    summarize::evidence::{
        bounds,
        shell::{
            kind::Invocation,
            words::{BYTES, COMMANDS, SimpleCommand, simple_commands},
            working_directory::{WorkingDirectory, resolve},
        },
    },
    text::{before_gap, kept, pattern},
};

const RUNNERS: &str = include_str!("runners.txt");
/// Maximum length, in bytes, of the arguments that limit a run.
const LIMIT: usize = 90;
/// Maximum number of operands among the arguments that limit a run.
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

/// One command that starts a test runner.
pub(super) struct RunnerCall {
    runner: &'static Runner,
    arguments: Vec<String>,
    /// The directory that the command runs in.
    directory: String,
}

/// Returns the commands of `line` that start a test runner, also in `$(...)` and in scripts in
/// arguments. A command that runs on another machine or in a container is left out, because its
/// tests are not those of the folder. The line runs in `directory`.
pub(super) fn runner_calls(line: &str, directory: &str) -> Vec<RunnerCall> {
    let mut calls = Vec::new();
    // Most lines name no runner. To parse these lines would take much longer than this search.
    let mut names = line.split(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c));
    if names.any(|name| TABLE.iter().any(|row| row.start[0] == name)) {
        add_runner_calls(line, directory, 0, &mut calls);
    }
    calls
}

fn add_runner_calls(line: &str, directory: &str, depth: usize, calls: &mut Vec<RunnerCall>) {
    let mut directory = WorkingDirectory::new(directory);
    for command in commands(line).into_iter().take(COMMANDS) {
        let simple = SimpleCommand::from(&command);
        directory.advance_to(&simple);
        if directory.run(&simple) || inner::runs_remotely(&command.words) {
            continue;
        }
        match inner::of(&command.words, &command.redirects) {
            Inner::Script(script) if depth < MAX_SCRIPT_DEPTH => {
                add_runner_calls(&script, directory.current(), depth + 1, calls);
            }
            Inner::Script(_) => {}
            Inner::Command(words) => calls.extend(runner_call(&words, directory.current())),
        }
    }
}

/// Returns the commands of `line`. Of a long line, only the start is read, without the parser: the
/// parser would take the text of a here-document without an end for commands.
fn commands(line: &str) -> Vec<ShellCommand> {
    if line.len() <= BYTES {
        return parse::commands(line);
    }
    let shell_command = |simple: &SimpleCommand| ShellCommand {
        words: simple.texts().map(str::to_owned).collect(),
        subshells: simple.subshells,
        ..ShellCommand::default()
    };
    simple_commands(line).iter().map(shell_command).collect()
}

/// Returns the call of a test runner that a command, without wrappers, makes.
fn runner_call(words: &[String], directory: &str) -> Option<RunnerCall> {
    let words = inner::command_of_find(words).unwrap_or(words).to_vec();
    let command = ShellCommand { words, ..ShellCommand::default() };
    let simple = SimpleCommand::from(&command);
    let invocation = Invocation::of(&simple)?;
    let runner = runner_of(&invocation, &command.words)?;
    let arguments = invocation.arguments.iter().map(|word| (*word).to_owned()).collect();
    Some(RunnerCall { runner, arguments, directory: directory.to_owned() })
}

/// Whether there are calls of test runners, and each call only builds or lists tests.
pub(super) fn only_prepare(calls: &[RunnerCall]) -> bool {
    !calls.is_empty() && calls.iter().all(RunnerCall::runs_no_tests)
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

/// Returns the runner that `invocation` of the command `words` starts. A script runner counts if it
/// runs a test task.
fn runner_of(invocation: &Invocation<'_>, words: &[String]) -> Option<&'static Runner> {
    let arguments = &invocation.arguments;
    let is_operand = |word: &&&str| !word.starts_with(['-', '+']);
    let operands: Vec<&str> = arguments.iter().filter(is_operand).copied().collect();
    let starts = |runner: &&Runner| {
        let (program, rest) = runner.start.split_first().expect("each row begins with a program");
        let operands = &operands[..operands.len().min(rest.len())];
        let is_begun = |word: &&str| match word.starts_with('-') {
            true => arguments.contains(word),
            false => operands.contains(word),
        };
        let is_it = invocation.program == *program && rest.iter().all(is_begun);
        is_it && (runner.framework != "*" || runs_test_task(arguments, words))
    };
    TABLE.iter().find(starts)
}

impl RunnerCall {
    /// Whether the arguments make the runner build or list the tests instead of running them.
    fn runs_no_tests(&self) -> bool {
        let has =
            |options: &[&str]| self.arguments.iter().any(|word| options.contains(&word.as_str()));
        match self.runner.framework {
            "cargo test" | "cargo nextest" => has(&["--no-run", "--list"]),
            "go test" => pattern!(
                r"(?: |^)-(?:c|list|exec[= ](?:\S*/)?true|run[= ](?:\^\$|XXX|NONE))(?: |=|$)"
            )
            .is_match(&self.arguments.join(" ")),
            "jest" => has(&["--listTests"]),
            "pytest" => has(&["--collect-only", "--co"]),
            _ => false,
        }
    }
}

impl From<&RunnerCall> for TestCall {
    fn from(call: &RunnerCall) -> TestCall {
        let RunnerCall { runner, directory, .. } = call;
        let mut read = ArgumentReader::new(runner, directory);
        let words = call.arguments.iter().map(String::as_str);
        let mut rest = words.filter(|word| !runner.start[1..].contains(word));
        while let Some(word) = rest.next() {
            read.word(word, &mut rest);
        }
        TestCall {
            framework: runner.framework.to_owned(),
            limited_to: read.limit(),
            task: read.task,
            package: read.package,
            directory: read.moved_to.unwrap_or_else(|| directory.clone()),
        }
    }
}

/// Whether a script runner runs a test task: `arguments` contain its name, or the classifier of
/// activities determines that the command, `words`, runs tests.
fn runs_test_task(arguments: &[&str], words: &[String]) -> bool {
    let is_named = arguments.iter().any(|word| is_name_of_tests(word));
    match command::effect_of(words) {
        // `npm install jest`.
        Some((_, ToolDomain::Package)) => false,
        Some((ToolIntent::Validate, ToolDomain::Testing)) => {
            is_named || !arguments.iter().any(|word| is_benchmark(word))
        }
        // `biome check` runs a linter.
        _ => is_named && !arguments.contains(&"biome"),
    }
}

/// Whether a task with this name, such as `test:unit`, runs tests.
fn is_test_task(name: &str) -> bool {
    is_name_of_tests(name) || bash::is_test_task(name) && !is_benchmark(name)
}

fn is_name_of_tests(name: &str) -> bool {
    pattern!(r"^(?:\w+:)*(?:unit[:_-]?)?(?:tests?|spec|vitest|jest|e2e|check)(?:[:_-][\w:-]+)?$")
        .is_match(name)
        && !pattern!(r"\b(?:types?|format|fmt|lint|prettier|styles?|spell|deps|links?|licen[cs]es?):check$|^check[:_-](?:types?|format|fmt|lint|styles?|spell|deps|links?|licen[cs]es?)$")
            .is_match(name)
}

fn is_benchmark(name: &str) -> bool {
    name.to_ascii_lowercase().contains("bench")
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
    use crate::{model::tool::BashCommandClassification, summarize::evidence::shell::CommandLine};

    /// Returns the last call as `framework #task limit @package directory`.
    fn read(line: &str) -> String {
        let calls = runner_calls(line, "/app");
        let Some(call) = calls.last().map(TestCall::from) else { return "-".to_owned() };
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
            ("npm test -- --run", "*"),
            ("npm test -- --run --coverage", "*"),
            ("pnpm --filter @app/keys test -- --run registry", "* registry @@app/keys"),
            ("npm run type:check", "-"),
            ("npm run format:check", "-"),
            ("npm run check:types", "-"),
            ("npm run check", "*"),
            ("make check", "*"),
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
            ("make V=1 test", "*"),
            ("npm run server:test", "* #server:test"),
            ("mise run -C web test", "* /web"),
        ] {
            assert_eq!(read(line), wanted, "{line}");
        }
    }

    #[test]
    fn the_evidence_and_the_activity_read_the_same_constructs_of_the_shell() {
        for (line, frameworks) in [
            ("cargo test -p core", "cargo test"),
            ("OUT=$(cargo test 2>&1); echo \"$OUT\" | tail -5", "cargo test"),
            ("echo \"failed: `pytest -q | tail -1`\"", "pytest"),
            ("find . -name Cargo.toml -execdir cargo test \\;", "cargo test"),
            ("find crates -maxdepth 1 -exec cargo test --manifest-path {} +", "cargo test"),
            ("ls crates | xargs -n1 cargo test -p", "cargo test"),
            ("bash -c \"cargo test\"", "cargo test"),
            ("cd web && timeout 60 bash -lc 'npx vitest run && npx jest'", "vitest, jest"),
            ("bash -c cargo\\ test; eval 'go test ./...'", "cargo test, go test"),
            ("if cargo test; then echo fine; fi", "cargo test"),
            ("for i in 1 2; do pytest -x || break; done", "pytest"),
            ("while ! npm test; do sleep 1; done", "*"),
            ("time cargo test", "cargo test"),
            ("timeout -s KILL 60 cargo test", "cargo test"),
            ("sudo -u web env CI=1 nice -n 5 npx jest", "jest"),
            ("(cd web && npm run test:unit) & uv run pytest & wait", "*, pytest"),
            ("bash <<'EOF'\nset -e\ncargo test\nEOF", "cargo test"),
            ("cat <<EOF > log\n$(go test ./...)\nEOF", "go test"),
            ("run_it() { cargo test; }; run_it", "cargo test"),
            ("diff <(go test -v ./a) old.txt", "go test"),
            ("echo \"cargo test\" && echo 'run $(cargo test)'", ""),
            ("grep -rn \"cargo test\" docs | xargs grep -l pytest", ""),
            ("git commit -m \"run cargo test\" -m 'and `pytest`'", ""),
            ("cat > test.sh <<'EOF'\ncargo test\nEOF\nchmod +x test.sh", ""),
            ("git commit -F - <<'EOF'\nFix it\n\n`cargo test` and $(pytest) pass\nEOF", ""),
            ("gh pr create --body \"$(cat <<'EOF'\n- [x] `npm test`\nEOF\n)\"", ""),
            ("find . -name 'cargo test*' -exec grep pytest {} \\;", ""),
            ("pnpm biome check --write src && npm install jest && make", ""),
        ] {
            let read = CommandLine::read(line, "/app");
            let found: Vec<&str> = read.tests.iter().map(|call| call.framework.as_str()).collect();
            assert_eq!(found.join(", "), frameworks, "{line}");
            let classified = bash::classify(line);
            let tests = |one: &&BashCommandClassification| one.domain == ToolDomain::Testing;
            assert_eq!(classified.iter().filter(tests).count(), found.len(), "{line}");
        }
    }

    #[test]
    fn a_script_runner_runs_tests_if_any_of_its_tasks_does() {
        for line in [
            "make lint test",
            "just fmt test",
            "make clean test",
            "make bench test",
            "make V=1 test",
            "make check",
            "just check",
            "npm run check",
            "npm run server:test",
            "npm run ci:test",
            "npm run db:test",
            "npm run coverage",
            "mise run -C web test",
            "pnpm --filter web test:unit",
        ] {
            assert_eq!(runner_calls(line, "/app").len(), 1, "{line}");
        }
        for line in [
            "make bench",
            "npm run benchmark",
            "make lint",
            "npm run build",
            "pnpm biome check --write src",
            "npm install jest",
            "pnpm --filter web add -D vitest",
            "npm ls jest",
            "make latest contest",
        ] {
            assert_eq!(runner_calls(line, "/app").len(), 0, "{line}");
        }
    }

    #[test]
    fn tests_on_another_machine_or_in_a_container_are_no_runs_of_the_folder() {
        for line in [
            "ssh ci pytest",
            "ssh ci 'cd /srv && cargo test'",
            "kubectl exec web -- npm test",
            "sudo docker compose exec api pytest tests/a.py",
            "docker run --rm image:1 make test",
            "bash -c 'ssh ci pytest && ls'",
        ] {
            assert_eq!(runner_calls(line, "/app").len(), 0, "{line}");
        }
        for line in ["docker compose up -d && pytest", "sudo -u web pytest", "ssh ci ls; pytest"] {
            assert_eq!(runner_calls(line, "/app").len(), 1, "{line}");
        }
    }

    #[test]
    fn a_line_is_read_up_to_its_limits() {
        let cut = format!("cargo test && echo {}; pytest", "a".repeat(BYTES));
        assert_eq!(runner_calls(&cut, "/app").len(), 1);
        let document = format!("cat > test.sh <<'EOF'\ncargo test\n{}\nEOF\n", "a\n".repeat(BYTES));
        assert_eq!(runner_calls(&document, "/app").len(), 0);
        assert_eq!(runner_calls(&format!("pytest; {document}"), "/app").len(), 1);
        assert_eq!(runner_calls(&"pytest; ".repeat(COMMANDS + 1), "/app").len(), COMMANDS);
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
            assert!(only_prepare(&runner_calls(line, "")), "{line}");
        }
        for line in ["go test -run TestX ./...", "cargo test", "go vet ./...", "ls"] {
            assert!(!only_prepare(&runner_calls(line, "")), "{line}");
        }
    }

    #[test]
    fn a_report_belongs_to_the_call_of_its_runner() {
        let line = "cd web && npx vitest run a && cd ../api && npm test";
        let calls: Vec<TestCall> = runner_calls(line, "/app").iter().map(TestCall::from).collect();
        let limit = |framework| printed(&calls, framework).and_then(|call| call.limited_to.clone());
        assert_eq!((limit("vitest").as_deref(), limit("jest")), (Some("a"), None));
    }
}
