//! Temporary.
use super::*;

#[test]
#[ignore = "needs fetched samples"]
fn samples() {
    for entry in std::fs::read_dir("/tmp/tyk_samples").unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".js") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut handlers: Vec<(String, Entry)> = Vec::new();
        for line in text.lines() {
            if let Some((start, _)) = line.split_once("= new TykJS.") {
                let handler = start.trim().trim_start_matches("var ").trim().to_owned();
                let kind = if line.contains("TykEventHandlers") { Entry::Event } else { Entry::Request };
                handlers.push((handler, kind));
            }
            if let Some(rest) = line.strip_prefix("function this") {
                handlers.push((format!("this{}", rest.split('(').next().unwrap()), Entry::Virtual));
            }
        }
        for (handler, entry) in handlers {
            let mut builder = ProgramBuilder::default();
            let source = builder.source(&name, text.clone(), Scope::Shared);
            let id = builder.handler(source, &handler).unwrap();
            let host = Arc::new(NotedHost::default());
            let script = match ScriptEngine::new().load(builder.build(), host.clone(), LIMITS) {
                Ok(script) => script,
                Err(fault) => {
                    println!("{name} {handler}: NOT LOADED {fault}");
                    continue;
                }
            };
            let (sender, receiver) = channel();
            let request = json!({"Headers": {"Authorization": ["foobar"], "X-Real-Ip": ["1.2.3.4"], "Host": ["h"]}, "SetHeaders": {}, "DeleteHeaders": [],
                "Body": "[1, 2]", "URL": "/a/b", "Params": {"auth": ["foobar"]}, "AddParams": {}, "ExtendedParams": {}, "DeleteParams": [],
                "ReturnOverrides": {"ResponseCode": 0, "ResponseError": "", "ResponseBody": "", "ResponseHeaders": null, "OverrideError": false},
                "IgnoreBody": false, "Method": "GET", "RequestURI": "/a/b?x=1", "Scheme": "http"});
            let event = json!({"Type": "AuthFailure", "Meta": {"Key": "k", "Message": "m"}, "TimeStamp": "t"});
            let session = json!({"meta_data": {"hello": "zzz"}, "rate": 1});
            let config = json!({"APIID": "a", "OrgID": "o", "config_data": {"config_key": "v"}});
            let arguments = match entry {
                Entry::Event => [event.to_string(), config.to_string(), "{}".into(), "{}".into()],
                _ => [request.to_string(), session.to_string(), config.to_string(), "{}".into()],
            };
            script.call(ScriptCall { handler: id, entry, arguments: arguments.map(Argument::Json) }, Box::new(Channel(sender)));
            println!("{name} {handler}: {:?}", receiver.recv().unwrap());
        }
    }
}
