//! The start and the end of the process: the [`home`] folder and its lock, the [`signals`] of the
//! system, and the readiness notification ([`ready`]).

pub mod home;
pub mod ready;
pub mod signals;
