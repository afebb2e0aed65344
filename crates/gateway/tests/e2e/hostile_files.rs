//! Files that no gateway can use, given to `tollgate check` by name and in a directory: each ends with a message that names it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

fn check(words: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").args(words).arg(file).output().unwrap()
}

/// Writes them, and says what is expected of each.
fn write_files(directory: &Path) -> Vec<(&'static str, &'static str)> {
    let file = |name: &str| directory.join(name);
    fs::File::create(file("large.json")).unwrap().set_len(100 << 20).unwrap();
    fs::write(file("deep.json"), format!("{{\"api_id\": \"a\", \"x\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000))).unwrap();
    let members = format!("{}1{}", "{\"a\": ".repeat(100_000), "}".repeat(100_000));
    fs::write(file("deep-openapi.json"), format!("{{\"openapi\": \"3.0.3\", \"x\": {members}}}")).unwrap();
    let mut aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let list = vec![format!("*a{}", level - 1); 9].join(", ");
        aliases.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    fs::write(file("aliases.yaml"), aliases).unwrap();
    fs::write(file("bytes.json"), b"{\"name\": \"\xff\xfe\"}").unwrap();
    symlink(file("circle-b.json"), file("circle-a.json")).unwrap();
    symlink(file("circle-a.json"), file("circle-b.json")).unwrap();
    vec![
        ("large.json", "larger than"),
        ("deep.json", "nested deeper than"),
        ("deep-openapi.json", "nested deeper than"),
        ("aliases.yaml", "not valid YAML"),
        ("bytes.json", "not valid JSON"),
        ("circle-a.json", "cannot be read"),
        ("missing.json", "cannot be read"),
    ]
}

#[test]
fn each_ends_with_a_message_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    for (name, expected) in write_files(directory.path()) {
        let file = directory.path().join(name);
        for words in [&[][..], &["--conf"]] {
            let output = check(words, &file);
            let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert_eq!(output.status.code(), Some(1), "{name} {words:?}: {told}");
            assert!(told.contains(name) && told.contains(expected), "{name} {words:?}: {told}");
        }
    }
    // It tells no size, and has no end.
    for words in [&[][..], &["--conf"]] {
        let output = check(words, Path::new("/dev/zero"));
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.code() == Some(1) && told.contains("a pipe or a device"), "{words:?}: {told}");
    }
}

#[test]
fn a_directory_is_read_once_whatever_its_links_lead_to() {
    let directory = tempfile::tempdir().unwrap();
    let expected = write_files(directory.path());
    symlink(directory.path(), directory.path().join("self")).unwrap();
    symlink("/dev/zero", directory.path().join("zero.json")).unwrap();
    let output = check(&[], directory.path());
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    for (name, why) in expected.iter().filter(|(name, _)| name.starts_with("large") || name.starts_with("deep.")) {
        let lines: Vec<&str> = told.lines().filter(|line| line.contains(name) && line.contains(why)).collect();
        assert_eq!(lines.len(), 1, "{name}: {told}");
    }
}
