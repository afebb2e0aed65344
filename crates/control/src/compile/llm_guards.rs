//! Compiles what requests to language models and their answers are checked for: `tollgate.llm.guards`.

use std::time::Duration;
use tollgate_data::middleware::Context;
use tollgate_data::template::{ValueTemplate, VariableScope};
use tollgate_llm_gateway::{BuiltIn, GuardCheck, GuardPattern, GuardTerms, ModerationForm, ModerationTerms};
use tollgate_model::api::{GuardKind, LlmGuard, ModerationApi, OnGuardFailure};

/// How long somebody else's word may take, if nothing is said.
const SECONDS: f64 = 5.0;

/// The guards; problems of patterns are told.
pub(super) fn guard_terms(guards: &[LlmGuard], context: &mut Context<'_>) -> Vec<GuardTerms> {
    let made = guards.iter().enumerate().filter_map(|(index, guard)| {
        let check =
            check_of(guard, context).map_err(|(field, why)| context.error(format!("$.tollgate.llm.guards[{index}].{field}"), why));
        let LlmGuard { name, on, action, dry_run, .. } = guard;
        Some(GuardTerms { name: name.clone(), on: *on, action: *action, dry_run: *dry_run, check: check.ok()? })
    });
    made.collect()
}

/// The gateway's key at whom a guard asks.
pub(super) fn guard_key(guard: &GuardTerms) -> Option<String> {
    match &guard.check {
        GuardCheck::Moderation(terms) => Some(terms.key.clone()),
        _ => None,
    }
}

fn check_of(guard: &LlmGuard, context: &Context<'_>) -> Result<GuardCheck, (String, String)> {
    Ok(match guard.kind {
        GuardKind::Deny => GuardCheck::Patterns(own_patterns(guard)?),
        GuardKind::Allow => GuardCheck::Without(own_patterns(guard)?),
        GuardKind::Secrets => GuardCheck::Patterns(built_in(&BuiltIn::SECRETS, &guard.only)?),
        GuardKind::PersonalData => GuardCheck::Patterns(built_in(&BuiltIn::PERSONAL_DATA, &guard.only)?),
        GuardKind::Size => GuardCheck::Size {
            bytes_max: Some(guard.bytes_max).filter(|bytes| *bytes > 0),
            tokens_max: Some(guard.tokens_max).filter(|tokens| *tokens > 0),
        },
        GuardKind::Schema => GuardCheck::Schema,
        GuardKind::Moderation => {
            let scope = VariableScope { context: false, secrets: &context.settings.documents.secrets };
            GuardCheck::Moderation(ModerationTerms {
                url: guard.url.clone(),
                form: match guard.api {
                    ModerationApi::Webhook => ModerationForm::Webhook,
                    ModerationApi::OpenAi => ModerationForm::OpenAi,
                },
                key: ValueTemplate::new(&guard.key, scope).literal().unwrap_or_default().to_owned(),
                model: guard.model.clone(),
                time_max: Duration::from_secs_f64(if guard.timeout_s > 0.0 { guard.timeout_s } else { SECONDS }),
                refuses_on_failure: guard.on_failure == OnGuardFailure::Refuse,
            })
        }
    })
}

fn own_patterns(guard: &LlmGuard) -> Result<Vec<GuardPattern>, (String, String)> {
    let compiled = guard.patterns.iter().enumerate();
    compiled
        .map(|(index, written)| GuardPattern::compile(&guard.name, written).map_err(|why| (format!("patterns[{index}]"), why)))
        .collect()
}

/// Those that are named, or all.
fn built_in(all: &[BuiltIn], only: &[String]) -> Result<Vec<GuardPattern>, (String, String)> {
    if let Some((index, unknown)) = only.iter().enumerate().find(|(_, name)| all.iter().all(|kind| kind.name != name.as_str())) {
        let known = all.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        return Err((format!("only[{index}]"), format!("is none of {known}: {unknown:?}")));
    }
    let chosen = all.iter().filter(|kind| only.is_empty() || only.iter().any(|name| name == kind.name));
    chosen.map(|kind| kind.pattern().map_err(|why| ("kind".to_owned(), why))).collect()
}
