//! The functions of WASI (preview 1) that programs for the interface need although they do nothing with them: output is the log, there are
//! a clock and random numbers, and no environment, arguments or files. All others answer that they are not there.

use crate::abi::unix_ns;
use crate::abi_status::AbiFault;
use crate::guest_memory::{parts, piece, unsigned, write, write_u32};
use crate::host::Host;
use crate::plugin_log::{LEVEL_ERROR, LEVEL_INFO};
use wasmtime::{Caller, Error, Linker};

/// The names of the module whose functions these are.
pub(crate) const WASI_MODULES: [&str; 2] = ["wasi_snapshot_preview1", "wasi_unstable"];

const SUCCESS: i32 = 0;
const BAD_DESCRIPTOR: i32 = 8;
const BAD_ADDRESS: i32 = 21;
const INVALID: i32 = 28;
/// What functions answer that are not there.
pub(crate) const NOT_SUPPORTED: i32 = 52;

/// Sizes of what `poll_oneoff` reads and writes, and the kind of a subscription to a clock.
const SUBSCRIPTION_BYTES: i32 = 48;
const EVENT_BYTES: i32 = 32;
const CLOCK: u8 = 0;

/// Most pieces of one output, and most subscriptions.
const PIECES_MAX: i32 = 1_024;
/// Most random bytes of one call: WASI's own callers want some dozen.
const RANDOM_BYTES_MAX: usize = 64 << 10;

/// A program that ended itself.
#[derive(Debug)]
pub(crate) struct Exited(pub i32);

impl std::fmt::Display for Exited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the plugin exited with {}", self.0)
    }
}

impl std::error::Error for Exited {}

/// Adds the functions.
pub(crate) fn add_to(linker: &mut Linker<Host>) -> Result<(), Error> {
    for module in WASI_MODULES {
        for name in ["args_sizes_get", "environ_sizes_get"] {
            linker.func_wrap(module, name, |mut caller: Caller<'_, Host>, count: i32, bytes: i32| {
                errno(write_u32(&mut caller, count, 0).and_then(|()| write_u32(&mut caller, bytes, 0)))
            })?;
        }
        for name in ["args_get", "environ_get"] {
            linker.func_wrap(module, name, |_: i32, _: i32| SUCCESS)?;
        }
        linker.func_wrap(module, "clock_time_get", |mut caller: Caller<'_, Host>, _: i32, _: i64, to: i32| {
            errno(write(&mut caller, to, &unix_ns().to_le_bytes()))
        })?;
        linker.func_wrap(module, "clock_res_get", |mut caller: Caller<'_, Host>, _: i32, to: i32| {
            errno(write(&mut caller, to, &1_000u64.to_le_bytes()))
        })?;
        linker
            .func_wrap(module, "random_get", |mut caller: Caller<'_, Host>, at: i32, bytes: i32| random(&mut caller, at, bytes))?;
        linker.func_wrap(module, "fd_write", |mut caller: Caller<'_, Host>, file: i32, pieces: i32, count: i32, to: i32| {
            if !matches!(file, 1 | 2) {
                return Ok(BAD_DESCRIPTOR);
            }
            errno(output(&mut caller, file, (pieces, count), to))
        })?;
        linker.func_wrap(
            module,
            "poll_oneoff",
            |mut caller: Caller<'_, Host>, subscriptions: i32, events: i32, count: i32, to: i32| {
                errno(poll(&mut caller, subscriptions, events, count, to))
            },
        )?;
        linker.func_wrap(module, "fd_prestat_get", |_: i32, _: i32| BAD_DESCRIPTOR)?;
        linker.func_wrap(module, "sched_yield", || SUCCESS)?;
        linker.func_wrap(module, "proc_exit", |code: i32| -> Result<(), Error> { Err(Error::new(Exited(code))) })?;
    }
    Ok(())
}

fn errno(outcome: Result<(), AbiFault>) -> Result<i32, Error> {
    match outcome {
        Ok(()) => Ok(SUCCESS),
        Err(AbiFault::Status(_)) => Ok(BAD_ADDRESS),
        Err(AbiFault::Trap(error)) => Err(error),
    }
}

fn random(caller: &mut Caller<'_, Host>, at: i32, bytes: i32) -> Result<i32, Error> {
    if unsigned(bytes) > RANDOM_BYTES_MAX {
        return Ok(INVALID);
    }
    let mut random = vec![0; unsigned(bytes)];
    getrandom::fill(&mut random).map_err(|error| Error::msg(error.to_string()))?;
    errno(write(caller, at, &random))
}

/// Answers at once: a plugin must not sleep, and there is nothing else that it could wait for.
fn poll(caller: &mut Caller<'_, Host>, subscriptions: i32, events: i32, count: i32, to: i32) -> Result<(), AbiFault> {
    let count = count.clamp(0, PIECES_MAX);
    for index in 0..count {
        let (memory, _) = parts(caller)?;
        let subscription = piece(memory, subscriptions.wrapping_add(index.wrapping_mul(SUBSCRIPTION_BYTES)), 9)?;
        let mut event = [0; EVENT_BYTES as usize];
        if let (Some((data, [kind, ..])), Some((event_data, [error, _, event_kind, ..]))) =
            (subscription.split_at_checked(8), event.split_at_mut_checked(8))
        {
            event_data.copy_from_slice(data);
            *event_kind = *kind;
            *error = if *kind == CLOCK { 0 } else { NOT_SUPPORTED as u8 };
        }
        write(caller, events.wrapping_add(index.wrapping_mul(EVENT_BYTES)), &event)?;
    }
    write_u32(caller, to, count.cast_unsigned())
}

/// Output becomes lines of the log.
fn output(caller: &mut Caller<'_, Host>, file: i32, (pieces, count): (i32, i32), to: i32) -> Result<(), AbiFault> {
    let (memory, host) = parts(caller)?;
    let mut text = Vec::new();
    let mut all = 0u32;
    for index in 0..count.clamp(0, PIECES_MAX) {
        let place = piece(memory, pieces.wrapping_add(index.wrapping_mul(8)), 8)?;
        let [a, b, c, d, e, f, g, h] = *place else { continue };
        let (at, bytes) = (i32::from_le_bytes([a, b, c, d]), i32::from_le_bytes([e, f, g, h]));
        let part = piece(memory, at, bytes)?;
        all = all.saturating_add(bytes.cast_unsigned());
        // More than may be logged is not copied.
        if text.len() < crate::limits::LOG_BYTES_MAX {
            text.extend_from_slice(part.get(..crate::limits::LOG_BYTES_MAX).unwrap_or(part));
        }
    }
    host.log.add(if file == 2 { LEVEL_ERROR } else { LEVEL_INFO }, &text);
    write_u32(caller, to, all)
}
