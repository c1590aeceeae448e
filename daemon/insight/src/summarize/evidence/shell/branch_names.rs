//! Distinguishes names of branches from other arguments of `git checkout`, `git switch` and
//! `git push`.

use crate::text::pattern;

/// Whether a name looks like the name of a file or a folder: it has a known extension, begins with
/// a dot, ends with a slash, or is a usual name such as `Makefile`. `git checkout` with such a name
/// restores files.
pub(super) fn is_file_name(name: &str) -> bool {
    pattern!(r"\.(?:rs|go|py|rb|php|java|kt|swift|cs|cc?|cpp|h|hpp|tsx?|jsx?|mjs|vue|svelte|css|html|json|ya?ml|toml|lock|md|txt|sh|sql|pen|svg|png|sum|mod|xml|gradle|kts|env|snap|ipynb)$|^\.|/$|(?:^|/)(?:Makefile|Dockerfile|Gemfile|Rakefile|Procfile|LICENSE|README)$")
        .is_match(name)
}

/// Whether a name may be the name of a branch, and is neither a commit nor a variable.
pub(super) fn is_branch_name(name: &str) -> bool {
    !name.contains('$') && !pattern!(r"^(?:[0-9a-f]{7,40}|-)$").is_match(name)
}

/// Returns the branch that `git push` pushes, as `local:remote` if the names differ; `None` for the
/// current branch. The local name is `HEAD` if the command names a commit or a variable.
pub(super) fn pushed_branch(refspec: &str) -> Option<String> {
    let name = |name: &str| name.trim_start_matches("refs/heads/").to_owned();
    let refspec = refspec.trim_start_matches('+');
    let Some((local, remote)) = refspec.split_once(':') else {
        return Some(name(refspec)).filter(|branch| branch != "HEAD");
    };
    let is_commit = pattern!(r"^[0-9a-f]{7,40}$|[$~^@{]").is_match(local);
    let (local, remote) = (if is_commit { "HEAD".to_owned() } else { name(local) }, name(remote));
    Some(if local == remote { local } else { format!("{local}:{remote}") })
}
