//! YAML 1.2 with its core schema (section 10.3 of the specification), as all files and documents are read: `no`, `on`, `y`, `0b1` and `1_000` are
//! texts, `012` is twelve. Merge keys (`<<`) act, which people have kept from YAML 1.1. What JSON can't say, `.inf` and `.nan`, is an error.

mod numbers;

use crate::byte_order_mark;

use serde_json::Value;

/// Maximum nesting: the parser needs four to eight KiB of stack for each level, as the compiler has it.
const DEPTH_MAX: usize = 256;
/// Stack of the thread that reads. The caller's may have two MiB.
const STACK_BYTES: usize = 8 << 20;
/// Maximum names, values, starts and ends: a document of 13 MB has a million.
const PARTS_MAX: usize = 10_000_000;

/// The value of a text.
///
/// # Errors
/// It is no YAML, or more than what is read.
pub fn read(text: &str) -> Result<Value, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("yaml".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, || parse(text)).map_err(|error| format!("not read: {error}"))?;
        thread.join().unwrap_or_else(|_| Err("not valid YAML".to_owned()))
    })
}

fn parse(text: &str) -> Result<Value, String> {
    let text = numbers::as_core_schema(byte_order_mark::without_in(text));
    let limits = serde_saphyr::options! {
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        budget: serde_saphyr::budget! {
            max_depth: DEPTH_MAX,
            flow_nesting_limit: DEPTH_MAX,
            max_events: PARTS_MAX,
            max_nodes: PARTS_MAX,
        },
    };
    serde_saphyr::from_str_with_options(&text, limits).map_err(|error| format!("not valid YAML: {error}"))
}

#[cfg(test)]
mod tests;
