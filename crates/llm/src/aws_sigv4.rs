//! Signatures of requests for Amazon's services, version 4: a pure function of the request, the keys and the time.

use crate::provider::ProviderRequest;
use aws_lc_rs::{digest, hmac};
use data_encoding::HEXLOWER;
use jiff::Timestamp;

/// Keys of Amazon. The secret is not shown in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct AwsKeys {
    /// The id of the key.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: String,
    /// The token of temporary keys.
    pub session_token: Option<String>,
}

impl std::fmt::Debug for AwsKeys {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "AwsKeys({})", self.access_key_id)
    }
}

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
pub struct AwsScope<'a> {
    /// The host, with its port if that is not the usual one.
    pub host: &'a str,
    /// The region, as `eu-central-1`.
    pub region: &'a str,
    /// The service; `bedrock` for models.
    pub service: &'a str,
}

/// Adds the headers that sign a request. The header `host` is signed, so the request must be sent with the scope's host.
pub fn sign(request: &mut ProviderRequest, scope: AwsScope, keys: &AwsKeys, now: u64) {
    let time = Timestamp::from_second(i64::try_from(now).unwrap_or(0)).unwrap_or_default().strftime("%Y%m%dT%H%M%SZ").to_string();
    let day = time.get(..8).unwrap_or_default().to_owned();
    request.headers.push(("x-amz-date", time.clone()));
    if let Some(token) = &keys.session_token {
        request.headers.push(("x-amz-security-token", token.clone()));
    }
    let mut headers: Vec<(&str, &str)> = request.headers.iter().map(|(name, value)| (*name, value.trim())).collect();
    headers.push(("host", scope.host));
    headers.sort_unstable();
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let (path, query) = request.path_and_query.split_once('?').unwrap_or((&request.path_and_query, ""));
    let body = HEXLOWER.encode(digest::digest(&digest::SHA256, &request.body).as_ref());
    let canonical = format!("{}\n{}\n{query}\n{lines}\n{names}\n{body}", request.method, encoded_again(path));
    let place = format!("{day}/{}/{}/aws4_request", scope.region, scope.service);
    let hashed = HEXLOWER.encode(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
    let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{place}\n{hashed}");
    let mut key = format!("AWS4{}", keys.secret_access_key).into_bytes();
    for step in [day.as_str(), scope.region, scope.service, "aws4_request"] {
        key = keyed(&key, step);
    }
    let signature = HEXLOWER.encode(&keyed(&key, &to_sign));
    let value = format!("AWS4-HMAC-SHA256 Credential={}/{place}, SignedHeaders={names}, Signature={signature}", keys.access_key_id);
    request.headers.push(("authorization", value));
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

/// All services but one want the path encoded a second time in what is signed.
fn encoded_again(path: &str) -> String {
    path.replace('%', "%25")
}

#[cfg(test)]
mod tests;
