use super::ReadableFiles;
use std::fs::{create_dir_all, write};
use std::os::unix::fs::symlink;

#[test]
fn files_outside_of_the_directories_are_refused_whatever_their_path_looks_like() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    for name in ["scripts/sub", "scripts/data/inner", "scripts-too", "data"] {
        create_dir_all(at(name)).unwrap();
    }
    for name in [
        "scripts/a.js",
        "scripts/sub/b.js",
        "scripts/data/key",
        "scripts-too/c.js",
        "data/key",
        "passwd",
        "scripts/audit",
        "scripts/audit.end",
    ] {
        write(at(name), "x").unwrap();
    }
    symlink(at("data/key"), at("scripts/link")).unwrap();
    symlink(at("data"), at("scripts/folder")).unwrap();
    symlink(at("scripts"), at("alias")).unwrap();
    let files =
        ReadableFiles::new([at("scripts"), "".into()], &[&at("scripts/data"), &at("scripts/audit"), &at("scripts/audit.end")]);
    for (name, is_admitted) in [
        ("scripts/a.js", true),
        ("scripts/sub/b.js", true),
        ("scripts/sub/../a.js", true),
        ("alias/a.js", true),
        ("scripts/not-there.js", true),
        ("scripts/no/such/folder.js", true),
        ("scripts/no/../../passwd", false),
        ("scripts/no/../../data/key", false),
        ("scripts", true),
        ("scripts-too/c.js", false),
        ("passwd", false),
        ("data/key", false),
        ("data/not-there", false),
        ("scripts/../data/key", false),
        ("scripts/link", false),
        ("scripts/folder/key", false),
        ("scripts/folder/not-there", false),
        ("scripts/data/key", false),
        ("scripts/audit", false),
        ("scripts/sub/../audit.end", false),
        ("scripts/audit.js", true),
        ("scripts/data/not-there", false),
        ("scripts/sub/../data/key", false),
    ] {
        assert_eq!(files.admit(&at(name)).is_ok(), is_admitted, "{name}");
    }
    for name in ["/etc/hostname", "/proc/self/environ", "", "/", "..", "-----BEGIN"] {
        assert!(files.admit(name.as_ref()).is_err(), "{name}");
    }
    assert!(ReadableFiles::default().admit(&at("scripts/a.js")).is_err());
}

#[test]
fn the_innermost_directory_decides() {
    let root = tempfile::tempdir().unwrap();
    create_dir_all(root.path().join("scripts")).unwrap();
    let files = ReadableFiles::new([root.path().join("scripts")], &[root.path()]);
    assert!(files.admit(&root.path().join("scripts/a.js")).is_ok());
    assert!(files.admit(&root.path().join("control-secret")).is_err());
    let same = ReadableFiles::new([root.path().to_owned()], &[root.path()]);
    assert!(same.admit(&root.path().join("control-secret")).is_err());
}
