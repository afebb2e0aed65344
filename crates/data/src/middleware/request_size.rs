//! Maximum size of a request's body. Reads `global_size_limit` and `size_limits`. The client sees 411 `Content length is required for this
//! request` or 400 `Request is too large`. Does not use the store.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::refusal;
use tollgate_http::{Body, KnownHeader};

pub(super) struct RequestSize {
    global: Option<u64>,
    by_endpoint: EndpointList<u64>,
}

impl RequestSize {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let info = source.info;
        let limit = |bytes: i64| u64::try_from(bytes).ok().filter(|bytes| *bytes > 0);
        let global = limit(info.global_size_limit).filter(|_| !info.global_size_limit_disabled);
        let entries = &info.extended_paths.size_limits;
        let by_endpoint = source.endpoints("size_limits", entries, |_, _, entry| limit(entry.size_limit));
        if global.is_none() && by_endpoint.is_empty() { None } else { Some(Box::new(RequestSize { global, by_endpoint })) }
    }
}

impl Middleware for RequestSize {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if matches!(exchange.method.as_ref(), "GET" | "DELETE" | "TRACE" | "OPTIONS" | "HEAD") {
            return Step::Next;
        }
        let endpoints = self.by_endpoint.find_each(exchange.hits, &exchange.method).into_iter().flatten();
        let Some(most) = endpoints.chain(&self.global).copied().min() else { return Step::Next };
        let request = exchange.request;
        match request.body {
            Body::Length(bytes) if bytes > most => Step::Refuse(refusal::REQUEST_TOO_LARGE),
            Body::Length(_) => Step::Next,
            Body::None if request.headers.known(KnownHeader::ContentLength).is_some() => Step::Next,
            Body::None | Body::Chunked | Body::UntilClose => Step::Refuse(refusal::LENGTH_REQUIRED),
        }
    }
}
