//! `tollgate apis import`: makes an API of a plain OpenAPI document, from a file or from an address.

use super::session::shown;
use super::{CommandFailure, Gateway, accepted, document, segment};
use crate::visible;
use clap::{Args, ValueEnum};
use http::Uri;
use http::header::LOCATION;
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::Value;
use std::path::Path;
use tollgate_model::{Level, Problem};
use tollgate_openapi::{Document, ExampleKinds};
use tollgate_outbound::{HttpClient, HttpClientSettings};

/// Maximum bytes of a document, as for the gateway.
const DOCUMENT_BYTES_MAX: usize = 16 << 20;
/// Redirects that are followed: one for the scheme, one for the host, and some to spare.
const REDIRECTS_MAX: usize = 5;

/// Options of `import`.
#[derive(Debug, Args)]
pub struct ImportApi {
    /// File or http(s) address of the document, - for standard input
    #[arg(value_name = "FILE|URL")]
    source: String,
    /// URL of the upstream [default: the first server of the document]
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// The path that clients use
    #[arg(long, value_name = "PATH")]
    listen_path: Option<String>,
    /// The host that clients use
    #[arg(long, value_name = "HOST")]
    domain: Option<String>,
    /// The API's id [default: a generated one]
    #[arg(long, value_name = "ID", conflicts_with = "update")]
    id: Option<String>,
    /// Replace the document of this API, which keeps its settings
    #[arg(long, value_name = "ID")]
    update: Option<String>,
    /// Only the operations of the document are open
    #[arg(long)]
    allow_list: bool,
    /// Requests must fit the document
    #[arg(long)]
    validate: bool,
    /// Answer with the examples of the document
    #[arg(long)]
    mock: bool,
    /// Import nothing if an example or default of the document does not fit its schema
    #[arg(long)]
    check_examples: bool,
    /// Callers authenticate by the schemes of the document's security
    #[arg(long)]
    authentication: bool,
    /// How the alternatives of the document's security count
    #[arg(long, value_name = "MODE", requires = "authentication")]
    security_mode: Option<SecurityMode>,
    /// The API becomes a version of this one
    #[arg(long, value_name = "ID", requires = "version_name", conflicts_with = "update")]
    base_api: Option<String>,
    /// What the base itself is called among its versions
    #[arg(long, value_name = "NAME", requires = "base_api")]
    base_version_name: Option<String>,
    /// What the new version is called
    #[arg(long, value_name = "NAME", requires = "base_api")]
    version_name: Option<String>,
    /// Requests that name no version get the new one
    #[arg(long, requires = "base_api")]
    set_default: bool,
}

/// How security requirements count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SecurityMode {
    /// All schemes of the first requirement
    Legacy,
    /// All schemes of any one requirement
    Compliant,
}

pub(super) fn run(options: &ImportApi, gateway: &Gateway) -> Result<(), CommandFailure> {
    let source = &options.source;
    let about = |why: String| CommandFailure::Refused(format!("{source}: {why}"));
    let text = if is_address(source) { fetched(source, gateway).map_err(about)? } else { document::read(Path::new(source))? };
    let parsed = tollgate_openapi::read_text(&text).map_err(about)?;
    if !tollgate_openapi::is_openapi(&parsed) {
        return Err(about("is no OpenAPI document: it has no member openapi".to_owned()));
    }
    if parsed.get(tollgate_openapi::EXTENSION).is_some() {
        let extension = tollgate_openapi::EXTENSION;
        return Err(about(format!(
            "has {extension} already, so it is a definition: put it into a directory and use tollgate sync"
        )));
    }
    let converted = tollgate_openapi::is_swagger(&parsed).then(|| tollgate_openapi::convert_swagger(&parsed));
    for note in converted.iter().flat_map(|converted| &converted.notes) {
        eprintln!("tollgate: {source}: {}", visible::text(&note.to_string()));
    }
    if options.check_examples {
        let document = converted.map_or(parsed, |converted| converted.document);
        check_document_examples(source, document)?;
    }
    let query = options.query();
    let (method, path) = match &options.update {
        Some(id) => ("PATCH", format!("/tyk/apis/oas/{}{query}", segment(id))),
        None => ("POST", format!("/tyk/apis/oas/import{query}")),
    };
    let answer = accepted(gateway.ask(method, &path, Some(text))?).map_err(|failure| match failure {
        CommandFailure::Refused(why) => about(why),
        other => other,
    })?;
    gateway.print(&answer, || {
        let done = if options.update.is_some() { "updated" } else { "imported" };
        format!("{}: {done}", shown(&answer, "key"))
    });
    Ok(())
}

/// Fails if an example or default does not fit, and names each.
fn check_document_examples(source: &str, document: Value) -> Result<(), CommandFailure> {
    let refused = |problems: Vec<Problem>| {
        problems.iter().for_each(|problem| eprintln!("tollgate: {source}: {}", visible::text(&problem.to_string())));
        CommandFailure::Refused(format!("{source}: {} problems; nothing is imported", problems.len()))
    };
    let (document, _) = Document::new(document).map_err(refused)?;
    let kinds = ExampleKinds { examples: true, defaults: true };
    let problems = tollgate_openapi::check_examples(&document, kinds, Level::Error);
    if problems.is_empty() { Ok(()) } else { Err(refused(problems)) }
}

impl ImportApi {
    /// The parameters of the request.
    fn query(&self) -> String {
        let flag = |is_set: bool| is_set.then(|| "true".to_owned());
        let mode = self.security_mode.map(|mode| match mode {
            SecurityMode::Legacy => "legacy".to_owned(),
            SecurityMode::Compliant => "compliant".to_owned(),
        });
        let parameters = [
            ("upstreamURL", self.upstream.clone()),
            ("listenPath", self.listen_path.clone()),
            ("customDomain", self.domain.clone()),
            ("apiID", self.id.clone()),
            ("allowList", flag(self.allow_list)),
            ("validateRequest", flag(self.validate)),
            ("mockResponse", flag(self.mock)),
            ("authentication", flag(self.authentication)),
            ("securityProcessingMode", mode),
            ("base_api_id", self.base_api.clone()),
            ("base_api_version_name", self.base_version_name.clone()),
            ("new_version_name", self.version_name.clone()),
            ("set_default", flag(self.set_default)),
        ];
        let pairs = parameters.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", segment(&value?))));
        let query = pairs.collect::<Vec<_>>().join("&");
        if query.is_empty() { query } else { format!("?{query}") }
    }
}

fn is_address(source: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| source.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)))
}

/// The document at an address.
fn fetched(address: &str, gateway: &Gateway) -> Result<Vec<u8>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    // The certificate of another server is always checked: --insecure is about the gateway.
    let tls = (gateway.tls)(false)?;
    let settings = HttpClientSettings { http2: false, idle_max: gateway.timeout, connect_time_max: Some(gateway.timeout) };
    let client = HttpClient::new(tls, settings);
    let answer = async { tokio::time::timeout(gateway.timeout, follow(&client, address)).await };
    runtime.block_on(answer).unwrap_or_else(|_| Err(format!("no answer within {} s", gateway.timeout.as_secs())))
}

async fn follow(client: &HttpClient, address: &str) -> Result<Vec<u8>, String> {
    let mut address = address.to_owned();
    for _ in 0..=REDIRECTS_MAX {
        let uri: Uri = address.parse().map_err(|error| format!("{address} is no address: {error}"))?;
        let request = http::Request::get(uri.clone())
            .header("accept", "application/json, application/yaml, */*")
            .header("user-agent", concat!("tollgate/", env!("CARGO_PKG_VERSION")));
        let request = request.body(Full::new(Bytes::new())).map_err(|error| error.to_string())?;
        let answer = client.send(request, DOCUMENT_BYTES_MAX).await.map_err(|fault| fault.to_string())?;
        let target = answer.headers.get(LOCATION).and_then(|value| value.to_str().ok());
        match target.filter(|_| answer.status.is_redirection()) {
            Some(target) => address = redirected(&uri, target)?,
            None if answer.status.is_success() => return Ok(answer.body.to_vec()),
            None => return Err(format!("{address} answers with status {}", answer.status.as_u16())),
        }
    }
    Err(format!("more than {REDIRECTS_MAX} redirects"))
}

/// The address of a redirect: whole, or a path on the same host.
fn redirected(from: &Uri, target: &str) -> Result<String, String> {
    if is_address(target) {
        // A document that was asked for over TLS is not taken without.
        let is_downgrade = from.scheme_str() == Some("https") && !target.to_ascii_lowercase().starts_with("https://");
        return if is_downgrade { Err(format!("is redirected to {target}, which is not https")) } else { Ok(target.to_owned()) };
    }
    let (Some(scheme), Some(authority)) = (from.scheme_str(), from.authority()) else { return Err("has no host".to_owned()) };
    if target.starts_with('/') && !target.starts_with("//") {
        return Ok(format!("{scheme}://{authority}{target}"));
    }
    Err(format!("is redirected to {target}, which is neither an address nor a path"))
}

#[cfg(test)]
mod tests;
