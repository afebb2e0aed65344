use super::{MediaCall, MediaChange};
use crate::provider::{Flavour, Provider, ProviderApi, ProviderCredential};

const MAX: usize = 1 << 20;
const CHANGE: MediaChange = MediaChange { model: "there", boundary: "new" };

fn provider(api: ProviderApi) -> Provider {
    Provider { api, base_path: None, credential: ProviderCredential::Key("k".to_owned()) }
}

#[test]
fn a_document_gets_the_provider_s_model_and_keeps_the_rest() {
    let provider = provider(ProviderApi::OpenAi(Flavour::Groq));
    for (body, expected) in [
        (r#"{ "model":"here","input":"Hi",  "voice":"x" }"#, r#"{"model":"there","input":"Hi","voice":"x"}"#),
        (r#"{ "model":"there" , "input":"Hi"}"#, r#"{ "model":"there" , "input":"Hi"}"#),
        (r#"{"input":"Hi"}"#, r#"{"model":"there","input":"Hi"}"#),
    ] {
        let request =
            provider.media_request(MediaCall::Speech, ("application/json", body.as_bytes()), MAX, CHANGE).expect("a request");
        assert_eq!((request.path_and_query.as_str(), request.method), ("/openai/v1/audio/speech", "POST"));
        assert_eq!(String::from_utf8(request.body).expect("text"), expected);
        assert!(request.headers.contains(&("authorization", "Bearer k".to_owned())), "{:?}", request.headers);
        assert!(request.headers.contains(&("content-type", "application/json".to_owned())));
    }
    assert!(super::MediaCall::ALL.iter().all(|call| call.path().starts_with('/')));
}

#[test]
fn a_form_is_written_anew() {
    let body = b"--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nhere\r\n--b--\r\n";
    let kind = "multipart/form-data; boundary=b";
    assert_eq!(MediaCall::Transcriptions.model(kind, body, MAX).expect("a model"), "here");
    let provider = provider(ProviderApi::OpenAi(Flavour::OpenAi));
    let request = provider.media_request(MediaCall::Transcriptions, (kind, body), MAX, CHANGE).expect("a request");
    assert!(request.headers.contains(&("content-type", "multipart/form-data; boundary=new".to_owned())), "{:?}", request.headers);
    assert_eq!(request.body, b"--new\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nthere\r\n--new--\r\n");
}

#[test]
fn a_request_names_its_model_once() {
    let model = |call: MediaCall, body: &str| call.model("application/json", body.as_bytes(), MAX).ok();
    assert_eq!(model(MediaCall::Moderations, r#"{"input":"x"}"#).as_deref(), Some("omni-moderation-latest"));
    assert_eq!(model(MediaCall::Moderations, r#"{"model":"m"}"#).as_deref(), Some("m"));
    for body in [r#"{"prompt":"x"}"#, r#"{"model":"m","MODEL":"n"}"#, r#"{"model":"m","model":"n"}"#, r#"{"model":1}"#, "[]", ""] {
        assert_eq!(model(MediaCall::ImageGenerations, body), None, "{body}");
    }
    let other = provider(ProviderApi::Anthropic);
    assert!(other.media_request(MediaCall::Speech, ("application/json", br#"{"model":"m"}"#), MAX, CHANGE).is_err());
}
