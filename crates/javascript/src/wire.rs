//! What the gateway and a process of scripts say to each other over a socket: frames of a length and a message. The gateway gives orders, and
//! answers what a script asks its host.

use crate::fault::{ProgramFault, ScriptFault};
use crate::http_call::{HttpCall, HttpReply};
use crate::limits::ScriptLimits;
use crate::program::{Handler, Program};
use crate::sandbox::{Arguments, SandboxEntry};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Largest frame: the arguments or the result of a call. An engine's whole memory as text fits.
const FRAME_BYTES_MAX: usize = 256 << 20;
/// Bytes of one read.
const READ_BYTES: usize = 32 << 10;
/// Memory that the buffers of a link keep when they are empty.
const KEPT_BYTES_MAX: usize = 256 << 10;
/// Bytes of a frame's length.
const LENGTH_BYTES: usize = 4;

/// From the gateway.
#[derive(Serialize, Deserialize)]
pub(crate) enum WireOrder<'a> {
    /// Loads a program under a number. `quiet` leaves out what its top-level code logs.
    Load { number: u64, program: Cow<'a, Program>, limits: ScriptLimits, time_max: Duration, quiet: bool },
    /// Frees a program.
    Forget(u64),
    /// Calls a function of a program that is loaded.
    Call { number: u64, entry: SandboxEntry, handler: Handler, arguments: Cow<'a, Arguments>, time_max: Duration },
    /// Answers the last question.
    Answer(HostAnswer),
}

/// From the process of scripts.
#[derive(Serialize, Deserialize)]
pub(crate) enum Said {
    Loaded {
        result: Result<(), ProgramFault>,
        goes_on: bool,
    },
    Done {
        result: Result<String, ScriptFault>,
        /// Whether the program is still loaded.
        is_kept: bool,
        /// Whether the process may get another order: it has not grown.
        goes_on: bool,
    },
    Log(String),
    RawLog(String),
    // Questions: each waits for its answer.
    Send(HttpCall),
    SendAll {
        calls: Vec<HttpCall>,
        in_turn: bool,
    },
    Key {
        key: String,
        api_id: String,
    },
    SetKey {
        key: String,
        session: String,
        keep_counters: bool,
    },
}

/// What the host answers.
#[derive(Serialize, Deserialize)]
pub(crate) enum HostAnswer {
    Reply(Option<HttpReply>),
    Replies(Vec<Option<HttpReply>>),
    Key(String),
    KeySet(Result<(), String>),
}

/// One end of the socket.
pub(crate) struct ScriptLink {
    stream: UnixStream,
    chunk: Box<[u8]>,
    /// What has been read of the frames to come.
    read: Vec<u8>,
    written: Vec<u8>,
}

impl ScriptLink {
    pub(crate) fn new(stream: UnixStream) -> Self {
        ScriptLink { stream, chunk: vec![0; READ_BYTES].into_boxed_slice(), read: Vec::new(), written: Vec::new() }
    }

    /// Sends a message. If the socket has a time limit, this tries until `end`.
    pub(crate) fn send(&mut self, message: &impl Serialize, end: Option<Instant>) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.written);
        let (mut frame, invalid) = (buffer, |why: postcard::Error| io::Error::new(ErrorKind::InvalidData, why.to_string()));
        frame.extend([0; LENGTH_BYTES]);
        let mut frame = postcard::to_extend(message, frame).map_err(invalid)?;
        let length = frame.len() - LENGTH_BYTES;
        let Some(length) = u32::try_from(length).ok().filter(|_| length <= FRAME_BYTES_MAX) else {
            return Err(io::Error::new(ErrorKind::InvalidData, "the message is too long"));
        };
        frame.iter_mut().zip(length.to_le_bytes()).for_each(|(place, byte)| *place = byte);
        self.write(&frame, end)?;
        frame.clear();
        if frame.capacity() <= KEPT_BYTES_MAX {
            self.written = frame;
        }
        Ok(())
    }

    fn write(&mut self, mut bytes: &[u8], end: Option<Instant>) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if is_patient(&error) && end.is_none_or(|end| Instant::now() < end) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Receives a message. After an error that says that the time limit of the socket is over, this may be called again.
    pub(crate) fn receive<M: DeserializeOwned>(&mut self) -> io::Result<M> {
        loop {
            if let Some(message) = self.message()? {
                return Ok(message);
            }
            match self.stream.read(&mut self.chunk)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                count => self.read.extend_from_slice(self.chunk.get(..count).unwrap_or_default()),
            }
        }
    }

    fn message<M: DeserializeOwned>(&mut self) -> io::Result<Option<M>> {
        let Some((length, rest)) = self.read.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(ErrorKind::InvalidData.into());
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let message = postcard::from_bytes(frame).map_err(|_| ErrorKind::InvalidData)?;
        self.read.drain(..LENGTH_BYTES + length);
        if self.read.is_empty() && self.read.capacity() > KEPT_BYTES_MAX {
            self.read = Vec::new();
        }
        Ok(Some(message))
    }
}

/// Whether an operation may be tried again.
pub(crate) fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
