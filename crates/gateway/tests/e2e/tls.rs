//! TLS with clients: certificates by host, versions, tickets, renewal, and whatever may come to a TLS port that is no TLS.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, HandshakeKind};
use serde_json::{Value, json};

use crate::harness::certificates::{Authority, Made, client, connect, over, shake_hands};
use crate::harness::frames;
use crate::harness::{Definition, Gateway, PATIENCE, Seen, Setup, Upstream, api, eventually, get, ok, reply, request};

/// A gateway that speaks TLS, with certificates in files.
struct Served {
    authority: Authority,
    gateway: Gateway,
    upstream: Upstream,
    dir: tempfile::TempDir,
}

impl Served {
    fn new(names: &[&[&str]]) -> Served {
        Served::with(names, json!({}), |upstream, _| vec![api("a", "/a/", &upstream.url())])
    }

    fn with(names: &[&[&str]], options: Value, apis: impl FnOnce(&Upstream, &std::path::Path) -> Vec<Definition>) -> Served {
        let authority = Authority::new("tests");
        let dir = tempfile::tempdir().unwrap();
        let mut certificates = Vec::new();
        for (index, names) in names.iter().enumerate() {
            let file = authority.issue(names).write(dir.path(), &format!("{index}.pem"));
            certificates.push(json!({"cert_file": file, "key_file": file}));
        }
        let mut conf = json!({"http_server_options": {"use_ssl": true, "certificates": certificates}});
        merge(&mut conf, options);
        let upstream = Upstream::start(|seen| match seen.target.as_str() {
            "/echo" => reply("200 OK", &[], &seen.text()),
            _ => ok(),
        });
        let gateway = apis(&upstream, dir.path()).into_iter().fold(Setup::new(conf), Setup::api).start();
        Served { authority, gateway, upstream, dir }
    }

    fn client(&self) -> Arc<ClientConfig> {
        Arc::new(client(&self.authority, None))
    }
}

fn merge(conf: &mut Value, more: Value) {
    let Value::Object(more) = more else { return };
    for (key, value) in more {
        match (conf.get_mut(&key), value) {
            (Some(known @ Value::Object(_)), value @ Value::Object(_)) => merge(known, value),
            (_, value) => conf[key] = value,
        }
    }
}

/// The leaf certificate that a client sees who means `host`.
fn shown(served: &Served, host: &str) -> Vec<u8> {
    #[derive(Debug)]
    struct Any;
    impl rustls::client::danger::ServerCertVerifier for Any {
        fn verify_server_cert(
            &self,
            _: &rustls::pki_types::CertificateDer<'_>,
            _: &[rustls::pki_types::CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: rustls::pki_types::UnixTime,
        ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
            Ok(rustls::client::danger::ServerCertVerified::assertion())
        }
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &rustls::pki_types::CertificateDer<'_>,
            _: &rustls::DigitallySignedStruct,
        ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
            Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
        }
        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &rustls::pki_types::CertificateDer<'_>,
            _: &rustls::DigitallySignedStruct,
        ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
            Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
        }
        fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
            rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
        }
    }
    let mut config = client(&served.authority, None);
    config.dangerous().set_certificate_verifier(Arc::new(Any));
    let stream = shake_hands(&Arc::new(config), served.gateway.port, host).expect("a handshake");
    stream.conn.peer_certificates().unwrap()[0].to_vec()
}

fn curl(served: &Served, arguments: &[&str]) -> std::process::Output {
    let roots = served.dir.path().join("roots.pem");
    fs::write(&roots, served.authority.pem()).unwrap();
    Command::new("curl")
        .args(["-sS", "--max-time", "20", "--cacert"])
        .arg(&roots)
        .args(["--connect-to", &format!("::127.0.0.1:{}", served.gateway.port)])
        .args(arguments)
        .output()
        .expect("curl runs")
}

#[test]
fn curl_is_served_over_tls() {
    let served = Served::new(&[&["api.test"]]);
    let output = curl(&served, &["-i", "https://api.test/a/"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("HTTP/1.1 200") && text.ends_with("ok"), "{output:?}");
    assert_eq!(served.upstream.last().header("x-forwarded-for"), Some("127.0.0.1"));
    let refused = curl(&served, &["https://other.test/a/"]);
    assert!(!refused.status.success(), "a certificate for another name passed: {refused:?}");
    for (version, expected) in [("--tlsv1.2", true), ("--tls-max=1.1", false)] {
        let output = curl(
            &served,
            &[version.split('=').next().unwrap(), version.split('=').nth(1).unwrap_or("--compressed"), "https://api.test/a/"],
        );
        assert_eq!(output.status.success(), expected, "{version}: {output:?}");
    }
}

#[test]
fn bodies_of_any_size_pass_both_ways_on_one_connection() {
    let served = Served::new(&[&["api.test"]]);
    let mut wire = connect(&served.client(), served.gateway.port, "api.test");
    for size in [1, 1000, 16_384, 16_385, 1_000_000] {
        let body = "x".repeat(size);
        let response = wire.ask(request("POST", "/a/echo", &[], &body));
        assert_eq!((response.status, response.body.len()), (200, size));
    }
    wire.send(format!("{}{}", get("/a/"), get("/a/")));
    assert_eq!((wire.response("GET").status, wire.response("GET").status), (200, 200));
}

#[test]
fn each_host_is_shown_its_certificate() {
    let served = Served::new(&[&["first.test"], &["*.wild.test"], &["exact.wild.test", "second.test"]]);
    let by_host = |host| shown(&served, host);
    let (first, wild, exact) = (by_host("first.test"), by_host("a.wild.test"), by_host("exact.wild.test"));
    assert!(first != wild && wild != exact && first != exact);
    assert_eq!(by_host("second.test"), exact);
    assert_eq!(by_host("SECOND.test"), exact);
    assert_eq!(by_host("a.b.wild.test"), first, "a wildcard is for one label");
    assert_eq!(by_host("unknown.test"), first);
    assert_eq!(by_host("127.0.0.1"), first, "no host is named for an address");
}

#[test]
fn the_server_name_chooses_for_clients_that_name_none() {
    let options = json!({"http_server_options": {"server_name": "second.test"}});
    let served = Served::with(&[&["first.test"], &["second.test"]], options, |_, _| vec![]);
    assert_eq!(shown(&served, "127.0.0.1"), shown(&served, "second.test"));
}

#[test]
fn an_api_brings_its_own_certificate() {
    let authority = Authority::new("other");
    let made = authority.issue(&["own.test"]);
    let served = Served::with(&[&["first.test"]], json!({"enable_custom_domains": true}), |upstream, dir| {
        let file = made.write(dir, "own.pem");
        vec![api("a", "/a/", &upstream.url()).set("domain", "own.test").set("certificates", json!([file]))]
    });
    assert_eq!(shown(&served, "own.test"), made.der().to_vec());
    assert_ne!(shown(&served, "first.test"), made.der().to_vec());
    served.gateway.remove_file("a.json");
    reload(&served);
    assert_eq!(shown(&served, "own.test"), shown(&served, "first.test"), "it goes with its API");
}

fn reload(served: &Served) {
    let mut wire = connect(&served.client(), served.gateway.port, "first.test");
    let secret = format!("x-tyk-authorization: {}", crate::harness::gateway::SECRET);
    assert_eq!(wire.ask(request("GET", "/tyk/reload/?block=true", &[&secret], "")).status, 200);
}

#[test]
fn a_renewed_certificate_is_taken_up_and_a_broken_one_is_not() {
    let served = Served::new(&[&["first.test"]]);
    let old = shown(&served, "first.test");
    let mut open = connect(&served.client(), served.gateway.port, "first.test");
    assert_eq!(open.ask(get("/a/")).status, 200);

    let renewed = served.authority.issue(&["first.test"]);
    renewed.write(served.dir.path(), "0.pem");
    eventually("the new certificate is shown without anybody asking", || shown(&served, "first.test") == renewed.der().to_vec());
    assert_ne!(old, renewed.der().to_vec());
    assert_eq!(open.ask(get("/a/")).status, 200, "an open connection does not notice");

    fs::write(served.dir.path().join("0.pem"), &renewed.certificate[..200]).unwrap();
    reload(&served);
    assert_eq!(shown(&served, "first.test"), renewed.der().to_vec());
    let log = served.gateway.log();
    assert!(log.contains("0.pem") && log.contains("the last good one stays in use"), "{log}");
}

#[test]
fn sessions_are_resumed_on_every_core_and_after_a_reload() {
    let served = Served::new(&[&["first.test"]]);
    for versions in [vec![&rustls::version::TLS13], vec![&rustls::version::TLS12]] {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(&versions).unwrap();
        let config = Arc::new(config.with_root_certificates(served.authority.roots()).with_no_client_auth());
        let mut open = Vec::new();
        // Enough to fill one core, so that others are used too.
        for index in 0..24 {
            let stream = shake_hands(&config, served.gateway.port, "first.test").unwrap();
            let kind = stream.conn.handshake_kind();
            let mut wire = over(stream);
            assert_eq!(wire.ask(get("/a/")).status, 200);
            if index > 0 {
                assert_eq!(kind, Some(HandshakeKind::Resumed), "connection {index}");
            }
            if index == 12 {
                reload(&served);
            }
            open.push(wire);
        }
    }
}

#[test]
fn versions_and_ciphers_are_bounded_as_configured() {
    let options = json!({"http_server_options": {"max_version": 771, "ssl_ciphers": ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"]}});
    let served = Served::with(&[&["first.test"]], options, |_, _| vec![]);
    let stream = shake_hands(&served.client(), served.gateway.port, "first.test").unwrap();
    assert_eq!(stream.conn.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_2));
    let suite = stream.conn.negotiated_cipher_suite().unwrap().suite();
    assert_eq!(suite, rustls::CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256);

    let served = Served::with(&[&["first.test"]], json!({"http_server_options": {"min_version": 772}}), |_, _| vec![]);
    let old = ["s_client", "-tls1_2", "-connect", &format!("127.0.0.1:{}", served.gateway.port)].map(str::to_owned);
    let output = Command::new("openssl").args(old).stdin(std::process::Stdio::null()).output().expect("openssl runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("alert protocol version"), "{output:?}");
}

/// What openssl says of a connection, and of those that follow it.
fn openssl(served: &Served, arguments: &str) -> String {
    openssl_named(served, "first.test", arguments)
}

fn openssl_named(served: &Served, name: &str, arguments: &str) -> String {
    let port = served.gateway.port;
    let request = r"printf 'GET /a/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'";
    let script = format!("{request} | openssl s_client -ign_eof -servername {name} -connect 127.0.0.1:{port} {arguments} 2>&1");
    let output = Command::new("sh").args(["-c", &script]).current_dir(served.dir.path()).output().expect("openssl runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn openssl_resumes_its_sessions() {
    let served = Served::new(&[&["first.test"]]);
    let text = openssl(&served, "-tls1_2 -reconnect");
    let count = |what: &str| text.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!((count("New, TLSv1.2"), count("Reused, TLSv1.2")), (1, 5), "{text}");
    let first = openssl(&served, "-tls1_3 -sess_out ticket");
    assert!(first.contains("New, TLSv1.3"), "{first}");
    let second = openssl(&served, "-tls1_3 -sess_in ticket");
    assert!(second.contains("Reused, TLSv1.3"), "{second}");
    // Another gateway has other keys: the ticket is worth nothing there, and the handshake is a whole one.
    let another = Served::new(&[&["first.test"]]);
    fs::copy(served.dir.path().join("ticket"), another.dir.path().join("ticket")).unwrap();
    let third = openssl(&another, "-tls1_3 -sess_in ticket");
    assert!(third.contains("New, TLSv1.3"), "{third}");
}

#[test]
fn ciphers_that_are_not_allowed_are_refused() {
    let allowed = json!({"http_server_options": {"ssl_ciphers": ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"]}});
    let served = Served::with(&[&["first.test"]], allowed, |upstream, _| vec![api("a", "/a/", &upstream.url())]);
    let text = openssl(&served, "-tls1_2 -cipher ECDHE-ECDSA-AES256-GCM-SHA384");
    assert!(text.contains("Cipher is ECDHE-ECDSA-AES256-GCM-SHA384"), "{text}");
    for cipher in ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-SHA384:AES128-SHA"] {
        let text = openssl(&served, &format!("-tls1_2 -cipher {cipher}"));
        assert!(text.contains("alert handshake failure"), "{cipher}: {text}");
    }
    // Those of TLS 1.3 are not a matter of configuration.
    assert!(openssl(&served, "-tls1_3").contains("New, TLSv1.3"));
}

#[test]
fn an_ocsp_response_beside_the_certificate_is_stapled() {
    let served = Served::new(&[&["first.test"]]);
    // Not a real response: the client below prints what it gets, and does not judge it.
    fs::write(served.dir.path().join("0.pem.ocsp"), b"0\x03\n\x01\x06").unwrap();
    reload(&served);
    let output = Command::new("openssl")
        .args(["s_client", "-status", "-servername", "first.test", "-connect", &format!("127.0.0.1:{}", served.gateway.port)])
        .stdin(std::process::Stdio::null())
        .output()
        .expect("openssl runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("OCSP Response Status: unauthorized"), "{text}");
}

#[test]
fn protocols_are_agreed_on_or_the_handshake_fails() {
    let served = Served::new(&[&["first.test"]]);
    for (offered, agreed) in [(vec!["http/1.1"], Some("http/1.1")), (vec!["spdy/3", "http/1.1"], Some("http/1.1")), (vec![], None)]
    {
        let mut config = client(&served.authority, None);
        config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = shake_hands(&Arc::new(config), served.gateway.port, "first.test").unwrap();
        assert_eq!(stream.conn.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned()).as_deref(), agreed);
    }
    let mut config = client(&served.authority, None);
    config.alpn_protocols = vec![b"spdy/3".to_vec()];
    let refused = shake_hands(&Arc::new(config), served.gateway.port, "first.test").unwrap_err();
    assert!(refused.to_string().contains("NoApplicationProtocol"), "{refused}");
}

#[test]
fn a_client_that_offers_http_1_0_alone_is_served() {
    let served = Served::new(&[&["first.test"]]);
    let mut config = client(&served.authority, None);
    config.alpn_protocols = vec![b"http/1.0".to_vec()];
    let mut stream = shake_hands(&Arc::new(config), served.gateway.port, "first.test").unwrap();
    assert_eq!(stream.conn.alpn_protocol(), Some(b"http/1.0".as_slice()));
    stream.write_all(b"GET /a/ HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok"), "{answer}");
}

#[test]
fn a_server_name_is_a_host() {
    let served = Served::new(&[&["first.test"]]);
    assert!(openssl_named(&served, "first.test", "-tls1_3").contains("HTTP/1.1 200 OK"));
    for name in ["first.test:8443", "first.test:port"] {
        let seen = openssl_named(&served, name, "-tls1_3");
        assert!(seen.contains("alert illegal parameter") && !seen.contains("HTTP/1.1"), "{name}: {seen}");
    }
}

/// A socket that counts the records with application data that come.
struct Counted {
    socket: TcpStream,
    records: Arc<AtomicUsize>,
    /// What is left of a record's header, or of its content.
    header: Vec<u8>,
    content: usize,
}

impl Read for Counted {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let read = self.socket.read(room)?;
        let mut rest = &room[..read];
        while !rest.is_empty() {
            if self.content > 0 {
                let taken = self.content.min(rest.len());
                self.content -= taken;
                rest = &rest[taken..];
                continue;
            }
            self.header.push(rest[0]);
            rest = &rest[1..];
            if let [kind, _, _, high, low] = self.header[..] {
                self.records.fetch_add(usize::from(kind == 23), Ordering::SeqCst);
                self.content = usize::from(u16::from_be_bytes([high, low]));
                self.header.clear();
            }
        }
        Ok(read)
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.socket.flush()
    }
}

/// A connection, and how many records with application data have come on it.
fn counted(served: &Served, protocol: &[u8]) -> (rustls::StreamOwned<ClientConnection, Counted>, Arc<AtomicUsize>) {
    let records = Arc::<AtomicUsize>::default();
    let socket = TcpStream::connect(("127.0.0.1", served.gateway.port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let counted = Counted { socket, records: records.clone(), header: Vec::new(), content: 0 };
    let mut config = client(&served.authority, None);
    config.alpn_protocols = vec![protocol.to_vec()];
    let session = ClientConnection::new(Arc::new(config), ServerName::try_from("first.test").unwrap()).unwrap();
    (rustls::StreamOwned::new(session, counted), records)
}

/// A gateway before an upstream that answers with as many bytes as the path says; `b` sends the head before the body, as servers do that
/// send a file.
fn served_sizes() -> Served {
    let options = json!({"http_server_options": {"enable_http2": true}});
    let size = |seen: &Seen| seen.target.trim_start_matches('/').parse::<usize>().unwrap_or(0);
    Served::with(&[&["first.test"]], options, |_, _| {
        let at_once = Upstream::start(move |seen| reply("200 OK", &[], &"x".repeat(size(seen))));
        let in_two = Upstream::raw(move |mut wire, _| {
            while let Some(seen) = Seen::read(&mut wire) {
                let answer = reply("200 OK", &[], &"x".repeat(size(&seen)));
                let (head, body) = answer.split_at(answer.len() - size(&seen));
                wire.send(head);
                // The gateway has read the head by then, and does not wait any longer for the rest.
                thread::sleep(Duration::from_millis(if seen.head.has("x-late") { 3_000 } else { 10 }));
                wire.send(body);
            }
        });
        [("a", at_once), ("b", in_two)]
            .map(|(id, upstream)| api(id, &format!("/{id}/"), &Box::leak(Box::new(upstream)).url()))
            .into()
    })
}

#[test]
fn a_small_answer_over_http_2_is_one_record() {
    let served = served_sizes();
    let (mut stream, records) = counted(&served, b"h2");
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    stream.write_all(&frames::frame(frames::SETTINGS, 0, 0, b"")).unwrap();
    let mut ask = |number: u32, target: &str| {
        let before = records.load(Ordering::SeqCst);
        stream.write_all(&frames::get(number, target)).unwrap();
        loop {
            let mut header = [0; 9];
            stream.read_exact(&mut header).unwrap();
            let mut content = vec![0; u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize];
            stream.read_exact(&mut content).unwrap();
            let of = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
            if of == number && header[3] < 2 && header[4] & frames::END_STREAM != 0 {
                return records.load(Ordering::SeqCst) - before;
            }
        }
    };
    // Session tickets and settings come with the first answers.
    ask(1, "/a/1");
    ask(3, "/a/1");
    for (number, size) in [(5, 0), (7, 1), (9, 100), (11, 4_000), (13, 5_000), (15, 10_000), (17, 15_000)] {
        assert_eq!(ask(number, &format!("/a/{size}")), 1, "{size} bytes");
    }
    for (number, size) in [(19, 1), (21, 100), (23, 4_000)] {
        assert_eq!(ask(number, &format!("/b/{size}")), 1, "{size} bytes behind their head");
    }
    assert_eq!(ask(25, "/nowhere"), 1, "an answer of the gateway's own");
}

#[test]
fn a_small_answer_is_one_record() {
    let served = served_sizes();
    let (mut stream, records) = counted(&served, b"http/1.1");
    let mut ask = |target: &str, size: usize| {
        let before = records.load(Ordering::SeqCst);
        stream.write_all(get(target).as_bytes()).unwrap();
        let mut answer = Vec::new();
        while answer.windows(4).position(|end| end == b"\r\n\r\n").is_none_or(|head| answer.len() < head + 4 + size) {
            let mut room = [0; 32 * 1024];
            let read = stream.read(&mut room).unwrap();
            assert!(read > 0, "the gateway closed: {:?}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&room[..read]);
        }
        records.load(Ordering::SeqCst) - before
    };
    // The first answer comes with session tickets.
    ask("/a/1", 1);
    for size in [0, 1, 100, 4_000, 5_000, 10_000, 15_000] {
        assert_eq!(ask(&format!("/a/{size}"), size), 1, "{size} bytes");
    }
    for size in [1, 100, 4_000] {
        assert_eq!(ask(&format!("/b/{size}"), size), 1, "{size} bytes behind their head");
    }
    assert_eq!(ask("/nowhere", 9), 1, "an answer of the gateway's own");
}

#[test]
fn a_head_does_not_wait_long_for_its_body() {
    let served = served_sizes();
    let (mut stream, records) = counted(&served, b"http/1.1");
    let mut ask = |text: String| {
        let before = records.load(Ordering::SeqCst);
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"x") {
            let mut room = [0; 1024];
            let read = stream.read(&mut room).unwrap();
            assert!(read > 0);
            answer.extend_from_slice(&room[..read]);
        }
        records.load(Ordering::SeqCst) - before
    };
    ask(get("/b/1"));
    assert_eq!(ask(request("GET", "/b/1", &["X-Late: 1"], "")), 2, "the head goes out before the body comes");
    assert_eq!(ask(get("/b/1")), 1);
}

#[test]
fn a_head_whose_body_does_not_come_is_sent_and_cut() {
    let cut = Upstream::once("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    let served = Served::with(&[&["first.test"]], json!({}), |_, _| vec![api("a", "/a/", &cut.url())]);
    let (mut stream, _) = counted(&served, b"http/1.1");
    stream.write_all(get("/a/").as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\n"), "{answer:?}");
}

// --- What is no TLS ---

#[test]
fn plain_http_is_told_that_it_is_wrong_here() {
    let served = Served::new(&[&["first.test"]]);
    let answer = String::from_utf8_lossy(&served.gateway.raw(get("/a/"))).into_owned();
    assert!(answer.starts_with("HTTP/1.0 400 Bad Request\r\n") && answer.contains("HTTPS server"), "{answer}");
    assert_eq!(served.upstream.requests(), 0);
}

#[test]
fn garbage_is_cut_off() {
    let served = Served::new(&[&["first.test"]]);
    for garbage in
        [vec![0; 100], vec![22; 100], vec![22, 3, 1, 0xff, 0xff], b"\x16\x03\x01\x00\x05hello".to_vec(), b"SSH-2.0-x\r\n".to_vec()]
    {
        let answer = served.gateway.raw_or_reset(&garbage);
        assert!(answer.len() < 200, "{garbage:?} got {answer:?}");
    }
    assert_eq!(connect(&served.client(), served.gateway.port, "first.test").ask(get("/a/")).status, 200);
}

#[test]
fn a_hello_cut_at_any_byte_harms_nobody() {
    let served = Served::new(&[&["first.test"]]);
    let mut hello = Vec::new();
    let name = ServerName::try_from("first.test").unwrap();
    ClientConnection::new(served.client(), name).unwrap().write_tls(&mut hello).unwrap();
    for cut in 0..hello.len() {
        let mut socket = TcpStream::connect(("127.0.0.1", served.gateway.port)).unwrap();
        socket.write_all(&hello[..cut]).unwrap();
    }
    assert_eq!(connect(&served.client(), served.gateway.port, "first.test").ask(get("/a/")).status, 200);
    // In as many pieces as there are bytes it is as good as in one.
    let mut socket = TcpStream::connect(("127.0.0.1", served.gateway.port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.set_nodelay(true).unwrap();
    for byte in &hello {
        socket.write_all(&[*byte]).unwrap();
    }
    let mut first = [0];
    socket.read_exact(&mut first).unwrap();
    assert_eq!(first, [22]);
}

#[test]
fn an_altered_record_ends_the_connection_and_nothing_else() {
    let served = Served::new(&[&["first.test"]]);
    let mut stream = shake_hands(&served.client(), served.gateway.port, "first.test").unwrap();
    stream.conn.writer().write_all(get("/a/").as_bytes()).unwrap();
    let mut record = Vec::new();
    stream.conn.write_tls(&mut record).unwrap();
    let last = record.len() - 1;
    record[last] ^= 1;
    stream.sock.write_all(&record).unwrap();
    let mut rest = Vec::new();
    assert!(stream.read_to_end(&mut rest).is_err() || rest.is_empty());
    assert_eq!(served.upstream.requests(), 0);
    assert_eq!(connect(&served.client(), served.gateway.port, "first.test").ask(get("/a/")).status, 200);
}

#[test]
fn a_handshake_that_does_not_go_on_is_ended() {
    let options = json!({"tollgate": {"timeouts": {"handshake_ms": 1_500}}});
    let served = Served::with(&[&["first.test"]], options, |upstream, _| vec![api("a", "/a/", &upstream.url())]);
    for start in [b"".as_slice(), b"\x16", b"\x16\x03\x01\x02\x00\x01"] {
        let mut socket = TcpStream::connect(("127.0.0.1", served.gateway.port)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(start).unwrap();
        let mut rest = Vec::new();
        let _ = socket.read_to_end(&mut rest);
        assert!(rest.is_empty());
    }
    // The limit is the handshake's alone.
    let mut wire = connect(&served.client(), served.gateway.port, "first.test");
    std::thread::sleep(std::time::Duration::from_millis(2_000));
    assert_eq!(wire.ask(get("/a/")).status, 200);
}

#[test]
fn many_handshakes_at_once_all_succeed() {
    let served = Served::new(&[&["first.test"]]);
    let mut fresh = client(&served.authority, None);
    fresh.resumption = rustls::client::Resumption::disabled();
    let config = Arc::new(fresh);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    assert_eq!(connect(&config, served.gateway.port, "first.test").ask(get("/a/")).status, 200);
                }
            });
        }
    });
    eventually("no connection is left", || served.gateway.open_files() < 60);
}

#[test]
fn a_protocol_switch_works_over_tls() {
    let upstream = Upstream::raw(|mut wire, _| {
        let _ = wire.head();
        let _ = wire.try_send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        while let Ok(bytes) = wire.some() {
            let _ = wire.try_send(bytes);
        }
    });
    let options = json!({"http_server_options": {"enable_websockets": true}});
    let served = Served::with(&[&["first.test"]], options, |_, _| vec![api("a", "/a/", &upstream.url())]);
    let mut wire = connect(&served.client(), served.gateway.port, "first.test");
    let response = wire.ask(request("GET", "/a/", &["Connection: Upgrade", "Upgrade: websocket"], ""));
    assert_eq!(response.status, 101);
    for size in [1, 100, 40_000] {
        let sent = vec![7; size];
        wire.send(&sent);
        assert_eq!(wire.exactly(size).unwrap(), sent);
    }
}

#[test]
fn draining_ends_idle_connections_and_finishes_the_others() {
    let mut served = Served::new(&[&["first.test"]]);
    let mut idle = connect(&served.client(), served.gateway.port, "first.test");
    assert_eq!(idle.ask(get("/a/")).status, 200);
    let mut busy = connect(&served.client(), served.gateway.port, "first.test");
    busy.send("POST /a/echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\na");
    eventually("the upstream is asked", || served.upstream.connections() > 0);
    served.gateway.signal("TERM");
    assert!(idle.rest().is_ok_and(|rest| rest.is_empty()));
    busy.send("b");
    let response = busy.response("POST");
    assert_eq!((response.status, response.text()), (200, "ab".to_owned()));
    assert!(served.gateway.wait_for_exit().success());
}

// --- What can not start ---

fn start_error(options: Value) -> String {
    let dir = tempfile::tempdir().unwrap();
    let conf = dir.path().join("tyk.conf");
    let mut all = json!({"listen_address": "127.0.0.1", "listen_port": 0, "app_path": dir.path(), "tollgate": {"data_dir": dir.path().join("data")}});
    merge(&mut all, json!({"http_server_options": {"use_ssl": true}}));
    merge(&mut all, json!({"http_server_options": options}));
    fs::write(&conf, all.to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).args(["run", "--conf"]).arg(&conf).output().unwrap();
    assert!(!output.status.success(), "it started");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn certificates_that_can_not_be_used_are_named_at_start() {
    let authority = Authority::new("tests");
    let (made, other) = (authority.issue(&["a.test"]), authority.issue(&["b.test"]));
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let good = write("good.pem", &made.certificate);
    let cases: Vec<(Value, Vec<&str>)> = vec![
        (
            json!({"certificates": [{"cert_file": dir.path().join("none.pem"), "key_file": good}]}),
            vec!["none.pem", "cannot be read"],
        ),
        (
            json!({"certificates": [{"cert_file": good, "key_file": dir.path().join("none.key")}]}),
            vec!["none.key", "cannot be read"],
        ),
        (
            json!({"certificates": [{"cert_file": good, "key_file": write("other.key", &other.key)}]}),
            vec!["good.pem", "other.key", "together"],
        ),
        (
            json!({"certificates": [{"cert_file": write("text.pem", "no pem"), "key_file": good}]}),
            vec!["text.pem", "no certificate"],
        ),
        (json!({"ssl_certificates": [good]}), vec!["private key"]),
        (json!({"ssl_certificates": ["a".repeat(64)]}), vec!["aaaa", "no such certificate"]),
        (json!({"max_version": 770}), vec!["1.2 and 1.3"]),
        (json!({"ssl_ciphers": ["TLS_RSA_WITH_RC4_128_SHA"]}), vec!["ssl_ciphers", "TLS_RSA_WITH_RC4_128_SHA"]),
    ];
    for (options, words) in cases {
        let error = start_error(options.clone());
        for word in words {
            assert!(error.contains(word), "{options}: no {word:?} in {error}");
        }
    }
    let _: Made = made;
}
