//! The upstream without a gateway: the baseline.

use super::{Launch, PeerAdapter, Setup};
use crate::scenario::{Case, StatusCount};

pub(crate) struct DirectAdapter;

impl PeerAdapter for DirectAdapter {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn program(&self) -> Option<&'static str> {
        None
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        let served = case.expect.get("200") == Some(&StatusCount::All);
        (!served).then(|| "the upstream refuses nothing".to_owned())
    }

    fn prepare(&self, _setup: &Setup) -> Result<Launch, String> {
        Ok(Launch::default())
    }
}
