//! Bundles of plugins: made by the command and by Python, fetched, checked, kept for the next start, and missing for a while.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Setup, Upstream, api, error_json, eventually, reply, request};
use crate::plugins::PluginServer;

/// Archives by name.
type Archives = Vec<(String, Vec<u8>)>;

/// A server of bundles that has what the test gives it.
struct BundleServer {
    upstream: Upstream,
    archives: Arc<Mutex<Archives>>,
}

impl BundleServer {
    fn start() -> BundleServer {
        let archives: Arc<Mutex<Archives>> = Arc::default();
        let served = archives.clone();
        let upstream = Upstream::start(move |seen| {
            let archives = served.lock().unwrap();
            match archives.iter().rev().find(|(name, _)| seen.target == format!("/{name}")) {
                None => reply("404 Not Found", &[], ""),
                Some((_, archive)) => {
                    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", archive.len()).into_bytes();
                    answer.extend_from_slice(archive);
                    answer
                }
            }
        });
        BundleServer { upstream, archives }
    }

    fn put(&self, name: &str, archive: Vec<u8>) {
        self.archives.lock().unwrap().push((name.to_owned(), archive));
    }
}

fn manifest(hook: &str) -> Value {
    json!({"file_list": ["notes.txt"], "custom_middleware": {"driver": "grpc", "pre": [{"name": hook}], "post": null}})
}

/// Runs `tollgate bundle build` in a new directory; the archive, or what the command says.
fn build(manifest: &Value, options: &[&str]) -> Result<Vec<u8>, String> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("manifest.json"), manifest.to_string()).unwrap();
    std::fs::write(dir.path().join("notes.txt"), "some notes").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    let output = command.args(["bundle", "build", "-y"]).args(options).current_dir(dir.path()).output().unwrap();
    match output.status.success() {
        true => Ok(std::fs::read(dir.path().join("bundle.zip")).unwrap()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// An archive with these files, made by Python.
fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    const SCRIPT: &str = "import json, sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:\n    for name, text in json.loads(sys.argv[2]):\n        archive.writestr(name, text)\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.zip");
    let output = Command::new("python3").args(["-c", SCRIPT]).arg(&path).arg(json!(files).to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(path).unwrap()
}

fn bundled(bundle: &str, upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url()).set("custom_middleware_bundle", bundle)
}

/// `kept` is where bundles are kept.
fn conf(plugins: &PluginServer, bundles: &str, kept: &tempfile::TempDir) -> Value {
    json!({
        "middleware_path": kept.path(),
        "coprocess_options": {"enable_coprocess": true, "coprocess_grpc_server": format!("127.0.0.1:{}", plugins.port)},
        "enable_bundle_downloader": true, "bundle_base_url": bundles,
    })
}

/// Whether the hooks of the bundle act.
fn acts(gateway: &Gateway) -> bool {
    let told = json!({"merge": {"request": {"return_overrides": {"response_code": 299, "response_body": "acts"}}}});
    gateway.send(request("GET", "/a/x", &[&format!("X-Pre: {told}")], "")).status == 299
}

fn is_refused(gateway: &Gateway) -> bool {
    let answer = gateway.get("/a/x");
    answer.status == 500 && answer.text() == error_json("Middleware error")
}

#[test]
fn a_bundle_is_fetched_and_kept_for_the_next_start() {
    let Some(plugins) = PluginServer::start() else { return };
    let (upstream, bundles, kept) = (Upstream::ok(), BundleServer::start(), tempfile::tempdir().unwrap());
    bundles.put("b.zip", build(&manifest("pre"), &[]).unwrap());
    let mut gateway = Setup::new(conf(&plugins, &bundles.upstream.url(), &kept)).api(bundled("b.zip", &upstream)).start();
    assert!(acts(&gateway), "{}", gateway.log());
    assert_eq!(gateway.get("/a/x").status, 200);
    assert_eq!(bundles.upstream.requests(), 1);
    gateway.reload();
    gateway.restart();
    assert!(acts(&gateway), "{}", gateway.log());
    assert_eq!(bundles.upstream.requests(), 1, "it is on disk");
    let places: Vec<_> = std::fs::read_dir(kept.path().join("bundles")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(places.len(), 1, "{places:?}");
    assert_eq!(std::fs::read(places[0].join("notes.txt")).unwrap(), b"some notes");
    // Somebody changes a file: the bundle is fetched again.
    std::fs::write(places[0].join("notes.txt"), "other notes").unwrap();
    gateway.restart();
    assert!(acts(&gateway), "{}", gateway.log());
    assert_eq!((bundles.upstream.requests(), std::fs::read(places[0].join("notes.txt")).unwrap()), (2, b"some notes".to_vec()));
}

#[test]
fn a_missing_bundle_is_refused_until_it_comes() {
    let Some(plugins) = PluginServer::start() else { return };
    let (upstream, bundles, kept) = (Upstream::ok(), BundleServer::start(), tempfile::tempdir().unwrap());
    let gateway = Gateway::start(conf(&plugins, &bundles.upstream.url(), &kept), [bundled("b.zip", &upstream)]);
    assert!(is_refused(&gateway));
    let log = gateway.log();
    assert!(log.contains("b.zip") && log.contains("status 404") && log.contains("every request is refused"), "{log}");
    bundles.put("b.zip", build(&manifest("pre"), &[]).unwrap());
    eventually("the bundle is fetched", || acts(&gateway));
    assert_eq!(gateway.get("/a/x").status, 200);
}

#[test]
fn bundles_of_other_tools_act_and_bad_ones_do_not() {
    let Some(plugins) = PluginServer::start() else { return };
    let (upstream, bundles) = (Upstream::ok(), BundleServer::start());
    let mut written = manifest("pre");
    let checksum = Command::new("sh").args(["-c", "printf 'some notes' | md5sum | cut -d' ' -f1"]).output().unwrap();
    written["checksum"] = json!(String::from_utf8_lossy(&checksum.stdout).trim());
    let text = written.to_string();
    let mut goplugin = written.clone();
    goplugin["custom_middleware"]["driver"] = json!("goplugin");
    for (archive, reason) in [
        (zipped(&[("notes.txt", "some notes"), ("manifest.json", &text)]), ""),
        (zipped(&[("notes.txt", "other notes"), ("manifest.json", &text)]), "checksum"),
        (zipped(&[("manifest.json", &text)]), "missing"),
        (zipped(&[("notes.txt", "some notes")]), "no manifest.json"),
        (zipped(&[("notes.txt", "some notes"), ("../../evil", "x"), ("manifest.json", &text)]), "leads out of the bundle"),
        (zipped(&[("notes.txt", "some notes"), ("manifest.json", &goplugin.to_string())]), "goplugin"),
        (b"no archive".to_vec(), "no ZIP archive"),
    ] {
        bundles.put("b.zip", archive);
        let kept = tempfile::tempdir().unwrap();
        let gateway = Gateway::start(conf(&plugins, &bundles.upstream.url(), &kept), [bundled("b.zip", &upstream)]);
        if reason.is_empty() {
            assert!(acts(&gateway), "{}", gateway.log());
            continue;
        }
        assert!(is_refused(&gateway), "{reason}");
        assert!(gateway.log().contains(reason), "{reason}: {}", gateway.log());
        assert!(!kept.path().join("evil").exists() && !kept.path().parent().unwrap().join("evil").exists());
    }
}

#[test]
fn signed_bundles_are_checked_with_the_public_key() {
    let Some(plugins) = PluginServer::start() else { return };
    let (upstream, bundles) = (Upstream::ok(), BundleServer::start());
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin/src/bundle/content/tests");
    let key = |name: &str| keys.join(name).to_str().unwrap().to_owned();
    let signed = build(&manifest("pre"), &["--key", &key("private.pem")]).unwrap();
    let unsigned = build(&manifest("pre"), &[]).unwrap();
    for (archive, public, reason) in [
        (&signed, "public.pem", ""),
        (&signed, "other.pem", "signature is wrong"),
        (&unsigned, "public.pem", "not signed"),
        (&signed, "missing.pem", "public_key_path"),
    ] {
        bundles.put("b.zip", archive.clone());
        let kept = tempfile::tempdir().unwrap();
        let mut conf = conf(&plugins, &bundles.upstream.url(), &kept);
        conf["public_key_path"] = json!(key(public));
        let gateway = Gateway::start(conf, [bundled("b.zip", &upstream)]);
        match reason {
            "" => assert!(acts(&gateway), "{}", gateway.log()),
            reason => assert!(is_refused(&gateway) && gateway.log().contains(reason), "{reason}: {}", gateway.log()),
        }
    }
}

#[test]
fn several_bundles_add_up_and_files_need_no_server() {
    let Some(plugins) = PluginServer::start() else { return };
    let (upstream, kept) = (Upstream::ok(), tempfile::tempdir().unwrap());
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("one.zip"), build(&manifest("one"), &[]).unwrap()).unwrap();
    std::fs::write(dir.path().join("two.zip"), build(&manifest("two"), &[]).unwrap()).unwrap();
    let url = format!("file://{}", dir.path().display());
    let gateway = Gateway::start(conf(&plugins, &url, &kept), [bundled("one.zip, two.zip", &upstream)]);
    assert_eq!(gateway.get("/a/x").status, 200, "{}", gateway.log());
    eventually("both hooks are called", || plugins.said("called one").len() == 1 && plugins.said("called two").len() == 1);
    let off = json!({"bundle_base_url": url, "middleware_path": dir.path()});
    let gateway = Gateway::start(off, [bundled("one.zip", &upstream)]);
    assert!(is_refused(&gateway) && gateway.log().contains("enable_bundle_downloader"), "{}", gateway.log());
}

#[test]
fn a_name_leads_to_no_bundle_of_another_place() {
    let Some(plugins) = PluginServer::start() else { return };
    let (upstream, kept, dir) = (Upstream::ok(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = dir.path().join("bundles");
    std::fs::create_dir(&place).unwrap();
    let bundle = build(&manifest("one"), &[]).unwrap();
    for file in [dir.path().join("out.zip"), place.join("in.zip")] {
        std::fs::write(file, &bundle).unwrap();
    }
    std::os::unix::fs::symlink(dir.path().join("out.zip"), place.join("link.zip")).unwrap();
    let url = format!("file://{}", place.display());
    let conf = conf(&plugins, &url, &kept);
    assert_eq!(Gateway::start(conf.clone(), [bundled("in.zip", &upstream)]).get("/a/x").status, 200);
    for name in [
        "../out.zip",
        "x/../../out.zip",
        "..%2fout.zip",
        "%2E%2e/out.zip",
        "..\\out.zip",
        "link.zip",
        "../../etc/hostname",
        "../none",
    ] {
        let gateway = Gateway::start(conf.clone(), [bundled(name, &upstream)]);
        let log = || gateway.log();
        assert!(is_refused(&gateway), "{name}");
        assert!(log().contains("leads out of") || log().contains("no such file below"), "{name}: {}", log());
    }
}

#[test]
fn the_command_says_what_is_wrong_with_a_manifest() {
    for (manifest, reason) in [
        (json!({"custom_middleware": {"driver": "grpc"}}), "names no hook"),
        (json!({"custom_middleware": {"pre": [{"name": "a"}]}}), "names no driver"),
        (json!({"file_list": ["gone.js"], "custom_middleware": {"driver": "grpc", "pre": [{"name": "a"}]}}), "gone.js"),
        (json!({"file_list": ["../up.js"], "custom_middleware": {}}), "leads out"),
    ] {
        let said = build(&manifest, &[]).unwrap_err();
        assert!(said.contains(reason), "{manifest}: {said}");
    }
    assert!(build(&manifest("pre"), &["--key", "manifest.json"]).unwrap_err().contains("private key"));
}
