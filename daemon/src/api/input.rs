//! What a caller sends, line by line, within bounds of size, time and memory.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use graphiti_proto::frame::{Lines, TooLong};
use interprocess::local_socket::tokio::Stream;
use tokio::{
    io::{AsyncRead, AsyncReadExt, ReadBuf},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{Instant, sleep_until},
};

/// A line must be whole in this time after it began.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// Long lines are counted in pieces of so many bytes.
const PIECE: usize = 64 << 10;
/// So many pieces may be in memory at one time, for all connections: 64 MiB.
const PIECES: usize = 1_024;

/// Where a caller's lines come from.
pub(super) struct Input {
    stream: Box<dyn AsyncRead + Send + Sync + Unpin>,
    stopping: watch::Receiver<bool>,
    leaving: watch::Receiver<bool>,
    lines: Lines,
    buffer: Vec<u8>,
    /// When the line began that is not whole yet.
    begun: Option<Instant>,
    room: Room,
    held: Option<OwnedSemaphorePermit>,
}

/// Memory for long lines, shared by all connections. Whoever finds none waits, and is let go when
/// its line is not whole in time.
#[derive(Clone)]
pub(super) struct Room(Arc<Semaphore>);

/// A line, and the memory that it takes.
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// Kept until what was asked is answered.
    pub(super) held: Option<OwnedSemaphorePermit>,
}

/// The reading half of a stream.
pub(super) struct Incoming(pub(super) Arc<Stream>);

impl Default for Room {
    fn default() -> Room {
        Room(Arc::new(Semaphore::new(PIECES)))
    }
}

impl AsyncRead for Incoming {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.as_ref()).poll_read(context, buffer)
    }
}

impl Input {
    /// The lines that `stream` gives until either of the two says that it is enough.
    pub(super) fn new(
        stream: impl AsyncRead + Send + Sync + Unpin + 'static,
        (stopping, leaving): (watch::Receiver<bool>, watch::Receiver<bool>),
        room: Room,
    ) -> Input {
        Input {
            stream: Box::new(stream),
            stopping,
            leaving,
            lines: Lines::default(),
            buffer: vec![0; 16 << 10],
            begun: None,
            room,
            held: None,
        }
    }

    /// The next line that is not empty; `None` when no more comes. Nothing is lost when the
    /// future is dropped.
    pub(super) async fn next(&mut self) -> Option<Result<Line, TooLong>> {
        loop {
            match self.lines.next_line() {
                Ok(Some(bytes)) => {
                    let held = self.held.take();
                    self.begun = None;
                    if !bytes.trim_ascii().is_empty() {
                        return Some(Ok(Line { bytes, held }));
                    }
                    continue;
                }
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
            let begun = match self.lines.is_within_line() {
                true => Some(*self.begun.get_or_insert_with(Instant::now)),
                false => None,
            };
            let until = begun.map(|begun| begun + PATIENCE);
            tokio::select! {
                more = more(
                    (&mut self.stream, &mut self.buffer),
                    (&self.room, &mut self.held),
                    &mut self.lines,
                ) => more?,
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return None,
                _ = self.stopping.wait_for(|stopping| *stopping) => return None,
                _ = self.leaving.wait_for(|leaving| *leaving) => return None,
            }
        }
    }
}

/// Reads more, once there is room for it; `None` when no more comes.
async fn more(
    (stream, buffer): (&mut Box<dyn AsyncRead + Send + Sync + Unpin>, &mut [u8]),
    (room, held): (&Room, &mut Option<OwnedSemaphorePermit>),
    lines: &mut Lines,
) -> Option<()> {
    let has = held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
    let needs = lines.pending() / PIECE;
    if let Ok(lacks @ 1..) = u32::try_from(needs.saturating_sub(has)) {
        let more = room.0.clone().acquire_many_owned(lacks).await.ok()?;
        match held {
            Some(held) => held.merge(more),
            None => *held = Some(more),
        }
    }
    let Ok(bytes @ 1..) = stream.read(buffer).await else { return None };
    lines.push(&buffer[..bytes]);
    Some(())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    struct Caller {
        end: DuplexStream,
        stop: watch::Sender<bool>,
        leave: watch::Sender<bool>,
    }

    fn connected(room: &Room) -> (Caller, Input) {
        let (end, stream) = duplex(1 << 20);
        let (stop, stopping) = watch::channel(false);
        let (leave, leaving) = watch::channel(false);
        let input = Input::new(stream, (stopping, leaving), room.clone());
        (Caller { end, stop, leave }, input)
    }

    async fn line(input: &mut Input) -> Option<String> {
        let line = input.next().await?.unwrap();
        Some(String::from_utf8(line.bytes).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_between_lines_may_be_silent_for_as_long_as_it_likes() {
        let (mut caller, mut input) = connected(&Room::default());
        let asking = tokio::spawn(async move { line(&mut input).await });
        tokio::time::sleep(Duration::from_secs(86_400)).await;
        caller.end.write_all(b"\n{}\n").await.unwrap();
        assert_eq!(asking.await.unwrap().as_deref(), Some("{}"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_that_comes_byte_by_byte_is_given_up_in_the_same_time() {
        let (mut caller, mut input) = connected(&Room::default());
        let began = Instant::now();
        let asking = tokio::spawn(async move { line(&mut input).await });
        while caller.end.write_all(b"x").await.is_ok() {
            tokio::time::sleep(PATIENCE / 10).await;
        }
        assert_eq!(asking.await.unwrap(), None);
        assert!(began.elapsed() <= PATIENCE + PATIENCE / 5, "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn each_line_has_its_own_time() {
        let (mut caller, mut input) = connected(&Room::default());
        let asking = tokio::spawn(async move {
            let mut lines = 0;
            while line(&mut input).await.is_some() {
                lines += 1;
            }
            lines
        });
        for _ in 0..5 {
            caller.end.write_all(b"{").await.unwrap();
            tokio::time::sleep(PATIENCE * 9 / 10).await;
            caller.end.write_all(b"}\n").await.unwrap();
        }
        caller.end.shutdown().await.unwrap();
        assert_eq!(asking.await.unwrap(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn long_lines_wait_for_room_and_give_up_where_there_is_none() {
        let room = Room::default();
        let all = room.0.clone().acquire_many_owned(u32::try_from(PIECES).unwrap()).await.unwrap();
        let long = format!("{}\n", "x".repeat(3 * PIECE));
        let (mut caller, mut input) = connected(&room);
        caller.end.write_all(long.as_bytes()).await.unwrap();
        assert_eq!(line(&mut input).await, None, "nobody made room");
        let (mut caller, mut input) = connected(&room);
        caller.end.write_all(long.as_bytes()).await.unwrap();
        drop(all);
        let line = input.next().await.unwrap().unwrap();
        assert_eq!(line.bytes.len(), 3 * PIECE);
        assert!(room.0.available_permits() < PIECES, "it is counted until it is answered");
        drop(line);
        assert_eq!(room.0.available_permits(), PIECES);
    }

    #[tokio::test]
    async fn nothing_more_is_read_of_whoever_has_to_leave() {
        let (caller, mut input) = connected(&Room::default());
        caller.leave.send_replace(true);
        assert!(input.next().await.is_none());
        let (caller, mut input) = connected(&Room::default());
        caller.stop.send_replace(true);
        assert!(input.next().await.is_none());
    }
}
