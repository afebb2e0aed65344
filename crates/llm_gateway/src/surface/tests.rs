use super::{Called, Surface};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tollgate_llm::{ClientApi, EmbeddingApi, GeminiPath};

fn called(method: &Method, path: &str, listen_path: &str) -> Option<Called> {
    Called::of(method, &path.parse().ok()?, &HeaderMap::new(), listen_path).ok()
}

#[test]
fn calls_are_known_by_method_and_path() {
    let cases = [
        (Method::POST, "/v1/chat/completions", Some(Surface::Talk(ClientApi::OpenAiChat))),
        (Method::POST, "/v1/responses", Some(Surface::Talk(ClientApi::OpenAiResponses))),
        (Method::POST, "/v1/messages", Some(Surface::Talk(ClientApi::AnthropicMessages))),
        (Method::POST, "/v1/messages/count_tokens", Some(Surface::CountTokens(ClientApi::AnthropicMessages))),
        (Method::POST, "/v1/embeddings", Some(Surface::Embeddings(EmbeddingApi::OpenAi))),
        (Method::GET, "/v1/models", Some(Surface::Models(ClientApi::OpenAiChat))),
        (Method::GET, "/v1/models/a/b", Some(Surface::Model("a/b".to_owned(), ClientApi::OpenAiChat))),
        (Method::GET, "/v1/models/a%2Fb", Some(Surface::Model("a/b".to_owned(), ClientApi::OpenAiChat))),
        (Method::GET, "/v1beta/models", Some(Surface::Models(ClientApi::Gemini))),
        (Method::GET, "/v1beta/models/a/b:c", Some(Surface::Model("a/b:c".to_owned(), ClientApi::Gemini))),
        (Method::GET, "/v1/models/", None),
        (Method::GET, "/v1/models/%FF", None),
        (Method::GET, "/v1/chat/completions", None),
        (Method::POST, "/v1/models", None),
        (Method::POST, "/v1beta/chat/completions", None),
        (Method::POST, "/v2/chat", None),
        (Method::POST, "/", None),
        // Rules for paths would not see these.
        (Method::POST, "/x/v1/embeddings", None),
        (Method::POST, "/zzv1/embeddings", None),
        (Method::POST, "v1/embeddings", None),
        (Method::POST, "//v1/embeddings", None),
    ];
    for (method, path, expected) in cases {
        assert_eq!(called(&method, path, "").map(|called| called.surface), expected, "{method} {path}");
        if path.starts_with("/v1") {
            let below = called(&method, &format!("/listen{path}"), "/listen/");
            assert_eq!(below.map(|called| called.surface), expected, "{method} /listen{path}");
            assert_eq!(called(&method, path, "/listen/"), None);
        }
    }
}

#[test]
fn the_path_of_a_call_of_google_says_the_model_and_whether_to_stream() {
    let talk = Surface::Talk(ClientApi::Gemini);
    let cases = [
        ("/v1beta/models/m:generateContent", Some((&talk, "m", false))),
        ("/v1/models/m:generateContent?x=1", Some((&talk, "m", false))),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", Some((&talk, "m", true))),
        ("/v1beta/models/m:streamGenerateContent?key=k&$alt=sse", Some((&talk, "m", true))),
        ("/v1beta/models/org/m:8b:generateContent", Some((&talk, "org/m:8b", false))),
        ("/v1beta/models/org%2Fm%20%C3%BC:generateContent", Some((&talk, "org/m \u{fc}", false))),
        ("/v1beta/models/m:countTokens", Some((&Surface::CountTokens(ClientApi::Gemini), "m", false))),
        ("/v1beta/models/m:embedContent", Some((&Surface::Embeddings(EmbeddingApi::Gemini), "m", false))),
        ("/v1beta/models/m:batchEmbedContents", Some((&Surface::Embeddings(EmbeddingApi::GeminiBatch), "m", false))),
        // A stream that is an array, what there is not, and no model.
        ("/v1beta/models/m:streamGenerateContent", None),
        ("/v1beta/models/m:predict", None),
        ("/v1beta/models/:generateContent", None),
        ("/v1beta/models/m", None),
        ("/v1/models/m", None),
        ("/v1beta/models/%FF:generateContent", None),
    ];
    for (path, expected) in cases {
        let expected = expected.map(|(surface, model, stream)| Called {
            surface: surface.clone(),
            path: Some(GeminiPath { model: model.to_owned(), stream }),
        });
        assert_eq!(called(&Method::POST, path, ""), expected, "{path}");
    }
}

#[test]
fn lists_are_in_the_form_of_the_client() {
    for (line, form) in [
        ("anthropic-version", ClientApi::AnthropicMessages),
        ("x-goog-api-client", ClientApi::Gemini),
        ("x-goog-api-key", ClientApi::Gemini),
        ("x-other", ClientApi::OpenAiChat),
    ] {
        let headers = HeaderMap::from_iter([(HeaderName::from_static(line), HeaderValue::from_static("x"))]);
        let called = Called::of(&Method::GET, &"/v1/models".parse().expect("a path"), &headers, "").expect("a call");
        assert_eq!(called.surface.form(), form, "{line}");
    }
}
