//! What must hold for any bytes that are given as a document. Each function panics when it does not.

use serde_json::Value;
use tollgate_model::Problem;
use tollgate_model::api::ApiDefinition;
use tollgate_model::key::{self, KeyFunction};
use tollgate_model::session::Session;

/// A definition is either usable, with lesser problems, or not, with the errors that make it so; and says the same each time.
pub(crate) fn api_definition(bytes: &[u8]) {
    let problems = match ApiDefinition::parse(bytes, None) {
        Ok((definition, problems)) => {
            assert!(!problems.iter().any(Problem::is_error), "used in spite of an error: {problems:?}");
            // Everything that is derived from the document on demand.
            let _ = (definition.auth_token(), definition.cors(), definition.rate_limit(), definition.host());
            let _ = (definition.ip_allow_list(), definition.ip_block_list(), definition.unsupported_auth());
            problems
        }
        Err(problems) => {
            assert!(problems.iter().any(Problem::is_error), "refused without an error: {problems:?}");
            problems
        }
    };
    for problem in &problems {
        assert!(problem.path.is_empty() || problem.path.starts_with('$'), "a path that is none: {problem}");
        assert!(!problem.message.is_empty() && problem.file.is_none());
    }
    let again = match ApiDefinition::parse(bytes, None) {
        Ok((_, problems)) | Err(problems) => problems,
    };
    assert_eq!(problems, again);
}

/// A document whose numbers are rounded: the last digit of a fraction may change on its way through text.
fn roughly(document: Value) -> Value {
    match document {
        Value::Number(number) => format!("{:.9e}", number.as_f64().unwrap_or_default()).into(),
        Value::Array(items) => items.into_iter().map(roughly).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, roughly(value))).collect(),
        other => other,
    }
}

/// A session, as the control API is sent it and as a store that gateways share holds it: usable or not, and the same when it is written and
/// read again.
pub(crate) fn session(bytes: &[u8]) {
    match Session::parse(bytes) {
        Ok((session, problems)) => {
            assert!(!problems.iter().any(Problem::is_error), "used in spite of an error: {problems:?}");
            let _ = (session.policy_ids(), session.limit());
            let written = session.to_json().to_string();
            let (again, _) = Session::parse(written.as_bytes()).unwrap_or_else(|problems| panic!("{written}: {problems:?}"));
            assert_eq!(roughly(again.to_json()), roughly(session.to_json()), "{written}");
        }
        Err(problems) => assert!(problems.iter().any(Problem::is_error), "refused without an error: {problems:?}"),
    }
}

/// What a client presents as its key: it says the same of itself each time, and what is made of an organisation and a name says both.
pub(crate) fn key(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let functions = [KeyFunction::Murmur64, KeyFunction::Plain, KeyFunction::Sha256];
    let (org, id) = text.split_once('\n').unwrap_or(("org", text));
    assert!(key::org_of(text).is_none_or(|org| org.len() <= text.len()));
    let _ = (key::id_of(text), key::function_of(text), key::digest(text));
    let hash = key::hash(text, KeyFunction::Murmur64);
    assert!([8, 16, 32, 64].contains(&hash.len()) && hash.bytes().all(|digit| digit.is_ascii_hexdigit()), "{hash}");
    let candidates = key::candidates(text, org, &functions);
    assert!(candidates.iter().any(|candidate| candidate == text), "{text:?} does not stand for itself");
    assert!((1..=functions.len() + 1).contains(&candidates.len()));
    for function in [KeyFunction::Murmur32, KeyFunction::Murmur64, KeyFunction::Murmur128, KeyFunction::Sha256] {
        let made = key::custom(org, id, function);
        assert_eq!(key::org_of(&made).as_deref(), Some(org));
        assert_eq!(key::id_of(&made).as_deref(), Some(id.strip_prefix(org).unwrap_or(id)));
        assert_eq!(key::function_of(&made), Some(function));
        assert_eq!(key::hash(&made, KeyFunction::Plain), function.hash(&made));
    }
}
