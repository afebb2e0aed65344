//! The console's page of language models in a real browser: spend, budgets, fallbacks, refusals, and the playground.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::console_pages::{expect_no_complaints, go, open_signed_in};
use crate::harness::browser::Browser;
use crate::harness::keys::{create, session_for};
use crate::harness::{Seen, Setup, Upstream, api};
use crate::llm_records::{ask, failing, models, openai};
use crate::statistics::wait_for;

#[test]
fn what_models_cost_and_why_requests_were_refused_is_seen() {
    let Some(mut browser) = Browser::start() else { return };
    let (first, second) = (failing(), openai());
    let mut definition = models("m", &first, &second).with_keys();
    let budgets = json!([
        {"name": "mine", "of": "key", "max": 20000, "unit": "tokens", "per": "month"},
        {"name": "dollars", "max": 5, "unit": "usd", "per": "month"},
        {"name": "tight", "max": 8000, "unit": "completion_tokens", "per": "day"},
        {"name": "team", "of": "metadata:team", "max": 1, "unit": "usd", "per": "month"},
    ]);
    definition = definition
        .set("tollgate/llm/budgets", budgets)
        .set("tollgate/llm/prices", json!([{"model": "llama", "input": 1, "output": 2}]));
    let conf = json!({"enable_analytics": true, "hash_keys": false});
    let gateway = Setup::new(conf).api(definition).start();
    let keys = [("ann", "red"), ("<b>bob</b>", "<b>blue</b>")]
        .map(|(alias, team)| create(&gateway, &session_for(&["m"], json!({"alias": alias, "meta_data": {"team": team}}))));
    for key in &keys {
        for _ in 0..4 {
            assert_eq!(ask(&gateway, key, json!({"stream": true})).status, 200);
        }
    }
    let long = json!([{"role": "user", "content": "x".repeat(19_000)}]);
    assert_eq!(ask(&gateway, &keys[0], json!({"model": "gpt-4o", "messages": long})).status, 429);
    assert_eq!(ask(&gateway, &keys[0], json!({"model": "none"})).status, 404);
    wait_for(&gateway, "/tyk/llm/spend?by=outcome", |spend| {
        spend["rows"].as_array().is_some_and(|rows| rows.iter().any(|row| row["value"] == "unknown_model"))
    });
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    let complete = "document.querySelectorAll('.figure').length === 6 && document.querySelector('.canvas canvas') && document.body.innerText.includes('dollars')";
    let mut wrong = Vec::new();
    for (width, height, is_dark) in [(1280, 800, false), (360, 740, true), (1280, 800, true), (360, 740, false)] {
        tab.screen(width, height, is_dark);
        go(&mut tab, "#/models");
        tab.wait(complete);
        tab.see("In place of");
        tab.screenshot(&format!("models-{}-{width}", if is_dark { "dark" } else { "light" }));
        let beyond = tab.eval("document.documentElement.scrollWidth - innerWidth");
        if beyond.as_i64() > Some(0) {
            wrong.push(format!("{width}: {beyond} pixels wider than the screen"));
        }
        wrong.extend(tab.accessibility().unwrap_or_default().into_iter().map(|one| format!("{width} {is_dark}: {one}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    tab.screen(1280, 1700, false);
    go(&mut tab, "#/models?split=key");
    tab.see("ann");
    tab.see("<b>bob</b>");
    assert_eq!(tab.eval("document.querySelectorAll('tbody b').length"), 0, "a name is no markup");
    // Who was asked in whose place, and why; what was refused, and why.
    tab.see("The provider answered with status 500".to_lowercase().as_str());
    tab.see("no budget left");
    tab.see("There is no such model");
    let text = tab.eval("document.querySelector('main').innerText").as_str().unwrap_or_default().to_owned();
    assert!(text.contains("$0.056"), "eight answers at $0.007: {text}");
    tab.screenshot("models-whole");
    // Each team, what it spends, and how its budget stands.
    go(&mut tab, "#/models?split=team");
    tab.see("By team");
    tab.wait("[...document.querySelectorAll('th button')].filter((one) => one.innerText === '<b>blue</b>').length === 2");
    assert_eq!(tab.eval("document.querySelectorAll('tbody b').length"), 0, "a name is no markup");
    tab.see("$0.028 of $1");
    for (is_dark, name) in [(false, "models-teams-light"), (true, "models-teams-dark")] {
        tab.screen(1280, 1700, is_dark);
        tab.screenshot(name);
    }
    tab.click("th button", "red");
    tab.wait("document.querySelector('.chip')?.innerText.includes('team: red')");
    tab.see("gpt-4o");
    tab.screen(1280, 1700, false);
    go(&mut tab, "#/models?split=key");
    // A click on a key shows what it spends on.
    tab.click("tbody th button", "ann");
    tab.wait("document.querySelector('.chip')?.innerText.includes('key')");
    tab.see("gpt-4o");
    expect_no_complaints(&tab);
    gateway.expect_no_panic();
}

#[test]
fn the_playground_shows_an_answer_as_it_comes_and_what_it_took() {
    let Some(mut browser) = Browser::start() else { return };
    let (go_on, may_end) = mpsc::channel::<()>();
    let may_end = std::sync::Mutex::new(may_end);
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        let chunk = |text: &str| {
            let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
            format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}))
        };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        let _ = wire.try_send(format!("{head}{}", chunk("First words")));
        let _ = may_end.lock().unwrap().recv_timeout(Duration::from_secs(60));
        let stop = json!({"index": 0, "delta": {}, "finish_reason": "stop"});
        let last = json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [stop],
            "usage": {"prompt_tokens": 11, "completion_tokens": 22, "total_tokens": 33}});
        let _ = wire.try_send(format!("{}data: {last}\n\ndata: [DONE]\n\n", chunk(" and the last.")));
    });
    let llm = json!({
        "providers": [{"name": "own", "kind": "vllm", "url": upstream.url(), "models": ["m"]}],
        "prices": [{"model": "m", "input": 1000, "output": 10000}],
    });
    let definition = api("play", "/play/", "").set("do_not_track", false).set("tollgate/llm", llm).with_keys();
    let gateway = Setup::new(json!({"enable_analytics": true})).api(definition).start();
    let key = create(&gateway, &session_for(&["play"], json!({"alias": "ann"})));
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    tab.screen(1280, 900, false);
    go(&mut tab, "#/models");
    tab.click("button", "Playground");
    tab.wait("document.querySelector('dialog textarea')");
    tab.fill("Prompt", "my-secret-prompt");
    // Without a key, the gateway refuses, and says who.
    tab.click("dialog button", "Ask");
    tab.see("Refused by");
    tab.fill("Key (Authorization)", &key);
    tab.click("dialog button", "Ask");
    tab.wait("document.querySelector('.answer')?.innerText === 'First words'");
    assert_eq!(tab.eval("document.body.innerText.includes('22 of the answer')"), false, "it has not ended");
    go_on.send(()).unwrap();
    tab.wait("document.querySelector('.answer')?.innerText === 'First words and the last.'");
    tab.see("11 of the prompt, 22 of the answer");
    tab.see("$0.23");
    tab.see("until the first token");
    tab.screenshot("models-playground");
    let wrong = tab.accessibility().unwrap_or_default();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(tab.eval(&format!("document.body.innerHTML.includes('{key}')")), false);
    expect_no_complaints(&tab);
    gateway.expect_no_panic();
}

#[test]
fn budgets_of_keys_and_policies_are_changed_where_they_are_seen() {
    let Some(mut browser) = Browser::start() else { return };
    let (first, second) = (failing(), openai());
    let folder = tempfile::tempdir().unwrap();
    let conf = json!({"policies": {"policy_source": "file", "policy_path": folder.path()}, "hash_keys": false});
    let gateway = Setup::new(conf).api(models("m", &first, &second).with_keys()).start();
    let policy = json!({
        "id": "team", "name": "Team", "org_id": "default", "active": true,
        "access_rights": {"m": {"api_id": "m", "api_name": "m", "versions": ["Default"]}},
        "llm_budgets": [{"name": "together", "of": "policy", "max": 7, "unit": "requests", "per": "month"}],
    });
    assert_eq!(gateway.control("POST", "/tyk/policies", &policy.to_string()).status, 200);
    assert_eq!(gateway.reload().status, 200);
    let key = create(&gateway, &json!({"org_id": "default", "alias": "ann", "apply_policies": ["team"]}));
    let budget = |name: &str| ask(&gateway, &key, json!({})).header(name).map(str::to_owned);
    assert_eq!(ask(&gateway, &key, json!({})).status, 200);
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    tab.screen(1280, 1000, false);
    go(&mut tab, "#/keys");
    tab.click("tbody a", "ann");
    tab.see("Budgets of language models");
    tab.see("policy team");
    tab.wait("[...document.querySelectorAll('td.number')].some((one) => one.innerText === '7')");

    tab.click("button", "Give it one");
    tab.click("dialog button", "Add a budget");
    tab.fill("Name", "not a name");
    tab.fill("At most", "2");
    tab.see("is no name");
    assert_eq!(tab.eval("[...document.querySelectorAll('dialog button')].find((one) => one.innerText === 'Save').disabled"), true);
    tab.fill("Name", "own");
    tab.eval(
        "(() => { const of = [...document.querySelectorAll('dialog select')][0]; of.value = 'requests'; of.dispatchEvent(new Event('change', { bubbles: true })); })()",
    );
    tab.screenshot("key-budget-form");
    tab.click("dialog button", "Save");
    tab.see("The budgets are saved");
    tab.wait("[...document.querySelectorAll('tbody th')].some((one) => one.innerText.startsWith('own'))");
    assert_eq!((ask(&gateway, &key, json!({})).status, ask(&gateway, &key, json!({})).status), (200, 200));
    assert_eq!(budget("X-Tollgate-Llm-Budget").as_deref(), Some("own"));
    for (width, is_dark) in [(1280, false), (360, true)] {
        tab.screen(width, 1000, is_dark);
        tab.screenshot(&format!("key-budgets-{width}"));
        let wrong = tab.accessibility().unwrap_or_default();
        assert!(wrong.is_empty(), "{width}: {wrong:#?}");
    }
    tab.screen(1280, 1000, false);
    tab.click("tbody tr:first-child button", "Reset");
    tab.see("The budget begins anew.");
    assert_eq!(ask(&gateway, &key, json!({})).status, 200);
    // What is read can be written back: the policy's budgets do not become the key's own.
    let session = gateway.control("GET", &format!("/tyk/keys/{key}"), "");
    let names: Vec<_> = session.json()["llm_budgets"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["own"]);

    go(&mut tab, "#/policies?open=team");
    tab.wait("document.querySelector('dialog fieldset')");
    tab.fill("At most", "4");
    tab.click("dialog button", "Save");
    tab.see("Save this policy?");
    tab.click("dialog button", "Save");
    tab.see("Policy saved.");
    let stored = gateway.control("GET", "/tyk/policies/team", "").json();
    assert_eq!(stored["llm_budgets"][0], json!({"name": "together", "of": "policy", "max": 4, "unit": "requests", "per": "month"}));
    assert_eq!(budget("X-Tollgate-Llm-Budget").as_deref(), Some("together"), "four requests have been answered");
    expect_no_complaints(&tab);
    gateway.expect_no_panic();
}
