//! What must hold for any filter and any document. The function panics when it does not. The fuzzer calls it, and the tests do with the same
//! corpus.

use tollgate_jq::{FilterFailure, JqFilter, JqValue};

const NOW: f64 = 1_425_599_621.0;
const BYTES_MAX: usize = 1 << 20;

/// The first line is a filter, the rest is a document. Without the interpreter, a filter makes what the interpreter makes; and whatever it makes
/// can be written and read again.
pub(crate) fn jq_filter(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (filter, document) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let Ok(filter) = std::str::from_utf8(filter) else { return };
    let (Ok(compiled), Ok(read)) = (JqFilter::compile(filter), JqValue::read(document)) else { return };
    let input = read.unwrap_or_default();
    let made = compiled.run(input.clone(), NOW);
    if let Ok(value) = &made
        && let Some(text) = value.write(BYTES_MAX)
    {
        // Values may be nested more deeply than documents.
        if let Err(error) = JqValue::read(&text).map_err(|error| error.to_string()) {
            assert!(error.starts_with("recursion limit"), "{filter:?} makes {}: {error}", String::from_utf8_lossy(&text));
        }
    }
    // A definition needs the interpreter. Comments end with their line.
    let Ok(interpreted) = JqFilter::compile(&format!("def unused: .; (\n{filter}\n)")) else { return };
    match (made, interpreted.run(input, NOW)) {
        (Ok(quick), Ok(complete)) => assert_eq!(quick.write(BYTES_MAX), complete.write(BYTES_MAX), "{filter:?}"),
        // The two count what they use in different ways.
        (Err(FilterFailure::Limit(_)), _) | (_, Err(FilterFailure::Limit(_))) => {}
        (Err(quick), Err(complete)) => assert_eq!(quick, complete, "{filter:?}"),
        (quick, complete) => {
            panic!("{filter:?}: {:?}, {:?}", quick.map(|value| value.to_string()), complete.map(|value| value.to_string()))
        }
    }
}
