//! Descriptors on their way from one process to another, over the socket pair between them (`SCM_RIGHTS`).

use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Descriptors of one message; Linux takes 253.
const MESSAGE_MAX: usize = 64;
const SPACE: usize = cmsg_space!(ScmRights(MESSAGE_MAX));

/// Sends descriptors, in their order.
pub(super) fn send(talk: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    for some in descriptors.chunks(MESSAGE_MAX) {
        let mut space = [MaybeUninit::uninit(); SPACE];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(some));
        // Descriptors do not travel without a byte.
        sendmsg(talk, &[IoSlice::new(&[0])], &mut ancillary, SendFlags::NOSIGNAL)?;
    }
    Ok(())
}

/// Receives so many descriptors, in the order in which they were sent; children of this process do not get them.
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
