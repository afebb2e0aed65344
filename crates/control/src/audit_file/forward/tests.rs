use super::{ChainPlace, DATAGRAM_BYTES_MAX, LineSender, WrittenLine};
use serde_json::json;
use std::sync::Arc;
use tollgate_observe::syslog_link::SyslogServer;

fn sender(server: SyslogServer) -> LineSender {
    LineSender { host: "gw-1".to_owned(), ..LineSender::new(server, Arc::default()) }
}

fn line(text: &str, status: u16) -> WrittenLine {
    let place = ChainPlace { number: 8, previous: "5f".to_owned(), hash: "9d".to_owned() };
    WrittenLine::new(place, text, &json!({"time": 1_796_000_000, "status": status}))
}

#[test]
fn a_message_has_the_form_of_rfc_5424_and_the_chain_as_structured_data() {
    let sent = |server: SyslogServer, status| {
        let text = sender(server).framed(&line("{\"seq\":8}\n", status));
        String::from_utf8(text).expect("text").replace(&format!(" {} ", std::process::id()), " PID ")
    };
    let udp = || SyslogServer::Udp("logs:514".to_owned());
    let head = "1 2026-11-30T00:53:20Z gw-1 tollgate PID audit [tollgate@32473 seq=\"8\" prev=\"5f\" hash=\"9d\"]";
    assert_eq!(sent(udp(), 200), format!("<109>{head} {{\"seq\":8}}"));
    assert_eq!(sent(udp(), 403), format!("<108>{head} {{\"seq\":8}}"));
    let counted = sender(SyslogServer::Tcp("logs:601".to_owned())).framed(&line("{\"seq\":8}\n", 200));
    let (count, message) = std::str::from_utf8(&counted).expect("text").split_once(' ').expect("a count");
    assert_eq!(count.parse(), Ok(message.len()));
}

#[test]
fn what_is_longer_than_a_datagram_goes_without_its_text() {
    let long = line(&"x".repeat(DATAGRAM_BYTES_MAX), 200);
    let udp = sender(SyslogServer::Udp("logs:514".to_owned())).framed(&long);
    assert!(udp.len() < 1_000 && String::from_utf8_lossy(&udp).ends_with("hash=\"9d\"] longer than a datagram"));
    assert!(sender(SyslogServer::Tcp("logs:601".to_owned())).framed(&long).len() > DATAGRAM_BYTES_MAX);
}
