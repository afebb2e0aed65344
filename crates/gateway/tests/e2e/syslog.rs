//! The log as a syslog server gets it: over UDP, TCP and a socket of this machine.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixDatagram;

use serde_json::{Value, json};

use crate::harness::{Gateway, PATIENCE, api, eventually};
use crate::servers::free_port;

const DEAD: &str = "http://127.0.0.1:1";

fn conf(transport: &str, address: &str) -> Value {
    json!({"use_syslog": true, "syslog_transport": transport, "syslog_network_addr": address})
}

/// The message of a loaded definition, without time, name and process ID.
fn is_the_first_line(message: &str, gateway: &Gateway) -> bool {
    let mark = format!(" tollgate[{}]: ", gateway.pid());
    let Some((head, text)) = message.split_once(&mark) else { return false };
    assert!(head.starts_with("<30>"), "facility daemon, severity info: {message}");
    text.contains("INFO") && text.contains("API reload complete") && text.contains("apis=1")
}

#[test]
fn lines_are_datagrams() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    let gateway = Gateway::start(conf("udp", &server.local_addr().unwrap().to_string()), [api("a", "/a/", DEAD)]);
    let mut buffer = [0; 4096];
    loop {
        let length = server.recv(&mut buffer).expect("a line");
        let message = String::from_utf8(buffer[..length].to_vec()).unwrap();
        if is_the_first_line(&message, &gateway) {
            let time = message.trim_start_matches("<30>").split(' ').next().unwrap();
            assert!(time.len() >= 20 && time.as_bytes()[10] == b'T', "{message}");
            assert!(gateway.log().contains("API reload complete"), "standard error has it too");
            return;
        }
    }
}

#[test]
fn a_socket_of_this_machine_gets_them_without_the_host() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let server = UnixDatagram::bind(&path).unwrap();
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    let gateway = Gateway::start(conf("unixgram", path.to_str().unwrap()), [api("a", "/a/", DEAD)]);
    let mut buffer = [0; 4096];
    loop {
        let length = server.recv(&mut buffer).expect("a line");
        let message = String::from_utf8(buffer[..length].to_vec()).unwrap();
        if is_the_first_line(&message, &gateway) {
            // <30>Nov 24 00:47:32 tollgate[1]: text
            let words = message.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>();
            assert!(words[3].starts_with("tollgate["), "{message}");
            return;
        }
    }
}

#[test]
fn a_server_that_goes_and_returns_gets_lines_again_and_the_log_says_so() {
    let address = format!("127.0.0.1:{}", free_port());
    let server = TcpListener::bind(&address).unwrap();
    let gateway = Gateway::start(conf("tcp", &address), [api("a", "/a/", DEAD)]);
    let mut lines = BufReader::new(server.accept().unwrap().0).lines();
    assert!(lines.any(|line| is_the_first_line(&line.unwrap(), &gateway)));
    drop((lines, server));
    eventually("the loss is noticed", || {
        gateway.reload();
        gateway.log().contains("the syslog server takes no lines")
    });
    let server = TcpListener::bind(address).unwrap();
    eventually("lines arrive again", || {
        gateway.reload();
        gateway.log().contains("the syslog server takes lines again")
    });
    let mut lines = BufReader::new(server.accept().unwrap().0).lines();
    assert!(lines.any(|line| line.unwrap().contains("API reload complete")));
}

#[test]
fn a_server_that_is_nowhere_is_a_clear_error() {
    for (transport, address, field) in
        [("udp", "", "syslog_network_addr"), ("tcp", "host", "syslog_network_addr"), ("carrier-pigeon", "x:1", "syslog_transport")]
    {
        let (status, text) = crate::start::check_conf(&conf(transport, address));
        assert_eq!(status, Some(1), "{text}");
        assert!(text.contains(&format!("$.{field}: error: must be")), "{text}");
    }
}
