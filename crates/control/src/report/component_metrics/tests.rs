use super::*;
use crate::report::ExpositionFormat;
use crate::report::exposition::ExpositionText;
use tollgate_data::breaker::{BreakerPlace, BreakerRule};
use tollgate_tls::{Certificate, Facts};

fn certificate(name: &str, not_after_unix_s: i64) -> (String, Arc<Certificate>) {
    let facts = Facts {
        fingerprint: String::new(),
        names: Vec::new(),
        common_name: name.to_owned(),
        not_after_unix_s,
        is_authority: false,
        public_key: String::new(),
    };
    (format!("/certs/{name}.pem"), Arc::new(Certificate { facts, own: None, issued: None }))
}

fn written(write: impl FnOnce(&mut Exposition)) -> String {
    let mut text = ExpositionText::new(ExpositionFormat::Prometheus);
    write(&mut text);
    text.finish()
}

#[test]
fn certificates_beyond_the_bound_are_known_by_the_soonest_of_them() {
    let mut many: Vec<_> = (0..10_000).map(|number| certificate(&format!("{number:05}"), 2_000_000_000 + number)).collect();
    many.swap(0, CERTIFICATES_MAX + 70);
    let text = written(|text| certificates(text, &many));
    let ends: Vec<&str> = text.lines().filter(|line| line.starts_with("tollgate_tls_cert_not_after_timestamp_seconds{")).collect();
    assert_eq!(ends.len(), CERTIFICATES_MAX + 1);
    assert_eq!(ends[1], "tollgate_tls_cert_not_after_timestamp_seconds{cert=\"/certs/00001.pem\",subject=\"00001\"} 2000000001");
    assert_eq!(ends[CERTIFICATES_MAX], "tollgate_tls_cert_not_after_timestamp_seconds{cert=\"_other\",subject=\"\"} 2000000000");
}

#[test]
fn issued_certificates_beyond_the_bound_are_known_by_the_worst_of_them() {
    assert_eq!(written(|text| issued_certificates(text, &[])), "");
    let state = |number: u32| IssueState { name: format!("{number}"), failures: number % 7, renewal_unix_s: u64::from(number) };
    let text = written(|text| issued_certificates(text, &(0..2_000).map(state).collect::<Vec<_>>()));
    assert!(text.contains("tollgate_issued_certificate_failures{cert=\"5\"} 5\n"), "{text}");
    assert!(text.contains("tollgate_issued_certificate_failures{cert=\"_other\"} 6\n"));
    assert!(
        text.contains(&format!("tollgate_issued_certificate_renewal_timestamp_seconds{{cert=\"_other\"}} {CERTIFICATES_MAX}\n"))
    );
}

#[test]
fn the_time_until_an_end_falls_below_zero() {
    let text = written(|text| certificates(text, &[certificate("past", 1_000)]));
    let left: f64 = text.lines().last().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(left < -1e9, "{text}");
}

#[test]
fn breakers_beyond_the_bound_are_added_up() {
    let rule = BreakerRule { threshold: 0.5, samples: 1, return_after: Duration::from_secs(9), half_open: false };
    let many: Vec<Arc<Breaker>> = (0..10_000)
        .map(|number| {
            let place = BreakerPlace { api: format!("{number}"), version: "Default".to_owned(), endpoint: "GET /x".to_owned() };
            let breaker = Arc::new(Breaker::new(place));
            let at = Duration::from_secs(1);
            breaker.admit(&rule, at).unwrap().end(at, number % 2 == 0);
            breaker
        })
        .collect();
    let text = |now: u64| written(|text| breakers(text, &many, Duration::from_secs(now)));
    let open = text(5);
    let count = |name: &str| open.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!(count("tollgate_circuit_breaker_open{"), BREAKERS_MAX + 1);
    assert_eq!(count("tollgate_circuit_breaker_openings_total{"), BREAKERS_MAX + 1);
    let has = |text: &str, line: &str| assert!(text.lines().any(|own| own == line), "{line} is not in\n{text}");
    has(&open, "tollgate_circuit_breaker_open{api=\"0\",version=\"Default\",endpoint=\"GET /x\"} 1");
    has(&open, "tollgate_circuit_breaker_open{api=\"1\",version=\"Default\",endpoint=\"GET /x\"} 0");
    has(&open, "tollgate_circuit_breaker_open{api=\"_other\",version=\"\",endpoint=\"\"} 4750");
    let later = text(10);
    has(&later, "tollgate_circuit_breaker_open{api=\"0\",version=\"Default\",endpoint=\"GET /x\"} 0");
    has(&later, "tollgate_circuit_breaker_openings_total{api=\"_other\",version=\"\",endpoint=\"\"} 4750");
}
