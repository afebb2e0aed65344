//! Certificates from an issuer while days pass: it is down, it has forgotten everybody, it asks for an early renewal; and clocks that are wrong.

use serde_json::json;

use crate::acme::{Issuer, Ports, Secure, programs};
use crate::clock_jumps::{library, set_by};
use crate::harness::eventually;
use crate::metrics::samples;

const NAME: &str = "a.example.com";
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// A gateway with an account that was made elsewhere, and its clock.
struct Stage {
    programs: std::path::PathBuf,
    secure: Secure,
    ports: Option<Ports>,
    dir: tempfile::TempDir,
}

impl Stage {
    fn start() -> Option<Stage> {
        let programs = programs()?;
        let dir = tempfile::tempdir().unwrap();
        let mut ports = Ports::new();
        // 32 bytes, as issuers give them to their customers.
        ports.account = Some(json!({"id": "customer-7", "key": "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE"}));
        let (clock, library) = (dir.path().join("clock"), library());
        std::fs::write(&clock, "+0").unwrap();
        let acme = json!({"certificates": [{"names": [NAME]}]});
        let secure = Secure::start_with(&[&ports], &acme, &json!({}), &set_by(&library, &clock));
        Some(Stage { programs, secure, ports: Some(ports), dir })
    }

    /// An issuer that knows nobody but those who bring the key of an account.
    fn issuer(&mut self, key: &str) -> Issuer {
        let more = json!({"externalAccountBindingRequired": true, "externalAccountMACKeys": {"customer-7": key}});
        let ports = self.ports.take().expect("one issuer at a time");
        Issuer::start(&self.programs, &self.dir, ports, (self.secure.http, self.secure.gateway.port), &more)
    }

    fn set_clock(&self, off_s: i64) {
        std::fs::write(self.dir.path().join("clock"), format!("{off_s:+}")).unwrap();
    }

    fn failures(&self) -> u64 {
        self.secure.issued(NAME)["failures"].as_u64().unwrap_or_default()
    }

    fn error(&self) -> String {
        self.secure.issued(NAME)["error"].as_str().unwrap_or_default().to_owned()
    }

    fn renew(&self) {
        assert_eq!(self.secure.control("POST", &format!("/tyk/acme/{NAME}/renew")).status, 200);
    }
}

const KEY: &str = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE";
const OTHER_KEY: &str = "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI";

#[test]
fn an_issuer_that_is_down_for_days_is_asked_again_and_may_have_forgotten_everybody() {
    let Some(mut stage) = Stage::start() else { return };
    // It has given another key to this customer.
    let issuer = stage.issuer(OTHER_KEY);
    eventually("it is tried", || stage.failures() >= 1);
    stage.renew();
    eventually("the account is refused", || stage.error().contains("externalAccount") || stage.error().contains("unauthorized"));
    stage.ports = Some(issuer.stop());
    let issuer = stage.issuer(KEY);
    stage.renew();
    eventually("it is served", || stage.secure.is(NAME, "served"));
    let client = issuer.client();
    eventually("it is shown", || stage.secure.has(&client, NAME));
    stage.ports = Some(issuer.stop());
    // A month before it ends, nobody answers; a day before that, every hour is tried.
    let mut last = 0;
    for day in [61, 75, 89] {
        stage.set_clock(day * DAY);
        eventually("its renewal has failed again", || stage.failures() > last);
        last = stage.failures();
        assert!(stage.secure.is(NAME, "failing"), "{}", stage.secure.issued(NAME));
        // The figures follow when the gateway looks into its store next.
        eventually("the figures tell it", || {
            let figures = samples(&stage.secure.control("GET", "/tyk/metrics").text());
            let figure = |name: &str| figures.get(&format!("tollgate_issued_certificate_{name}{{cert=\"{NAME}\"}}")).copied();
            figure("failures") >= Some(1.0) && figure("renewal_timestamp_seconds") > Some(1e9)
        });
        assert!(stage.secure.has(&client, NAME), "what there is is served");
    }
    stage.set_clock(91 * DAY);
    eventually("it has ended", || stage.secure.is(NAME, "ended"));
    // What is back is a new issuer with the old address: it knows no account. What it issues now has ended for who believes the wrong clock.
    let issuer = stage.issuer(KEY);
    let mut off = 91 * DAY;
    eventually("the clock is named", || {
        off += HOUR + 60;
        stage.set_clock(off);
        let tried = stage.failures();
        eventually("it is tried again", || stage.failures() > tried);
        stage.error().contains("clock is wrong")
    });
    // By the right clock, there is still one, and the new issuer gives the next one.
    stage.set_clock(0);
    eventually("it has not ended", || stage.secure.is(NAME, "failing"));
    stage.renew();
    eventually("it is served again", || stage.secure.is(NAME, "served"));
    let client = issuer.client();
    eventually("it is shown again", || stage.secure.has(&client, NAME));
    stage.secure.gateway.expect_no_panic();
}

#[test]
fn an_issuer_that_suggests_to_renew_early_is_heard() {
    let Some(mut stage) = Stage::start() else { return };
    let issuer = stage.issuer(KEY);
    eventually("it is tried", || stage.failures() >= 1 || stage.secure.is(NAME, "served"));
    if stage.failures() >= 1 {
        stage.renew();
    }
    eventually("it is served", || stage.secure.is(NAME, "served"));
    let first = stage.secure.issued(NAME);
    // An hour later it is asked when: Pebble says that two thirds of the time are enough, and then that it has revoked it.
    stage.set_clock(2 * HOUR);
    eventually("the issuer was asked", || stage.secure.issued(NAME)["renewal"] != first["renewal"]);
    assert_eq!(stage.secure.issued(NAME)["id"], first["id"]);
    issuer.suggest(&stage.secure, NAME, "2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z");
    stage.set_clock(10 * HOUR);
    eventually("another one is served", || {
        let now = stage.secure.issued(NAME);
        now["id"] != first["id"] && now["state"] == "served"
    });
    stage.secure.gateway.expect_no_panic();
}
