//! Removes the paths of the project and of home folders from a text that leaves the machine, and
//! redacts secrets again.

use crate::redact::Redactor;

/// Cleans the texts of one session.
pub struct TextCleaner<'c> {
    redactor: &'c Redactor,
    /// The folders of the session's project.
    project: &'c [String],
    /// The user's home folder, which need not be in one of [`HOME_PARENTS`].
    home: Option<&'c str>,
}

/// The folders that contain home folders. Claude Code also writes such a folder as `-home-`.
const HOME_PARENTS: &[&str] =
    &["/home/", "/Users/", "\\Users\\", "\\home\\", "\\\\Users\\\\", "-home-", "-Users-"];

impl<'c> TextCleaner<'c> {
    pub fn new(
        redactor: &'c Redactor,
        project: &'c [String],
        home: Option<&'c str>,
    ) -> TextCleaner<'c> {
        TextCleaner { redactor, project, home }
    }

    /// Returns a text for the shared graph. A space is added before each line feed, because the
    /// full-text index of FalkorDB does not separate words at a line feed.
    pub fn text(&self, text: &str) -> String {
        let mut clean = self.redactor.redact(text).text.into_owned();
        for folder in self.project {
            clean = without_folder(&clean, folder, ".");
        }
        if let Some(home) = self.home {
            clean = without_folder(&clean, home, "~");
        }
        let clean = without_homes(&clean);
        clean.replace(" \n", "\n").replace('\n', " \n").replace('\0', "")
    }

    /// Returns the text for the shared graph as one line.
    pub fn line(&self, text: &str) -> String {
        self.text(text).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Replaces `folder` by `short`. If `short` is `.`, paths in the folder become relative to the
/// folder.
fn without_folder(text: &str, folder: &str, short: &str) -> String {
    // A folder such as `/` or `/tmp` is not replaced, because it contains more than the project.
    if folder.matches(['/', '\\']).count() < 2 {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let (before, after) = (&rest[..at], &rest[at + folder.len()..]);
        let is_start = !before.ends_with(is_in_name) || ends_with_border(before);
        let is_end = !after.starts_with(is_in_name);
        clean.push_str(before);
        rest = after;
        match (is_start && is_end, after.strip_prefix(['/', '\\'])) {
            (true, Some(inside)) if short == "." && inside.starts_with(is_in_name) => rest = inside,
            (true, _) => clean.push_str(short),
            (false, _) => clean.push_str(folder),
        }
    }
    clean + rest
}

/// Replaces home folders by `~`.
fn without_homes(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let first = HOME_PARENTS.iter().filter_map(|homes| Some((rest.find(homes)?, *homes))).min();
        let Some((at, homes)) = first else { break };
        let (before, after) = (&rest[..at], &rest[at + homes.len()..]);
        let is_encoded = homes.starts_with('-');
        let Some(lead) = text_before_home(before, is_encoded) else {
            clean.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        let ends = |c: char| c.is_whitespace() || "/\\\"'`:;,()[]{}<>|".contains(c);
        let name = after.find(|c| ends(c) || is_encoded && c == '-').unwrap_or(after.len());
        clean.push_str(lead);
        clean.push_str(if is_encoded { "-~" } else { "~" });
        rest = &after[name..];
    }
    clean.push_str(rest);
    without_root(&clean)
}

/// Returns the text before a home folder, without a drive such as `C:` or `/mnt/c`. `None` if the
/// folder is not a home folder, because it is inside another folder.
fn text_before_home(before: &str, is_encoded: bool) -> Option<&str> {
    let path = before.trim_end_matches(|c: char| is_in_name(c) || "/\\:?$".contains(c));
    let run = &before[path.len()..];
    let is_drive =
        |text: &str| matches!(text.as_bytes(), [drive, b':'] if drive.is_ascii_alphabetic());
    if is_encoded {
        // A project's path as Claude Code writes it: `-home-ann-app`, `C--Users-ann-app`.
        let name = run.rsplit(['/', '\\']).next().unwrap_or_default();
        let is_drive = matches!(name.as_bytes(), [drive, b'-'] if drive.is_ascii_alphabetic());
        return (name.is_empty() || is_drive).then_some(before);
    }
    if ends_with_border(before) {
        return Some(before);
    }
    let slashes = run.replace('\\', "/");
    let slashes = slashes.trim_start_matches("//?/").trim_end_matches('/');
    let is_mount = slashes.strip_prefix("/mnt/").is_some_and(|drive| drive.len() == 1);
    if run.is_empty() || is_drive(slashes) || is_mount || slashes.starts_with("//wsl") {
        return Some(path);
    }
    (run.ends_with(':') || run.ends_with("//")).then_some(before)
}

/// Whether a path can begin directly after `before`, although `before` ends with a letter: after an
/// option such as `-I`, and after an escaped line feed.
fn ends_with_border(before: &str) -> bool {
    let mut last = before.chars().rev();
    match (last.next(), last.next(), last.next()) {
        (Some('n' | 'r' | 't'), Some('\\'), _) => true,
        (Some(letter), Some('-'), earlier) => {
            letter.is_ascii_alphabetic() && !earlier.is_some_and(|c| is_in_name(c) || c == '/')
        }
        _ => false,
    }
}

/// Replaces the home folder of `root` by `~`.
fn without_root(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/root") {
        let (before, after) = (&rest[..at], &rest[at + "/root".len()..]);
        let is_home = !before.ends_with(|c: char| is_in_name(c) || "/~.".contains(c))
            && !after.starts_with(is_in_name);
        clean.push_str(before);
        clean.push_str(if is_home { "~" } else { "/root" });
        rest = after;
    }
    clean + rest
}

fn is_in_name(character: char) -> bool {
    character.is_alphanumeric() || "_-.".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> String {
        let redactor = Redactor::new();
        let project = ["/home/ann/code/app".to_owned()];
        TextCleaner::new(&redactor, &project, Some("/data/people/ann")).text(text)
    }

    #[test]
    fn home_folders_are_replaced() {
        for (given, wanted) in [
            ("see /home/ann/code/app/src/main.rs:3", "see src/main.rs:3"),
            ("in `/home/ann/code/app`", "in `.`"),
            ("/home/ann/code/apple", "~/code/apple"),
            ("cat /home/ann/.ssh/config", "cat ~/.ssh/config"),
            ("C:\\Users\\ann\\x", "~\\x"),
            ("/mnt/c/Users/ann/x", "~/x"),
            ("\\\\wsl$\\Ubuntu\\home\\ann", "~"),
            ("file:///Users/bob", "file://~"),
            ("host:/home/ann/x", "host:~/x"),
            ("ls /data/people/ann/x", "ls ~/x"),
            ("C--Users-ann-app", "C--~-app"),
            ("gcc -I/home/ann/code/app/include -L/home/bob/lib", "gcc -Iinclude -L~/lib"),
            ("make -C/home/ann/code/app", "make -C."),
            ("failed:\\n/home/ann/code/app/a.py", "failed:\\na.py"),
            (
                "nav--home-link, a-b/home/page, my-I/home/x",
                "nav--home-link, a-b/home/page, my-I/home/x",
            ),
            (
                "~/.claude/projects/-home-ann-code-app/a.jsonl",
                "~/.claude/projects/-~-code-app/a.jsonl",
            ),
            ("cd /root/x && ls /root", "cd ~/x && ls ~"),
            ("the /rooted tree, a/root/b", "the /rooted tree, a/root/b"),
            (
                "/srv/app/home/page, src/home/page.rs, my-home-page",
                "/srv/app/home/page, src/home/page.rs, my-home-page",
            ),
        ] {
            let text = clean(given);
            assert_eq!(text, wanted, "{given}");
            assert!(!text.contains("ann") && !text.contains("bob"), "{text}");
        }
    }

    #[test]
    fn secrets_are_redacted_and_lines_end_with_a_space() {
        let key = format!("ghp{}", "_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw1x");
        let text = clean(&format!("token {key}\nnext \nlast"));
        assert!(!text.contains(&key), "{text}");
        assert!(text.ends_with(" \nnext \nlast"), "{text:?}");
    }
}
