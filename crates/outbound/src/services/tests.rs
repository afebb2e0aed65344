use super::*;

fn written(http: &str, https: &str, bypass: &str) -> ExternalProxy {
    ExternalProxy { enabled: true, http_proxy: http.to_owned(), https_proxy: https.to_owned(), bypass_proxy: bypass.to_owned() }
}

#[test]
fn the_scheme_and_the_host_select_the_proxy() {
    let both = proxies(&written(
        "http://a:1",
        "http://user:p%40ss@b:2",
        "direct.test, .inside.test,*.wild.test,10.0.0.0/8,192.0.2.1,localhost",
    ));
    let one = proxies(&written("http://a:1", "", ""));
    let secure = proxies(&written("", "http://b:2", ""));
    for (proxies, uri, expected) in [
        (&both, "http://x.test/", Some("a:1")),
        (&both, "https://x.test/", Some("b:2")),
        (&one, "https://x.test/", Some("a:1")),
        (&secure, "http://x.test/", None),
        (&both, "http://direct.test/", None),
        (&both, "http://DIRECT.test:8080/", None),
        (&both, "http://not-direct.test/", Some("a:1")),
        (&both, "http://a.inside.test/", None),
        (&both, "http://inside.test/", Some("a:1")),
        (&both, "http://a.b.wild.test/", None),
        (&both, "http://10.1.2.3/", None),
        (&both, "http://192.0.2.1/", None),
        (&both, "http://192.0.2.2/", Some("a:1")),
        (&both, "http://127.0.0.1:9/", None),
    ] {
        let uri: Uri = uri.parse().unwrap();
        let chosen = proxies.as_ref().unwrap()(&uri);
        let authority = chosen.as_ref().and_then(|proxy| proxy.uri.authority()).map(|authority| authority.as_str());
        assert_eq!(authority, expected, "{uri}");
    }
    let chosen = both.unwrap()(&"https://x.test/".parse().unwrap()).unwrap();
    assert_eq!(chosen.authorization.unwrap(), "Basic dXNlcjpwQHNz");
    assert!(proxies(&ExternalProxy::default()).is_none());
}

#[test]
fn a_service_without_a_proxy_has_the_global_one() {
    let mut all = Written { global: written("http://global:1", "", ""), ..Written::default() };
    all.oauth.proxy.http_proxy = "http://own:1".to_owned();
    let of = |services: &ExternalServices, kind| {
        let chosen = services.of(kind).proxies.as_ref().and_then(|choose| choose(&"http://x.test/".parse().unwrap()));
        chosen.and_then(|proxy| proxy.uri.host().map(str::to_owned))
    };
    let services = ExternalServices::new(&all, Vec::new());
    assert_eq!(of(&services, ServiceKind::OAuth).as_deref(), Some("own"));
    assert_eq!(of(&services, ServiceKind::Health).as_deref(), Some("global"));
    assert_eq!(of(&services, ServiceKind::Other), None);
    all.global.enabled = false;
    assert_eq!(of(&ExternalServices::new(&all, Vec::new()), ServiceKind::Health), None);
}
