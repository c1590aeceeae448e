//! Fuzzes the parser after which this program is named.
#![no_main]

use std::sync::LazyLock;

use graphiti_tests::hostile::{Parser, parser};

static PARSER: LazyLock<&'static Parser> = LazyLock::new(|| parser(env!("CARGO_BIN_NAME")));

libfuzzer_sys::fuzz_target!(
    // Its hook aborts at every panic, also at those that are caught; any other panic ends the run
    // anyway.
    init: drop(std::panic::take_hook()),
    |bytes: &[u8]| (PARSER.check)(bytes)
);
