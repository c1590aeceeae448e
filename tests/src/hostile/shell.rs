//! Checks command lines that an agent ran.

use std::sync::Mutex;

use graphitid::{
    activity::classify::{ClassificationCache, bash, classify},
    model::transcript::{Action, Call},
};
use serde_json::json;

pub(super) const WORDS: &[&str] = &[
    "&&",
    "||",
    "|",
    ";",
    "$(",
    ")",
    "${",
    "}",
    "<<EOF\n",
    "\nEOF\n",
    "<(",
    "((",
    "if true; then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "case x in ",
    "esac",
    "bash -c '",
    "sudo ",
    "xargs ",
    "git commit",
    "cargo test",
    "2>&1",
    "> /dev/null",
    "'",
    "\"",
    "`",
    "\\\n",
    "env A=b ",
    "[[ ",
    " ]]",
    "function f {",
    "$'\\x41'",
    "{a,b}",
    "!(x)",
    "=(",
    "&",
    "timeout 5 ",
    "time ",
    "coproc ",
];

pub(super) fn check(bytes: &[u8]) {
    let text = super::text(bytes);
    let commands = bash::classify(&text);
    assert!(commands.len() <= 256, "a line of {} commands", commands.len());
    let line = bash::classify_line(&text);
    let signals = line.signals();
    assert!(signals.iter().all(|(_, says)| says.is_finite() && says >= 0.0), "{signals:?}");
    static LEARNED: Mutex<Option<ClassificationCache>> = Mutex::new(None);
    let mut learned = LEARNED.lock().expect("no check panicked before");
    let call = Call {
        id: "t1".into(),
        message: None,
        tool: "Bash".into(),
        action: Action::Run { command: text.to_string(), purpose: None },
        input: json!({ "command": text }),
    };
    let classified = classify(&call, learned.get_or_insert_default());
    assert!(classified.signals().iter().all(|(_, says)| says.is_finite()));
}
