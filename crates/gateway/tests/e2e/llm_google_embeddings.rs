//! Embeddings for clients of Google's API: what passes, what is translated, and what budgets, guards and the cache make of it.

use serde_json::{Value, json};

use crate::harness::Response;
use crate::llm_google::{body_of, post, providers, start};

const JSON_MEMBERS: [&str; 2] = ["embedding", "embeddings"];

fn text(text: &str) -> Value {
    json!({"content": {"parts": [{"text": text}]}})
}

/// The vectors of an answer.
fn vectors(answer: &Response) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer}");
    let told = answer.json();
    let [one, several] = JSON_MEMBERS.map(|name| told[name].clone());
    let all = several.as_array().cloned().unwrap_or_else(|| vec![one]);
    all.into_iter().map(|vector| vector["values"].clone()).collect()
}

#[test]
fn one_text_and_several_get_their_vectors_from_every_provider_that_has_some() {
    let providers = providers();
    let gateway = start(&providers, json!({}));
    let several = json!({"requests": [text("one"), text("two")]});
    for model in ["a", "c"] {
        let answer = post(&gateway, &format!("/m/v1beta/models/{model}:batchEmbedContents"), &several);
        assert_eq!(vectors(&answer), [json!([0.5, 0]), json!([0.5, 1])], "{model}: {answer}");
        assert_eq!(answer.header("X-Tollgate-Llm-Tokens-In"), Some("6"), "{model}: {answer}");
    }
    let mut one = text("one");
    one["model"] = "models/a".into();
    assert_eq!(vectors(&post(&gateway, "/m/v1beta/models/a:embedContent", &one)), [json!([0.5, 0])]);
    assert_eq!(body_of(&providers[0].last()), json!({"model": "gpt-4o", "input": ["one"]}));
    let refused = post(&gateway, "/m/v1beta/models/team%2Fb:embedContent", &text("one"));
    assert_eq!((refused.status, &refused.json()["error"]["status"]), (400, &json!("INVALID_ARGUMENT")), "{refused}");
    let refused = post(&gateway, "/m/v1beta/models/a:batchEmbedContents", &json!({"requests": [{"model": "models/c"}]}));
    assert!(refused.text().contains("`requests[0].model`"), "{refused}");
    gateway.expect_no_panic();
}

#[test]
fn guards_budgets_and_the_cache_hold_for_texts_that_become_vectors() {
    let providers = providers();
    let guards = json!([{"name": "people", "kind": "personal_data", "action": "redact"}]);
    let budgets = json!([{"name": "all", "max": 300, "unit": "tokens", "per": "month"}]);
    let gateway = start(&providers, json!({"guards": guards, "budgets": budgets, "cache": {}}));
    for (provider, model) in [(0, "a"), (2, "c")] {
        for outcome in ["miss", "hit"] {
            let asked = json!({"requests": [text("jane@example.com")]});
            let answer = post(&gateway, &format!("/m/v1beta/models/{model}:batchEmbedContents"), &asked);
            assert_eq!(vectors(&answer), [json!([0.5, 0])], "{answer}");
            assert_eq!(answer.header("X-Tollgate-Llm-Cache"), Some(outcome), "{answer}");
        }
        let seen = providers[provider].last().text();
        assert!(seen.contains("[EMAIL_1]") && !seen.contains("jane"), "{seen}");
    }
    // Two answers took six tokens each. A longer text than what is left has no room.
    let long = json!({"requests": [text(&"word ".repeat(80))]});
    let refused = post(&gateway, "/m/v1beta/models/a:batchEmbedContents", &long);
    assert_eq!((refused.status, &refused.json()["error"]["status"]), (429, &json!("RESOURCE_EXHAUSTED")), "{refused}");
    assert_eq!(refused.header("X-Tollgate-Llm-Budget"), Some("all"));
    // Nobody knows here how many tokens a film has.
    let film = json!({"content": {"parts": [{"fileData": {"mimeType": "video/mp4", "fileUri": "gs://films/one.mp4"}}]}});
    let refused = post(&gateway, "/m/v1beta/models/c:embedContent", &film);
    assert_eq!((refused.status, &refused.json()["error"]["status"]), (400, &json!("INVALID_ARGUMENT")), "{refused}");
}
