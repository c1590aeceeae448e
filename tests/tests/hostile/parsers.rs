//! Fuzzes every parser for a short time, with the same bytes in every run. `tests/fuzz` runs
//! longer.

use std::{
    panic::{self, AssertUnwindSafe},
    path::Path,
};

use graphiti_tests::hostile::{Mutator, PARSERS, Parser, seeds, seeds_folder};

/// Number of inputs of each parser. The environment variable `FUZZ_INPUTS` overrides this number.
const INPUTS: usize = 600;

/// Checks every seed, and [`INPUTS`] mutations of seeds. A failing input is written to a file, whose
/// path is in the message.
fn run(name: &str) {
    let parser = graphiti_tests::hostile::parser(name);
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{} is empty", seeds_folder(name).display());
    for (file, bytes) in &seeds {
        check(parser, bytes, file);
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let inputs = number("FUZZ_INPUTS").unwrap_or(INPUTS);
    let mut mutator = Mutator::new(number("FUZZ_SEED").map_or(7, |seed| seed as u64));
    let bytes: Vec<Vec<u8>> = seeds.into_iter().map(|(_, bytes)| bytes).collect();
    for _ in 0..inputs {
        check(parser, &mutator.change(&bytes, parser.words), "a mutated seed");
    }
}

fn check(parser: &Parser, bytes: &[u8], what: &str) {
    if panic::catch_unwind(AssertUnwindSafe(|| (parser.check)(bytes))).is_err() {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.broken", parser.name));
        std::fs::write(&file, bytes).expect("write the failing input");
        panic!("a guarantee of `{}` does not hold for {what}: {}", parser.name, file.display());
    }
}

macro_rules! each {
    ($($name:ident),*) => {
        $(#[test] fn $name() { run(stringify!($name)); })*

        #[test]
        fn every_parser_is_run() {
            let run = [$(stringify!($name)),*];
            let all: Vec<&str> = PARSERS.iter().map(|parser| parser.name).collect();
            assert_eq!(run.as_slice(), all);
        }
    };
}

each!(
    transcript, format, tail, socket, hook, settings, template, reply, search, import, redact,
    screen, shell, disk
);
