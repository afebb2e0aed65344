//! What must hold for any bytes that are given as a document. Each function panics when it does not.

use serde_json::Value;
use tollgate_model::Problem;
use tollgate_model::api::ApiDefinition;
use tollgate_model::session::Session;

/// A definition is either usable, with lesser problems, or not, with the errors that make it so; and says the same each time.
pub fn api_definition(bytes: &[u8]) {
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
pub fn session(bytes: &[u8]) {
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
