use super::*;

#[test]
fn a_full_file_is_replaced_and_the_oldest_goes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("records.json");
    let mut file = LogFile::new(&path, 10, 2);
    for line in ["aaaaaaa\n", "bbbbbbb\n", "ccccccc\n", "ddddddd\n"] {
        file.write(line.as_bytes()).unwrap();
    }
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).ok();
    assert_eq!(read("records.json").as_deref(), Some("ddddddd\n"));
    assert_eq!(read("records.json.1").as_deref(), Some("ccccccc\n"));
    assert_eq!(read("records.json.2").as_deref(), Some("bbbbbbb\n"));
    assert_eq!(read("records.json.3"), None);
}

#[test]
fn an_existing_file_is_continued() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("access.log");
    std::fs::write(&path, "before\n").unwrap();
    LogFile::new(&path, 1_000, 2).write(b"after\n").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before\nafter\n");
}

#[test]
fn a_file_that_is_moved_away_is_begun_anew() {
    let directory = tempfile::tempdir().unwrap();
    let (path, moved) = (directory.path().join("access.log"), directory.path().join("yesterday.log"));
    let mut file = LogFile::new(&path, 1_000, 2);
    file.write(b"before\n").unwrap();
    std::fs::rename(&path, &moved).unwrap();
    std::thread::sleep(LOOK_EVERY);
    file.write(b"after\n").unwrap();
    file.write(b"and more\n").unwrap();
    assert_eq!(std::fs::read_to_string(&moved).unwrap(), "before\n");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "after\nand more\n");
}

#[test]
fn what_is_no_regular_file_keeps_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("access.log");
    // A symbolic link, so that a failure harms no device.
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    let mut file = LogFile::new(&path, 10, 2);
    for _ in 0..3 {
        file.write(b"aaaaaaa\n").unwrap();
    }
    let names: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["access.log"]);
}

#[test]
fn a_path_that_can_not_be_written_is_known_at_once() {
    let error = LogFile::new(Path::new("/nowhere/at/all"), 1, 1).check().unwrap_err();
    assert!(error.to_string().starts_with("/nowhere/at/all: "), "{error}");
}
