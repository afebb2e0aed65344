//! A request on arrival, and who handles it.

use super::CoreService;
use crate::exchange::Arrival;
use tollgate_http::Request;

/// What does not depend on the API.
pub(super) struct RequestContext<'a> {
    pub core: &'a CoreService,
    pub request: &'a Request<'a>,
    pub arrival: Arrival<'a>,
}
