use super::{read, read_text};
use std::path::Path;

#[test]
fn no_more_is_read_than_a_file_may_have() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "four").unwrap();
    assert_eq!(read(&file, 4).unwrap(), b"four");
    assert_eq!(read_text(&file, 5).unwrap(), "four");
    assert_eq!(read(&file, 3).unwrap_err().to_string(), "larger than 3 bytes");
    // Its size is 0, and it has no end.
    assert_eq!(read(Path::new("/dev/zero"), 1 << 20).unwrap_err().to_string(), "larger than 1048576 bytes");
    assert!(read(directory.path(), 4).is_err());
    std::fs::write(&file, b"\xff\xfe").unwrap();
    assert!(read_text(&file, 4).unwrap_err().to_string().contains("UTF-8"));
}
