//! What must hold for any bytes that are given as an API definition. The function panics when it does not.

use tollgate_model::Problem;
use tollgate_model::api::ApiDefinition;

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
