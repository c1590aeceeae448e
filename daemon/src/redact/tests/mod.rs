//! What the redactor promises: planted secrets go, innocent text stays, hostile text is no harm.

mod forms;
mod hostile;
mod innocent;
mod named;
mod plant;
mod properties;
