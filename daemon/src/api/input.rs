//! Reads a client's lines with limits on size, time and memory.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use graphiti_proto::frame::{LineSplitter, LineTooLong};
use interprocess::local_socket::tokio::Stream;
use tokio::{
    io::{AsyncRead, AsyncReadExt, ReadBuf},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{Instant, sleep_until},
};

/// Time limit for a line, from its first byte to its last.
pub(super) const LINE_TIMEOUT: Duration = Duration::from_secs(30);
/// Size, in bytes, of the chunks in which the memory of long lines is counted.
const CHUNK: usize = 64 << 10;
/// Maximum number of chunks in memory, for all connections: 64 MiB.
const CHUNKS: usize = 1_024;

/// The source of a client's lines.
pub(super) struct LineReader {
    input: BufferedInput,
    signals: CloseSignals,
    /// When the current incomplete line began.
    line_started: Option<Instant>,
}

/// The signals that end a connection.
pub(super) struct CloseSignals {
    /// Becomes true when the daemon stops.
    pub(super) stopping: watch::Receiver<bool>,
    /// Becomes true when this connection has to close.
    pub(super) leaving: watch::Receiver<bool>,
    /// Becomes true when the client does not read its answers.
    pub(super) stalled: watch::Receiver<bool>,
}

/// A stream, and the bytes that were read from it but not yet returned as lines.
struct BufferedInput {
    stream: Box<dyn AsyncRead + Send + Sync + Unpin>,
    buffer: Vec<u8>,
    lines: LineSplitter,
    budget: InputBudget,
    held: Option<OwnedSemaphorePermit>,
}

/// The memory for long lines. All connections share this memory. A connection waits for memory, and
/// is closed when its line is not complete in time.
#[derive(Clone)]
pub(super) struct InputBudget(Arc<Semaphore>);

/// A line, and the memory that it uses.
pub(super) struct InputLine {
    pub(super) bytes: Vec<u8>,
    /// The permit for this memory. For a bare request, kept until the request is answered.
    pub(super) held: Option<OwnedSemaphorePermit>,
}

pub(super) struct ReadHalf(pub(super) Arc<Stream>);

impl Default for InputBudget {
    fn default() -> InputBudget {
        InputBudget(Arc::new(Semaphore::new(CHUNKS)))
    }
}

impl AsyncRead for ReadHalf {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.as_ref()).poll_read(context, buffer)
    }
}

impl LineReader {
    /// Reads lines of `stream` until a signal ends the connection.
    pub(super) fn new(
        stream: impl AsyncRead + Send + Sync + Unpin + 'static,
        signals: CloseSignals,
        budget: InputBudget,
    ) -> LineReader {
        let input = BufferedInput {
            stream: Box::new(stream),
            buffer: vec![0; 16 << 10],
            lines: LineSplitter::default(),
            budget,
            held: None,
        };
        LineReader { input, signals, line_started: None }
    }

    /// Returns the next non-empty line; `None` at the end of the input, after [`LINE_TIMEOUT`]
    /// within a line, or when a signal ends the connection. Dropping the future loses no input.
    pub(super) async fn next(&mut self) -> Option<Result<InputLine, LineTooLong>> {
        loop {
            match self.input.lines.next_line() {
                Ok(Some(bytes)) => {
                    let held = self.input.held.take();
                    self.line_started = None;
                    if !bytes.trim_ascii().is_empty() {
                        return Some(Ok(InputLine { bytes, held }));
                    }
                    continue;
                }
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
            let line_started = match self.input.lines.is_within_line() {
                true => Some(*self.line_started.get_or_insert_with(Instant::now)),
                false => None,
            };
            let until = line_started.map(|line_started| line_started + LINE_TIMEOUT);
            tokio::select! {
                more = self.input.read_more() => more?,
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return None,
                _ = self.signals.stopping.wait_for(|stopping| *stopping) => return None,
                _ = self.signals.leaving.wait_for(|leaving| *leaving) => return None,
                // An error means that the client has disconnected. The lines that it sent before
                // are still read.
                Ok(_) = self.signals.stalled.wait_for(|stalled| *stalled) => return None,
            }
        }
    }
}

impl BufferedInput {
    /// Reads more bytes as soon as there is memory for them; `None` at the end of the input.
    async fn read_more(&mut self) -> Option<()> {
        let has = self.held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let needs = self.lines.pending() / CHUNK;
        if let Ok(lacks @ 1..) = u32::try_from(needs.saturating_sub(has)) {
            let more = self.budget.0.clone().acquire_many_owned(lacks).await.ok()?;
            match &mut self.held {
                Some(held) => held.merge(more),
                None => self.held = Some(more),
            }
        }
        let Ok(bytes @ 1..) = self.stream.read(&mut self.buffer).await else { return None };
        self.lines.push(&self.buffer[..bytes]);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    struct ClientContext {
        end: DuplexStream,
        stop: watch::Sender<bool>,
        leave: watch::Sender<bool>,
        stall: watch::Sender<bool>,
    }

    fn connected(budget: &InputBudget) -> (ClientContext, LineReader) {
        let (end, stream) = duplex(1 << 20);
        let (stop, stopping) = watch::channel(false);
        let (leave, leaving) = watch::channel(false);
        let (stall, stalled) = watch::channel(false);
        let signals = CloseSignals { stopping, leaving, stalled };
        let input = LineReader::new(stream, signals, budget.clone());
        (ClientContext { end, stop, leave, stall }, input)
    }

    async fn line(input: &mut LineReader) -> Option<String> {
        let line = input.next().await?.unwrap();
        Some(String::from_utf8(line.bytes).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_may_be_silent_between_lines_without_a_time_limit() {
        let (mut client, mut input) = connected(&InputBudget::default());
        let asking = tokio::spawn(async move { line(&mut input).await });
        tokio::time::sleep(Duration::from_secs(86_400)).await;
        client.end.write_all(b"\n{}\n").await.unwrap();
        assert_eq!(asking.await.unwrap().as_deref(), Some("{}"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_that_comes_byte_by_byte_has_the_same_time_limit() {
        let (mut client, mut input) = connected(&InputBudget::default());
        let began = Instant::now();
        let asking = tokio::spawn(async move { line(&mut input).await });
        while client.end.write_all(b"x").await.is_ok() {
            tokio::time::sleep(LINE_TIMEOUT / 10).await;
        }
        assert_eq!(asking.await.unwrap(), None);
        assert!(began.elapsed() <= LINE_TIMEOUT + LINE_TIMEOUT / 5, "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn each_line_has_its_own_time_limit() {
        let (mut client, mut input) = connected(&InputBudget::default());
        let asking = tokio::spawn(async move {
            let mut lines = 0;
            while line(&mut input).await.is_some() {
                lines += 1;
            }
            lines
        });
        for _ in 0..5 {
            client.end.write_all(b"{").await.unwrap();
            tokio::time::sleep(LINE_TIMEOUT * 9 / 10).await;
            client.end.write_all(b"}\n").await.unwrap();
        }
        client.end.shutdown().await.unwrap();
        assert_eq!(asking.await.unwrap(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn long_lines_wait_for_memory_until_the_time_limit() {
        let budget = InputBudget::default();
        let all =
            budget.0.clone().acquire_many_owned(u32::try_from(CHUNKS).unwrap()).await.unwrap();
        let long = format!("{}\n", "x".repeat(3 * CHUNK));
        let (mut client, mut input) = connected(&budget);
        client.end.write_all(long.as_bytes()).await.unwrap();
        assert_eq!(line(&mut input).await, None, "no memory became free");
        let (mut client, mut input) = connected(&budget);
        client.end.write_all(long.as_bytes()).await.unwrap();
        drop(all);
        let line = input.next().await.unwrap().unwrap();
        assert_eq!(line.bytes.len(), 3 * CHUNK);
        assert!(
            budget.0.available_permits() < CHUNKS,
            "the memory of the line is counted until the line is dropped"
        );
        drop(line);
        assert_eq!(budget.0.available_permits(), CHUNKS);
    }

    #[tokio::test]
    async fn reading_ends_when_the_connection_has_to_close() {
        let (client, mut input) = connected(&InputBudget::default());
        client.leave.send_replace(true);
        assert!(input.next().await.is_none());
        let (client, mut input) = connected(&InputBudget::default());
        client.stop.send_replace(true);
        assert!(input.next().await.is_none());
        let (client, mut input) = connected(&InputBudget::default());
        client.stall.send_replace(true);
        assert!(input.next().await.is_none());
    }

    #[tokio::test]
    async fn lines_are_read_after_the_writing_task_has_ended() {
        let (mut client, mut input) = connected(&InputBudget::default());
        drop(client.stall);
        client.end.write_all(b"{}\n").await.unwrap();
        assert_eq!(line(&mut input).await.as_deref(), Some("{}"));
    }
}
