//! The regression tests of the OWASP Core Rule Set, on its rules as they are published, in the format of go-ftw. What fails is listed beside this
//! file; the list must be exact, so that a change shows what it gains and loses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "core_rule_set/case.rs"]
mod case;

use case::{Case, Judgement};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tollgate_waf::{RuleFile, RuleFiles, RuleProfile, Ruleset};

/// Where `scripts/test-deps.sh tests` puts the rules and their tests.
fn directory() -> PathBuf {
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
    target.join("test-core-rule-set")
}

/// The settings of the project's own runs: everything is looked at, and nothing is refused.
const SETUP: &str = r#"SecAction "id:900005,phase:1,nolog,pass,\
setvar:tx.detection_paranoia_level=4,setvar:tx.blocking_paranoia_level=4,setvar:tx.crs_validate_utf8_encoding=1,\
setvar:tx.arg_name_length=100,setvar:tx.arg_length=400,setvar:tx.total_arg_length=64000,setvar:tx.max_num_args=255,\
setvar:tx.max_file_size=64100,setvar:tx.combined_file_sizes=65535,ctl:ruleEngine=DetectionOnly""#;

fn rules() -> Ruleset {
    let rules = directory().join("rules");
    let mut files = RuleFiles::default();
    files.add("crs-setup.conf", fs::read_to_string(rules.join("@crs-setup.conf.example")).unwrap());
    files.rules.push(RuleFile { name: "tests.conf".to_owned(), text: SETUP.to_owned() });
    for path in sorted(&rules.join("@owasp_crs")) {
        files.add(path.file_name().unwrap().to_str().unwrap(), fs::read_to_string(&path).unwrap());
    }
    Ruleset::compile(&files).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}; run scripts/test-deps.sh tests", directory.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn cases() -> Vec<Case> {
    let folders = sorted(&directory().join("tests")).into_iter().filter(|path| path.is_dir());
    folders.flat_map(|folder| sorted(&folder)).flat_map(|file| case::read(&file)).collect()
}

#[test]
fn the_rules_behave_as_their_own_tests_say() {
    let (rules, profile, cases) = (rules(), RuleProfile::default(), cases());
    assert!(cases.len() > 4_000, "{} tests", cases.len());
    let (next, judged) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let judgement = case.run(&rules, &profile);
                    judged.lock().unwrap().insert((&case.file, case.number), (case.folder.as_str(), judgement));
                }
            });
        }
    });
    let judged = judged.into_inner().unwrap();
    let mut table: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let (mut failures, mut whys) = (String::new(), String::new());
    for ((file, number), (folder, judgement)) in &judged {
        let row = table.entry(folder).or_default();
        match judgement {
            Judgement::Passed => row[0] += 1,
            Judgement::Failed(why) => {
                row[1] += 1;
                writeln!(failures, "{file}-{number}").unwrap();
                writeln!(whys, "{file}-{number}: {why}").unwrap();
            }
            Judgement::NotJudged => row[2] += 1,
        }
    }
    for (folder, [passed, failed, other]) in &table {
        println!("| {folder} | {passed} | {failed} | {other} |");
    }
    assert_eq!(failures, include_str!("core_rule_set/failures.txt"), "\n{whys}");
}
