//! `graphiti up`: starts the daemon in the background, without a service manager.

use graphiti_proto::{
    endpoint,
    methods::{self, Hello, Welcome},
};

use crate::{
    connection::{AskError, Connection},
    screen::Screen,
    start,
};

pub(super) fn run(screen: &Screen) -> Result<(), AskError> {
    let home = endpoint::home().ok_or(AskError::NoHome)?;
    let (mut connection, done) = match Connection::open() {
        Ok(connection) => (connection, "is already running"),
        Err(AskError::NotRunning { .. }) => (start::start(&home)?, "is running"),
        Err(error) => return Err(error),
    };
    let Welcome { pid, version, .. } = connection.ask(methods::HELLO, &Hello::default())?;
    screen.print(format!("graphitid {version} {done} (pid {pid})."));
    screen.print(screen.dim(format!("Its default log: {}", home.join(start::LOG).display())));
    Ok(())
}
