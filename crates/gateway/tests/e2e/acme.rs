//! Certificates that the gateway gets by itself, from Pebble, the test server of Let's Encrypt's makers. It rejects nonces now and then, as it
//! does by default, and asks a DNS server of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::certificates::{Authority, client, connect, provider, shake_hands};
use crate::harness::gateway::SECRET;
use crate::harness::{ChildProcess, Connection, Gateway, Response, Setup, Upstream, api, eventually, get, request, skip};
use crate::servers::{Cluster, Server, free_port};

/// Where `scripts/test-deps.sh` has put Pebble; `None` where it could not, and has said why.
pub(crate) fn programs() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this test");
    let directory = program.ancestors().nth(3).expect("the target directory").join("test-go");
    if let Ok(reason) = std::fs::read_to_string(directory.join("unavailable")) {
        skip(&reason);
        return None;
    }
    assert!(directory.join("pebble").exists(), "{} is missing: run scripts/test-deps.sh tests", directory.join("pebble").display());
    Some(directory)
}

/// What an issuer and its DNS need, chosen before they run.
pub(crate) struct Ports {
    /// Signs the issuer's own certificate.
    authority: Authority,
    directory: u16,
    management: u16,
    dns: u16,
    dns_management: u16,
    /// An account that was made elsewhere, as the gateway's configuration names it.
    pub(crate) account: Option<Value>,
}

impl Ports {
    pub(crate) fn new() -> Ports {
        let authority = Authority::new("pebble");
        let [directory, management, dns, dns_management] = [(); 4].map(|()| free_port());
        Ports { authority, directory, management, dns, dns_management, account: None }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://localhost:{}/dir", self.directory)
    }
}

/// A running issuer, with the DNS that it asks.
pub(crate) struct Issuer {
    pub(crate) ports: Ports,
    _dns: ChildProcess,
    _pebble: ChildProcess,
}

impl Issuer {
    /// It looks for hosts at these ports of this machine.
    pub(crate) fn start(programs: &Path, dir: &TempDir, ports: Ports, (http, tls): (u16, u16), more: &Value) -> Issuer {
        let Ports { directory, management, dns, dns_management, .. } = ports;
        let certificate = ports.authority.issue(&["localhost"]).write(dir.path(), "pebble.pem");
        let mut conf = json!({
            "listenAddress": format!("127.0.0.1:{directory}"),
            "managementListenAddress": format!("127.0.0.1:{management}"),
            "certificate": certificate, "privateKey": certificate,
            "httpPort": http, "tlsPort": tls,
            "ocspResponderURL": "", "externalAccountBindingRequired": false,
            "retryAfter": {"authz": 1, "order": 1},
            "keyAlgorithm": "ecdsa",
            "profiles": {"default": {"description": "ninety days", "validityPeriod": 7_776_000}, "short": {"description": "six days", "validityPeriod": 518_400}},
        });
        conf.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let file = dir.path().join("pebble.json");
        std::fs::write(&file, json!({"pebble": conf}).to_string()).unwrap();
        let quiet = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        let address = |port: u16| format!("127.0.0.1:{port}");
        let mut answers = quiet("pebble-challtestsrv");
        answers.args([
            "-http01",
            "",
            "-https01",
            "",
            "-tlsalpn01",
            "",
            "-doh",
            "",
            "-defaultIPv4",
            "127.0.0.1",
            "-defaultIPv6",
            "",
        ]);
        answers.args(["-dnsserver", &address(dns), "-management", &address(dns_management)]);
        let answers = ChildProcess::start(&mut answers);
        let mut pebble = quiet("pebble");
        pebble.arg("-config").arg(&file).arg("-strict").args(["-dnsserver", &address(dns)]);
        pebble.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_AUTHZREUSE", "0").env("PEBBLE_WFE_NONCEREJECT", "15");
        let pebble = ChildProcess::start(&mut pebble);
        let issuer = Issuer { ports, _dns: answers, _pebble: pebble };
        eventually("the issuer answers", || std::net::TcpStream::connect(("127.0.0.1", directory)).is_ok());
        eventually("its DNS answers", || std::net::TcpStream::connect(("127.0.0.1", dns_management)).is_ok());
        issuer
    }

    pub(crate) fn told(&self, path: &str) -> String {
        let url = format!("https://127.0.0.1:{}{path}", self.ports.management);
        let output = Command::new("curl").args(["-sk", &url]).output().expect("curl runs");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Ends it, with all that it knows.
    pub(crate) fn stop(self) -> Ports {
        self.ports
    }

    /// Has it suggest to renew the certificate of a host within this time.
    pub(crate) fn suggest(&self, gateway: &Secure, host: &str, start: &str, end: &str) {
        let stream = shake_hands(&self.client(), gateway.gateway.port, host).expect("a handshake");
        let leaf = stream.conn.peer_certificates().and_then(<[_]>::first).expect("its certificate");
        let pem = format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(leaf));
        let suggestion = json!({"suggestedWindow": {"start": start, "end": end}}).to_string();
        let body = json!({"Certificate": pem, "ARIResponse": suggestion}).to_string();
        let url = format!("https://127.0.0.1:{}/set-renewal-info/", self.ports.management);
        let output = Command::new("curl").args(["-skf", "-d", &body, &url]).output().expect("curl runs");
        assert!(output.status.success(), "{output:?}");
    }

    /// A client that trusts what it issues, and nothing else.
    pub(crate) fn client(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.told("/roots/0").as_bytes()).expect("its root")).unwrap();
        let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
        Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
    }
}

/// A gateway with TLS. Its own certificate is for those who talk about its state.
pub(crate) struct Secure {
    pub(crate) gateway: Gateway,
    operator: Arc<ClientConfig>,
    pub(crate) http: u16,
    _upstream: Upstream,
    _dir: TempDir,
}

impl Secure {
    fn start(issuers: &[&Ports], acme: &Value, more: &Value) -> Secure {
        Secure::start_with(issuers, acme, more, &[])
    }

    /// With these variables in its environment.
    pub(crate) fn start_with(issuers: &[&Ports], acme: &Value, more: &Value, variables: &[(&str, &str)]) -> Secure {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::new("operators");
        let own = authority.issue(&["localhost"]).write(dir.path(), "own.pem");
        let http = free_port();
        let issuer = |(at, ports): (usize, &&Ports)| {
            let authorities = dir.path().join(format!("issuer-{at}.pem"));
            std::fs::write(&authorities, ports.authority.pem()).unwrap();
            let mut issuer = json!({"directory": ports.url(), "agree_to_terms": true, "authorities": authorities});
            issuer["contact"] = json!(["mailto:a@example.com"]);
            // Pebble takes any of its profiles where none is named.
            issuer["profile"] = json!("default");
            if let Some(account) = &ports.account {
                issuer["external_account"] = account.clone();
            }
            issuer
        };
        let issuers: Vec<Value> = issuers.iter().enumerate().map(issuer).collect();
        let mut settings = json!({"issuers": issuers, "http_port": http});
        settings.as_object_mut().unwrap().extend(acme.as_object().cloned().unwrap());
        let mut conf = json!({
            "http_server_options": {"use_ssl": true, "certificates": [{"cert_file": own}]},
            "tollgate": {"acme": settings},
        });
        conf.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        let upstream = Upstream::ok();
        let setup = Setup::new(conf).api(api("a", "/a/", &upstream.url()));
        let gateway = variables.iter().fold(setup, |setup, (name, value)| setup.env(name, *value)).start();
        Secure { gateway, operator: Arc::new(client(&authority, None)), http, _upstream: upstream, _dir: dir }
    }

    pub(crate) fn control(&self, method: &str, target: &str) -> Response {
        let lines = [&format!("x-tyk-authorization: {SECRET}") as &str, "Connection: close"];
        connect(&self.operator, self.gateway.port, "localhost").ask(request(method, target, &lines, ""))
    }

    pub(crate) fn issued(&self, name: &str) -> Value {
        let told = self.control("GET", "/tyk/acme").json();
        told["certificates"].as_array().unwrap().iter().find(|one| one["name"] == name).cloned().unwrap_or_default()
    }

    pub(crate) fn is(&self, name: &str, state: &str) -> bool {
        self.issued(name)["state"] == state
    }

    pub(crate) fn has(&self, client: &Arc<ClientConfig>, host: &str) -> bool {
        shake_hands(client, self.gateway.port, host).is_ok()
    }
}

#[test]
fn certificates_come_over_http_tls_and_dns_as_soon_as_the_issuer_is_there() {
    let Some(programs) = programs() else { return };
    let dir = tempfile::tempdir().unwrap();
    let ports = Ports::new();
    // A program as operators write them: it puts records into the DNS.
    let script = dir.path().join("dns.sh");
    let text = format!(
        "#!/bin/sh\nset -eu\n[ \"$1\" = own ]\ncase $2 in present) to=set-txt ;; cleanup) to=clear-txt ;; *) exit 3 ;; esac\n\
         exec curl -sf -d \"{{\\\"host\\\": \\\"$3.\\\", \\\"value\\\": \\\"$4\\\"}}\" http://127.0.0.1:{}/$to\n",
        ports.dns_management
    );
    std::fs::write(&script, text).unwrap();
    let certificates = json!([
        {"names": ["web.example.com", "WWW.example.com"]},
        {"names": ["tls.example.com"], "challenge": "tls-alpn-01"},
        {"names": ["*.wild.example.com", "wild.example.com"], "challenge": "dns-01"},
    ]);
    let dns = json!({"exec": ["sh", script, "own"], "wait_s": 0});
    let gateway = Secure::start(&[&ports], &json!({"certificates": certificates, "dns": dns}), &json!({}));
    // Nobody answers yet: that is told, and stops nothing.
    let names = ["web.example.com,www.example.com", "tls.example.com", "*.wild.example.com,wild.example.com"];
    eventually("all have failed", || names.iter().all(|name| gateway.issued(name)["failures"] == 1));
    let failed = gateway.issued(names[0]);
    assert_eq!(failed["state"], "wanted");
    assert!(failed["error"].as_str().unwrap().starts_with(&ports.url()), "{failed}");
    let issuer = Issuer::start(&programs, &dir, ports, (gateway.http, gateway.gateway.port), &json!({}));
    for name in names {
        assert_eq!(gateway.control("POST", &format!("/tyk/acme/{name}/renew")).status, 200);
    }
    eventually("all are served", || names.iter().all(|name| gateway.is(name, "served")));
    let client = issuer.client();
    for host in ["web.example.com", "www.example.com", "tls.example.com", "wild.example.com", "a.wild.example.com"] {
        eventually(host, || gateway.has(&client, host));
    }
    let response = connect(&client, gateway.gateway.port, "tls.example.com").ask(get("/a/x"));
    assert_eq!(response.status, 200);
    assert!(!gateway.has(&client, "other.example.com"));
    // Plain HTTP leads to HTTPS, and shows nothing that is over.
    let plain = |target: &str| Connection::open(gateway.http).ask(get(target));
    let redirect = plain("/a/x?y=1");
    assert_eq!(redirect.status, 308);
    assert_eq!(redirect.header("Location"), Some("https://gateway.test/a/x?y=1"));
    assert_eq!(plain("/.well-known/acme-challenge/unknown").status, 404);
    assert_eq!(plain("/.well-known/acme-challenge/..%2f..%2ftyk").status, 404);
    gateway.gateway.expect_no_panic();
}

#[test]
fn a_renewed_certificate_is_in_service_without_a_failed_handshake() {
    let Some(programs) = programs() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (down, ports) = (Ports::new(), Ports::new());
    let certificates = json!({"certificates": [{"names": ["a.example.com"]}], "challenge": "http-01", "key": "ecdsa_p384"});
    // The first issuer is down for good: the second one issues.
    let gateway = Secure::start(&[&down, &ports], &certificates, &json!({}));
    let issuer = Issuer::start(&programs, &dir, ports, (gateway.http, gateway.gateway.port), &json!({}));
    let name = "a.example.com";
    let renew = || assert_eq!(gateway.control("POST", "/tyk/acme/a.example.com/renew").status, 200);
    eventually("there is a plan", || !gateway.issued(name)["failures"].is_null());
    eventually("it is tried", || gateway.is(name, "served") || gateway.issued(name)["failures"] == 1);
    renew();
    eventually("it is served", || gateway.is(name, "served"));
    let client = issuer.client();
    eventually("it is shown", || gateway.has(&client, name));
    let first = gateway.issued(name);
    assert_eq!(first["issuer"], issuer.ports.url());
    renew();
    eventually("another one is served", || {
        assert!(gateway.has(&client, name));
        gateway.issued(name)["id"] != first["id"] && gateway.is(name, "served")
    });
    assert_eq!(gateway.control("POST", "/tyk/acme/b.example.com/renew").status, 404);
    gateway.gateway.expect_no_panic();
}

#[test]
fn one_of_several_gateways_asks_and_all_answer_and_serve() {
    let redis = Server::start(&[]);
    of_three_gateways_one_asks(&json!({"type": "redis", "host": "127.0.0.1", "port": redis.port}));
}

#[test]
fn on_a_cluster_of_redis_too_one_gateway_asks_and_all_serve() {
    let cluster = Cluster::start();
    let node = format!("127.0.0.1:{}", cluster.nodes[0].port);
    of_three_gateways_one_asks(&json!({"type": "redis", "enable_cluster": true, "addrs": [node]}));
}

fn of_three_gateways_one_asks(storage: &Value) {
    let Some(programs) = programs() else { return };
    let dir = tempfile::tempdir().unwrap();
    let ports = Ports::new();
    let names: Vec<String> = (0..4).map(|number| format!("n{number}.example.com")).collect();
    let certificates: Vec<Value> = names.iter().map(|name| json!({"names": [name]})).collect();
    let acme = json!({"certificates": certificates});
    let shared = json!({"storage": storage});
    let gateways = [(); 3].map(|()| Secure::start(&[&ports], &acme, &shared));
    // It asks the third gateway, whoever has ordered.
    let issuer = Issuer::start(&programs, &dir, ports, (gateways[2].http, gateways[2].gateway.port), &json!({}));
    let is_known = |name: &String| !gateways[0].issued(name)["error"].as_str().unwrap_or_default().is_empty();
    eventually("all were tried", || names.iter().all(|name| is_known(name) || gateways[0].is(name, "served")));
    for name in &names {
        assert_eq!(gateways[1].control("POST", &format!("/tyk/acme/{name}/renew")).status, 200);
    }
    let client = issuer.client();
    for gateway in &gateways {
        for name in &names {
            eventually(name, || gateway.has(&client, name));
        }
    }
    let ids = |gateway: &Secure| names.iter().map(|name| gateway.issued(name)["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&gateways[0]), ids(&gateways[2]));
    gateways.iter().for_each(|gateway| gateway.gateway.expect_no_panic());
}

#[test]
fn a_host_gets_its_certificate_while_its_first_client_waits() {
    let Some(programs) = programs() else { return };
    let dir = tempfile::tempdir().unwrap();
    let allowed = Upstream::start(|seen| match seen.target.as_str() {
        "/may?domain=no.shops.example.com" => crate::harness::reply("403 No", &[], ""),
        _ => crate::harness::ok(),
    });
    let ports = Ports::new();
    let rules = json!({"names": ["*.shops.example.com"], "ask": format!("{}/may", allowed.url()), "per_hour_max": 2});
    let gateway = Secure::start(&[&ports], &json!({"on_demand": rules}), &json!({}));
    let issuer = Issuer::start(&programs, &dir, ports, (gateway.http, gateway.gateway.port), &json!({}));
    let client = issuer.client();
    assert!(gateway.has(&client, "one.shops.example.com"), "{}", gateway.control("GET", "/tyk/acme").text());
    assert!(!gateway.has(&client, "no.shops.example.com"), "nobody allows it");
    assert!(!gateway.has(&client, "a.b.shops.example.com"), "the rule is for one label");
    assert!(gateway.has(&client, "two.shops.example.com"));
    assert!(!gateway.has(&client, "three.shops.example.com"), "two in an hour");
    assert!(gateway.has(&client, "one.shops.example.com"));
    assert_eq!(gateway.issued("one.shops.example.com")["on_demand"], true);
    assert_eq!(gateway.issued("no.shops.example.com"), Value::Null);
    let mut asked = allowed.take_targets();
    asked.sort();
    assert_eq!(
        asked,
        ["/may?domain=no.shops.example.com", "/may?domain=one.shops.example.com", "/may?domain=two.shops.example.com"]
    );
    gateway.gateway.expect_no_panic();
}
