use tollgate_gotemplate::*;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let what = std::env::args().nth(2).unwrap();
    let doc = std::fs::read("/tmp/bodies_doc.json").unwrap();
    let t = Template::parse(&std::fs::read_to_string("/tmp/bodies_template").unwrap()).unwrap();
    let read = Value::read_json(&doc).unwrap();
    for _ in 0..n {
        match what.as_str() {
            "read" => drop(std::hint::black_box(Value::read_json(&doc).unwrap())),
            "run" => drop(std::hint::black_box(t.render(&read, RenderLimits::default()).unwrap())),
            _ => {}
        }
    }
}
