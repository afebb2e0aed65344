//! What the gateway watches and tells of by itself: quotas that are used to a share, certificates that end, and rates that rise and fall in
//! steps.

use serde_json::{Value, json};

use crate::harness::certificates::{Authority, Made};
use crate::harness::{Gateway, Setup, Upstream, api, eventually};
use crate::keys::{call, create, keyed, session};
use crate::servers::Server;
use crate::webhooks::{bodies, webhook, with_events};

fn meta(receiver: &Upstream) -> Value {
    webhook(receiver, json!({}))["handler_meta"].clone()
}

fn monitored(receiver: &Upstream, own: Value) -> Value {
    let mut monitor = json!({"enable_trigger_monitors": true, "configuration": meta(receiver)});
    crate::harness::definition::merge(&mut monitor, &own);
    json!({"monitor": monitor, "enforce_org_quotas": true})
}

fn trigger(org: &str, key: &str, limit: &str) -> Value {
    json!({"event": "TriggerExceeded", "message": "Quota trigger reached", "org": org, "key": key, "trigger_limit": limit})
}

#[test]
fn the_use_of_a_quota_is_told_once_for_each_share_that_it_reaches() {
    let (upstream, receiver) = (Upstream::ok(), Upstream::ok());
    let conf = monitored(&receiver, json!({"global_trigger_limit": 90, "monitor_user_keys": true}));
    let gateway = Gateway::start(conf, [keyed("a", &upstream)]);
    // Tyk takes the first of the list that is reached: it is in descending order.
    let fields = json!({"quota_max": 10, "quota_renewal_rate": 3600, "monitor": {"trigger_limits": [80, 50]}});
    let (key, other) =
        (create(&gateway, &session(fields)), create(&gateway, &session(json!({"quota_max": 10, "quota_renewal_rate": 3600}))));
    let five = |key: &str| assert!((0..5).all(|_| call(&gateway, "/a/", key).status == 200));
    (0..4).for_each(|_| assert_eq!(call(&gateway, "/a/", &key).status, 200));
    assert_eq!(receiver.requests(), 0, "40 percent are nothing to tell");
    (0..4).for_each(|_| assert_eq!(call(&gateway, "/a/", &key).status, 200));
    assert_eq!(bodies(&receiver, 2), [trigger("default", &key, "50"), trigger("default", &key, "80")]);
    (0..4).for_each(|_| drop(call(&gateway, "/a/", &key)));
    // Without limits of its own, a key has that of all.
    five(&other);
    five(&other);
    assert_eq!(bodies(&receiver, 4)[2..], [trigger("default", &key, "90"), trigger("default", &other, "90")]);
    let log = gateway.log();
    assert!(!log.contains(&key), "{log}");
}

#[test]
fn the_quota_of_an_organisation_is_watched_and_a_monitor_that_is_off_tells_nothing() {
    let (upstream, receiver) = (Upstream::ok(), Upstream::ok());
    let start = |own: Value| {
        let gateway = Gateway::start(monitored(&receiver, own), [api("a", "/a/", &upstream.url()).set("org_id", "acme")]);
        let quota = json!({"quota_max": 2, "quota_renewal_rate": 3600, "monitor": {"trigger_limits": [100]}});
        assert_eq!(gateway.control("PUT", "/tyk/org/keys/acme", &quota.to_string()).status, 200);
        assert_eq!([0; 3].map(|_| gateway.get("/a/").status), [200, 200, 403]);
        gateway
    };
    for own in [json!({"enable_trigger_monitors": false, "monitor_org_keys": true}), json!({"monitor_user_keys": true})] {
        drop(start(own));
    }
    assert_eq!(receiver.requests(), 0);
    let _gateway = start(json!({"monitor_org_keys": true}));
    assert_eq!(bodies(&receiver, 1), [trigger("acme", "", "100")]);
}

#[test]
fn a_monitor_that_cannot_work_is_an_error_with_its_place() {
    let receiver = Upstream::ok();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tyk.conf");
    let template = dir.path().join("monitor.json");
    std::fs::write(&template, "{{.Meta.HostInfo.CheckURL}}").unwrap();
    for (own, wanted) in [
        (json!({"configuration": {"target_path": "/hook"}}), "$.monitor.configuration.target_path"),
        (json!({"global_trigger_limit": 101}), "$.monitor.global_trigger_limit"),
        (json!({"monitor_user_keys": false}), "watches nothing"),
    ] {
        std::fs::write(&file, monitored(&receiver, own).to_string()).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg(&file).output().unwrap();
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    let conf = monitored(&receiver, json!({"monitor_user_keys": true, "configuration": {"template_path": template}}));
    std::fs::write(&file, conf.to_string()).unwrap();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_tollgate"))
        .args(["run", "--conf"])
        .arg(&file)
        .current_dir(dir.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!run.status.success() && told.contains("$.monitor.configuration.template_path"), "{told}");
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [keyed("a", &upstream)]);
    let refused = gateway.control("POST", "/tyk/keys", &session(json!({"monitor": {"trigger_limits": ["80"]}})).to_string());
    assert_eq!(refused.status, 400, "{refused}");
}

/// A certificate for `name` that ends after this time, a little more than hours.
fn ending(authority: &Authority, name: &str, hours: i64) -> Made {
    authority.issue_with(&[name], |params| {
        params.not_before = (std::time::SystemTime::now() - std::time::Duration::from_secs(90 * 24 * 3600)).into();
        let end = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
        let hours = std::time::Duration::from_secs(hours.unsigned_abs() * 3600);
        params.not_after = end.checked_add(hours).unwrap().into();
    })
}

#[test]
fn certificates_that_end_are_told_to_the_apis_that_use_them_and_to_the_gateway() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new("tests");
    let (soon, later, over) =
        (ending(&authority, "soon.test", 75), ending(&authority, "later.test", 40 * 24), authority.issue_expired(&["over.test"]));
    let [soon_file, later_file, over_file] =
        [(&soon, "soon.pem"), (&later, "later.pem"), (&over, "over.pem")].map(|(made, name)| made.write(dir.path(), name));
    let (upstream, receiver, owner) = (Upstream::ok(), Upstream::ok(), Upstream::ok());
    let events = |receiver: &Upstream| {
        let hook = || json!([webhook(receiver, json!({}))]);
        json!({"CertificateExpiringSoon": hook(), "CertificateExpired": hook()})
    };
    let definition = api("a", "/a/", &upstream.url())
        .set("use_mutual_tls_auth", true)
        .set("client_certificates", json!([soon_file, later_file]))
        .set("upstream_certificates", json!({"*": over_file}));
    let conf = json!({
        "http_server_options": {"use_ssl": true, "certificates": [{"cert_file": soon_file, "key_file": soon_file}]},
        "security": {"certificate_expiry_monitor": {"check_cooldown_seconds": 1}},
        "event_handlers": {"events": events(&owner)},
    });
    let _gateway = Setup::new(conf).api(with_events(definition, events(&receiver))).start();
    let mut told = bodies(&receiver, 2);
    told.sort_by_key(|body| body["event"].to_string());
    let without_time = |body: &Value| {
        let mut body = body.clone();
        let members = body.as_object_mut().unwrap();
        ["timestamp", "expires_at", "expired_at"].iter().for_each(|name| drop(members.remove(*name)));
        body
    };
    let over_days = told[0]["days_since_expiry"].as_i64().unwrap();
    assert!(over_days > 365 * 5, "{told:?}");
    assert_eq!(told[0]["expired_at"], "2021-01-01T00:00:00Z");
    let mut ended = without_time(&told[0]);
    ended.as_object_mut().unwrap().remove("message");
    ended.as_object_mut().unwrap().remove("days_since_expiry");
    assert_eq!(
        ended,
        json!({"event": "CertificateExpired", "cert_id": over.fingerprint(), "cert_name": "over.test", "cert_role": "upstream", "api_id": "a"})
    );
    let ends_soon = |role: &str| {
        json!({
            "event": "CertificateExpiringSoon", "message": "Certificate soon.test is expiring in 3 days and 3 hours",
            "cert_id": soon.fingerprint(), "cert_name": "soon.test", "days_remaining": 3, "cert_role": role,
        })
    };
    let mut of_api = ends_soon("client");
    of_api["api_id"] = json!("a");
    assert_eq!(without_time(&told[1]), of_api);
    assert_eq!(without_time(&bodies(&owner, 1)[0]), ends_soon("server"));
    // Every five seconds all are looked at: within `event_cooldown_seconds` nothing is told again.
    std::thread::sleep(std::time::Duration::from_secs(6));
    assert_eq!((receiver.requests(), owner.requests()), (2, 1));
}

fn smoothed() -> Value {
    let steps = json!({"enabled": true, "threshold": 5, "trigger": 0.4, "step": 5, "delay": 2});
    session(json!({"rate": 10, "per": 1, "smoothing": steps}))
}

fn passed(gateway: &Gateway, key: &str, requests: usize) -> usize {
    let mut client = gateway.connect();
    (0..requests).filter(|_| client.ask(crate::keys::with_key("/a/", key)).status == 200).count()
}

/// A new key, and what passes of so many requests at each of some gateways within one second.
fn passed_in_one_second(gateways: &[Gateway], requests: usize) -> (String, usize) {
    // What takes longer says nothing.
    let tries = (0..20).find_map(|_| {
        let key = create(&gateways[0], &smoothed());
        let start = std::time::Instant::now();
        let passed = gateways.iter().map(|gateway| passed(gateway, &key, requests)).sum();
        (start.elapsed() < std::time::Duration::from_secs(1)).then_some((key, passed))
    });
    tries.expect("some requests within a second")
}

#[test]
fn a_smoothed_rate_starts_at_its_threshold_rises_under_load_and_is_told() {
    let (upstream, receiver) = (Upstream::ok(), Upstream::ok());
    let hook = || json!([webhook(&receiver, json!({"event_timeout": 1}))]);
    let events = json!({"RateLimitSmoothingUp": hook(), "RateLimitSmoothingDown": hook()});
    let definition = || with_events(keyed("a", &upstream), events.clone());
    let conf = json!({"enable_redis_rolling_limiter": true, "enable_rate_limit_smoothing": true});
    let gateways = [Gateway::start(conf, [definition()])];
    let (key, at_first) = passed_in_one_second(&gateways, 12);
    let [gateway] = gateways;
    assert_eq!(at_first, 5, "the threshold at first");
    eventually("it rises", || {
        passed(&gateway, &key, 12);
        receiver.requests() >= 1
    });
    let event = |name: &str, verb: &str| json!({"event": name, "message": format!("Rate limit {verb} with smoothing"), "path": "/a/", "origin": "127.0.0.1", "key": key});
    assert_eq!(bodies(&receiver, 1)[0], event("RateLimitSmoothingUp", "increased"));
    // The third request of a second rises it, the first one falls it again.
    eventually("the whole rate passes", || {
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        passed(&gateway, &key, 12) == 10
    });
    eventually("it falls", || {
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        passed(&gateway, &key, 1);
        bodies(&receiver, 1).contains(&event("RateLimitSmoothingDown", "decreased"))
    });

    // Without the gateway's setting, and for other algorithms, the rate is the rate, as in Tyk.
    for conf in [
        json!({"enable_redis_rolling_limiter": true}),
        json!({"enable_rate_limit_smoothing": true, "enable_fixed_window_rate_limiter": true}),
    ] {
        let gateway = Gateway::start(conf, [definition()]);
        assert_eq!(passed_in_one_second(&[gateway], 12).1, 10);
    }
}

#[test]
fn gateways_on_one_redis_have_the_same_smoothed_rate() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut conf = crate::shared_keys::on(&server);
    crate::harness::definition::merge(
        &mut conf,
        &json!({"enable_redis_rolling_limiter": true, "enable_rate_limit_smoothing": true}),
    );
    let gateways = [0, 1].map(|_| crate::shared_keys::gateway(&conf, &upstream));
    let (key, at_first) = passed_in_one_second(&gateways, 8);
    assert_eq!(at_first, 5);
    // Load on the first: the second learns the rate from Redis.
    let allowance = || {
        let names = server.cli(&["keys", "*.allowance"]);
        names.lines().map(|name| server.cli(&["hget", name, "c"]).trim().to_owned()).collect::<Vec<_>>()
    };
    eventually("it rises", || {
        passed(&gateways[0], &key, 12);
        passed(&gateways[1], &key, 1);
        allowance().iter().any(|allowance| allowance == "10")
    });
    eventually("the second has the higher rate too", || {
        let (start, mut count) = (std::time::Instant::now(), 0);
        while start.elapsed() < std::time::Duration::from_secs(2) {
            count += passed(&gateways[1], &key, 12);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        // Ten at the lower rate, and five of a window that has begun before.
        count > 15
    });
}
