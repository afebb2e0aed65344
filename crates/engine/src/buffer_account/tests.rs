use super::*;

fn part(whole: &Rc<BufferAccount>) -> Rc<BufferAccount> {
    BufferAccount::of_stream(whole)
}

#[test]
fn bytes_count_for_the_stream_its_connection_and_the_core_until_they_are_dropped() {
    let core = BufferAccount::new(1000);
    let connection = BufferAccount::of_connection(&core, 100);
    let (one, other) = (part(&connection), part(&connection));
    let mut charge = one.charge(30);
    other.add(20);
    assert_eq!([one.bytes(), other.bytes(), connection.bytes(), core.bytes()], [30, 20, 50, 50]);
    drop(charge.split(10));
    assert_eq!([one.bytes(), connection.bytes(), core.bytes()], [20, 40, 40]);
    charge.grow(5);
    assert_eq!(connection.bytes(), 45);
    drop(charge);
    other.subtract(20);
    assert_eq!([one.bytes(), other.bytes(), connection.bytes(), core.bytes()], [0; 4]);
}

#[test]
fn a_stream_of_a_full_connection_or_core_keeps_a_small_piece() {
    for (connection_max, core_max) in [(10_000, usize::MAX), (usize::MAX, 10_000)] {
        let core = BufferAccount::new(core_max);
        let connection = BufferAccount::of_connection(&core, connection_max);
        let (greedy, modest) = (part(&connection), part(&connection));
        assert_eq!(modest.room(65_536), 65_536);
        let charge = greedy.charge(10_000);
        assert_eq!((greedy.room(65_536), modest.room(65_536)), (0, STREAM_BYTES_MIN));
        modest.add(1000);
        assert_eq!(modest.room(65_536), STREAM_BYTES_MIN - 1000);
        assert_eq!(modest.room(10), 10);
        drop(charge);
        assert_eq!(greedy.room(65_536), 65_536);
    }
}

#[test]
fn others_are_not_narrowed_by_one_connection_that_is_full() {
    let core = BufferAccount::new(1 << 20);
    let (full, other) = (BufferAccount::of_connection(&core, 100), BufferAccount::of_connection(&core, 100));
    full.add(100);
    assert_eq!((part(&full).room(65_536), part(&other).room(65_536)), (STREAM_BYTES_MIN, 65_536));
}

#[test]
fn streams_of_a_full_connection_share_what_it_may_hold() {
    let core = BufferAccount::new(1 << 21);
    let connection = BufferAccount::of_connection(&core, 1 << 20);
    let stream = part(&connection);
    let charge = connection.charge(1 << 20);
    for (streams, share) in [(4, 65_536), (16, 65_536), (32, 32_768), (250, 4194), (1000, STREAM_BYTES_MIN)] {
        connection.set_streams(streams);
        assert_eq!(stream.room(65_536), share, "{streams} streams");
    }
    connection.set_streams(16);
    stream.add(60_000);
    assert_eq!(stream.room(65_536), 5_536);
    stream.subtract(60_000);
    // When the core is over its limit, there is no share to hand out.
    let others = core.charge(1 << 20);
    assert_eq!(stream.room(65_536), STREAM_BYTES_MIN);
    drop((charge, others));
    assert_eq!(stream.room(65_536), 65_536);
}
