//! The port of this machine to which a browser comes back from a provider (RFC 8252, 7.3).

use percent_encoding::percent_decode_str;
use std::collections::HashMap;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Time for one request of a browser, and for one answer of a provider.
pub(super) const ANSWER_TIME_MAX: Duration = Duration::from_secs(20);
/// Longest request line of a browser that comes back.
const LINE_BYTES_MAX: u64 = 16 << 10;
/// What the browser shows at the end: that of a sign-in, and that of a refusal.
const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Tollgate</title><p>You may close this page: the command goes on.";
const REFUSED_PAGE: &str =
    "<!doctype html><meta charset=utf-8><title>Tollgate</title><p>The provider has refused the sign-in. The command says why.";

/// Waits for the browser that brings a code for this sign-in; anything else gets 404. Browsers open connections ahead and send nothing on them, so no
/// connection waits for another.
pub(super) async fn returned(listener: &TcpListener, state: &str, issuer: &str) -> Result<String, String> {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted.map_err(|error| error.to_string())?;
                connections.spawn(answered(stream, state.to_owned(), issuer.to_owned()));
            }
            Some(Ok(Some(query))) = connections.join_next(), if !connections.is_empty() => {
                return match (query.get("code"), query.get("error")) {
                    (Some(code), None) => Ok(code.clone()),
                    (_, error) => {
                        let why = query.get("error_description").or(error);
                        Err(format!("the provider refuses: {}", why.map_or("no code", String::as_str)))
                    }
                };
            }
        }
    }
}

/// Answers one request, and returns its query if it is of this sign-in.
async fn answered(stream: TcpStream, state: String, issuer: String) -> Option<HashMap<String, String>> {
    let mut stream = BufReader::new(stream.take(LINE_BYTES_MAX));
    let mut line = String::new();
    tokio::time::timeout(ANSWER_TIME_MAX, stream.read_line(&mut line)).await.ok()?.ok()?;
    let query = line.strip_prefix("GET /callback?").and_then(|rest| rest.split(' ').next()).map(pairs).unwrap_or_default();
    let is_own = query.get("state") == Some(&state) && query.get("iss").is_none_or(|named| *named == issuer);
    let (status, page) = match (is_own, query.contains_key("code") && !query.contains_key("error")) {
        (true, true) => ("200 OK", PAGE),
        (true, false) => ("200 OK", REFUSED_PAGE),
        (false, _) => ("404 Not Found", ""),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nReferrer-Policy: \
         no-referrer\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    let stream = stream.get_mut().get_mut();
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.shutdown().await;
    is_own.then_some(query)
}

fn pairs(query: &str) -> HashMap<String, String> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    query.split('&').filter_map(|pair| pair.split_once('=')).map(|(name, value)| (decoded(name), decoded(value))).collect()
}
