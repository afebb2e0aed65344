//! Calls in sessions that clients may cancel, at servers that know nothing of these sessions.

use crate::answer::{Answer, Messages, WAITING_MAX};
use crate::mailboxes::Mailboxes;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};

/// The calls that run at this gateway: a digest of session and id, and what tells the end.
#[derive(Default)]
pub(crate) struct RunningCalls(Mutex<HashMap<[u8; 32], Arc<Notify>>>);

/// A call that runs until this is dropped.
pub(crate) struct RunningCall {
    mailboxes: Arc<Mailboxes>,
    digest: [u8; 32],
    cancelled: Arc<Notify>,
}

/// What is kept of a call's session and id.
pub(crate) fn call_digest(session: &str, id: &Value) -> [u8; 32] {
    *blake3::hash(format!("{session}\n{id}").as_bytes()).as_bytes()
}

impl RunningCalls {
    /// Cancels a call. Says whether it runs here.
    pub(crate) fn cancel(&self, digest: &[u8; 32]) -> bool {
        let cancelled = self.lock().get(digest).cloned();
        cancelled.inspect(|cancelled| cancelled.notify_one()).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningCall {
    /// Notes that a call begins.
    pub(crate) fn begin(mailboxes: &Arc<Mailboxes>, session: &str, id: &Value) -> Self {
        let (digest, cancelled) = (call_digest(session, id), Arc::new(Notify::new()));
        mailboxes.running.lock().insert(digest, cancelled.clone());
        RunningCall { mailboxes: mailboxes.clone(), digest, cancelled }
    }

    /// Ends when the client has cancelled the call.
    pub(crate) async fn cancelled(&self) {
        self.cancelled.notified().await;
    }

    /// The answer, which ends when the client cancels the call.
    pub(crate) fn until_cancelled(self, answer: Answer) -> Answer {
        let Messages::Stream(mut messages) = answer.messages else { return answer };
        let (sender, stream) = mpsc::channel(WAITING_MAX);
        tokio::spawn(async move {
            loop {
                let message = tokio::select! {
                    message = messages.recv() => message,
                    () = self.cancelled() => return,
                    () = sender.closed() => return,
                };
                let Some(message) = message else { return };
                if sender.send(message).await.is_err() {
                    return;
                }
            }
        });
        Answer { session: answer.session, messages: Messages::Stream(stream) }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let mut running = self.mailboxes.running.lock();
        // A client may have used an id twice.
        if running.get(&self.digest).is_some_and(|other| Arc::ptr_eq(other, &self.cancelled)) {
            running.remove(&self.digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RunningCall, call_digest};
    use crate::mailboxes::Mailboxes;
    use serde_json::json;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_call_is_cancelled_by_its_session_and_id_alone_and_forgotten_at_its_end() {
        let mailboxes = Arc::new(Mailboxes::default());
        let call = RunningCall::begin(&mailboxes, "session", &json!(1));
        for (session, id) in [("another", json!(1)), ("session", json!("1")), ("session", json!(2))] {
            assert!(!mailboxes.running.cancel(&call_digest(session, &id)));
        }
        assert!(mailboxes.running.cancel(&call_digest("session", &json!(1))));
        call.cancelled().await;
        let second = RunningCall::begin(&mailboxes, "session", &json!(1));
        drop(call);
        assert!(mailboxes.running.cancel(&call_digest("session", &json!(1))));
        drop(second);
        assert!(mailboxes.running.lock().is_empty());
    }
}
