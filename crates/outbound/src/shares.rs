//! Shares of what there is only so much of, such as memory: all clients together have a bound, and so has each.

use http_body_util::BodyExt;
use hyper::body::Body;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::sleep;

/// How often whoever waits looks whether there is room.
const LOOK: Duration = Duration::from_millis(50);

/// Who has a share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Holder {
    /// Its name, which may be that of many.
    pub owner: String,
    /// Where it is, if many have the same name.
    pub network: Option<IpAddr>,
}

impl Holder {
    /// A client at an address, which tells clients apart that have no name of their own.
    pub fn new(owner: String, is_named: bool, address: Option<IpAddr>) -> Self {
        let network = address.filter(|_| !is_named).map(|address| match address {
            // A client of the newer protocol has as many addresses as it likes.
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
            v4 @ IpAddr::V4(_) => v4,
        });
        Holder { owner, network }
    }
}

/// A body that has something until it is read or given up, such as its room in memory.
pub fn holding<B, H>(body: B, held: H) -> impl Body<Data = B::Data, Error = B::Error>
where
    B: Body,
    H: Send,
{
    body.map_frame(move |frame| {
        let _ = &held;
        frame
    })
}

/// What clients have.
pub struct Shares {
    all_max: usize,
    own_max: usize,
    held: Mutex<HeldShares>,
}

#[derive(Default)]
struct HeldShares {
    all: usize,
    by_holder: HashMap<Holder, usize>,
}

/// The share of one client, until this is dropped.
pub struct Share {
    shares: Arc<Shares>,
    holder: Holder,
    amount: usize,
}

impl Shares {
    /// Shares with these bounds for all clients and for each.
    pub fn new(all_max: usize, own_max: usize) -> Arc<Self> {
        Arc::new(Shares { all_max, own_max, held: Mutex::default() })
    }

    /// So much more for a client; `None` if that is too much.
    pub fn take(self: &Arc<Self>, holder: Holder, amount: usize) -> Option<Share> {
        let mut share = Share { shares: self.clone(), holder, amount: 0 };
        share.resize(amount).then_some(share)
    }

    /// The same, as soon as it is not too much.
    pub async fn wait_for(self: &Arc<Self>, holder: &Holder, amount: usize) -> Share {
        loop {
            match self.take(holder.clone(), amount) {
                Some(share) => return share,
                None => sleep(LOOK).await,
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, HeldShares> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Makes it so large; false, and nothing has changed, if that is too much.
    pub fn resize(&mut self, amount: usize) -> bool {
        if amount == self.amount {
            return true;
        }
        let mut held = self.shares.held();
        let others = held.all - self.amount;
        let own_others = held.by_holder.get(&self.holder).map_or(0, |own| own - self.amount);
        let (all, own) = (others.saturating_add(amount), own_others.saturating_add(amount));
        if amount > self.amount && (all > self.shares.all_max || own > self.shares.own_max) {
            return false;
        }
        held.all = all;
        match own {
            0 => drop(held.by_holder.remove(&self.holder)),
            own => drop(held.by_holder.insert(self.holder.clone(), own)),
        }
        self.amount = amount;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Holder, Shares};

    #[test]
    fn a_client_has_its_share_and_no_more() {
        let shares = Shares::new(10, 4);
        let holder = |owner: &str| Holder { owner: owner.to_owned(), network: None };
        let own: Vec<_> = std::iter::from_fn(|| shares.take(holder("a"), 2)).collect();
        assert_eq!(own.len(), 2);
        assert!(shares.take(holder("a"), 0).is_some());
        let others: Vec<_> = ["b", "c", "d"].into_iter().filter_map(|owner| shares.take(holder(owner), 3)).collect();
        assert_eq!(others.len(), 2, "all have a bound");
        drop((own, others));
        let held = shares.held();
        assert_eq!((held.all, held.by_holder.len()), (0, 0));
    }

    #[test]
    fn a_share_grows_within_the_bounds_and_shrinks_always() {
        let shares = Shares::new(10, 6);
        let holder = |owner: &str| Holder { owner: owner.to_owned(), network: None };
        let mut own = shares.take(holder("a"), 2).unwrap();
        assert!(own.resize(6));
        assert!(!own.resize(7), "one has a bound");
        let mut other = shares.take(holder("b"), 4).unwrap();
        assert!(!other.resize(5), "all have a bound");
        assert!(own.resize(1));
        assert!(other.resize(6));
        assert!(shares.take(holder("c"), 4).is_none());
        assert!(shares.take(holder("c"), 3).is_some());
    }

    #[test]
    fn clients_without_a_name_are_told_apart_by_their_networks() {
        let at = |address: &str| Holder::new("api".to_owned(), false, address.parse().ok());
        assert_eq!(at("2001:db8::1"), at("2001:db8::2"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_ne!(at("127.0.0.1"), at("127.0.0.2"));
        assert_eq!(Holder::new("key".to_owned(), true, "127.0.0.1".parse().ok()).network, None);
    }
}
