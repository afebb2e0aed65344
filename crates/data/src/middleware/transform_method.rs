//! Changes the method for the upstream. Reads `method_transforms`. Invisible to the client, except for 405 `Method not allowed` when the
//! new method is not a standard one. Does not use the store.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::refusal;

pub(super) struct TransformMethod {
    by_endpoint: EndpointList<Option<String>>,
}

impl TransformMethod {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.method_transforms;
        let by_endpoint = source.endpoints("method_transforms", entries, |_, _, entry| {
            let method = entry.to_method.to_ascii_uppercase();
            let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"];
            Some(known.contains(&method.as_str()).then_some(method))
        });
        if by_endpoint.is_empty() { None } else { Some(Box::new(TransformMethod { by_endpoint })) }
    }
}

impl Middleware for TransformMethod {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        match self.by_endpoint.find(exchange.hits, &exchange.method) {
            None => Step::Next,
            Some(None) => Step::Refuse(refusal::METHOD_NOT_ALLOWED),
            Some(Some(method)) => {
                exchange.method = method.clone().into();
                Step::Next
            }
        }
    }
}
