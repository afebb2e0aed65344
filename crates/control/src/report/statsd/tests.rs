use super::*;
use tollgate_observe::{Meters, Tally};

fn statsd(tags: bool) -> (UdpSocket, StatsdSink) {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut config = GatewayConfig::of_empty_file();
    config.statsd_connection_string = server.local_addr().unwrap().to_string();
    config.statsd_prefix = "gate way".to_owned();
    config.tollgate.statsd.tags = tags;
    (server, StatsdSink::new(&config, SinkFigures::new("statsd")).unwrap().unwrap())
}

fn received(server: &UdpSocket) -> Vec<String> {
    let mut buffer = [0; 2 * DATAGRAM_BYTES_MAX];
    let length = server.recv(&mut buffer).unwrap();
    assert!(length <= DATAGRAM_BYTES_MAX);
    String::from_utf8_lossy(&buffer[..length]).lines().map(str::to_owned).collect()
}

fn sums(count: u64) -> Vec<(String, Sum)> {
    let meters = Meters::new(1, 10);
    let meter = meters.get("my.shop");
    for _ in 0..count {
        let total_ns = 700_000;
        let tally = Tally { status: 200, method: 0, total_ns, upstream_ns: None, request_bytes: 0, response_bytes: 0 };
        meter.core(0).unwrap().count(&tally);
        meter.core(0).unwrap().refused("api_rate_limit");
    }
    vec![("my.shop".to_owned(), meter.sum().unwrap())]
}

#[test]
fn only_what_is_new_is_sent() {
    let (server, mut statsd) = statsd(false);
    statsd.send(sums(4), Duration::from_secs(2));
    let lines = received(&server);
    for line in [
        "gate$way.requests.my_shop.2xx:4|c",
        "gate$way.refusals.my_shop.api_rate_limit:4|c",
        "gate$way.request_time.my_shop:0.75|ms|@0.25",
        "gate$way.Load.rps:2.00|g",
        "gate$way.rps:2.00|g",
    ] {
        assert!(lines.iter().any(|own| own == line), "{line} is not in {lines:?}");
    }
    statsd.send(sums(5), Duration::from_secs(1));
    let lines = received(&server);
    assert!(lines.contains(&"gate$way.requests.my_shop.2xx:1|c".to_owned()), "{lines:?}");
    assert!(lines.contains(&"gate$way.request_time.my_shop:0.75|ms".to_owned()), "{lines:?}");
    statsd.send(sums(5), Duration::from_secs(1));
    assert_eq!(received(&server), ["gate$way.rps:0.00|g", "gate$way.Load.rps:0.00|g"]);
}

#[test]
fn dogstatsd_gets_tags() {
    let (server, mut statsd) = statsd(true);
    statsd.send(sums(1), Duration::from_secs(1));
    let lines = received(&server);
    assert!(lines.contains(&"gate$way.requests:1|c|#api:my.shop,code:2xx".to_owned()), "{lines:?}");
    assert!(lines.contains(&"gate$way.refusals:1|c|#api:my.shop,cause:api_rate_limit".to_owned()), "{lines:?}");
}

#[test]
fn many_lines_are_several_datagrams() {
    let (server, mut statsd) = statsd(false);
    let many = (0..100).flat_map(|number| sums(1).into_iter().map(move |(api, sum)| (format!("{api}-{number}"), sum))).collect();
    statsd.send(many, Duration::from_secs(1));
    let mut lines = 0;
    while lines < 402 {
        lines += received(&server).len();
    }
    assert_eq!(lines, 402);
}
