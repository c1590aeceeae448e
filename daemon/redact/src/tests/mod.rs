//! Planted secrets are removed, innocent text stays unchanged, and adversarial text causes no harm.

mod fake_secrets;
mod forms;
mod hostile;
mod innocent;
mod named;
mod notations;
mod properties;
mod sentences;
