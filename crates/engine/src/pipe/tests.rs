use super::*;

fn accounts() -> [Rc<BufferAccount>; 2] {
    [(); 2].map(|()| BufferAccount::new(usize::MAX))
}

fn cx() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

#[test]
fn bytes_come_out_in_order_and_the_end_after_them() {
    let (mut near, mut far) = Pipe::new();
    let mut scratch = [0; 4];
    assert!(far.reader.poll_read(&mut cx(), &mut scratch).is_pending());
    assert!(matches!(near.writer.poll_write(&mut cx(), b"abc", b"def"), Poll::Ready(Ok(6))));
    near.writer.end();
    assert_eq!(far.reader.poll_read(&mut cx(), &mut scratch), Poll::Ready(4));
    assert_eq!(&scratch, b"abcd");
    assert_eq!(far.reader.poll_read(&mut cx(), &mut scratch), Poll::Ready(2));
    assert_eq!(far.reader.poll_read(&mut cx(), &mut scratch), Poll::Ready(0));
    assert!(far.reader.has_ended());
}

#[test]
fn a_full_pipe_takes_no_more_until_it_is_read() {
    let (mut near, mut far) = Pipe::new();
    let block = vec![1; PIPE_BYTES_MAX + 10];
    assert!(matches!(near.writer.poll_write(&mut cx(), &block, &block), Poll::Ready(Ok(PIPE_BYTES_MAX))));
    assert!(near.writer.poll_write(&mut cx(), b"x", b"").is_pending());
    assert_eq!(far.reader.poll_read(&mut cx(), &mut [0; 100]), Poll::Ready(100));
    assert!(matches!(near.writer.poll_write(&mut cx(), &block, b""), Poll::Ready(Ok(100))));
}

#[test]
fn an_end_that_is_dropped_is_noticed_and_is_no_proper_end() {
    let (near, mut far) = Pipe::new();
    drop(near);
    assert_eq!(far.reader.poll_read(&mut cx(), &mut [0; 4]), Poll::Ready(0));
    assert!(!far.reader.has_ended());
    assert!(matches!(far.writer.poll_write(&mut cx(), b"x", b""), Poll::Ready(Err(_))));
}

#[test]
fn a_writer_that_ended_is_not_gone_and_one_that_was_dropped_is() {
    let (mut near, mut far) = Pipe::new();
    assert!(matches!(near.writer.poll_write(&mut cx(), b"abc", b""), Poll::Ready(Ok(3))));
    assert!(far.reader.poll_gone(&mut cx()).is_pending());
    drop(near.writer);
    assert!(far.reader.poll_gone(&mut cx()).is_ready(), "whatever is still to be read");
    far.writer.end();
    drop(far.writer);
    assert!(near.reader.poll_gone(&mut cx()).is_pending());
}

#[test]
fn all_that_is_there_is_taken_at_once() {
    let (mut near, mut far) = Pipe::new();
    assert!(far.reader.poll_take(&mut cx()).is_pending());
    let block = vec![1; PIPE_BYTES_MAX];
    assert!(matches!(near.writer.poll_write(&mut cx(), &block, b""), Poll::Ready(Ok(PIPE_BYTES_MAX))));
    assert_eq!(far.reader.poll_read(&mut cx(), &mut [0; 100]), Poll::Ready(100));
    assert!(matches!(far.reader.poll_take(&mut cx()), Poll::Ready(rest) if rest.len() == PIPE_BYTES_MAX - 100));
    assert!(matches!(near.writer.poll_write(&mut cx(), b"more", b""), Poll::Ready(Ok(4))));
    near.writer.end();
    assert_eq!(far.reader.poll_take(&mut cx()), Poll::Ready(b"more".to_vec()));
    assert_eq!(far.reader.poll_take(&mut cx()), Poll::Ready(Vec::new()));
}

#[test]
fn within_a_task_a_mark_tells_that_somebody_can_go_on() {
    let [there, back] = accounts();
    let (mut near, mut far, moved) = Pipe::within_task(&there, &back);
    assert!(matches!(near.writer.poll_write(&mut cx(), b"abc", b""), Poll::Ready(Ok(3))));
    assert!(!moved.get(), "nobody waited");
    assert!(!near.is_quiet());
    assert_eq!(far.reader.poll_take(&mut cx()), Poll::Ready(b"abc".to_vec()));
    assert!(near.is_quiet());
    assert!(far.reader.poll_take(&mut cx()).is_pending());
    assert!(matches!(near.writer.poll_write(&mut cx(), b"abc", b""), Poll::Ready(Ok(3))));
    assert!(moved.take());
    assert!(near.reader.poll_take(&mut cx()).is_pending());
    drop(far);
    assert!(moved.take(), "an end that goes is noticed");
    assert!(!near.is_quiet());
}

#[test]
fn bytes_are_counted_while_they_are_in_the_pipe() {
    let [there, back] = accounts();
    let (mut near, mut far) = Pipe::counted(&there, &back);
    assert!(near.writer.put(&[b"abc", b"def"]).is_ok());
    assert!(far.writer.put(&[b"gh"]).is_ok());
    assert_eq!([there.bytes(), back.bytes()], [6, 2]);
    assert_eq!(far.reader.poll_read(&mut cx(), &mut [0; 4]), Poll::Ready(4));
    assert_eq!(there.bytes(), 2);
    assert_eq!(near.reader.poll_take(&mut cx()), Poll::Ready(b"gh".to_vec()));
    assert_eq!(back.bytes(), 0);
    drop(far);
    assert_eq!(there.bytes(), 0, "what nobody will read is not held");
}

#[test]
fn a_pipe_of_a_full_account_takes_a_small_piece_and_more_once_that_has_gone() {
    let whole = BufferAccount::new(0);
    let [there, back] = [(); 2].map(|()| BufferAccount::of_stream(&whole));
    let (mut near, mut far) = Pipe::counted(&there, &back);
    let block = vec![1; PIPE_BYTES_MAX];
    let Poll::Ready(Ok(piece)) = near.writer.poll_write(&mut cx(), &block, b"") else { panic!("it takes nothing") };
    assert!((1..PIPE_BYTES_MAX / 2).contains(&piece), "{piece}");
    assert!(near.writer.poll_write(&mut cx(), &block, b"").is_pending());
    // Bytes taken from the pipe are still charged elsewhere.
    let held = there.charge(piece);
    assert!(matches!(far.reader.poll_take(&mut cx()), Poll::Ready(bytes) if bytes.len() == piece));
    assert!(near.writer.poll_room(&mut cx()).is_pending());
    drop(held);
    assert!(matches!(near.writer.poll_room(&mut cx()), Poll::Ready(Ok(room)) if room == piece));
}
