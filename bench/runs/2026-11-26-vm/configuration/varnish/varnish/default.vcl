vcl 4.1;
import vsthrottle;
backend default { .host = "127.0.0.1"; .port = "33419"; }
sub vcl_recv {
  unset req.http.X-Case;
  unset req.http.X-Cached;
  if (!req.http.X-Case && req.url ~ "^/reference/") {
    set req.http.X-Case = "0";
    set req.url = regsub(req.url, "^/reference/", "/");
  }
  if (!req.http.X-Case && req.url ~ "^/1-key/") {
    set req.http.X-Case = "1";
    if (req.url !~ "[?&]apikey=t1(&|$)") { return (synth(401)); }
    set req.url = regsub(req.url, "^/1-key/", "/");
  }
  if (!req.http.X-Case && req.url ~ "^/2-key-1-limit/") {
    set req.http.X-Case = "2";
    if (req.url !~ "[?&]apikey=t2(&|$)") { return (synth(401)); }
    if (vsthrottle.is_denied("2:0:" + "t2", 1000000, 1s)) { return (synth(429)); }
    set req.url = regsub(req.url, "^/2-key-1-limit/", "/");
  }
  if (!req.http.X-Case && req.url ~ "^/3-key-2-limits/") {
    set req.http.X-Case = "3";
    if (req.url !~ "[?&]apikey=t3(&|$)") { return (synth(401)); }
    if (vsthrottle.is_denied("3:0:" + "t3", 1000000, 1s)) { return (synth(429)); }
    if (vsthrottle.is_denied("3:1:" + "t3", 1000000000, 3600s)) { return (synth(429)); }
    set req.url = regsub(req.url, "^/3-key-2-limits/", "/");
  }
  if (!req.http.X-Case && req.url ~ "^/4-key-2-limits-methods/") {
    set req.http.X-Case = "4";
    if (req.url !~ "[?&]apikey=t4(&|$)") { return (synth(401)); }
    if (req.method !~ "^(GET|HEAD)$") { return (synth(403)); }
    if (vsthrottle.is_denied("4:0:" + "t4", 1000000, 1s)) { return (synth(429)); }
    if (vsthrottle.is_denied("4:1:" + "t4", 1000000000, 3600s)) { return (synth(429)); }
    set req.url = regsub(req.url, "^/4-key-2-limits-methods/", "/");
  }
  if (!req.http.X-Case && req.url ~ "^/5-one-request-in-30-s/") {
    set req.http.X-Case = "5";
    if (req.url !~ "[?&]apikey=t5(&|$)") { return (synth(401)); }
    if (vsthrottle.is_denied("5:0:" + "t5", 1, 30s)) { return (synth(429)); }
    set req.url = regsub(req.url, "^/5-one-request-in-30-s/", "/");
  }
  if (!req.http.X-Case && req.url ~ "^/6-unknown-key/") {
    set req.http.X-Case = "6";
    if (req.url !~ "[?&]apikey=t6(&|$)") { return (synth(401)); }
    set req.url = regsub(req.url, "^/6-unknown-key/", "/");
  }
  if (!req.http.X-Case) { return (synth(404)); }
  if (req.http.X-Cached) { return (hash); }
  return (pass);
}
sub vcl_backend_fetch { unset bereq.http.X-Case; unset bereq.http.X-Cached; }
sub vcl_deliver {
}
