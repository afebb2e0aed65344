use super::{AuditChain, AuditFile, AuditWriter};
use serde_json::json;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use tollgate_admin::AuditCheck;
use tollgate_admin::AuditKey;
use tollgate_model::config::audit_end;

fn writer(path: &Path) -> AuditWriter {
    AuditWriter::new(path, AuditKey::default())
}

/// A file with some lines, each written after a restart.
fn written(count: usize) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path().join("audit.jsonl");
    for number in 0..count {
        writer(&path).write(&[json!({"user": "ann", "target": number})]).expect("written");
    }
    (directory, path)
}

/// The faults of some files, and the numbers of the first and the last line.
fn checked(paths: &[&Path]) -> (Vec<usize>, u64, u64) {
    let mut check = AuditCheck::default();
    let mut faults = Vec::new();
    for path in paths {
        let file = BufReader::new(File::open(path).expect("a file"));
        check.read(file, |place, _| faults.push(place)).expect("read");
    }
    let (first, end) = check.span().expect("lines");
    (faults, first, end.number)
}

#[test]
fn a_chain_goes_on_over_restarts_rotations_and_both_at_once() {
    let (directory, path) = written(3);
    assert_eq!(checked(&[&path]), (vec![], 1, 3));
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    let mut running = writer(&path);
    running.write(&[json!({"user": "ann"}), json!({"user": "bob"})]).expect("written");
    let old = directory.path().join("audit.jsonl.1");
    fs::rename(&path, &old).expect("moved");
    running.write(&[json!({"user": "ann"})]).expect("written");
    assert_eq!(checked(&[&old, &path]), (vec![], 1, 6));
    let older = directory.path().join("audit.jsonl.2");
    fs::rename(&old, &older).expect("moved");
    fs::rename(&path, &old).expect("moved");
    writer(&path).write(&[json!({"user": "ann"})]).expect("written");
    assert_eq!(checked(&[&older, &old, &path]), (vec![], 1, 7));
}

#[test]
fn two_processes_write_one_chain_as_during_a_restart() {
    let (_directory, path) = written(1);
    let (mut one, mut other) = (writer(&path), writer(&path));
    for turn in 0..6 {
        let next = if turn % 2 == 0 { &mut one } else { &mut other };
        next.write(&[json!({"turn": turn})]).expect("written");
    }
    assert_eq!(checked(&[&path]), (vec![], 1, 7));
}

#[test]
fn lines_that_were_cut_off_show_in_the_next_one() {
    for is_running in [true, false] {
        let (_directory, path) = written(4);
        let mut running = writer(&path);
        running.write(&[]).expect("read");
        let whole = fs::read_to_string(&path).expect("text");
        let kept: Vec<&str> = whole.split_inclusive('\n').take(2).collect();
        fs::write(&path, kept.concat()).expect("cut");
        let next = if is_running { &mut running } else { &mut writer(&path) };
        next.write(&[json!({"user": "ann"})]).expect("written");
        assert_eq!(checked(&[&path]), (vec![3], 1, 5), "running: {is_running}");
    }
}

#[test]
fn a_line_that_a_crash_has_cut_spoils_no_other() {
    let (_directory, path) = written(2);
    let whole = fs::read(&path).expect("bytes");
    fs::write(&path, &whole[..whole.len() - 9]).expect("cut");
    writer(&path).write(&[json!({"user": "ann"})]).expect("written");
    // The line itself, and that its number is missing.
    assert_eq!(checked(&[&path]).0, [2, 3]);
}

#[test]
fn what_cannot_be_written_waits_and_what_found_no_place_is_a_gap() {
    let (directory, path) = written(2);
    let mut writer = writer(&path);
    let lost = writer.lost.clone();
    let away = directory.path().join("away");
    fs::rename(&path, &away).expect("moved");
    fs::create_dir(&path).expect("a folder in its place");
    lost.store(3, Ordering::Relaxed);
    writer.write(&[json!({"user": "ann"})]).expect_err("a folder");
    fs::remove_dir(&path).expect("removed");
    fs::rename(&away, &path).expect("moved back");
    writer.write(&[json!({"user": "ann"})]).expect("written");
    assert_eq!(checked(&[&path]), (vec![], 1, 3), "nothing is lost before");
    assert_eq!(lost.load(Ordering::Relaxed), 0);
    writer.write(&[json!({"user": "ann"})]).expect("written");
    assert_eq!(checked(&[&path]), (vec![4], 1, 7));
}

#[test]
fn the_thread_writes_what_it_is_told_before_it_ends() {
    let (_directory, path) = written(1);
    let file = AuditFile::open(writer(&path)).expect("it opens");
    for number in 0..1_000 {
        file.append(json!({"number": number}), None);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(file.finish());
    assert_eq!(checked(&[&path]), (vec![], 1, 1_001));
    let kept = AuditChain::of_kept(&fs::read(audit_end(&path)).expect("kept"), &AuditKey::default()).expect("an end");
    assert_eq!(kept.number, 1_001);
}
