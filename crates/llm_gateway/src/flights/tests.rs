use super::Flights;
use futures_util::FutureExt;
use std::sync::Arc;

#[test]
fn one_asks_and_the_others_wait_until_it_is_done() {
    let flights = Arc::<Flights>::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let lead = flights.join("a").await.expect("nobody else asks");
        assert!(flights.join("b").await.is_some(), "another key is another flight");
        let mut waiting = Box::pin(flights.join("a"));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(lead);
        assert!(waiting.await.is_none());
        assert!(flights.join("a").await.is_some());
        assert!(flights.0.lock().expect("no panic").is_empty());
    });
}
