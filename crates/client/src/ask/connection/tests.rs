use super::*;
use serde_json::json;

#[test]
fn an_address_is_read_with_and_without_its_parts() {
    for (written, shown) in [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("gateway.test:81", "http://gateway.test:81"),
        ("gateway.test", "http://gateway.test:80"),
        ("https://gateway.test", "https://gateway.test:443"),
        ("http://[::1]:9", "http://[::1]:9"),
        ("http://proxy.test/gateways/1/", "http://proxy.test:80/gateways/1"),
    ] {
        assert_eq!(GatewayAddress::parse(written).map(|address| address.to_string()), Ok(shown.to_owned()));
    }
    for wrong in ["", "http://", "ftp://gateway.test", "http://a b", "http://gateway.test:0", "http://gateway.test:99999"] {
        assert!(GatewayAddress::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_address_of_a_configuration_is_that_of_its_control_api() {
    for (conf, shown) in [
        (json!({}), "http://127.0.0.1:8080"),
        (json!({"listen_port": 81, "listen_address": "0.0.0.0"}), "http://127.0.0.1:81"),
        (json!({"listen_port": 81, "listen_address": "10.0.0.1"}), "http://10.0.0.1:81"),
        (json!({"listen_address": "::1"}), "http://[::1]:8080"),
        (json!({"listen_port": 81, "control_api_port": 82}), "http://127.0.0.1:82"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("tyk.json");
        std::fs::write(&file, conf.to_string()).unwrap();
        let (config, _) = GatewayConfig::load(Some(&file), std::iter::empty()).unwrap();
        assert_eq!(GatewayAddress::of(&config).to_string(), shown, "{conf}");
    }
}
