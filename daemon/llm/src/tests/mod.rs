//! Tests of the client with servers and programs that behave like real ones, including their
//! failures.

mod anthropic;
mod bounds;
mod client;
mod command;
mod embeddings;
mod openai;
mod reach;
mod server;
mod world;
