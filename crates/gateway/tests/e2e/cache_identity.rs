//! What is keyed is what is forwarded: two requests that the upstream cannot tell apart by the parts that are keyed share a response, two that it
//! can tell apart never do. All pairs of ways to write a request, through both caches, in memory and in the Redis that gateways share.

use crate::cache_tier;
use crate::harness::cache_identity::{all_pairs, edited, mirror, tyk_rules};
use crate::harness::eventually;
use crate::servers::Server;

#[test]
fn header_values_in_the_names_of_the_second_tier_are_those_that_leave() {
    let (server, upstream) = (Server::start(&[]), mirror(&[]));
    let [one, other] = cache_tier::two(&cache_tier::on(&server), &edited(&upstream, "cache_options", tyk_rules()));
    // Each request that reaches the upstream leaves an entry.
    let settle = || eventually("it is written", || cache_tier::names(&server).len() == upstream.requests());
    all_pairs(&upstream, &one, &other, settle);
}
