//! Projects. A project is a directory, and a session belongs to the project in which it was
//! started.

use std::fmt;

use sha2::{Digest, Sha256};

/// Folders of a repository in which agents create worktrees.
pub(crate) const WORKTREE_FOLDERS: [&str; 2] = ["/.claude/worktrees/", "/.worktrees/"];

/// The directory that a session belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Project {
    path: String,
}

impl Project {
    /// Returns the project at `path`. The path is normalised: the separators are `/`, and
    /// separators at the end are removed.
    pub fn new(path: &str) -> Project {
        let forward = path.trim().replace('\\', "/");
        let trimmed = forward.trim_end_matches('/');
        let path = if trimmed.is_empty() { "/" } else { trimmed };
        Project { path: path.to_owned() }
    }

    /// Returns the normalised path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the last path segment, which is the name for people.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&self.path)
    }

    /// Returns the short stable name.
    pub fn namespace(&self) -> Namespace {
        let hash = Sha256::digest(self.path.as_bytes());
        Namespace(u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]))
    }

    /// Returns the project of which this project is a worktree, if its path contains a folder in
    /// which agents create worktrees. Otherwise, returns the project itself.
    pub fn root(&self) -> Project {
        let folders = WORKTREE_FOLDERS.iter();
        let roots = folders.filter_map(|folder| Some(self.path.split_once(folder)?.0));
        // An agent may create a worktree in a worktree.
        let outermost = roots.min_by_key(|root| root.len());
        outermost.map_or_else(|| self.clone(), Project::new)
    }

    /// Returns the form in which paths of Windows, WSL, Git Bash and Unix are compared. A path on a
    /// drive of Windows becomes `c:/folder` in lower case, because Windows ignores case. A path of
    /// Git Bash such as `/c/app` is recognised only below `/c/Users`, because Unix has folders with
    /// names of one letter, too.
    pub fn spelling(&self) -> String {
        let path = self.path.strip_prefix("//?/").unwrap_or(&self.path);
        let mut parts = path.strip_prefix('/').unwrap_or_default().splitn(3, '/');
        if let (Some(drive), Some(users)) = (parts.next(), parts.next())
            && drive.len() == 1
            && drive.as_bytes()[0].is_ascii_alphabetic()
            && users.eq_ignore_ascii_case("users")
        {
            return format!("{drive}:{}", &path[2..]).to_lowercase();
        }
        let drive = |drive: &str| drive.len() == 1 && drive.as_bytes()[0].is_ascii_alphabetic();
        let (first, rest) = match path.strip_prefix("/mnt/") {
            Some(mounted) => mounted.split_once('/').unwrap_or((mounted, "")),
            None => match path.split_once(':') {
                Some((first, rest)) => (first, rest.trim_start_matches('/')),
                None => return path.to_owned(),
            },
        };
        if drive(first) { format!("{first}:/{rest}").to_lowercase() } else { path.to_owned() }
    }

    /// Returns `path` relative to the project. A path outside the project is not changed.
    pub fn relative<'p>(&self, path: &'p str) -> &'p str {
        let Some(rest) = self.rest(path) else { return path };
        if self.path == "/" { rest } else { rest.strip_prefix(['/', '\\']).unwrap_or(path) }
    }

    /// Whether `path` is the directory of the project or is inside this directory.
    pub fn contains(&self, path: &str) -> bool {
        let is_inside = |rest: &str| rest.is_empty() || rest.starts_with(['/', '\\']);
        self.rest(path).is_some_and(|rest| self.path == "/" || is_inside(rest))
    }

    /// Returns the text after the path of the project, if `path` begins with it.
    fn rest<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (start, rest) = path.split_at_checked(self.path.len())?;
        // On Windows, either separator and either case of the drive letter are valid.
        let has_drive = self.path.as_bytes().get(1) == Some(&b':');
        let is_same = |given: u8, own: u8| given == own || given == b'\\' && own == b'/';
        let mut pairs = start.bytes().zip(self.path.bytes()).enumerate();
        let is_start = pairs.all(|(at, (given, own))| {
            is_same(given, own) || has_drive && at == 0 && given.eq_ignore_ascii_case(&own)
        });
        is_start.then_some(rest)
    }
}

/// A short stable name of a project: the first eight hex digits of the SHA-256 of its normalised
/// path, as in the original Graphiti.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Namespace(u32);

impl Namespace {
    /// Converts from the stored number.
    pub const fn from_number(number: u32) -> Namespace {
        Namespace(number)
    }

    /// Converts to the stored number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Parses the eight hex digits.
    pub fn parse(text: &str) -> Option<Namespace> {
        if text.len() != 8 {
            return None;
        }
        u32::from_str_radix(text, 16).ok().map(Namespace)
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_normalised() {
        for (given, wanted) in [
            ("/home/ann/app/", "/home/ann/app"),
            ("C:\\Users\\Ann\\app\\", "C:/Users/Ann/app"),
            ("/", "/"),
        ] {
            assert_eq!(Project::new(given).path(), wanted);
        }
    }

    #[test]
    fn spellings_of_windows_and_wsl_are_one_path() {
        for (given, wanted) in [
            ("C:\\Work\\App\\", "c:/work/app"),
            ("c:/work/app", "c:/work/app"),
            ("/mnt/c/Work/App", "c:/work/app"),
            ("\\\\?\\C:\\Work", "c:/work"),
            ("/mnt/c", "c:/"),
            ("C:", "c:/"),
            ("/c/Users/Ann/App", "c:/users/ann/app"),
            ("/c/App/Users", "/c/App/Users"),
            ("/Users/Ann/App", "/Users/Ann/App"),
            ("/cc/Users/Ann", "/cc/Users/Ann"),
            ("/mnt/data/App", "/mnt/data/App"),
            ("/home/Ann/a:b", "/home/Ann/a:b"),
        ] {
            assert_eq!(Project::new(given).spelling(), wanted, "{given}");
        }
    }

    #[test]
    fn a_path_inside_the_project_is_shown_as_a_relative_path() {
        let project = Project::new("/home/ann/app");
        assert_eq!(project.relative("/home/ann/app/src/main.rs"), "src/main.rs");
        assert_eq!(project.relative("/home/ann/apple/x"), "/home/ann/apple/x");
        assert_eq!(project.name(), "app");
    }

    #[test]
    fn a_path_on_windows_is_relative_in_any_spelling_of_the_drive_and_the_separators() {
        let project = Project::new("c:\\Code\\App");
        for path in ["c:/Code/App/src/a.rs", "C:/Code/App/src/a.rs"] {
            assert_eq!(project.relative(path), "src/a.rs");
        }
        assert_eq!(project.relative("C:\\Code\\App\\src\\a.rs"), "src\\a.rs");
        for path in ["D:/Code/App/a.rs", "C:\\Code\\Apple\\a.rs", "C:/Code/app/a.rs"] {
            assert_eq!(project.relative(path), path);
        }
        assert!(project.contains("C:/Code/App") && project.contains("C:\\Code\\App\\a.rs"));
        assert!(!project.contains("C:/Code/Apple") && !project.contains("C:/Code"));
        let unix = Project::new("/Code/App");
        assert_eq!(unix.relative("/code/App/a.rs"), "/code/App/a.rs");
    }

    #[test]
    fn a_worktree_of_an_agent_belongs_to_its_project() {
        for path in [
            "/home/ann/app/.claude/worktrees/one",
            "/home/ann/app/.worktrees/2/x",
            "/home/ann/app/.worktrees/1/.claude/worktrees/2",
            "/home/ann/app/.claude/worktrees/1/.worktrees/2",
        ] {
            assert_eq!(Project::new(path).root().path(), "/home/ann/app");
        }
        assert_eq!(Project::new("/home/ann/app").root().path(), "/home/ann/app");
    }
}
