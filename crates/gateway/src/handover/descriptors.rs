//! Passes descriptors from one process to another, over a socket pair (`SCM_RIGHTS`).

use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Descriptors per message; Linux accepts up to 253.
const MESSAGE_MAX: usize = 64;
const SPACE: usize = cmsg_space!(ScmRights(MESSAGE_MAX));

/// Sends descriptors in order.
pub(super) fn send(talk: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    for some in descriptors.chunks(MESSAGE_MAX) {
        let mut space = [MaybeUninit::uninit(); SPACE];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(some));
        // Descriptors can only be sent with at least one byte.
        sendmsg(talk, &[IoSlice::new(&[0])], &mut ancillary, SendFlags::NOSIGNAL)?;
    }
    Ok(())
}

/// Receives `count` descriptors, in the order in which they were sent; children of this process do not inherit them.
pub(super) fn receive(talk: &UnixStream, count: usize) -> io::Result<Vec<OwnedFd>> {
    let mut descriptors = Vec::new();
    while descriptors.len() < count {
        let mut space = [MaybeUninit::uninit(); SPACE];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(talk, &mut [IoSliceMut::new(&mut [0])], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
        if received.bytes == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(some) = message {
                descriptors.extend(some);
            }
        }
    }
    Ok(descriptors)
}

#[cfg(test)]
mod tests;
