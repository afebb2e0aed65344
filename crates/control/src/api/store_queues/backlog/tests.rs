use super::*;

#[derive(Debug, PartialEq)]
struct Item(String, usize);

impl Storable for Item {
    async fn store(&mut self, _: &Control) -> Result<(), StoreFault> {
        Ok(())
    }

    fn weight(&self) -> usize {
        self.1
    }

    fn described(&self) -> String {
        self.0.clone()
    }

    fn into_gap(self) -> Self {
        Item(format!("gap {}", self.0), 0)
    }

    fn widen(&mut self, other: Self) {
        self.0 = format!("{} {}", self.0, other.0);
    }
}

fn backlog() -> Backlog<Item> {
    Backlog { waiting: VecDeque::new(), weight_max: 3, has_gap: false, since: None }
}

fn names(backlog: &Backlog<Item>) -> Vec<&str> {
    backlog.waiting.iter().map(|item| item.0.as_str()).collect()
}

fn silent() -> StoreFault {
    StoreFault::new(StoreFaultKind::Unavailable, "silent")
}

#[test]
fn the_oldest_leave_one_gap_if_too_many_wait() {
    let mut backlog = backlog();
    ["a", "b", "c", "d", "e"].into_iter().for_each(|name| backlog.push(Item(name.to_owned(), 1)));
    assert_eq!(names(&backlog), ["gap a b", "c", "d", "e"]);
    // One that is too much alone waits all the same.
    backlog.push(Item("large".to_owned(), 9));
    assert_eq!(names(&backlog), ["gap a b c d e", "large"]);
    backlog.take_oldest();
    backlog.push(Item("f".to_owned(), 1));
    assert_eq!(names(&backlog), ["gap large", "f"]);
}

#[test]
fn one_is_given_up_after_a_while_and_a_gap_never() {
    let (mut backlog, mut now) = (backlog(), Instant::now());
    ["a", "b"].into_iter().for_each(|name| backlog.push(Item(name.to_owned(), 1)));
    backlog.note(&silent(), now);
    now += TIME_MAX / 2;
    backlog.note(&silent(), now);
    assert_eq!(names(&backlog), ["a", "b"]);
    for _ in 0..3 {
        now += TIME_MAX;
        backlog.note(&silent(), now);
        assert_eq!(names(&backlog), ["gap a", "b"]);
    }
    // The next one has its own time.
    backlog.take_oldest();
    backlog.note(&silent(), now);
    assert_eq!(names(&backlog), ["b"]);
    backlog.note(&StoreFault::new(StoreFaultKind::TooLarge, "too large"), now);
    assert_eq!(names(&backlog), ["gap b"]);
}
