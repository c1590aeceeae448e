//! The settings of the shared graph.

use std::path::PathBuf;

use crate::share::{
    endpoint::{Endpoint, EngineKind, WrongUrl},
    password::Credentials,
};

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The engine; `None` when nothing is shared.
    pub engine: Option<EngineKind>,
    /// The engine's address; `None` for the usual one on this machine.
    pub url: Option<String>,
    /// The name to log in with.
    pub user: Option<String>,
    /// The environment variable with the password.
    pub password_env: Option<String>,
    /// A file with the password, readable by its owner only.
    pub password_file: Option<PathBuf>,
    /// Whether an engine on another machine has to be reached over TLS.
    pub tls: bool,
    /// The name under which colleagues see what is shared.
    pub name: Option<String>,
    /// The shared projects, by remote or by folder.
    pub projects: Vec<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            engine: None,
            url: None,
            user: None,
            password_env: None,
            password_file: None,
            tls: true,
            name: None,
            projects: Vec::new(),
        }
    }
}

impl Config {
    /// Whether an engine is configured.
    pub fn is_on(&self) -> bool {
        self.engine.is_some()
    }

    /// Reads the address; `None` when there is no engine.
    pub fn endpoint(&self) -> Result<Option<Endpoint>, WrongUrl> {
        let Some(engine) = self.engine else { return Ok(None) };
        Endpoint::read(engine, self.url.as_deref(), self.tls).map(Some)
    }

    pub(super) fn credentials(&self) -> Credentials {
        Credentials {
            user: self.user.clone(),
            variable: self.password_env.clone(),
            file: self.password_file.clone(),
        }
    }
}
