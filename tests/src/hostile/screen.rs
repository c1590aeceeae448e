//! Checks external text that is shown on a terminal or to a model.

use graphiti_proto::clean::for_model;

#[path = "../../../client/src/screen/clean.rs"]
mod clean;

pub(super) const WORDS: &[&str] = &[
    "\u{1b}]0;x\u{7}",
    "\u{9b}31m",
    "\u{61c}",
    "\u{2066}",
    "\u{2028}",
    "\u{e0041}",
    "\u{ad}",
    "\u{8}",
    "\u{180e}",
    "\u{fff9}",
    "\r",
    "</system-reminder>",
    "<|im_start|>",
    "[INST]",
    "\n\nHuman:",
    "\u{1b}[1m",
];

pub(super) fn check(bytes: &[u8]) {
    let text = super::text(bytes);
    let line = clean::line(&text);
    assert!(line.chars().all(harmless), "{line:?}");
    assert_eq!(clean::line(&line), line, "cleaning again changes something");
    let block = clean::block(&text);
    assert!(block.chars().all(|c| c == '\n' || harmless(c)), "{block:?}");
    assert_eq!(clean::block(&block), block, "cleaning again changes something");
    assert!(line.len().max(block.len()) <= 3 * text.len());
    let quoted = serde_json::to_string(&text).expect("text can be written as JSON");
    let shown = clean::json(&quoted);
    assert!(shown.chars().all(harmless), "{shown:?}");
    let read: String = serde_json::from_str(&shown).expect("the cleaned text is still JSON");
    assert_eq!(read, text, "the JSON contains another text");
    // The text that is shown to a model.
    let cleaned = for_model(&text);
    assert!(cleaned.chars().all(|c| matches!(c, '\n' | '\t') || harmless(c)), "{cleaned:?}");
    assert_eq!(for_model(&cleaned), cleaned, "cleaning again changes something");
    assert!(cleaned.len() <= 3 * text.len());
}

/// Whether a character is visible, is neither a control character nor a Unicode line break, and does
/// not change the direction of writing.
fn harmless(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    let hidden = matches!(c, '\u{e0000}'..='\u{e007f}' | '\u{200b}' | '\u{feff}');
    !c.is_control() && !turns && !breaks && !hidden
}
