//! The lower bound for every gateway: `tollgate-bench relay`, which copies bytes between each client and its own upstream
//! connection and parses nothing. In cases that reject every request, it answers each read with a fixed 401 and needs no upstream.

use super::{Launch, PeerAdapter, Program, Setup, own_program};
use crate::scenario::{Case, StatusCount};

/// Tollgate's 401 for a request without a key, with a fixed date.
const REFUSAL: &str = "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nX-Generator: tyk.io\r\n\
                       Date: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: 46\r\n\r\n{\n    \"error\": \"Authorization field missing\"\n}";

pub(crate) struct FloorAdapter;

impl PeerAdapter for FloorAdapter {
    fn name(&self) -> &'static str {
        "floor"
    }

    fn program(&self) -> Option<&'static str> {
        Some("tollgate-bench")
    }

    fn is_for_scenarios_that_name_it(&self) -> bool {
        true
    }

    fn serves_one_case(&self) -> bool {
        true
    }

    fn passes_paths_on(&self) -> bool {
        true
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        if case.api.tls.is_some() || case.api.http2 {
            return Some("its clients speak plain HTTP/1.1".to_owned());
        }
        if refuses(case) || case.is_always_served() {
            return None;
        }
        Some("it passes every request on or refuses every request".to_owned())
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let (port, threads) = (setup.listen().to_string(), setup.threads.to_string());
        let mut program = Program::new("floor", &own_program()?).args(["relay", "--listen", &port, "--threads", &threads]);
        let mut configuration = Vec::new();
        if setup.cases.iter().any(|case| refuses(case)) {
            let file = setup.write("refusal", REFUSAL)?;
            program = program.args(["--answer".into(), file.clone().into_os_string()]);
            configuration.push(file);
        } else {
            program = program.args(["--upstream", &setup.upstream.to_string()]);
        }
        Ok(Launch::of(program, configuration))
    }
}

/// Whether every request gets a 401.
fn refuses(case: &Case) -> bool {
    case.expect.iter().any(|(status, count)| *count == StatusCount::All && status.split('|').any(|code| code == "401"))
}
