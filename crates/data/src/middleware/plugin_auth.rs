//! Authentication by a plugin. Reads `custom_middleware.auth_check` and `id_extractor`. The plugin returns a session and the token that names
//! it; rights, limits and quotas apply to the session as to that of a key. Without one the client sees 403 `Forbidden`, and 403 `Key not
//! authorised` if the plugin fails. With an extractor, the session of a known caller is used until its `id_extractor_deadline` without asking
//! the plugin; a request without an identity gets 400 `Authorization field missing`.

mod caller_id;
mod xml_path;

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::plugins::{HookList, HookOutcome, StartedCall};
use crate::refusal;
use caller_id::CallerId;
use md5::{Digest as _, Md5};
use tollgate_model::api::AuthMethod;
use tollgate_plugin::{HookAnswer, HookFault, HookKind, SessionChange};

pub(super) struct PluginAuth {
    hooks: HookList,
    extractor: Option<CallerId>,
    org_id: String,
    gives_session: bool,
}

impl PluginAuth {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        if !definition.uses(AuthMethod::Plugin) {
            return None;
        }
        let plugins = &definition.custom_middleware;
        let extractor = match CallerId::new(&plugins.id_extractor) {
            Ok(extractor) => extractor,
            Err((field, why)) => {
                source.context.error(format!("$.custom_middleware.id_extractor.{field}"), why);
                return None;
            }
        };
        // Plugins that can't be loaded have refused the request before.
        let hooks = source.hooks(HookKind::AuthCheck, std::slice::from_ref(&plugins.auth_check))?;
        Some(Box::new(PluginAuth {
            hooks,
            extractor,
            org_id: definition.org_id.clone(),
            gives_session: definition.takes_session_of(AuthMethod::Plugin),
        }))
    }

    /// The name of the caller's session by the extractor; `None` without one.
    fn extracted(&self, exchange: &mut Exchange<'_>) -> Result<Option<String>, Step> {
        let Some(extractor) = &self.extractor else { return Ok(None) };
        if extractor.reads_body() {
            exchange.read_body()?;
        }
        let id = extractor.find(exchange).ok_or(Step::Refuse(refusal::PLUGIN_AUTH_FIELD))?;
        Ok(Some(exchange.arrival.keys.generate(&self.org_id, Md5::digest(id.as_bytes()).into())))
    }

    /// Whether the session of a known caller is still good.
    fn knows(&self, name: &str, exchange: &mut Exchange<'_>) -> bool {
        let Some(key) = exchange.arrival.keys.vouched(name) else { return false };
        if i64::try_from(exchange.arrival.unix_s).unwrap_or(i64::MAX) >= key.session.id_extractor_deadline {
            return false;
        }
        if self.gives_session {
            exchange.caller.key = Some(key);
            exchange.caller.token = Some(name.into());
        }
        true
    }

    fn admit(&self, name: Option<String>, answer: &HookAnswer, exchange: &mut Exchange<'_>) -> Step {
        let SessionChange::Whole(session) = &answer.session else { return Step::Refuse(refusal::PLUGIN_FORBIDDEN) };
        if answer.token.is_empty() {
            return Step::Refuse(refusal::PLUGIN_FORBIDDEN);
        }
        let mut session = session.clone();
        session.org_id.clone_from(&self.org_id);
        let name = name.unwrap_or_else(|| answer.token.clone());
        match exchange.arrival.keys.vouch(&name, &session) {
            Some(key) => {
                if self.gives_session {
                    exchange.caller.key = Some(key);
                    exchange.caller.token = Some(name.into());
                }
                Step::Next
            }
            None => Step::Refuse(refusal::PLUGIN_FORBIDDEN),
        }
    }
}

impl Middleware for PluginAuth {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored {
            return Step::Next;
        }
        let name = match self.extracted(exchange) {
            Ok(name) => name,
            Err(step) => return step,
        };
        if name.as_deref().is_some_and(|name| self.knows(name, exchange)) {
            return Step::Next;
        }
        if let Err(step) = exchange.keep_body(exchange.arrival.settings.sizes.body_bytes_max) {
            return step;
        }
        let Some(hook) = self.hooks.hooks.first() else { return Step::Refuse(refusal::PLUGIN_AUTH_FAILED) };
        match self.hooks.call(hook, exchange) {
            StartedCall::Ended(outcome) => self.judge(name, *outcome, exchange),
            StartedCall::Waits(until, answer) => Step::hold(self, until, |this: &Self, exchange| {
                let hook = this.hooks.hooks.first();
                let outcome = hook.map_or(Err(HookFault::Timeout), |hook| this.hooks.outcome(hook, answer));
                this.judge(name, outcome, exchange)
            }),
        }
    }
}

impl PluginAuth {
    /// Does what the plugin has answered.
    fn judge(&self, name: Option<String>, outcome: HookOutcome, exchange: &mut Exchange<'_>) -> Step {
        // An outage admits nobody, even if other hooks may be left out.
        let (Ok(answer), Some(hook)) = (outcome, self.hooks.hooks.first()) else {
            return Step::Refuse(refusal::PLUGIN_AUTH_FAILED);
        };
        if let Err(step) = self.hooks.apply(hook, &answer, exchange) {
            return step;
        }
        let step = self.admit(name, &answer, exchange);
        if matches!(step, Step::Next) {
            exchange.show_changes();
        }
        step
    }
}
