//! The state that all requests share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use graphiti_proto::rpc::{Error, code};
use tokio::sync::watch;

use crate::{
    api::{DaemonState, SharedDaemon},
    view::{access::AccessControl, catalogue::Catalogue, usage::PageUse},
};

pub(super) type SharedView = Arc<ViewState>;

pub(super) struct ViewState {
    /// A weak reference, so that an open connection does not keep the database open.
    daemon: Weak<DaemonState>,
    access: Mutex<AccessControl>,
    pub(super) page_use: watch::Sender<PageUse>,
    pub(super) catalogue: Catalogue,
    pub(super) stopping: watch::Receiver<bool>,
}

impl ViewState {
    pub(super) fn new(
        daemon: Weak<DaemonState>,
        access: AccessControl,
        page_use: watch::Sender<PageUse>,
        stopping: watch::Receiver<bool>,
    ) -> ViewState {
        ViewState {
            daemon,
            access: Mutex::new(access),
            page_use,
            catalogue: Catalogue::default(),
            stopping,
        }
    }

    pub(super) fn daemon(&self) -> Result<SharedDaemon, Error> {
        self.daemon.upgrade().ok_or_else(|| Error::new(code::STOPPING, "graphitid is stopping"))
    }

    pub(super) fn access(&self) -> MutexGuard<'_, AccessControl> {
        self.access.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
