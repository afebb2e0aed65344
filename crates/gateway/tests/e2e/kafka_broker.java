// A Kafka broker for the tests, on one node, with a producer and an administrator on Kafka's own client. Runs as
// `java -cp 'DIRECTORY/*' kafka_broker.java DIRECTORY PORT PORT PORT`: directory of its logs, ports without and with SASL, port of the controller.
// Says `> ready` when it is, reads a command from each line, and answers `> ok`, or what is wrong behind `> `; other lines are of loggers:
//   restart | create TOPIC PARTITIONS | send TOPIC VALUE | send-compressed CODEC TOPIC VALUE | tombstone TOPIC | abort TOPIC VALUE | members GROUP

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Time;

public class kafka_broker {
    static String address;
    static Properties settings;
    static KafkaRaftServer broker;
    static final Map<String, KafkaProducer<String, String>> producers = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        String[] ports = {arguments[1], arguments[2], arguments[3]};
        address = "127.0.0.1:" + ports[0];
        // What `kafka-storage format` would write.
        Path logs = Files.createDirectories(directory.resolve("logs"));
        if (!Files.exists(logs.resolve("meta.properties"))) {
            Files.writeString(logs.resolve("meta.properties"), "version=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\nnode.id=1\n");
        }
        settings = new Properties();
        settings.load(new StringReader(String.join("\n", settings(logs, ports))));
        start();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
            admin.describeCluster().nodes().get();
            say("ready");
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String told;
                try {
                    told = run(admin, line);
                } catch (Exception error) {
                    told = error.toString().replace('\n', ' ');
                }
                say(told);
            }
        }
        // Without a graceful end: that takes seconds.
        Runtime.getRuntime().halt(0);
    }

    static void start() {
        broker = new KafkaRaftServer(KafkaConfig.fromProps(settings), Time.SYSTEM);
        broker.startup();
    }

    static void say(String text) {
        System.out.println("> " + text);
    }

    static String run(Admin admin, String line) throws Exception {
        String[] words = line.split(" ", 3);
        switch (words[0]) {
            case "restart":
                broker.shutdown();
                broker.awaitShutdown();
                start();
                return "ok";
            case "create":
                admin.createTopics(List.of(new NewTopic(words[1], Integer.parseInt(words[2]), (short) 1))).all().get();
                return "ok";
            case "send":
                send("none", words[1], words[2]);
                return "ok";
            case "send-compressed":
                String[] topic = words[2].split(" ", 2);
                send(words[1], topic[0], topic[1]);
                return "ok";
            case "tombstone":
                send("none", words[1], null);
                return "ok";
            case "abort":
                Map<String, Object> terms = new HashMap<>(terms("none"));
                terms.put("transactional.id", "given-up");
                try (KafkaProducer<String, String> producer = new KafkaProducer<>(terms)) {
                    producer.initTransactions();
                    producer.beginTransaction();
                    producer.send(new ProducerRecord<>(words[1], words[2])).get();
                    producer.abortTransaction();
                }
                return "ok";
            case "members":
                return String.valueOf(admin.describeConsumerGroups(List.of(words[1])).all().get().get(words[1]).members().size());
            default:
                return "unknown command";
        }
    }

    static void send(String codec, String topic, String value) throws Exception {
        producers.computeIfAbsent(codec, name -> new KafkaProducer<>(terms(name))).send(new ProducerRecord<>(topic, value)).get();
    }

    static Map<String, Object> terms(String codec) {
        String serializer = StringSerializer.class.getName();
        return Map.of("bootstrap.servers", address, "compression.type", codec, "linger.ms", "0",
            "key.serializer", serializer, "value.serializer", serializer);
    }

    static List<String> settings(Path logs, String[] ports) {
        String login = "org.apache.kafka.common.security.plain.PlainLoginModule required user_ann=\"secret-of-ann\";";
        String listeners = "PLAINTEXT://127.0.0.1:" + ports[0] + ",SASL_PLAINTEXT://127.0.0.1:" + ports[1];
        return List.of(
            "process.roles=broker,controller", "node.id=1", "controller.quorum.voters=1@127.0.0.1:" + ports[2],
            "listeners=" + listeners + ",CONTROLLER://127.0.0.1:" + ports[2], "advertised.listeners=" + listeners,
            "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.listener.names=CONTROLLER", "inter.broker.listener.name=PLAINTEXT", "sasl.enabled.mechanisms=PLAIN",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config=" + login, "log.dirs=" + logs,
            "offsets.topic.replication.factor=1", "offsets.topic.num.partitions=1", "transaction.state.log.replication.factor=1",
            "transaction.state.log.min.isr=1", "transaction.state.log.num.partitions=1", "group.initial.rebalance.delay.ms=0",
            "auto.create.topics.enable=false", "log.cleaner.enable=false",
            // As long as that, a controller knows a broker that has gone, and takes no new one in its place.
            "broker.session.timeout.ms=3000", "broker.heartbeat.interval.ms=500");
    }
}
