//! `tollgate migrate`: keys and quotas move between the embedded store and Redis, and serve where they arrive.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::harness::{Gateway, Upstream};
use crate::keys::{call, create, keyed, session};
use crate::servers::Server;

fn migrate(conf: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_tollgate");
    Command::new(program).arg("migrate").arg("--conf").arg(conf).args(arguments).output().expect("it runs")
}

fn text(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{:?}\n{out}{err}", output.status)
}

/// A configuration file for the tool, and the same with one store or the other for gateways.
struct Setting {
    dir: tempfile::TempDir,
    server: Server,
    hash_keys: bool,
}

impl Setting {
    fn new(hash_keys: bool) -> Setting {
        Setting { dir: tempfile::tempdir().expect("a folder"), server: Server::start(&[]), hash_keys }
    }

    fn embedded(&self) -> Value {
        json!({"hash_keys": self.hash_keys, "tollgate": {"data_dir": self.dir.path().join("data")}})
    }

    fn redis(&self) -> Value {
        crate::shared_keys::patient(
            json!({"hash_keys": self.hash_keys, "storage": {"host": "127.0.0.1", "port": self.server.port}}),
        )
    }

    fn conf(&self) -> PathBuf {
        let mut both = self.embedded();
        crate::harness::definition::merge(&mut both, &self.redis());
        let path = self.dir.path().join("both.conf");
        std::fs::write(&path, both.to_string()).expect("a configuration");
        path
    }
}

fn ended(mut gateway: Gateway) {
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
}

#[test]
fn keys_and_quotas_serve_in_redis_and_then_in_a_new_data_directory() {
    for hash_keys in [false, true] {
        let (setting, upstream) = (Setting::new(hash_keys), Upstream::ok());
        let gateway = Gateway::start(setting.embedded(), [keyed("a", &upstream)]);
        let quota = session(json!({"quota_max": 100, "quota_renewal_rate": 3600, "alias": "moved"}));
        let keys: Vec<String> = (0..20).map(|_| create(&gateway, &quota)).collect();
        let left = |gateway: &Gateway, key: &str| {
            let response = call(gateway, "/a/", key);
            assert_eq!(response.status, 200, "{response}");
            response.header("x-ratelimit-remaining").expect("what is left").parse::<u64>().expect("a number")
        };
        assert_eq!(left(&gateway, &keys[0]), 99);
        assert_eq!(left(&gateway, &keys[0]), 98);
        let conf = setting.conf();
        let busy = migrate(&conf, &["--from", "embedded", "--to", "redis"]);
        assert!(!busy.status.success() && text(&busy).contains("another process uses"), "{}", text(&busy));
        ended(gateway);

        let dry = migrate(&conf, &["--from", "embedded", "--to", "redis", "--dry-run"]);
        assert!(dry.status.success() && text(&dry).contains("keys: 20 (20 new, 0 there already)"), "{}", text(&dry));
        assert_eq!(setting.server.cli(&["DBSIZE"]), "0");
        for (new, there) in [(20, 0), (0, 20)] {
            let done = migrate(&conf, &["--from", "embedded", "--to", "redis"]);
            let told = format!("keys: 20 ({new} new, {there} there already)");
            assert!(done.status.success() && text(&done).contains(&told), "{}", text(&done));
            assert!(text(&done).contains("quotas: 1 ("), "{}", text(&done));
        }

        let gateway = Gateway::start(setting.redis(), [keyed("a", &upstream)]);
        assert!(keys[1..].iter().all(|key| left(&gateway, key) == 99));
        ended(gateway);

        std::fs::remove_dir_all(setting.dir.path().join("data")).expect("the old data");
        let back = migrate(&conf, &["--from", "redis", "--to", "embedded"]);
        assert!(back.status.success() && text(&back).contains("keys: 20 (20 new, 0 there already)"), "{}", text(&back));
        let gateway = Gateway::start(setting.embedded(), [keyed("a", &upstream)]);
        for key in &keys {
            assert_eq!(call(&gateway, "/a/", key).status, 200);
        }
        assert_eq!(left(&gateway, &keys[1]), 97);
        assert_eq!(gateway.control("GET", &format!("/tyk/keys/{}", keys[0]), "").json()["alias"], "moved");
        assert_eq!(gateway.control("DELETE", &format!("/tyk/keys/{}", keys[0]), "").status, 200);
        assert_eq!(call(&gateway, "/a/", &keys[0]).status, 403);
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let setting = Setting::new(true);
    let conf = setting.conf();
    for (arguments, told) in [
        (&["--from", "redis", "--to", "redis"][..], "the same store"),
        (&["--from", "redis"], "--to"),
        (&["--from", "mongo", "--to", "redis"], "possible values"),
    ] {
        let output = migrate(&conf, arguments);
        assert!(!output.status.success() && text(&output).contains(told), "{}", text(&output));
    }
    let alone = setting.dir.path().join("alone.conf");
    std::fs::write(&alone, setting.embedded().to_string()).expect("a configuration");
    let output = migrate(&alone, &["--from", "embedded", "--to", "redis"]);
    assert!(!output.status.success() && text(&output).contains("no Redis is configured"), "{}", text(&output));
}
