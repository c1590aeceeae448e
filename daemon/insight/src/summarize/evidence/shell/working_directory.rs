//! Follows the directory of a shell from command to command. A subshell changes only its own copy.

use std::{iter, mem};

use crate::{
    summarize::evidence::{
        bounds,
        shell::{
            kind::Invocation,
            words::{SimpleCommand, Word},
        },
    },
    text::kept,
};

/// Maximum number of nested subshells that are followed.
const MAX_DEPTH: usize = 64;
/// The name of an unknown directory: the target of `cd -` before the first change, and of `popd` if
/// the stack is empty. The names of all unknown directories begin with `$`.
pub(super) const PREVIOUS_DIRECTORY: &str = "$OLDPWD";

pub(super) struct WorkingDirectory {
    shell: ShellDirectories,
    /// The directories of the shells around the current shell, the outermost first.
    outer: Vec<ShellDirectories>,
}

#[derive(Clone)]
struct ShellDirectories {
    current: String,
    /// The directory to which `cd -` returns.
    previous: String,
    /// The directories to which `popd` returns, the next one last.
    pushed: Vec<String>,
}

impl WorkingDirectory {
    /// Begins in `directory`. If it is empty, relative paths stay relative.
    pub(super) fn new(directory: &str) -> WorkingDirectory {
        let (current, previous) = (directory.to_owned(), PREVIOUS_DIRECTORY.to_owned());
        let shell = ShellDirectories { current, previous, pushed: Vec::new() };
        WorkingDirectory { shell, outer: Vec::new() }
    }

    /// Returns the current directory. The name of an unknown directory begins with `$`.
    pub(super) fn current(&self) -> &str {
        &self.shell.current
    }

    pub(super) fn is_known(&self) -> bool {
        !self.shell.current.starts_with('$')
    }

    /// Ends and begins the subshells before `command`.
    pub(super) fn advance_to(&mut self, command: &SimpleCommand) {
        for _ in 0..command.subshells.ended {
            if let Some(outer) = self.outer.pop() {
                self.shell = outer;
            }
        }
        let begun = command.subshells.begun.min(MAX_DEPTH.saturating_sub(self.outer.len()));
        self.outer.extend(iter::repeat_n(self.shell.clone(), begun));
    }

    /// Runs `command` if it changes the directory. Returns whether it does.
    pub(super) fn run(&mut self, command: &SimpleCommand) -> bool {
        let Some(invocation) = Invocation::of(command) else { return false };
        let program = invocation.program;
        let mut arguments = command.words.iter().skip_while(|word| word.text != program).skip(1);
        let is_folder = |word: &&Word| word.text == "-" || !word.text.starts_with('-');
        let folder = arguments.find(is_folder);
        match (program, folder) {
            ("cd", folder) => self.shell.enter(folder),
            ("pushd", Some(folder)) if !folder.text.starts_with('+') => {
                self.shell.pushed.push(self.shell.current.clone());
                self.shell.enter(Some(folder));
            }
            ("pushd", None) => {
                let next = self.shell.popped();
                self.shell.pushed.push(self.shell.current.clone());
                self.shell.move_to(next);
            }
            ("popd", None) => {
                let next = self.shell.popped();
                self.shell.move_to(next);
            }
            // `pushd +2` rotates the stack.
            ("pushd" | "popd", Some(_)) => self.shell.move_to(PREVIOUS_DIRECTORY.to_owned()),
            _ => return false,
        }
        true
    }
}

impl ShellDirectories {
    /// Runs `cd` with this folder.
    fn enter(&mut self, folder: Option<&Word>) {
        let next = match folder {
            None => "~".to_owned(),
            Some(folder) if folder.text == "-" => self.previous.clone(),
            Some(folder) if folder.is_plain() => resolve(&self.current, &folder.text),
            Some(folder) => format!("${}", folder.text.trim_start_matches('$')),
        };
        self.move_to(next);
    }

    fn move_to(&mut self, next: String) {
        self.previous = mem::replace(&mut self.current, next);
    }

    fn popped(&mut self) -> String {
        self.pushed.pop().unwrap_or_else(|| PREVIOUS_DIRECTORY.to_owned())
    }
}

/// Returns `path` resolved against `directory`, without `.` and `..`.
pub(in crate::summarize::evidence) fn resolve(directory: &str, path: &str) -> String {
    let path = if is_windows_path(directory) || is_windows_path(path) {
        &uniform_windows_path(path)
    } else {
        path
    };
    let directory =
        if is_windows_path(directory) { &uniform_windows_path(directory) } else { directory };
    let absolute = path.starts_with(['/', '~', '$']) || is_windows_path(path);
    let joined = if absolute || directory.is_empty() {
        path.to_owned()
    } else {
        format!("{}/{path}", directory.trim_end_matches('/'))
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            "" if !parts.is_empty() => {}
            part => parts.push(part),
        }
    }
    match parts.join("/") {
        path if path.is_empty() && joined.starts_with('/') => "/".to_owned(),
        path => kept(&path, bounds::PATH),
    }
}

/// Whether a path begins with a drive letter.
fn is_windows_path(path: &str) -> bool {
    path.get(1..2) == Some(":") && path.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns the uniform spelling of a path on Windows, where `D:\a`, `d:/a` and `/d/a` are the same
/// path.
fn uniform_windows_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut letters = path.strip_prefix('/').unwrap_or(&path).chars();
    let (letter, rest) = (letters.next(), letters.as_str());
    let rest = if path.starts_with('/') { Some(rest) } else { rest.strip_prefix(':') };
    match (letter.filter(char::is_ascii_alphabetic), rest) {
        (Some(letter), Some(rest)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}:{rest}", letter.to_ascii_uppercase())
        }
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::evidence::shell::words::simple_commands;

    #[test]
    fn every_change_of_the_directory_is_followed() {
        for (line, wanted) in [
            ("cd web", "/app/web"),
            ("cd web && cd src", "/app/web/src"),
            ("cd web; cd ..", "/app"),
            ("cd /srv/x && cd -", "/app"),
            ("cd web && cd /srv && cd - && cd -", "/srv"),
            ("cd", "~"),
            ("cd -P web", "/app/web"),
            ("cd $HOME/x && cd y", "$HOME/x/y"),
            ("cd web-$X", "$web-$X"),
            ("cd web-$X && cd -", "/app"),
            ("cd -", "$OLDPWD"),
            ("(cd web && ls); pwd", "/app"),
            ("(cd web; cd /srv; cd -", "/app/web"),
            ("pushd web && pushd src && popd", "/app/web"),
            ("pushd web; popd; pwd", "/app"),
            ("pushd web; pushd; pwd", "/app"),
            ("pushd +1", "$OLDPWD"),
            ("popd", "$OLDPWD"),
        ] {
            let mut directory = WorkingDirectory::new("/app");
            for command in &simple_commands(line) {
                directory.advance_to(command);
                directory.run(command);
            }
            assert_eq!(directory.current(), wanted, "{line}");
            assert_eq!(directory.is_known(), !wanted.starts_with('$'), "{line}");
        }
    }

    #[test]
    fn the_root_folder_stays_absolute() {
        assert_eq!(resolve("/app", "/"), "/");
        assert_eq!(resolve("/", "etc/hosts"), "/etc/hosts");
        assert_eq!(resolve("/app", ".."), "/");
    }

    #[test]
    fn a_path_on_windows_has_one_spelling() {
        for path in ["D:\\a\\src\\x.rs", "d:/a/src/x.rs", "/d/a/src/x.rs", "src\\x.rs"] {
            assert_eq!(resolve("D:\\a", path), "D:/a/src/x.rs");
        }
        assert_eq!(resolve("/home/a", "d/x.rs"), "/home/a/d/x.rs");
        assert_eq!(resolve("/home/a", "/d/x.rs"), "/d/x.rs");
    }
}
