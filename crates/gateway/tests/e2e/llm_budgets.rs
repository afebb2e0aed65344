//! Budgets of language models: what is spent stays within them, whatever providers and clients do.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::keys::{create, session_for};
use crate::harness::{Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, reply, request};
use crate::servers::Server;
use crate::shared_keys::on;
use crate::shared_limits::all_count;

const JSON: &str = "Content-Type: application/json";
const EVENTS: &str = "Content-Type: text/event-stream";

fn body_of(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).unwrap_or_default()
}

/// A provider of OpenAI's API with an answer of so many tokens, or of its bound if it heeds that.
pub(crate) fn writer(tokens: u64, heeds_bound: bool) -> Upstream {
    Upstream::start(move |seen| {
        let body = body_of(seen);
        let bound = body["max_completion_tokens"].as_u64().or(body["max_tokens"].as_u64());
        let count = if heeds_bound { tokens.min(bound.unwrap_or(u64::MAX)) } else { tokens };
        let usage = json!({"prompt_tokens": 5, "completion_tokens": count, "total_tokens": 5 + count});
        let stop = if count == tokens { "stop" } else { "length" };
        if body["stream"] != true {
            let choice = json!({"index": 0, "message": {"role": "assistant", "content": "word ".repeat(count as usize)}, "finish_reason": stop});
            let answer = json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage});
            return reply("200 OK", &[JSON], &answer.to_string());
        }
        let chunk = |delta: Value, stop: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": stop});
            format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}))
        };
        let mut text: String = (0..count).map(|_| chunk(json!({"content": "word "}), Value::Null)).collect();
        text += &chunk(json!({}), json!(stop));
        if body["stream_options"]["include_usage"] == true {
            text += &format!(
                "data: {}\n\n",
                json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": usage})
            );
        }
        reply("200 OK", &[EVENTS], &format!("{text}data: [DONE]\n\n"))
    })
}

pub(crate) fn models(id: &str, upstream: &Upstream, more: Value) -> Definition {
    let mut llm = json!({"providers": [{"name": "p", "kind": "vllm", "url": upstream.url(), "models": ["*"]}]});
    more.as_object().unwrap().iter().for_each(|(name, value)| llm[name] = value.clone());
    api(id, &format!("/{id}/"), "").set("tollgate/llm", llm)
}

pub(crate) fn post(gateway: &Gateway, path: &str, key: &str, body: &Value) -> Response {
    let line = format!("Authorization: Bearer {key}");
    gateway.connect().ask(request("POST", path, &[JSON, &line], &body.to_string()))
}

pub(crate) fn question(more: Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
    body
}

pub(crate) fn chat(gateway: &Gateway, key: &str, more: Value) -> Response {
    post(gateway, "/m/v1/chat/completions", key, &question(more))
}

pub(crate) fn spent(gateway: &Gateway, of: &str, budget: &str) -> f64 {
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    let begin = format!(r#"tollgate_llm_budget_spent{{api="m",of="{of}",budget="{budget}","#);
    let line = metrics.lines().find(|line| line.starts_with(&begin)).unwrap_or_else(|| panic!("{metrics}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn each_key_has_its_own_budget_and_a_refusal_says_which() {
    let upstream = writer(40, true);
    let budgets = json!([
        {"name": "mine", "of": "key", "max": 100, "unit": "tokens", "per": "month"},
        {"name": "ours", "max": 1000, "unit": "completion_tokens", "per": "month"},
    ]);
    let data = tempfile::tempdir().unwrap();
    let start = || {
        let conf = json!({"tollgate": {"data_dir": data.path()}});
        Setup::new(conf).api(models("m", &upstream, json!({"budgets": budgets})).with_keys()).start()
    };
    let mut gateway = start();
    let keys: Vec<String> = (0..2).map(|_| create(&gateway, &session_for(&["m"], json!({})))).collect();
    for key in &keys {
        assert_eq!(chat(&gateway, key, json!({})).status, 200);
        // 100 are too few for the prompt and 4096, so the answer has the rest as its bound.
        assert_eq!(body_of(&upstream.last())["max_tokens"], 90);
        let answer = chat(&gateway, key, json!({"max_tokens": 20}));
        let bound = body_of(&upstream.last())["max_tokens"].clone();
        assert_eq!((answer.status, bound, &answer.json()["choices"][0]["finish_reason"]), (200, json!(20), &json!("length")));
        let answer = chat(&gateway, key, json!({}));
        assert_eq!((answer.status, body_of(&upstream.last())["max_tokens"].as_u64()), (200, Some(20)), "100 - 45 - 25 - 10");
    }
    assert_eq!(spent(&gateway, "api", "ours"), 2.0 * (40.0 + 20.0 + 20.0));
    // What is counted outlives the process.
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    gateway = start();
    let seen = upstream.requests();
    let refused = chat(&gateway, &keys[0], json!({}));
    assert_eq!((refused.status, refused.header("X-Tollgate-Llm-Budget")), (429, Some("mine")), "{refused}");
    let wait: u64 = refused.header("Retry-After").unwrap().parse().unwrap();
    assert!(wait <= 31 * 86_400, "{wait}");
    let error = refused.json()["error"].clone();
    assert_eq!(error["type"], "rate_limit_error");
    assert!(error["message"].as_str().unwrap().contains("the budget `mine` of the key (100 tokens per month)"), "{error}");
    let refused = post(&gateway, "/m/v1/messages", &keys[1], &question(json!({"max_tokens": 50})));
    assert_eq!((refused.status, &refused.json()["error"]["type"]), (429, &json!("rate_limit_error")), "{refused}");
    assert_eq!((upstream.requests(), spent(&gateway, "api", "ours")), (seen, 160.0));
    let line = r#"tollgate_llm_budget_refused_total{api="m",of="key",budget="mine"} 2"#;
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    assert!(metrics.contains(line), "{metrics}");
    gateway.expect_no_panic();
}

#[test]
fn a_stream_that_is_longer_than_its_budget_ends_for_its_length() {
    let upstream = writer(500, false);
    let budgets = json!([{"name": "all", "max": 120, "unit": "tokens", "per": "month"}]);
    for (path, more, end) in [
        ("/m/v1/chat/completions", json!({"stream": true}), "data: [DONE]\n\n"),
        ("/m/v1/chat/completions", json!({"stream": true, "stream_options": {"include_usage": true}}), "data: [DONE]\n\n"),
        (
            "/m/v1/messages",
            json!({"stream": true, "max_tokens": 400}),
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ),
    ] {
        let gateway = Setup::new(json!({})).api(models("m", &upstream, json!({"budgets": budgets}))).start();
        let answer = post(&gateway, path, "", &question(more));
        let text = answer.text();
        assert_eq!((answer.status, text.matches("word ").count()), (200, 110), "{text}");
        assert!(text.ends_with(end), "{text}");
        let stop = if path.ends_with("messages") { r#""stop_reason":"max_tokens""# } else { r#""finish_reason":"length""# };
        assert_eq!(text.matches(stop).count(), 1, "{text}");
        eventually("it is counted", || spent(&gateway, "api", "all") == 9.0 + 110.0);
        let line = r#"tollgate_llm_requests_total{api="m",model="*",provider="p",outcome="cut"} 1"#;
        assert!(gateway.control("GET", "/tyk/metrics", "").text().contains(line));
        assert_eq!(post(&gateway, path, "", &question(json!({"max_tokens": 1}))).status, 429);
    }
}

#[test]
fn money_is_counted_by_prices_and_a_model_without_one_is_refused() {
    let upstream = writer(100, true);
    let more = json!({
        "budgets": [{"name": "money", "max": 0.01, "unit": "usd", "per": "month"}],
        "prices": [{"model": "m", "input": 1, "output": 20}],
    });
    let gateway = Setup::new(json!({})).api(models("m", &upstream, more)).start();
    let mut passed = 0;
    while chat(&gateway, "", json!({"max_tokens": 100})).status == 200 {
        passed += 1;
    }
    // 2005 millionths each; the last one has a bound of what is left.
    assert_eq!(passed, 5);
    let spent = spent(&gateway, "api", "money");
    assert!((0.0097..=0.01).contains(&spent), "{spent}");
    let refused =
        post(&gateway, "/m/v1/chat/completions", "", &json!({"model": "x", "messages": [{"role": "user", "content": "Hi"}]}));
    assert_eq!(refused.status, 403, "{refused}");
    assert!(refused.text().contains("has no price"), "{refused}");
}

#[test]
fn what_has_no_bound_is_refused_under_a_hard_budget_alone() {
    let upstream = writer(5, true);
    for (soft, status) in [(false, 400), (true, 200)] {
        let budgets = json!([{"name": "all", "max": 1000, "unit": "tokens", "per": "month", "soft": soft}]);
        let gateway = Setup::new(json!({})).api(models("m", &upstream, json!({"budgets": budgets}))).start();
        let answer = chat(&gateway, "", json!({"n": 3}));
        assert_eq!(answer.status, status, "{answer}");
        assert_eq!(answer.text().contains("`n`"), status == 400, "{answer}");
        assert_eq!(chat(&gateway, "", json!({"max_tokens": 5})).status, 200);
    }
}

#[test]
fn a_soft_budget_lets_answers_end_and_refuses_the_next() {
    let upstream = writer(500, true);
    let budgets = json!([{"name": "all", "max": 120, "unit": "tokens", "per": "month", "soft": true}]);
    let gateway = Setup::new(json!({})).api(models("m", &upstream, json!({"budgets": budgets}))).start();
    let answer = chat(&gateway, "", json!({"stream": true}));
    assert_eq!((answer.status, answer.text().matches("word ").count()), (200, 500));
    assert!(body_of(&upstream.last()).get("max_tokens").is_none(), "it has no bound");
    eventually("it is counted", || chat(&gateway, "", json!({})).status == 429);
}

#[test]
fn policies_and_organisations_have_budgets_too() {
    let upstream = writer(5, true);
    let folder = tempfile::tempdir().unwrap();
    let conf = json!({"policies": {"policy_source": "file", "policy_path": folder.path()}});
    let gateway = Setup::new(conf).api(models("m", &upstream, json!({})).with_keys()).start();
    let policy = json!({
        "id": "team", "org_id": "default", "active": true,
        "access_rights": {"m": {"api_id": "m", "api_name": "m", "versions": ["Default"]}},
        "llm_budgets": [
            {"name": "each", "max": 2, "unit": "requests", "per": "month"},
            {"name": "together", "of": "policy", "max": 3, "unit": "requests", "per": "month"},
        ],
    });
    assert_eq!(gateway.control("POST", "/tyk/policies", &policy.to_string()).status, 200);
    assert_eq!(gateway.reload().status, 200);
    let keys: Vec<String> = (0..2).map(|_| create(&gateway, &json!({"org_id": "default", "apply_policies": ["team"]}))).collect();
    let budget = |key: &str| chat(&gateway, key, json!({})).header("X-Tollgate-Llm-Budget").map(str::to_owned);
    assert_eq!([budget(&keys[0]), budget(&keys[0])], [None, None]);
    assert_eq!(budget(&keys[0]).as_deref(), Some("each"));
    assert_eq!(budget(&keys[1]), None);
    assert_eq!(budget(&keys[1]).as_deref(), Some("together"));

    let own = session_for(&["m"], json!({"llm_budgets": [{"name": "own", "max": 1, "unit": "requests", "per": "month"}]}));
    let own = create(&gateway, &own);
    assert_eq!((budget(&own), budget(&own).as_deref()), (None, Some("own")));
    let org = json!({"org_id": "default", "llm_budgets": [{"name": "all", "max": 1, "unit": "requests", "per": "month"}]});
    assert_eq!(gateway.control("PUT", "/tyk/org/keys/default", &org.to_string()).status, 200);
    let other = create(&gateway, &session_for(&["m"], json!({})));
    assert_eq!((budget(&other), budget(&other).as_deref()), (None, Some("all")));

    let wrong = json!({"org_id": "default", "llm_budgets": [{"name": "own", "max": 1, "of": "policy"}]});
    let answer = gateway.control("POST", "/tyk/keys", &wrong.to_string());
    assert_eq!(answer.status, 400, "{answer}");
    assert!(answer.text().contains("$.llm_budgets[0].of: "), "{answer}");
    for (path, places) in [("/tyk/keys", "max, \"many\""), ("/tyk/org/keys/default", "maxi, 5")] {
        let (name, value) = places.split_once(", ").unwrap();
        let mut budget = json!({"name": "own", "max": 1, "unit": "requests", "per": "month"});
        budget[name] = serde_json::from_str(value).unwrap();
        let answer = gateway.control("POST", path, &json!({"org_id": "default", "llm_budgets": [budget]}).to_string());
        assert_eq!(answer.status, 400, "{answer}");
        assert!(answer.text().contains(&format!("$.llm_budgets[0].{name}: ")), "{answer}");
    }
    // Nobody chooses budgets by a header.
    let line = format!("Authorization: Bearer {}", keys[0]);
    let lines = [JSON, &line, "X-Tollgate-Caller: - - 0 - []"];
    let answer = gateway.connect().ask(request("POST", "/m/v1/chat/completions", &lines, &question(json!({})).to_string()));
    assert_eq!(answer.status, 429, "{answer}");
    gateway.expect_no_panic();
}

#[test]
fn who_hangs_up_pays_what_was_generated() {
    let (go, may_end) = mpsc::channel::<()>();
    let may_end = std::sync::Mutex::new(may_end);
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        let chunk =
            r#"data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"word "}}]}"#;
        let _ =
            wire.try_send(format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\nConnection: close\r\n\r\n{}", format!("{chunk}\n\n").repeat(10)));
        let _ = may_end.lock().unwrap().recv_timeout(Duration::from_secs(30));
    });
    let budgets = json!([
        {"name": "hard", "max": 1000, "unit": "completion_tokens", "per": "month"},
        {"name": "soft", "max": 1000, "unit": "completion_tokens", "per": "month", "soft": true},
    ]);
    let gateway = Setup::new(json!({})).api(models("m", &upstream, json!({"budgets": budgets}))).start();
    let mut wire = gateway.connect();
    let body = question(json!({"stream": true, "max_tokens": 400}));
    wire.send(request("POST", "/m/v1/chat/completions", &[JSON], &body.to_string()));
    assert!(wire.head().unwrap().raw.starts_with(b"HTTP/1.1 200"));
    let mut text = String::new();
    while text.matches("word ").count() < 10 {
        text += &String::from_utf8_lossy(&wire.chunk().unwrap());
    }
    assert_eq!(spent(&gateway, "api", "hard"), 400.0, "as long as it goes on, it may cost so much");
    drop(wire);
    // A token for three bytes and 16 that nobody saw, and one for four.
    eventually("it is counted", || spent(&gateway, "api", "hard") == 17.0 + 16.0);
    assert_eq!(spent(&gateway, "api", "soft"), 13.0);
    drop(go);
}

#[test]
fn gateways_on_one_redis_keep_a_budget_together() {
    let (server, upstream) = (Server::start(&[]), writer(50, true));
    let conf = on(&server);
    let max = 6_000.0;
    let budgets = json!([{"name": "all", "max": max, "unit": "tokens", "per": "month"}]);
    let gateways: Vec<Gateway> =
        (0..3).map(|_| Setup::new(conf.clone()).api(models("m", &upstream, json!({"budgets": budgets}))).start()).collect();
    all_count(&conf, gateways.len());
    let answered = |gateway: &Gateway, requests: usize| -> u64 {
        let answers = (0..requests).map(|_| chat(gateway, "", json!({"max_tokens": 60})));
        answers.filter(|answer| answer.status == 200).map(|answer| answer.json()["usage"]["total_tokens"].as_u64().unwrap()).sum()
    };
    let sums = || -> u64 {
        thread::scope(|scope| {
            // Several at once at each gateway, so that they wait for the same answers.
            let clients = gateways.iter().flat_map(|gateway| [gateway; 4]);
            let running: Vec<_> = clients.map(|gateway| scope.spawn(|| answered(gateway, 15))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).sum()
        })
    };
    let mut sum = sums();
    // What one gateway held for others to use is given back.
    eventually("the rest is used", || {
        let more = sums();
        sum += more;
        more == 0
    });
    assert!(sum as f64 <= max && sum as f64 >= 0.97 * max, "{sum}");
}

#[test]
fn without_redis_a_hard_budget_lives_on_what_its_gateway_holds() {
    let (mut server, upstream) = (Server::start(&["--appendonly", "yes"]), writer(50, true));
    let budget = |soft: bool| json!({"budgets": [{"name": "all", "max": 20_000, "unit": "tokens", "per": "month", "soft": soft}]});
    let setup = Setup::new(on(&server)).api(models("m", &upstream, budget(false)));
    let gateway = setup.api(models("soft", &upstream, budget(true))).start();
    let ask = |api: &str| post(&gateway, &format!("/{api}/v1/chat/completions"), "", &question(json!({"max_tokens": 60})));
    for _ in 0..20 {
        assert_eq!((ask("m").status, ask("soft").status), (200, 200));
    }
    server.kill();
    let mut passed = 20;
    let refused = loop {
        let answer = ask("m");
        if answer.status != 200 {
            break answer;
        }
        passed += 1;
        assert!(passed * 55 <= 20_000, "more than the budget");
    };
    assert_eq!(refused.status, 503, "{refused}");
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("budgets cannot be counted"), "{refused}");
    assert_eq!(ask("soft").status, 200, "it takes its share, as quotas do");
    server.restart();
    eventually("it is counted again", || ask("m").status == 200);
    gateway.expect_no_panic();
}

#[test]
fn a_changed_definition_keeps_what_was_spent() {
    let upstream = writer(50, true);
    let of = |max: u64, unit: &str| {
        models("m", &upstream, json!({"budgets": [{"name": "all", "max": max, "unit": unit, "per": "month"}]}))
    };
    let gateway = Setup::new(json!({})).api(of(200, "tokens")).start();
    let count = || (0..9).take_while(|_| chat(&gateway, "", json!({"max_tokens": 50})).status == 200).count();
    assert_eq!(count(), 4, "55 each, and the last one what is left");
    let change = |definition: Definition| {
        gateway.write_api(&definition);
        assert_eq!(gateway.reload().status, 200);
    };
    change(of(310, "tokens"));
    eventually("there are more", || count() == 2);
    change(of(3, "requests"));
    eventually("another unit begins anew", || count() == 3);
    let line = r#"tollgate_llm_budget_limit{api="m",of="api",budget="all",unit="requests"} 3"#;
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    assert!(metrics.contains(line), "{metrics}");
}

#[test]
fn a_reset_forgets_what_answers_in_flight_hold_and_no_more() {
    let server = Server::start(&[]);
    for conf in [json!({}), on(&server)] {
        let (go, may_end) = mpsc::channel::<()>();
        let may_end = std::sync::Mutex::new(may_end);
        let chunk = |delta: &str, stop: &str| {
            format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{stop}}}]}}\n\n")
        };
        let begins = chunk(r#"{"content":"word "}"#, "null");
        let usage = r#"data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":80,"total_tokens":85}}"#;
        let ends = format!("{}{usage}\n\ndata: [DONE]\n\n", chunk("{}", r#""stop""#));
        let slow = Upstream::raw(move |mut wire, _| {
            if Seen::read(&mut wire).is_none() {
                return;
            }
            let _ = wire.try_send(format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\nConnection: close\r\n\r\n{begins}"));
            let _ = may_end.lock().unwrap().recv_timeout(Duration::from_secs(60));
            let _ = wire.try_send(&ends);
        });
        let fast = writer(100, true);
        let providers = json!([
            {"name": "slow", "kind": "vllm", "url": slow.url(), "models": ["slow"]},
            {"name": "fast", "kind": "vllm", "url": fast.url(), "models": ["m"]},
        ]);
        let budgets = json!([{"name": "all", "max": 100, "unit": "completion_tokens", "per": "month"}]);
        let gateway = Setup::new(conf).api(models("m", &fast, json!({"providers": providers, "budgets": budgets}))).start();
        let mut wire = gateway.connect();
        let body = question(json!({"model": "slow", "stream": true, "max_tokens": 80}));
        wire.send(request("POST", "/m/v1/chat/completions", &[JSON], &body.to_string()));
        assert!(wire.head().unwrap().raw.starts_with(b"HTTP/1.1 200"));
        wire.chunk().unwrap();
        assert_eq!(chat(&gateway, "", json!({"max_tokens": 30})).json()["usage"]["completion_tokens"], 20, "the rest");
        assert_eq!(chat(&gateway, "", json!({})).status, 429);
        assert_eq!(gateway.control("DELETE", "/tyk/llm/budgets/all?api_id=m", "").status, 200);

        let answer = chat(&gateway, "", json!({}));
        assert_eq!((answer.status, &answer.json()["usage"]["completion_tokens"]), (200, &json!(100)), "all of it: {answer}");
        go.send(()).unwrap();
        while wire.chunk().is_ok_and(|chunk| !chunk.is_empty()) {}
        let line = r#"tollgate_llm_requests_total{api="m",model="slow",provider="slow",outcome="ok"} 1"#;
        eventually("the stream has ended", || gateway.control("GET", "/tyk/metrics", "").text().contains(line));
        assert_eq!(chat(&gateway, "", json!({})).status, 429, "what was held before is not given back to it");
        assert_eq!(spent(&gateway, "api", "all"), 100.0);
        gateway.expect_no_panic();
    }
}
