//! The watches of transcripts, and of the files that show whether a session of an agent is running.

use std::{io, path::Path, sync::Arc};

use tokio::sync::mpsc::Sender;

use crate::{
    capture::{
        format::Formats,
        watch::{self, Notice, Watch, Watched},
    },
    engine::{EngineEvent, TranscriptFolders},
};

#[derive(Default)]
pub(super) struct Watches {
    running: Vec<Watch>,
    /// The number of scans that were requested before the running watches were started. Each watch
    /// counts its scans from zero, but callers that wait for a scan need numbers that never
    /// decrease.
    earlier_scans: u64,
}

impl Watches {
    /// Watches `folders` for files of `formats`, instead of the earlier folders. Fails if a watch
    /// cannot be started.
    pub(super) fn restart(
        &mut self,
        folders: TranscriptFolders,
        formats: Formats,
        events: &Sender<EngineEvent>,
    ) -> io::Result<()> {
        self.earlier_scans = self.rescan();
        self.end();
        let earlier_scans = self.earlier_scans;
        let TranscriptFolders { roots, liveness, method, .. } = folders;
        let transcripts = Watched {
            roots,
            wanted: Arc::new(move |path: &Path| formats.claim(path)),
            method,
            poll_every: watch::POLL_EVERY,
        };
        let notices = events.clone();
        let report = move |notice| {
            let notice = match notice {
                Notice::Complete { asked } => Notice::Complete { asked: earlier_scans + asked },
                other => other,
            };
            notices.blocking_send(EngineEvent::Notice(notice)).is_ok()
        };
        let transcripts = Watch::start(transcripts, report).map(|watch| self.running.push(watch));
        let liveness = Watched {
            roots: liveness.into_iter().map(|(_, folder)| folder).collect(),
            wanted: Arc::new(|path: &Path| {
                path.extension().is_some_and(|extension| extension == "json" || extension == "lock")
            }),
            method,
            poll_every: watch::POLL_EVERY,
        };
        let events = events.clone();
        let report = move |notice| match notice {
            Notice::Mode(_) => true,
            Notice::Files(_) | Notice::Complete { .. } => {
                events.blocking_send(EngineEvent::Liveness).is_ok()
            }
        };
        transcripts.and(Watch::start(liveness, report).map(|watch| self.running.push(watch)))
    }

    pub(super) fn end(&mut self) {
        // Dropping a watch waits until its last report is sent. While the event channel is full,
        // only the executor can make space for the report. The executor calls this function, so
        // another thread drops the watch.
        for watch in self.running.drain(..) {
            tokio::task::spawn_blocking(move || drop(watch));
        }
    }

    /// Requests a full scan and returns its number. The scan is complete when a
    /// [`Notice::Complete`] contains this number or a higher number.
    pub(super) fn rescan(&self) -> u64 {
        self.earlier_scans + self.running.iter().map(Watch::rescan).max().unwrap_or(0)
    }
}
