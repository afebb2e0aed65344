use crate::{ForeignFormat, import};
use std::fs;
use std::path::Path;

/// Why a text cannot be read.
fn failure(format: ForeignFormat, text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("input");
    fs::write(&file, text).unwrap();
    import(&file, Some(format)).unwrap_err().to_string()
}

#[test]
fn files_that_include_themselves_are_named() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.conf"), "include b.conf;").unwrap();
    fs::write(directory.path().join("b.conf"), "\ninclude a.conf;").unwrap();
    let why = import(&directory.path().join("a.conf"), Some(ForeignFormat::Nginx)).unwrap_err().to_string();
    assert!(why.contains("b.conf:2: a.conf includes itself"), "{why}");
}

#[test]
fn files_that_are_too_large_are_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("kong.yaml");
    fs::File::create(&file).unwrap().set_len(100 << 20).unwrap();
    assert!(import(&file, None).unwrap_err().to_string().contains("too large"));
    // Together they count as one.
    fs::write(directory.path().join("nginx.conf"), "include kong.yaml;\nserver { location / { proxy_pass http://a; } }").unwrap();
    let report = import(&directory.path().join("nginx.conf"), Some(ForeignFormat::Nginx)).unwrap().report.to_text();
    assert!(report.contains("too large"), "{report}");
}

#[test]
fn devices_are_not_read() {
    assert!(import(Path::new("/dev/zero"), Some(ForeignFormat::Kong)).unwrap_err().to_string().contains("not a regular file"));
}

#[test]
fn symbolic_links_do_not_lead_a_pattern_out_of_its_directory() {
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("conf.d");
    fs::create_dir(&inside).unwrap();
    fs::write(directory.path().join("secret"), "server { listen 81; location / { proxy_pass http://secret; } }").unwrap();
    std::os::unix::fs::symlink(directory.path().join("secret"), inside.join("a.conf")).unwrap();
    let file = directory.path().join("nginx.conf");
    fs::write(&file, "include conf.d/*.conf;\nserver { listen 80; location / { proxy_pass http://a; } }").unwrap();
    let moved = import(&file, Some(ForeignFormat::Nginx)).unwrap();
    assert!(moved.report.to_text().contains("leads out of the directory"));
    assert!(!moved.files.iter().any(|file| file.text.contains("http://secret")));
}

#[test]
fn deep_nesting_ends_with_a_message() {
    let nginx = format!("{}{}", "a {".repeat(100_000), "}".repeat(100_000));
    assert!(failure(ForeignFormat::Nginx, &nginx).contains("nested deeper"));
    for format in [ForeignFormat::Kong, ForeignFormat::Krakend] {
        let why = failure(format, &"[".repeat(100_000));
        assert!(why.contains("nested deeper") || why.contains("not valid"), "{why}");
    }
    let blocks = (0..5_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect::<String>();
    let why = failure(ForeignFormat::Kong, &blocks);
    assert!(why.contains("nested deeper") || why.contains("not valid"), "{why}");
}

#[test]
fn aliases_do_not_multiply_without_bound() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let list = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    assert!(failure(ForeignFormat::Kong, &text).contains("more than"), "{text}");
}

#[test]
fn broken_files_are_told_with_their_line() {
    let cases = [
        (ForeignFormat::Nginx, "server {\n listen 80;\n", "has no }"),
        (ForeignFormat::Nginx, "server {\n listen 80\n}", ":3: "),
        (ForeignFormat::Nginx, "a \"b", "quotation mark"),
        (ForeignFormat::Nginx, "}", "closes nothing"),
        (ForeignFormat::Kong, "a: [", "not valid"),
        (ForeignFormat::Kong, "just text", "no object"),
        (ForeignFormat::Krakend, "{{ template }}", "template"),
        (ForeignFormat::Traefik, "a", "must be an object"),
        (ForeignFormat::Traefik, "http: {}", "no routers"),
        (ForeignFormat::Haproxy, " bind :80", "before the first section"),
    ];
    for (format, text, expected) in cases {
        let why = failure(format, text);
        assert!(why.contains(expected), "{text}: {why}");
    }
}

#[test]
fn no_reader_takes_what_is_no_text_or_is_too_large() {
    let directory = tempfile::tempdir().unwrap();
    let (file, large) = (directory.path().join("input"), directory.path().join("large"));
    fs::write(&file, b"a \xff\xfe b").unwrap();
    fs::File::create(&large).unwrap().set_len(100 << 20).unwrap();
    for format in ForeignFormat::ALL {
        let why = |path: &Path| import(path, Some(format)).unwrap_err().to_string();
        assert!(why(&file).contains("UTF-8"), "{format:?}: {}", why(&file));
        assert!(why(&large).contains("too large"), "{format:?}");
        assert!(why(directory.path()).contains("not a regular file"), "{format:?}");
        assert!(why(&directory.path().join("missing")).contains("cannot be read"), "{format:?}");
    }
}

#[test]
fn deep_nesting_ends_every_reader() {
    let json = "[".repeat(100_000);
    let nested = |key: &str| format!("{key}: {}x{}", "{a: ".repeat(5_000), "}".repeat(5_000));
    let cases = [
        (ForeignFormat::Apisix, json.clone()),
        (ForeignFormat::Traefik, json),
        (ForeignFormat::Apisix, nested("routes")),
        (ForeignFormat::Kong, nested("services")),
        (ForeignFormat::Krakend, nested("endpoints")),
        (ForeignFormat::Traefik, nested("http")),
        (ForeignFormat::Traefik, format!("a = {}1{}", "[".repeat(50_000), "]".repeat(50_000))),
        (ForeignFormat::Caddy, format!("{}{}", "a {\n".repeat(50_000), "}\n".repeat(50_000))),
        (ForeignFormat::Haproxy, format!("frontend f\n bind :80\n acl a path_beg {}\n", "(".repeat(50_000))),
        (ForeignFormat::Traefik, format!("http:\n  routers:\n    a: {{rule: '{}Path(`/`)'}}\n", "(".repeat(50_000))),
    ];
    for (format, text) in cases {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(if text.starts_with("a = ") { "input.toml" } else { "input" });
        fs::write(&file, &text).unwrap();
        // A rule that is too deep is one line of the report; all else is a failure.
        if let Ok(moved) = import(&file, Some(format)) {
            assert!(moved.report.is_less_protected(), "{format:?} {}", moved.report.to_text());
        }
    }
}

#[test]
fn snippets_that_import_each_other_end() {
    assert!(failure(ForeignFormat::Caddy, "(a) {\n  import a\n}\na.test {\n  import a\n}\n").contains("imports itself"));
    let mut text = "(s0) {\n  respond x\n}\n".to_owned();
    for level in 1..12 {
        let twice = format!("  import s{}\n", level - 1).repeat(10);
        text.push_str(&format!("(s{level}) {{\n{twice}}}\n"));
    }
    text.push_str("a.test {\n  import s11\n}\n");
    assert!(failure(ForeignFormat::Caddy, &text).contains("more than 100000 lines"));
}

#[test]
fn alternatives_do_not_multiply_without_bound() {
    let paths: Vec<String> = (0..64).map(|index| format!("/{index}/*")).collect();
    let nested = format!("handle @m {{\n  @m path {}\n", paths.join(" ")).repeat(12);
    let text = format!("a.test {{\n  @m path {}\n{nested}  respond x\n{}}}\n", paths.join(" "), "}\n".repeat(12));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("Caddyfile");
    fs::write(&file, text).unwrap();
    if let Ok(moved) = import(&file, None) {
        assert!(moved.report.is_less_protected());
    }
    let rule = (0..32).map(|index| format!("Path(`/{index}`)")).collect::<Vec<_>>().join(" || ");
    let routers: String = (0..3_000).map(|index| format!("    r{index}: {{rule: '{rule}', service: s}}\n")).collect();
    let text = format!("http:\n  routers:\n{routers}  services:\n    s: {{loadBalancer: {{servers: [{{url: 'http://a'}}]}}}}\n");
    assert!(failure(ForeignFormat::Traefik, &text).contains("more than 50000 routes"));
}

#[test]
fn aliases_multiply_in_no_reader() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let list = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    for key in ["routes", "services", "endpoints", "http"] {
        let text = format!("{text}{key}: *a11\n");
        for format in [ForeignFormat::Kong, ForeignFormat::Apisix, ForeignFormat::Krakend, ForeignFormat::Traefik] {
            let why = failure(format, &text);
            assert!(why.contains("more than") || why.contains("not valid"), "{format:?} {key}: {why}");
        }
    }
}

#[test]
fn no_reader_waits_for_a_pipe_or_follows_links_in_a_circle() {
    let directory = tempfile::tempdir().unwrap();
    let (pipe, one, other) = (directory.path().join("pipe"), directory.path().join("one"), directory.path().join("other"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink(&one, &other).unwrap();
    std::os::unix::fs::symlink(&other, &one).unwrap();
    for format in ForeignFormat::ALL {
        let why = |path: &Path| import(path, Some(format)).unwrap_err().to_string();
        assert!(why(&pipe).contains("not a regular file"), "{format:?}: {}", why(&pipe));
        assert!(why(&one).contains("cannot be read"), "{format:?}: {}", why(&one));
    }
    // What a file includes is read in the same way.
    let file = directory.path().join("nginx.conf");
    fs::write(&file, "include pipe;\nserver { listen 80; location / { proxy_pass http://a; } }").unwrap();
    let report = import(&file, Some(ForeignFormat::Nginx)).unwrap().report.to_text();
    assert!(report.contains("not a regular file"), "{report}");
}

#[test]
fn no_reader_takes_files_that_it_cannot_use() {
    let cases = [
        (ForeignFormat::Caddy, "import secret\na.test {\n  reverse_proxy 127.0.0.1:1\n}\n"),
        (
            ForeignFormat::Caddy,
            "a.test {\n  import ./*ecret\n  basic_auth {\n    import secret\n  }\n  reverse_proxy 127.0.0.1:1\n}\n",
        ),
        (
            ForeignFormat::Haproxy,
            "frontend f\n bind :80\n acl a src -f secret\n use_backend b if a\nbackend b\n errorfile 503 secret\n server s 127.0.0.1:1\n",
        ),
        (ForeignFormat::Kong, "_format_version: '3.0'\nservices: !include secret\n"),
        (ForeignFormat::Apisix, "routes:\n- uri: /a\n  upstream: !include secret\n"),
        (ForeignFormat::Krakend, "{\"endpoints\": {{ include \"secret\" }}}"),
        (ForeignFormat::Traefik, "http:\n  routers:\n    a: {rule: 'Path(`/`)', service: !include secret}\n"),
    ];
    for (format, text) in cases {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("secret"), "the-content-of-a-secret\n").unwrap();
        let file = directory.path().join("input");
        fs::write(&file, text).unwrap();
        let told = match import(&file, Some(format)) {
            Ok(moved) => moved.files.iter().map(|file| file.text.clone()).chain([moved.report.to_text()]).collect(),
            Err(why) => why.to_string(),
        };
        assert!(!told.contains("the-content-of-a-secret"), "{format:?} {text}: {told}");
    }
}
