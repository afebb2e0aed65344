//! TLS: unchecked as in hey, checked on request.

use crate::command::load;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

/// A server with a self-signed certificate for `localhost`, and that certificate.
fn server() -> (SocketAddr, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(builder.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(session, stream.unwrap());
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(1..) = stream.read(&mut buffer) {
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").and_then(|()| stream.flush()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, cert.pem())
}

#[test]
fn a_self_signed_certificate_is_taken_as_hey_does_and_remarked_on() {
    let (address, _) = server();
    let run = load("-n 50 -c 5", &[&format!("https://{address}/")]);
    assert_eq!((run.code, &run.result["status"]["200"]), (0, &50.into()), "{}", run.stderr);
    assert!(run.stderr.contains("certificate is not checked"), "{}", run.stderr);
    let quiet = load("-n 5 -c 1 -k", &[&format!("https://{address}/")]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
}

#[test]
fn a_certificate_is_checked_on_request() {
    let (address, pem) = server();
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, pem).unwrap();
    let (file, port) = (file.to_str().unwrap(), address.port());
    let run = load("-n 5 -c 1", &["--cacert", file, &format!("https://localhost:{port}/")]);
    assert_eq!((run.code, &run.result["status"]["200"]), (0, &5.into()), "{}", run.stderr);
    let wrong_name = load("-n 5 -c 1", &["--cacert", file, &format!("https://127.0.0.1:{port}/")]);
    assert_eq!((wrong_name.code, &wrong_name.result["errors"]["tls"]), (1, &5.into()), "{}", wrong_name.stderr);
}

#[test]
fn one_suite_and_one_group_can_be_offered_alone_without_resumption() {
    let (address, _) = server();
    let url = format!("https://{address}/");
    let flags = "-n 20 -c 2 -k --disable-keepalive --disable-resumption";
    let run = load(flags, &["--tls-suite", "TLS13_AES_128_GCM_SHA256", "--tls-group", "X25519", &url]);
    assert_eq!((run.code, &run.result["status"]["200"]), (0, &20.into()), "{}", run.stderr);
    let run = load(flags, &["--tls-suite", "AES", &url]);
    assert!(run.stderr.contains("--tls-suite: AES is none of TLS13_AES_256_GCM_SHA384"), "{}", run.stderr);
    let run = load(flags, &["--tls-group", "P-1", &url]);
    assert!(run.stderr.contains("--tls-group: P-1 is none of"), "{}", run.stderr);
}
