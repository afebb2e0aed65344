use super::*;
use crate::subscribers::WAITING_MAX;
use crate::terms::AssignmentStrategy;
use bytes::Bytes;
use rdkafka::ClientConfig;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{BaseProducer, BaseRecord, DefaultProducerContext, Producer};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const PATIENCE: Duration = Duration::from_secs(30);

/// Brokers within this process.
struct Brokers {
    cluster: MockCluster<'static, DefaultProducerContext>,
    producer: BaseProducer,
    runtime: Runtime,
}

impl Brokers {
    fn start() -> Brokers {
        let cluster = MockCluster::new(1).unwrap();
        cluster.create_topic("prices", 2, 1).unwrap();
        let producer = ClientConfig::new().set("bootstrap.servers", cluster.bootstrap_servers()).create().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        Brokers { cluster, producer, runtime }
    }

    fn terms(&self, group: &str) -> ConsumerTerms {
        ConsumerTerms { brokers: vec![self.cluster.bootstrap_servers()], group: group.to_owned(), ..crate::terms::tests::terms() }
    }

    fn send(&self, value: &str) {
        self.producer.send(BaseRecord::<(), str>::to("prices").partition(0).payload(value)).unwrap();
        self.producer.flush(PATIENCE).unwrap();
    }

    fn next(&self, records: &mut TopicRecords) -> Result<String, ConsumerFault> {
        let next = async { tokio::time::timeout(PATIENCE, records.next()).await.expect("no record") };
        self.runtime.block_on(next).map(|record| String::from_utf8(record.to_vec()).unwrap())
    }

    /// Sends records until the first one arrives: a consumer has to find its place first. Returns all that arrive.
    fn begin(&self, records: &mut TopicRecords) {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            self.send("hello");
            let next = async { tokio::time::timeout(Duration::from_millis(200), records.next()).await };
            if let Ok(record) = self.runtime.block_on(next) {
                assert_eq!(record, Ok(Bytes::from("hello")));
                return;
            }
        }
        panic!("no record arrives");
    }

    fn next_but_hello(&self, records: &mut TopicRecords) -> String {
        loop {
            let next = self.next(records).unwrap();
            if next != "hello" {
                return next;
            }
        }
    }
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn subscribers_on_the_same_terms_share_a_consumer_that_ends_with_the_last() {
    let brokers = Brokers::start();
    let consumers = Consumers::default();
    let mut first = consumers.subscribe(brokers.terms("shared")).unwrap();
    let mut second = consumers.subscribe(brokers.terms("shared")).unwrap();
    brokers.begin(&mut first);
    brokers.send("1");
    brokers.send("2");
    for records in [&mut first, &mut second] {
        assert_eq!(brokers.next_but_hello(records), "1");
        assert_eq!(brokers.next(records).unwrap(), "2");
    }
    assert_eq!(consumers.count(), 1);
    drop(first);
    brokers.send("3");
    assert_eq!(brokers.next(&mut second).unwrap(), "3");
    drop(second);
    wait_for("the consumer goes on", || consumers.count() == 0);
}

#[test]
fn all_strategies_get_partitions() {
    let brokers = Brokers::start();
    let consumers = Consumers::default();
    let strategies = [AssignmentStrategy::Range, AssignmentStrategy::RoundRobin, AssignmentStrategy::Sticky];
    let terms = strategies.into_iter().flat_map(|assignment| [(assignment, false), (assignment, true)]);
    let open = |(assignment, starts_at_end)| {
        // Brokers take their time before a group has its first members.
        let group = format!("{assignment:?}-{starts_at_end}");
        let terms = ConsumerTerms { assignment, starts_at_end, reads_committed: true, ..brokers.terms(&group) };
        consumers.subscribe(terms).unwrap()
    };
    let mut open: Vec<TopicRecords> = terms.map(open).collect();
    open.iter_mut().for_each(|records| brokers.begin(records));
}

#[test]
fn what_cannot_be_consumed_ends_with_the_reason() {
    let brokers = Brokers::start();
    let consumers = Consumers::default();
    brokers.cluster.topic_error("prices", rdkafka::types::RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_address = silent.local_addr().unwrap().to_string();
    let terms = || brokers.terms("reasons");
    let cases = [
        ("no right", terms(), "authorization failed"),
        ("no broker", ConsumerTerms { brokers: vec![free.to_string()], ..terms() }, "refused"),
        ("a silent broker", ConsumerTerms { brokers: vec![silent_address], ..terms() }, "transport failure"),
    ];
    for (case, terms, expected) in cases {
        let mut records = consumers.subscribe(terms).unwrap();
        let Err(ConsumerFault::Unavailable(why)) = brokers.next(&mut records) else { panic!("{case}") };
        assert!(why.to_lowercase().contains(expected), "{case}: {why}");
    }
    let bad = ConsumerTerms { topics: vec!["^.*".to_owned()], ..terms() };
    assert!(matches!(consumers.subscribe(bad), Err(ConsumerFault::Terms(_))));
    wait_for("consumers go on", || consumers.count() == 0);
}

#[test]
fn a_slow_subscriber_loses_the_subscription_and_no_other_does() {
    let brokers = Brokers::start();
    let consumers = Consumers::default();
    let mut slow = consumers.subscribe(brokers.terms("slow")).unwrap();
    let mut quick = consumers.subscribe(brokers.terms("slow")).unwrap();
    brokers.begin(&mut quick);
    // More than may wait, however many greetings there were.
    let count = WAITING_MAX + 5;
    (0..count).for_each(|number| brokers.send(&number.to_string()));
    for number in 0..count {
        assert_eq!(brokers.next_but_hello(&mut quick), number.to_string());
    }
    let mut taken = 0;
    let end = loop {
        match brokers.next(&mut slow) {
            Ok(_) => taken += 1,
            Err(fault) => break fault,
        }
    };
    assert_eq!((taken, end), (WAITING_MAX, ConsumerFault::TooSlow));
    brokers.send("further");
    assert_eq!(brokers.next(&mut quick).unwrap(), "further");
}

#[test]
fn consumers_are_counted_and_bounded() {
    let open = Arc::new(OpenConsumers::default());
    let threads: Vec<_> = (0..CONSUMERS_MAX).map(|_| open.clone().thread().unwrap_or_else(|fault| panic!("{fault}"))).collect();
    assert!(matches!(open.clone().thread(), Err(ConsumerFault::TooMany)));
    drop(threads);
    assert!(open.thread().is_ok());
}
