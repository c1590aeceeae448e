//! The viewer: a page in the user's browser that shows the memory.
//!
//! [`server`] listens on the loopback interface. It starts when `graphiti view` asks for it, and
//! ends when [`usage`] finds that the page was not used for some time. [`peer`] recognises
//! connections of other users, which are refused, and [`connections`] limits how long other
//! programs may keep one. [`access`] decides which requests are answered, [`guard`] applies that
//! and sets the headers that keep a page from loading or sending anything elsewhere. [`routes`]
//! connects addresses with [`pages`], which turn answers of the `api` into HTML in the frame of
//! [`layout`], with the words of [`texts`]. [`catalogue`] holds the values by which the lists of
//! sessions are filtered, and [`events`] notifies visible pages of changes. Script, style and icon
//! are files in `assets`. [`copy`] turns pages into files that need no server.
//!
//! Pages get most of their data by [`api::in_process`](crate::api::in_process), as if they were a
//! client of the socket; some read the store. They change data only by the methods that the command
//! line uses.

mod access;
mod assets;
mod catalogue;
mod connections;
mod copy;
mod dates;
mod events;
mod guard;
mod layout;
mod pages;
mod peer;
mod routes;
mod server;
mod state;
mod texts;
mod usage;

pub use self::{copy::render as copied, server::Viewer};
