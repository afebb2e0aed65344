//! A bounded bidirectional byte stream within one core. It makes an HTTP/2 stream look like a connection.

use crate::buffer_account::BufferAccount;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tollgate_http::append_long;

/// Bytes buffered in one direction; as much as one read of a socket returns.
const PIPE_BYTES_MAX: usize = 64 * 1024;

/// Size from which a piece gets exactly the memory that it needs, because most of what is buffered for a slow reader is such pieces. Smaller
/// pieces get room for those that follow.
const LARGE_PIECE_BYTES: usize = 1024;

/// One end of a pipe.
pub(crate) struct Pipe {
    pub reader: PipeReader,
    pub writer: PipeWriter,
}

pub(crate) struct PipeReader(Rc<RefCell<PipeChannel>>);

pub(crate) struct PipeWriter(Rc<RefCell<PipeChannel>>);

#[derive(Default)]
struct PipeChannel {
    bytes: Vec<u8>,
    read: usize,
    ended: bool,
    writer_gone: bool,
    reader_gone: bool,
    reader: PipeNotifier,
    writer: PipeNotifier,
    /// Account charged for the bytes.
    account: Option<Rc<BufferAccount>>,
}

/// How a waiting side is notified that it can continue.
enum PipeNotifier {
    /// Wakes its task.
    Task(Option<Waker>),
    /// Both sides belong to one task, which checks a shared mark after polling them: no wakeup needs to be scheduled.
    Mark { waits: bool, moved: PipeMark },
}

/// Set when one side of a pipe within a task must be polled because of the other.
pub(crate) type PipeMark = Rc<Cell<bool>>;

impl Default for PipeNotifier {
    fn default() -> Self {
        PipeNotifier::Task(None)
    }
}

impl PipeNotifier {
    fn wait(&mut self, cx: &Context<'_>) {
        match self {
            PipeNotifier::Task(Some(known)) if known.will_wake(cx.waker()) => {}
            PipeNotifier::Task(waker) => *waker = Some(cx.waker().clone()),
            PipeNotifier::Mark { waits, .. } => *waits = true,
        }
    }

    fn notify(&mut self) {
        match self {
            PipeNotifier::Task(waker) => {
                if let Some(waker) = waker.take() {
                    waker.wake();
                }
            }
            PipeNotifier::Mark { waits, moved } => {
                if std::mem::take(waits) {
                    moved.set(true);
                }
            }
        }
    }
}

impl Pipe {
    /// Both ends of a new pipe.
    pub(crate) fn new() -> (Pipe, Pipe) {
        Pipe::of(PipeChannel::default(), PipeChannel::default())
    }

    /// Both ends of a pipe whose bytes are charged to parts of an account: `there` for bytes from the near end, `back` for bytes
    /// from the far end.
    pub(crate) fn counted(there: &Rc<BufferAccount>, back: &Rc<BufferAccount>) -> (Pipe, Pipe) {
        let channel = |account: &Rc<BufferAccount>| PipeChannel { account: Some(account.clone()), ..PipeChannel::default() };
        Pipe::of(channel(there), channel(back))
    }

    /// Both ends of a pipe within one task, charged in the same way, and the mark that the task must check.
    pub(crate) fn within_task(there: &Rc<BufferAccount>, back: &Rc<BufferAccount>) -> (Pipe, Pipe, PipeMark) {
        let moved = PipeMark::default();
        let notifier = || PipeNotifier::Mark { waits: false, moved: moved.clone() };
        let channel = |account: &Rc<BufferAccount>| PipeChannel {
            reader: notifier(),
            writer: notifier(),
            account: Some(account.clone()),
            ..PipeChannel::default()
        };
        let (near, far) = Pipe::of(channel(there), channel(back));
        (near, far, moved)
    }

    fn of(there: PipeChannel, back: PipeChannel) -> (Pipe, Pipe) {
        let (there, back) = (Rc::new(RefCell::new(there)), Rc::new(RefCell::new(back)));
        let near = Pipe { reader: PipeReader(back.clone()), writer: PipeWriter(there.clone()) };
        let far = Pipe { reader: PipeReader(there), writer: PipeWriter(back) };
        (near, far)
    }

    /// Whether both directions are open and empty.
    pub(crate) fn is_quiet(&self) -> bool {
        [&self.reader.0, &self.writer.0].into_iter().all(|channel| {
            let channel = channel.borrow();
            channel.bytes.is_empty() && !channel.ended && !channel.writer_gone && !channel.reader_gone
        })
    }
}

impl PipeChannel {
    fn room(&self) -> usize {
        let room = PIPE_BYTES_MAX.saturating_sub(self.bytes.len() - self.read);
        self.account.as_ref().map_or(room, |account| account.room(room))
    }

    fn wait_for_room(&mut self, cx: &Context<'_>) {
        self.writer.wait(cx);
        // Bytes that have left the pipe may still be charged to the account.
        if let Some(account) = &self.account {
            account.wait(cx);
        }
    }

    fn put(&mut self, parts: &[&[u8]]) -> usize {
        if self.read > 0 {
            let read = std::mem::take(&mut self.read);
            self.bytes.drain(..read);
        }
        let before = self.bytes.len();
        let coming: usize = parts.iter().map(|part| part.len()).sum();
        if coming >= LARGE_PIECE_BYTES {
            self.bytes.reserve_exact(coming);
        }
        parts.iter().for_each(|part| append_long(part, &mut self.bytes));
        let taken = self.bytes.len() - before;
        if let Some(account) = &self.account {
            account.add(taken);
        }
        self.reader.notify();
        taken
    }

    fn count_out(&self, taken: usize) {
        if let Some(account) = &self.account {
            account.subtract(taken);
        }
    }

    /// Drops bytes that no one will read.
    fn discard(&mut self) {
        self.count_out(self.bytes.len() - self.read);
        self.bytes = Vec::new();
        self.read = 0;
    }
}

impl PipeReader {
    /// Reads available bytes; 0 bytes when the writer has ended or is gone.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, scratch: &mut [u8]) -> Poll<usize> {
        let mut channel = self.0.borrow_mut();
        let channel = &mut *channel;
        let waiting = channel.bytes.get(channel.read..).unwrap_or_default();
        if waiting.is_empty() {
            if channel.ended || channel.writer_gone {
                return Poll::Ready(0);
            }
            channel.reader.wait(cx);
            return Poll::Pending;
        }
        let taken = waiting.len().min(scratch.len());
        if let (Some(to), Some(from)) = (scratch.get_mut(..taken), waiting.get(..taken)) {
            to.copy_from_slice(from);
        }
        channel.read += taken;
        if channel.read == channel.bytes.len() {
            channel.bytes.clear();
            channel.read = 0;
        }
        channel.count_out(taken);
        channel.writer.notify();
        Poll::Ready(taken)
    }

    /// Takes all available bytes without copying them; empty when the writer has ended or is gone.
    pub(crate) fn poll_take(&mut self, cx: &mut Context<'_>) -> Poll<Vec<u8>> {
        let mut channel = self.0.borrow_mut();
        let channel = &mut *channel;
        if channel.bytes.is_empty() && !channel.ended && !channel.writer_gone {
            channel.reader.wait(cx);
            return Poll::Pending;
        }
        let mut bytes = std::mem::take(&mut channel.bytes);
        bytes.drain(..std::mem::take(&mut channel.read));
        channel.count_out(bytes.len());
        channel.writer.notify();
        Poll::Ready(bytes)
    }

    /// Ready when the writer was dropped without `end`, even if bytes are left to read.
    pub(crate) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut channel = self.0.borrow_mut();
        if channel.writer_gone && !channel.ended {
            return Poll::Ready(());
        }
        channel.reader.wait(cx);
        Poll::Pending
    }

    /// Whether the writer called `end`, rather than being dropped.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.borrow().ended
    }
}

impl PipeWriter {
    /// Writes as much of both slices as fits.
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, first: &[u8], second: &[u8]) -> Poll<io::Result<usize>> {
        let mut channel = self.0.borrow_mut();
        if channel.reader_gone || channel.ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = channel.room();
        if room == 0 {
            channel.wait_for_room(cx);
            return Poll::Pending;
        }
        let first = first.get(..first.len().min(room)).unwrap_or_default();
        let second = second.get(..second.len().min(room - first.len())).unwrap_or_default();
        Poll::Ready(Ok(channel.put(&[first, second])))
    }

    /// How many bytes to bring to the pipe at most: limited to its room while its account is full.
    pub(crate) fn wanted(&self) -> usize {
        let channel = self.0.borrow();
        if channel.account.as_ref().is_some_and(|account| account.is_full()) { channel.room() } else { usize::MAX }
    }

    /// Waits until there is room to write; returns how much.
    pub(crate) fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut channel = self.0.borrow_mut();
        if channel.reader_gone || channel.ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        match channel.room() {
            0 => {
                channel.wait_for_room(cx);
                Poll::Pending
            }
            room => Poll::Ready(Ok(room)),
        }
    }

    /// Writes all parts, even beyond the limit: for slightly more than [`PipeWriter::poll_room`] has promised.
    pub(crate) fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let mut channel = self.0.borrow_mut();
        if channel.reader_gone || channel.ended {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        channel.put(parts);
        Ok(())
    }

    /// Writes all bytes.
    pub(crate) async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let taken = std::future::poll_fn(|cx| self.poll_write(cx, bytes, &[])).await?;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    /// Marks the regular end of the stream.
    pub(crate) fn end(&mut self) {
        let mut channel = self.0.borrow_mut();
        channel.ended = true;
        channel.reader.notify();
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        let mut channel = self.0.borrow_mut();
        channel.reader_gone = true;
        channel.discard();
        channel.writer.notify();
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        let mut channel = self.0.borrow_mut();
        channel.writer_gone = true;
        channel.reader.notify();
    }
}

#[cfg(test)]
mod tests;
