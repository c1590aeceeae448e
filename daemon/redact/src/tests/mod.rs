//! Planted secrets are removed, innocent text stays unchanged, and adversarial text causes no harm.

mod codes;
mod fake_secrets;
mod forms;
mod hostile;
mod innocent;
mod named;
mod notations;
mod places;
mod properties;
mod sentences;

use std::sync::Arc;

use self::fake_secrets::secret;
use crate::{Redactor, SharedScanner, releasable, scan::RuleScanner};

#[test]
fn a_redactor_finds_secrets_after_the_release_of_its_scanner() {
    // Other tests use the shared scanner at the same time.
    static SCANNER: SharedScanner = SharedScanner::new(RuleScanner::new);
    let redactor = Redactor { scanner: &SCANNER };
    let text = secret("gh|p_{a36}", 1);
    let before = redactor.redact(&text);
    let scanner = Arc::downgrade(&SCANNER.get());
    releasable::release_all();
    assert!(scanner.upgrade().is_none(), "no other owner keeps the scanner");
    assert_eq!(redactor.redact(&text), before);
    assert_eq!(before.text, "[REDACTED:github-token]");
}
