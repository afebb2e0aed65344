use super::{AwsKeys, AwsScope, sign};
use crate::provider::ProviderRequest;

/// Signatures that botocore 1.44 made of the same requests.
#[test]
fn signatures_are_those_of_the_official_client() {
    let scope = AwsScope { host: "bedrock-runtime.eu-central-1.amazonaws.com", region: "eu-central-1", service: "bedrock" };
    for (token, names, signature) in [
        (None, "content-type;host;x-amz-date", "fe93c3cce93ae2d3d86bd709d5211be0dc9dc5603a2fd2c45c9f1bc5f33ef18d"),
        (
            Some("TOKEN"),
            "content-type;host;x-amz-date;x-amz-security-token",
            "d494ce4f0a6442a793a7277d2b2584dd6b3e3a10d1f93a5521e8c9bdee2c5ead",
        ),
    ] {
        let mut request = ProviderRequest {
            method: "POST",
            path_and_query: "/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse".to_owned(),
            headers: vec![("content-type", "application/json".to_owned())],
            body: br#"{"messages":[]}"#.to_vec(),
        };
        let keys = AwsKeys {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            session_token: token.map(str::to_owned),
        };
        sign(&mut request, scope, &keys, 1_767_323_045);
        let wanted = format!(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-central-1/bedrock/aws4_request, SignedHeaders={names}, Signature={signature}"
        );
        assert_eq!(request.headers.last(), Some(&("authorization", wanted)));
    }
}
