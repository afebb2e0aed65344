//! The functions that scripts call: Tyk's `log`, `b64enc`, `TykMakeHttpRequest` and their like. Each turns its arguments into texts, as Tyk
//! does.

use crate::ScriptHost;
use crate::call_state::CallState;
use crate::http_call::{self, HttpBatch};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rquickjs::function::{Func, Opt};
use rquickjs::{Coerced, Ctx, Result};
use std::sync::Arc;

/// Base64 with padding; decodes with and without.
const PADDED: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent));
/// Base64 without padding.
const RAW: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// An argument as text; a missing one is `undefined`, as in Tyk.
type ScriptText = Opt<Coerced<String>>;

fn text(argument: ScriptText) -> String {
    argument.0.map_or_else(|| "undefined".to_owned(), |text| text.0)
}

/// Defines the functions as members of the global object.
pub(crate) fn define(ctx: &Ctx<'_>, host: Arc<dyn ScriptHost>, state: Arc<CallState>) -> Result<()> {
    define_log(ctx, &host, &state)?;
    define_base64(ctx)?;
    define_http(ctx, &host, &state)?;
    define_keys(ctx, &host, &state)
}

fn define_log(ctx: &Ctx<'_>, host: &Arc<dyn ScriptHost>, state: &Arc<CallState>) -> Result<()> {
    let globals = ctx.globals();
    let (own_host, own_state) = (host.clone(), state.clone());
    let log = move |line: ScriptText| {
        let line = text(line);
        if own_state.may_log(line.len()) {
            own_host.log(&line);
        }
    };
    globals.set("log", Func::from(log))?;
    let (own_host, own_state) = (host.clone(), state.clone());
    let raw_log = move |line: ScriptText| {
        let line = text(line);
        if own_state.may_log(line.len()) {
            own_host.raw_log(&line);
        }
    };
    globals.set("rawlog", Func::from(raw_log))
}

fn define_base64(ctx: &Ctx<'_>) -> Result<()> {
    let globals = ctx.globals();
    // Bytes that are not UTF-8 become replacement characters: a JavaScript text cannot hold them.
    let decoded = |engine: &GeneralPurpose, input: ScriptText| {
        engine.decode(text(input)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    globals.set("b64enc", Func::from(|input: ScriptText| PADDED.encode(text(input))))?;
    globals.set("rawb64enc", Func::from(|input: ScriptText| RAW.encode(text(input))))?;
    globals.set("b64dec", Func::from(move |input: ScriptText| decoded(&PADDED, input)))?;
    globals.set("rawb64dec", Func::from(move |input: ScriptText| decoded(&RAW, input)))
}

fn define_http(ctx: &Ctx<'_>, host: &Arc<dyn ScriptHost>, state: &Arc<CallState>) -> Result<()> {
    let globals = ctx.globals();
    let (own_host, own_state) = (host.clone(), state.clone());
    let send = move |request: ScriptText| {
        let call = match http_call::read(&text(request)) {
            Ok(call) => call,
            Err(why) => {
                own_host.log(&format!("TykMakeHttpRequest: {why}"));
                return None;
            }
        };
        let reply = own_host.send(call, own_state.time_left())?;
        Some(http_call::write_reply(&reply))
    };
    globals.set("TykMakeHttpRequest", Func::from(send))?;
    let (own_host, own_state) = (host.clone(), state.clone());
    let send_all = move |requests: ScriptText| {
        let batch = match HttpBatch::read(&text(requests)) {
            Ok(batch) => batch,
            Err(why) => {
                own_host.log(&format!("TykBatchRequest: {why}"));
                return None;
            }
        };
        let (calls, in_turn) = (batch.calls.clone(), batch.in_turn);
        let replies = own_host.send_all(calls, in_turn, own_state.time_left());
        Some(batch.write_replies(&replies))
    };
    globals.set("TykBatchRequest", Func::from(send_all))
}

fn define_keys(ctx: &Ctx<'_>, host: &Arc<dyn ScriptHost>, state: &Arc<CallState>) -> Result<()> {
    let globals = ctx.globals();
    let (own_host, own_state) = (host.clone(), state.clone());
    let get = move |key: ScriptText, api_id: ScriptText| {
        let (key, api_id) = (text(key), text(api_id));
        own_host.key(&key, &api_id, own_state.time_left())
    };
    globals.set("TykGetKeyData", Func::from(get))?;
    let (own_host, own_state) = (host.clone(), state.clone());
    let set = move |key: ScriptText, session: ScriptText, suppress_reset: ScriptText| {
        let (key, session, keep_counters) = (text(key), text(session), text(suppress_reset) == "1");
        let done = own_host.set_key(&key, &session, keep_counters, own_state.time_left());
        if let Err(why) = done {
            own_host.log(&format!("TykSetKeyData: {why}"));
        }
    };
    globals.set("TykSetKeyData", Func::from(set))
}
