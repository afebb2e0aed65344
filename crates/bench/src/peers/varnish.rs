//! Varnish, without caching unless a case wants it: the published scenarios were measured without. Keys and methods are conditions in VCL; limits need the module
//! vsthrottle, which Debian ships in varnish-modules. It has no quota.

use super::settings::{Need, beyond, key, limits};
use super::{Launch, PeerAdapter, Program, Setup};
use crate::scenario::{Auth, Case};
use std::path::{Path, PathBuf};

const CAN: [Need; 7] =
    [Need::Keys, Need::Methods, Need::AllowedAddresses, Need::RequestHeaders, Need::ResponseHeaders, Need::ManyApis, Need::Cache];

pub(crate) struct VarnishAdapter;

impl PeerAdapter for VarnishAdapter {
    fn name(&self) -> &'static str {
        "varnish"
    }

    fn program(&self) -> Option<&'static str> {
        Some("varnishd")
    }

    fn version_arguments(&self) -> &'static [&'static str] {
        &["-V"]
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        if !limits(case).is_empty() && !has_vsthrottle() {
            return Some("has no rate limits without the module vsthrottle (varnish-modules)".to_owned());
        }
        let can: Vec<_> = CAN.into_iter().chain([Need::Limits, Need::SeveralLimits]).collect();
        beyond(case, &can)
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let file = setup.write("default.vcl", vcl(setup))?;
        let state = setup.directory("state")?;
        let listen = setup.listen().to_string();
        let program = Program::new("varnish", &setup.program)
            .args(["-F", "-j", "none", "-a", &listen, "-T", "none", "-s", "malloc,256m", "-p", "listen_depth=4096"])
            .args(["-p", "timeout_idle=600", "-n"])
            .args([&state])
            .args(["-f"])
            .args([&file]);
        Ok(Launch::of(program, vec![file]))
    }
}

fn vcl(setup: &Setup) -> String {
    let cases: String = setup.cases.iter().enumerate().map(|(index, case)| recv(index, case)).collect();
    let delivered: String = setup.cases.iter().enumerate().map(|(index, case)| deliver(index, case)).collect();
    let acls: String = setup.cases.iter().enumerate().map(|(index, case)| acl(index, case)).collect();
    let throttles = setup.cases.iter().any(|case| !limits(case).is_empty());
    let import = if throttles { "import vsthrottle;\n" } else { "" };
    format!(
        "vcl 4.1;
{import}backend default {{ .host = \"{}\"; .port = \"{}\"; }}
{acls}sub vcl_recv {{
  unset req.http.X-Case;
  unset req.http.X-Cached;
{cases}  if (!req.http.X-Case) {{ return (synth(404)); }}
  if (req.http.X-Cached) {{ return (hash); }}
  return (pass);
}}
sub vcl_backend_fetch {{ unset bereq.http.X-Case; unset bereq.http.X-Cached; }}
sub vcl_deliver {{
{delivered}}}
",
        setup.upstream.ip(),
        setup.upstream.port()
    )
}

fn acl(index: usize, case: &Case) -> String {
    if case.api.allow_ips.is_empty() {
        return String::new();
    }
    let entries: Vec<_> = case
        .api
        .allow_ips
        .iter()
        .map(|entry| entry.split_once('/').map_or(format!("\"{entry}\";"), |(address, bits)| format!("\"{address}\"/{bits};")))
        .collect();
    format!("acl allowed_{index} {{ {} }}\n", entries.join(" "))
}

fn recv(index: usize, case: &Case) -> String {
    let base = case.api.listen.trim_end_matches('/');
    let pattern = if case.api.among > 1 { format!("^{base}-[0-9]+/") } else { format!("^{base}/") };
    let mut lines = vec![format!("set req.http.X-Case = \"{index}\";")];
    let caller = match key(case) {
        Some((Auth::Header(name), value)) => {
            lines.push(format!("if (req.http.{name} != \"{value}\") {{ return (synth(401)); }}"));
            format!("req.http.{name}")
        }
        Some((Auth::Query(name), value)) => {
            lines.push(format!("if (req.url !~ \"[?&]{name}={value}(&|$)\") {{ return (synth(401)); }}"));
            format!("\"{value}\"")
        }
        None => "\"all\"".to_owned(),
    };
    if let Some(methods) = case.key.as_ref().map(|key| &key.methods).filter(|methods| !methods.is_empty()) {
        lines.push(format!("if (req.method !~ \"^({})$\") {{ return (synth(403)); }}", methods.join("|")));
    }
    if !case.api.allow_ips.is_empty() {
        lines.push(format!("if (client.ip !~ allowed_{index}) {{ return (synth(403)); }}"));
    }
    for (number, limit) in limits(case).into_iter().enumerate() {
        let name = format!("\"{index}:{number}:\" + {caller}");
        lines.push(format!("if (vsthrottle.is_denied({name}, {}, {}s)) {{ return (synth(429)); }}", limit.requests, limit.seconds));
    }
    lines.extend(case.api.set_headers.iter().map(|(name, value)| format!("set req.http.{name} = \"{value}\";")));
    if case.api.cache {
        lines.push("set req.http.X-Cached = \"1\";".to_owned());
    }
    lines.push(format!("set req.url = regsub(req.url, \"{pattern}\", \"/\");"));
    let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("  if (!req.http.X-Case && req.url ~ \"{pattern}\") {{\n{body}  }}\n")
}

fn deliver(index: usize, case: &Case) -> String {
    case.api
        .set_response_headers
        .iter()
        .map(|(name, value)| format!("  if (req.http.X-Case == \"{index}\") {{ set resp.http.{name} = \"{value}\"; }}\n"))
        .collect()
}

fn has_vsthrottle() -> bool {
    let triplet = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    [triplet, "/usr/lib64".to_owned(), "/usr/lib".to_owned(), "/usr/local/lib".to_owned()]
        .iter()
        .map(|lib| PathBuf::from(lib).join("varnish/vmods/libvmod_vsthrottle.so"))
        .any(|file| Path::new(&file).is_file())
}
