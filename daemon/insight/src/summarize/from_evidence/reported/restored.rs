//! Finds changes of files that git or the user took back.

use crate::{
    model::{
        evidence::{Evidence, FileWork, GitStep},
        project::Project,
        transcript::Origin,
    },
    text::{pattern, words},
};

/// Number of bytes at the start of a prompt that are searched for what the user took back.
const PROMPT_START_BYTES: usize = 300;

/// Whether git restored the file at `path` after its last change, or the user reported that this
/// change or all changes were reverted.
pub(crate) fn is_restored(evidence: &Evidence, path: &str, work: &FileWork) -> bool {
    // `git checkout -f` counts as a switch of the branch.
    let restorations = evidence.git_events.iter().filter(|event| {
        matches!(event.step, GitStep::Reset | GitStep::Switch | GitStep::Stash)
            && event.succeeded
            && event.origin.follows(work.last)
    });
    // A commit between the change and the command contains the change, and git does not restore
    // files that it does not track.
    let is_committed = |at: Origin| {
        let mut commits = evidence.commits.iter();
        commits.any(|commit| commit.origin.follows(work.last) && at.follows(commit.origin))
    };
    // The event is at the result of the command.
    let restores_it = |at: Origin| {
        let later = evidence.commands.iter().filter(|run| run.origin.follows(work.last));
        let mut until = later.filter(|run| run.outcome.succeeded() && !run.origin.follows(at));
        until.any(|run| restores(&run.command, path))
    };
    let mut restorations = restorations.map(|event| event.origin);
    let later = evidence.prompts.iter().filter(|prompt| prompt.origin.follows(work.last));
    !work.created && restorations.any(|at| !is_committed(at) && restores_it(at))
        || later.map(|prompt| &prompt.text).any(|prompt| is_taken_back(prompt, path))
}

/// Whether a command line restores the file at `path`.
fn restores(command: &str, path: &str) -> bool {
    pattern!(r"\bgit stash(?: push)?(?: -\S+)* ?(?:&&|;) ?git stash drop\b").is_match(command)
        || command.split(['\n', ';', '&', '|']).any(|part| restores_in_part(part, path))
}

/// Whether one command of a command line restores the file at `path`.
fn restores_in_part(part: &str, path: &str) -> bool {
    let words = part.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')']));
    let mut words = words.skip_while(|word| *word != "git").skip(1).peekable();
    while let Some(option) = words.next_if(|word| word.starts_with('-')) {
        let value = if matches!(option, "-C" | "-c") { words.next() } else { None };
        let is_folder = option == "-C" && value.is_some_and(|folder| folder.starts_with('/'));
        if is_folder && value.is_some_and(|folder| !Project::new(folder).contains(path)) {
            return false;
        }
    }
    let subcommand = words.next();
    let arguments: Vec<&str> = words.collect();
    let has = |all: &[&str]| arguments.iter().any(|argument| all.contains(argument));
    match subcommand {
        Some("reset") => has(&["--hard"]),
        Some("checkout") => checkout_restores(&arguments, path),
        // Without `--worktree`, only the index is restored.
        Some("restore") if has(&["--staged", "-S"]) && !has(&["--worktree", "-W"]) => false,
        Some("restore") => {
            let is_value = |at: usize| at > 0 && matches!(arguments[at - 1], "--source" | "-s");
            let mut paths = arguments.iter().enumerate().filter(|(at, _)| !is_value(*at));
            paths.any(|(_, name)| is_restored_by(name, path, true))
        }
        _ => false,
    }
}

/// Whether `git checkout` with these arguments restores the file at `path`.
fn checkout_restores(arguments: &[&str], path: &str) -> bool {
    let has = |all: &[&str]| arguments.iter().any(|argument| all.contains(argument));
    if has(&["-b", "-B", "--orphan", "-p", "--patch", "--ours", "--theirs"]) {
        return false;
    }
    if let Some(at) = arguments.iter().position(|argument| *argument == "--") {
        return arguments[at + 1..].iter().any(|name| is_restored_by(name, path, true));
    }
    let mut operands = arguments.iter().filter(|argument| !argument.starts_with('-')).peekable();
    match operands.peek() {
        None => has(&["-f", "--force"]),
        Some(_) => operands.any(|name| is_restored_by(name, path, false)),
    }
}

/// Whether an operand of git means the file at `path`, its folder or all files. An operand without
/// a dot may be a branch, unless it `must_be_path`.
fn is_restored_by(name: &str, path: &str, must_be_path: bool) -> bool {
    if matches!(name, "." | "./" | ":/") {
        return true;
    }
    let name = name.strip_prefix("./").unwrap_or(name);
    let folder = name.trim_end_matches('/');
    let is_folder = must_be_path && (name.ends_with('/') || !name.contains('.'));
    name.contains('.') && is_name_of(name, path)
        || is_folder
            && !folder.is_empty()
            && (is_name_of(name, path)
                || path.starts_with(&format!("{folder}/"))
                || path.contains(&format!("/{folder}/")))
}

/// Whether `name`, as it is written in a text or in a command, means the file at `path`.
pub(crate) fn is_name_of(name: &str, path: &str) -> bool {
    let name = name.trim_start_matches("./").trim_start_matches('/');
    path.strip_suffix(name).is_some_and(|folder| folder.is_empty() || folder.ends_with(['/', '\\']))
}

/// Whether a prompt says that the user took back all changes or those of the file at `path`,
/// for example `I reverted your changes in src/list.rs`. `I reverted your last change` names no
/// file, so it takes back none.
fn is_taken_back(prompt: &str, path: &str) -> bool {
    let start = &prompt[..prompt.floor_char_boundary(PROMPT_START_BYTES)];
    let Some(found) = pattern!(
        r"(?i)\bI(?:'ve|’ve| have)? (?:just |already |now )?(?:(reverted|discarded|undone|undid|rolled back)|removed|deleted|dropped) (?:your|the|all|those|these)(?: of)?(?: your| the| those| these)?((?: [\w./-]+){1,8})"
    )
    .captures(start) else {
        return false;
    };
    let object = found[2].split(". ").next().unwrap_or_default().trim().trim_end_matches('.');
    let changes = pattern!(
        r"(?i)^(?:((?:new|last|latest|recent) (?:changes?|edits?|work)|change|edit)|changes|edits|work|(it|that|this|them))\b(?: (?:that )?you (?:have |had )?(?:made|did))? ?"
    );
    let takes_back_work = found.get(1).is_some();
    let Some(all) = changes.captures(object) else {
        return is_object(object, path, takes_back_work);
    };
    // In `I deleted all of them`, the pronoun may mean things at run time.
    if all.get(2).is_some() && !takes_back_work {
        return false;
    }
    let is_limited = all.get(1).is_some()
        || pattern!(r"(?i)\b(?:except|apart from|but not|other than)\b").is_match(start);
    let rest = &object[all[0].len()..];
    match pattern!(r"(?i)^(?:in|to|of|on) (?:the |your )?").find(rest) {
        Some(place) => is_object(&rest[place.end()..], path, true),
        None => {
            !is_limited
                && pattern!(r"(?i)^(?:$|(?:because|but|so|as|since|again|and|now|they|it)\b)")
                    .is_match(rest)
        }
    }
}

/// Whether what the user took back is the file at `path`. A bare noun such as `the cache` may mean a
/// thing at run time, unless `takes_back_work` or a word such as `module` follows.
fn is_object(object: &str, path: &str, takes_back_work: bool) -> bool {
    let stop = pattern!(
        r"(?i) (?:but|and|so|as|because|since|from|in|to|on|for|again|except|which|that)(?: |$)"
    );
    let object = &object[..stop.find(object).map_or(object.len(), |found| found.start())];
    let is_path = |word: &&str| word.contains(['/', '.']);
    let mut paths = object.split(' ').filter(is_path).peekable();
    if paths.peek().is_some() {
        return paths.any(|name| is_restored_by(name, path, true));
    }
    // The stems of words for files.
    let is_kind = |word: &str| {
        matches!(word, "new" | "fil" | "file" | "script" | "modul" | "module" | "component")
    };
    let names_file =
        pattern!(r"(?i)\b(?:files?|scripts?|docs?|modules?|components?)\b").is_match(object);
    let named: Vec<String> = words(object).into_iter().filter(|word| !is_kind(word)).collect();
    let of_path = words(path);
    (takes_back_work || names_file)
        && !named.is_empty()
        && named.iter().all(|word| of_path.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_restores_the_files_that_it_names() {
        for (command, path, wanted) in [
            ("git checkout -- src/list.rs src/page.rs", "/app/src/page.rs", true),
            ("git checkout HEAD src/list.rs", "/app/src/list.rs", true),
            ("git checkout origin/main -- src/list.rs", "/app/src/list.rs", true),
            ("git checkout -- ./src/list.rs", "/app/src/list.rs", true),
            ("git restore --source=HEAD src/list.rs src/page.rs", "/app/src/list.rs", true),
            ("git restore --source HEAD src/list.rs", "/app/src/list.rs", true),
            ("git checkout HEAD -- .", "/app/src/list.rs", true),
            ("git checkout .", "/app/src/list.rs", true),
            ("cd /app && git -C /home/ada/app checkout -- .", "/home/ada/app/src/list.rs", true),
            ("git -C /home/ada/app reset --hard", "/home/ada/app/src/list.rs", true),
            ("git -C /home/ada/app checkout .", "/home/ada/app-old/src/list.rs", false),
            ("git -C /home/ada/app/ checkout .", "/home/ada/app/src/list.rs", true),
            ("git reset --hard HEAD", "/app/src/list.rs", true),
            ("git restore --staged --worktree .", "/app/src/list.rs", true),
            ("git checkout -- src/", "/app/src/list.rs", true),
            ("git restore src", "/app/src/list.rs", true),
            ("git checkout -f", "/app/src/list.rs", true),
            ("git stash && git stash drop", "/app/src/list.rs", true),
            ("git checkout -- \"src/list.rs\"", "/app/src/list.rs", true),
            ("git checkout -- src/", "/app/tests/list.rs", false),
            ("git checkout -- list.rs", "/app/src/old_list.rs", false),
            ("git restore --staged .", "/app/src/list.rs", false),
            ("git restore --staged src/list.rs", "/app/src/list.rs", false),
            ("git checkout src", "/app/src/list.rs", false),
            ("git checkout -b src/list.rs", "/app/src/list.rs", false),
            ("git checkout main", "/app/src/list.rs", false),
            ("git stash", "/app/src/list.rs", false),
            ("git stash && cargo test && git stash pop", "/app/src/list.rs", false),
            ("git reset HEAD src/list.rs", "/app/src/list.rs", false),
        ] {
            assert_eq!(restores(command, path), wanted, "{command}");
        }
    }
}
