//! Planted secrets are removed, innocent text stays unchanged, and adversarial text causes no harm.

mod forms;
mod hostile;
mod innocent;
mod named;
mod plant;
mod properties;
