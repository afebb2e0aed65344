//! `/tyk/check`: checks a document as a change of it would, and writes nothing.

use super::answer::{ControlAnswer, ok};
use super::scoping::Reach;
use super::{Control, document, examples};
use crate::definitions::DefinitionText;
use axum::body::Bytes;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use tollgate_model::policy::Policy;
use tollgate_model::session::Session;
use tollgate_model::{Level, Problem};
use utoipa::ToSchema;

/// Problems in an answer. If there are more, the author fixes these first.
const PROBLEMS_MAX: usize = 500;

/// The result of a check.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckResult {
    /// Whether the document can be used.
    ok: bool,
    /// The first 500 problems.
    #[schema(inline)]
    problems: Vec<ShownProblem>,
    errors: usize,
    warnings: usize,
    /// Fields without effect.
    ignored: usize,
}

/// One problem.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ShownProblem {
    #[schema(inline)]
    level: ProblemLevel,
    /// JSON path of the place; `$` for the whole document.
    path: String,
    message: String,
    /// Line of the place in the body, if it is not JSON; from 1 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    line: Option<usize>,
    /// Column of the place in the body, if it is not JSON; from 1 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    column: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ProblemLevel {
    Error,
    Warning,
    Note,
    Ignored,
}

/// Check an API definition
#[utoipa::path(
    post, path = "/tyk/check/api", tag = "Checks", operation_id = "checkApi",
    security(("secret" = ["viewer", "scope:reached"])),
    request_body(content = document::ApiDefinition, example = json!(examples::definition())),
    responses(
        (status = 200, body = CheckResult, description = "What is wrong with the definition. Nothing is written."),
    )
)]
pub(super) async fn api(State(control): State<Arc<Control>>, body: Bytes) -> ControlAnswer {
    checked(&body, || match DefinitionText::of(&body).compile(None, &control.shared.settings, &control.shared.registry) {
        Ok((_, problems)) | Err(problems) => problems,
    })
}

/// Check a policy
#[utoipa::path(
    post, path = "/tyk/check/policy", tag = "Checks", operation_id = "checkPolicy",
    security(("secret" = ["viewer", "scope:reached"])),
    request_body(content = document::Policy, example = json!(examples::policy())),
    responses(
        (status = 200, body = CheckResult, description = "What is wrong with the policy. Nothing is written."),
    )
)]
pub(super) async fn policy(State(control): State<Arc<Control>>, reach: Reach, body: Bytes) -> ControlAnswer {
    checked(&body, || match Policy::parse(&body, None) {
        Ok((policy, mut problems)) => {
            problems.extend(unknown_apis(&control, &reach, policy.access_rights.keys()));
            problems
        }
        Err(problems) => problems,
    })
}

/// Check the session of a key
#[utoipa::path(
    post, path = "/tyk/check/key", tag = "Checks", operation_id = "checkKey",
    security(("secret" = ["viewer", "scope:reached"])),
    request_body(content = document::Session, example = json!(examples::session())),
    responses(
        (status = 200, body = CheckResult, description = "What is wrong with the session. Nothing is written."),
    )
)]
pub(super) async fn key(State(control): State<Arc<Control>>, reach: Reach, body: Bytes) -> ControlAnswer {
    checked(&body, || match Session::parse(&body) {
        Ok((session, mut problems)) => {
            problems.extend(unknown_apis(&control, &reach, session.access_rights.keys()));
            if !reach.has_session(&session) {
                problems.push(Problem::new(Level::Error, "$", "this key reaches more than your scope"));
                return problems;
            }
            match control.shared.keys.with_policies(&session) {
                Ok(applied) if applied.access_rights.is_empty() && !control.shared.keys.rules.allow_master_keys => {
                    let message = "must name an API, or apply_policies a policy that does: keys need access to something";
                    problems.push(Problem::new(Level::Error, "$.access_rights", message));
                }
                Ok(_) => {}
                Err(problem) => problems.push(Problem::new(Level::Error, "$.apply_policies", problem.to_string())),
            }
            problems
        }
        Err(problems) => problems,
    })
}

/// Access to an API that does not exist (yet) is allowed, but rarely meant.
fn unknown_apis<'i>(control: &Control, reach: &Reach, ids: impl Iterator<Item = &'i String>) -> Vec<Problem> {
    let snapshot = control.shared.current.load();
    // Someone with a scope is not told which other APIs there are.
    let unknown = ids.filter(|id| snapshot.api(id).is_none() || !reach.has_api_id(id));
    unknown
        .map(|id| {
            Problem::new(Level::Warning, format!("$.access_rights[{}]", Value::from(id.as_str())), "there is no API with this id")
        })
        .collect()
}

fn checked(body: &[u8], check: impl FnOnce() -> Vec<Problem>) -> ControlAnswer {
    if let Err(failure) = serde_json::from_slice::<serde::de::IgnoredAny>(body) {
        let problem = ShownProblem {
            level: ProblemLevel::Error,
            path: "$".to_owned(),
            message: format!("not valid JSON: {failure}"),
            line: Some(failure.line()),
            column: Some(failure.column()),
        };
        return ok(CheckResult { ok: false, problems: vec![problem], errors: 1, warnings: 0, ignored: 0 });
    }
    let problems = check();
    let count = |level| problems.iter().filter(|problem| problem.level == level).count();
    let (errors, warnings, ignored) = (count(Level::Error), count(Level::Warning), count(Level::Ignored));
    let mut sorted: Vec<&Problem> = problems.iter().collect();
    sorted.sort_by_key(|problem| problem.level);
    let shown = |problem: &&Problem| ShownProblem {
        level: match problem.level {
            Level::Error => ProblemLevel::Error,
            Level::Warning => ProblemLevel::Warning,
            Level::Note => ProblemLevel::Note,
            Level::Ignored => ProblemLevel::Ignored,
        },
        path: if problem.path.is_empty() { "$".to_owned() } else { problem.path.clone() },
        message: problem.message.clone(),
        line: None,
        column: None,
    };
    ok(CheckResult { ok: errors == 0, problems: sorted.iter().take(PROBLEMS_MAX).map(shown).collect(), errors, warnings, ignored })
}
