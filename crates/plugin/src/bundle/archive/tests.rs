use super::*;

fn file(name: &str, content: &[u8]) -> ArchivedFile {
    ArchivedFile { name: name.to_owned(), content: content.to_vec() }
}

#[test]
fn what_is_written_is_read_again() {
    let files = [file("a.js", b"var a = 1;"), file("lib/b.js", &b"abc".repeat(10_000)), file("empty", b"")];
    let archive = write(&files).unwrap();
    assert!(archive.len() < 2_000, "it is packed");
    assert_eq!(read(&archive).unwrap(), files);
    assert_eq!(write(&files).unwrap(), archive, "equal files make equal archives");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in ["../a", "a/../b", "/etc/passwd", "a//b", "a\\b", "C:a", "", ".", "a/./b", "a\nb", &"x".repeat(NAME_BYTES_MAX + 1)]
    {
        assert!(check_name(name).is_err(), "{name:?}");
        assert!(write(&[file(name, b"x")]).is_err(), "{name:?}");
    }
    for name in ["a", "a/b/c.js", "..a", "a..b", "ü"] {
        assert_eq!(check_name(name), Ok(()), "{name:?}");
    }
    // An archive that somebody else has made.
    let mut archive = write(&[file("aa/b", b"x")]).unwrap();
    while let Some(at) = archive.windows(4).position(|window| window == b"aa/b") {
        archive[at..at + 4].copy_from_slice(b"../b");
    }
    assert!(read(&archive).unwrap_err().contains("leads out of the bundle"));
}

#[test]
fn broken_archives_are_refused_and_never_panic() {
    let archive = write(&[file("a.js", b"var a = 1;"), file("b.js", &b"abc".repeat(100))]).unwrap();
    for cut in 0..archive.len() {
        assert!(read(&archive[..cut]).is_err(), "cut at {cut}");
    }
    for at in 0..archive.len() {
        for bit in [1u8, 0x80] {
            let mut changed = archive.clone();
            changed[at] ^= bit;
            // Some changes, such as those of dates, do not matter; whatever is read is what was written.
            if let Ok(files) = read(&changed) {
                let contents: Vec<_> = files.iter().map(|file| file.content.len()).collect();
                assert!(contents.iter().all(|length| [10, 300].contains(length)), "changed at {at}");
            }
        }
    }
    for bytes in [&b""[..], b"PK\x05\x06", &[0; 22], b"not an archive at all, but long enough to hold its end"] {
        assert!(read(bytes).is_err());
    }
}

#[test]
fn a_small_archive_does_not_become_large() {
    let mut archive = write(&[file("a", &vec![0; 1 << 20])]).unwrap();
    // The file claims to have 5 bytes; unpacking it stops there.
    let length = (1u32 << 20).to_le_bytes();
    let places: Vec<usize> = (0..archive.len() - 3).filter(|at| archive[*at..at + 4] == length).collect();
    places.iter().for_each(|at| archive[*at..at + 4].copy_from_slice(&5u32.to_le_bytes()));
    assert!(read(&archive).unwrap_err().contains("broken"));
    places.iter().for_each(|at| archive[*at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes()));
    assert!(read(&archive).unwrap_err().contains("more than"));
}
