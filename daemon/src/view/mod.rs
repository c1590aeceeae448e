//! The viewer: a page in the user's browser that shows the memory.
//!
//! [`server`] listens on the loopback interface. `graphiti view` starts the server, which stops
//! when the page was not used for some time ([`usage`]). [`peer`] recognises connections of other
//! users, which the server refuses, and [`connections`] limits the number of connections.
//! [`access`] decides which requests are answered. [`guard`] refuses the other requests, and adds
//! headers that prevent a page from using other servers. [`routes`] maps addresses to [`pages`],
//! which render answers of the `api` as HTML, with the frame of [`layout`] and the texts of
//! [`texts`]. [`catalogue`] holds the values by which the lists of sessions are filtered, and
//! [`events`] notifies visible pages of changes. Script, style and icon are files in `assets`.
//! [`copy`] turns pages into files that need no server.
//!
//! Pages get most of their data by [`api::in_process`](crate::api::in_process), like a client of
//! the socket; some data is read from the store. Data is changed only by the methods that the
//! command line uses.

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
