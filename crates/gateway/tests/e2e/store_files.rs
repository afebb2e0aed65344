//! The files of the embedded store as operators meet them: emptied, cut, copied, and on a disk that is full.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Gateway, Upstream, eventually, get, skip};
use crate::keys::{call, create, keyed, session};

fn on(data: &Path, upstream: &Upstream) -> Gateway {
    Gateway::start(json!({"tollgate": {"data_dir": data}}), [keyed("a", upstream)])
}

/// A directory of a store with one key, whose gateway was killed.
fn killed(upstream: &Upstream) -> (TempDir, String) {
    let data = tempfile::tempdir().unwrap();
    let gateway = on(data.path(), upstream);
    let key = create(&gateway, &session(json!({})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    (data, key)
}

/// The one file in a directory whose name begins so and does not end with the name of a log.
fn kept(data: &Path, start: &str) -> PathBuf {
    let paths = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let kept: Vec<PathBuf> = paths.filter(|path| name(path).starts_with(start) && name(path).ends_with('Z')).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    kept[0].clone()
}

/// The lines of a log at level error.
fn errors(gateway: &Gateway) -> Vec<String> {
    gateway.log().lines().filter(|line| line.contains(" ERROR ")).map(str::to_owned).collect()
}

#[test]
fn a_kill_loses_nothing_and_says_nothing() {
    let upstream = Upstream::ok();
    let (data, key) = killed(&upstream);
    let gateway = on(data.path(), &upstream);
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    assert_eq!(errors(&gateway), [""; 0]);
}

#[test]
fn an_emptied_store_is_an_error_that_names_what_is_left() {
    let upstream = Upstream::ok();
    let (data, key) = killed(&upstream);
    fs::write(data.path().join("tollgate.db"), "").unwrap();
    let gateway = on(data.path(), &upstream);
    assert_eq!(call(&gateway, "/a/", &key).status, 403);
    let kept = kept(data.path(), "tollgate.db.emptied-");
    let errors = errors(&gateway);
    assert_eq!(errors.len(), 1, "{errors:?}");
    for name in [data.path().join("tollgate.db"), kept] {
        assert!(errors[0].contains(name.to_str().unwrap()), "{errors:?}");
    }
    let again = create(&gateway, &session(json!({})));
    assert_eq!(call(&gateway, "/a/", &again).status, 200);
}

#[test]
fn a_cut_log_is_an_error_that_names_what_is_left() {
    let upstream = Upstream::ok();
    let (data, key) = killed(&upstream);
    File::options().write(true).open(data.path().join("tollgate.db-wal")).unwrap().set_len(100).unwrap();
    let gateway = on(data.path(), &upstream);
    assert_eq!(call(&gateway, "/a/", &key).status, 403);
    let kept = kept(data.path(), "tollgate.db.cut-");
    let errors = errors(&gateway);
    assert_eq!(errors.len(), 1, "{errors:?}");
    for name in [data.path().join("tollgate.db"), kept] {
        assert!(errors[0].contains(name.to_str().unwrap()), "{errors:?}");
    }
}

#[test]
fn a_first_start_is_no_error() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().unwrap();
    assert_eq!(errors(&on(&data.path().join("new"), &upstream)), [""; 0]);
}

#[test]
fn after_a_stop_the_database_alone_has_all_keys() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().unwrap();
    let mut gateway = on(data.path(), &upstream);
    let keys: Vec<String> =
        (0..20).map(|_| create(&gateway, &session(json!({"quota_max": 10, "quota_renewal_rate": 3600})))).collect();
    assert_eq!(call(&gateway, "/a/", &keys[0]).status, 200);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    let copy = tempfile::tempdir().unwrap();
    fs::copy(data.path().join("tollgate.db"), copy.path().join("tollgate.db")).unwrap();
    let gateway = on(copy.path(), &upstream);
    for key in &keys {
        assert_eq!(call(&gateway, "/a/", key).status, 200, "{key}");
    }
    let left = gateway.control("GET", &format!("/tyk/keys/{}", keys[0]), "").json();
    assert_eq!(left["quota_remaining"], 8, "{left}");
}

/// A small disk; gone when it is dropped.
struct Disk(TempDir);

impl Disk {
    fn mount() -> Option<Disk> {
        let disk = Disk(tempfile::tempdir().unwrap());
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(disk.0.path()).output().ok()?;
        if mount.status.success() {
            return Some(disk);
        }
        skip(&format!("no small disk can be mounted: {}", String::from_utf8_lossy(&mount.stderr)));
        None
    }

    fn filler(&self) -> PathBuf {
        self.0.path().join("filler")
    }

    fn fill(&self) {
        let mut filler = File::create(self.filler()).unwrap();
        let full = (0..4_096).find_map(|_| filler.write_all(&[0; 4_096]).err());
        assert!(full.is_some(), "the disk is larger than it should be");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

#[test]
fn a_full_disk_is_told_with_every_change_and_by_the_probe() {
    let Some(disk) = Disk::mount() else { return };
    let upstream = Upstream::ok();
    let gateway = on(&disk.0.path().join("data"), &upstream);
    let key = create(&gateway, &session(json!({})));
    assert_eq!(gateway.control("POST", "/tyk/org/keys/default", "{}").status, 200);
    assert_eq!(gateway.get("/ready").status, 200);
    disk.fill();
    for (method, target, body) in [
        ("DELETE", format!("/tyk/keys/{key}"), ""),
        ("DELETE", "/tyk/org/keys/default".to_owned(), ""),
        ("POST", "/tyk/keys/create".to_owned(), &*session(json!({})).to_string()),
    ] {
        let answer = gateway.control(method, &target, body);
        assert_eq!(answer.status, 500, "{method} {target}: {answer}");
        assert!(answer.text().contains("no room left for the store: "), "{method} {target}: {answer}");
        assert!(answer.text().contains("/data/tollgate.db"), "{method} {target}: {answer}");
    }
    let ready = gateway.get("/ready");
    assert_eq!(ready.status, 503, "{ready}");
    assert!(ready.json()["details"]["store"]["output"].as_str().unwrap().starts_with("no room left for the store: "), "{ready}");
    assert!(gateway.control("GET", "/tyk/metrics", "").text().contains("tollgate_store_up{store=\"keys\"} 0\n"));
    assert_eq!(call(&gateway, "/a/", &key).status, 200, "what is in memory serves");
    assert_eq!(gateway.send(get("/live")).status, 200);

    fs::remove_file(disk.filler()).unwrap();
    eventually("the store can be written to again", || gateway.get("/ready").status == 200);
    assert_eq!(gateway.control("DELETE", &format!("/tyk/keys/{key}"), "").status, 200);
    assert_eq!(call(&gateway, "/a/", &key).status, 403);
    drop(gateway);
}
