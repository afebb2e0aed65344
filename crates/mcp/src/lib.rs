//! Messages of the Model Context Protocol: JSON-RPC 2.0 as an MCP gateway must read it. A message that two readers could understand in two
//! ways is refused: what is checked here is what the server executes. Nothing here does I/O or has a clock; each function's work is bounded by
//! the bytes that it gets.
#![forbid(unsafe_code)]

mod call;
mod content_type;
mod envelope;
mod error;
mod events;
mod header_value;
mod listing;
mod primitive;

pub use call::Call;
pub use content_type::{is_event_type, is_json_type};
pub use error::{CallError, RpcCode, error_body};
pub use events::{EventParts, EventReader, EventTooLarge};
pub use header_value::{decoded_header, encoded_header};
pub use listing::{Filtered, Visible, filtered, filtered_event};
pub use primitive::Primitive;
