//! Requests to language models that are nearly the same: what is compared, who gets whose answer, and what a dry run says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::keys::{create, session_for};
use crate::harness::{Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, reply, request};
use crate::llm_budgets::spent;
use crate::servers::Server;
use crate::shared_keys::on;
use crate::shared_limits::all_count;

const JSON: &str = "Content-Type: application/json";
const FRANCE: &str = "what is the capital of france";
const SIMILAR: &str = "tell me what is the capital of france";
const OTHER: &str = "how tall is the tower of pisa";

fn body_of(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).unwrap_or_default()
}

/// A provider of conversations whose answers are numbered. Whoever says `probe` gets none, so that nothing is kept.
fn numbered() -> Upstream {
    let count = AtomicUsize::new(0);
    Upstream::start(move |seen| {
        if seen.text().contains("probe") {
            return reply("400 Bad Request", &[JSON], r#"{"error":{"message":"a probe"}}"#);
        }
        let text = format!("answer {}", count.fetch_add(1, Ordering::SeqCst) + 1);
        let choice = json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
        reply("200 OK", &[JSON], &json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}).to_string())
    })
}

/// A provider of embeddings: texts are near that have the same words. It answers with this status.
fn embeddings(status: Arc<AtomicU16>) -> Upstream {
    Upstream::start(move |seen| {
        if status.load(Ordering::SeqCst) != 200 {
            return reply("500 Internal Server Error", &[JSON], "{}");
        }
        let mut vector = vec![0.0_f64; 256];
        for word in body_of(seen)["input"].as_str().unwrap_or_default().split_whitespace() {
            let place = word.bytes().fold(7_usize, |sum, byte| (sum * 31 + usize::from(byte)) % 256);
            vector[place] += 1.0;
        }
        let data = json!([{"object": "embedding", "index": 0, "embedding": vector}]);
        reply(
            "200 OK",
            &[JSON],
            &json!({"object": "list", "data": data, "model": "e", "usage": {"prompt_tokens": 4, "total_tokens": 4}}).to_string(),
        )
    })
}

struct Peers {
    models: Upstream,
    embeddings: Upstream,
    status: Arc<AtomicU16>,
}

impl Peers {
    fn start() -> Self {
        let status = Arc::new(AtomicU16::new(200));
        Peers { models: numbered(), embeddings: embeddings(status.clone()), status }
    }

    fn definition(&self, more: Value) -> Definition {
        let mut semantic = json!({"embeddings": {"provider": "e", "model": "small"}, "threshold": 0.6});
        more.as_object().unwrap().iter().for_each(|(name, value)| semantic[name] = value.clone());
        let providers = json!([
            {"name": "p", "kind": "openai", "url": self.models.url(), "models": ["*"]},
            {"name": "e", "kind": "openai", "url": self.embeddings.url(), "key": "embedding-key"},
        ]);
        api("m", "/m/", "").set("tollgate/llm", json!({"providers": providers, "cache": {"semantic": semantic}}))
    }
}

fn ask_with(gateway: &Gateway, lines: &[&str], text: &str, more: Value) -> Response {
    let mut body =
        json!({"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]});
    more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
    gateway.connect().ask(request("POST", "/m/v1/chat/completions", &[&[JSON], lines].concat(), &body.to_string()))
}

fn ask(gateway: &Gateway, text: &str) -> Response {
    ask_with(gateway, &[], text, json!({}))
}

fn is(answer: &Response, number: usize, source: &str) {
    let text = answer.text();
    assert!(text.contains(&format!("answer {number}\"")), "{number}: {answer}");
    assert_eq!(answer.header("X-Tollgate-Llm-Cache"), Some(source), "{answer}");
}

/// Waits until a similar request is known.
fn is_known(gateway: &Gateway, lines: &[&str], text: &str) {
    let probe = format!("probe {text}");
    eventually("the vector is kept", || {
        ask_with(gateway, lines, &probe, json!({})).header("X-Tollgate-Llm-Cache-Similarity").is_some()
    });
}

impl Peers {
    /// How many answers there were.
    fn answers(&self) -> usize {
        self.models.seen().iter().filter(|seen| !seen.text().contains("probe")).count()
    }
}

#[test]
fn a_similar_request_gets_the_answer_of_the_first() {
    let peers = Peers::start();
    let gateway = Setup::new(json!({})).api(peers.definition(json!({}))).start();
    is(&ask(&gateway, FRANCE), 1, "miss");
    is_known(&gateway, &[], SIMILAR);
    let answer = ask(&gateway, SIMILAR);
    is(&answer, 1, "semantic");
    let similarity: f64 = answer.header("X-Tollgate-Llm-Cache-Similarity").unwrap().parse().unwrap();
    assert!((similarity - 6.0 / 48.0_f64.sqrt()).abs() < 0.01, "{similarity}");
    let stream = ask_with(&gateway, &[], SIMILAR, json!({"stream": true}));
    assert_eq!(
        (stream.header("Content-Type"), stream.header("X-Tollgate-Llm-Cache")),
        (Some("text/event-stream"), Some("semantic"))
    );
    assert!(stream.text().contains("answer 1") && stream.text().ends_with("data: [DONE]\n\n"), "{stream}");
    is(&ask(&gateway, FRANCE), 1, "hit");
    is(&ask(&gateway, OTHER), peers.answers(), "miss");
    // All but the text is equal.
    for more in [
        json!({"max_tokens": 5}),
        json!({"messages": [{"role": "system", "content": "Be long."}, {"role": "user", "content": SIMILAR}]}),
        json!({"tools": [{"type": "function", "function": {"name": "f"}}]}),
    ] {
        is(&ask_with(&gateway, &[], SIMILAR, more), peers.answers(), "miss");
    }
    let seen = peers.embeddings.last();
    assert_eq!((body_of(&seen)["model"].as_str(), seen.header("Authorization")), (Some("small"), Some("Bearer embedding-key")));
    // A purge meets it too.
    assert_eq!(gateway.control("DELETE", "/tyk/cache/m", "").status, 200);
    is(&ask(&gateway, SIMILAR), peers.answers(), "miss");
    gateway.expect_no_panic();
}

#[test]
fn a_dry_run_says_what_would_have_been_sent() {
    let peers = Peers::start();
    let gateway = Setup::new(json!({})).api(peers.definition(json!({"dry_run": true, "shows_questions": true}))).start();
    is(&ask(&gateway, FRANCE), 1, "miss");
    is_known(&gateway, &[], SIMILAR);
    let answer = ask(&gateway, SIMILAR);
    is(&answer, 2, "miss");
    assert!(answer.header("X-Tollgate-Llm-Cache-Similarity").is_some(), "{answer}");
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    let count =
        metrics.lines().find_map(|line| line.strip_prefix(r#"tollgate_llm_cache_requests_total{api="m",outcome="would_match"} "#));
    assert_eq!(count, Some("2"), "{metrics}");
    eventually("the log shows both", || gateway.log().contains(FRANCE) && gateway.log().contains(SIMILAR));
}

#[test]
fn each_tenant_is_compared_with_itself() {
    let peers = Peers::start();
    let gateway = Setup::new(json!({})).api(peers.definition(json!({})).with_keys()).start();
    let keys: Vec<String> = (0..2).map(|_| create(&gateway, &session_for(&["m"], json!({})))).collect();
    let lines: Vec<String> = keys.iter().map(|key| format!("Authorization: Bearer {key}")).collect();
    is(&ask_with(&gateway, &[&lines[0]], FRANCE, json!({})), 1, "miss");
    is_known(&gateway, &[&lines[0]], SIMILAR);
    is(&ask_with(&gateway, &[&lines[0]], SIMILAR, json!({})), 1, "semantic");
    let answer = ask_with(&gateway, &[&lines[1]], SIMILAR, json!({}));
    is(&answer, peers.answers(), "miss");
    assert!(!gateway.log().contains("capital"), "no text is shown that nobody wants");
}

#[test]
fn without_an_embedding_it_is_a_miss() {
    let peers = Peers::start();
    let gateway = Setup::new(json!({})).api(peers.definition(json!({}))).start();
    is(&ask(&gateway, FRANCE), 1, "miss");
    is_known(&gateway, &[], SIMILAR);
    peers.status.store(500, Ordering::SeqCst);
    is(&ask(&gateway, "do tell me what is the capital of france"), peers.answers(), "miss");
    is(&ask(&gateway, FRANCE), 1, "hit");
    gateway.expect_no_panic();
}

#[test]
fn gateways_on_one_redis_know_each_others_requests() {
    let (server, peers) = (Server::start(&[]), Peers::start());
    let conf = on(&server);
    let gateways: Vec<Gateway> = (0..2).map(|_| Setup::new(conf.clone()).api(peers.definition(json!({}))).start()).collect();
    all_count(&conf, gateways.len());
    is(&ask(&gateways[0], FRANCE), 1, "miss");
    is_known(&gateways[1], &[], SIMILAR);
    is(&ask(&gateways[1], SIMILAR), 1, "semantic");
    is(&ask(&gateways[1], OTHER), peers.answers(), "miss");
    is_known(&gateways[0], &[], "say how tall is the tower of pisa");
    gateways.iter().for_each(|gateway| gateway.expect_no_panic());
}

#[test]
fn a_comparison_that_cannot_be_is_refused_by_name() {
    let peers = Peers::start();
    let gateway = Setup::new(json!({})).api(api("other", "/other/", "http://127.0.0.1:1")).start();
    for (more, expected) in [
        (json!({"embeddings": {"provider": "x", "model": "small"}}), "semantic.embeddings.provider"),
        (json!({"embeddings": {"provider": "e"}}), "semantic.embeddings.model"),
        (json!({"threshold": 2}), "semantic.threshold"),
        (json!({"entries_max": 5000}), "semantic.entries_max"),
        (json!({"timeout_s": 100}), "semantic.timeout_s"),
        (json!({"dryrun": true}), "semantic.dryrun"),
    ] {
        let answer = gateway.control("POST", "/tyk/apis", &peers.definition(more.clone()).set("name", "m").0.to_string());
        assert!(answer.status == 400 && answer.text().contains(expected), "{more}: {answer}");
    }
}

#[test]
fn budgets_pay_for_the_vectors_of_requests() {
    let peers = Peers::start();
    let with_budgets = |max: u64| {
        let budgets = json!([
            {"name": "all", "max": max, "unit": "prompt_tokens", "per": "month"},
            {"name": "asked", "max": 1_000, "unit": "requests", "per": "month"},
        ]);
        Setup::new(json!({})).api(peers.definition(json!({})).set("tollgate/llm/budgets", budgets)).start()
    };
    let gateway = with_budgets(100_000);
    is(&ask(&gateway, FRANCE), 1, "miss");
    is_known(&gateway, &[], SIMILAR);
    let all_spent = || ["all", "asked"].map(|budget| spent(&gateway, "api", budget));
    let before = all_spent();
    is(&ask(&gateway, SIMILAR), 1, "semantic");
    let after = all_spent();
    assert_eq!([after[0] - before[0], after[1] - before[1]], [4.0, 0.0], "its vector, which is no request of a client's");

    let vectors = peers.embeddings.requests();
    let poor = with_budgets(5);
    assert_eq!(ask(&poor, OTHER).status, 429);
    assert_eq!(peers.embeddings.requests(), vectors, "what nobody can pay is not asked for");
}
