//! Other responses in place of an upstream's errors. Reads `error_overrides` of the API and of the configuration. The client sees the status,
//! headers and body of the first rule that matches; refusals of the gateway itself get theirs where they are written.
//!
//! Rules see how a body begins, without its content coding. A body that cannot be kept because others take the memory is refused: a rule may
//! be there to hide it.

use super::{Middleware, MiddlewareSource};
use crate::coding::open_beginning;
use crate::error_body::{ErrorAudience, ErrorForm, xml_type};
use crate::error_overrides::{BODY_BYTES_MAX, CompiledOverrides, FoundRule, MadeBody, OverrideRule};
use crate::error_templates::ErrorTemplates;
use crate::exchange::{Exchange, Step};
use crate::refusal;
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use std::sync::Arc;
use tollgate_engine::KeptBody;

/// The status from which on a response is an error.
const ERROR_STATUS_MIN: u16 = 400;

/// Files of this status are none: an upstream's error gets the body for all statuses.
const ANY_STATUS: u16 = 0;

pub(super) struct OverrideErrors {
    templates: ErrorTemplates,
    problem_details: bool,
}

/// The rules for one response.
struct OverrideStep {
    rules: Arc<CompiledOverrides>,
    templates: ErrorTemplates,
    problem_details: bool,
    xml_type: Option<Box<str>>,
    is_head: bool,
}

impl OverrideErrors {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let (definition, settings) = (source.definition, source.context.settings);
        let has_own = !definition.error_overrides_disabled && !definition.error_overrides.is_empty();
        (has_own || !settings.answers.error_overrides.is_empty()).then(|| {
            let templates = settings.answers.error_templates.clone();
            Box::new(OverrideErrors { templates, problem_details: settings.answers.problem_details }) as Box<dyn Middleware>
        })
    }
}

impl Middleware for OverrideErrors {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if let Some(rules) = &exchange.api.error_overrides {
            exchange.response.chain.push(OverrideStep {
                rules: rules.clone(),
                templates: self.templates.clone(),
                problem_details: self.problem_details,
                xml_type: xml_type(exchange.received()),
                is_head: exchange.is_head(),
            });
        }
        Step::Next
    }
}

impl ResponseStep for OverrideStep {
    fn is_for_upstreams(&self) -> bool {
        true
    }

    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        if head.status() < ERROR_STATUS_MIN {
            return ResponseAction::Pass;
        }
        // There is no body to wait for.
        let body = self.is_head.then_some(&b""[..]);
        match self.rules.for_response(head.status(), body) {
            FoundRule::None => ResponseAction::Pass,
            FoundRule::Rule(rule) => self.apply(rule, head),
            FoundRule::NeedsBody => ResponseAction::Keep(BODY_BYTES_MAX),
        }
    }

    fn on_body(&mut self, head: &mut ResponseHead<'_>, body: KeptBody<'_>) -> ResponseAction {
        let (KeptBody::Whole(body) | KeptBody::Part(body)) = body else { return ResponseAction::Refuse(refusal::BODIES_FULL) };
        let body = body.get(..BODY_BYTES_MAX).unwrap_or(body);
        let opened = head.header("Content-Encoding").map(|codings| open_beginning(codings, body, BODY_BYTES_MAX));
        match self.rules.for_response(head.status(), Some(opened.as_deref().unwrap_or(body))) {
            FoundRule::Rule(rule) => self.apply(rule, head),
            FoundRule::None | FoundRule::NeedsBody => ResponseAction::Pass,
        }
    }
}

impl OverrideStep {
    fn apply(&self, rule: &OverrideRule, head: &mut ResponseHead<'_>) -> ResponseAction {
        let status = rule.status(head.status());
        let form = ErrorForm::new(ErrorAudience::new(self.xml_type.as_deref(), None), self.problem_details);
        let made = match rule.body(form, status, "") {
            MadeBody::Kept => None,
            MadeBody::Made(content_type, body) => Some((content_type, body)),
            MadeBody::Message(message) => {
                let mut body = Vec::new();
                form.write(&self.templates, (ANY_STATUS, status), message, false, &mut body);
                Some((form.content_type(), body))
            }
        };
        head.set_status(status);
        let has_no_body = matches!(status, 204 | 304);
        if made.is_some() || has_no_body {
            head.body_changes();
            // Nothing of the upstream's body remains that its validators could confirm.
            ["Content-Encoding", "ETag", "Last-Modified"].iter().for_each(|name| head.remove_header(name));
        }
        if let Some((content_type, _)) = &made {
            head.set_header("Content-Type", content_type.as_bytes());
        }
        head.override_error(rule.headers());
        match made {
            _ if has_no_body => ResponseAction::Rewrite(Vec::new()),
            Some((_, body)) if !self.is_head => ResponseAction::Rewrite(body),
            _ => ResponseAction::Pass,
        }
    }
}
