vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "36373"; }
sub vcl_recv {
  unset req.http.X-Case;
  if (!req.http.X-Case && req.url ~ "^/keyless/") {
    set req.http.X-Case = "0";
    set req.url = regsub(req.url, "^/keyless/", "/");
  }
  if (!req.http.X-Case) { return (synth(404)); }
  return (pass);
}
sub vcl_backend_fetch { unset bereq.http.X-Case; }
sub vcl_deliver {
}
