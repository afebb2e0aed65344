//! The upstream without a gateway: the baseline.

use super::{Launch, PeerAdapter, Setup};
use crate::scenario::Case;

pub(crate) struct DirectAdapter;

impl PeerAdapter for DirectAdapter {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn program(&self) -> Option<&'static str> {
        None
    }

    fn passes_paths_on(&self) -> bool {
        true
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        if case.api.tls.is_some() || case.api.http2 {
            return Some("its clients speak plain HTTP/1.1".to_owned());
        }
        (!case.is_always_served()).then(|| "the upstream refuses nothing".to_owned())
    }

    fn prepare(&self, _setup: &Setup) -> Result<Launch, String> {
        Ok(Launch::default())
    }
}
