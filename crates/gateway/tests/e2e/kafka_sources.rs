//! Subscriptions to topics of Kafka, with a real broker. Records come from Kafka's own client; all tests have one broker, and each its own topics.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::graphql_sockets::GraphqlSocket;
use crate::harness::{Definition, Gateway, PATIENCE, Upstream, api, eventually, reply, request, skip};
use crate::upgrade;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/kafka_broker.java");
const SCHEMA: &str = "
type Query { stock: Stock }
type Subscription { stock(name: String): Stock price(name: String!): Float }
type Stock { name: String count: Int owner: Owner }
type Owner { id: ID name: String }
";

/// A broker that is told what to do by lines.
struct KafkaBroker {
    libraries: PathBuf,
    directory: TempDir,
    ports: [String; 3],
    child: Child,
    says: ChildStdin,
    hears: BufReader<ChildStdout>,
}

/// The broker of all tests; it ends with their process.
fn broker() -> Option<MutexGuard<'static, KafkaBroker>> {
    static BROKER: OnceLock<Option<Mutex<KafkaBroker>>> = OnceLock::new();
    let broker = BROKER.get_or_init(|| KafkaBroker::start().map(Mutex::new)).as_ref();
    if broker.is_none() {
        skip("there is no Kafka broker: see scripts/test-deps.sh");
    }
    let mut broker = broker?.lock().unwrap_or_else(PoisonError::into_inner);
    // A test that failed may have left none: the others say nothing of that.
    if broker.child.try_wait().expect("a child").is_some() {
        (broker.child, broker.says, broker.hears) = run(&broker.libraries, &broker.directory, &broker.ports);
    }
    Some(broker)
}

/// Where `scripts/test-deps.sh` has put the broker; `None` where it could not, and has said why.
fn libraries() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this test");
    let directory = program.ancestors().nth(3).expect("the target directory").join("test-kafka");
    if let Ok(reason) = std::fs::read_to_string(directory.join("unavailable")) {
        skip(&reason);
        return None;
    }
    assert!(directory.join("lib").exists(), "{} is missing: run scripts/test-deps.sh tests", directory.display());
    Some(directory.join("lib"))
}

/// Starts the broker; one that does not answer in the minute that Kafka's client gives it, beside much else, gets two more.
fn run(libraries: &Path, directory: &TempDir, ports: &[String; 3]) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let log = directory.path().join("stderr");
    for _ in 0..3 {
        let mut child = Command::new("java")
            .args([
                "-Xmx384m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                &format!("{}/*", libraries.display()),
                PROGRAM,
            ])
            .arg(directory.path())
            .args(ports)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .expect("java runs");
        let (says, mut hears) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        if answer(&mut hears).as_deref() == Some("ready") {
            return (child, says, hears);
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    panic!("the broker does not start: {}", std::fs::read_to_string(&log).unwrap());
}

/// The next answer of a broker, or `None` if it has ended. What else it writes is of its loggers.
fn answer(hears: &mut BufReader<ChildStdout>) -> Option<String> {
    hears.lines().map_while(Result::ok).find_map(|line| Some(line.strip_prefix("> ")?.trim().to_owned()))
}

impl KafkaBroker {
    fn start() -> Option<KafkaBroker> {
        let libraries = libraries()?;
        let directory = tempfile::tempdir().unwrap();
        let ports = [(); 3].map(|()| crate::servers::free_port().to_string());
        let (child, says, hears) = run(&libraries, &directory, &ports);
        Some(KafkaBroker { libraries, directory, ports, child, says, hears })
    }

    fn tell(&mut self, command: &str) -> String {
        writeln!(self.says, "{command}").unwrap();
        answer(&mut self.hears).unwrap_or_else(|| "the broker has ended".to_owned())
    }

    fn order(&mut self, command: &str) {
        assert_eq!(self.tell(command), "ok", "{command}");
    }

    /// A source with topics of this broker.
    fn source(&self, field: &str, group: &str, config: Value) -> Value {
        let mut all = json!({
            "broker_addresses": [format!("127.0.0.1:{}", self.ports[0])], "group_id": group, "client_id": "gateway-{{.request.headers.X-Client}}",
        });
        all.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
        json!({"kind": "Kafka", "name": field, "root_fields": [{"type": "Subscription", "fields": [field]}], "config": all})
    }

    /// Sends records until the client gets the first one: a consumer has to find its place first.
    fn begin(&mut self, topic: &str, value: &Value, client: &mut GraphqlSocket) -> Value {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            self.order(&format!("send {topic} {value}"));
            if let Some(message) = client.message_within(Duration::from_millis(300)) {
                return message;
            }
        }
        panic!("no record of {topic} arrives");
    }
}

fn graph(id: &str, sources: &[Value]) -> Definition {
    let engine = json!({"data_sources": sources, "field_configs": [
        {"type_name": "Subscription", "field_name": "price", "path": ["prices", "[0]", "now"]},
        {"type_name": "Stock", "field_name": "owner", "disable_default_mapping": true},
    ]});
    let graphql = json!({"enabled": true, "execution_mode": "executionEngine", "version": "2", "schema": SCHEMA, "engine": engine});
    api(id, &format!("/{id}/"), "").set("graphql", graphql)
}

fn stock(count: i64) -> Value {
    json!({"stock": {"name": "nails", "count": count}})
}

/// The count of the next record that is no greeting.
fn next_count(client: &mut GraphqlSocket) -> i64 {
    loop {
        let message = client.message();
        let count = message["payload"]["data"]["stock"]["count"].as_i64().unwrap_or_else(|| panic!("{message}"));
        if count != 0 {
            return count;
        }
    }
}

#[test]
fn records_reach_every_client_with_what_other_sources_know() {
    let Some(mut broker) = broker() else { return };
    broker.order("create shop.nails 1");
    let owners = Upstream::start(|seen| reply("200 OK", &[], &format!(r#"{{"id": "{}", "name": "Ann"}}"#, seen.target)));
    let owner = json!({"kind": "REST", "name": "owner", "root_fields": [{"type": "Stock", "fields": ["owner"]}],
                       "config": {"url": format!("{}/of/{{{{.object.name}}}}", owners.url())}});
    let topic = json!({"topics": ["shop.{{.arguments.name}}"]});
    let gateway = Gateway::start(upgrade::enabled(), [graph("k", &[broker.source("stock", "all", topic), owner])]);
    let text = r#"subscription { stock(name: "nails") { name count owner { id name } } }"#;
    let mut clients = ["graphql-transport-ws", "graphql-ws", "graphql-ws"].map(|name| GraphqlSocket::open(&gateway, "/k/", name));
    clients.iter_mut().for_each(|client| {
        client.start(text);
    });
    let mut events = gateway.connect();
    events.send(request(
        "POST",
        "/k/",
        &["Content-Type: application/json", "Accept: text/event-stream"],
        &json!({ "query": text }).to_string(),
    ));
    for client in &mut clients {
        let first = broker.begin("shop.nails", &stock(0), client);
        let owner = json!({"id": "/of/nails", "name": "Ann"});
        assert_eq!(first["payload"], json!({"data": {"stock": {"name": "nails", "count": 0, "owner": owner}}}));
    }
    for (number, codec) in ["none", "gzip", "snappy", "lz4", "zstd"].into_iter().enumerate() {
        let count = number as i64 + 1;
        broker.order(&format!("send-compressed {codec} shop.nails {}", stock(count)));
        clients.iter_mut().for_each(|client| assert_eq!(next_count(client), count, "{codec}"));
    }
    assert_eq!(events.head().unwrap().get("content-type"), Some("text/event-stream"));
    let mut heard = String::new();
    while !heard.contains(r#""count":5"#) {
        heard.push_str(&String::from_utf8(events.chunk().unwrap()).unwrap());
    }
    // One consumer for all of them, which ends with the last.
    assert_eq!(broker.tell("members all"), "1");
    drop((clients, events));
    eventually("the consumer ends", || {
        // Events of HTTP cannot be sent any more: then it is known that the client has gone.
        broker.order(&format!("send shop.nails {}", stock(0)));
        broker.tell("members all") == "0"
    });
    gateway.expect_no_panic();
}

#[test]
fn a_record_that_is_no_value_is_an_error_of_its_event_alone() {
    let Some(mut broker) = broker() else { return };
    broker.order("create prices 1");
    let gateway =
        Gateway::start(upgrade::enabled(), [graph("k", &[broker.source("price", "prices", json!({"topics": ["prices"]}))])]);
    let mut client = GraphqlSocket::open(&gateway, "/k/", "graphql-transport-ws");
    client.start(r#"subscription { price(name: "x") }"#);
    let price = |now: Value| json!({"prices": [{"now": now}]});
    let mut first = broker.begin("prices", &price(json!(0)), &mut client);
    broker.order("send prices {not json");
    broker.order("tombstone prices");
    broker.order(r#"send prices {"prices": {}}"#);
    broker.order(&format!("send prices {}", price(json!("dear"))));
    broker.order(&format!("send prices {}", price(json!(2.5))));
    while first["payload"]["data"]["price"] == 0.0 {
        first = client.message();
    }
    let code = |message: &Value| message["payload"]["errors"][0]["extensions"]["code"].clone();
    assert_eq!((code(&first), &first["payload"]["data"]), (json!("SOURCE_ANSWER"), &json!({"price": null})));
    for expected in [Value::Null, Value::Null, json!("SOURCE_VALUE")] {
        let message = client.message();
        assert_eq!((code(&message), &message["payload"]["data"]), (expected, &json!({"price": null})), "{message}");
    }
    assert_eq!(client.message()["payload"], json!({"data": {"price": 2.5}}));
}

#[test]
fn groups_go_on_where_they_were_and_committed_records_can_be_told_from_others() {
    let Some(mut broker) = broker() else { return };
    broker.order("create levels 1");
    let sasl = json!({"enable": true, "user": "ann", "password": "secret-of-ann"});
    let secured = json!([format!("127.0.0.1:{}", broker.ports[1])]);
    let of = |broker: &KafkaBroker, group: &str, config: Value| {
        let mut config = config;
        config["topics"] = json!(["levels"]);
        broker.source("stock", group, config)
    };
    let definitions = [
        graph("all", &[of(&broker, "levels-all", json!({}))]),
        graph(
            "committed",
            &[of(
                &broker,
                "levels-committed",
                json!({"isolation_level": "ReadCommitted", "balance_strategy": "BalanceStrategySticky"}),
            )],
        ),
        graph(
            "latest",
            &[of(&broker, "levels-all", json!({"start_consuming_latest": true, "balance_strategy": "BalanceStrategyRoundRobin"}))],
        ),
        graph("secured", &[of(&broker, "levels-secured", json!({"sasl": sasl, "broker_addresses": secured}))]),
    ];
    let gateway = Gateway::start(upgrade::enabled(), definitions);
    let subscribe = |path: &str| {
        let mut client = GraphqlSocket::open(&gateway, path, "graphql-transport-ws");
        client.start("subscription { stock { count } }");
        client
    };
    let [mut all, mut committed, mut secured] = ["/all/", "/committed/", "/secured/"].map(subscribe);
    for client in [&mut all, &mut committed, &mut secured] {
        broker.begin("levels", &stock(0), client);
    }
    broker.order(&format!("abort levels {}", stock(1)));
    broker.order(&format!("send levels {}", stock(2)));
    for client in [&mut all, &mut secured] {
        assert_eq!((next_count(client), next_count(client)), (1, 2));
    }
    assert_eq!(next_count(&mut committed), 2);
    drop((all, secured));
    eventually("the group is empty", || broker.tell("members levels-all") == "0");
    broker.order(&format!("send levels {}", stock(3)));
    let mut again = subscribe("/all/");
    assert_eq!(next_count(&mut again), 3);
    drop(again);
    eventually("the group is empty", || broker.tell("members levels-all") == "0");
    broker.order(&format!("send levels {}", stock(4)));
    let mut latest = subscribe("/latest/");
    broker.begin("levels", &stock(0), &mut latest);
    broker.order(&format!("send levels {}", stock(5)));
    assert_eq!(next_count(&mut latest), 5);
}

#[test]
fn what_cannot_be_consumed_is_told_and_ends_the_subscription() {
    let Some(mut broker) = broker() else { return };
    broker.order("create present 1");
    let free = format!("127.0.0.1:{}", crate::servers::free_port());
    let secured = json!([format!("127.0.0.1:{}", broker.ports[1])]);
    let topic = json!(["{{.arguments.name}}"]);
    let wrong = json!({"enable": true, "user": "ann", "password": "guessed"});
    let cases = [
        ("absent topic", json!({"topics": topic}), "absent", "SOURCE_UNAVAILABLE"),
        ("a pattern from a client", json!({"topics": topic}), "^.*", "SOURCE_REQUEST"),
        ("no broker", json!({"topics": topic, "broker_addresses": [free]}), "present", "SOURCE_UNAVAILABLE"),
        ("wrong password", json!({"topics": topic, "sasl": wrong, "broker_addresses": secured}), "present", "SOURCE_UNAVAILABLE"),
        ("no credentials", json!({"topics": topic, "broker_addresses": secured}), "present", "SOURCE_UNAVAILABLE"),
    ];
    let definitions = cases
        .iter()
        .enumerate()
        .map(|(index, (_, config, ..))| graph(&format!("k{index}"), &[broker.source("stock", "failing", config.clone())]));
    let gateway = Gateway::start(upgrade::enabled(), definitions);
    // All at once: some wait for their time to be over.
    let opened: Vec<_> = cases
        .iter()
        .enumerate()
        .map(|(index, (_, _, name, _))| {
            let mut client = GraphqlSocket::open(&gateway, &format!("/k{index}/"), "graphql-transport-ws");
            client.start(&format!("subscription {{ stock(name: \"{name}\") {{ count }} }}"));
            client
        })
        .collect();
    for ((case, _, _, code), mut client) in cases.into_iter().zip(opened) {
        let message = client.message();
        assert_eq!(message["payload"]["errors"][0]["extensions"]["code"], code, "{case}: {message}");
        assert_eq!(message["payload"]["data"], json!({"stock": null}), "{case}");
        assert!(!message.to_string().contains("127.0.0.1"), "clients learn no address: {message}");
        assert_eq!(client.message()["type"], "complete", "{case}");
        // The socket goes on.
        assert_eq!(client.run("{ __typename }"), [json!({"data": {"__typename": "Query"}})]);
    }
    let log = gateway.log();
    for reason in ["Unknown topic", "refused", "uthentication failed"] {
        assert!(log.contains(reason), "{reason}: {log}");
    }
    assert!(!log.contains("guessed") && !log.contains("secret-of-ann"), "{log}");
}

#[test]
fn subscriptions_outlive_a_broker_that_is_started_again() {
    let Some(mut broker) = broker() else { return };
    broker.order("create outage 1");
    let gateway =
        Gateway::start(upgrade::enabled(), [graph("k", &[broker.source("stock", "outage", json!({"topics": ["outage"]}))])]);
    let mut client = GraphqlSocket::open(&gateway, "/k/", "graphql-transport-ws");
    client.start("subscription { stock { count } }");
    broker.begin("outage", &stock(0), &mut client);
    // Some seconds, also beside much else: without a broker for thirty, the gateway gives it up.
    broker.order("restart");
    assert_eq!(client.message_within(Duration::from_secs(1)).filter(|message| message["type"] == "complete"), None);
    // Broker and group take up to a minute until they go on.
    let deadline = Instant::now() + 3 * PATIENCE;
    let message = loop {
        assert!(Instant::now() < deadline, "the subscription does not go on");
        broker.order(&format!("send outage {}", stock(1)));
        if let Some(message) =
            client.message_within(Duration::from_secs(1)).filter(|message| message["payload"]["data"]["stock"]["count"] != 0)
        {
            break message;
        }
    };
    assert_eq!(message["payload"]["data"]["stock"]["count"], 1, "{message}");
}
