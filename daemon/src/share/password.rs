//! Reads the password of an engine whenever a connection or a request needs it, so that the
//! password is not kept in memory.

use std::{fs, io, path::PathBuf};

use crate::share::graph_engine::EngineError;

/// The user, and the location of the password.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Credentials {
    pub(super) user: Option<String>,
    /// The environment variable with the password.
    pub(super) variable: Option<String>,
    pub(super) file: Option<PathBuf>,
}

/// Maximum number of bytes that are read of a password file.
const MAX_BYTES_READ: u64 = 16 << 10;

impl Credentials {
    /// Returns the password, or `None` if no password is configured.
    pub(super) fn password(&self) -> Result<Option<String>, EngineError> {
        if let Some(name) = &self.variable {
            return match std::env::var(name).ok().filter(|value| !value.is_empty()) {
                Some(password) => Ok(Some(password)),
                None => Err(EngineError::Denied(format!(
                    "the environment variable {name} of graphitid is not set; set it, or change `share.password_env`"
                ))),
            };
        }
        let Some(file) = &self.file else { return Ok(None) };
        let place = file.display();
        let denied =
            |what: String| EngineError::Denied(format!("the password file {place}: {what}"));
        let text = read_private(file).map_err(|error| denied(error.to_string()))?;
        match text.trim_end_matches(['\r', '\n']) {
            "" => Err(denied("the file is empty".to_owned())),
            password => Ok(Some(password.to_owned())),
        }
    }
}

/// Reads a file. On Unix, fails if other users have access to it.
fn read_private(path: &PathBuf) -> io::Result<String> {
    use io::Read as _;
    let file = fs::File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            let what = "other users have access to the file; make it private: chmod 600";
            return Err(io::Error::other(what));
        }
    }
    let mut text = String::new();
    file.take(MAX_BYTES_READ).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_password_file_must_be_private() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        fs::write(&file, "open sesame\n").unwrap();
        let credentials = Credentials { file: Some(file.clone()), ..Credentials::default() };
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(credentials.password().unwrap_err().to_string().contains("chmod 600"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(credentials.password().unwrap().as_deref(), Some("open sesame"));
    }
}
