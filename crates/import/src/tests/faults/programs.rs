//! The gateways themselves say which lines they would not load.

use super::{GARBAGE, is_as_before, write_and_import};
use std::path::Path;
use std::process::Command;

const HAPROXY: &str = r#"global
  maxconn 100
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
frontend web
  bind 127.0.0.1:8082
  bind 127.0.0.1:8083 alpn http/1.1 name second
  acl is_api path_beg /api
  acl inside src 10.0.0.0/8
  acl get method GET
  http-request deny deny_status 429 if !inside
  http-request redirect code 301 location /new if { path /old }
  http-request set-header X-A b
  http-request del-header X-B
  use_backend api if is_api get
  use_backend other if { hdr(host) -i a.test } or { path_end .png }
  use_backend rest
  default_backend rest
backend api
  balance leastconn
  option httpchk GET /health
  timeout server 3s
  server a 10.0.0.1:80 check inter 2s rise 2 fall 3
  server b 10.0.0.2:80 check weight 2 maxconn 50
backend other
  http-request replace-path /v1/(.*) /\1
  http-response set-header X-C d
  server c 10.0.0.3:80
  server d 10.0.0.4:80 disabled
backend rest
  http-request return status 404 content-type text/plain string "no such"
"#;

const NGINX: &str = r#"pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  limit_req_zone $binary_remote_addr zone=slow:1m rate=10r/s;
  limit_conn_zone $binary_remote_addr zone=few:1m;
  upstream pool {
    least_conn;
    server 10.0.0.1:80 weight=2 max_fails=3 fail_timeout=10s;
    server 10.0.0.2:80 down;
  }
  server {
    listen 127.0.0.1:8084 default_server;
    server_name a.test *.b.test;
    client_max_body_size 10m;
    satisfy all;
    location = /exact {
      return 404;
    }
    location ~ ^/old/(.*)$ {
      return 301 /new/$1;
    }
    location /api/ {
      proxy_pass http://pool;
      proxy_set_header Host $host;
      proxy_read_timeout 5s;
      proxy_next_upstream_tries 2;
      limit_req zone=slow burst=5 nodelay;
      limit_conn few 10;
      allow 10.0.0.0/8;
      deny all;
      add_header X-A b always;
      expires 1h;
    }
    location /v1/ {
      rewrite ^/v1/(.*)$ /$1 break;
      proxy_pass http://10.0.0.3:80;
      proxy_hide_header X-B;
      proxy_ssl_verify off;
    }
  }
}
"#;

const CADDY: &str = r#"{
	admin off
	auto_https off
}
http://a.test:8085, http://b.test:8085 {
	header X-A b
	request_body {
		max_size 10MB
	}
	@reads {
		method GET HEAD
		path /data/*
	}
	@inside remote_ip 10.0.0.0/8
	respond @reads "read" 200
	redir /old /new permanent
	handle_path /api/* {
		reverse_proxy 10.0.0.1:80 10.0.0.2:80 {
			lb_policy round_robin
			lb_retries 2
			health_uri /health
			health_interval 10s
			health_status 200
			max_fails 3
			fail_duration 30s
			header_up X-C d
			header_down -X-D
		}
	}
	handle @inside {
		uri strip_prefix /in
		reverse_proxy {
			to 10.0.0.3:80
		}
	}
	handle {
		respond 404
	}
}
"#;

/// A text with one word changed.
fn changed(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_closing = words.iter().all(|word| matches!(*word, "}" | "{" | "{}"));
        for at in 0..if is_closing { 0 } else { words.len() } {
            // What ends the line stays.
            let end = words[at].chars().last().filter(|end| *end == ';').map(String::from).unwrap_or_default();
            if matches!(words[at], "{" | "}" | "{}") {
                continue;
            }
            for with in [
                vec![format!("{GARBAGE}{end}")],
                vec![end.clone()],
                vec![words[at].trim_end_matches(';').to_owned(), words[at].to_owned()],
            ] {
                let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
                words.splice(at..=at, with);
                let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
                lines[index] = format!("{indent}{}", words.join(" ").trim());
                all.push((index + 1, lines.join("\n") + "\n"));
            }
        }
    }
    all
}

/// The lines that a program does not load, as far as it says them; `None` if it loads all. `mark` stands before their numbers.
fn refused(mut command: Command, mark: &str) -> Option<Vec<usize>> {
    let output = command.output().unwrap();
    if output.status.success() {
        return None;
    }
    let told = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    // Whether there is a host of that name, the file does not say.
    if ["host not found", "could not resolve address"].iter().any(|words| told.contains(words)) {
        return None;
    }
    let number = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    let is_fatal = |line: &&str| !line.contains("[WARNING]") && !line.contains("[warn]");
    // The innermost block is named last.
    Some(told.lines().filter(is_fatal).filter_map(|line| number(line.rsplit_once(mark)?.1)).collect())
}

/// Whatever the program does not load at a line, the report does not say to be carried over.
fn check(name: &str, text: &str, mark: &str, command: &dyn Fn(&Path) -> Command) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(name);
    let asks = |text: &str| {
        std::fs::write(&file, text).unwrap();
        refused(command(directory.path()), mark)
    };
    std::fs::write(&file, text).unwrap();
    let output = command(directory.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut faults, mut count) = (Vec::new(), 0);
    for (changed_line, changed) in changed(text) {
        let Some(mut lines) = asks(&changed) else { continue };
        count += 1;
        let report = match write_and_import(name, &changed) {
            Ok(moved) => moved.report,
            Err(_) => continue,
        };
        // What follows from a line is not its own fault.
        if lines.contains(&changed_line) {
            lines.retain(|line| *line == changed_line);
        }
        // Ends of blocks are no items.
        lines.retain(|line| report.items().iter().any(|item| item.line == *line));
        if lines.is_empty() {
            lines.push(changed_line);
        }
        for line in lines {
            let items: Vec<_> = report.items().into_iter().filter(|item| item.line == line).collect();
            let is_told = items.iter().any(|item| !is_as_before(&item.outcome));
            let is_carried = items.iter().any(|item| is_as_before(&item.outcome));
            if is_carried || !is_told {
                faults.push(format!("{line}: {}: {items:?}", changed.lines().nth(line - 1).unwrap_or_default()));
            }
        }
    }
    assert!(count > 50, "{name}: the program refuses {count} changes");
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn what_haproxy_would_not_load_is_not_carried_over() {
    check("haproxy.cfg", HAPROXY, "haproxy.cfg:", &|directory| {
        let mut command = Command::new("haproxy");
        command.arg("-c").arg("-f").arg(directory.join("haproxy.cfg"));
        command
    });
}

#[test]
fn what_nginx_would_not_load_is_not_carried_over() {
    check("nginx.conf", NGINX, "nginx.conf:", &|directory| {
        let mut command = Command::new("nginx");
        command.arg("-t").arg("-p").arg(directory).arg("-c").arg(directory.join("nginx.conf"));
        command
    });
}

#[test]
fn what_caddy_would_not_load_is_not_carried_over() {
    check("Caddyfile", CADDY, "Caddyfile:", &|directory| {
        let mut command = Command::new("caddy");
        command.arg("adapt").arg("--config").arg(directory.join("Caddyfile")).env("HOME", directory);
        command
    });
}
