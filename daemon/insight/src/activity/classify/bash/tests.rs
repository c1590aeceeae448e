use std::time::{Duration, Instant};

use super::*;
use crate::model::{
    activity::Activity,
    tool::{ToolDomain, ToolIntent},
};

/// Formats the main command of a line as `program intent domain`.
fn main_of(line: &str) -> String {
    let line = classify_line(line);
    line.main().map_or(String::new(), |(_, main)| {
        format!("{} {} {}", main.base_command, main.intent.as_str(), main.domain.as_str())
    })
}

/// The example in section 3.3 of the specification intelligent-session-summarization.
#[test]
fn the_example_of_the_specification_has_the_stated_result() {
    let found = classify("pytest tests/ -v --cov=src");
    assert_eq!(found.len(), 1);
    let found = &found[0];
    assert_eq!(found.raw_command, "pytest tests/ -v --cov=src");
    assert_eq!((found.base_command.as_str(), &found.subcommand), ("pytest", &None));
    assert_eq!(found.flags, ["-v", "--cov=src"]);
    assert_eq!(found.targets, ["tests/"]);
    assert_eq!((found.intent, found.domain), (ToolIntent::Validate, ToolDomain::Testing));
    assert_eq!(found.confidence, 0.95);
    assert_eq!(found.activity_signals.get(Activity::Testing), 0.8);
    assert_eq!(found.activity_signals.get(Activity::Fixing), 0.2);
}

/// Section 3.3 of the specification: "npm install = configuring, pytest = testing, git commit =
/// version_control".
#[test]
fn the_common_patterns_of_the_specification_are_classified() {
    assert_eq!(main_of("npm install"), "npm configure package");
    assert_eq!(main_of("pytest"), "pytest validate testing");
    assert_eq!(main_of("pytest -v"), "pytest validate testing");
    assert_ne!(main_of("df -h"), "df read documentation");
    assert_eq!(main_of("curl -XPOST localhost"), main_of("curl -X POST localhost"));
    let posted = main_of("wget --post-data=a=1 localhost");
    assert!(posted.contains(" communicate "), "{posted}");
    assert_ne!(main_of("wget -d localhost"), posted);
    assert_eq!(main_of("git commit -m x"), "git create version_control");
}

#[test]
fn options_before_a_subcommand_are_skipped() {
    let found = classify("git -C /x --no-pager log --oneline -5 -- src");
    assert_eq!(found[0].subcommand.as_deref(), Some("log"));
    assert_eq!(found[0].targets, ["src"]);
}

#[test]
fn the_main_command_is_the_purpose_of_the_line() {
    for (line, main) in [
        ("cd app && npm test | tail -5", "npm validate testing"),
        ("mkdir -p out && go build -o out/app . && ls out", "go execute code"),
        ("git add -A && git commit -m x", "git create version_control"),
        ("rm -f cover.out && git status", "rm delete filesystem"),
        ("echo start; sleep 5; echo done", "echo execute process"),
        ("which jq || brew install jq", "brew configure package"),
        ("cargo test || true", "cargo validate testing"),
        ("cat a.rs | grep fn | wc -l", "cat read code"),
        ("grep help a.rs", "grep search code"),
        ("rm help", "rm delete filesystem"),
        ("git help log", "git read documentation"),
        ("git diff | head -50", "git read version_control"),
        ("V=$(git describe)", "git read version_control"),
        ("for f in *.py; do python -m py_compile $f; done", "py_compile validate code"),
        ("find . -name '*.rs' | xargs sed -i s/a/b/", "sed modify filesystem"),
        ("", ""),
        ("# nothing", ""),
    ] {
        assert_eq!(main_of(line), main, "{line}");
    }
}

#[test]
fn a_lone_short_option_asks_for_the_version_only_of_some_programs() {
    for (line, main) in [
        ("python -m unittest -v", "unittest validate testing"),
        ("tox -v", "tox validate testing"),
        ("find . -name '*.pyc' | xargs rm -v", "rm delete filesystem"),
        ("find . -name '*.sh' | xargs chmod -v", "chmod modify filesystem"),
        ("jest -v", "jest read process"),
        ("node -v", "node read process"),
        ("gcc -v", "gcc read process"),
        ("frobctl -V", "frobctl read process"),
        ("rm --help", "rm read documentation"),
        ("frobctl -h", "frobctl read documentation"),
    ] {
        assert_eq!(main_of(line), main, "{line}");
    }
    for line in ["sort -V", "sort -h"] {
        assert_eq!(main_of(line), main_of("sort -n"), "{line}");
    }
}

#[test]
fn tasks_are_classified_by_their_names() {
    for (line, expected) in [
        ("npm run lint", "npm validate code"),
        ("make test", "make validate testing"),
        ("mise run fmt", "mise modify code"),
        ("just build", "just execute code"),
        ("pnpm --filter web run test:unit", "pnpm validate testing"),
        ("bun run db:migrate", "bun modify database"),
        ("task deploy", "task communicate network"),
        ("yarn flurb", "yarn execute process"),
        ("./gradlew check", "gradlew validate code"),
        ("./scripts/run-e2e.sh", "run-e2e.sh validate testing"),
        ("./bin/foo --port 1", "foo execute process"),
        ("python3 tests/run.py", "python3 execute process"),
        ("python manage.py test", "python validate testing"),
    ] {
        assert_eq!(main_of(line), expected, "{line}");
    }
}

#[test]
fn unknown_wrappers_are_not_guessed() {
    for line in ["rtk git status", "frob npm test", "zorbify --all", "frobctl x y"] {
        let found = classify(line);
        assert!(!found[0].is_known(), "{line}: {found:?}");
        assert_eq!(found[0].domain, ToolDomain::Unknown);
        assert!(found[0].activity_signals.is_empty());
    }
    assert!(classify("frobctl search things")[0].is_known());
}

#[test]
fn nested_commands_count_half_and_are_marked() {
    let found = classify("echo \"$(pytest -q)\"");
    assert_eq!(found.iter().map(|command| command.nested).collect::<Vec<_>>(), [true, false]);
    let signals = classify_line("echo \"$(pytest -q)\"").signals();
    assert_eq!(signals.get(Activity::Testing), 0.4);
}

#[test]
fn repeated_commands_do_not_increase_the_signals() {
    let one = classify_line("pytest").signals();
    let many = classify_line(&vec!["pytest"; 50].join(" && ")).signals();
    assert_eq!(one, many);
}

#[test]
fn scripts_within_commands_are_parsed() {
    for line in [
        "bash -lc 'cd x && cargo test'",
        "ssh host 'cd x; cargo test'",
        "docker exec -it app sh -c \"cargo test | tee log\"",
        "bash <<'EOF'\ncd x\ncargo test\nEOF",
        "eval \"cargo test\"",
        "timeout 60 bash -c 'bash -c \"cargo test\"'",
    ] {
        assert_eq!(main_of(line), "cargo validate testing", "{line}");
    }
}

#[test]
fn lines_with_invalid_syntax_are_classified_by_their_first_words() {
    for (line, expected) in [
        (
            "Get-ChildItem -Recurse | Where-Object { $_.Name -like '*.cs' }",
            "get-childitem read filesystem",
        ),
        ("git commit -m 'never closed", "git create version_control"),
        ("npm test && && ls", "npm validate testing"),
        ("((((((((((((((((((((((((((((((( npm test", "npm validate testing"),
    ] {
        assert_eq!(main_of(line), expected, "{line}");
    }
}

/// Every run uses the same random lines.
#[test]
fn mangled_lines_are_classified_in_a_short_time() {
    const LINES: [&str; 6] = [
        "git add -A && git commit -m \"$(cat <<'EOF'\nfix: it's (a) thing\nEOF\n)\" | tail -3",
        "for f in $(find . -name '*.rs'); do if [ -f \"$f\" ]; then wc -l < $f; fi; done 2>/dev/null",
        "case \"$1\" in start) ./run & ;; stop) kill $(cat pid) ;; *) echo \"usage: ${0##*/}\" ;; esac",
        "diff <(sort a) <(sort b) > out.txt || { echo failed >&2; exit $((1 + 2)); }",
        "docker run --rm -v \"$PWD\":/w img bash -lc 'cd /w && make test 1234567890 >log'",
        "X=1 Y=`date +%s` sudo -E env Z=\\$X timeout 10 xargs -0 -n1 rm -- < list",
    ];
    const PIECES: [&str; 24] = [
        "'",
        "\"",
        "`",
        "$(",
        ")",
        "((",
        "{",
        "}",
        "${",
        "[[",
        "|",
        "&&",
        ";;",
        "<<EOF\n",
        "<<<",
        ">(",
        "\\",
        "\n",
        "if ",
        "case x in ",
        "é",
        "12345678901>",
        "~99999999999999999999",
        "\0",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).expect("the remainder is less than a usize")
    };
    for _ in 0..20_000 {
        let mut line: Vec<char> = LINES[random(LINES.len())].chars().collect();
        for _ in 0..1 + random(8) {
            let at = random(line.len() + 1);
            match random(4) {
                0 => line.truncate(at),
                1 if at < line.len() => drop(line.remove(at)),
                _ => drop(line.splice(at..at, PIECES[random(PIECES.len())].chars())),
            }
        }
        let line: String = line.into_iter().collect();
        let begun = Instant::now();
        classify(&line);
        assert!(begun.elapsed() < Duration::from_secs(2), "{line}");
    }
}

#[test]
fn huge_lines_are_bounded() {
    let document = format!("cat > big.json <<'EOF'\n{}\nEOF", "{\"a\": [1, 2, 3]}\n".repeat(8_000));
    assert_eq!(main_of(&document), "cat create filesystem");
    let commands = classify(&"ls;".repeat(50_000));
    assert!(commands.len() <= MAX_COMMANDS);
    let targets = classify(&format!("rm {}", "file ".repeat(5_000)));
    assert!(targets[0].targets.len() <= 20);
}
