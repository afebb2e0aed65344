//! Service accounts of Google: what a key as Google gives it out has in it, and the statement by which it gets an access token (RFC 7523).

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use tollgate_text::byte_order_mark;

/// What the token may be used for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// For how long Google gives a token at most, in seconds.
const LIFE_S: u64 = 3_600;
/// Longest token that is believed.
const TOKEN_BYTES_MAX: usize = 8 << 10;

/// A service account. Its key is not shown in logs.
#[derive(Clone)]
pub struct ServiceAccount {
    email: String,
    key_id: String,
    token_url: String,
    pair: Arc<RsaKeyPair>,
}

/// An access token.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// Its text.
    pub text: String,
    /// For how long it is good, in seconds.
    pub life_s: u64,
}

#[derive(Deserialize)]
struct KeyFile {
    client_email: String,
    #[serde(default)]
    private_key_id: String,
    private_key: String,
    token_uri: String,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    #[serde(default)]
    expires_in: u64,
}

impl std::fmt::Debug for ServiceAccount {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "ServiceAccount({})", self.email)
    }
}

impl ServiceAccount {
    /// Whether a secret is meant to be one: all other keys are no JSON.
    pub fn is_one(secret: &str) -> bool {
        secret.trim_start().starts_with('{')
    }

    /// Reads a key in JSON.
    ///
    /// # Errors
    /// It is broken, or its key is none of RSA.
    pub fn read(secret: &str) -> Result<Self, &'static str> {
        let file: KeyFile =
            serde_json::from_str(byte_order_mark::without_in(secret)).map_err(|_| "is no key of a service account")?;
        let is_url = file.token_uri.starts_with("https://") || file.token_uri.starts_with("http://");
        if !is_url || !file.token_uri.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("has no token_uri");
        }
        let lines = file.private_key.lines().map(str::trim).filter(|line| !line.starts_with("-----"));
        let der = STANDARD.decode(lines.collect::<String>()).map_err(|_| "has a private_key that is no PEM")?;
        let pair = RsaKeyPair::from_pkcs8(&der).map_err(|_| "has a private_key that is none of RSA in PKCS #8")?;
        let (email, key_id) = (file.client_email, file.private_key_id);
        Ok(ServiceAccount { email, key_id, token_url: file.token_uri, pair: Arc::new(pair) })
    }

    /// Where it gets its tokens.
    pub fn token_url(&self) -> &str {
        &self.token_url
    }

    /// The form that asks for a token.
    ///
    /// # Errors
    /// The key cannot sign.
    pub fn token_form(&self, now_unix_s: u64) -> Result<String, &'static str> {
        let head = json!({"alg": "RS256", "typ": "JWT", "kid": self.key_id});
        let claims = json!({
            "iss": self.email, "scope": SCOPE, "aud": self.token_url, "iat": now_unix_s, "exp": now_unix_s + LIFE_S,
        });
        let encoded = |text: String| URL_SAFE_NO_PAD.encode(text);
        let signed = format!("{}.{}", encoded(head.to_string()), encoded(claims.to_string()));
        let mut signature = vec![0; self.pair.public_modulus_len()];
        let made = self.pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature);
        made.map_err(|_| "the key of the service account cannot sign")?;
        let assertion = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(&signature));
        // Letters, digits, `-`, `_` and `.` need no escapes in a form.
        Ok(format!("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={assertion}"))
    }

    /// The token in an answer.
    ///
    /// # Errors
    /// There is none that a header line could have.
    pub fn read_token(body: &[u8]) -> Result<AccessToken, &'static str> {
        let answer: TokenAnswer =
            serde_json::from_slice(byte_order_mark::without(body)).map_err(|_| "the answer has no access token")?;
        let text = answer.access_token;
        let fits = !text.is_empty() && text.len() <= TOKEN_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(AccessToken { text, life_s: answer.expires_in.min(LIFE_S) }) } else { Err("the access token is none") }
    }
}

#[cfg(test)]
mod tests {
    use super::ServiceAccount;
    use aws_lc_rs::encoding::AsDer;
    use aws_lc_rs::rsa::{KeyPair, KeySize};
    use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use serde_json::{Value, json};

    #[test]
    fn a_statement_is_signed_by_the_account_s_key() {
        let pair = KeyPair::generate(KeySize::Rsa2048).expect("a key pair");
        let der = AsDer::<aws_lc_rs::encoding::Pkcs8V1Der>::as_der(&pair).expect("a document");
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der.as_ref()));
        let file = json!({
            "type": "service_account", "client_email": "me@example.com", "private_key_id": "k1", "private_key": pem,
            "token_uri": "https://oauth2.googleapis.com/token",
        });
        let account = ServiceAccount::read(&file.to_string()).expect("an account");
        let form = account.token_form(1_000).expect("a form");
        let assertion = form.split_once("&assertion=").expect("an assertion").1;
        let (signed, signature) = assertion.rsplit_once('.').expect("a signature");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
        public.verify(signed.as_bytes(), &signature).expect("a valid signature");
        let parts: Vec<Value> = signed
            .split('.')
            .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).expect("base64")).expect("JSON"))
            .collect();
        assert_eq!((&parts[0]["kid"], &parts[0]["alg"]), (&json!("k1"), &json!("RS256")));
        assert_eq!((&parts[1]["iss"], &parts[1]["exp"]), (&json!("me@example.com"), &json!(4_600)));
        assert_eq!(parts[1]["aud"], account.token_url());
        assert!(!format!("{account:?}").contains("PRIVATE"));
    }

    #[test]
    fn what_is_no_key_and_no_token_is_refused() {
        assert!(ServiceAccount::is_one(" {}") && !ServiceAccount::is_one("ya29.token"));
        for text in [
            "{",
            "{}",
            r#"{"client_email":"a","private_key":"x","token_uri":"file:///x"}"#,
            r#"{"client_email":"a","private_key":"!","token_uri":"https://x"}"#,
            r#"{"client_email":"a","private_key":"AAAA","token_uri":"https://x"}"#,
        ] {
            assert!(ServiceAccount::read(text).is_err(), "{text}");
        }
        let token =
            ServiceAccount::read_token(br#"{"access_token":"ya29.x","expires_in":99999,"token_type":"Bearer"}"#).expect("a token");
        assert_eq!((token.text.as_str(), token.life_s), ("ya29.x", 3_600));
        for text in ["", "{}", r#"{"access_token":""}"#, r#"{"access_token":"a b"}"#] {
            assert!(ServiceAccount::read_token(text.as_bytes()).is_err(), "{text}");
        }
    }
}
