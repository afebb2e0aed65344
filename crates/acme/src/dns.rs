//! Records in the DNS, which a program or a webhook of the operator makes and removes.

use crate::operators_client::operators_client;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::json;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tollgate_model::config::AcmeDns;

/// For the program, or the answer of the webhook.
const TIME_MAX: Duration = Duration::from_secs(120);
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Of what a program says about its failure.
const SAID_BYTES_MAX: usize = 500;

/// What happens to a record.
#[derive(Clone, Copy)]
pub(crate) enum RecordAction {
    Present,
    Cleanup,
}

/// Makes or removes the record of a host.
///
/// # Errors
/// Why that failed.
pub(crate) async fn change_record(dns: &AcmeDns, action: RecordAction, host: &str, value: &str) -> Result<(), String> {
    let name = format!("_acme-challenge.{host}");
    let action = match action {
        RecordAction::Present => "present",
        RecordAction::Cleanup => "cleanup",
    };
    let done = async {
        match dns.exec.split_first() {
            Some((program, arguments)) => run(program, arguments, [action, &name, value]).await,
            None => post(dns, &json!({"action": action, "name": name, "value": value}).to_string()).await,
        }
    };
    let done = tokio::time::timeout(TIME_MAX, done).await.unwrap_or_else(|_| Err("it takes too long".to_owned()));
    done.map_err(|why| format!("the record {name} can't be changed ({action}): {why}"))
}

async fn run(program: &str, arguments: &[String], more: [&str; 3]) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(arguments).args(more).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let output = command.output().await.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    Err(format!(
        "{program} ended with {}: {}",
        output.status,
        said.get(..said.floor_char_boundary(SAID_BYTES_MAX)).unwrap_or_default()
    ))
}

async fn post(dns: &AcmeDns, body: &str) -> Result<(), String> {
    let mut request = Request::post(&dns.webhook).header(CONTENT_TYPE, "application/json");
    if !dns.authorization.is_empty() {
        let mut value =
            HeaderValue::from_str(&dns.authorization).map_err(|_| "authorization is no value of a header".to_owned())?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    let request = request.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).map_err(|error| error.to_string())?;
    let answer = operators_client()?.send(request, ANSWER_BYTES_MAX).await.map_err(|fault| fault.to_string())?;
    if answer.status.is_success() { Ok(()) } else { Err(format!("the webhook answered with {}", answer.status)) }
}
