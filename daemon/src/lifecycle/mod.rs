//! From start to end: the [`home`] folder and who owns it, the [`signals`] that the system sends,
//! and what the outside is told ([`ready`]).

pub mod home;
pub mod ready;
pub mod signals;
