use super::check;

const KONG: &str = r#"_format_version: "3.0"
services:
  - name: orders
    id: first
    protocol: http
    host: orders
    port: 8080
    path: /v1
    retries: 2
    read_timeout: 5000
    connect_timeout: 1000
    enabled: true
    tags:
      - a
    plugins:
      - name: key-auth
        config:
          key_names:
            - x-key
          hide_credentials: true
          key_in_query: false
      - name: acl
        config:
          allow:
            - gold # any text
    routes:
      - name: orders
        hosts:
          - api.example.com
        paths:
          - /orders
        methods:
          - GET
        strip_path: true
        preserve_host: false
        regex_priority: 10
        protocols:
          - http
        headers:
          X-Kind:
            - one
        plugins:
          - name: rate-limiting
            enabled: true
            config:
              minute: 60
              hour: 1000
              policy: local
              limit_by: consumer
          - name: request-size-limiting
            config:
              allowed_payload_size: 5
              size_unit: megabytes
          - name: ip-restriction
            config:
              allow:
                - 10.0.0.0/8
          - name: cors
            config:
              origins:
                - https://a.example
              methods:
                - GET
              credentials: true
              max_age: 60
          - name: response-transformer
            config:
              remove:
                headers:
                  - X-Gone
  - name: answers
    url: http://10.0.0.9:80
    routes:
      - name: gone
        paths:
          - /gone
        plugins:
          - name: request-termination
            config:
              status_code: 410
              message: gone
      - name: moved
        paths:
          - /moved
        plugins:
          - name: redirect
            config:
              location: https://b.example/new
              status_code: 301
              keep_incoming_path: false
      - name: kept
        paths:
          - /kept
        plugins:
          - name: proxy-cache
            config:
              cache_ttl: 60
              cache_control: false
              response_code:
                - 200
              vary_headers:
                - X-Kind
upstreams:
  - name: orders
    algorithm: consistent-hashing
    hash_on: header
    hash_on_header: X-User
    healthchecks:
      active:
        type: http
        http_path: /health
        timeout: 1
        healthy:
          interval: 5
          successes: 2
          http_statuses:
            - 200
        unhealthy:
          http_failures: 3
      passive:
        unhealthy:
          http_failures: 3
    targets:
      - target: 10.0.0.1:80
        weight: 10
      - target: 10.0.0.2:80
consumers:
  - username: anna
    keyauth_credentials:
      - key: abc
    acls:
      - group: gold # any text
    plugins:
      - name: rate-limiting
        config:
          minute: 5
"#;

const APISIX: &str = r#"routes:
  - id: first
    name: first
    uris:
      - /a/*
    hosts:
      - a.test
    methods:
      - GET
    priority: 5
    status: 1
    remote_addrs:
      - 10.0.0.0/8
    timeout:
      read: 5
    vars:
      - [http_x_kind, "==", one]
    upstream_id: pool
    plugins:
      key-auth:
        header: x-key
        hide_credentials: true
      limit-count:
        count: 10
        time_window: 60
        key: remote_addr
        rejected_code: 429
      cors:
        allow_origins: https://a.example
        allow_methods: GET,POST
        allow_credential: true
        max_age: 60
      proxy-rewrite:
        host: inner.test
        uri: /new
        headers:
          set:
            X-A: b
      ip-restriction:
        whitelist:
          - 10.0.0.0/8
      client-control:
        max_body_size: 1000
      proxy-mirror:
        host: http://10.0.0.7:80
        sample_ratio: 0.5
  - uri: /gone
    plugins:
      mocking:
        response_status: 410
        response_example: gone
        content_type: text/plain
  - uri: /moved
    plugins:
      redirect:
        uri: /new
        ret_code: 301
  - uri: /broken
    plugins:
      fault-injection:
        abort:
          http_status: 503
          body: broken
          percentage: 100
  - uri: /kept
    service_id: kept
    plugins:
      proxy-cache:
        cache_ttl: 60
        cache_control: false
        cache_http_status:
          - 200
services:
  - id: kept
    hosts:
      - k.test
    upstream:
      type: roundrobin
      scheme: http
      pass_host: rewrite
      upstream_host: inner.test
      nodes:
        10.0.0.3:80: 1
upstreams:
  - id: pool
    type: chash
    hash_on: header
    key: http_x_user
    retries: 2
    checks:
      active:
        type: http
        http_path: /health
        timeout: 1
        healthy:
          interval: 2
          successes: 2
          http_statuses:
            - 200
        unhealthy:
          http_failures: 3
      passive:
        unhealthy:
          http_failures: 3
    nodes:
      - host: 10.0.0.1
        port: 80
        weight: 2
      - host: 10.0.0.2
        port: 80
        weight: 1
consumers:
  - username: anna
    plugins:
      key-auth:
        key: abc
      limit-count:
        count: 5
        time_window: 60
"#;

const KRAKEND: &str = r#"{
  "$schema": "https://www.krakend.io/schema/v2.7/krakend.json",
  "version": 3,
  "name": "shop",
  "port": 8082,
  "listen_ip": "127.0.0.1",
  "timeout": "3s",
  "cache_ttl": "10s",
  "output_encoding": "json",
  "host": [
    "http://10.0.0.9:80"
  ],
  "extra_config": {
    "router": {
      "disable_health": false,
      "health_path": "/up"
    },
    "security/cors": {
      "allow_origins": [
        "https://a.example"
      ],
      "allow_methods": [
        "GET"
      ],
      "allow_credentials": true,
      "max_age": "12h"
    },
    "security/http": {
      "sts_seconds": 300,
      "frame_deny": true,
      "content_type_nosniff": true,
      "referrer_policy": "no-referrer"
    }
  },
  "endpoints": [
    {
      "endpoint": "/users/{id}",
      "method": "GET",
      "timeout": "2s",
      "cache_ttl": "5s",
      "input_headers": [
        "Authorization"
      ],
      "input_query_strings": [
        "page"
      ],
      "backend": [
        {
          "url_pattern": "/inner/{id}",
          "method": "GET",
          "host": [
            "http://10.0.0.1:80"
          ],
          "allow": [
            "name"
          ],
          "group": "user",
          "target": "data",
          "is_collection": false,
          "mapping": {
            "name": "title"
          }
        }
      ],
      "extra_config": {
        "qos/ratelimit/router": {
          "max_rate": 10,
          "capacity": 10,
          "client_max_rate": 5,
          "client_capacity": 5,
          "every": "1s",
          "strategy": "ip"
        },
        "auth/validator": {
          "alg": "RS256",
          "jwk_url": "https://id.test/keys",
          "issuer": "https://id.test",
          "audience": [
            "shop"
          ],
          "roles_key": "roles",
          "roles": [
            "admin"
          ],
          "auth_header_name": "X-Token",
          "cookie_key": "session",
          "propagate_claims": [
            [
              "sub",
              "X-User"
            ]
          ]
        }
      }
    },
    {
      "endpoint": "/both",
      "output_encoding": "json-collection",
      "extra_config": {
        "proxy": {
          "sequential": true,
          "static": {
            "strategy": "success",
            "data": {
            }
          }
        }
      },
      "backend": [
        {
          "url_pattern": "/a",
          "encoding": "safejson",
          "method": "POST",
          "deny": [
            "a.b"
          ]
        },
        {
          "url_pattern": "/b",
          "extra_config": {
            "proxy": {
              "shadow": false
            },
            "qos/ratelimit/proxy": {
              "max_rate": 10,
              "capacity": 10
            }
          }
        }
      ]
    },
    {
      "endpoint": "/edited",
      "backend": [
        {
          "url_pattern": "/a",
          "extra_config": {
            "proxy": {
              "flatmap_filter": [
                {
                  "type": "move",
                  "args": [
                    "a",
                    "b"
                  ]
                }
              ]
            }
          }
        }
      ]
    }
  ]
}"#;

const TRAEFIK: &str = r#"http:
  routers:
    shop:
      rule: "Host(`shop.test`) && PathPrefix(`/a`)"
      service: shop
      priority: 10
      middlewares:
        - strip
        - rate
        - addresses
        - headers
        - large
        - again
        - users
    other:
      rule: "Path(`/b`)"
      service: both
      middlewares:
        - secure
    copied:
      rule: "Path(`/c`)"
      service: copied
      middlewares:
        - path
        - asks
  middlewares:
    strip:
      stripPrefix:
        prefixes:
          - /a
    rate:
      rateLimit:
        average: 6
        period: 1m
        burst: 3
    addresses:
      ipAllowList:
        sourceRange:
          - 10.0.0.0/8
    headers:
      headers:
        customRequestHeaders:
          X-A: b
        accessControlAllowOriginList:
          - https://a.example
        accessControlMaxAge: 60
        accessControlAllowCredentials: true
        frameDeny: true
        stsSeconds: 300
    large:
      buffering:
        maxRequestBodyBytes: 1000
    again:
      retry:
        attempts: 2
    users:
      basicAuth:
        removeHeader: true
        users:
          - anna:$2y$05$abcdefghijklmnopqrstuuxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    secure:
      redirectScheme:
        scheme: https
        permanent: true
        port: 443
    path:
      replacePath:
        path: /new
    asks:
      forwardAuth:
        address: http://10.0.0.8:80/auth
        authResponseHeaders:
          - X-User
  services:
    shop:
      loadBalancer:
        passHostHeader: false
        healthCheck:
          path: /health
          interval: 10s
          timeout: 3s
        sticky:
          cookie:
            name: target
        servers:
          - url: http://10.0.0.1:80
            weight: 2
          - url: http://10.0.0.2:80
    both:
      weighted:
        services:
          - name: shop
            weight: 3
          - name: copied
            weight: 1
    copied:
      mirroring:
        service: shop
        mirrors:
          - name: shop
            percent: 10
"#;

const TRAEFIK_TOML: &str = r#"[http.routers.shop]
rule = "Host(`shop.test`)"
service = "shop"
priority = 10
middlewares = ["rate", "addresses", "headers", "users"]
[http.routers.other]
rule = "Path(`/b`)"
service = "shop"
middlewares = ["strip", "large", "again"]
[http.middlewares.strip.stripPrefix]
prefixes = ["/a"]
[http.middlewares.rate.rateLimit]
average = 6
period = "1m"
burst = 3
[http.middlewares.addresses.ipAllowList]
sourceRange = ["10.0.0.0/8"]
[http.middlewares.headers.headers]
frameDeny = true
stsSeconds = 300
accessControlMaxAge = 60
accessControlAllowOriginList = ["https://a.example"]
[http.middlewares.users.basicAuth]
removeHeader = true
users = ["anna:$2y$05$abcdefghijklmnopqrstuuxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]
[http.middlewares.large.buffering]
maxRequestBodyBytes = 1000
[http.middlewares.again.retry]
attempts = 2
[http.services.shop.loadBalancer]
passHostHeader = false
[http.services.shop.loadBalancer.healthCheck]
path = "/health"
interval = "10s"
timeout = "3s"
[[http.services.shop.loadBalancer.servers]]
url = "http://10.0.0.1:80"
weight = 2
"#;

#[test]
fn what_kong_cannot_mean_is_not_carried_over() {
    check("kong.yaml", KONG);
}

#[test]
fn what_apisix_cannot_mean_is_not_carried_over() {
    check("apisix.yaml", APISIX);
}

#[test]
fn what_krakend_cannot_mean_is_not_carried_over() {
    check("krakend.json", KRAKEND);
}

#[test]
fn what_traefik_cannot_mean_is_not_carried_over() {
    check("dynamic.yml", TRAEFIK);
    check("dynamic.toml", TRAEFIK_TOML);
}

#[test]
fn a_text_in_place_of_what_has_members_refuses_the_file() {
    use super::write_and_import;
    for (name, text, why) in [
        (
            "kong.yaml",
            "_format_version: '3.0'\nservices:\n- name: a\n  url: http://a\n  routes: x\n",
            ":5: services.routes must be an object",
        ),
        ("kong.yaml", "_format_version: '3.0'\nroutes: x\n", ":2: routes must be an object"),
        ("kong.yaml", "_format_version: '3.0'\nservices: {name: a}\n", ":2: services must be a list"),
        (
            "apisix.yaml",
            "routes:\n- uri: /a\n  plugins: x\n  upstream: {nodes: {'a:1': 1}}\n",
            ":3: routes.plugins must be an object",
        ),
        ("krakend.json", "{\"version\": 3,\n\"endpoints\": \"backend\"}", ":2: endpoints must be an object"),
        ("dynamic.yml", "http:\n  routers: x\n  services: {}\n", ":2: http.routers must be an object"),
    ] {
        let told = write_and_import(name, text).map(|moved| moved.report.to_text()).unwrap_err();
        assert!(told.contains(why), "{text}: {told}");
    }
}
