use super::*;

#[test]
fn addresses_have_the_forms_of_grpc_and_tyk() {
    let tcp = |host: &str, port| GrpcTransport::Tcp(host.to_owned(), port);
    for (text, transport, wants_tls, shown) in [
        ("tcp://127.0.0.1:5555", tcp("127.0.0.1", 5555), false, "127.0.0.1:5555"),
        ("plugins:80", tcp("plugins", 80), false, "plugins:80"),
        ("dns:///plugins.svc:5555", tcp("plugins.svc", 5555), false, "plugins.svc:5555"),
        ("dns://8.8.8.8/plugins:5555", tcp("plugins", 5555), false, "plugins:5555"),
        ("https://plugins:443", tcp("plugins", 443), true, "plugins:443"),
        ("[::1]:5555", tcp("::1", 5555), false, "[::1]:5555"),
        (":5555", tcp("localhost", 5555), false, "localhost:5555"),
        ("unix:///run/p.sock", GrpcTransport::Unix("/run/p.sock".into()), false, "localhost"),
    ] {
        let address = GrpcAddress::parse(text).unwrap();
        assert_eq!((&address.transport, address.wants_tls), (&transport, wants_tls), "{text}");
        assert_eq!(address.to_string(), shown);
    }
}

#[test]
fn other_addresses_are_refused_with_the_reason() {
    for (text, reason) in
        [("plugins", "must have a port"), ("tcp://plugins:x", "port"), ("ftp://plugins:1", "scheme"), ("a:0", "port")]
    {
        let why = GrpcAddress::parse(text).unwrap_err();
        assert!(why.contains(reason), "{text}: {why}");
    }
}
