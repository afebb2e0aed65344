//! Ids that are good in one session, at every gateway of the cluster. Servers may count what they name for all their sessions together, so that another
//! session's can be guessed: clients get each id behind a mark that nobody else can make.

/// Makes and checks the marks of one session. They are stable: the same id has the same mark.
#[derive(Clone)]
pub(crate) struct SessionMarks {
    key: [u8; 32],
}

impl SessionMarks {
    /// Those of the session with this name. `key` is known to the gateways of the cluster alone, and for one kind of ids.
    pub(crate) fn new(key: &[u8; 32], session: &str) -> Self {
        SessionMarks { key: *blake3::keyed_hash(key, session.as_bytes()).as_bytes() }
    }

    /// An id as the client gets it.
    pub(crate) fn give(&self, id: &str) -> String {
        format!("{}:{id}", self.mark(id).to_hex())
    }

    /// The id behind its mark; `None` if it was not given in this session.
    pub(crate) fn read<'i>(&self, given: &'i str) -> Option<&'i str> {
        let (mark, id) = given.split_once(':')?;
        // Hashes are compared in constant time.
        blake3::Hash::from_hex(mark).is_ok_and(|mark| mark == self.mark(id)).then_some(id)
    }

    fn mark(&self, id: &str) -> blake3::Hash {
        blake3::keyed_hash(&self.key, id.as_bytes())
    }
}
