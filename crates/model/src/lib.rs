//! The documents of Tollgate, parsed, typed and checked. Nothing here runs.
//!
//! Every parser collects [`Problem`]s instead of stopping at the first one. This crate compiles no regular expressions, and its
//! only I/O is reading files.
#![forbid(unsafe_code)]

pub mod analytics;
pub mod api;
pub mod bounded_file;
pub mod calendar;
pub mod config;
pub mod definition_files;
pub mod distribution;
pub mod error_override;
pub mod events;
pub mod expiry;
pub mod hidden_character;
pub mod json_document;
pub mod key;
pub mod members;
pub mod network;
pub mod policy;
pub mod problem;
pub mod readable_files;
pub mod reference;
pub mod request_id;
pub mod routing;
pub mod session;
pub mod span;
pub mod zero_values;

mod decode;
mod hexadecimal;
mod json_path;
mod known_field;
mod number;
mod openapi;
mod protections;
mod schema;
mod token;
mod word_choice;

pub use hexadecimal::{hexadecimal, hexadecimal_digits};
pub use json_path::JsonPath;
pub use problem::{Level, Problem};
pub use schema::DocumentSchema;
pub use token::is_framing_header;
