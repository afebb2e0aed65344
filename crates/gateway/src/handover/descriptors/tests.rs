use super::*;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

#[test]
fn descriptors_arrive_in_their_order_with_what_is_said_after_them() {
    let (one_end, other_end) = UnixStream::pair().unwrap();
    let files: Vec<File> = (0..MESSAGE_MAX as u32 + 2)
        .map(|number| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&number.to_be_bytes()).unwrap();
            file
        })
        .collect();
    send(&one_end, &files.iter().map(AsFd::as_fd).collect::<Vec<_>>()).unwrap();
    (&one_end).write_all(b"go\n").unwrap();
    drop(one_end);
    let received = receive(&other_end, files.len()).unwrap();
    for (number, descriptor) in received.into_iter().enumerate() {
        let mut bytes = [0; 4];
        std::os::unix::fs::FileExt::read_exact_at(&File::from(descriptor), &mut bytes, 0).unwrap();
        assert_eq!(u32::from_be_bytes(bytes), number as u32);
    }
    let mut said = String::new();
    (&other_end).read_to_string(&mut said).unwrap();
    assert_eq!(said, "go\n");
    assert_eq!(receive(&other_end, 1).unwrap_err().kind(), ErrorKind::UnexpectedEof);
}
