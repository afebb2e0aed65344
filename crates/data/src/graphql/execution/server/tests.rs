use super::*;

#[tokio::test]
async fn silent_events_have_comments_until_the_client_is_gone() {
    let (sender, receiver) = mpsc::channel(1);
    let mut body = event_response(receiver, Duration::from_millis(5)).into_body();
    let mut read = async || String::from_utf8(body.frame().await.unwrap().unwrap().into_data().unwrap().to_vec()).unwrap();
    assert_eq!(read().await, ":\n\n");
    sender.send(b"{}".to_vec()).await.unwrap();
    assert_eq!(read().await, "event: next\ndata: {}\n\n");
    assert_eq!(read().await, ":\n\n");
    drop(body);
    assert!(sender.is_closed());
}
