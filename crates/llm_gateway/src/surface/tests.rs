use super::Surface;
use http::Method;
use tollgate_llm::ClientApi;

#[test]
fn calls_are_known_by_method_and_path() {
    let cases = [
        (Method::POST, "/v1/chat/completions", Some(Surface::Talk(ClientApi::OpenAiChat))),
        (Method::POST, "/v1/responses", Some(Surface::Talk(ClientApi::OpenAiResponses))),
        (Method::POST, "/v1/messages", Some(Surface::Talk(ClientApi::AnthropicMessages))),
        (Method::POST, "/v1/messages/count_tokens", Some(Surface::CountTokens)),
        (Method::POST, "/v1/embeddings", Some(Surface::Embeddings)),
        (Method::GET, "/v1/models", Some(Surface::Models)),
        (Method::GET, "/v1/models/a/b", Some(Surface::Model("a/b".to_owned()))),
        (Method::GET, "/v1/models/", None),
        (Method::GET, "/v1/chat/completions", None),
        (Method::POST, "/v1/models", None),
        (Method::POST, "/v2/chat", None),
        (Method::POST, "/", None),
        // Rules for paths would not see these.
        (Method::POST, "/x/v1/embeddings", None),
        (Method::POST, "/zzv1/embeddings", None),
        (Method::POST, "v1/embeddings", None),
        (Method::POST, "//v1/embeddings", None),
    ];
    for (method, path, expected) in cases {
        assert_eq!(Surface::of(&method, path, ""), expected, "{method} {path}");
        if path.starts_with("/v1") {
            assert_eq!(Surface::of(&method, &format!("/listen{path}"), "/listen/"), expected, "{method} /listen{path}");
            assert_eq!(Surface::of(&method, path, "/listen/"), None);
        }
    }
}
