//! The settings of the shared graph.

use std::path::PathBuf;

use crate::share::{
    endpoint::{Endpoint, EngineKind, InvalidUrl},
    password::Credentials,
};

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The graph database with the shared graph. `None` means that nothing is shared.
    pub engine: Option<EngineKind>,
    /// The engine's address. `None` means the default port on this machine.
    pub url: Option<String>,
    /// The name to log in with.
    pub user: Option<String>,
    pub password_env: Option<String>,
    /// A file with the password, readable only by its owner.
    pub password_file: Option<PathBuf>,
    /// Whether TLS is required for an engine on another machine.
    pub tls: bool,
    /// The name of the user, as colleagues see it.
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

    /// Parses the address. Returns `None` if no engine is configured.
    pub fn endpoint(&self) -> Result<Option<Endpoint>, InvalidUrl> {
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
