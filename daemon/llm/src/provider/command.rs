//! Any program that reads the prompt from standard input and prints the answer, such as `claude
//! -p`.
//!
//! The program may be an agent whose sessions the daemon follows and whose hooks report to the
//! daemon. The sessions in which the agent writes summaries must not be summarized themselves.
//! Therefore the program runs in a separate [`directory`], whose sessions are not followed. The
//! program finds [`MARKER`] in its environment, and its hooks then send nothing. A daemon that
//! finds the marker in its own environment refuses to run a program as a model.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

pub use crate::process::MARKER;
use crate::{
    config::Config,
    error::{Again, Bill, Error, Failure},
    model::Timestamp,
    ports::{BoxFuture, Ports},
    price::Tariff,
    process::{self, Output, RunError},
    provider::{Call, Provider},
    reply::{Completion, Ending},
};

pub struct Program {
    command: Vec<String>,
    directory: PathBuf,
    model: Option<String>,
    tariff: Option<Tariff>,
}

/// Maximum length, in bytes, of an answer.
const LONGEST: usize = 1 << 20;

/// Returns the folder in `home` in which the program runs.
pub fn directory(home: &Path) -> PathBuf {
    home.join("llm-work")
}

impl Program {
    /// Creates the provider.
    pub fn new(config: &Config, ports: &Ports) -> Result<Program, Error> {
        if (ports.environment)(MARKER).is_some() {
            return Err(Error::misconfigured(
                "this daemon was started by the program that it would call as a model",
                format!("start it from a shell without {MARKER} in its environment"),
            ));
        }
        let command = config.command.clone().filter(|command| !command.is_empty());
        let command = command.ok_or_else(|| {
            Error::misconfigured("no program is configured", "set `session_tracking.llm.command`")
        })?;
        let directory = directory(&ports.home);
        let tariff = Tariff::configured(&config.price, config.model.as_deref());
        Ok(Program { command, directory, model: config.model.clone(), tariff })
    }

    /// Creates the folder of the program. This is tried again for each call, because the cause of a
    /// failure may have been removed.
    fn prepare_folder(&self) -> Result<(), Error> {
        make_private(&self.directory).map_err(|error| {
            let what = format!("{} cannot be created: {error}", self.directory.display());
            Error::misconfigured(what, "make Graphiti's folder writable")
        })
    }

    /// Checks whether the program exists. A full check would need an answer, which may not be free.
    fn look(&self) -> Result<String, Error> {
        self.prepare_folder()?;
        let program = &self.command[0];
        let found = which::which_in(program, env::var_os("PATH"), &self.directory);
        let found = found.map_err(|error| {
            let what = format!("{program} cannot be started: {error}");
            Error::misconfigured(what, "check `session_tracking.llm.command`")
        })?;
        Ok(format!(
            "{} exists; whether it answers is known after the first request",
            found.display()
        ))
    }

    async fn run(&self, call: &Call<'_>) -> Result<Completion, Failure> {
        self.prepare_folder()?;
        let input = format!("{}\n\n{}\n", call.system, call.prompt_with_schema());
        let output = process::run(&self.command, &self.directory, &input, LONGEST).await;
        let output = output.map_err(|error| self.not_run(&error))?;
        if !output.is_success || output.text.trim().is_empty() {
            return Err(self.failed(&output));
        }
        Ok(Completion { text: output.text, ending: Ending::Done, usage: None, model: None })
    }

    fn not_run(&self, error: &RunError) -> Failure {
        let program = &self.command[0];
        match error {
            RunError::NotStarted(error) => Failure::lasting(Error::misconfigured(
                format!("{program} cannot be started: {error}"),
                "check `session_tracking.llm.command`",
            )),
            RunError::TooMuch => {
                Failure::bad_reply(format!("the output of {program} is too long"), None)
            }
            RunError::Broken(error) => Failure::lost(format!("{program}: {error}")),
        }
    }

    /// Returns a failure that is retried only once, because the program may have done the work.
    fn failed(&self, output: &Output) -> Failure {
        let message = if output.errors.trim().is_empty() { &output.text } else { &output.errors };
        let reason = match message.trim() {
            "" => format!("{} printed nothing ({})", self.command[0], output.status),
            message => format!("{} ended with {}: {message}", self.command[0], output.status),
        };
        let error = Error::Unavailable { reason, retry_after: None };
        Failure { error, again: Again::Once, bill: Bill::Expected }
    }
}

impl Provider for Program {
    fn name(&self) -> &'static str {
        "command"
    }

    fn model(&self) -> Option<&str> {
        Some(self.model.as_deref().unwrap_or(&self.command[0]))
    }

    fn tariff(&self) -> Option<Tariff> {
        self.tariff
    }

    fn reach(&self, _: Timestamp) -> BoxFuture<'_, Result<String, Error>> {
        Box::pin(async { self.look() })
    }

    fn ask<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<Completion, Failure>> {
        Box::pin(self.run(call))
    }
}

fn make_private(directory: &Path) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}
