//! `graphiti view`: opens the viewer in the browser.

use std::process::{Command, Stdio};

use graphiti_proto::methods::view::{VIEW, ViewAddress};
use serde_json::json;

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, line},
};

pub(super) fn run(args: &cli::ViewOptions, screen: &Screen) -> Result<(), AskError> {
    let address: ViewAddress = Connection::open_for_work()?.ask(VIEW, &json!({}))?;
    if args.print {
        screen.print(line(&address.url));
        return Ok(());
    }
    if open(&address.url) {
        screen.print("The viewer opens in your browser.");
    } else {
        screen.print(format!(
            "No browser could be opened. Open this address within {} seconds:\n{}",
            address.valid_seconds,
            line(&address.url)
        ));
    }
    Ok(())
}

/// Opens an address in the user's browser. Returns whether a program for that was there and did not
/// fail.
fn open(url: &str) -> bool {
    let [program, arguments @ ..] = OPENER else { return false };
    let mut command = Command::new(program);
    command.args(arguments).arg(url);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The program that opens an address, and its first arguments.
#[cfg(target_os = "macos")]
const OPENER: &[&str] = &["open"];
#[cfg(windows)]
const OPENER: &[&str] = &["cmd", "/c", "start", ""];
#[cfg(not(any(target_os = "macos", windows)))]
const OPENER: &[&str] = &["xdg-open"];
