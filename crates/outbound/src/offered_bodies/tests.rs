use super::{LocalBody, OfferedBodies};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

fn body(text: &'static str) -> LocalBody {
    LocalBody::new(Full::new(Bytes::from_static(text.as_bytes())).map_err(|never: Infallible| match never {}))
}

/// Counts how often a task is woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll(body: &mut LocalBody, wakes: &Arc<Wakes>) -> Poll<Option<Bytes>> {
    let waker = Waker::from(wakes.clone());
    let polled = Pin::new(body).poll_frame(&mut Context::from_waker(&waker));
    polled.map(|frame| frame.map(|frame| frame.unwrap().into_data().unwrap()))
}

#[test]
fn a_body_that_is_taken_is_the_cores_and_the_servers_is_empty() {
    let (offers, wakes) = (Arc::new(OfferedBodies::default()), Arc::default());
    let (number, mut servers) = offers.offer(body("stream"));
    assert_eq!(poll(&mut servers, &wakes), Poll::Pending);
    let mut taken = offers.take(number).unwrap();
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    assert_eq!(poll(&mut servers, &wakes), Poll::Ready(None));
    assert_eq!(poll(&mut taken, &wakes), Poll::Ready(Some(Bytes::from_static(b"stream"))));
    assert!(offers.take(number).is_none());
}

#[test]
fn a_body_that_is_left_is_the_servers() {
    let (offers, wakes) = (Arc::new(OfferedBodies::default()), Arc::default());
    let (number, mut servers) = offers.offer(body("stream"));
    assert_eq!(poll(&mut servers, &wakes), Poll::Pending);
    offers.leave(number);
    assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    assert!(offers.take(number).is_none());
    assert_eq!(poll(&mut servers, &wakes), Poll::Ready(Some(Bytes::from_static(b"stream"))));
    assert_eq!(poll(&mut servers, &wakes), Poll::Ready(None));
}

#[test]
fn nothing_is_kept_of_an_offer_whose_server_has_gone() {
    let offers = Arc::new(OfferedBodies::default());
    let (number, servers) = offers.offer(body("stream"));
    drop(servers);
    assert!(offers.take(number).is_none());
    let (number, servers) = offers.offer(body("stream"));
    offers.leave(number);
    drop(servers);
    assert!(offers.offers().is_empty());
}
