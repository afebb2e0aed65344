//! Bytes of a connection that the kernel buffers. Makes the one kernel call for which no library has a safe function.
#![allow(unsafe_code)]

use rustix::ioctl::{Getter, Opcode, ioctl};
use std::os::fd::AsFd;

/// SIOCOUTQ of Linux: number of bytes that were written to a socket and that the other side has not acknowledged.
const UNACKNOWLEDGED: Opcode = 0x5411;

/// Bytes written to a TCP socket that its other side has not acknowledged; `None` if the system cannot tell.
pub(crate) fn unacknowledged(socket: impl AsFd) -> Option<u64> {
    // SAFETY: for a socket, this number returns one `int`, which fits the getter; for another kind of descriptor, or a system that
    // does not know the number, it is an error.
    let count = unsafe { ioctl(socket, Getter::<UNACKNOWLEDGED, std::ffi::c_int>::new()) }.ok()?;
    u64::try_from(count).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn what_is_not_taken_is_told() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        assert_eq!(unacknowledged(&near), Some(0));
        near.set_nonblocking(true).unwrap();
        let mut written = 0;
        while let Ok(taken) = near.write(&[0; 65_536]) {
            written += taken as u64;
        }
        let held = unacknowledged(&near).unwrap();
        assert!(held > 0 && held < written, "{held} of {written}");
        let mut taken = vec![0; written as usize];
        far.read_exact(&mut taken).unwrap();
        assert_eq!(unacknowledged(&near), Some(0));
    }
}
