//! The upstream without a gateway: the baseline.

use super::{Launch, Peer, Setup};
use crate::scenario::{Case, Count};

pub struct Direct;

impl Peer for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn program(&self) -> Option<&'static str> {
        None
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        let served = case.expect.get("200") == Some(&Count::All);
        (!served).then(|| "the upstream refuses nothing".to_owned())
    }

    fn prepare(&self, _setup: &Setup) -> Result<Launch, String> {
        Ok(Launch::default())
    }
}
