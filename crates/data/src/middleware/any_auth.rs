//! Alternative authentication methods, of which one is enough. Reads `tollgate.auth_alternatives`: each alternative is a list of methods
//! that must all succeed, and is compiled as if the definition had only these methods. They are tried in the configured order. The session
//! is that of the first alternative that succeeds. When all fail, the client sees the refusal of the alternative that best matches its
//! credentials, else of the first; for the security requirements of an OpenAPI document it is that of the last one, as in Tyk. Changes of a
//! failed alternative to the request are undone.

use super::{Middleware, MiddlewareSource};
use crate::credentials::{CredentialForm, CredentialPlaces};
use crate::exchange::{AuthAttempt, Continuation, Exchange, Step};
use crate::header_change::HeaderChange;
use crate::header_names::HeaderNames;
use crate::refusal::{self, Refusal};
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

/// How an alternative failed, and which changes to the response it wanted.
struct FailedAlternative {
    index: usize,
    failure: AlternativeFailure,
    changes: Vec<HeaderChange>,
}

enum AlternativeFailure {
    Refusal(Refusal),
    /// Another service's own answer.
    Reply {
        status: u16,
        edits: HeaderEdits,
        body: Vec<u8>,
    },
}

/// The alternatives that were tried, and where to go on.
struct Trial<'a> {
    before: AuthAttempt<'a>,
    failed: Vec<FailedAlternative>,
    /// The current alternative, and its current step.
    alternative: usize,
    step: usize,
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
        if exchange.decisions.ignored {
            return Step::Next;
        }
        let trial = Trial { before: exchange.attempt(), failed: Vec::new(), alternative: 0, step: 0 };
        self.go_on(trial, None, exchange)
    }
}

impl AnyAuth {
    /// Tries the alternatives that are left. `resumed` is what has become of the step that has held the request.
    fn go_on<'a>(&self, mut trial: Trial<'a>, mut resumed: Option<Step>, exchange: &mut Exchange<'a>) -> Step {
        while let Some(alternative) = self.alternatives.get(trial.alternative) {
            let Some(method) = alternative.steps.get(trial.step) else { return Step::Next };
            let failure = match resumed.take().unwrap_or_else(|| method.on_request(exchange)) {
                Step::Next => {
                    trial.step += 1;
                    continue;
                }
                Step::Hold(hold) => {
                    let Trial { before, failed, alternative, step } = trial;
                    let trial = Trial { before: before.into_owned(), failed, alternative, step };
                    return hold.within(self, |this, then, exchange| this.resume(trial, then, exchange));
                }
                step @ (Step::Respond(_) | Step::Revalidate(_)) => return step,
                Step::Refuse(refusal) | Step::RefuseUpstream(refusal) => AlternativeFailure::Refusal(refusal),
                Step::Reply => AlternativeFailure::Reply {
                    status: exchange.outgoing.status,
                    edits: std::mem::take(&mut exchange.outgoing.edits),
                    body: std::mem::take(&mut exchange.outgoing.body),
                },
            };
            let changes = exchange.drop_attempt(&trial.before);
            trial.failed.push(FailedAlternative { index: trial.alternative, failure, changes });
            trial.alternative += 1;
            trial.step = 0;
        }
        self.refuse(trial.failed, exchange)
    }

    fn resume(&self, trial: Trial<'static>, then: Continuation, exchange: &mut Exchange<'_>) -> Step {
        let method = self.alternatives.get(trial.alternative).and_then(|alternative| alternative.steps.get(trial.step));
        let resumed = method.map(|method| then.go_on(&**method, exchange));
        self.go_on(trial, resumed, exchange)
    }

    /// Answers as the alternative does that best matches the request's credentials.
    fn refuse(&self, mut failed: Vec<FailedAlternative>, exchange: &mut Exchange<'_>) -> Step {
        let fit = |failed: &FailedAlternative| self.alternatives.get(failed.index).map(|alternative| alternative.fit(exchange));
        let best = match self.last_answers {
            true => failed.pop(),
            // Among equals `max_by_key` returns the last, so the order is reversed.
            false => failed.into_iter().rev().max_by_key(fit),
        };
        let Some(FailedAlternative { failure, changes, .. }) = best else { return Step::Refuse(refusal::AUTH_MISSING) };
        exchange.response.changes.extend(changes);
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
            let is_there = self.headers.iter().any(|name| exchange.received().get(name).is_some());
            return if is_there { CredentialForm::Any } else { CredentialForm::Missing };
        }
        let has_certificate = || self.places.use_certificate() && exchange.arrival.tls.is_some_and(|tls| tls.certificate.is_some());
        match self.places.find(exchange) {
            Some(value) => CredentialForm::of(&value, self.method),
            None if self.method == AuthMethod::Token && has_certificate() => CredentialForm::Any,
            None => CredentialForm::Missing,
        }
    }
}
