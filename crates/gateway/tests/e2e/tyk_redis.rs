//! A Redis that a Tyk and a Tollgate share. The recorded names and values are those of Tyk 5.14.0: what it writes is used here, and what is
//! written here has the names and forms that it reads.

use serde_json::{Value, json};

use crate::basic_auth::line as basic;
use crate::harness::jws::hs256;
use crate::harness::oauth::{FORM, provider, with_policies};
use crate::harness::tokens::{SECRET, policy, with_tokens};
use crate::harness::{Gateway, Upstream, api, eventually, request};
use crate::keys::{call, keyed, session};
use crate::servers::Server;
use crate::shared_keys::on;

/// An organisation's identifier from a database.
const DATABASE_ORG: &str = "5e9d9544a1dcd60001d0ed20";

/// A key that Tyk made: `hashed` or `plain`, `hash_key_function`, organisation, `generated` or the name in the path, the key, and its name in
/// Redis. A dash stands for an empty text.
struct RecordedKey {
    is_hashed: bool,
    function: &'static str,
    org: &'static str,
    how: &'static str,
    key: &'static str,
    name: &'static str,
}

fn recorded_keys() -> Vec<RecordedKey> {
    let field = |text: &'static str| if text == "-" { "" } else { text };
    let read = |line: &'static str| {
        let fields: Vec<&str> = line.split(' ').map(field).collect();
        let [mode, function, org, how, key, name] = fields[..] else { panic!("{line}") };
        RecordedKey { is_hashed: mode == "hashed", function, org, how, key, name }
    };
    include_str!("tyk_keys.txt").lines().map(read).collect()
}

/// A session as Tyk stored it; its members are those of every recorded one.
fn recorded_session(org: &str, api: &str) -> Value {
    json!({
        "rate": 100, "per": 1, "date_created": "2026-11-26T18:21:03.256140373Z", "quota_max": 5, "quota_renews": 1795720863,
        "quota_renewal_rate": 3600, "access_rights": {api: {"api_name": api, "api_id": api, "versions": ["Default"]}},
        "org_id": org, "alias": "recorded", "last_updated": "1795717263"
    })
}

/// The API of each organisation.
fn api_of(org: &str) -> &'static str {
    match org {
        "default" => "a",
        "" => "n",
        _ => "m",
    }
}

fn start(server: &Server, upstream: &Upstream, recorded: &RecordedKey) -> Gateway {
    let mut conf = on(server);
    conf["hash_keys"] = json!(recorded.is_hashed);
    conf["hash_key_function"] = json!(recorded.function);
    let apis = ["default", "", DATABASE_ORG].map(|org| keyed(api_of(org), upstream).set("org_id", org));
    Gateway::start(conf, apis)
}

/// The recorded keys by configuration.
fn by_configuration() -> Vec<Vec<RecordedKey>> {
    let mut groups: Vec<Vec<RecordedKey>> = Vec::new();
    for key in recorded_keys() {
        match groups.last_mut().filter(|group| (group[0].is_hashed, group[0].function) == (key.is_hashed, key.function)) {
            Some(group) => group.push(key),
            None => groups.push(vec![key]),
        }
    }
    groups
}

#[test]
fn keys_that_tyk_made_are_good_here_with_every_hash_function() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    for group in by_configuration() {
        server.cli(&["FLUSHDB"]);
        for key in &group {
            server.cli(&["SET", key.name, &recorded_session(key.org, api_of(key.org)).to_string()]);
        }
        let gateway = start(&server, &upstream, &group[0]);
        for key in &group {
            let path = format!("/{}/x", api_of(key.org));
            let response = call(&gateway, &path, key.key);
            assert_eq!(response.status, 200, "{} {}: {response}", key.function, key.key);
            assert_eq!(response.header("x-ratelimit-limit"), Some("5"), "with its session");
            let quota = key.name.replacen("apikey-", "quota-", 1);
            eventually("the quota has Tyk's name", || server.cli(&["EXISTS", &quota]) == "1");
            let shown = gateway.control("GET", &format!("/tyk/keys/{}?org_id={}", key.key.replace('=', "%3D"), key.org), "");
            assert_eq!((shown.status, &shown.json()["alias"]), (200, &json!("recorded")), "{shown}");
            if key.how == "mykey" && key.org == "default" {
                assert_eq!(call(&gateway, &path, "mykey").status, 200, "by its own name with {}", key.function);
            }
            assert_eq!(call(&gateway, &path, &format!("x{}", key.key)).status, 403, "another key");
        }
    }
}

#[test]
fn keys_that_are_made_here_have_the_names_and_forms_that_tyk_reads() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    for group in by_configuration() {
        server.cli(&["FLUSHDB"]);
        let gateway = start(&server, &upstream, &group[0]);
        for key in &group {
            let recorded = recorded_session(key.org, api_of(key.org));
            let path = if key.how == "generated" { "/tyk/keys/create".to_owned() } else { format!("/tyk/keys/{}", key.how) };
            let answer = gateway.control("POST", &path, &recorded.to_string());
            let made = answer.json()["key"].as_str().unwrap_or_default().to_owned();
            let name = match answer.json()["key_hash"].as_str() {
                Some(hash) => format!("apikey-{hash}"),
                None => format!("apikey-{made}"),
            };
            if key.how == "generated" {
                assert_eq!((made.len(), name.len()), (key.key.len(), key.name.len()), "{answer}");
            } else {
                assert_eq!((made.as_str(), name.as_str()), (key.key, key.name), "{answer}");
            }
            let stored: Value = serde_json::from_str(&server.cli(&["GET", &name])).expect("a session");
            for (member, value) in recorded.as_object().expect("an object") {
                let is_time = ["date_created", "last_updated", "quota_renews"].contains(&member.as_str());
                let is_same = match is_time {
                    true => stored[member].is_string() == value.is_string(),
                    false => stored[member] == *value || stored[member].is_null() && value == "",
                };
                assert!(is_same, "{member} of {stored}");
            }
        }
    }
}

/// What the hashes leave out: with Tyk's default, keys that differ in their last bytes only are one key.
#[test]
fn a_switch_refuses_keys_whose_hash_stands_for_others_too() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let name = "apikey-49cb96ec";
    server.cli(&["SET", name, &recorded_session("default", "a").to_string()]);
    let [key, alike] = ["default1f753e0e69154aae827b1afd6c80a8e6", "default1f753e0e69154aae827b1afd6c80a8e7"];
    let gateway = Gateway::start(on(&server), [keyed("a", &upstream)]);
    assert_eq!([key, alike].map(|key| call(&gateway, "/a/", key).status), [200, 200], "as in Tyk");
    let mut conf = on(&server);
    conf["hash_key_function"] = json!("sha256");
    conf["tollgate"]["shared_store"]["refuse_weak_hashes"] = json!(true);
    let strict = Gateway::start(conf, [keyed("a", &upstream)]);
    for _ in 0..2 {
        assert_eq!([key, alike].map(|key| call(&strict, "/a/", key).status), [403, 403]);
    }
    let made = strict.control("POST", "/tyk/keys/mykey", &session(json!({})).to_string()).json();
    for text in ["mykey", made["key"].as_str().expect("a key")] {
        assert_eq!(call(&strict, "/a/", text).status, 200, "{text}");
    }
}

/// Earlier versions named sessions by the complete MurmurHash3.
#[test]
fn keys_under_the_hash_of_earlier_versions_are_found() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let key = "default1f753e0e69154aae827b1afd6c80a8e6";
    // A quota would be counted in Redis.
    let mut recorded = recorded_session("default", "a");
    recorded["quota_max"] = json!(-1);
    server.cli(&["SET", "apikey-4d8ef994", &recorded.to_string()]);
    let gateways = [(); 2].map(|()| Gateway::start(on(&server), [keyed("a", &upstream)]));
    for gateway in &gateways {
        for _ in 0..2 {
            assert_eq!(call(gateway, "/a/", key).status, 200);
        }
        assert_eq!(gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()["alias"], "recorded");
    }
    let reads = || server.cli(&["INFO", "commandstats"]);
    let before = reads();
    assert_eq!(call(&gateways[0], "/a/", key).status, 200);
    let gets = |text: &str| {
        text.lines().find(|line| line.starts_with("cmdstat_get:")).map(|line| line.split(',').next().unwrap().to_owned())
    };
    assert_eq!(gets(&reads()), gets(&before), "it is in memory");
    // A change stays where the session is, so that an earlier version beside it sees it.
    let changed = session(json!({"alias": "changed", "is_inactive": true}));
    assert_eq!(gateways[0].control("PUT", &format!("/tyk/keys/{key}"), &changed.to_string()).status, 200);
    assert_eq!(server.cli(&["KEYS", "apikey-*"]), "apikey-4d8ef994");
    for gateway in &gateways {
        eventually("the key is inactive everywhere", || call(gateway, "/a/", key).status == 403);
    }
    assert_eq!(gateways[1].control("DELETE", &format!("/tyk/keys/{key}"), "").status, 200);
    for gateway in &gateways {
        eventually("the key is gone everywhere", || gateway.control("GET", &format!("/tyk/keys/{key}"), "").status == 404);
        assert_eq!(call(gateway, "/a/", key).status, 403);
    }
    // A key of its new name comes first.
    server.cli(&["SET", "apikey-4d8ef994", &recorded_session("default", "other").to_string()]);
    server.cli(&["SET", "apikey-49cb96ec", &recorded_session("default", "a").to_string()]);
    eventually("the new name is found", || call(&gateways[0], "/a/", key).status == 200);
}

/// Everything that a Tyk left in its Redis after some requests; only times were moved, so that nothing has expired.
fn with_all_of_tyk(server: &Server) -> Value {
    let recorded: Value = serde_json::from_str(include_str!("tyk_redis.json")).expect("recorded entries");
    for entry in recorded["entries"].as_array().expect("a list") {
        let (kind, name) = (entry[0].as_str().expect("a type"), entry[1].as_str().expect("a name"));
        let values: Vec<&str> = match &entry[2] {
            Value::String(value) => vec![value],
            values => values.as_array().expect("a list").iter().filter_map(Value::as_str).collect(),
        };
        match kind {
            "string" => drop(server.cli(&["SET", name, values[0]])),
            "list" => drop(server.cli(&["RPUSH", name, values[0]])),
            "set" => drop(server.cli(&["SADD", name, values[0]])),
            _ => values.chunks(2).for_each(|pair| drop(server.cli(&["ZADD", name, pair[1], pair[0]]))),
        }
    }
    recorded
}

#[test]
fn what_a_tyk_left_in_redis_is_used_here() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let recorded = with_all_of_tyk(&server);
    let rights: serde_json::Map<String, Value> = ["oauth", "jwt", "basic", "a"]
        .map(|id| (id.to_owned(), json!({"api_id": id, "versions": ["Default"]})))
        .into_iter()
        .collect();
    let of = |id: &str, quota: i64| policy(id, json!({"access_rights": rights, "quota_max": quota, "quota_renewal_rate": 3600}));
    let mut conf = on(&server);
    conf["security"] = json!({"private_certificate_encoding_secret": "abc"});
    let (conf, _folder) = with_policies(conf, &[of("basic", -1), of("gold", 3)]);
    let caching = json!({"enable_cache": true, "cache_timeout": 600, "cache_all_safe_requests": true});
    let gateway = Gateway::start(
        conf,
        [
            keyed("a", &upstream),
            provider("oauth", &upstream).set("org_id", "default"),
            keyed("basic", &upstream).set("use_standard_auth", false).set("use_basic_auth", true),
            with_tokens("jwt", &upstream).set("jwt_identity_base_field", "sub"),
            api("cache", "/cache/", &upstream.url()).set("cache_options", caching),
        ],
    );
    let ask = |path: &str, line: &str| gateway.send(request("GET", path, &[line], ""));
    // A cached response.
    let cached = gateway.get("/cache/x?y=1");
    assert_eq!((cached.status, cached.header("x-tyk-cached-response")), (200, Some("1")), "{cached}");
    assert!(cached.text().starts_with("GET /x?y=1\n") && upstream.requests() == 0, "{cached}");
    // A user of HTTP basic authentication.
    assert_eq!(ask("/basic/x", &basic("alice", "secret")).status, 200);
    assert_eq!(ask("/basic/x", &basic("alice", "wrong")).status, 401);
    // The quota of a token's user: one of three requests is used.
    let token = hs256(SECRET, &json!({"sub": "joe", "pol": "gold"}));
    let response = ask("/jwt/x", &format!("Authorization: {token}"));
    assert_eq!((response.status, response.header("x-ratelimit-remaining")), (200, Some("1")), "{response}");
    assert_eq!(server.cli(&["GET", "quota-8472fd4e"]), "2");
    // Tyk stores the session of that user as a key, whose name anybody can guess.
    assert_eq!(call(&gateway, "/a/x", "default8ff32489f92f33416694be8fdc2d4c22").status, 403, "a name is no key");
    // OAuth: access tokens, clients, lists, codes and refresh tokens.
    let tokens = &recorded["tokens"];
    let of_tokens = |pointer: &str| tokens.pointer(pointer).and_then(Value::as_str).expect("a token").to_owned();
    let (machine, user, refresh) = (of_tokens("/cc"), of_tokens("/tok/access_token"), of_tokens("/tok/refresh_token"));
    let bearer = |token: &str| ask("/oauth/x", &format!("Authorization: Bearer {token}")).status;
    assert_eq!([bearer(&machine), bearer(&user), bearer("nobody")], [200, 200, 403]);
    let client = gateway.control("GET", "/tyk/oauth/clients/oauth/app", "").json();
    let expect = json!({
        "client_id": "app", "redirect_uri": "http://127.0.0.1/cb", "policy_id": "basic", "secret": "s3cret", "meta_data": {"a": 1},
        "description": "d"
    });
    assert_eq!(client, expect);
    let listed = gateway.control("GET", "/tyk/oauth/clients/oauth/app/tokens", "").json();
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    let redeem = |form: &str| gateway.send(request("POST", "/oauth/oauth/token/", &[&basic("app", "s3cret"), FORM], form));
    let renewed = redeem(&format!("grant_type=refresh_token&refresh_token={refresh}"));
    assert_eq!(renewed.status, 200, "{renewed}");
    assert_eq!(bearer(renewed.json()["access_token"].as_str().expect("a token")), 200);
    assert_eq!(bearer(&user), 403, "the old token ends");
    let code = of_tokens("/tok/code");
    let redeemed = redeem(&format!("grant_type=authorization_code&redirect_uri=http://127.0.0.1/cb&code={code}"));
    assert_eq!(redeemed.status, 200, "{redeemed}");
    assert_eq!(bearer(redeemed.json()["access_token"].as_str().expect("a token")), 200);
    // A certificate with its encrypted key.
    let ids = gateway.control("GET", "/tyk/certs?org_id=default", "").json()["certs"].clone();
    let id = ids[0].as_str().expect("a certificate").to_owned();
    let shown = gateway.control("GET", &format!("/tyk/certs/{id}"), "").json();
    assert_eq!((&shown["subject"]["CommonName"], &shown["has_private"]), (&json!("x.test"), &json!(true)), "{shown}");
    // The session of an organisation.
    assert_eq!(gateway.control("GET", "/tyk/org/keys/default", "").json()["quota_max"], 50);
}
