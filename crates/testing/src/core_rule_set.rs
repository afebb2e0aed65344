//! The OWASP Core Rule Set, which `scripts/test-deps.sh tests` fetches.

use std::path::PathBuf;

/// The directory of its rules.
pub fn core_rule_set() -> PathBuf {
    let program = std::env::current_exe().expect("this test");
    let directory = program.ancestors().nth(3).expect("the target directory").join("test-core-rule-set");
    assert!(directory.join("installed").exists(), "{} is missing: run scripts/test-deps.sh tests", directory.display());
    directory.join("rules")
}
