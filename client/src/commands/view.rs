//! `graphiti view`: opens the viewer in the browser.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use graphiti_proto::{
    endpoint,
    methods::view::{VIEW, ViewAddress},
};
use serde_json::json;

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, line},
};

/// The file in the home that redirects a browser to the page.
const ENTRANCE: &str = "view.html";

pub(super) fn run(args: &cli::ViewOptions, screen: &Screen) -> Result<(), AskError> {
    let address: ViewAddress = Connection::open_for_work()?.ask(VIEW, &json!({}))?;
    if args.print {
        screen.print(line(&address.url));
        return Ok(());
    }
    if open(&address.url) {
        screen.print("The viewer opens in your browser. If it does not: graphiti view --print");
    } else {
        screen.print(format!(
            "No browser could be opened. Open this address within {} seconds:\n{}",
            address.valid_seconds,
            line(&address.url)
        ));
    }
    Ok(())
}

/// Opens an address in the user's browser. Returns `false` if the file for the browser cannot be
/// written, or if [`OPENER`] does not exist or fails.
///
/// All users of the machine can read the arguments of programs. The browser therefore opens a file
/// with the address and its token. Only the user can read this file.
fn open(url: &str) -> bool {
    let [program, arguments @ ..] = OPENER else { return false };
    let Some(entrance) = write_entrance(url) else { return false };
    let mut command = Command::new(program);
    command.args(arguments).arg(entrance);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Writes the file that redirects to an address. The file is not removed, because the token in it
/// is valid once and soon expires.
fn write_entrance(url: &str) -> Option<PathBuf> {
    let entrance = endpoint::home()?.join(ENTRANCE);
    // The address has no characters that HTML interprets.
    let page = format!(
        "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>graphiti</title>\n\
         <p><a href=\"{url}\">Open the viewer</a></p>\n"
    );
    // An older file would keep its mode.
    let _ = fs::remove_file(&entrance);
    fs::write(&entrance, page).ok().map(|()| entrance)
}

/// The program that opens a file in the browser, and its first arguments.
#[cfg(target_os = "macos")]
const OPENER: &[&str] = &["open"];
#[cfg(windows)]
const OPENER: &[&str] = &["cmd", "/c", "start", ""];
#[cfg(not(any(target_os = "macos", windows)))]
const OPENER: &[&str] = &["xdg-open"];
