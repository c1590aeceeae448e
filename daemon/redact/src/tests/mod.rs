//! Planted secrets are removed, innocent text stays unchanged, and adversarial text causes no harm.

mod fake_secrets;
mod forms;
mod hostile;
mod innocent;
mod named;
mod notations;
mod properties;
mod sentences;

use self::fake_secrets::secret;
use crate::{Redactor, releasable};

#[test]
fn a_redactor_finds_secrets_after_the_release_of_its_scanner() {
    let redactor = Redactor::new();
    let text = secret("gh|p_{a36}", 1);
    let before = redactor.redact(&text);
    releasable::release_all();
    assert_eq!(redactor.redact(&text), before);
    assert_eq!(before.text, "[REDACTED:github-token]");
}
