//! Keys page by page, for lists with a search.

use super::table::StoredKey;
use super::{KeyName, Keys};
use crate::digest::{hex, parse_digest};
use std::borrow::Cow;
use tollgate_model::key as key_format;
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{DocumentSpace, Store, StoreFault};

/// A key in a list.
pub struct ListedKey {
    /// The digest of a key in the embedded store; in a shared store its hash, or its sealed name if it is not hashed.
    pub id: String,
    /// The key or its hash.
    pub shown: String,
    pub name: KeyName,
    /// `None` if it can't be read.
    pub session: Option<Session>,
    /// Where the list continues after this key.
    pub place: String,
}

impl Keys {
    /// The name of a key where nobody may read keys.
    fn id_of(&self, name: &str) -> String {
        if self.rules.hash_keys { name.to_owned() } else { self.rules.seal.seal(name) }
    }

    /// The name of a key in a shared store that an id of a list stands for; any other text as it is.
    pub fn opened<'t>(&self, id: &'t str) -> Cow<'t, str> {
        let is_sealed = self.shared.is_some() && !self.rules.hash_keys;
        match self.rules.seal.open(id).filter(|_| is_sealed) {
            Some(name) => Cow::Owned(name),
            None => Cow::Borrowed(id),
        }
    }

    /// The name of a key as documents keep it beside the key, and after it: its hash, or sealed if it is not hashed.
    pub fn kept_name(&self, name: &KeyName) -> String {
        self.id_of(&name.shown)
    }

    /// The name of a key, hashed or not, of [`Keys::kept_name`].
    pub fn name_of_kept<'t>(&self, kept: &'t str) -> Cow<'t, str> {
        self.rules.seal.open(kept).map_or(Cow::Borrowed(kept), Cow::Owned)
    }

    /// The id in lists of a key that was found otherwise.
    pub fn listed_id(&self, name: &KeyName) -> String {
        if self.shared.is_some() { self.id_of(&name.shown) } else { hex(&name.digest) }
    }

    /// The query by which such an id is found.
    pub fn listed_by(&self) -> &'static str {
        if self.shared.is_some() && self.rules.hash_keys { "hashed=true" } else { "by=id" }
    }

    /// Some keys in the order of their ids, after a place; and whether there are more.
    pub async fn listed_after(&self, after: &str, count: usize) -> Result<(Vec<ListedKey>, Option<String>), StoreFault> {
        if let Some(shared) = &self.shared {
            let after = Some(self.opened(after).into_owned()).filter(|after| !after.is_empty());
            let page = shared.cluster.redis.page(DocumentSpace::Session, String::new(), after, count).await?;
            let listed = |(name, document): (String, Vec<u8>)| ListedKey {
                id: self.id_of(&name),
                name: KeyName { digest: key_format::digest(&name), shown: name.clone() },
                session: Session::parse(&document).ok().map(|(session, _)| session),
                place: self.id_of(&name),
                shown: name,
            };
            return Ok((page.documents.into_iter().map(listed).collect(), page.next.map(|name| self.id_of(&name))));
        }
        let after = parse_digest(after);
        let mut digests = self.table.digests();
        if let Some(after) = after {
            digests.retain(|digest| *digest > after);
        }
        // Only the first ones need an order.
        let rest = if digests.len() > count {
            digests.select_nth_unstable(count);
            digests.truncate(count);
            true
        } else {
            false
        };
        digests.sort_unstable();
        let see = |digest| {
            let (shown, session) =
                self.table.with(digest, |entry: &StoredKey| (entry.shown(), StoredSession::parse(entry.document())))?;
            let id = hex(digest);
            let name = KeyName { digest: *digest, shown: shown.clone() };
            Some(ListedKey { place: id.clone(), id, shown, name, session: session.map(|stored| stored.session) })
        };
        let listed: Vec<ListedKey> = digests.iter().filter_map(see).collect();
        let next = digests.last().filter(|_| rest).map(hex);
        Ok((listed, next))
    }
}
