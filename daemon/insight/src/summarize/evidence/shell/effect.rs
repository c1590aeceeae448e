//! Finds the effects on files that are certain from the text of a command line: removals, moves,
//! written files and edits in place.

use serde::{Deserialize, Serialize};

use crate::{
    lang::paths,
    summarize::evidence::shell::{
        kind::{Invocation, edits_in_place},
        words::{Operator, SimpleCommand, Word},
        working_directory::{WorkingDirectory, resolve},
    },
    text::pattern,
};

/// Maximum number of effects of one command line.
const EFFECTS: usize = 12;

/// An effect of a shell command on a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::summarize::evidence) enum Effect {
    /// The file was removed, or the folder with its content.
    Remove(String),
    Move {
        from: String,
        to: String,
    },
    /// Output was written to the file, or appended to it.
    Write {
        path: String,
        /// Number of written lines; 0 if the text is not in the command line.
        lines: u32,
    },
    /// The file was edited in place.
    Edit(String),
}

/// Returns the effects of `commands`, which run one after the other from `directory`.
pub(super) fn of(commands: &[SimpleCommand], directory: &str) -> Vec<Effect> {
    let project = directory;
    let mut directory = WorkingDirectory::new(directory);
    let mut effects = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        // A command after `||` may not have run.
        let conditional = index > 0 && commands[index - 1].joint == Operator::Or;
        directory.advance_to(command);
        if directory.run(command) || conditional || !directory.is_known() {
            continue;
        }
        if let Some(invocation) = Invocation::of(command) {
            add(command, &invocation, project, directory.current(), &mut effects);
        }
    }
    effects.truncate(EFFECTS);
    effects
}

fn add(
    command: &SimpleCommand,
    invocation: &Invocation<'_>,
    project: &str,
    directory: &str,
    effects: &mut Vec<Effect>,
) {
    // Devices and scratch files are not part of the work.
    let is_of_work = |path: &str| !paths::is_scratch_outside([project], path);
    let is_file_of_work = |word: &Word| word.is_plain() && is_of_work(&word.text);
    for target in command.writes.iter().filter(|word| is_file_of_work(word)) {
        let path = resolve(directory, &target.text);
        effects.push(Effect::Write { path, lines: command.document_lines });
    }
    let (program, first) = (invocation.program, invocation.operand(0));
    // With options before the subcommand, git may work in another folder.
    if program == "git" && invocation.arguments.len() + 1 != command.words.len() {
        return;
    }
    let operands: Vec<&Word> = command
        .words
        .iter()
        .skip_while(|word| word.text.rsplit('/').next() != Some(program))
        .skip(if program == "git" { 2 } else { 1 })
        .filter(|word| !word.text.starts_with('-'))
        .collect();
    match (program, first) {
        // The file stays on disk.
        ("git", Some("rm")) if invocation.arguments.contains(&"--cached") => {}
        ("rm", _) | ("git", Some("rm")) => {
            let files = operands.iter().filter(|word| is_file_of_work(word));
            effects.extend(files.map(|word| Effect::Remove(resolve(directory, &word.text))));
        }
        // The target is the value of the option, not the last operand.
        ("mv", _) if has_target_option(invocation) => {}
        ("mv", _) | ("git", Some("mv"))
            if operands.last().is_some_and(|target| is_file_of_work(target)) =>
        {
            effects.extend(moves(&operands, directory));
        }
        ("sed", _) if invocation.arguments.iter().any(|word| edits_in_place(word)) => {
            let files = files_of_sed(invocation, &operands);
            let files = files.into_iter().filter(|word| word.is_plain());
            effects.extend(files.map(|word| Effect::Edit(resolve(directory, &word.text))));
        }
        ("python" | "python3", _) if invocation.arguments.contains(&"-c") => {
            let files = files_that_python_writes(&operands).into_iter();
            let files = files.filter(|file| is_of_work(file));
            effects.extend(files.map(|file| Effect::Edit(resolve(directory, &file))));
        }
        ("tee", _) => {
            let files = operands.iter().filter(|word| is_file_of_work(word));
            effects.extend(files.map(|word| Effect::Write {
                path: resolve(directory, &word.text),
                lines: command.document_lines,
            }));
        }
        _ => {}
    }
}

/// Returns the files that the script of a call such as `python -c SCRIPT` opens for writing.
fn files_that_python_writes(operands: &[&Word]) -> Vec<String> {
    let script = operands.first().filter(|word| !word.expands);
    let opened = pattern!(r#"open\(\s*r?['"]([^'"${}]+)['"]\s*,\s*['"][wa]\+?['"]"#);
    let files = script.into_iter().flat_map(|word| opened.captures_iter(&word.text));
    files.map(|file| file[1].to_owned()).collect()
}

/// Returns the files that a call of sed reads: its operands without the script.
fn files_of_sed<'w>(invocation: &Invocation<'_>, operands: &[&'w Word]) -> Vec<&'w Word> {
    let is_script = |word: &&str| {
        matches!(*word, "-e" | "-f" | "--expression" | "--file")
            || word.starts_with("--expression=")
    };
    let has_option = invocation.arguments.iter().any(is_script);
    let scripts: Vec<&str> = invocation
        .arguments
        .windows(2)
        .filter(|pair| is_script(&pair[0]) && !pair[0].contains('='))
        .map(|pair| pair[1])
        .collect();
    // BSD's sed requires a suffix after -i, often an empty one.
    let is_file = |word: &&Word| !word.text.is_empty() && !scripts.contains(&word.text.as_str());
    operands.iter().copied().filter(is_file).skip(usize::from(!has_option)).collect()
}

/// Whether a call of mv gives the target folder by an option.
fn has_target_option(invocation: &Invocation<'_>) -> bool {
    let is_option = |word: &&str| *word == "-t" || word.starts_with("--target-directory");
    invocation.arguments.iter().any(is_option)
}

/// Returns the moves to the last operand, the target. The target of several sources is a folder.
fn moves(operands: &[&Word], directory: &str) -> Vec<Effect> {
    let Some((target, sources)) = operands.split_last() else { return Vec::new() };
    let into_folder = sources.len() > 1 || target.text.ends_with('/') || target.text == ".";
    let folder = resolve(directory, &target.text);
    let plain = sources.iter().filter(|word| word.is_plain());
    plain
        .map(|word| {
            let from = resolve(directory, &word.text);
            let name = from.rsplit('/').next().unwrap_or_default();
            let to = if into_folder {
                format!("{}/{name}", folder.trim_end_matches('/'))
            } else {
                folder.clone()
            };
            Effect::Move { from, to }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::evidence::shell::words::simple_commands;

    fn effects(line: &str) -> Vec<Effect> {
        of(&simple_commands(line), "/app")
    }

    #[test]
    fn a_redirection_of_both_outputs_writes_a_file() {
        for line in ["make &> out.log", "make &>> out.log"] {
            let found = effects(line);
            let is_write =
                matches!(&found[..], [Effect::Write { path, .. }] if path == "/app/out.log");
            assert!(is_write, "{line}: {found:?}");
        }
    }

    #[test]
    fn absolute_paths_in_a_project_in_a_folder_of_temporary_files_are_found() {
        let of_line = |line: &str| of(&simple_commands(line), "/tmp/project").len();
        for line in [
            "echo x > /tmp/project/a.txt",
            "rm /tmp/project/a.txt",
            "mv a.txt /tmp/project/b.txt",
            "make | tee /tmp/project/a.log",
            "cd src && rm /tmp/project/a.txt",
            "python3 -c \"open('/tmp/project/a.txt', 'w')\"",
        ] {
            assert_eq!((of_line(line), effects(line).len()), (1, 0), "{line}");
        }
        assert_eq!(of_line("echo x > /tmp/other/a.txt 2> /dev/null"), 0);
    }

    #[test]
    fn certain_effects_are_found() {
        let moved =
            |from: &str, to: &str| Effect::Move { from: from.to_owned(), to: to.to_owned() };
        for (line, wanted) in [
            (
                "rm -f a.txt ./b/../c.txt",
                vec![
                    Effect::Remove("/app/a.txt".to_owned()),
                    Effect::Remove("/app/c.txt".to_owned()),
                ],
            ),
            (
                "git ls-files '*.o' | xargs rm -f a.o $X",
                vec![Effect::Remove("/app/a.o".to_owned())],
            ),
            ("git rm --cached .env", vec![]),
            ("mv -t docs a b", vec![]),
            ("git mv src/a.rs src/b.rs", vec![moved("/app/src/a.rs", "/app/src/b.rs")]),
            (
                "cd sub && mv x y docs/",
                vec![
                    moved("/app/sub/x", "/app/sub/docs/x"),
                    moved("/app/sub/y", "/app/sub/docs/y"),
                ],
            ),
            (
                "(cd sub && make && rm x); (cd other; rm y; (cd z)); rm a.txt",
                ["sub/x", "other/y", "a.txt"]
                    .map(|path| Effect::Remove(format!("/app/{path}")))
                    .to_vec(),
            ),
            (
                "cat > note.md <<EOF\none\ntwo\nEOF",
                vec![Effect::Write { path: "/app/note.md".to_owned(), lines: 2 }],
            ),
            ("cd sub && make && cd - && rm a.txt", vec![Effect::Remove("/app/a.txt".to_owned())]),
            ("cd && rm a.txt", vec![Effect::Remove("~/a.txt".to_owned())]),
            ("cd -- sub && rm a.txt", vec![Effect::Remove("/app/sub/a.txt".to_owned())]),
            ("sed -i 's/a/b/' x.rs", vec![Effect::Edit("/app/x.rs".to_owned())]),
            ("sed --in-place 's/a/b/' x.rs", vec![Effect::Edit("/app/x.rs".to_owned())]),
            ("sed -Ei.old 's/a/b/' x.rs", vec![Effect::Edit("/app/x.rs".to_owned())]),
            (
                "python3 -c \"\nold = open('x.ts').read()\nopen('x.ts', 'w').write(old.replace('a', 'b'))\n\"",
                vec![Effect::Edit("/app/x.ts".to_owned())],
            ),
            ("sed -i -e 's/a/b/' -e 's/c/d/' x.rs", vec![Effect::Edit("/app/x.rs".to_owned())]),
            ("sed -i '' 's/a/b/' x.rs", vec![Effect::Edit("/app/x.rs".to_owned())]),
        ] {
            assert_eq!(effects(line), wanted, "{line}");
        }
    }

    #[test]
    fn uncertain_effects_are_ignored() {
        for line in [
            "rm -rf $DIR/*",
            "rm *.log",
            "echo x > /dev/null",
            "echo x > /tmp/y",
            "cd $X && rm a",
            "cd sub-$X && rm a",
            "cd - && rm a",
            "test -f a || rm b",
            "ls 2>&1",
            "echo 'rm a'",
        ] {
            assert_eq!(effects(line), [], "{line}");
        }
    }
}
