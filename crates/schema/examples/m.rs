fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let what = std::env::args().nth(2).unwrap();
    let doc = std::fs::read("/tmp/bodies_doc.json").unwrap();
    let schema: serde_json::Value = serde_json::from_slice(&std::fs::read("/tmp/bodies_schema.json").unwrap()).unwrap();
    let v = tollgate_schema::BodyValidator::compile(&schema).unwrap();
    let q = tollgate_schema::QuickSchema::compile(&schema).unwrap();
    for _ in 0..n {
        match what.as_str() {
            "check" => v.check(&doc).unwrap(),
            "tree" => drop(std::hint::black_box(tollgate_schema::JsonTree::read(&doc).unwrap())),
            "value" => drop(std::hint::black_box(serde_json::from_slice::<serde_json::Value>(&doc).unwrap())),
            _ => { std::hint::black_box(&q); }
        }
    }
}
