//! Six kinds of synthetic load on a key in the query, from everything accepted to everything refused, counted answer by answer.

use std::collections::BTreeMap;
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Gateway, Upstream, api, request};
use crate::keys::session_for;
use crate::servers::Server;

const CLIENTS: usize = 20;
const REQUESTS_PER_CLIENT: usize = 150;
const ALL: usize = CLIENTS * REQUESTS_PER_CLIENT;

struct Stage {
    upstream: Upstream,
    gateways: Vec<Gateway>,
    _store: Option<Server>,
}

impl Stage {
    /// An API that takes its key from `apikey`, and a key `t1` with these fields.
    fn set(fields: Value) -> Stage {
        Stage::of(1, json!({"min_token_length": 2, "tollgate": {"threads": 4}}), None, fields)
    }

    /// The same on three gateways that share a Redis; the clients are spread over them.
    fn set_on_three(fields: Value) -> Stage {
        let store = Server::start(&[]);
        let storage = json!({"host": "127.0.0.1", "port": store.port});
        let conf = crate::shared_keys::patient(json!({"min_token_length": 2, "storage": storage}));
        let stage = Stage::of(3, conf.clone(), Some(store), fields);
        crate::shared_limits::all_count(&conf, 3);
        stage
    }

    fn of(gateways: usize, conf: Value, store: Option<Server>, fields: Value) -> Stage {
        let upstream = Upstream::ok();
        let auth = json!({"auth_header_name": "Authorization", "use_param": true, "param_name": "apikey"});
        let definition = api("test", "/test/", &upstream.url()).with_keys().set("auth", auth);
        let gateways: Vec<Gateway> = (0..gateways).map(|_| Gateway::start(conf.clone(), [definition.clone()])).collect();
        let answer = gateways[0].control("POST", "/tyk/keys/t1", &session_for(&["test"], fields).to_string());
        assert_eq!(answer.status, 200, "{answer}");
        Stage { upstream, gateways, _store: store }
    }

    /// How often each status came when every client kept one connection.
    fn load(&self, method: &str, target: &str) -> BTreeMap<u16, usize> {
        let request = request(method, target, &[], "").replace("gateway.test", "api.example.com");
        let one = &|gateway: &Gateway| {
            let mut client = gateway.connect();
            (0..REQUESTS_PER_CLIENT).map(|_| client.ask(&request).status).collect::<Vec<_>>()
        };
        let mut counts = BTreeMap::new();
        thread::scope(|scope| {
            let gateways = self.gateways.iter().cycle().take(CLIENTS);
            let clients: Vec<_> = gateways.map(|gateway| scope.spawn(move || one(gateway))).collect();
            for status in clients.into_iter().flat_map(|client| client.join().expect("a client")) {
                *counts.entry(status).or_default() += 1;
            }
        });
        counts
    }

    fn expect(&self, method: &str, target: &str, counts: &[(u16, usize)]) {
        let before = self.upstream.requests();
        assert_eq!(self.load(method, target), counts.iter().copied().collect(), "{method} {target}");
        let served = counts.iter().find(|(status, _)| *status == 200).map_or(0, |(_, count)| *count);
        assert_eq!(self.upstream.requests() - before, served, "only what is served reaches the upstream");
    }
}

const TARGET: &str = "/test/?max-age=0&apikey=t1";

#[test]
fn one_authenticated_and_authorised_requests_are_all_served() {
    let stage = Stage::set(json!({}));
    stage.expect("GET", TARGET, &[(200, ALL)]);
    assert_eq!(stage.upstream.last().target, "/?max-age=0&apikey=t1");
}

#[test]
fn two_one_wide_rate_limit_serves_them_all() {
    Stage::set(json!({"rate": 1_000_000, "per": 1})).expect("GET", TARGET, &[(200, ALL)]);
}

#[test]
fn three_two_wide_rate_limits_serve_them_all() {
    let limits = json!([{"rate": 1_000_000, "per": 1}, {"rate": 100_000_000, "per": 3600}]);
    Stage::set(json!({"limits": limits})).expect("GET", TARGET, &[(200, ALL)]);
}

#[test]
fn four_a_method_filter_beside_two_limits_serves_the_allowed_method_only() {
    let limits = json!([{"rate": 1_000_000, "per": 1}, {"rate": 100_000_000, "per": 3600}]);
    let rights = json!({"test": {"allowed_urls": [{"url": "/.*", "methods": ["GET"]}]}});
    let stage = Stage::set(json!({"limits": limits, "access_rights": rights}));
    stage.expect("GET", TARGET, &[(200, ALL)]);
    stage.expect("DELETE", TARGET, &[(403, ALL)]);
}

#[test]
fn five_one_request_an_hour_is_served_and_the_rest_refused() {
    Stage::set(json!({"rate": 1, "per": 3600})).expect("GET", TARGET, &[(200, 1), (429, ALL - 1)]);
}

#[test]
fn two_to_five_are_the_same_on_three_gateways_with_one_redis() {
    let (wide, wider) = (json!({"rate": 1_000_000, "per": 1}), json!({"rate": 100_000_000, "per": 3600}));
    Stage::set_on_three(wide.clone()).expect("GET", TARGET, &[(200, ALL)]);
    Stage::set_on_three(json!({"limits": [wide, wider]})).expect("GET", TARGET, &[(200, ALL)]);
    let rights = json!({"test": {"allowed_urls": [{"url": "/.*", "methods": ["GET"]}]}});
    let stage = Stage::set_on_three(json!({"limits": [wide, wider], "access_rights": rights}));
    stage.expect("GET", TARGET, &[(200, ALL)]);
    stage.expect("DELETE", TARGET, &[(403, ALL)]);
    Stage::set_on_three(json!({"rate": 1, "per": 3600})).expect("GET", TARGET, &[(200, 1), (429, ALL - 1)]);
}

#[test]
fn six_an_unknown_key_is_always_refused() {
    let stage = Stage::set(json!({}));
    stage.expect("GET", "/test/?max-age=0&apikey=unknown", &[(403, ALL)]);
    stage.expect("GET", "/test/?max-age=0", &[(401, ALL)]);
    stage.expect("GET", "/test/?max-age=0&apikey=", &[(401, ALL)]);
}
