//! Alternative authentication methods, of which one is enough. Reads `tollgate.auth_alternatives`: each alternative is a list of methods
//! that must all succeed, and is compiled as if the definition had only these methods. They are tried in the configured order. The session
//! is that of the first alternative that succeeds. When all fail, the client sees the refusal of the alternative that best matches its
//! credentials, else of the first; for the security requirements of an OpenAPI document it is that of the last one, as in Tyk. Changes of a
//! failed alternative to the request are undone.

use super::{Middleware, MiddlewareSource};
use crate::data::credentials::{CredentialForm, CredentialPlaces};
use crate::data::exchange::{Exchange, Step};
use crate::data::header_change::HeaderChange;
use crate::data::header_names::HeaderNames;
use crate::data::refusal::{self, Refusal};
use tollgate_http::HeaderEdits;
use tollgate_model::api::{ApiDefinition, AuthMethod};

pub(super) struct AnyAuth {
    alternatives: Vec<Alternative>,
    /// Whether the last alternative's refusal is the answer, whatever credentials the request has.
    last_answers: bool,
}

struct Alternative {
    methods: Vec<Method>,
    steps: Vec<Box<dyn Middleware>>,
}

/// Places of a method's credentials.
struct Method {
    method: AuthMethod,
    places: CredentialPlaces,
    /// Headers that another service checks.
    headers: Vec<String>,
}

/// How well a request's credentials match an alternative: the form of its worst-matching method, then of its best-matching one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fit(CredentialForm, CredentialForm);

/// How an alternative failed.
enum AlternativeFailure {
    Refusal(Refusal),
    /// Another service's own answer.
    Reply {
        status: u16,
        edits: HeaderEdits,
        body: Vec<u8>,
    },
}

impl AnyAuth {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let written = source.definition.auth_alternatives();
        let make = |methods: &Vec<AuthMethod>| Alternative {
            methods: methods.iter().map(|method| Method::new(*method, source.definition)).collect(),
            steps: source.authentication(methods),
        };
        let alternatives: Vec<_> = written.iter().map(make).collect();
        let last_answers = source.context.openapi.is_some();
        (!alternatives.is_empty()).then(|| Box::new(AnyAuth { alternatives, last_answers }) as Box<dyn Middleware>)
    }
}

impl Middleware for AnyAuth {
    fn forget_key_sets(&self) {
        self.alternatives.iter().flat_map(|alternative| &alternative.steps).for_each(|step| step.forget_key_sets());
    }

    fn header_names(&self, names: &mut HeaderNames) {
        self.alternatives.iter().flat_map(|alternative| &alternative.steps).for_each(|step| step.header_names(names));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.ignored {
            return Step::Next;
        }
        let before = exchange.outgoing.edits.clone();
        let changes_before = exchange.response_changes.len();
        let mut failures = Vec::new();
        for alternative in &self.alternatives {
            let failure = match alternative.on_request(exchange) {
                step @ (Step::Next
                | Step::Reread
                | Step::Wait(_)
                | Step::Await(..)
                | Step::Read(_)
                | Step::Respond(_)
                | Step::Revalidate(_)) => {
                    return step;
                }
                Step::Refuse(refusal) => AlternativeFailure::Refusal(refusal),
                Step::Reply => AlternativeFailure::Reply {
                    status: exchange.outgoing.status,
                    edits: std::mem::take(&mut exchange.outgoing.edits),
                    body: std::mem::take(&mut exchange.outgoing.body),
                },
            };
            exchange.forget_caller();
            exchange.outgoing.status = 0;
            exchange.outgoing.edits.clone_from(&before);
            let changes: Vec<HeaderChange> = exchange.response_changes.drain(changes_before..).collect();
            failures.push((alternative, failure, changes));
        }
        let best = match self.last_answers {
            true => failures.pop(),
            // Among equals `max_by_key` returns the last, so the order is reversed.
            false => failures.into_iter().rev().max_by_key(|(alternative, ..)| alternative.fit(exchange)),
        };
        let Some((_, failure, changes)) = best else { return Step::Refuse(refusal::AUTH_MISSING) };
        exchange.response_changes.extend(changes);
        match failure {
            AlternativeFailure::Refusal(refusal) => Step::Refuse(refusal),
            AlternativeFailure::Reply { status, edits, body } => {
                exchange.outgoing.status = status;
                exchange.outgoing.edits = edits;
                exchange.outgoing.body = body;
                Step::Reply
            }
        }
    }
}

impl Alternative {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let mut end = Step::Next;
        for step in &self.steps {
            match step.on_request(exchange) {
                Step::Next => {}
                // The other methods must accept the request too.
                Step::Reread => end = Step::Reread,
                other => return other,
            }
        }
        end
    }

    fn fit(&self, exchange: &Exchange<'_>) -> Fit {
        let forms = || self.methods.iter().map(|method| method.form(exchange));
        Fit(forms().min().unwrap_or_default(), forms().max().unwrap_or_default())
    }
}

impl Method {
    fn new(method: AuthMethod, definition: &ApiDefinition) -> Self {
        let judged = definition.tollgate.forward_auth.as_ref().filter(|_| method == AuthMethod::Forward);
        Method {
            method,
            places: CredentialPlaces::new(definition.places(method)),
            headers: judged.map(|rules| rules.request_headers.clone()).unwrap_or_default(),
        }
    }

    /// How well the request's value matches this method.
    fn form(&self, exchange: &Exchange<'_>) -> CredentialForm {
        if self.method == AuthMethod::Forward {
            let is_there = self.headers.iter().any(|name| exchange.request.headers.get(name).is_some());
            return if is_there { CredentialForm::Any } else { CredentialForm::Missing };
        }
        let has_certificate = || self.places.use_certificate() && exchange.tls.is_some_and(|tls| tls.certificate.is_some());
        match self.places.find(exchange) {
            Some(value) => CredentialForm::of(&value, self.method),
            None if self.method == AuthMethod::Token && has_certificate() => CredentialForm::Any,
            None => CredentialForm::Missing,
        }
    }
}
