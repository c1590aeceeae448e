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
    let (mut connection, done) = match open_again(Connection::open) {
        Ok(connection) => (connection, "is already running"),
        Err(AskError::NotRunning { .. }) => (start::start(&home)?, "is running"),
        Err(error) => return Err(error),
    };
    let Welcome { pid, version, .. } = connection.ask(methods::HELLO, &Hello::default())?;
    screen.print(format!("graphitid {version} {done} (pid {pid})."));
    screen.print(screen.dim(format!("Its default log: {}", home.join(start::LOG).display())));
    Ok(())
}

/// Opens a connection, and tries again once if it ended without an answer: the daemon may have been
/// killed before it accepted the connection.
fn open_again<T>(mut open: impl FnMut() -> Result<T, AskError>) -> Result<T, AskError> {
    match open() {
        Err(AskError::InvalidAnswer(_)) => open(),
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_ends_is_opened_once_more() {
        let home = || AskError::NotRunning { home: "/app".into(), socket: String::new() };
        let reset = || AskError::InvalidAnswer("connection reset".to_owned());
        let mut errors = vec![home(), reset()];
        let opened: Result<(), AskError> = open_again(|| Err(errors.pop().unwrap()));
        assert!(matches!(opened, Err(AskError::NotRunning { .. })));
        let mut errors = vec![reset(), reset(), reset()];
        let opened: Result<(), AskError> = open_again(|| Err(errors.pop().unwrap()));
        assert!(matches!(opened, Err(AskError::InvalidAnswer(_))));
        assert_eq!(errors.len(), 1);
        let mut errors = vec![reset(), AskError::NoAnswer(None)];
        let opened: Result<(), AskError> = open_again(|| Err(errors.pop().unwrap()));
        assert!(matches!(opened, Err(AskError::NoAnswer(None))));
        assert_eq!(errors.len(), 1, "a daemon that hangs is not asked again");
    }
}
