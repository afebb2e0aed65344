//! One check of a target: a request, or a connection with a dialogue.

use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tollgate_data::target_watch::{CheckKind, DialogueStep, TargetCheck};
use tollgate_outbound::{Call, CallClient};
use tollgate_tls::{Library, TlsRules, client_config};

/// Why a target is not well.
pub(super) struct CheckFault {
    /// Status of its answer; 0 if there was none.
    pub status: u16,
    pub error: String,
}

impl From<String> for CheckFault {
    fn from(error: String) -> Self {
        CheckFault { status: 0, error }
    }
}

/// Runs a check. Returns the status of the answer, 0 of a dialogue.
pub(super) async fn run(client: &CallClient, check: &TargetCheck) -> Result<u16, CheckFault> {
    match &check.kind {
        CheckKind::Http { method, uri, headers, body, tls, statuses } => {
            let call = Call {
                method: method.clone(),
                uri: uri.clone(),
                headers: headers.clone(),
                body: body.clone(),
                tls: tls.clone(),
                time_max: check.time_max,
                // The body is not read.
                body_bytes_max: 0,
                redirects_max: 0,
            };
            let status = client.status(call).await.map_err(|fault| fault.to_string())?.as_u16();
            let is_good = if statuses.is_empty() { (200..400).contains(&status) } else { statuses.contains(&status) };
            if is_good { Ok(status) } else { Err(CheckFault { status, error: format!("it answered with status {status}") }) }
        }
        CheckKind::Tcp { host, port, tls, announces_client, dialogue } => {
            let talking = talk((host, *port), tls.as_ref(), *announces_client, dialogue);
            timeout(check.time_max, talking).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))?;
            Ok(0)
        }
    }
}

async fn talk(
    (host, port): (&str, u16),
    tls: Option<&TlsRules>,
    announces_client: bool,
    dialogue: &[DialogueStep],
) -> Result<(), String> {
    let mut stream = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
    if announces_client {
        let (own, peer) = (stream.local_addr(), stream.peer_addr());
        let line = proxy_line(own.map_err(|error| error.to_string())?, peer.map_err(|error| error.to_string())?);
        stream.write_all(line.as_bytes()).await.map_err(|error| error.to_string())?;
    }
    let Some(rules) = tls else { return converse(stream, dialogue).await };
    let config = client_config(rules, &Library::default())?;
    let name = ServerName::try_from(host.to_owned()).map_err(|_| format!("{host} can't be a TLS server's name"))?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|error| error.to_string())?;
    converse(stream, dialogue).await
}

async fn converse(mut stream: impl AsyncRead + AsyncWrite + Unpin, dialogue: &[DialogueStep]) -> Result<(), String> {
    for step in dialogue {
        match step {
            DialogueStep::Send(bytes) => stream.write_all(bytes).await.map_err(|error| error.to_string())?,
            DialogueStep::Expect(bytes) => {
                let mut got = vec![0; bytes.len()];
                stream.read_exact(&mut got).await.map_err(|error| error.to_string())?;
                if got != *bytes {
                    return Err("it answered something else than expected".to_owned());
                }
            }
        }
    }
    Ok(())
}

/// The header line of the PROXY protocol, version 1.
fn proxy_line(own: SocketAddr, peer: SocketAddr) -> String {
    let family = if own.is_ipv4() { "TCP4" } else { "TCP6" };
    format!("PROXY {family} {} {} {} {}\r\n", own.ip(), peer.ip(), own.port(), peer.port())
}
