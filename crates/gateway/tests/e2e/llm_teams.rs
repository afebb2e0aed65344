//! Whose a request to a language model is, by team: sums over gateways, records, budgets of teams, and who may see them.

use serde_json::{Value, json};

use crate::commands::tollgate;
use crate::harness::definition::merge;
use crate::harness::jws::{hs256, now};
use crate::harness::keys::{create, session_for};
use crate::harness::tokens::{SECRET, policy, policy_file, with_tokens};
use crate::harness::{Gateway, Response, Setup, Upstream, eventually, request};
use crate::llm_records::{ask, failing, lines, models, openai, recording};
use crate::operator_tokens::{call, made};
use crate::servers::Server;
use crate::shared_keys::on;

/// A key whose session names its team.
fn of_team(gateway: &Gateway, team: Value) -> String {
    create(gateway, &session_for(&["m"], json!({"meta_data": {"team": team}})))
}

/// Value, split, requests of each row, and what all cost in millionths of a dollar.
fn spend(gateway: &Gateway, query: &str) -> (Vec<Value>, u64) {
    let answer = gateway.control("GET", &format!("/tyk/llm/spend?{query}"), "");
    assert_eq!(answer.status, 200, "{query}: {answer}");
    let told = answer.json();
    let rows = told["rows"].as_array().unwrap().iter().map(|row| json!([row["value"], row["split"], row["requests"]])).collect();
    (rows, (told["total"]["cost_usd"].as_f64().unwrap() * 1e6).round() as u64)
}

fn team_budget() -> Value {
    json!([
        {"name": "dollars", "of": "metadata:team", "max": 1, "unit": "usd", "per": "month"},
        {"name": "each", "of": "key", "max": 100_000, "unit": "tokens", "per": "month"},
    ])
}

#[test]
fn what_teams_spend_is_told_over_all_gateways_and_restarts() {
    let (server, first, second) = (Server::start(&[]), failing(), openai());
    let data: Vec<_> = (0..2).map(|_| tempfile::tempdir().unwrap()).collect();
    let start = |place: usize| {
        let mut conf = on(&server);
        merge(&mut conf, &json!({"enable_analytics": true, "tollgate": {"data_dir": data[place].path()}}));
        let definition = models("m", &first, &second).with_keys().set("tollgate/llm/budgets", team_budget());
        Setup::new(conf).api(definition).start()
    };
    let mut gateways: Vec<Gateway> = (0..2).map(start).collect();
    let keys = ["red", "red", "<b>blue</b>"].map(|team| of_team(&gateways[0], json!(team)));
    let none = create(&gateways[0], &session_for(&["m"], json!({})));
    for (gateway, key) in [(0, &keys[0]), (1, &keys[0]), (1, &keys[1]), (0, &keys[2]), (1, &none)] {
        assert_eq!(ask(&gateways[gateway], key, json!({})).status, 200);
    }
    let expected = json!([["red", null, 3], ["", null, 1], ["<b>blue</b>", null, 1]]);
    eventually("both tell", || json!(spend(&gateways[0], "by=team&nodes=all").0) == expected);
    gateways[1].signal("TERM");
    assert!(gateways[1].wait_for_exit().success());
    gateways[1] = start(1);
    eventually("it is asked again", || json!(spend(&gateways[0], "by=team&nodes=all").0) == expected);
    let both = |query: &str| spend(&gateways[0], &format!("{query}&nodes=all"));
    // Three answers at $0.007.
    assert_eq!(both("by=model&team=red&outcome=ok"), (vec![json!(["gpt-4o", null, 3])], 21_000));
    assert_eq!(both("by=key&team=").0.len(), 1, "what is of no team is one key's");
    let split = both("by=provider&split=team&outcome=ok").0;
    assert_eq!((split.len(), &split[0]), (3, &json!(["open", "red", 3])));
    let csv = gateways[1].control("GET", "/tyk/llm/spend?by=team&nodes=all&format=csv", "").text();
    assert!(csv.lines().any(|line| line.starts_with("red,,,3,")), "{csv}");
    let told = tollgate(&gateways[0], "spend --by team --team red").ok();
    assert!(told.contains("red") && told.contains("$0.0210") && !told.contains("blue"), "{told}");

    // How the budget of each team stands, as all gateways have spent it.
    let overview = gateways[1].control("GET", "/tyk/llm/overview", "").json();
    let budgets = overview["budgets"].as_array().unwrap();
    let dollars = budgets.iter().find(|budget| budget["name"] == "dollars").unwrap();
    let teams: Vec<&Value> = dollars["teams"].as_array().unwrap().iter().map(|team| &team["team"]).collect();
    assert_eq!((json!(teams), &dollars["of"]), (json!(["red", "", "<b>blue</b>"]), &json!("metadata")), "{overview}");
    let red = &dollars["teams"][0]["standing"];
    assert!(red["used"].as_f64().is_some_and(|used| (0.021..1.0).contains(&used)), "{red}");
    // A budget of keys is there once the gateway has met it.
    let overview = gateways[0].control("GET", "/tyk/llm/overview", "").json();
    let mut budgets = overview["budgets"].as_array().unwrap().iter();
    assert!(budgets.any(|budget| budget["name"] == "each" && budget.get("teams").is_none()), "{overview}");
    gateways.iter().for_each(Gateway::expect_no_panic);
}

#[test]
fn records_the_log_and_the_tail_name_the_team_of_a_token() {
    let (first, second) = (failing(), openai());
    let directory = tempfile::tempdir().unwrap();
    let (_file, policies) = policy_file(&[policy("basic", json!({}))]);
    let mut conf = recording(directory.path());
    merge(&mut conf, &policies);
    merge(&mut conf, &json!({"enable_analytics": true}));
    let llm = models("m", &first, &second).0["tollgate"]["llm"].take();
    // Budgets may tell holders apart by something else than the team.
    let definition = with_tokens("a", &Upstream::ok())
        .set("do_not_track", false)
        .set("tollgate/llm", llm)
        .set("tollgate/llm/team", "claim:team");
    let gateway = Setup::new(conf).api(definition.set("tollgate/llm/budgets", team_budget())).start();
    let chat = |model: &str, team: Value| -> Response {
        let line = format!("Authorization: Bearer {}", hs256(SECRET, &json!({"sub": "joe", "team": team, "exp": now() + 600})));
        let body = json!({"model": model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 600});
        let request = request("POST", "/a/v1/chat/completions", &["Content-Type: application/json", &line], &body.to_string());
        gateway.connect().ask(request)
    };
    let teams = [json!("red"), json!("x".repeat(201)), Value::Null];
    assert_eq!(teams.map(|team| chat("gpt-4o", team).status), [200; 3]);
    let (log, records) = (directory.path().join("access.log"), directory.path().join("records.log"));
    eventually("all are written", || lines(&log).len() == 3 && lines(&records).len() == 3);
    let told: Vec<Value> = lines(&records).iter().map(|record| record["llm_stats"]["team"].clone()).collect();
    assert_eq!(json!(told), json!(["red", "_other", null]));
    let told: Vec<Value> = lines(&log).iter().map(|line| line["llm_team"].clone()).collect();
    assert_eq!(told[..2], [json!("red"), json!("_other")], "{told:?}");
    // The tail keeps what was refused.
    assert_eq!(chat("none", json!("blue")).status, 404);
    let tail = || gateway.control("GET", "/tyk/tail", "").json();
    eventually("it is kept", || tail()["entries"].as_array().unwrap().iter().any(|entry| entry["llm"]["team"] == "blue"));
    eventually("sums are there", || spend(&gateway, "by=team").0.len() == 4);
    // By what budgets have as holders, no team is known here.
    let overview = gateway.control("GET", "/tyk/llm/overview", "").json();
    assert!(overview["budgets"].as_array().unwrap().iter().all(|budget| budget.get("teams").is_none()), "{overview}");
    gateway.expect_no_panic();
}

#[test]
fn operators_with_a_scope_see_what_their_apis_cost() {
    let (first, second) = (failing(), openai());
    let mine = models("m", &first, &second).with_keys().set("tags", json!(["team-a"])).set("tollgate/llm/budgets", team_budget());
    let theirs = models("other", &first, &second).set("tollgate/llm/team", "metadata:team");
    let gateway = Setup::new(json!({"enable_analytics": true})).api(mine).api(theirs).start();
    let key = of_team(&gateway, json!("red"));
    assert_eq!(ask(&gateway, &key, json!({})).status, 200);
    eventually("it is summed", || !spend(&gateway, "by=team&team=red").0.is_empty());
    let token = made(&gateway, &json!({"name": "team-a", "role": "viewer", "scope": {"tags": ["team-a"]}}));
    let answer = |query: &str| call(&gateway, &token, "GET", &format!("/tyk/llm/spend?{query}"), "");
    let own = answer("by=team&api_id=m");
    assert_eq!((own.status, own.json()["rows"][0]["value"].clone()), (200, json!("red")), "{own}");
    for query in ["by=team", "by=team&api_id=other", "by=team&api_id=m&api_id=other", "by=team&api_id=", "by=team&team=red"] {
        assert_eq!(answer(query).status, 403, "{query}");
    }
    assert_eq!(call(&gateway, &token, "GET", "/tyk/llm/overview", "").status, 403);
}
