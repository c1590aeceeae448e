//! Files replaced in one step, the same way by daemon and client: the code is shared with the client.

pub use graphiti_proto::files::{replace, sync_folder};
