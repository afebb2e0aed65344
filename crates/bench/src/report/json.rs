//! The derived figures for other programs; `run.json` contains the rounds themselves.

use super::summary::{LatencyFigures, Row, ScenarioSummary};
use crate::record::RunRecord;
use serde_json::{Value, json};

pub(crate) fn text(run: &RunRecord, scenarios: &[ScenarioSummary]) -> Result<String, String> {
    let scenarios: Vec<Value> = scenarios.iter().map(scenario).collect();
    let value = json!({
        "format": "tollgate-bench/report",
        "version": 1,
        "complete": run.end.is_none(),
        "facts": run.facts,
        "settings": run.settings,
        "scenarios": scenarios,
    });
    serde_json::to_string_pretty(&value).map(|text| text + "\n").map_err(|error| error.to_string())
}

fn scenario(summary: &ScenarioSummary) -> Value {
    let record = summary.record;
    let rows: Vec<Value> = summary.rows.iter().map(|row| figures(summary, row)).collect();
    json!({"name": record.name, "title": record.title, "rows": rows, "failures": record.failures, "absent": record.absent})
}

fn figures(summary: &ScenarioSummary, row: &Row) -> Value {
    let times = |times: LatencyFigures| json!({"mean_us": times.mean, "p50_us": times.p50, "p95_us": times.p95, "p99_us": times.p99, "max_us": times.max});
    json!({
        "case": summary.case_name(row.case),
        "load": summary.record.loads.get(row.load).map(|load| load.name.as_str()),
        "peer": row.peer,
        "cpu_us": row.cpu_us,
        "cpu_times_reference": row.times_reference,
        "cpu_times": summary.ratio_to.iter().zip(&row.ratios).collect::<std::collections::BTreeMap<_, _>>(),
        "cpu_times_first_case": row.times_first,
        "requests_per_second": row.rate,
        "latency": row.latency.map(times),
        "introduced": row.introduced.map(times),
        "store_cpu_us": row.store_cpu_us,
        "switches": row.switches,
        "memory_mib": row.memory_mib,
        "failed": row.failed,
        "loader_bound": row.is_loader_bound,
        "void": row.void,
    })
}
