//! Fuzzes the parser after which this program is named.
#![no_main]

use std::sync::LazyLock;

use graphiti_tests::hostile::{Parser, parser};

static PARSER: LazyLock<&'static Parser> = LazyLock::new(|| parser(env!("CARGO_BIN_NAME")));

libfuzzer_sys::fuzz_target!(
    // libFuzzer's panic hook aborts at every panic, even at one that is caught. Without the hook, a
    // panic that is not caught still ends the run.
    init: drop(std::panic::take_hook()),
    |bytes: &[u8]| (PARSER.check)(bytes)
);
