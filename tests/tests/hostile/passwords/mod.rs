//! Counts the passwords that are not redacted, for many shapes in many surroundings, and the
//! harmless text that is redacted.
//!
//! `cargo test --workspace --test hostile passwords -- --nocapture` prints, for each surrounding
//! and each shape, how many passwords are not redacted, with examples.
//! `GRAPHITI_SOURCES=folder:folder … wrong_marks -- --nocapture` prints each replacement in the
//! text files of these folders, and the number of replacements per 10 MB.

mod contexts;
mod shapes;
mod wrong_marks;

use std::{collections::BTreeMap, sync::LazyLock};

use graphiti_tests::Random;
use graphitid::redact::Redactor;

use crate::passwords::{
    contexts::{CONTEXTS, Surrounding},
    shapes::SHAPES,
};

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::new);

/// The part of a planted password that is not redacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leak {
    None,
    Part,
    Whole,
}

/// The number of passwords of one surrounding or shape, and how many of them were not redacted.
#[derive(Default)]
struct LeakShare {
    planted: u32,
    whole: u32,
    part: u32,
    examples: Vec<String>,
}

impl LeakShare {
    fn count(&mut self, leak: Leak, example: &str) {
        self.planted += 1;
        self.whole += u32::from(leak == Leak::Whole);
        self.part += u32::from(leak == Leak::Part);
        if leak != Leak::None && self.examples.len() < 4 {
            self.examples.push(example.to_owned());
        }
    }

    fn leaks(&self) -> u32 {
        self.whole + self.part
    }
}

#[test]
fn at_most_one_password_in_a_hundred_is_not_redacted() {
    let mut all = LeakShare::default();
    let mut by_context: BTreeMap<&str, LeakShare> = BTreeMap::new();
    let mut by_shape: BTreeMap<&str, LeakShare> = BTreeMap::new();
    let mut random = Random::new(setting("SEED", 20_261_123));
    for context in CONTEXTS {
        for shape in SHAPES {
            let password = shapes::password(shape.template, &mut random);
            let Some(written) = context.carrier.write(&password) else { continue };
            let leak = leak(context, &written);
            let example = context.template.replace('¤', &written);
            all.count(leak, &example);
            by_context.entry(context.name).or_default().count(leak, &example);
            by_shape.entry(shape.name).or_default().count(leak, &example);
        }
    }
    print("surrounding", &by_context);
    print("shape", &by_shape);
    println!("{} planted: {} whole, {} in part", all.planted, all.whole, all.part);
    assert!(CONTEXTS.len() >= 80 && SHAPES.len() >= 40);
    assert!(all.leaks() * 100 <= all.planted, "more than 1 in 100");
}

/// Returns the part of the password `written` that is not redacted in this context.
fn leak(context: &Surrounding, written: &str) -> Leak {
    let text = context.template.replace('¤', written);
    let clean = REDACTOR.redact(&text).text.into_owned();
    let around = context.template.replace('¤', "\u{1}");
    let length = written.chars().count().min(5);
    let starts: Vec<usize> = written.char_indices().map(|(at, _)| at).collect();
    let stays = |from: usize| {
        let piece: String = written[from..].chars().take(length).collect();
        piece.chars().count() == length && !around.contains(&piece) && clean.contains(&piece)
    };
    match () {
        () if clean.contains(written) => Leak::Whole,
        () if starts.into_iter().any(stays) => Leak::Part,
        () => Leak::None,
    }
}

fn print(what: &str, shares: &BTreeMap<&str, LeakShare>) {
    println!("by {what}:");
    let mut shares: Vec<_> = shares.iter().filter(|(_, share)| share.leaks() > 0).collect();
    shares.sort_by_key(|(_, share)| std::cmp::Reverse(share.leaks()));
    for (name, share) in shares {
        println!("  {name}: {} of {} whole, {} in part", share.whole, share.planted, share.part);
        share.examples.iter().for_each(|example| println!("      {example:?}"));
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
