//! The client against servers and programs that behave as the real ones do, well and badly.

mod anthropic;
mod bounds;
mod client;
mod command;
mod openai;
mod reach;
mod server;
mod world;
