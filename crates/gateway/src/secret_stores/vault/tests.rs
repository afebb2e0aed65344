use super::Vault;
use tollgate_model::config::VaultSettings;

#[test]
fn paths_are_those_of_the_engine() {
    for (version, path, wanted) in [
        (0, "secret/db/main", Some("http://vault.test:8200/v1/secret/data/db/main")),
        (2, "/secret/db/", Some("http://vault.test:8200/v1/secret/data/db")),
        (1, "secret/db", Some("http://vault.test:8200/v1/secret/db")),
        (2, "secret", None),
        (2, "secret/a b", None),
    ] {
        let settings =
            VaultSettings { address: "http://vault.test:8200/".to_owned(), kv_version: version, ..VaultSettings::default() };
        let url = Vault::new(&settings).unwrap().url(path).ok().map(|url| url.to_string());
        assert_eq!(url.as_deref(), wanted, "{path}");
    }
}
