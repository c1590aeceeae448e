//! Limits the number of connections to the viewer.
//!
//! Any page in a browser can connect to the viewer. On some systems, any user of the machine can
//! also connect ([`peer`]). A connection is closed after [`ADMISSION_LIMIT`] if none of its
//! requests was admitted, or earlier if another connection needs its slot.

use std::{
    collections::VecDeque,
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

use crate::view::peer;

/// Maximum number of connections; further connections wait.
pub(super) const MAX_CONNECTIONS: usize = 64;
/// Time limit for the first admitted request of a connection.
pub(super) const ADMISSION_LIMIT: Duration = Duration::from_secs(10);

/// A listener with a limited number of connections.
pub(super) struct BoundedListener {
    listener: TcpListener,
    open: Arc<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    /// Sorted by age, oldest first.
    connections: Mutex<VecDeque<Admission>>,
    freed: Notify,
}

/// Whether a request of a connection was admitted.
#[derive(Clone, Default)]
pub(super) struct Admission(Arc<AdmissionState>);

#[derive(Default)]
struct AdmissionState {
    is_admitted: AtomicBool,
    close_requested: Notify,
}

/// A connection that occupies a slot.
pub(super) struct BoundedStream {
    stream: TcpStream,
    admission: Admission,
    /// Completes after [`ADMISSION_LIMIT`], or earlier if the slot is needed. The connection is
    /// then closed unless a request was admitted.
    end: Pin<Box<dyn Future<Output = ()> + Send>>,
    open: Arc<OpenConnections>,
}

impl BoundedListener {
    pub(super) fn new(listener: TcpListener) -> BoundedListener {
        BoundedListener { listener, open: Arc::default() }
    }
}

impl OpenConnections {
    /// Waits for a free slot. If all slots are taken, closes the oldest connection that was not
    /// admitted.
    async fn wait_for_slot(&self) {
        loop {
            {
                let connections = self.lock();
                if connections.len() < MAX_CONNECTIONS {
                    return;
                }
                let unadmitted = connections.iter().find(|connection| !connection.is_admitted());
                unadmitted
                    .into_iter()
                    .for_each(|unadmitted| unadmitted.0.close_requested.notify_one());
            }
            self.freed.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Admission>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admission {
    pub(super) fn admit(&self) {
        self.0.is_admitted.store(true, Ordering::Relaxed);
    }

    fn is_admitted(&self) -> bool {
        self.0.is_admitted.load(Ordering::Relaxed)
    }
}

impl Listener for BoundedListener {
    type Io = BoundedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (BoundedStream, SocketAddr) {
        self.open.wait_for_slot().await;
        let (stream, address) = loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            if is_of_other_user(&stream, address).await {
                tracing::warn!("refused a connection of another user to the viewer");
                continue;
            }
            break (stream, address);
        };
        let admission = Admission::default();
        self.open.lock().push_back(admission.clone());
        let end = Box::pin({
            let admission = admission.clone();
            async move {
                tokio::select! {
                    () = tokio::time::sleep(ADMISSION_LIMIT) => {}
                    () = admission.0.close_requested.notified() => {}
                }
            }
        });
        (BoundedStream { stream, admission, end, open: self.open.clone() }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

async fn is_of_other_user(stream: &TcpStream, peer: SocketAddr) -> bool {
    let (SocketAddr::V4(peer), Ok(SocketAddr::V4(own))) = (peer, stream.local_addr()) else {
        return true;
    };
    let is_other = tokio::task::spawn_blocking(move || peer::is_other_user(peer, own));
    // If the check fails, the connection is refused.
    is_other.await.unwrap_or(true)
}

impl Connected<IncomingStream<'_, BoundedListener>> for Admission {
    fn connect_info(stream: IncomingStream<'_, BoundedListener>) -> Admission {
        stream.io().admission.clone()
    }
}

impl Drop for BoundedStream {
    fn drop(&mut self) {
        self.open.lock().retain(|one| !Arc::ptr_eq(&one.0, &self.admission.0));
        self.open.freed.notify_one();
    }
}

impl AsyncRead for BoundedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.admission.is_admitted() && self.end.as_mut().poll(context).is_ready() {
            // A completed future must not be polled again.
            self.end = Box::pin(std::future::ready(()));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for BoundedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
