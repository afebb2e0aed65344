//! Descriptors that this process was started with, by their numbers. The one place where a number becomes a descriptor, and so the one
//! that is not safe: see [`take`].
#![allow(unsafe_code)]

use rustix::io::{Errno, FdFlags, fcntl_getfd, fcntl_setfd};
use socket2::SockRef;
use std::io;
use std::net::TcpListener;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Standard input, output and error are nobody's to take.
const FIRST: RawFd = 3;

/// Takes the descriptor of a number; children of this process do not get it any more.
///
/// To be called at the very start of the process, once for each number, before anything else is opened: then what is open under a number
/// is what the process was started with, or nothing.
///
/// # Errors
/// The number is not that of an open descriptor.
pub fn take(number: RawFd) -> io::Result<OwnedFd> {
    if number < FIRST {
        return Err(Errno::BADF.into());
    }
    // SAFETY: the number is not negative, and what it borrows is only asked whether it is open, for which it need not be.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    let flags = fcntl_getfd(borrowed)?;
    fcntl_setfd(borrowed, flags | FdFlags::CLOEXEC)?;
    // SAFETY: it is open, as was just seen, and it was put there for this process by who started it; nothing else in here has it, as
    // callers come before anything is opened and ask once for a number.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// The same for a listening TCP socket.
///
/// # Errors
/// Also when the descriptor is another thing.
pub fn take_listener(number: RawFd) -> io::Result<TcpListener> {
    let socket = TcpListener::from(take(number)?);
    let is_listening = socket.local_addr().and_then(|_| SockRef::from(&socket).is_listener());
    match is_listening {
        Ok(true) => socket.set_nonblocking(true).map(|()| socket),
        Ok(false) | Err(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a listening TCP socket")),
    }
}
