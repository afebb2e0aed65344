use super::*;

#[tokio::test]
async fn what_is_in_a_queue_comes_before_its_end() {
    let (items, mut queue) = mpsc::channel(8);
    let (stop, mut stopped) = watch::channel(false);
    (0..5).for_each(|item| items.try_send(item).unwrap());
    stop.send(true).unwrap();
    for item in 0..5 {
        assert_eq!(next(&mut queue, &mut stopped).await, Some(item));
    }
    assert_eq!(next(&mut queue, &mut stopped).await, None);
}

#[tokio::test]
async fn the_end_waits_until_all_is_stored_or_too_long() {
    let (stop, mut stopped) = watch::channel(false);
    let (end, ended) = oneshot::channel();
    let stores = tokio::spawn(async move {
        stopped.wait_for(|stopped| *stopped).await.unwrap();
        end.send(()).unwrap();
    });
    assert!(StoreQueues { stop, ended }.finish(Duration::from_secs(60)).await);
    stores.await.unwrap();
    let ((stop, _stopped), (_end, ended)) = (watch::channel(false), oneshot::channel());
    assert!(!StoreQueues { stop, ended }.finish(Duration::ZERO).await);
}
