//! A gateway whose wall clock is set forward and back by an hour: what ends by the time of day does, what is counted by time that passes
//! does not notice.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::jws::{hs256, now};
use crate::harness::oauth::{make_client, policy, provider, with_policies};
use crate::harness::tokens::{SECRET, with_tokens};
use crate::harness::{Gateway, Setup, Upstream, eventually};
use crate::keys::{call, create, keyed, session_for};

/// The library that stands between a program and the time of day.
pub(crate) fn library() -> PathBuf {
    let path = format!("/usr/lib/{}-linux-gnu/faketime/libfaketime.so.1", std::env::consts::ARCH);
    assert!(Path::new(&path).exists(), "{path} is missing: run scripts/test-deps.sh tests");
    path.into()
}

/// The environment of a program whose wall clock is off by what a file says, such as `+3600`; time that passes is not touched.
pub(crate) fn set_by<'p>(library: &'p Path, clock: &'p Path) -> [(&'static str, &'p str); 5] {
    [
        ("LD_PRELOAD", library.to_str().unwrap()),
        ("FAKETIME_TIMESTAMP_FILE", clock.to_str().unwrap()),
        ("FAKETIME_NO_CACHE", "1"),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
    ]
}

/// A gateway and what says by how much its wall clock is wrong.
struct Stage {
    gateway: Gateway,
    clock: PathBuf,
    _folders: [tempfile::TempDir; 2],
    _upstream: Upstream,
}

impl Stage {
    fn start(conf: Value) -> Stage {
        let (upstream, folder) = (Upstream::ok(), tempfile::tempdir().unwrap());
        let clock = folder.path().join("clock");
        std::fs::write(&clock, "+0").unwrap();
        let (conf, policies) =
            with_policies(conf, &[policy(json!({"access_rights": {"j": {"api_id": "j", "versions": ["Default"]}}}))]);
        let tokens = with_tokens("j", &upstream).set("jwt_policy_field_name", "").set("jwt_default_policies", json!(["gold"]));
        let setup = Setup::new(conf).api(keyed("k", &upstream)).api(provider("a", &upstream)).api(tokens);
        let library = library();
        let gateway = set_by(&library, &clock).iter().fold(setup, |setup, (name, value)| setup.env(name, *value)).start();
        Stage { gateway, clock, _folders: [folder, policies], _upstream: upstream }
    }

    /// Sets the gateway's clock so many seconds off, and waits until it has noticed.
    fn set(&self, off_s: i64) {
        std::fs::write(&self.clock, format!("{off_s:+}")).unwrap();
        eventually("the clock is set", || {
            let unix_ms = self.gateway.control("GET", "/tyk/live", "").json()["unix_ms"].as_i64().expect("a time");
            (unix_ms / 1_000 - now() - off_s).abs() < 60
        });
        // A core reckons with the time that it read last for a moment.
        std::thread::sleep(std::time::Duration::from_millis(1_200));
    }

    fn key(&self, fields: Value) -> String {
        create(&self.gateway, &session_for(&["k"], fields))
    }

    fn status(&self, target: &str, key: &str) -> u16 {
        call(&self.gateway, target, key).status
    }

    fn passed(&self, key: &str, requests: usize) -> usize {
        (0..requests).filter(|_| self.status("/k/", key) == 200).count()
    }
}

const HOUR: i64 = 3_600;

#[test]
fn rates_do_not_notice_and_quotas_begin_anew_by_the_wall_clock() {
    for conf in [json!({}), json!({"enable_fixed_window_rate_limiter": true}), json!({"enable_redis_rolling_limiter": true})] {
        let stage = Stage::start(conf.clone());
        // At most one place of a rate comes back while the test runs.
        let rated = stage.key(json!({"rate": 5, "per": 6_000}));
        let counted = stage.key(json!({"quota_max": 4, "quota_renewal_rate": HOUR / 2}));
        let endless = stage.key(json!({"quota_max": 4, "quota_renewal_rate": 0}));
        assert_eq!(stage.passed(&rated, 8), 5, "{conf}");
        assert_eq!((stage.passed(&counted, 6), stage.passed(&endless, 6)), (4, 4), "{conf}");
        stage.set(HOUR);
        assert_eq!(stage.passed(&rated, 8), 0, "{conf}: an hour forward is no place more");
        assert_eq!(stage.passed(&counted, 2), 2, "{conf}: a quota is there again when its time has come");
        assert_eq!(stage.passed(&endless, 2), 0, "{conf}: one that is never renewed is not");
        for off_s in [0, -HOUR] {
            stage.set(off_s);
            assert_eq!(stage.passed(&rated, 8), 0, "{conf}: {off_s}");
            assert_eq!(stage.passed(&endless, 2), 0, "{conf}: {off_s}");
        }
        assert_eq!(stage.passed(&counted, 6), 2, "{conf}: set back, what was left is left");
        // Longer than its own time it waits for as long as the clock was wrong, and no longer.
        stage.set(HOUR + HOUR / 2 + 60);
        assert_eq!(stage.passed(&counted, 6), 4, "{conf}");
        assert!(!stage.gateway.log().contains("panicked"), "{}", stage.gateway.log());
    }
}

#[test]
fn tokens_and_keys_end_by_the_wall_clock() {
    let stage = Stage::start(json!({"oauth_token_expire": HOUR / 2}));
    make_client(&stage.gateway, json!({}));
    let given = crate::harness::oauth::token(&stage.gateway, "grant_type=client_credentials");
    let granted = crate::harness::oauth::text(&given["access_token"]);
    let ends = hs256(SECRET, &json!({"sub": "joe", "exp": now() + HOUR / 2}));
    let issued = hs256(SECRET, &json!({"sub": "joe", "iat": now() - HOUR / 2, "exp": now() + 10 * HOUR}));
    let begins = hs256(SECRET, &json!({"sub": "joe", "nbf": now() + HOUR / 2, "exp": now() + 10 * HOUR}));
    let key = stage.key(json!({"expires": now() + HOUR / 2}));
    let lasting = stage.key(json!({}));
    let all = || {
        [
            stage.status("/j/", &ends),
            stage.status("/j/", &issued),
            stage.status("/j/", &begins),
            stage.status("/k/", &key),
            stage.status("/k/", &lasting),
        ]
    };
    let is_granted = |token: &str| crate::harness::oauth::call(&stage.gateway, token).status == 200;
    assert_eq!(all(), [200, 200, 401, 200, 200]);
    assert!(is_granted(&granted));
    stage.set(HOUR);
    assert_eq!(all(), [401, 200, 200, 401, 200], "an hour later");
    assert!(!is_granted(&granted));
    let late = crate::harness::oauth::token(&stage.gateway, "grant_type=client_credentials");
    stage.set(0);
    assert_eq!(all(), [200, 200, 401, 200, 200], "what has not ended yet is good again");
    stage.set(-HOUR);
    assert_eq!(all(), [200, 401, 401, 200, 200], "an hour sooner");
    assert!(is_granted(&crate::harness::oauth::text(&late["access_token"])));
    // Everything still works: new tokens, new keys, a reload, the figures.
    let sooner = crate::harness::oauth::token(&stage.gateway, "grant_type=client_credentials");
    assert!(is_granted(&crate::harness::oauth::text(&sooner["access_token"])));
    assert_eq!(stage.gateway.reload().status, 200);
    assert_eq!(stage.gateway.control("GET", "/tyk/metrics", "").status, 200);
    stage.set(0);
    assert_eq!(all(), [200, 200, 401, 200, 200]);
    assert!(!stage.gateway.log().contains("panicked"), "{}", stage.gateway.log());
}
