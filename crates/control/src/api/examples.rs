//! Bodies that occur several times in the OpenAPI description. A test sends each of them to a gateway.

use serde_json::{Value, json};

/// A certificate without a private key, as PEM.
pub(super) const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBizCCAT2gAwIBAgIUNPImP9KKp96gda2KFsNslaeTrdswBQYDK2VwMCwxGDAW\n\
BgNVBAMMD2dhdGV3YXkuZXhhbXBsZTEQMA4GA1UECgwHRXhhbXBsZTAgFw0yNjEx\n\
MjIwMTU0MDJaGA8yMTI2MTAyOTAxNTQwMlowLDEYMBYGA1UEAwwPZ2F0ZXdheS5l\n\
eGFtcGxlMRAwDgYDVQQKDAdFeGFtcGxlMCowBQYDK2VwAyEAQBUpWqZbyyjJ+poZ\n\
4b0PDqG/Jc3tgXgmEvaBNaC26p2jbzBtMB0GA1UdDgQWBBScpubjmFR2XRT4LmuM\n\
09ndWSPleDAfBgNVHSMEGDAWgBScpubjmFR2XRT4LmuM09ndWSPleDAPBgNVHRMB\n\
Af8EBTADAQH/MBoGA1UdEQQTMBGCD2dhdGV3YXkuZXhhbXBsZTAFBgMrZXADQQCw\n\
WpQWgJR2FNdx3ysjLBtrdH7UdkiKFkupYCxZWFtF09K8AMKFrPTvPNhQ1xYTOsd1\n\
1umgA+fhqPDgYAgeEoUI\n\
-----END CERTIFICATE-----\n";

/// An API definition.
pub(super) fn definition() -> Value {
    json!({
        "name": "Quick",
        "api_id": "quick",
        "org_id": "default",
        "use_keyless": false,
        "auth": {
            "auth_header_name": "Authorization"
        },
        "version_data": {
            "not_versioned": true,
            "versions": {
                "Default": {
                    "name": "Default"
                }
            }
        },
        "proxy": {
            "listen_path": "/quick/",
            "target_url": "http://127.0.0.1:9090/",
            "strip_listen_path": true
        }
    })
}

/// An OpenAPI document with the settings of an API.
pub(super) fn openapi_document() -> Value {
    let mut document = plain_openapi_document();
    let extension = json!({
        "info": {
            "id": "pets",
            "name": "Pets",
            "orgId": "default",
            "state": {
                "active": true
            }
        },
        "upstream": {
            "url": "http://127.0.0.1:9090/"
        },
        "server": {
            "listenPath": {
                "value": "/pets/",
                "strip": true
            }
        }
    });
    if let Value::Object(members) = &mut document {
        members.insert("x-tyk-api-gateway".to_owned(), extension);
    }
    document
}

/// A proxy for the Model Context Protocol.
pub(super) fn mcp_document() -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Assistant", "version": "1.0.0"},
        "paths": {},
        "x-tyk-api-gateway": {
            "info": {"id": "assistant", "name": "Assistant", "orgId": "default", "state": {"active": true}},
            "upstream": {"url": "http://127.0.0.1:9090/mcp"},
            "server": {"listenPath": {"value": "/assistant/", "strip": true}},
            "middleware": {
                "mcpTools": {"delete_all": {"block": {"enabled": true}}}
            }
        }
    })
}

/// An OpenAPI document.
pub(super) fn plain_openapi_document() -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Pets",
            "version": "1.0.0"
        },
        "servers": [
            {
                "url": "http://127.0.0.1:9090/"
            }
        ],
        "paths": {
            "/pets": {
                "get": {
                    "operationId": "listPets",
                    "responses": {
                        "200": {
                            "description": "All pets."
                        }
                    }
                }
            }
        }
    })
}

/// A session with access to one API.
pub(super) fn session() -> Value {
    json!({
        "org_id": "default",
        "alias": "first customer",
        "rate": 100,
        "per": 60,
        "quota_max": 1000,
        "quota_renewal_rate": 3600,
        "expires": 0,
        "access_rights": {
            "quick": {
                "api_id": "quick",
                "api_name": "Quick",
                "versions": [
                    "Default"
                ]
            }
        }
    })
}

/// The limits of an organisation.
pub(super) fn limits() -> Value {
    json!({
        "rate": 1000,
        "per": 60,
        "quota_max": 100000,
        "quota_renewal_rate": 86400
    })
}

/// A policy.
pub(super) fn policy() -> Value {
    json!({
        "id": "gold",
        "name": "Gold",
        "org_id": "default",
        "rate": 100,
        "per": 60,
        "quota_max": 10000,
        "quota_renewal_rate": 86400,
        "llm_budgets": [{"name": "team", "of": "policy", "max": 1000000, "unit": "tokens", "per": "month"}],
        "access_rights": {
            "quick": {
                "api_id": "quick",
                "api_name": "Quick",
                "versions": [
                    "Default"
                ]
            }
        }
    })
}
