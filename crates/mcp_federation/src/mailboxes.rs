//! What requests of one client tell each other, perhaps at different gateways: calls wait for messages that come with another request, and a session
//! that was ended is ended everywhere.

use crate::digests::{Digests, digest};
use crate::running_call::{RunningCalls, call_digest};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tollgate_outbound::{Holder, Share, Shares};

/// Most mailboxes of one purpose, and those of one holder.
const OPEN_MAX: usize = 10_000;
const OWN_MAX: usize = 500;
/// Ends of sessions that are told again, when, and how often.
const UNTOLD_MAX: usize = 1_000;
const TELL_AGAIN: Duration = Duration::from_secs(5);
const TELLS_MAX: usize = 120;
/// Messages that one holds; the last place is for the response.
const HELD_MAX: usize = 32;

/// The mailboxes of this gateway, and the way to those of others.
#[derive(Default)]
pub struct Mailboxes {
    /// Sessions that are over, and states of calls that came with their answers.
    pub(crate) over: Digests,
    /// Calls that may be cancelled.
    pub(crate) running: RunningCalls,
    open: Mutex<HashMap<u64, Mailbox>>,
    shares: MailboxShares,
    /// Ends of sessions that other gateways have still to be told.
    untold: AtomicUsize,
    others: OnceLock<Arc<dyn OtherGateways>>,
}

/// The way to other gateways.
pub trait OtherGateways: Send + Sync {
    /// Names this gateway.
    fn own_name(&self) -> &str;

    /// Sends something to the gateway of that name, which [receives](Mailboxes::receive) it. Says whether it was sent.
    fn send(&self, gateway: &str, mail: Value) -> BoxFuture<'static, bool>;

    /// Sends something to all of them.
    fn send_to_all(&self, mail: Value) -> BoxFuture<'static, bool>;
}

struct Mailbox {
    owner: String,
    sender: mpsc::Sender<Value>,
    _share: Share,
}

/// What a mailbox is for. Each has its own bounds: who has asked must be able to hear the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// A call waits for its client.
    Question,
    /// A client waits for the rest of its call.
    WayBack,
}

/// How many mailboxes there are for each purpose.
struct MailboxShares {
    questions: Arc<Shares>,
    ways_back: Arc<Shares>,
}

impl Default for MailboxShares {
    fn default() -> Self {
        MailboxShares { questions: Shares::new(OPEN_MAX, OWN_MAX), ways_back: Shares::new(OPEN_MAX, OWN_MAX) }
    }
}

/// Names a mailbox among those of all gateways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    gateway: String,
    number: u64,
}

/// What is sent to another gateway.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mail {
    Message {
        number: u64,
        owner: String,
        message: Value,
    },
    /// A session is over: the digest of its name.
    Ended([u8; 32]),
    /// A call is cancelled: the digest of its session and id.
    Cancelled([u8; 32]),
}

/// A mailbox, as long as somebody waits.
pub(crate) struct OpenMailbox {
    mailboxes: Arc<Mailboxes>,
    pub address: Address,
    receiver: mpsc::Receiver<Value>,
}

impl Mailboxes {
    /// Names the way to other gateways.
    pub fn connect(&self, others: Arc<dyn OtherGateways>) {
        // There is one cluster.
        let _ = self.others.set(others);
    }

    /// Takes what another gateway has sent.
    pub fn receive(&self, mail: Value) {
        match serde_json::from_value(mail) {
            Ok(Mail::Message { number, owner, message }) => drop(self.put(number, &owner, message)),
            Ok(Mail::Ended(digest)) => drop(self.over.add(digest)),
            Ok(Mail::Cancelled(digest)) => drop(self.running.cancel(&digest)),
            // Another version's.
            Err(_) => {}
        }
    }

    /// Ends a session at all gateways. Those that cannot be told now are told later.
    pub(crate) async fn end(self: &Arc<Self>, name: &str) {
        let digest = digest(name);
        self.over.add(digest);
        if self.send_to_all(&Mail::Ended(digest)).await {
            return;
        }
        if self.untold.fetch_add(1, Ordering::AcqRel) >= UNTOLD_MAX {
            self.untold.fetch_sub(1, Ordering::AcqRel);
            return;
        }
        let mailboxes = self.clone();
        tokio::spawn(async move {
            for _ in 0..TELLS_MAX {
                sleep(TELL_AGAIN).await;
                if mailboxes.send_to_all(&Mail::Ended(digest)).await {
                    break;
                }
            }
            mailboxes.untold.fetch_sub(1, Ordering::AcqRel);
        });
    }

    /// Cancels a call of a session, at whichever gateway it runs.
    pub(crate) async fn cancel(&self, session: &str, id: &Value) {
        let digest = call_digest(session, id);
        if !self.running.cancel(&digest) {
            self.send_to_all(&Mail::Cancelled(digest)).await;
        }
    }

    /// Says whether it was sent, or there is nobody else.
    async fn send_to_all(&self, mail: &Mail) -> bool {
        match (self.others.get(), serde_json::to_value(mail)) {
            (Some(others), Ok(mail)) => others.send_to_all(mail).await,
            _ => true,
        }
    }

    /// Whether a mailbox is at this gateway.
    pub(crate) fn is_here(&self, address: &Address) -> bool {
        address.gateway == self.own_name()
    }

    /// Opens a mailbox for messages of its holder's owner alone; `None` if there are too many.
    pub(crate) fn open(self: &Arc<Self>, holder: Holder, purpose: Purpose) -> Option<OpenMailbox> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).ok()?;
        let number = u64::from_le_bytes(random);
        let (sender, receiver) = mpsc::channel(HELD_MAX);
        let shares = match purpose {
            Purpose::Question => &self.shares.questions,
            Purpose::WayBack => &self.shares.ways_back,
        };
        let (owner, share) = (holder.owner.clone(), shares.take(holder, 1)?);
        let mut open = self.lock();
        if open.contains_key(&number) {
            return None;
        }
        open.insert(number, Mailbox { owner, sender, _share: share });
        let address = Address { gateway: self.own_name().to_owned(), number };
        Some(OpenMailbox { mailboxes: self.clone(), address, receiver })
    }

    /// Puts a message into a mailbox of its owner. `false` if that is not there; of other gateways' mailboxes this is not known.
    pub(crate) async fn post(&self, address: &Address, owner: &str, message: Value) -> bool {
        if self.is_here(address) {
            return self.put(address.number, owner, message);
        }
        let mail = Mail::Message { number: address.number, owner: owner.to_owned(), message };
        match (self.others.get(), serde_json::to_value(mail)) {
            (Some(others), Ok(mail)) => others.send(&address.gateway, mail).await,
            _ => false,
        }
    }

    fn put(&self, number: u64, owner: &str, message: Value) -> bool {
        let sender = self.lock().get(&number).filter(|mailbox| mailbox.owner == owner).map(|mailbox| mailbox.sender.clone());
        let Some(sender) = sender else { return false };
        // What is no response may be lost.
        if sender.capacity() > 1 || crate::message::is_response(&message) {
            let _ = sender.try_send(message);
        }
        !sender.is_closed()
    }

    fn own_name(&self) -> &str {
        self.others.get().map_or("", |others| others.own_name())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Mailbox>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenMailbox {
    /// The next message; `None` if none comes in time.
    pub(crate) async fn next(&mut self, time_max: Duration) -> Option<Value> {
        timeout(time_max, self.receiver.recv()).await.ok().flatten()
    }
}

impl Drop for OpenMailbox {
    fn drop(&mut self) {
        self.mailboxes.lock().remove(&self.address.number);
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{:016x}", self.gateway, self.number)
    }
}

impl FromStr for Address {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (gateway, number) = text.rsplit_once('.').ok_or(())?;
        Ok(Address { gateway: gateway.to_owned(), number: u64::from_str_radix(number, 16).map_err(|_| ())? })
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Mailboxes, OtherGateways, Purpose};
    use futures_util::FutureExt;
    use futures_util::future::{BoxFuture, ready};
    use serde_json::{Value, json};
    use std::sync::{Arc, Weak};
    use std::time::Duration;
    use tollgate_outbound::Holder;

    const SOON: Duration = Duration::from_millis(20);

    /// A way between two gateways.
    struct Way(&'static str, Weak<Mailboxes>);

    impl OtherGateways for Way {
        fn own_name(&self) -> &str {
            self.0
        }

        fn send(&self, gateway: &str, mail: Value) -> BoxFuture<'static, bool> {
            assert_ne!(gateway, self.0);
            self.1.upgrade().unwrap().receive(mail);
            ready(true).boxed()
        }

        fn send_to_all(&self, mail: Value) -> BoxFuture<'static, bool> {
            self.1.upgrade().unwrap().receive(mail);
            ready(true).boxed()
        }
    }

    #[tokio::test]
    async fn a_message_reaches_its_owner_at_any_gateway_and_nobody_else() {
        let (one, other) = (Arc::new(Mailboxes::default()), Arc::new(Mailboxes::default()));
        one.connect(Arc::new(Way("one", Arc::downgrade(&other))));
        other.connect(Arc::new(Way("other", Arc::downgrade(&one))));
        let holder = |owner: &str| Holder { owner: owner.to_owned(), network: None };
        let mut mailbox = one.open(holder("alice"), Purpose::Question).unwrap();
        let address: Address = mailbox.address.to_string().parse().unwrap();
        assert!(one.post(&address, "alice", json!(1)).await);
        assert!(!one.post(&address, "bob", json!(2)).await);
        assert!(other.post(&address, "alice", json!(3)).await);
        assert!(other.post(&address, "bob", json!(4)).await);
        assert_eq!(mailbox.next(SOON).await, Some(json!(1)));
        assert_eq!(mailbox.next(SOON).await, Some(json!(3)));
        assert_eq!(mailbox.next(SOON).await, None);
        // A flood leaves room for the response.
        for number in 0..1_000 {
            one.post(&address, "alice", json!(number)).await;
        }
        one.post(&address, "alice", json!({"id": 1, "result": {}})).await;
        let mut last = None;
        while let Some(message) = mailbox.next(SOON).await {
            last = Some(message);
        }
        assert_eq!(last, Some(json!({"id": 1, "result": {}})));
        other.end("session").await;
        assert!(one.over.has("session") && other.over.has("session") && !one.over.has("another"));
        let own: Vec<_> = std::iter::from_fn(|| one.open(holder("alice"), Purpose::Question)).collect();
        assert!(own.len() < 1_000 && one.open(holder("bob"), Purpose::Question).is_some());
        assert!(one.open(holder("alice"), Purpose::WayBack).is_some(), "answers find their way");
        let elsewhere = Holder { network: Some([127, 0, 0, 2].into()), ..holder("alice") };
        assert!(one.open(elsewhere, Purpose::Question).is_some(), "a name of many is not one holder");
        drop((own, mailbox));
        assert!(!one.post(&address, "alice", json!(5)).await);
        assert_eq!(one.lock().len(), 0);
    }
}
