use tollgate_jq::*;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let what = std::env::args().nth(2).unwrap();
    let doc = std::fs::read("/tmp/bodies_doc.json").unwrap();
    let f = JqFilter::compile(&std::fs::read_to_string("/tmp/bodies_jq").unwrap()).unwrap();
    let read = JqValue::object([("body", JqValue::read(&doc).unwrap().unwrap())]);
    let made = f.run(read.clone(), 1.0).unwrap();
    for _ in 0..n {
        match what.as_str() {
            "read" => drop(std::hint::black_box(JqValue::read(&doc).unwrap())),
            "run" => drop(std::hint::black_box(f.run(read.clone(), 1.0).unwrap())),
            "write" => drop(std::hint::black_box(made.member("body").unwrap().write(1<<20))),
            _ => {}
        }
    }
}
