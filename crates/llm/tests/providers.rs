//! Where requests go, what their heads say, and which of them pass.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use tollgate_llm::{ClientApi, EmbeddingApi, Flavour, GeminiPath, Passed, Provider, ProviderApi, ProviderCredential};

const CHAT: &[u8] = br#"{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true}"#;
const BYTES_MAX: usize = 1 << 16;

fn provider(api: ProviderApi, base_path: Option<&str>, credential: ProviderCredential) -> Provider {
    Provider { api, base_path: base_path.map(str::to_owned), credential }
}

#[test]
fn paths_and_credentials_are_each_providers_own() {
    let key = || ProviderCredential::Key("secret".to_owned());
    let bearer = || ProviderCredential::Bearer("token".to_owned());
    for (api, base, credential, path, header) in [
        (ProviderApi::OpenAi(Flavour::OpenAi), None, key(), "/v1/chat/completions", ("authorization", "Bearer secret")),
        (
            ProviderApi::OpenAi(Flavour::Azure),
            Some("/openai/deployments/d?api-version=2024-10-21"),
            key(),
            "/openai/deployments/d/chat/completions?api-version=2024-10-21",
            ("api-key", "secret"),
        ),
        (ProviderApi::OpenAi(Flavour::Azure), None, bearer(), "/openai/v1/chat/completions", ("authorization", "Bearer token")),
        (ProviderApi::OpenAi(Flavour::OpenRouter), None, key(), "/api/v1/chat/completions", ("authorization", "Bearer secret")),
        (ProviderApi::OpenAi(Flavour::Groq), None, key(), "/openai/v1/chat/completions", ("authorization", "Bearer secret")),
        (ProviderApi::Anthropic, None, key(), "/v1/messages", ("x-api-key", "secret")),
        (
            ProviderApi::Gemini,
            Some("/v1/projects/p/locations/l/publishers/google"),
            bearer(),
            "/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse",
            ("authorization", "Bearer token"),
        ),
        (
            ProviderApi::Gemini,
            Some("/v1beta?x=1"),
            key(),
            "/v1beta/models/m:streamGenerateContent?alt=sse&x=1",
            ("x-goog-api-key", "secret"),
        ),
        (ProviderApi::Bedrock, None, bearer(), "/model/m/converse-stream", ("authorization", "Bearer token")),
        (ProviderApi::Cohere, None, key(), "/v2/chat", ("authorization", "Bearer secret")),
    ] {
        let made = provider(api, base, credential);
        assert!(!format!("{made:?}").contains("secret"), "credentials are not shown");
        let request = made.request(&ClientApi::OpenAiChat.read(CHAT, BYTES_MAX).expect("a request")).expect("a counterpart");
        assert_eq!(request.path_and_query, path);
        assert!(request.headers.contains(&(header.0, header.1.to_owned())), "{api:?}: {:?}", request.headers);
        assert!(!format!("{request:?}").contains("secret"));
    }
}

#[test]
fn what_passes_keeps_its_bytes() {
    let openai = provider(ProviderApi::OpenAi(Flavour::OpenAi), None, ProviderCredential::None);
    let asks = openai.passed_request(ClientApi::OpenAiChat, CHAT, BYTES_MAX, None, None).expect("passes");
    assert!(asks.body.ends_with(br#""stream":true,"stream_options":{"include_usage":true}}"#));
    let responses =
        openai.passed_request(ClientApi::OpenAiResponses, br#"{"model": "m","input":1}"#, BYTES_MAX, None, None).expect("passes");
    assert_eq!(
        (responses.path_and_query.as_str(), responses.body.as_slice()),
        ("/v1/responses", &br#"{"model": "m","input":1}"#[..])
    );
    let mistral = provider(ProviderApi::OpenAi(Flavour::Mistral), None, ProviderCredential::None);
    assert_eq!(mistral.passed_request(ClientApi::OpenAiChat, CHAT, BYTES_MAX, None, None).expect("passes").body, CHAT);
    let embeddings =
        openai.passed_embedding_request(EmbeddingApi::OpenAi, br#"{"model":"a","input":[1,2]}"#, BYTES_MAX, "b").expect("passes");
    assert_eq!(
        (embeddings.path_and_query.as_str(), embeddings.body.as_slice()),
        ("/v1/embeddings", &br#"{"model":"b","input":[1,2]}"#[..])
    );
    assert!(openai.speaks(ClientApi::OpenAiResponses) && !mistral.speaks(ClientApi::OpenAiResponses));
    assert!(!provider(ProviderApi::Bedrock, None, ProviderCredential::None).speaks(ClientApi::AnthropicMessages));
}

#[test]
fn google_gets_what_its_client_sent_byte_for_byte() {
    let sent =
        r#"{ "contents":[{"parts":[{"text":"x"}]}], "new_member": 1.50,"generation_config":{"maxOutputTokens":9,"top_k":3} }"#;
    let vertex = "/v1/projects/p/locations/l/publishers/google";
    for (stream, base, model, path) in [
        (false, None, None, "/v1beta/models/a%2Fb:generateContent"),
        (true, None, Some("g"), "/v1beta/models/g:streamGenerateContent?alt=sse"),
        (true, Some(vertex), Some("g"), "/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent?alt=sse"),
    ] {
        let gemini = provider(ProviderApi::Gemini, base, ProviderCredential::None);
        let called = || GeminiPath { model: "a/b".to_owned(), stream };
        let body = called().into_body(sent.as_bytes(), BYTES_MAX).expect("an object");
        let read = Passed::read(&body, BYTES_MAX).expect("a request");
        assert_eq!((read.model.as_str(), read.stream), ("a/b", stream));
        let request = gemini.passed_request(ClientApi::Gemini, &body, BYTES_MAX, model, None).expect("passes");
        assert_eq!((request.path_and_query.as_str(), request.body.as_slice()), (path, sent.as_bytes()));
        let bounded = gemini.passed_request(ClientApi::Gemini, &body, BYTES_MAX, model, Some(7)).expect("passes").body;
        assert_eq!(
            String::from_utf8(bounded).expect("text"),
            r#"{"contents":[{"parts":[{"text":"x"}]}],"newMember":1.50,"generationConfig":{"topK":3,"maxOutputTokens":7}}"#
        );
        let empty = called().into_body(b" {} ", BYTES_MAX).expect("an object");
        let request = gemini.passed_request(ClientApi::Gemini, &empty, BYTES_MAX, model, None).expect("passes");
        assert_eq!(request.body, b"{} ");
    }
    let gemini = provider(ProviderApi::Gemini, None, ProviderCredential::None);
    let called = || GeminiPath { model: "m".to_owned(), stream: false };
    let broken =
        ["", "[]", "{", r#"{"model":"x"}"#, r#"{"model":1}"#, r#"{"stream":true}"#, r#"{"a":1,"a":2}"#, r#"{"mod\u0065l":"x"}"#];
    for body in broken {
        assert!(called().into_body(body.as_bytes(), BYTES_MAX).is_err(), "{body}");
    }
    let two = called().into_body(br#"{"generationConfig":{},"generation_config":{}}"#, BYTES_MAX).expect("an object");
    assert!(
        gemini.passed_request(ClientApi::Gemini, &two, BYTES_MAX, None, Some(7)).is_err(),
        "nobody knows which of the two counts"
    );
    let count =
        called().into_body(br#"{"generateContentRequest":{"model":"models/m","contents":[]}}"#, BYTES_MAX).expect("an object");
    let count = gemini.passed_count_request(ClientApi::Gemini, &count, BYTES_MAX, Some("g")).expect("counts").expect("passes");
    assert_eq!(count.path_and_query, "/v1beta/models/g:countTokens");
    assert_eq!(count.body, br#"{"generateContentRequest":{"model":"models/g","contents":[]}}"#);
    assert!(gemini.speaks(ClientApi::Gemini) && !gemini.speaks(ClientApi::OpenAiChat));
}

#[test]
fn embeddings_are_translated_or_refused() {
    let read = |body: &str| EmbeddingApi::OpenAi.read(body.as_bytes(), BYTES_MAX);
    let ask = read(r#"{"model":"e","input":["a","b"],"dimensions":2,"encoding_format":"base64","user":"u"}"#).expect("a request");
    let gemini = provider(ProviderApi::Gemini, None, ProviderCredential::None);
    let request = gemini.embedding_request(&ask).expect("a counterpart");
    assert_eq!(request.path_and_query, "/v1beta/models/e:batchEmbedContents");
    assert!(
        request
            .body
            .starts_with(br#"{"requests":[{"model":"models/e","content":{"parts":[{"text":"a"}]},"outputDimensionality":2},"#)
    );
    let (body, usage) =
        gemini.embedding_reply(200, br#"{"embeddings":[{"values":[1,-2]},{"values":[0,0]}]}"#, BYTES_MAX, &ask).expect("an answer");
    assert!(usage.is_doubtful, "Gemini tells no usage");
    assert!(String::from_utf8(body).expect("text").contains(r#""embedding":"AACAPwAAAMA=""#));
    assert!(gemini.embedding_reply(200, br#"{"embeddings":[]}"#, BYTES_MAX, &ask).is_err());
    assert_eq!(gemini.embedding_reply(429, b"", BYTES_MAX, &ask).expect_err("an error").status, 429);
    assert!(provider(ProviderApi::Anthropic, None, ProviderCredential::None).embedding_request(&ask).is_err());
    for body in
        [r#"{"model":"e","input":[1,2]}"#, r#"{"model":"e","input":[]}"#, r#"{"model":"e","input":"a","x":1}"#, r#"{"input":"a"}"#]
    {
        assert!(read(body).is_err(), "{body}");
    }
}

/// A request of Google's clients for embeddings, with what its path says.
fn google_embeddings(body: &str) -> Vec<u8> {
    GeminiPath { model: "m".to_owned(), stream: false }.into_body(body.as_bytes(), BYTES_MAX).expect("an object")
}

#[test]
fn embeddings_of_googles_clients_pass_to_google() {
    let gemini = provider(ProviderApi::Gemini, None, ProviderCredential::None);
    let sent = |api, body: &str, model: &str| {
        let request = gemini.passed_embedding_request(api, &google_embeddings(body), BYTES_MAX, model)?;
        Ok::<_, tollgate_llm::Unsupported>((request.path_and_query, String::from_utf8(request.body).expect("text")))
    };
    let one = r#"{ "content":{"parts":[{"text":"a"}]}, "new":1.50 }"#;
    let passed = sent(EmbeddingApi::Gemini, one, "g").expect("passes");
    assert_eq!(passed, ("/v1beta/models/g:embedContent".to_owned(), one.to_owned()));
    let named = r#"{"model":"models/m","content":{"parts":[{"text":"a"}]}}"#;
    let passed = sent(EmbeddingApi::Gemini, named, "g").expect("passes");
    assert_eq!(passed.1, r#"{"content":{"parts":[{"text":"a"}]}}"#, "the path says the model");
    let several = r#"{"requests": [{"model":"models/m","content":{}},{"content":{}}], "new":1}"#;
    assert_eq!(sent(EmbeddingApi::GeminiBatch, several, "m").expect("passes").1, several);
    let renamed = sent(EmbeddingApi::GeminiBatch, several, "g").expect("passes");
    let expected = r#"{"requests":[{"model":"models/g","content":{}},{"model":"models/g","content":{}}],"new":1}"#;
    assert_eq!(renamed, ("/v1beta/models/g:batchEmbedContents".to_owned(), expected.to_owned()));
    let other = r#"{"requests":[{"model":"models/dear","content":{}}]}"#;
    assert_eq!(sent(EmbeddingApi::GeminiBatch, other, "m").expect_err("another model").field, "requests[0].model");
}

#[test]
fn embeddings_of_googles_clients_are_translated_or_refused() {
    let one = r#"{"content":{"role":"user","parts":[{"text":"a"}]},"taskType":"RETRIEVAL_QUERY","output_dimensionality":2}"#;
    let several = r#"{"requests":[{"model":"models/m","content":{"parts":[{"text":"a"}]}},{"content":{"parts":{"text":"b"}}}]}"#;
    let read = |api: EmbeddingApi, body: &str| api.read(&google_embeddings(body), BYTES_MAX);
    let openai = provider(ProviderApi::OpenAi(Flavour::OpenAi), None, ProviderCredential::None);
    let cohere = provider(ProviderApi::Cohere, None, ProviderCredential::None);
    let (one, several) = (read(EmbeddingApi::Gemini, one), read(EmbeddingApi::GeminiBatch, several));
    let (one, several) = (one.expect("a request"), several.expect("a request"));
    let request = openai.embedding_request(&one).expect("a counterpart");
    assert_eq!(
        (request.path_and_query.as_str(), request.body),
        ("/v1/embeddings", br#"{"model":"m","input":["a"],"dimensions":2}"#.to_vec())
    );
    let body = cohere.embedding_request(&one).expect("a counterpart").body;
    assert!(String::from_utf8(body).expect("text").contains(r#""input_type":"search_query""#));

    let told = br#"{"data":[{"index":1,"embedding":[2]},{"index":0,"embedding":[1]}],"usage":{"prompt_tokens":4}}"#;
    let (body, usage) = openai.embedding_reply(200, told, BYTES_MAX, &several).expect("an answer");
    let usage_text = r#""usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}"#;
    let expected = format!(r#"{{"embeddings":[{{"values":[1]}},{{"values":[2]}}],{usage_text}"#);
    assert_eq!((String::from_utf8(body).expect("text"), usage.input), (expected, 4));
    let told = br#"{"embeddings":{"float":[[1,2]]}}"#;
    let (body, usage) = cohere.embedding_reply(200, told, BYTES_MAX, &one).expect("an answer");
    assert_eq!(body, br#"{"embedding":{"values":[1,2]}}"#);
    assert!(usage.is_doubtful, "nothing was told");
    for told in
        ["{}", r#"{"data":[{"index":0},{"index":0}]}"#, r#"{"data":[{"index":7,"embedding":[]},{"index":0,"embedding":[]}]}"#]
    {
        assert!(openai.embedding_reply(200, told.as_bytes(), BYTES_MAX, &several).is_err(), "{told}");
    }
    assert_eq!(openai.embedding_reply(429, b"", BYTES_MAX, &one).expect_err("an error").status, 429);

    let refused = [
        (EmbeddingApi::Gemini, r#"{}"#, "content"),
        (EmbeddingApi::Gemini, r#"{"content":{"parts":[]}}"#, "content.parts"),
        (EmbeddingApi::Gemini, r#"{"content":{"parts":[{"text":"a"},{"text":"b"}]}}"#, "content.parts"),
        (EmbeddingApi::Gemini, r#"{"content":{"parts":[{"inlineData":{}}]}}"#, "content.parts[0].text"),
        (EmbeddingApi::Gemini, r#"{"content":{"parts":[{"text":"a"}]},"title":"t"}"#, "title"),
        (EmbeddingApi::GeminiBatch, r#"{"content":{"parts":[{"text":"a"}]}}"#, "requests"),
        (EmbeddingApi::GeminiBatch, r#"{"requests":[{"content":{"parts":[{"text":"a"}]},"model":"x"}]}"#, "requests[0].model"),
        (
            EmbeddingApi::GeminiBatch,
            r#"{"requests":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"a"}]},"outputDimensionality":3}]}"#,
            "requests[1].outputDimensionality",
        ),
        (
            EmbeddingApi::GeminiBatch,
            r#"{"requests":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"a"}]},"taskType":"CLUSTERING"}]}"#,
            "requests[1].taskType",
        ),
    ];
    for (api, body, field) in refused {
        assert_eq!(read(api, body).expect_err(body).field, field, "{body}");
    }
    let fact =
        read(EmbeddingApi::Gemini, r#"{"content":{"parts":[{"text":"a"}]},"taskType":"FACT_VERIFICATION"}"#).expect("a request");
    assert_eq!(cohere.embedding_request(&fact).expect_err("no such task").field, "taskType");
}

#[test]
fn prompts_of_anthropics_clients_are_counted_by_google() {
    let question = br#"{"model":"x","system":"Be brief","messages":[{"role":"user","content":"Hi"}]}"#;
    let vertex = "/v1/projects/p/locations/l/publishers/google";
    for (base, path, place) in [
        (None, "/v1beta/models/g:countTokens".to_owned(), "/generateContentRequest/contents/0/parts/0/text"),
        (Some(vertex), format!("{vertex}/models/g:countTokens"), "/contents/0/parts/0/text"),
    ] {
        let google = provider(ProviderApi::Gemini, base, ProviderCredential::None);
        let request =
            google.count_request(ClientApi::AnthropicMessages, question, BYTES_MAX, "g").expect("counts").expect("a counterpart");
        let body: serde_json::Value = serde_json::from_slice(&request.body).expect("JSON");
        assert_eq!((request.path_and_query, body.pointer(place)), (path, Some(&"Hi".into())), "{body}");
        assert_eq!(body.pointer("/generateContentRequest/model"), base.is_none().then(|| "models/g".into()).as_ref());
        assert!(google.count_request(ClientApi::OpenAiChat, question, BYTES_MAX, "g").is_none());
        let answer = google.count_reply(200, br#"{"totalTokens":31,"promptTokensDetails":[]}"#, BYTES_MAX);
        assert_eq!(answer.expect("a number"), br#"{"input_tokens":31}"#);
        assert!(google.count_reply(200, b"{}", BYTES_MAX).is_err());
        assert_eq!(
            google.count_reply(400, br#"{"error":{"code":400,"message":"no"}}"#, BYTES_MAX).expect_err("a refusal").status,
            400
        );
    }
    let anthropic = provider(ProviderApi::Anthropic, None, ProviderCredential::None);
    assert!(anthropic.count_request(ClientApi::AnthropicMessages, question, BYTES_MAX, "g").is_none());
}

#[test]
fn where_and_how_an_answer_is_made_is_never_left_out() {
    let chat = |member: &str| format!(r#"{{"model":"m","messages":[{{"role":"user","content":"x"}}],{member}}}"#);
    let responses = |member: &str| format!(r#"{{"model":"m","input":"x",{member}}}"#);
    let messages =
        |member: &str| format!(r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"user","content":"x"}}],{member}}}"#);
    let google = |member: &str| format!(r#"{{"model":"m","stream":false,"contents":[{{"parts":[{{"text":"x"}}]}}],{member}}}"#);
    for (api, body, name, accepted, refused) in [
        (ClientApi::OpenAiChat, &chat as &dyn Fn(&str) -> String, "service_tier", &["auto", "default"] as &[_], "flex"),
        (ClientApi::OpenAiResponses, &responses, "service_tier", &["auto", "default"], "priority"),
        (ClientApi::AnthropicMessages, &messages, "service_tier", &["auto", "standard_only"], "batch"),
        (ClientApi::AnthropicMessages, &messages, "inference_geo", &["global"], "us"),
        (ClientApi::AnthropicMessages, &messages, "speed", &["standard"], "fast"),
        (ClientApi::Gemini, &google, "serviceTier", &["standard"], "flex"),
    ] {
        for value in accepted {
            assert!(api.read(body(&format!(r#""{name}":"{value}""#)).as_bytes(), BYTES_MAX).is_ok(), "{api:?} {name} {value}");
        }
        assert!(api.read(body(&format!(r#""{name}":null"#)).as_bytes(), BYTES_MAX).is_ok(), "{api:?} {name}");
        let problem = api.read(body(&format!(r#""{name}":"{refused}""#)).as_bytes(), BYTES_MAX).expect_err("a refusal");
        assert_eq!(problem.field, name, "{api:?} {name}");
    }
    let kept = responses(r#""include":["reasoning.encrypted_content"]"#);
    assert!(ClientApi::OpenAiResponses.read(kept.as_bytes(), BYTES_MAX).is_ok());
    let more = responses(r#""include":["message.output_text.logprobs"]"#);
    assert_eq!(ClientApi::OpenAiResponses.read(more.as_bytes(), BYTES_MAX).expect_err("a refusal").field, "include");
}
