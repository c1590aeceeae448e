//! Finds the path of this program, for the settings of agents and for services.

use std::{
    env,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use crate::connection::AskError;

/// Parts of the paths of programs that npx, uvx or `nix run` downloaded. The package manager may
/// delete such a program at any time.
const TEMPORARY: &[&str] = &["_npx", "archive-v0", "nix/store"];

/// Returns the path of this program. A link on `PATH` is preferred to its target: the target may be
/// in the folder of one version (Homebrew, Nix), which the next update removes.
pub(crate) fn program() -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    let path = env::var_os("PATH").unwrap_or_default();
    Ok(link_on(&path, &own).unwrap_or(own))
}

/// Same as [`program`], but fails if the program is in a temporary folder.
pub(crate) fn lasting_program() -> Result<PathBuf, AskError> {
    let program = program().map_err(|error| AskError::Failed(error.to_string()))?;
    if is_temporary(&program) {
        let what = format!(
            "{} may be removed at any time: install graphiti first, instead of running it with npx, uvx or `nix run`",
            program.display()
        );
        return Err(AskError::Failed(what));
    }
    Ok(program)
}

fn link_on(path: &OsStr, own: &Path) -> Option<PathBuf> {
    let name = own.file_name()?;
    let real = own.canonicalize().ok()?;
    let folders = env::split_paths(path).filter(|folder| folder.is_absolute());
    let mut links = folders.map(|folder| folder.join(name));
    links.find(|link| link.canonicalize().is_ok_and(|target| target == real))
}

fn is_temporary(program: &Path) -> bool {
    let path = program.to_string_lossy().replace('\\', "/");
    TEMPORARY.iter().any(|folder| path.contains(&format!("/{folder}/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_on_the_path_is_preferred_to_the_folder_of_a_version() {
        use std::{fs, os::unix::fs::symlink};

        let root = tempfile::tempdir().unwrap();
        let [version, other, bin] =
            ["cellar/1.0", "other", "bin"].map(|name| root.path().join(name));
        for folder in [&version, &other, &bin] {
            fs::create_dir_all(folder).unwrap();
        }
        let own = version.join("graphiti");
        fs::write(&own, "").unwrap();
        fs::write(other.join("graphiti"), "").unwrap();
        symlink(&own, bin.join("graphiti")).unwrap();

        let path = env::join_paths([Path::new("relative"), &other, &bin]).unwrap();
        assert_eq!(link_on(&path, &own), Some(bin.join("graphiti")));
        assert_eq!(link_on(other.as_os_str(), &own), None);
    }

    #[test]
    fn folders_of_npx_uvx_and_nix_are_temporary() {
        for (program, expected) in [
            ("/home/u/.npm/_npx/1f/node_modules/@graphitid/linux-x64/bin/graphiti", true),
            ("/home/u/.cache/uv/archive-v0/x/bin/graphiti", true),
            ("/nix/store/x-graphitid-1.0/bin/graphiti", true),
            (r"C:\Users\u\npm-cache\_npx\1f\node_modules\graphiti.exe", true),
            ("/home/u/.nix-profile/bin/graphiti", false),
            (
                "/usr/lib/node_modules/graphitid/node_modules/@graphitid/linux-x64/bin/graphiti",
                false,
            ),
        ] {
            assert_eq!(is_temporary(Path::new(program)), expected, "{program}");
        }
    }
}
