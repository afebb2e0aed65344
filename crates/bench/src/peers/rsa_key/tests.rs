use super::RsaKey;
use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

#[test]
fn a_token_is_verified_with_the_published_key_of_the_same_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let token = RsaKey::of(directory.path()).expect("a key").token(&json!({"sub": "user"})).expect("a token");
    let set = RsaKey::of(directory.path()).expect("the same key").key_set();
    let number = |name: &str| URL_SAFE_NO_PAD.decode(set["keys"][0][name].as_str().expect(name)).expect(name);
    let key = RsaPublicKeyComponents { n: number("n"), e: number("e") };
    let (signed, signature) = token.rsplit_once('.').expect("three parts");
    let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
    key.verify(&RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &signature).expect("the signature of this key");
    let claims = URL_SAFE_NO_PAD.decode(signed.split_once('.').expect("two parts").1).expect("base64");
    assert_eq!(claims, br#"{"sub":"user"}"#);
}
