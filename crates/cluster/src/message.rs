//! Messages between gateways that share a Redis, in the form of Tyk's nodes: JSON on one channel, signed with the `node_secret` that all
//! gateways share.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::{Arc, OnceLock};
use subtle::ConstantTimeEq;
use tollgate_model::config::GatewayConfig;
use tollgate_model::hexadecimal;
use tollgate_store::{Redis, StoreFault};

/// Redis channel of the messages.
pub const CHANNEL: &str = "tyk.cluster.notifications";

/// Go's number of SHA-256.
const SHA256_NUMBER: u64 = 5;

/// Command: sessions have changed; the payload is their names, separated by commas.
pub const SESSIONS_CHANGED: &str = "KeySpaceUpdateNotification";
/// Command: all gateways must reload.
pub const RELOAD_ALL: &str = "GroupReload";
/// Commands after which definitions or policies must be reloaded.
const RELOADS: [&str; 5] = [RELOAD_ALL, "ApiUpdated", "ApiAdded", "ApiRemoved", "PolicyChanged"];

/// Sends messages to the other gateways and receives theirs.
pub struct Messages {
    redis: Arc<Redis>,
    signer: Signer,
    reloads_on_signal: bool,
    /// Called when another gateway asks for a reload; set once this gateway can reload.
    on_reload: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// Meaning of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterMessage {
    /// The sessions with these names have changed or are gone.
    SessionsChanged(Vec<String>),
    /// Definitions or policies must be loaded again.
    Reload,
    /// The message does not concern this gateway.
    Other,
}

/// Signs messages and verifies signatures.
#[derive(Clone)]
pub(crate) struct Signer {
    secret: String,
    accepts_everything: bool,
}

/// A message as it was received, before its signature is checked.
pub(crate) struct UncheckedMessage(Value);

impl Messages {
    pub(crate) fn new(redis: Arc<Redis>, config: &GatewayConfig) -> Self {
        Messages {
            redis,
            signer: Signer::new(config),
            reloads_on_signal: !config.suppress_redis_signal_reload,
            on_reload: OnceLock::new(),
        }
    }

    /// Sets the reload callback: from now on messages can make this gateway reload.
    pub fn on_reload(&self, reload: impl Fn() + Send + Sync + 'static) {
        let _ = self.on_reload.set(Box::new(reload));
    }

    /// Sends a message to all gateways, including this one.
    ///
    /// # Errors
    /// The store's fault; the message was not sent then.
    pub async fn tell(&self, command: &str, payload: &str) -> Result<(), StoreFault> {
        self.redis.publish(CHANNEL, self.signer.message(command, payload).as_bytes()).await
    }

    /// Reads a message. For a reload, calls the callback.
    pub fn hear(&self, message: &[u8]) -> ClusterMessage {
        match self.signer.read(message) {
            Ok(ClusterMessage::Reload) => {
                if let Some(reload) = self.on_reload.get().filter(|_| self.reloads_on_signal) {
                    reload();
                }
                ClusterMessage::Reload
            }
            Ok(notice) => notice,
            Err(why) => {
                tracing::warn!(why, "a message to all gateways is ignored");
                ClusterMessage::Other
            }
        }
    }
}

impl Signer {
    pub(crate) fn new(config: &GatewayConfig) -> Self {
        Signer { secret: config.node_secret.clone(), accepts_everything: config.allow_insecure_configs }
    }

    pub(crate) fn message(&self, command: &str, payload: &str) -> String {
        let signature = self.signature(command, payload);
        json!({ "command": command, "payload": payload, "signature": signature, "algorithm": SHA256_NUMBER }).to_string()
    }

    /// The same, and who sends it; Tyk's nodes ignore that.
    pub(crate) fn message_from(&self, sender: &str, command: &str, payload: &str) -> String {
        let signature = self.signature(command, payload);
        json!({ "command": command, "payload": payload, "signature": signature, "algorithm": SHA256_NUMBER, "from": sender })
            .to_string()
    }

    fn signature(&self, command: &str, payload: &str) -> String {
        hexadecimal(&Sha256::digest(format!("{command}{payload}{}", self.secret)))
    }

    /// Whether one of these gateways has sent a message.
    pub(crate) fn check(&self, message: &UncheckedMessage) -> Result<(), &'static str> {
        let expected = self.signature(message.command(), message.payload());
        let is_signed = bool::from(message.text("signature").as_bytes().ct_eq(expected.as_bytes()));
        if self.accepts_everything || is_signed { Ok(()) } else { Err("its signature is not that of this node_secret") }
    }

    fn read(&self, message: &[u8]) -> Result<ClusterMessage, &'static str> {
        let message = UncheckedMessage::parse(message)?;
        let (command, payload) = (message.command(), message.payload());
        if command != SESSIONS_CHANGED && !RELOADS.contains(&command) {
            return Ok(ClusterMessage::Other);
        }
        self.check(&message)?;
        if command != SESSIONS_CHANGED {
            return Ok(ClusterMessage::Reload);
        }
        // A suffix after a colon says more about a name; but the key itself may contain a colon.
        let names = payload.split(',').flat_map(|name| [Some(name), name.rsplit_once(':').map(|(name, _)| name)]);
        Ok(ClusterMessage::SessionsChanged(names.flatten().filter(|name| !name.is_empty()).map(str::to_owned).collect()))
    }
}

impl UncheckedMessage {
    pub(crate) fn parse(message: &[u8]) -> Result<Self, &'static str> {
        serde_json::from_slice(message).map(UncheckedMessage).map_err(|_| "it is not JSON")
    }

    pub(crate) fn command(&self) -> &str {
        self.text("command")
    }

    pub(crate) fn payload(&self) -> &str {
        self.text("payload")
    }

    /// A member; empty when there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
