vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "34129"; }
sub vcl_recv {
  unset req.http.X-Case;
  unset req.http.X-Cached;
  if (!req.http.X-Case && req.url ~ "^/proxy/") {
    set req.http.X-Case = "0";
    set req.url = regsub(req.url, "^/proxy/", "/");
  }
  if (!req.http.X-Case) { return (synth(404)); }
  if (req.http.X-Cached) { return (hash); }
  return (pass);
}
sub vcl_backend_fetch { unset bereq.http.X-Case; unset bereq.http.X-Cached; }
sub vcl_deliver {
}
