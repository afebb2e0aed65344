//! Compresses responses. Reads `tollgate.compression`. The client sees `Content-Encoding` and `Vary`, no length and a weak entity tag. Without
//! memory for another compressor it gets the response as it is. Does not use the store.
//!
//! The body is compressed last of all: what steps see and caches store is the body before.

use super::{Middleware, MiddlewareSource};
use crate::compression::ResponseCompression;
use crate::exchange::{Exchange, Step};
use std::sync::Arc;

pub(super) struct CompressResponses(Arc<ResponseCompression>);

impl CompressResponses {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let rules = source.definition.tollgate.compression.as_ref()?;
        Some(Box::new(CompressResponses(Arc::new(ResponseCompression::new(rules)))))
    }
}

impl Middleware for CompressResponses {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        // Its client called another API, which says how that gets its response.
        if exchange.decisions.loops == 0 {
            exchange.response.compression = Some(self.0.wanted(exchange.request));
        }
        Step::Next
    }
}
