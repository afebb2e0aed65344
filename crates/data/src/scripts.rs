//! JavaScript of APIs: how the script of an API is loaded, what it sees of its API, and what it can do (`host`). The engine is in
//! `tollgate-javascript`.

mod driver;
mod event_script;
mod host;
mod record_script;

pub use driver::ScriptDriver;
pub use event_script::ApiEventScripts;

use crate::registry::Registry;
use crate::script_settings::ScriptSettings;
use crate::settings::Settings;
use host::GatewayHost;
use std::cell::RefCell;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tollgate_javascript::{ProgramBuilder, ProgramFault, Script, ScriptCall, ScriptFault, ScriptReply};
use tollgate_model::api::ApiDefinition;
use tollgate_model::session::Session;
use tollgate_plugin::HookFault;

/// Loads the script of an API. Its top-level code runs.
pub fn load(
    builder: ProgramBuilder,
    definition: &ApiDefinition,
    scripts: &ScriptSettings,
    settings: &Settings,
    registry: &Arc<Registry>,
) -> Result<Script, ProgramFault> {
    let tls = settings.upstreams.tls.for_api(definition);
    let host = GatewayHost::new(&definition.api_id, registry, tls, settings.sizes.body_bytes_max);
    registry.scripts.load(builder.build(), Arc::new(host), scripts.limits)
}

/// Makes a call on a thread with a runtime, and waits for its result. The call is left out if nobody waits any more when its turn comes.
pub fn call(script: &Script, call: ScriptCall) -> impl Future<Output = ScriptResult> + Send + use<> {
    let (reply, result) = oneshot::channel();
    script.call(call, Box::new(ScriptWaiter { reply, mailbox: mailbox() }));
    async move { result.await.unwrap_or_else(|_| Err(ScriptFault::Unavailable("the script's thread has ended".to_owned()))) }
}

/// Whoever waits for the result of a call.
struct ScriptWaiter {
    reply: oneshot::Sender<ScriptResult>,
    mailbox: Mailbox,
}

type ScriptResult = Result<String, ScriptFault>;

/// Results on their way to a thread, which waits for all of them at once: to wake it for each one is a system call.
type Mailbox = mpsc::UnboundedSender<(oneshot::Sender<ScriptResult>, ScriptResult)>;

thread_local! {
    static MAILBOX: RefCell<Option<Mailbox>> = const { RefCell::new(None) };
}

/// The mailbox of this thread, whose runtime delivers what arrives.
fn mailbox() -> Mailbox {
    MAILBOX.with_borrow_mut(|known| match known {
        Some(mailbox) if !mailbox.is_closed() => mailbox.clone(),
        _ => {
            let (mailbox, mut results) = mpsc::unbounded_channel();
            tokio::spawn(async move {
                while let Some((reply, result)) = results.recv().await {
                    deliver(reply, result);
                }
            });
            known.insert(mailbox).clone()
        }
    })
}

fn deliver(reply: oneshot::Sender<ScriptResult>, result: ScriptResult) {
    // Fails only if nobody waits any more.
    let _ = reply.send(result);
}

impl ScriptReply for ScriptWaiter {
    fn is_awaited(&self) -> bool {
        !self.reply.is_closed()
    }

    fn send(self: Box<Self>, result: ScriptResult) {
        if let Err(mpsc::error::SendError((reply, result))) = self.mailbox.send((self.reply, result)) {
            // The runtime of its thread has ended, but somebody else may wait.
            deliver(reply, result);
        }
    }
}

/// What a script's fault is for the hooks of all drivers.
fn hook_fault(fault: ScriptFault) -> HookFault {
    match fault {
        ScriptFault::Busy | ScriptFault::Unavailable(_) => HookFault::Unavailable(fault.to_string()),
        fault => HookFault::Failed(fault.to_string()),
    }
}

/// What scripts see of their API, as JSON.
pub fn config_of(definition: &ApiDefinition) -> String {
    let data = (!definition.config_data_disabled).then_some(&definition.config_data);
    tollgate_javascript::spec(&definition.org_id, &definition.api_id, data)
}

/// What handlers of events see of their API, as JSON.
fn config_of_events(definition: &ApiDefinition) -> String {
    serde_json::json!({"APIID": definition.api_id, "OrgID": definition.org_id}).to_string()
}

/// The session that scripts without one see, as JSON.
pub fn no_session() -> String {
    session_text(&Session::default())
}

/// A session as scripts see it, as JSON. It has the fields that scripts compute with even if they are zero, as in Tyk until its version 5.10.
pub fn session_text(session: &Session) -> String {
    let mut text = serde_json::to_string(session).unwrap_or_else(|_| "{}".to_owned());
    let fields = [
        ("rate", session.rate == 0.0),
        ("per", session.per == 0.0),
        ("allowance", session.allowance == 0.0),
        ("expires", session.expires == 0),
        ("quota_max", session.quota_max == 0),
        ("quota_renews", session.quota_renews == 0),
        ("quota_remaining", session.quota_remaining == 0),
        ("quota_renewal_rate", session.quota_renewal_rate == 0),
    ];
    let zeros: Vec<String> = fields.iter().filter(|(_, is_zero)| *is_zero).map(|(name, _)| format!("\"{name}\":0")).collect();
    if !zeros.is_empty() {
        let separator = if text == "{}" { "" } else { "," };
        text.insert_str(1, &format!("{}{separator}", zeros.join(",")));
    }
    text
}
