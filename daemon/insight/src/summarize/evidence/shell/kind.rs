//! Finds the program that a simple command runs, and whether the command only reads, changes
//! something, or does the main work.

use crate::{lang::shell, summarize::evidence::shell::words::SimpleCommand, text::pattern};

/// The effect of a simple command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvocationKind {
    /// Only reads, or has an effect that does not count as work, for example `cd` or `kill`.
    Reads,
    /// Changes files or the environment, so that an attempt that failed before may succeed.
    Changes,
    /// Does the main work: builds, tests, runs a program.
    Works,
}

/// The program and its arguments, without wrappers such as `sudo` or `uv run`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Invocation<'s> {
    /// The program, without its directory.
    pub(super) program: &'s str,
    pub(super) arguments: Vec<&'s str>,
}

impl<'s> Invocation<'s> {
    /// Returns the program inside the wrappers of `command`; `None` if `command` runs no program.
    pub(super) fn of(command: &'s SimpleCommand) -> Option<Invocation<'s>> {
        let words: Vec<&str> = command.texts().collect();
        let written: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let words = &words[shell::inner::local_start(&written)..];
        let words = &words[wrapper_word_count(words)..];
        let (first, rest) = words.split_first()?;
        let program = base(first);
        let arguments = after_options(program, rest).to_vec();
        Some(Invocation { program, arguments })
    }

    /// Returns the `index`th argument that is not an option.
    pub(super) fn operand(&self, index: usize) -> Option<&'s str> {
        self.arguments.iter().filter(|word| !word.starts_with('-')).nth(index).copied()
    }

    pub(super) fn has(&self, option: &str) -> bool {
        self.arguments.contains(&option)
    }

    /// Whether the program is an interpreter that runs code from the command line itself or from
    /// its standard input.
    pub(super) fn runs_inline_code(&self) -> bool {
        let interpreter =
            INTERPRETERS.iter().any(|name| self.program.trim_end_matches(version_mark) == *name);
        interpreter
            && (self.has("-c")
                || self.has("-e")
                || self.has("-p")
                || self.has("-")
                || self.operand(0).is_none())
    }

    pub(super) fn kind(&self) -> InvocationKind {
        let operand = |index| self.operand(index).unwrap_or_default();
        let (first, second) = (operand(0), operand(1));
        match self.program {
            "git" if GIT_LOOKS.contains(&first) => InvocationKind::Reads,
            "git" if GIT_CHANGES.contains(&first) => InvocationKind::Changes,
            "gh" | "glab" if ["create", "merge", "close", "edit", "release"].contains(&second) => {
                InvocationKind::Works
            }
            "gh" | "glab" => InvocationKind::Reads,
            "docker" | "podman" if ["ps", "logs", "images", "inspect"].contains(&first) => {
                InvocationKind::Reads
            }
            "kubectl" if ["get", "describe", "logs"].contains(&first) => InvocationKind::Reads,
            "sed" if self.arguments.iter().any(|word| edits_in_place(word)) => {
                InvocationKind::Changes
            }
            "perl"
                if self.arguments.iter().any(|word| word.starts_with("-i") || *word == "-pi") =>
            {
                InvocationKind::Changes
            }
            "sed" => InvocationKind::Reads,
            program if LOOKS.contains(&program) => InvocationKind::Reads,
            program if CHANGES.contains(&program) => InvocationKind::Changes,
            program if PACKAGE_MANAGERS.contains(&program) && INSTALLS.contains(&first) => {
                InvocationKind::Changes
            }
            "go" if first == "get" || (first == "mod" && second == "tidy") => {
                InvocationKind::Changes
            }
            "uv" if first == "pip" || first == "tool" => InvocationKind::Changes,
            "npx" | "prisma" if self.has("generate") || self.has("migrate") => {
                InvocationKind::Changes
            }
            _ if self.has("--fix") || self.has("--write") || first == "fmt" => {
                InvocationKind::Changes
            }
            _ => InvocationKind::Works,
        }
    }
}

const INTERPRETERS: &[&str] = &[
    "python", "node", "bash", "sh", "zsh", "ruby", "perl", "deno", "php", "tsx", "bun", "psql",
    "sqlite",
];

const LOOKS: &[&str] = &[
    "cat",
    "ls",
    "head",
    "tail",
    "grep",
    "egrep",
    "rg",
    "ag",
    "find",
    "fd",
    "awk",
    "wc",
    "echo",
    "printf",
    "less",
    "more",
    "tree",
    "stat",
    "file",
    "which",
    "type",
    "command",
    "pwd",
    "cd",
    "date",
    "jq",
    "yq",
    "diff",
    "cmp",
    "sleep",
    "true",
    "false",
    "test",
    "[",
    "[[",
    "ps",
    "pgrep",
    "env",
    "export",
    "set",
    "source",
    ".",
    "du",
    "df",
    "sort",
    "uniq",
    "cut",
    "tr",
    "xxd",
    "hexdump",
    "od",
    "lsof",
    "open",
    "md5",
    "md5sum",
    "sha256sum",
    "shasum",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "whoami",
    "uname",
    "hostname",
    "for",
    "done",
    "fi",
    "case",
    "esac",
    "wait",
    "exit",
    "read",
    "xargs",
    "tee",
    "column",
    "strings",
    "nl",
    "rev",
    "bat",
    "eza",
    "man",
    "whereis",
    "id",
    "history",
    "jobs",
    "unset",
    "local",
    "return",
    "shift",
    "trap",
    "pbcopy",
    "journalctl",
    "ss",
    "netstat",
    "top",
    "free",
    "uptime",
    "seq",
    "yes",
    "curl",
    "wget",
    "http",
    "ping",
    "nslookup",
    "dig",
    "nc",
    "unzip",
    "zipinfo",
    "kill",
    "pkill",
];

const CHANGES: &[&str] = &[
    "mv",
    "rm",
    "cp",
    "mkdir",
    "rmdir",
    "ln",
    "chmod",
    "chown",
    "touch",
    "truncate",
    "rsync",
    "brew",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "pacman",
    "apk",
    "pip",
    "pip3",
    "gofmt",
    "goimports",
    "rustup",
    "nvm",
    "systemctl",
    "launchctl",
    "patch",
    "alembic",
    "corepack",
];

const PACKAGE_MANAGERS: &[&str] = &[
    "npm", "pnpm", "yarn", "bun", "poetry", "uv", "cargo", "gem", "bundle", "composer", "dotnet",
    "mix", "deno", "mise", "pdm", "conda", "pipx",
];

const INSTALLS: &[&str] = &[
    "install",
    "i",
    "ci",
    "add",
    "remove",
    "rm",
    "uninstall",
    "update",
    "upgrade",
    "sync",
    "lock",
    "restore",
    "dedupe",
    "prune",
    "link",
    "use",
    "trust",
    "fmt",
];

const GIT_LOOKS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "branch",
    "blame",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "rev-list",
    "remote",
    "describe",
    "cat-file",
    "grep",
    "shortlog",
    "reflog",
    "tag",
    "fetch",
    "merge-base",
    "check-ignore",
    "ls-remote",
    "name-rev",
    "for-each-ref",
    "notes",
    "whatchanged",
];

const GIT_CHANGES: &[&str] = &[
    "checkout",
    "switch",
    "restore",
    "stash",
    "reset",
    "rebase",
    "merge",
    "pull",
    "submodule",
    "config",
    "add",
    "rm",
    "mv",
    "clean",
    "init",
    "clone",
    "worktree",
    "cherry-pick",
    "revert",
    "apply",
    "am",
    "update-index",
];

/// Returns the arguments of git or of a forge's program from the subcommand on, without the
/// preceding options such as `-C dir` and `-R owner/name`. Returns all arguments of other programs.
fn after_options<'r, 's>(program: &str, arguments: &'r [&'s str]) -> &'r [&'s str] {
    let with_value: &[&str] = match program {
        "git" => &["-C", "-c", "--git-dir", "--work-tree"],
        "gh" | "glab" => &["-R", "--repo"],
        _ => return arguments,
    };
    let mut rest = arguments;
    while let Some((first, more)) = rest.split_first().filter(|(first, _)| first.starts_with('-')) {
        let takes_value = with_value.contains(first);
        rest = more.get(usize::from(takes_value)..).unwrap_or_default();
    }
    rest
}

/// Returns the number of words before the program for wrappers that `lang::shell` does not know:
/// `python -m` with a module that is not a known program, and `hatch run`, after which
/// `lang::shell` expects the name of a task.
fn wrapper_word_count(words: &[&str]) -> usize {
    match words {
        [python, "-m", _, ..] if base(python).trim_end_matches(version_mark) == "python" => 2,
        ["hatch", "run", rest @ ..] => {
            let options = rest.iter().take_while(|word| word.starts_with('-')).count();
            if options < rest.len() { 2 + options } else { 0 }
        }
        _ => 0,
    }
}

/// Whether an option makes sed edit its files.
pub(super) fn edits_in_place(option: &str) -> bool {
    pattern!(r"^(?:-[Ensruz]*i|--in-place(?:=|$))").is_match(option)
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn version_mark(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::evidence::shell::words::simple_commands;

    #[test]
    fn the_kind_of_a_command_is_determined() {
        for (line, program, kind) in [
            ("sudo -E apt-get install -y jq", "apt-get", InvocationKind::Changes),
            ("uv run --no-sync pytest -q", "pytest", InvocationKind::Works),
            ("python3.12 -m pytest tests", "pytest", InvocationKind::Works),
            ("timeout 60 cargo test", "cargo", InvocationKind::Works),
            ("npm install left-pad", "npm", InvocationKind::Changes),
            ("npm run build", "npm", InvocationKind::Works),
            ("git status --short", "git", InvocationKind::Reads),
            ("git push -u origin x", "git", InvocationKind::Works),
            ("git checkout -b x", "git", InvocationKind::Changes),
            ("git -C /app -c core.pager=cat --no-pager log -3", "git", InvocationKind::Reads),
            ("gh run view 12 --log", "gh", InvocationKind::Reads),
            ("gh pr create --fill", "gh", InvocationKind::Works),
            ("gh -R a/b pr create --fill", "gh", InvocationKind::Works),
            ("sed -n 1,5p a", "sed", InvocationKind::Reads),
            ("sed -i s/a/b/ a", "sed", InvocationKind::Changes),
            ("sed --in-place=.old s/a/b/ a", "sed", InvocationKind::Changes),
            ("/usr/bin/grep x y", "grep", InvocationKind::Reads),
            ("npx tsc --noEmit", "tsc", InvocationKind::Works),
            ("go mod tidy", "go", InvocationKind::Changes),
            ("env A=1 make", "make", InvocationKind::Works),
            ("xargs -n1 cargo test", "cargo", InvocationKind::Works),
            ("xargs -0 rm -f", "rm", InvocationKind::Changes),
            ("xargs grep x", "grep", InvocationKind::Reads),
            ("xargs", "xargs", InvocationKind::Reads),
            ("nice -n 5 make", "make", InvocationKind::Works),
            ("ssh me@host rm x", "ssh", InvocationKind::Works),
            ("docker exec -it api rm x", "docker", InvocationKind::Works),
            ("hatch run pytest", "pytest", InvocationKind::Works),
            ("python -m mine.own", "mine.own", InvocationKind::Works),
        ] {
            let commands = simple_commands(line);
            let invocation = Invocation::of(&commands[0]).unwrap();
            assert_eq!((invocation.program, invocation.kind()), (program, kind), "{line}");
        }
    }

    #[test]
    fn inline_code_is_recognised() {
        for (line, inline) in [
            ("python3 -c 'print(1)'", true),
            ("node -e x", true),
            ("python script.py", false),
            ("bash -c ls", true),
            ("./run.sh -c", false),
        ] {
            let commands = simple_commands(line);
            assert_eq!(Invocation::of(&commands[0]).unwrap().runs_inline_code(), inline, "{line}");
        }
    }
}
