//! Finds the command that a wrapper runs. Wrappers are programs such as `sudo`, `xargs`, `uv run`,
//! `docker exec` and `bash -c`.

use crate::lang::shell::{
    args::Args,
    parse::Redirect,
    program::{Program, base_name},
};

/// Maximum number of nested wrappers that are removed.
const DEEPEST: usize = 8;

/// Maximum nesting of scripts that are arguments of commands, as in `sh -c`. Modules that parse the
/// script of an [`Inner::Script`] must stop at this depth.
pub const MAX_SCRIPT_DEPTH: usize = 3;

/// The innermost command, without wrappers.
#[derive(Clone, Debug, PartialEq)]
pub enum Inner {
    /// The words of the command itself, or of its inner command.
    Command(Vec<String>),
    /// A script that a shell runs.
    Script(String),
}

/// Programs that run a command on another machine or in another file system.
const REMOTE_RUNNERS: [&str; 15] = [
    "adb",
    "autossh",
    "chroot",
    "docker",
    "docker-compose",
    "heroku",
    "k",
    "kubectl",
    "mosh",
    "nerdctl",
    "oc",
    "podman",
    "ssh",
    "vagrant",
    "wsl",
];

/// Returns the index in `words` of the program after all wrappers that run their command on this
/// machine, such as `sudo`, `xargs` and `uv run`.
pub fn local_start(words: &[String]) -> usize {
    let mut start = 0;
    for _ in 0..DEEPEST {
        let rest = &words[start..];
        match step(rest) {
            Some(Inner::Command(inner))
                if !rest.first().is_some_and(|name| is_remote_runner(name)) =>
            {
                start = words.len() - inner.len();
            }
            _ => break,
        }
    }
    start
}

/// Whether `words` run a program that runs its command on another machine or in another file
/// system, such as `sudo docker exec web ls`.
pub fn runs_remotely(words: &[String]) -> bool {
    words.get(local_start(words)).is_some_and(|name| is_remote_runner(name))
}

fn is_remote_runner(name: &str) -> bool {
    REMOTE_RUNNERS.contains(&base_name(name).as_str())
}

/// Returns the innermost command of `words`.
pub fn of(words: &[String], redirects: &[Redirect]) -> Inner {
    let mut words = words.to_vec();
    for _ in 0..DEEPEST {
        match step(&words) {
            Some(Inner::Command(inner)) => words = inner,
            Some(Inner::Script(script)) => return Inner::Script(script),
            None => break,
        }
    }
    match script_on_input(&words, redirects) {
        Some(script) => Inner::Script(script),
        None => Inner::Command(words),
    }
}

/// Returns the command that `find` or `fd` runs on the files that it finds. Returns `None` if
/// `words` run another program, or if `find` or `fd` runs no command.
pub fn command_of_find(words: &[String]) -> Option<&[String]> {
    let (name, arguments) = words.split_first()?;
    let options: &[&str] = match base_name(name).as_str() {
        "find" | "gfind" => &["-exec", "-execdir", "-ok", "-okdir"],
        "fd" | "fdfind" => &["-x", "--exec", "-X", "--exec-batch"],
        _ => return None,
    };
    let runs = |word: &String| options.contains(&word.as_str());
    let command = &arguments[arguments.iter().position(runs)? + 1..];
    let length = command.iter().take_while(|word| *word != ";" && *word != "+").count();
    Some(&command[..length])
}

fn step(words: &[String]) -> Option<Inner> {
    let (name, rest) = words.split_first()?;
    let program = Program::named(name)?;
    let args = Args::of(rest, &program.takes);
    let base = base_name(name);
    if let Some(script) = script_of(&base, rest) {
        return Some(Inner::Script(script));
    }
    if let Some(inner) = module_of(&base, rest) {
        return Some(Inner::Command(inner));
    }
    let (depth, skip) = program.leads_to_command(&args)?;
    let begins = match depth + skip {
        0 => 0,
        passed => args.place(passed - 1)? + 1,
    };
    let inner = without_options(&rest[begins..], &program.takes);
    let first = inner.first()?;
    if first.contains(char::is_whitespace) && inner.len() == 1 {
        return Some(Inner::Script(first.clone()));
    }
    Some(Inner::Command(inner.to_vec()))
}

/// Returns the script in the arguments: `bash -lc '...'`, `eval ...`, `nix-shell --run '...'`.
fn script_of(name: &str, rest: &[String]) -> Option<String> {
    match name {
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" | "ash" => {
            let gives_script = |word: &String| {
                word.starts_with('-')
                    && !word.starts_with("--")
                    && word.len() <= 5
                    && word.ends_with('c')
            };
            let options = shell_options(rest);
            let at = options.iter().position(gives_script).filter(|_| !runs_nothing(options))?;
            rest.get(at + 1).cloned()
        }
        "nix-shell" | "nix" | "devbox" => {
            let at = rest
                .iter()
                .position(|word| word == "--run" || word == "--command" || word == "-c")?;
            Some(rest[at + 1..].join(" "))
        }
        "eval" => Some(rest.join(" ")),
        _ => None,
    }
}

/// Returns the options of a shell, with their values. The word after them is a script file.
fn shell_options(arguments: &[String]) -> &[String] {
    // `-euo pipefail` has a value, as `-o` does.
    let has_value = |word: &str| match word.strip_prefix("--") {
        Some(long) => matches!(long, "rcfile" | "init-file"),
        None => word.ends_with(['o', 'O']),
    };
    let mut count = 0;
    while let Some(word) = arguments.get(count).filter(|word| word.starts_with(['-', '+'])) {
        count += if has_value(word) { 2 } else { 1 };
    }
    &arguments[..count.min(arguments.len())]
}

/// Whether a shell with these options only checks the syntax of its script, or ignores the script.
fn runs_nothing(options: &[String]) -> bool {
    options.iter().any(|option| match option.strip_prefix("--") {
        Some(long) => {
            matches!(long, "version" | "help" | "dump-strings" | "dump-po-strings" | "no-execute")
        }
        None => {
            option == "-D" || option == "noexec" || option.starts_with('-') && option.contains('n')
        }
    })
}

/// Returns the here document or here string that a shell runs as its script: `bash <<EOF`.
fn script_on_input(words: &[String], redirects: &[Redirect]) -> Option<String> {
    let [shell, arguments @ ..] = words else { return None };
    let options = shell_options(arguments);
    let reads_input = matches!(base_name(shell).as_str(), "bash" | "sh" | "zsh" | "dash")
        && !runs_nothing(options)
        && (options.len() == arguments.len() || options.iter().any(|option| option == "-s"));
    reads_input.then_some(())?;
    redirects.iter().find_map(|redirect| match redirect {
        Redirect::Text(text) => Some(text.clone()),
        _ => None,
    })
}

/// Returns the module that `python -m` or `coverage run -m` runs, with its arguments, if the module
/// is a known program: for example `pytest -x` of `python -m pytest -x`.
fn module_of(name: &str, rest: &[String]) -> Option<Vec<String>> {
    if !matches!(name, "python" | "python3" | "py" | "python2" | "pypy3" | "coverage") {
        return None;
    }
    let at = rest
        .iter()
        .take_while(|word| word.starts_with('-') || *word == "run")
        .position(|word| word == "-m")?;
    let inner = rest.get(at + 1..)?;
    let module = inner.first()?;
    Program::named(module).map(|_| inner.to_vec())
}

/// Returns `words` without the options, the values of the options and the assignments that precede
/// the command.
fn without_options<'w>(words: &'w [String], takes: &[String]) -> &'w [String] {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        if word == "--" {
            return after;
        }
        let is_option = word.len() > 1 && word.starts_with('-');
        let is_assignment = !is_option
            && word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty()
                    && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
            });
        if !is_option && !is_assignment {
            return rest;
        }
        let has_value = is_option && takes.contains(word);
        rest = if has_value { after.get(1..).unwrap_or_default() } else { after };
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_inside_wrappers_is_found() {
        for (line, inner) in [
            ("sudo -u web env A=1 B=2 timeout -s KILL 60 nice -n 5 cargo test", "cargo test"),
            ("xargs -0 -I {} rm {}", "rm {}"),
            ("uv run --with pytest pytest -x", "pytest -x"),
            ("npx --yes eslint@9 src", "eslint@9 src"),
            ("python3 -m pytest tests", "pytest tests"),
            ("python3 -m mine.own", "python3 -m mine.own"),
            ("docker exec -it -u root api-1 pytest -x", "pytest -x"),
            ("docker compose -f c.yml exec api ls -l", "ls -l"),
            ("docker run --rm -v /a:/b -e X=1 image:1 make test", "make test"),
            ("docker run image", "docker run image"),
            ("kubectl exec -n prod pod/api -c web -- cat /etc/hosts", "cat /etc/hosts"),
            ("ssh -p 22 me@host uptime", "uptime"),
            ("mise exec node@20 -- node a.js", "node@20 -- node a.js"),
            ("poetry run python -m mypy src", "mypy src"),
            ("bundle exec rspec", "rspec"),
            ("nohup ./server --port 1", "./server --port 1"),
            ("rtk bun run lint", "rtk bun run lint"),
            ("sudo", "sudo"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let Inner::Command(found) = of(&words, &[]) else { panic!("{line} is a script") };
            assert_eq!(found.join(" "), inner, "{line}");
        }
    }

    #[test]
    fn a_command_on_another_machine_is_not_local() {
        for (line, inner) in [
            ("xargs -n1 cargo test", "cargo test"),
            ("sudo -u web xargs -0 rm -f", "rm -f"),
            ("sudo ssh me@host rm -rf x", "ssh me@host rm -rf x"),
            ("docker exec api-1 rm x", "docker exec api-1 rm x"),
            ("xargs", "xargs"),
            ("env", "env"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(words[local_start(&words)..].join(" "), inner, "{line}");
            assert_eq!(runs_remotely(&words), inner.starts_with(['s', 'd']), "{line}");
        }
        assert_eq!(local_start(&[]), 0);
    }

    #[test]
    fn the_command_that_runs_on_found_files_is_read() {
        for (line, command) in [
            ("find . -name a -exec rm {} ;", Some("rm {}")),
            ("find . -execdir rm {} + -print", Some("rm {}")),
            ("find . -ok rm {} ;", Some("rm {}")),
            ("find . -okdir rm {} ;", Some("rm {}")),
            ("fd -e py -x rm", Some("rm")),
            ("fd -e py --exec rm {} ; -H", Some("rm {}")),
            ("fdfind -e py -X rm", Some("rm")),
            ("fd -e py --exec-batch rm", Some("rm")),
            // BSD's `find -X` and `find -x` only change the search.
            ("find -X . -name rm", None),
            ("find -x . -name rm", None),
            ("fd -exec rm", None),
            ("find . -name okdir", None),
            ("grep -exec rm a", None),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let found = command_of_find(&words).map(|words| words.join(" "));
            assert_eq!(found.as_deref(), command, "{line}");
        }
    }

    #[test]
    fn scripts_in_arguments_are_found() {
        let of_words = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            of(&words, &[])
        };
        for words in [
            &["bash", "-lc", "ls | wc"][..],
            &["ssh", "host", "ls | wc"],
            &["sudo", "sh", "-c", "ls | wc"],
            &["watch", "-n", "1", "ls | wc"],
            &["eval", "ls", "|", "wc"],
        ] {
            assert_eq!(of_words(words), Inner::Script("ls | wc".to_owned()), "{words:?}");
        }
    }

    #[test]
    fn only_the_options_before_a_script_file_give_a_script() {
        for (line, script) in [
            ("bash -euo pipefail -c ls", Some("ls")),
            ("bash -O extglob --norc -c ls", Some("ls")),
            ("bash --rcfile my.sh -c ls", Some("ls")),
            ("bash +x -c ls", Some("ls")),
            ("bash --norc --noprofile -c ls", Some("ls")),
            ("bash +n -O nullglob -c ls", Some("ls")),
            ("bash -nc ls", None),
            ("bash -n -c ls", None),
            ("bash -o noexec -c ls", None),
            ("bash --version -c ls", None),
            ("bash build.sh -c Release", None),
            ("bash -x build.sh -c Release", None),
            ("sh run.sh -exec x", None),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let wanted = script.map_or_else(
                || Inner::Command(words.clone()),
                |script| Inner::Script(script.to_owned()),
            );
            assert_eq!(of(&words, &[]), wanted, "{line}");
        }
    }

    #[test]
    fn a_shell_without_a_script_file_reads_its_input() {
        for (line, reads) in [
            ("bash", true),
            ("bash -", true),
            ("bash -x", true),
            ("bash -euo pipefail", true),
            ("bash -o errexit -l", true),
            ("bash -s -- prod", true),
            ("bash --norc -O nullglob", true),
            ("bash -n", false),
            ("bash -xn", false),
            ("bash --version", false),
            ("bash build.sh", false),
            ("bash -x build.sh", false),
            ("bash -o errexit build.sh -s", false),
            ("python3 -", false),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let found = of(&words, &[Redirect::Text("make".to_owned())]);
            assert_eq!(found == Inner::Script("make".to_owned()), reads, "{line}");
        }
    }
}
