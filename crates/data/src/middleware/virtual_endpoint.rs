//! Endpoints that a function of a script answers. Reads `virtual`. The client sees the function's response with the changes that an upstream's
//! response would get, or 500 when the function fails; with `proxy_on_error` the request goes to the upstream then. The request is held while
//! the script runs. Not recorded in the cache.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Awaited, Exchange, GRACE, Redirect, Step, SubstituteResponse};
use crate::plugins::{MetaDataWriter, plugin_headers, session_of};
use crate::refusal::VIRTUAL_FAILED;
use crate::script_settings::{ScriptSettings, read_script};
use crate::scripts;
use crate::upstream::split_url;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::path::Path;
use std::pin::Pin;
use tollgate_engine::HoldUntil;
use tollgate_http::form::pairs;
use tollgate_http::path::Path as UrlPath;
use tollgate_http::{is_token, is_value};
use tollgate_javascript::{
    Argument, Constant, Handler, ProgramBuilder, ProgramFault, SandboxEntry, Scope, Script, ScriptCall, ScriptFault, VirtualAnswer,
    VirtualRequest,
};
use tollgate_model::api::{FunctionSource, VirtualEndpoint};
use tollgate_model::is_framing_header;

/// Most bytes of a response's headers: what clients commonly accept.
const HEADER_BYTES_MAX: usize = 32 << 10;

pub(super) struct VirtualEndpoints {
    by_endpoint: EndpointList<ScriptFunction>,
    script: Script,
    /// Identity and `config_data` of the API.
    config: Constant,
    /// The session that functions without `use_session` see.
    no_session: Constant,
    meta_data: MetaDataWriter,
}

struct ScriptFunction {
    handler: Handler,
    use_session: bool,
    proxy_on_error: bool,
}

/// The call of a function.
type AskedScript = Pin<Box<dyn Future<Output = Result<VirtualAnswer, ScriptFault>>>>;

impl VirtualEndpoints {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.virtual_endpoints;
        if !source.info.use_extended_paths || entries.iter().all(|entry| entry.disabled) {
            return None;
        }
        let Some(settings) = source.context.settings.documents.scripts.clone() else {
            return refuse_without_engine(source);
        };
        let mut builder = match settings.program() {
            Ok(builder) => builder,
            Err(why) => {
                source.context.error("$.version_data", format!("tyk_js_path: {why}"));
                return None;
            }
        };
        let mut problems = Vec::new();
        let by_endpoint = source.endpoints("virtual", entries, |_, index, entry| {
            let handler = add_function(&mut builder, entry, index, &settings);
            let handler = handler.map_err(|(field, message)| problems.push((index, field, message))).ok()?;
            Some(ScriptFunction { handler, use_session: entry.use_session, proxy_on_error: entry.proxy_on_error })
        });
        if source.definition.custom_middleware.response.iter().any(|hook| !hook.disabled) {
            let message = "the response hooks do not see the responses of virtual endpoints";
            source.context.warning("$.custom_middleware.response", message);
        }
        if problems.is_empty() {
            let config = builder.constant(&scripts::config_of(source.definition));
            let no_session = builder.constant(&scripts::no_session());
            match scripts::load(builder, source.definition, &settings, source.context.settings, source.context.registry) {
                Ok(script) => {
                    let meta_data = MetaDataWriter::new(source.context.registry);
                    return Some(Box::new(VirtualEndpoints { by_endpoint, script, config, no_session, meta_data }));
                }
                Err(fault) => problems.push(place_of(fault, entries)),
            }
        }
        for (index, field, message) in problems {
            source.problem("virtual", index, field, message);
        }
        None
    }

    fn ask(&self, function: &ScriptFunction, exchange: &Exchange<'_>) -> AskedScript {
        let session = match (function.use_session, session_of(exchange)) {
            (false, _) => Argument::Constant(self.no_session),
            (true, Some(session)) => Argument::Json(scripts::session_text(&session)),
            // As in Tyk, which has none without authentication.
            (true, None) => Argument::Json("null".to_owned()),
        };
        let arguments = [request_of(exchange).into_argument(), session, Argument::Constant(self.config), Argument::None];
        let called = scripts::call(&self.script, ScriptCall { handler: function.handler, entry: SandboxEntry::Virtual, arguments });
        Box::pin(async move { called.await.and_then(|text| VirtualAnswer::parse(&text)) })
    }

    /// Stores the session's `meta_data` that the function has returned. As in Tyk, a function that returns none removes all.
    fn keep_meta_data(&self, function: &ScriptFunction, exchange: &mut Exchange<'_>, answer: &VirtualAnswer) {
        let Some(session) = session_of(exchange).filter(|_| function.use_session) else { return };
        let meta_data = answer.session_meta.clone().unwrap_or_default();
        if session.meta_data != meta_data {
            self.meta_data.put(exchange, meta_data);
        }
    }

    /// Sends the function's response.
    fn answer(exchange: &mut Exchange<'_>, answer: &VirtualAnswer) -> Result<Step, String> {
        let status = check(answer)?;
        let location = answer.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
        if let (301 | 302, Some((_, target))) = (status, location)
            && target.starts_with("tyk://")
        {
            return redirect(exchange, target);
        }
        let is_type = |name: &str| name.eq_ignore_ascii_case("content-type");
        let lines = answer.headers.iter().filter(|(name, _)| !is_framing_header(name));
        let mut headers: Vec<_> = lines.map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
        if !answer.body.is_empty() && !answer.headers.iter().any(|(name, _)| is_type(name)) {
            headers.push(("Content-Type".to_owned(), b"text/plain; charset=utf-8".to_vec()));
        }
        let body = answer.body.clone().into_bytes();
        Ok(Step::Respond(Box::new(SubstituteResponse::of_script(status, headers, body))))
    }

    fn fail(&self, function: &ScriptFunction, exchange: &Exchange<'_>, why: &str) -> Step {
        let (api, name) = (&exchange.api.id, self.script.name_of(function.handler));
        tracing::warn!(api, function = name, error = why, "a virtual endpoint failed");
        if function.proxy_on_error { Step::Next } else { Step::Refuse(VIRTUAL_FAILED) }
    }
}

/// An API with virtual endpoints is not served without them, unless that is wanted.
fn refuse_without_engine(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
    let index = source.info.extended_paths.virtual_endpoints.iter().position(|entry| !entry.disabled).unwrap_or_default();
    let path = format!("$.version_data.versions.{}.extended_paths.virtual[{index}]", source.version_name);
    let own = &source.definition.tollgate.serve_without;
    if own.iter().chain(&source.context.settings.documents.serve_without).any(|name| name == "virtual") {
        let message = "needs \"enable_jsvm\" in the configuration: the API is served without it, as serve_without names virtual";
        source.context.warning(path, message);
    } else {
        let message = "needs \"enable_jsvm\" in the configuration; \"tollgate\": {\"serve_without\": [\"virtual\"]} serves the API without it";
        source.context.error(path, message);
    }
    None
}

/// Adds the script of an entry; `Err` is the field and the reason.
fn add_function(
    builder: &mut ProgramBuilder,
    entry: &VirtualEndpoint,
    index: usize,
    settings: &ScriptSettings,
) -> Result<Handler, (&'static str, String)> {
    let uri = |why: String| ("function_source_uri", why);
    let source = match entry.function_source_type {
        FunctionSource::File => {
            let text = read_script(Path::new(&entry.function_source_uri)).map_err(uri)?;
            builder.source(&entry.function_source_uri, text, Scope::Shared)
        }
        FunctionSource::Blob if !settings.allows_blobs => {
            return Err(("function_source_type", "is not allowed: the configuration sets disable_virtual_path_blobs".to_owned()));
        }
        FunctionSource::Blob => {
            let bytes = STANDARD.decode(&entry.function_source_uri).map_err(|error| uri(format!("is not base64: {error}")))?;
            let text = String::from_utf8(bytes).map_err(|_| uri("is not text in UTF-8".to_owned()))?;
            builder.source(&blob_name(index), text, Scope::Shared)
        }
        FunctionSource::Unset => return Err(("function_source_type", "must be file or blob".to_owned())),
    };
    builder.handler(source, &entry.response_function_name).map_err(|fault| ("response_function_name", fault.message))
}

/// The name of a script that has no file.
fn blob_name(index: usize) -> String {
    format!("virtual[{index}]")
}

/// The entry and field that a fault is about.
fn place_of(fault: ProgramFault, entries: &[VirtualEndpoint]) -> (usize, &'static str, String) {
    let is_source =
        |(index, entry): (usize, &VirtualEndpoint)| entry.function_source_uri == fault.source || blob_name(index) == fault.source;
    let index = entries.iter().enumerate().position(is_source).unwrap_or_default();
    (index, "function_source_uri", fault.message)
}

/// The request as Tyk's virtual endpoints see it.
fn request_of(exchange: &Exchange<'_>) -> VirtualRequest {
    let params = exchange.form().into_iter().chain(exchange.query()).flat_map(pairs);
    VirtualRequest {
        headers: plugin_headers(exchange),
        body: String::from_utf8_lossy(exchange.body()).into_owned(),
        url: exchange.uri(),
        params: params.map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        scheme: if exchange.arrival.tls.is_some() { "https" } else { "http" },
    }
}

/// Sends the request on to an API, as a rewrite does.
fn redirect(exchange: &mut Exchange<'_>, target: &str) -> Result<Step, String> {
    let parts = split_url(target).ok_or_else(|| format!("{target:?} names no API"))?;
    let is_sendable = target.bytes().all(|byte| byte > 0x20 && byte != 0x7f);
    let rooted = if parts.path.starts_with('/') { parts.path.to_owned() } else { format!("/{}", parts.path) };
    let path = UrlPath::new(rooted.into()).filter(|_| is_sendable).ok_or_else(|| format!("{target:?} has no valid path"))?;
    exchange.decisions.redirected = Some(Redirect::Loop(parts.authority.to_owned()));
    let listen_path = exchange.url.path.decoded.get(..exchange.url.listen_bytes).unwrap_or_default();
    if !path.decoded.starts_with(listen_path) {
        exchange.url.listen_bytes = 0;
    }
    exchange.url.path = path;
    exchange.url.query = Some(parts.query).filter(|query| !query.is_empty()).map(|query| query.to_owned().into());
    Ok(Step::Next)
}

/// Checks what becomes a head; returns the status code.
fn check(answer: &VirtualAnswer) -> Result<u16, String> {
    let status = u16::try_from(answer.code).ok().filter(|code| (200..=999).contains(code));
    let status = status.ok_or_else(|| format!("{} is no status code of a response", answer.code))?;
    let mut bytes = 0;
    for (name, value) in &answer.headers {
        if !is_token(name.as_bytes()) || !is_value(value.as_bytes()) {
            return Err(format!("{name:?} is no header, or its value is none"));
        }
        bytes += name.len() + value.len();
    }
    if bytes > HEADER_BYTES_MAX { Err(format!("the headers have more than {HEADER_BYTES_MAX} bytes")) } else { Ok(status) }
}

impl Middleware for VirtualEndpoints {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(function) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        if let Err(step) = exchange.read_body() {
            return step;
        }
        let (work, answer) = Awaited::new(self.ask(function, exchange));
        let until = HoldUntil::Done(work, self.script.limits().time_max + GRACE);
        Step::hold(self, until, |this: &Self, exchange| {
            let Some(function) = this.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
            match answer.take() {
                Some(Ok(answer)) => {
                    this.keep_meta_data(function, exchange, &answer);
                    Self::answer(exchange, &answer).unwrap_or_else(|why| this.fail(function, exchange, &why))
                }
                Some(Err(fault)) => this.fail(function, exchange, &fault.to_string()),
                None => this.fail(function, exchange, "the script did not answer in time"),
            }
        })
    }
}
