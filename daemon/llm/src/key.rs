//! Looks up a provider's key in the environment, in a file, or by a program.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use tokio::sync::Mutex;

use crate::{
    config::KeySource,
    config_section::ConfigSection,
    error::Error,
    ports::{Environment, Ports},
    process::{self, RunError},
    secret::Secret,
};

/// Maximum number of bytes that are read from a key file, and maximum length of a program's output.
const LONGEST: usize = 16 << 10;

/// A provider's key, looked up on first use.
pub(crate) struct Keys {
    source: KeySource,
    environment: Environment,
    directory: PathBuf,
    section: ConfigSection,
    known: Mutex<Option<Secret>>,
}

impl Keys {
    /// Creates a lookup in `source`, which is configured in `section`.
    pub(crate) fn new(source: &KeySource, ports: &Ports, section: ConfigSection) -> Keys {
        Keys {
            source: source.clone(),
            environment: ports.environment.clone(),
            directory: ports.home.clone(),
            section,
            known: Mutex::default(),
        }
    }

    /// Returns the key. Without a key, returns an error if there is a `default_variable`, because
    /// the provider then needs a key; otherwise returns `None`.
    pub(crate) async fn get(
        &self,
        default_variable: Option<&str>,
    ) -> Result<Option<Secret>, Error> {
        let mut known = self.known.lock().await;
        if known.is_none() {
            *known = find(
                &self.source,
                default_variable,
                &self.environment,
                self.directory.as_path(),
                self.section,
            )
            .await?;
        }
        match (&*known, default_variable) {
            (None, Some(default_variable)) => Err(self.missing(default_variable)),
            (key, _) => Ok(key.clone()),
        }
    }

    /// Discards a rejected key, so that the next use looks it up again.
    pub(crate) async fn forget(&self) {
        *self.known.lock().await = None;
    }

    /// Builds the error for a missing key.
    pub(crate) fn missing(&self, default_variable: &str) -> Error {
        let name = self.source.env.as_deref().unwrap_or(default_variable);
        Error::misconfigured(
            "there is no key",
            format!(
                "set the environment variable {name}, or {} or `api_key_command`",
                self.section.key("api_key_file")
            ),
        )
    }
}

/// Looks up the key in the environment, then in the file, then with the program, which runs in
/// `directory`. Returns `None` if the environment has no key and `source` has neither file nor
/// program. `default_variable` is used if `source` has no variable.
async fn find(
    source: &KeySource,
    default_variable: Option<&str>,
    environment: &Environment,
    directory: &Path,
    section: ConfigSection,
) -> Result<Option<Secret>, Error> {
    if let Some(name) = source.env.as_deref().or(default_variable)
        && let Some(value) = environment(name).filter(|value| !value.trim().is_empty())
    {
        return Secret::new(&value).map(Some).ok_or_else(|| no_key(&format!("${name}")));
    }
    if let Some(path) = &source.file {
        return of_file(path, section).map(Some);
    }
    match &source.command {
        Some(command) => of_program(command, directory, section).await.map(Some),
        None => Ok(None),
    }
}

fn of_file(path: &Path, section: ConfigSection) -> Result<Secret, Error> {
    let place = path.display().to_string();
    let text = read_private(path).map_err(|problem| match problem {
        KeyFileError::Io(error) => Error::misconfigured(
            format!("the key file {place} cannot be read: {error}"),
            format!("check {}", section.key("api_key_file")),
        ),
        KeyFileError::Open(what) => Error::misconfigured(
            format!("the key file {place} {what}"),
            format!("make it readable by you only: chmod 600 {place}"),
        ),
    })?;
    Secret::new(&text).ok_or_else(|| no_key(&place))
}

enum KeyFileError {
    Io(io::Error),
    /// The file belongs to another user, or others may read or write it.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix shows who can read a file"))]
    Open(&'static str),
}

/// Reads a key file that only its owner can access. The checks use the open file, because another
/// file may replace it at `path` in the meantime.
fn read_private(path: &Path) -> Result<String, KeyFileError> {
    let file = open(path).map_err(KeyFileError::Io)?;
    let metadata = file.metadata().map_err(KeyFileError::Io)?;
    if !metadata.is_file() {
        return Err(KeyFileError::Io(io::Error::other("it is not a regular file")));
    }
    check_private(&metadata)?;
    let mut text = String::new();
    file.take(LONGEST as u64).read_to_string(&mut text).map_err(KeyFileError::Io)?;
    Ok(text)
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // Opening a pipe without this flag would block.
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    File::options().read(true).custom_flags(flags.cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn check_private(metadata: &std::fs::Metadata) -> Result<(), KeyFileError> {
    use std::os::unix::fs::MetadataExt;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(KeyFileError::Open("belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(KeyFileError::Open("is accessible to other users"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_private(_: &std::fs::Metadata) -> Result<(), KeyFileError> {
    Ok(())
}

async fn of_program(
    command: &[String],
    directory: &Path,
    section: ConfigSection,
) -> Result<Secret, Error> {
    let program = command.first().map_or("", String::as_str);
    let failed = |what: String| {
        let remedy = format!("check {}", section.key("api_key_command"));
        Error::misconfigured(format!("{program} prints no key: {what}"), remedy)
    };
    // The output is never logged, because it may be the key.
    let output = process::run(command, directory, "", LONGEST).await.map_err(|error| {
        failed(match error {
            RunError::NotStarted(error) | RunError::Broken(error) => error.to_string(),
            RunError::TooMuch => "its output is too long".to_owned(),
        })
    })?;
    if !output.is_success {
        return Err(failed(output.status));
    }
    let line = output.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Secret::new(line).ok_or_else(|| {
        failed("its output is empty, or has blanks or invalid characters".to_owned())
    })
}

fn no_key(place: &str) -> Error {
    Error::misconfigured(
        format!("{place} contains no key: it is empty, or has blanks or invalid characters"),
        "put the key there and nothing else",
    )
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::{fs, sync::Arc};

    use super::*;

    fn environment(variables: &'static [(&'static str, &'static str)]) -> Environment {
        Arc::new(move |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    async fn found(source: &KeySource, environment: &Environment) -> Result<Option<Secret>, Error> {
        find(source, Some("USUAL"), environment, &std::env::temp_dir(), ConfigSection::LLM).await
    }

    #[tokio::test]
    async fn the_environment_precedes_a_file_and_a_file_precedes_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        private_file(&path, "of-file\n");
        let program = ["echo", "of-program"].map(str::to_owned).to_vec();
        let all = KeySource {
            env: Some("MINE".to_owned()),
            file: Some(path),
            command: Some(program.clone()),
        };
        let mine = environment(&[("MINE", "of-env"), ("USUAL", "usual")]);
        let key = |text: &str| Ok(Secret::new(text));
        assert_eq!(found(&all, &mine).await, key("of-env"));
        let default_variable = environment(&[("USUAL", "usual"), ("MINE", " ")]);
        assert_eq!(found(&all, &default_variable).await, key("of-file"));
        let program = KeySource { command: Some(program), ..KeySource::default() };
        assert_eq!(found(&program, &environment(&[])).await, key("of-program"));
        assert_eq!(found(&program, &default_variable).await, key("usual"));
        assert_eq!(found(&KeySource::default(), &environment(&[])).await, Ok(None));
    }

    #[tokio::test]
    async fn a_key_file_that_others_can_read_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        private_file(&path, "of-file");
        let source = KeySource { file: Some(path.clone()), ..KeySource::default() };
        for (mode, is_used) in [
            (0o600, true),
            (0o400, true),
            (0o700, true),
            (0o640, false),
            (0o604, false),
            (0o620, false),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let result = found(&source, &environment(&[])).await;
            assert_eq!(result.is_ok(), is_used, "{mode:o}");
            if let Err(error) = result {
                let text = error.to_string();
                assert!(text.contains("chmod 600") && !text.contains("of-file"), "{text}");
            }
        }
    }

    #[tokio::test]
    async fn a_source_without_a_key_is_reported_without_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        private_file(&path, "two words");
        let command = |words: &[&str]| KeySource {
            command: Some(words.iter().map(|word| (*word).to_owned()).collect()),
            ..KeySource::default()
        };
        let file = |path: PathBuf| KeySource { file: Some(path), ..KeySource::default() };
        for source in [
            file(path),
            file(folder.path().join("missing")),
            file(folder.path().to_owned()),
            command(&["no-such-program-here"]),
            command(&["false"]),
            command(&["true"]),
            command(&["echo", "two words"]),
        ] {
            let error = found(&source, &environment(&[])).await.unwrap_err();
            assert_eq!(error.kind(), "misconfigured");
            assert!(!error.to_string().contains("two words"), "{error}");
        }
    }

    fn private_file(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}
