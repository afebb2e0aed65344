//! The functions of the proxy-wasm interface (ABI 0.2.0 and 0.2.1) that a module can call. Those that are not here answer `Unimplemented`.

use crate::abi_status::{AbiFault, AbiStatus};
use crate::guest_memory::{give, parts, piece, text, unsigned, write, write_u32};
use crate::header_changes::{self, written};
use crate::host::Host;
use crate::property;
use crate::wasm_call::{ChangeFault, HeaderList, LineChange, LocalReply, WasmCall};
use std::time::{SystemTime, UNIX_EPOCH};
use wasmtime::{Caller, Error, Linker};

/// The module whose functions these are.
pub(crate) const ABI_MODULE: &str = "env";

/// The buffers of the interface that hooks have.
const REQUEST_BODY: i32 = 0;
const RESPONSE_BODY: i32 = 1;
const VM_CONFIGURATION: i32 = 6;
const PLUGIN_CONFIGURATION: i32 = 7;

type AbiOutcome = Result<(), AbiFault>;

/// The status that a module gets; `Err` ends its call.
fn status(outcome: AbiOutcome) -> Result<i32, Error> {
    match outcome {
        Ok(()) => Ok(AbiStatus::Ok as i32),
        Err(AbiFault::Status(status)) => Ok(status as i32),
        Err(AbiFault::Trap(error)) => Err(error),
    }
}

impl From<ChangeFault> for AbiFault {
    fn from(fault: ChangeFault) -> Self {
        match fault {
            ChangeFault::Invalid => AbiFault::Status(AbiStatus::BadArgument),
            ChangeFault::TooMuch(why) => AbiFault::Trap(Error::msg(why)),
        }
    }
}

/// Adds all functions.
pub(crate) fn add_to(linker: &mut Linker<Host>) -> Result<(), Error> {
    add_basics(linker)?;
    add_headers(linker)?;
    add_buffers(linker)?;
    add_stream(linker)?;
    add_properties(linker)
}

fn add_basics(linker: &mut Linker<Host>) -> Result<(), Error> {
    linker.func_wrap(ABI_MODULE, "proxy_log", |mut caller: Caller<'_, Host>, level: i32, at: i32, bytes: i32| {
        status(log(&mut caller, level, at, bytes))
    })?;
    linker.func_wrap(ABI_MODULE, "proxy_get_log_level", |mut caller: Caller<'_, Host>, at: i32| {
        status(write_u32(&mut caller, at, log_level()))
    })?;
    linker.func_wrap(ABI_MODULE, "proxy_get_current_time_nanoseconds", |mut caller: Caller<'_, Host>, at: i32| {
        status(write(&mut caller, at, &unix_ns().to_le_bytes()))
    })?;
    // An instance has one call at a time, so its context is in effect.
    linker.func_wrap(ABI_MODULE, "proxy_set_effective_context", |_: i32| AbiStatus::Ok as i32)?;
    linker.func_wrap(ABI_MODULE, "proxy_done", || AbiStatus::Ok as i32)?;
    Ok(())
}

fn log(caller: &mut Caller<'_, Host>, level: i32, at: i32, bytes: i32) -> AbiOutcome {
    let (memory, host) = parts(caller)?;
    host.log.add(level, piece(memory, at, bytes)?);
    Ok(())
}

/// The lowest level that the gateway logs.
fn log_level() -> u32 {
    use tracing::Level;
    let levels = [
        tracing::enabled!(Level::TRACE),
        tracing::enabled!(Level::DEBUG),
        tracing::enabled!(Level::INFO),
        tracing::enabled!(Level::WARN),
    ];
    levels.iter().position(|is_enabled| *is_enabled).map_or(4, |level| level as u32)
}

/// Nanoseconds since 1970.
pub(crate) fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// The call of an instance. While it starts there is none.
fn call(host: &mut Host) -> Result<&mut WasmCall, AbiFault> {
    Ok(host.call.as_mut().ok_or(AbiStatus::BadArgument)?)
}

fn add_headers(linker: &mut Linker<Host>) -> Result<(), Error> {
    linker.func_wrap(
        ABI_MODULE,
        "proxy_get_header_map_value",
        |mut caller: Caller<'_, Host>, map: i32, at: i32, bytes: i32, to: i32, size_to: i32| {
            status(get_header(&mut caller, map, (at, bytes), (to, size_to)))
        },
    )?;
    linker.func_wrap(
        ABI_MODULE,
        "proxy_get_header_map_pairs",
        |mut caller: Caller<'_, Host>, map: i32, to: i32, size_to: i32| status(get_headers(&mut caller, map, (to, size_to))),
    )?;
    linker.func_wrap(ABI_MODULE, "proxy_get_header_map_size", |mut caller: Caller<'_, Host>, map: i32, to: i32| {
        status(get_headers_size(&mut caller, map, to))
    })?;
    linker.func_wrap(ABI_MODULE, "proxy_set_header_map_pairs", |mut caller: Caller<'_, Host>, map: i32, at: i32, bytes: i32| {
        status(set_headers(&mut caller, map, (at, bytes)))
    })?;
    linker.func_wrap(
        ABI_MODULE,
        "proxy_replace_header_map_value",
        |mut caller: Caller<'_, Host>, map: i32, at: i32, bytes: i32, value: i32, value_bytes: i32| {
            status(set_header(&mut caller, map, (at, bytes), (value, value_bytes), |name, value| LineChange::Set(name, value)))
        },
    )?;
    linker.func_wrap(
        ABI_MODULE,
        "proxy_add_header_map_value",
        |mut caller: Caller<'_, Host>, map: i32, at: i32, bytes: i32, value: i32, value_bytes: i32| {
            status(set_header(&mut caller, map, (at, bytes), (value, value_bytes), |name, value| LineChange::Add(name, value)))
        },
    )?;
    linker.func_wrap(
        ABI_MODULE,
        "proxy_remove_header_map_value",
        |mut caller: Caller<'_, Host>, map: i32, at: i32, bytes: i32| status(remove_header(&mut caller, map, (at, bytes))),
    )?;
    Ok(())
}

/// An address and a size, or where these are to be written.
type GuestRange = (i32, i32);

fn get_header(caller: &mut Caller<'_, Host>, map: i32, name: GuestRange, to: GuestRange) -> AbiOutcome {
    let (memory, host) = parts(caller)?;
    let name = text(memory, name.0, name.1)?;
    let list = HeaderList::of(map).ok_or(AbiStatus::NotFound)?;
    let value = call(host)?.header(list, name).ok_or(AbiStatus::NotFound)?;
    give(caller, value.as_bytes(), to.0, to.1)
}

fn get_headers(caller: &mut Caller<'_, Host>, map: i32, to: GuestRange) -> AbiOutcome {
    let bytes = headers(caller, map)?;
    give(caller, &bytes, to.0, to.1)
}

fn get_headers_size(caller: &mut Caller<'_, Host>, map: i32, to: i32) -> AbiOutcome {
    let size = headers(caller, map)?.len();
    write_u32(caller, to, u32::try_from(size).unwrap_or(u32::MAX))
}

/// A list of headers as the interface writes it; other lists than a hook has are empty.
fn headers(caller: &mut Caller<'_, Host>, map: i32) -> Result<Vec<u8>, AbiFault> {
    let call = call(caller.data_mut())?;
    let Some(list) = HeaderList::of(map) else { return Ok(Vec::new()) };
    let pseudo = call.pseudo_headers(list);
    let pseudo = pseudo.iter().map(|(name, value)| (*name, value.as_str()));
    let lines: Vec<_> = pseudo.chain(call.changes(list).current(call.lines(list))).collect();
    Ok(written(lines.iter().copied()))
}

fn set_headers(caller: &mut Caller<'_, Host>, map: i32, lines: GuestRange) -> AbiOutcome {
    let (memory, host) = parts(caller)?;
    let lines = header_changes::read(piece(memory, lines.0, lines.1)?).ok_or(AbiStatus::BadArgument)?;
    let list = HeaderList::of(map).ok_or(AbiStatus::BadArgument)?;
    let call = call(host)?;
    call.change(list, LineChange::RemoveAll)?;
    for (name, value) in &lines {
        call.change(list, LineChange::Add(name, value))?;
    }
    Ok(())
}

fn set_header(
    caller: &mut Caller<'_, Host>,
    map: i32,
    name: GuestRange,
    value: GuestRange,
    change: for<'a> fn(&'a str, &'a str) -> LineChange<'a>,
) -> AbiOutcome {
    let (memory, host) = parts(caller)?;
    let list = HeaderList::of(map).ok_or(AbiStatus::BadArgument)?;
    let change = change(text(memory, name.0, name.1)?, text(memory, value.0, value.1)?);
    Ok(call(host)?.change(list, change)?)
}

fn remove_header(caller: &mut Caller<'_, Host>, map: i32, name: GuestRange) -> AbiOutcome {
    let (memory, host) = parts(caller)?;
    let list = HeaderList::of(map).ok_or(AbiStatus::BadArgument)?;
    Ok(call(host)?.change(list, LineChange::Remove(text(memory, name.0, name.1)?))?)
}

fn add_buffers(linker: &mut Linker<Host>) -> Result<(), Error> {
    linker.func_wrap(
        ABI_MODULE,
        "proxy_get_buffer_bytes",
        |mut caller: Caller<'_, Host>, buffer: i32, start: i32, bytes: i32, to: i32, size_to: i32| {
            status(get_buffer(&mut caller, buffer, (start, bytes), (to, size_to)))
        },
    )?;
    linker.func_wrap(
        ABI_MODULE,
        "proxy_get_buffer_status",
        |mut caller: Caller<'_, Host>, buffer: i32, to: i32, flags_to: i32| {
            status(get_buffer_status(&mut caller, buffer, (to, flags_to)))
        },
    )?;
    linker.func_wrap(
        ABI_MODULE,
        "proxy_set_buffer_bytes",
        |mut caller: Caller<'_, Host>, buffer: i32, start: i32, bytes: i32, at: i32, size: i32| {
            status(set_buffer(&mut caller, buffer, (start, bytes), (at, size)))
        },
    )?;
    Ok(())
}

fn buffer(host: &Host, buffer: i32) -> Option<&[u8]> {
    let call = host.call.as_ref();
    match buffer {
        VM_CONFIGURATION => Some(&[]),
        PLUGIN_CONFIGURATION => Some(&host.facts.configuration),
        REQUEST_BODY if call?.own_list() == HeaderList::Response => Some(&call?.call.request.body),
        REQUEST_BODY => Some(call?.own_body()),
        RESPONSE_BODY if call?.own_list() == HeaderList::Response => Some(call?.own_body()),
        _ => None,
    }
}

fn get_buffer(caller: &mut Caller<'_, Host>, number: i32, (start, bytes): GuestRange, to: GuestRange) -> AbiOutcome {
    let buffer = buffer(caller.data(), number).ok_or(AbiStatus::NotFound)?;
    let start = unsigned(start);
    let end = start.checked_add(unsigned(bytes)).ok_or(AbiStatus::BadArgument)?.min(buffer.len());
    let piece = buffer.get(start..end).ok_or(AbiStatus::BadArgument)?.to_vec();
    give(caller, &piece, to.0, to.1)
}

fn get_buffer_status(caller: &mut Caller<'_, Host>, number: i32, to: GuestRange) -> AbiOutcome {
    let size = buffer(caller.data(), number).ok_or(AbiStatus::NotFound)?.len();
    write_u32(caller, to.0, u32::try_from(size).unwrap_or(u32::MAX))?;
    write_u32(caller, to.1, 0)
}

fn set_buffer(caller: &mut Caller<'_, Host>, number: i32, (start, bytes): GuestRange, new: GuestRange) -> AbiOutcome {
    let (memory, host) = parts(caller)?;
    let new = piece(memory, new.0, new.1)?;
    let call = call(host)?;
    let own = if call.own_list() == HeaderList::Response { RESPONSE_BODY } else { REQUEST_BODY };
    if number != own {
        return Err(AbiStatus::BadArgument.into());
    }
    Ok(call.splice_body(unsigned(start), unsigned(bytes), new)?)
}

fn add_stream(linker: &mut Linker<Host>) -> Result<(), Error> {
    linker.func_wrap(
        ABI_MODULE,
        "proxy_send_local_response",
        // The details of the status and the status of gRPC have no place in a response of HTTP/1.1.
        |mut caller: Caller<'_, Host>, code: i32, _: i32, _: i32, at: i32, bytes: i32, headers: i32, headers_bytes: i32, _: i32| {
            status(send_local_response(&mut caller, code, (at, bytes), (headers, headers_bytes)))
        },
    )?;
    linker.func_wrap(ABI_MODULE, "proxy_continue_stream", |mut caller: Caller<'_, Host>, _: i32| {
        if let Some(call) = &mut caller.data_mut().call {
            call.is_continued = true;
        }
        AbiStatus::Ok as i32
    })?;
    linker.func_wrap(ABI_MODULE, "proxy_close_stream", |_: i32| -> Result<i32, Error> {
        Err(Error::msg("the plugin closed the stream"))
    })?;
    Ok(())
}

fn send_local_response(caller: &mut Caller<'_, Host>, code: i32, body: GuestRange, headers: GuestRange) -> AbiOutcome {
    let (memory, host) = parts(caller)?;
    let headers = header_changes::read(piece(memory, headers.0, headers.1)?).ok_or(AbiStatus::BadArgument)?;
    let body = piece(memory, body.0, body.1)?.to_vec();
    let call = call(host)?;
    call.reply = Some(LocalReply { status: i64::from(code), body, headers });
    Ok(())
}

fn add_properties(linker: &mut Linker<Host>) -> Result<(), Error> {
    linker.func_wrap(
        ABI_MODULE,
        "proxy_get_property",
        |mut caller: Caller<'_, Host>, at: i32, bytes: i32, to: i32, size_to: i32| {
            status(get_property(&mut caller, (at, bytes), (to, size_to)))
        },
    )?;
    linker.func_wrap(
        ABI_MODULE,
        "proxy_set_property",
        |mut caller: Caller<'_, Host>, at: i32, bytes: i32, value: i32, value_bytes: i32| {
            status(set_property(&mut caller, (at, bytes), (value, value_bytes)))
        },
    )?;
    Ok(())
}

fn get_property(caller: &mut Caller<'_, Host>, path: GuestRange, to: GuestRange) -> AbiOutcome {
    let (memory, host) = parts(caller)?;
    let path: Vec<&str> = text(memory, path.0, path.1)?.split('\0').collect();
    let value = property::get(&path, &host.facts, host.call.as_ref()).ok_or(AbiStatus::NotFound)?;
    give(caller, &value, to.0, to.1)
}

fn set_property(caller: &mut Caller<'_, Host>, path: GuestRange, value: GuestRange) -> AbiOutcome {
    let (memory, host) = parts(caller)?;
    let path: Vec<&str> = text(memory, path.0, path.1)?.split('\0').collect();
    let value = piece(memory, value.0, value.1)?;
    Ok(property::set(&path, value, call(host)?)?)
}
