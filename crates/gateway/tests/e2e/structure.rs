//! `scripts/structure.py --check`, which holds the borders between modules.

use std::fs;
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Whether the check passes, and what it prints.
fn check(workspace: &Path) -> (bool, String) {
    let script = root().join("scripts/structure.py");
    let output = Command::new("python3").arg(script).arg("--check").arg("--root").arg(workspace).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn no_module_imports_one_that_imports_it() {
    let (passes, said) = check(root());
    assert!(passes, "{said}");
}

#[test]
fn a_cycle_is_found_through_names_that_are_passed_on() {
    let lower = "pub struct Lower;\n";
    let upper = "use super::lower::Lower;\npub struct Upper(Lower);\n";
    // The parent passes the name on: the import is of the module that declares it.
    let cyclic = "use super::Upper;\npub struct Lower(Option<Box<Upper>>);\n";
    for (text, expect) in [(lower, true), (cyclic, false)] {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("crates/sample/src");
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join("lib.rs"), "mod lower;\nmod upper;\npub use upper::Upper;\n").unwrap();
        fs::write(source.join("lower.rs"), text).unwrap();
        fs::write(source.join("upper.rs"), upper).unwrap();
        let (passes, said) = check(directory.path());
        assert_eq!(passes, expect, "{said}");
        assert_eq!(said.contains("cycle in sample: lower, upper (2 files)"), !expect, "{said}");
    }
}
