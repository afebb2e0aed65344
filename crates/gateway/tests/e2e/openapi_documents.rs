//! OpenAPI documents of others: Petstore in both versions, Kubernetes, and GitHub with 13 MB. Each is imported, answers with its mocks, and its own
//! examples are checked. `scripts/test-deps.sh` fetches them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tollgate_model::Level;
use tollgate_openapi::{Document, ExampleKinds, ResponseCompiler, check_examples};

use crate::commands::tollgate;
use crate::configuration::Folders;
use crate::harness::{Gateway, Upstream, request, skip};

/// The directory of the documents; `None` where they could not be fetched, which the file there says.
fn documents() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this test");
    let directory = program.ancestors().nth(3).expect("the target directory").join("test-documents");
    if let Ok(reason) = std::fs::read_to_string(directory.join("unavailable")) {
        skip(&reason);
        return None;
    }
    assert!(directory.join("complete").exists(), "{} is missing: run scripts/test-deps.sh tests", directory.display());
    Some(directory)
}

/// What became of a document's mocks.
#[derive(Debug, Default)]
struct MockCounts {
    answered: usize,
    /// Answers whose body does not fit the document.
    unfit: Vec<String>,
    missing: Vec<String>,
}

/// Asks for every operation of an imported document.
fn mocks(gateway: &Gateway, id: &str) -> MockCounts {
    let stored = gateway.control("GET", &format!("/tyk/apis/oas/{id}"), "").json();
    let (document, _) = Document::new(stored).expect("a document");
    let mut compiler = ResponseCompiler::new(&document);
    document.operations.iter().for_each(|operation| {
        compiler.add(operation);
    });
    let (rules, problems) = compiler.finish();
    assert!(problems.is_empty(), "{problems:?}");
    let settings = &document.root["x-tyk-api-gateway"]["middleware"]["operations"];
    let mut counts = MockCounts::default();
    let mut connection = gateway.connect();
    for (operation, rules) in document.operations.iter().zip(&rules) {
        if settings[&operation.id]["mockResponse"]["enabled"] != true {
            continue;
        }
        let parts = operation.path.split('/').map(|part| if part.contains('{') { "1" } else { part });
        let path = parts.collect::<Vec<_>>().join("/");
        let place = format!("{} {}", operation.method, operation.path);
        let answer = connection.ask(request(&operation.method, &format!("/{id}{path}"), &[], ""));
        // A document without an answer in JSON says which types it has.
        if answer.status >= 400 {
            counts.missing.push(format!("{place}: {}", answer.text().trim()));
            continue;
        }
        counts.answered += 1;
        let header = |name: &str| answer.header(name).map(str::to_owned);
        let fits = match rules.check_head(answer.status, true, &header) {
            Ok(Some(check)) if check.reads_body() => {
                let budget = tollgate_openapi::Budget::of_body(answer.text().len());
                check.check_body(answer.text().as_bytes(), budget).map_err(|unfit| unfit.to_string())
            }
            Ok(_) => Ok(()),
            Err(why) => Err(why),
        };
        counts.unfit.extend(fits.err().map(|why| format!("{place}: {}", why.chars().take(300).collect::<String>())));
    }
    counts
}

fn import(gateway: &Gateway, file: &Path, options: &str) {
    // What has no counterpart in Swagger 2 is told, and no failure.
    let outcome = tollgate(gateway, &format!("apis import {} {options} --timeout 300", file.display()));
    assert_eq!(outcome.code(), 0, "{}: {}", file.display(), outcome.errors());
}

fn example_problems(file: &Path) -> Vec<String> {
    let read = tollgate_openapi::read_text(&std::fs::read(file).unwrap()).unwrap();
    let document = if tollgate_openapi::is_swagger(&read) { tollgate_openapi::convert_swagger(&read).document } else { read };
    let (document, _) = Document::new(document).expect("a document");
    let kinds = ExampleKinds { examples: true, defaults: true };
    check_examples(&document, kinds, Level::Warning).iter().map(ToString::to_string).collect()
}

#[test]
fn petstore_is_served_mocked_and_validated_in_both_versions() {
    let Some(directory) = documents() else { return };
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let gateway = folders.start();
    for version in ["3.0", "3.1"] {
        let file = directory.join(format!("petstore-{version}.json"));
        let id = version.replace('.', "");
        import(&gateway, &file, &format!("--id mock{id} --listen-path /mock{id}/ --mock"));
        let counts = mocks(&gateway, &format!("mock{id}"));
        println!("Petstore {version}: {} mocks, {:#?}", counts.answered, counts);
        assert!(counts.answered >= 8, "{counts:#?}");
        assert!(counts.unfit.is_empty(), "{counts:#?}");
        let problems = example_problems(&file);
        assert!(problems.is_empty(), "{problems:#?}");

        import(&gateway, &file, &format!("--id pets{id} --listen-path /pets{id}/ --validate --upstream {}", upstream.url()));
        let ask = |method: &str, path: &str, lines: &[&str], body: &str| {
            gateway.send(request(method, &format!("/pets{id}{path}"), lines, body)).status
        };
        const JSON: &str = "Content-Type: application/json";
        let pet = r#"{"name": "Tom", "photoUrls": ["http://example.test/tom.png"], "status": "sold"}"#;
        for (expected, status) in [
            (200, ask("POST", "/pet", &[JSON], pet)),
            (422, ask("POST", "/pet", &[JSON], r#"{"name": "Tom"}"#)),
            (422, ask("POST", "/pet", &[JSON], &pet.replace("sold", "eaten"))),
            (200, ask("GET", "/pet/7", &[], "")),
            (422, ask("GET", "/pet/seven", &[], "")),
            (200, ask("GET", "/pet/findByStatus?status=sold&status=pending", &[], "")),
            (422, ask("GET", "/pet/findByStatus?status=eaten", &[], "")),
            (422, ask("GET", "/pet/findByStatus", &[], "")),
        ] {
            assert_eq!(status, expected, "{version}");
        }
    }
}

#[test]
fn the_documents_of_kubernetes_and_github_are_served_and_mocked() {
    let Some(directory) = documents() else { return };
    let folders = Folders::new();
    let gateway = folders.start();
    // Kubernetes has no examples; they are made of its schemas. Its operations often have any content type. Some of GitHub's have no success but 1XX and 3XX.
    for (name, operations_min, missing_max) in [("kubernetes", 1_000, 0), ("github", 1_000, 3)] {
        let file = directory.join(format!("{name}.json"));
        import(&gateway, &file, &format!("--id {name} --listen-path /{name}/ --upstream http://127.0.0.1:1/ --mock"));
        let counts = mocks(&gateway, name);
        let problems = example_problems(&file);
        let more =
            problems.iter().find_map(|problem| problem.split_once("and ")?.1.split_once(" more examples")?.0.parse::<usize>().ok());
        let wrong = problems.len() + more.unwrap_or_default();
        println!(
            "{name}: {} mocks, {} do not fit, {} are missing; {wrong} of the document's own examples do not fit",
            counts.answered,
            counts.unfit.len(),
            counts.missing.len()
        );
        counts.unfit.iter().chain(&counts.missing).take(20).for_each(|line| println!("  {line}"));
        assert!(counts.answered >= operations_min, "{name}: {}", counts.answered);
        // A mock that does not fit is an example that its author got wrong.
        assert!(counts.unfit.len() <= wrong, "{name}: {:#?}", counts.unfit);
        assert!(counts.missing.len() <= missing_max, "{name}: {:#?}", counts.missing);
    }
}

#[test]
fn a_document_whose_examples_do_not_fit_is_not_imported_if_they_are_to_be_checked() {
    let Some(directory) = documents() else { return };
    let folders = Folders::new();
    let gateway = folders.start();
    let read: Value = serde_json::from_slice(&std::fs::read(directory.join("petstore-3.0.json")).unwrap()).unwrap();
    let good = directory.join("petstore-3.0.json");
    tollgate(&gateway, &format!("apis import {} --id good --listen-path /good/ --check-examples", good.display())).ok();
    let mut wrong = read;
    wrong["components"]["schemas"]["Pet"]["example"] = serde_json::json!({"name": 5});
    let file = gateway.dir().join("wrong.json");
    std::fs::write(&file, wrong.to_string()).unwrap();
    let outcome = tollgate(&gateway, &format!("apis import {} --id wrong --listen-path /wrong/ --check-examples", file.display()));
    outcome.fails(1, "$.components.schemas.Pet.example: error: does not fit its schema");
    assert_eq!(gateway.control("GET", "/tyk/apis/oas/wrong", "").status, 404);
    tollgate(&gateway, &format!("apis import {} --id wrong --listen-path /wrong/", file.display())).ok();
}
