//! Budgets of language models as the control API shows and resets them, and budgets of teams.

use serde_json::{Value, json};

use crate::harness::jws::{hs256, now};
use crate::harness::keys::{create, session_for};
use crate::harness::tokens::{SECRET, policy, policy_file, with_tokens};
use crate::harness::{Definition, Gateway, Response, Setup, Upstream, api, eventually, reply, request};
use crate::servers::Server;
use crate::shared_keys::on;
use crate::shared_limits::all_count;

const JSON: &str = "Content-Type: application/json";
const CHAT: &str = r#"{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}"#;

fn provider() -> Upstream {
    Upstream::start(|_| reply("200 OK", &[JSON], CHAT))
}

fn models(definition: Definition, upstream: &Upstream, budgets: Value) -> Definition {
    let provider = json!({"name": "p", "kind": "vllm", "url": upstream.url(), "models": ["*"]});
    definition.set("tollgate/llm", json!({"providers": [provider], "budgets": budgets}))
}

fn chat(gateway: &Gateway, path: &str, key: &str) -> Response {
    let line = format!("Authorization: Bearer {key}");
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5});
    gateway.connect().ask(request("POST", &format!("{path}v1/chat/completions"), &[JSON, &line], &body.to_string()))
}

/// Name, holder and what is spent of each budget.
fn shown(gateway: &Gateway, query: &str) -> Vec<(String, String, Option<f64>)> {
    let answer = gateway.control("GET", &format!("/tyk/llm/budgets?{query}"), "");
    assert_eq!(answer.status, 200, "{query}: {answer}");
    let budgets = answer.json()["budgets"].as_array().unwrap().clone();
    let text = |budget: &Value, name: &str| budget[name].as_str().unwrap().to_owned();
    budgets.iter().map(|budget| (text(budget, "name"), text(budget, "of"), budget["spent"].as_f64())).collect()
}

fn spent(gateway: &Gateway, query: &str, name: &str) -> Option<f64> {
    shown(gateway, query).into_iter().find(|(known, ..)| known == name).and_then(|(.., spent)| spent)
}

fn reset(gateway: &Gateway, name: &str, query: &str) -> u16 {
    gateway.control("DELETE", &format!("/tyk/llm/budgets/{name}?{query}"), "").status
}

#[test]
fn a_text_that_costs_nothing_by_its_provider_is_paid_by_its_length() {
    let answer = json!({
        "id": "1", "object": "chat.completion", "model": "m", "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "word ".repeat(100)}}],
    });
    let upstream = Upstream::start(move |_| reply("200 OK", &[JSON], &answer.to_string()));
    let budgets = json!([{"name": "all", "max": 100_000, "unit": "tokens", "per": "month"}]);
    let gateway = Gateway::start(json!({}), [models(api("m", "/m/", ""), &upstream, budgets)]);
    assert_eq!(chat(&gateway, "/m/", "none").status, 200);
    // The prompt, and the five tokens that were asked for.
    eventually("it is paid", || spent(&gateway, "api_id=m", "all").is_some_and(|tokens| tokens > 5.0));
}

#[test]
fn what_is_spent_is_shown_and_reset() {
    let upstream = provider();
    let folder = tempfile::tempdir().unwrap();
    let conf = json!({"policies": {"policy_source": "file", "policy_path": folder.path()}});
    let budgets = json!([
        {"name": "all", "max": 1000, "unit": "tokens", "per": "month"},
        {"name": "each", "of": "key", "max": 1, "unit": "usd", "per": "month", "soft": true},
    ]);
    let mut definition = models(api("m", "/m/", "").with_keys(), &upstream, budgets);
    definition.0["tollgate"]["llm"]["prices"] = json!([{"model": "m", "input": 1000, "output": 1000}]);
    let gateway = Setup::new(conf).api(definition).start();
    let team = json!({
        "id": "team", "org_id": "default", "active": true,
        "access_rights": {"m": {"api_id": "m", "api_name": "m", "versions": ["Default"]}},
        "llm_budgets": [
            {"name": "one", "max": 2, "unit": "requests", "per": "month"},
            {"name": "together", "of": "policy", "max": 50, "unit": "requests", "per": "month"},
        ],
    });
    assert_eq!(gateway.control("POST", "/tyk/policies", &team.to_string()).status, 200);
    assert_eq!(gateway.reload().status, 200);
    let key = create(&gateway, &json!({"org_id": "default", "apply_policies": ["team"]}));
    let other = create(&gateway, &session_for(&["m"], json!({})));
    let standing = || {
        let budgets = gateway.control("GET", "/tyk/llm/overview", "").json()["budgets"].take();
        budgets
            .as_array()
            .unwrap()
            .iter()
            .map(|budget| (budget["name"].clone(), budget["standing"]["used"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(standing(), [(json!("all"), json!(0.0))], "a budget is shown before a request has met it");
    assert_eq!((chat(&gateway, "/m/", &key).status, chat(&gateway, "/m/", &key).status), (200, 200));
    assert_eq!((chat(&gateway, "/m/", &key).status, chat(&gateway, "/m/", &other).status), (429, 200));

    assert!(standing().contains(&(json!("all"), json!(30.0))), "{:?}", standing());
    let some = |name: &str, of: &str, spent: Option<f64>| (name.to_owned(), of.to_owned(), spent);
    let query = format!("key={key}");
    let own = [
        some("one", "key", Some(2.0)),
        some("together", "policy", Some(2.0)),
        some("all", "api", Some(30.0)),
        some("each", "key", Some(0.02)),
    ];
    assert_eq!(shown(&gateway, &query), own);
    assert_eq!(shown(&gateway, "api_id=m"), [some("all", "api", Some(30.0)), some("each", "key", None)]);
    assert_eq!(shown(&gateway, "policy_id=team"), [some("one", "key", None), some("together", "policy", Some(2.0))]);
    let whole = gateway.control("GET", "/tyk/llm/budgets?policy_id=team", "").json()["budgets"][1].clone();
    assert_eq!(
        (&whole["max"], &whole["unit"], &whole["per"], &whole["holder"]),
        (&json!(50.0), &json!("requests"), &json!("month"), &json!("team"))
    );
    assert!(whole["ends"].as_u64().is_some(), "{whole}");

    // A key resets what is its own, and nothing that others share.
    assert_eq!((reset(&gateway, "together", &query), reset(&gateway, "all", &query)), (404, 404));
    assert_eq!((reset(&gateway, "one", &query), chat(&gateway, "/m/", &key).status), (200, 200));
    assert_eq!((reset(&gateway, "together", "policy_id=team"), spent(&gateway, &query, "together")), (200, Some(0.0)));
    assert_eq!((reset(&gateway, "all", "api_id=m"), spent(&gateway, "api_id=m", "all")), (200, Some(0.0)));
    let log = gateway.control("GET", "/tyk/list/changes", "").text();
    assert!(!log.contains(&key), "{log}");

    for (query, status) in
        [("", 400), ("api_id=m&policy_id=team", 400), ("api_id=x", 404), ("policy_id=x", 404), ("org_id=x", 404), ("key=x", 404)]
    {
        assert_eq!(gateway.control("GET", &format!("/tyk/llm/budgets?{query}"), "").status, status, "{query}");
        assert_eq!(reset(&gateway, "all", query), status, "{query}");
    }
    gateway.expect_no_panic();
}

#[test]
fn all_gateways_on_one_redis_show_and_reset_the_same() {
    let (server, upstream) = (Server::start(&[]), provider());
    let conf = on(&server);
    let budgets = json!([{"name": "all", "max": 40, "unit": "tokens", "per": "month"}]);
    let gateways: Vec<Gateway> =
        (0..2).map(|_| Setup::new(conf.clone()).api(models(api("m", "/m/", ""), &upstream, budgets.clone())).start()).collect();
    all_count(&conf, gateways.len());
    let use_up =
        || gateways.iter().map(|gateway| (0..9).take_while(|_| chat(gateway, "/m/", "").status == 200).count()).sum::<usize>();
    assert!(use_up() > 0);
    eventually("all is spent", || {
        use_up();
        gateways.iter().all(|gateway| spent(gateway, "api_id=m", "all").is_some_and(|spent| spent > 20.0))
    });
    assert_eq!(reset(&gateways[0], "all", "api_id=m"), 200);
    assert!(gateways.iter().all(|gateway| spent(gateway, "api_id=m", "all").is_some_and(|spent| spent < 20.0)));
    eventually("both spend again", || chat(&gateways[1], "/m/", "").status == 200);
}

#[test]
fn teams_are_known_by_claims_and_metadata() {
    let upstream = provider();
    let budgets = json!([{"name": "team", "of": "claim:team", "max": 2, "unit": "requests", "per": "month"}]);
    let by_data = json!([{"name": "team", "of": "metadata:team", "max": 2, "unit": "requests", "per": "month"}]);
    let (_file, conf) = policy_file(&[policy("basic", json!({}))]);
    let setup = Setup::new(conf).api(models(with_tokens("a", &upstream), &upstream, budgets));
    let gateway = setup.api(models(api("d", "/d/", "").with_keys(), &upstream, by_data)).start();
    let statuses = |team: Option<&str>, users: [&str; 3]| {
        users.map(|user| chat(&gateway, "/a/", &hs256(SECRET, &json!({"sub": user, "team": team, "exp": now() + 600}))).status)
    };
    assert_eq!(statuses(Some("red"), ["joe", "ann", "tom"]), [200, 200, 429]);
    assert_eq!(statuses(Some("blue"), ["joe", "joe", "joe"]), [200, 200, 429]);
    assert_eq!(statuses(None, ["joe", "ann", "tom"]), [200, 200, 429], "those without a team share one");
    assert_eq!(spent(&gateway, "api_id=a", "team"), None);
    assert_eq!(
        (spent(&gateway, "api_id=a&value=red", "team"), spent(&gateway, "api_id=a&value=green", "team")),
        (Some(2.0), Some(0.0))
    );
    assert_eq!((reset(&gateway, "team", "api_id=a"), reset(&gateway, "team", "api_id=a&value=red")), (404, 200));
    assert_eq!(statuses(Some("red"), ["joe", "ann", "tom"]), [200, 200, 429]);

    let keys: Vec<String> =
        ["red", "red", "blue"].map(|team| create(&gateway, &session_for(&["d"], json!({"meta_data": {"team": team}})))).to_vec();
    let ask = |key: usize| chat(&gateway, "/d/", &keys[key]).status;
    assert_eq!([ask(0), ask(1), ask(0), ask(2)], [200, 200, 429, 200]);
    assert_eq!(spent(&gateway, &format!("key={}", keys[2]), "team"), Some(1.0));
    gateway.expect_no_panic();
}

#[test]
fn a_key_of_another_organisation_meets_the_budgets_of_the_api_s() {
    let upstream = provider();
    let definition = models(api("m", "/m/", "").with_keys(), &upstream, json!([])).set("org_id", "shop");
    let gateway = Setup::new(json!({})).api(definition).start();
    for org in ["shop", "guests"] {
        let org_key = json!({"org_id": org, "llm_budgets": [{"name": org, "max": 9, "unit": "requests", "per": "month"}]});
        assert_eq!(gateway.control("PUT", &format!("/tyk/org/keys/{org}"), &org_key.to_string()).status, 200);
    }
    let key = create(&gateway, &session_for(&["m"], json!({"org_id": "guests"})));
    assert_eq!(chat(&gateway, "/m/", &key).status, 200);
    let met = [("shop".to_owned(), "organisation".to_owned(), Some(1.0))];
    assert_eq!(shown(&gateway, &format!("key={key}")), met);
    assert_eq!(spent(&gateway, "org_id=guests", "guests"), Some(0.0));
}
