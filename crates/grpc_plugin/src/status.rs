//! What gRPC puts around a message: its prefix, and the status behind it.

use percent_encoding::percent_decode;
use prost::Message;
use tollgate_http2::FieldList;
use tollgate_plugin::HookFault;

/// Length of the prefix of a message: whether it is compressed, and its length.
pub(crate) const PREFIX_BYTES: usize = 5;
/// Most characters of a server's message in the log.
const MESSAGE_CHARS_MAX: usize = 500;

/// A message with its prefix.
pub(crate) fn framed(message: &impl Message, bytes_max: usize) -> Result<Vec<u8>, HookFault> {
    let bytes = message.encoded_len();
    let announced = u32::try_from(bytes).ok().filter(|_| bytes <= bytes_max);
    let announced = announced.ok_or_else(|| HookFault::Failed(format!("the call has {bytes} bytes, more than are allowed")))?;
    let mut framed = Vec::with_capacity(PREFIX_BYTES + bytes);
    framed.push(0);
    framed.extend_from_slice(&announced.to_be_bytes());
    message.encode(&mut framed).map_err(|error| HookFault::Failed(error.to_string()))?;
    Ok(framed)
}

/// The message without its prefix. It must be exactly one and not be compressed.
pub(crate) fn whole(mut bytes: Vec<u8>) -> Result<Vec<u8>, HookFault> {
    match bytes.first_chunk::<PREFIX_BYTES>() {
        Some([0, length @ ..])
            if usize::try_from(u32::from_be_bytes(*length)).is_ok_and(|length| length == bytes.len() - PREFIX_BYTES) =>
        {
            bytes.drain(..PREFIX_BYTES);
            Ok(bytes)
        }
        _ => Err(HookFault::Failed("the answer is no gRPC message".to_owned())),
    }
}

/// The outcome of a call as its server tells it.
pub(crate) fn check_status(fields: &FieldList) -> Result<(), HookFault> {
    let field = |wanted: &str| fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value).unwrap_or_default();
    outcome(field("grpc-status"), field("grpc-message"))
}

fn outcome(status: &[u8], message: &[u8]) -> Result<(), HookFault> {
    let message = || percent_decode(message).decode_utf8_lossy().chars().take(MESSAGE_CHARS_MAX).collect::<String>();
    match status {
        b"0" => Ok(()),
        b"" => Err(HookFault::Failed("the answer has no status".to_owned())),
        b"4" => Err(HookFault::Timeout),
        b"14" => Err(HookFault::Unavailable(format!("the server of plugins: {}", message()))),
        code => {
            let code = String::from_utf8_lossy(code);
            Err(HookFault::Failed(format!("the server of plugins returned status {code}: {}", message())))
        }
    }
}

#[cfg(test)]
mod tests;
