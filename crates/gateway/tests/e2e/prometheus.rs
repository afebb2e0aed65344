//! A real Prometheus server scrapes the gateway: what it stores is what was requested.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Connection, Gateway, PATIENCE, Upstream, api, eventually, get, request};
use crate::servers::free_port;

/// A Prometheus of the test's own, ended with it.
struct Prometheus {
    port: u16,
    child: Child,
    _dir: tempfile::TempDir,
}

impl Prometheus {
    fn start(gateway: &Gateway) -> Prometheus {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("prometheus.yml");
        // JSON is YAML too.
        let conf = json!({
            "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms"},
            "scrape_configs": [{
                "job_name": "tollgate",
                "metrics_path": "/tyk/metrics",
                "authorization": {"credentials": SECRET},
                "static_configs": [{"targets": [format!("127.0.0.1:{}", gateway.port)]}]
            }]
        });
        std::fs::write(&file, conf.to_string()).unwrap();
        let port = free_port();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", dir.path().join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("prometheus, which scripts/test-deps.sh installs");
        let prometheus = Prometheus { port, child, _dir: dir };
        let deadline = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "prometheus does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        prometheus
    }

    /// Answers a question in PromQL: the labels and values that there are.
    fn ask(&self, question: &str) -> Vec<(Value, f64)> {
        let body = format!("query={}", question.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>());
        let form = "Content-Type: application/x-www-form-urlencoded";
        let answer = Connection::open(self.port).ask(request("POST", "/api/v1/query", &[form], &body));
        if answer.status == 503 {
            // It is starting.
            return Vec::new();
        }
        let answer: Value = answer.json();
        assert_eq!(answer["status"], "success", "{answer}");
        let result = answer["data"]["result"].as_array().expect("a vector");
        let value = |sample: &Value| sample["value"][1].as_str().unwrap().parse().unwrap();
        result.iter().map(|sample| (sample["metric"].clone(), value(sample))).collect()
    }

    #[track_caller]
    fn expect(&self, question: &str, value: f64) {
        let mut last = Vec::new();
        eventually(question, || {
            last = self.ask(question);
            last.iter().map(|(_, value)| *value).eq([value])
        });
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_prometheus_server_stores_what_was_requested() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("say \"hi\"", "/shop/", &upstream.url())]);
    let prometheus = Prometheus::start(&gateway);
    prometheus.expect("up{job=\"tollgate\"}", 1.0);
    let mut connection = gateway.connect();
    for _ in 0..137 {
        assert_eq!(connection.ask(get("/shop/")).status, 200);
    }
    connection.ask(request("POST", "/shop/", &[], "12345"));
    prometheus.expect("tollgate_requests_total{api=\"say \\\"hi\\\"\",method=\"GET\",code=\"2xx\"}", 137.0);
    prometheus.expect("sum(tollgate_requests_total)", 138.0);
    prometheus.expect("tollgate_request_body_bytes_total", 5.0);
    prometheus.expect("tollgate_request_duration_seconds_count", 138.0);
    prometheus.expect("tollgate_request_duration_seconds_bucket{le=\"+Inf\"}", 138.0);
    prometheus.expect("count(tollgate_request_duration_seconds_bucket)", 17.0);
    prometheus.expect("tollgate_config_last_reload_success", 1.0);
    prometheus.expect("tollgate_apis", 1.0);
    // Percentiles of histograms can be asked for.
    let p99 = prometheus.ask("histogram_quantile(0.99, tollgate_request_duration_seconds_bucket)");
    assert!(p99.len() == 1 && p99[0].1 > 0.0 && p99[0].1 < 20.0, "{p99:?}");
    // Types and help came along, and every family was taken.
    let metadata: Value = Connection::open(prometheus.port).ask(get("/api/v1/metadata")).json();
    assert_eq!(metadata["data"]["tollgate_request_duration_seconds"][0]["type"], "histogram", "{metadata}");
    let is_ours = |name: &&String| name.starts_with("tollgate_");
    assert!(metadata["data"].as_object().unwrap().keys().filter(is_ours).count() > 30, "{metadata}");
    prometheus.expect("scrape_samples_scraped - scrape_samples_post_metric_relabeling", 0.0);
}
