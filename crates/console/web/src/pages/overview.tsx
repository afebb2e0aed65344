// The first page: is it us, the upstreams or the clients? A verdict, the past hour, the APIs with the most trouble, what needs attention.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get } from "../call";
import * as format from "../format";
import * as live from "../live";
import { link } from "../route";
import { scopeText, session } from "../session";
import { Ago, Button, Empty, ErrorBox, LinkButton, Note, Panel, Text } from "../ui/bits";
import { Icon } from "../ui/icons";
import { useLoaded } from "../ui/loaded";
import { Plot, Spark } from "../ui/plot";
import { narrow } from "../ui/screen";

/** Seconds over which the figures at the top are taken. */
const RECENT_S = 30;
/** A share of failures below this is not worth a verdict. */
const FAILING = 0.01;
const ROWS = 8;

export function Overview() {
  return session.value?.scope ? <ScopedOverview /> : <WholeOverview />;
}

function WholeOverview() {
  void live.tick.value;
  const now = live.now.value, { kind, words } = live.state.value;
  const total = live.totals.value;
  if (kind === "off") return <><h1 class="page">Overview</h1><Note tone="warn" icon="alert"><Text>{words}</Text></Note></>;
  if (kind === "lost" && !total.times.length) return <><h1 class="page">Overview</h1><ErrorBox failure={words} retry={() => void live.start()} /></>;
  const figure = (column: string) => live.latest(total, column, RECENT_S);
  const requests = figure("requests"), failed = figure("server_errors"), refused = figure("refused");
  const share = requests ? (failed ?? 0) / requests : requests === 0 ? 0 : null;
  const idle = requests === 0 ? live.lastSeen(total) : null;
  const plots = live.totals.value;
  return (
    <>
      <h1 class="sr">Overview</h1>
      <Verdict />
      {kind === "refused" && <Note tone="warn" icon="alert">Figures are not updated: <Text>{words}</Text> This page tries again every 10 s.</Note>}
      {session.value?.by_secret && session.value.users === 0 && <FirstUsers />}
      <div class="figures">
        <Figure name="Requests" to={link(["apis"], { sort: "-requests" })} unit="/s" note={requests == null ? "" : requests === 0 ? idle ? <>last <Ago at={idle} /></> : "none within the past hour" : <>{format.count(now?.totals.in_flight ?? null)} in flight</>}>{format.rate(requests)}</Figure>
        <Figure name="Failed" to={link(["live"], { status: "5xx" })} tone={share != null && share >= FAILING ? "bad" : undefined} note={<>{format.rate(failed)}/s got 5xx or no answer</>}>{format.percent(share)}</Figure>
        <Figure name="Refused" to={link(["live"], { status: "4xx" })} unit="/s" tone={refused && requests && refused / requests > 0.2 ? "warn" : undefined} note={<>{format.percent(requests ? (refused ?? 0) / requests : requests === 0 ? 0 : null)} of requests</>}>{format.rate(refused)}</Figure>
        <Figure name="Upstream p99" to={link(["apis"], { sort: "-p99_ms" })} note="until its response ended">{format.percentile(live.highest(total, "upstream_p99_us", RECENT_S), live.ends.value.upstream)}</Figure>
        <Figure name="Gateway p99" to={link(["system"])} note="of its own work">{format.percentile(live.highest(total, "gateway_p99_us", RECENT_S), live.ends.value.gateway)}</Figure>
      </div>
      <div class="two">
        <TrafficPlot series={plots} />
        <LatencyPlot series={plots} />
      </div>
      <div class="two wide-left">
        <BusyApis />
        <NeedsAttention />
      </div>
      <Refusals />
      <Costs />
    </>
  );
}

/** For those who reach some APIs: these, and what became of them. Figures of the whole gateway are closed to them. */
function ScopedOverview() {
  const apis = useLoaded<any>(() => get("list/apis?limit=20&sort=name", { byItself: true }), []);
  const changes = useLoaded<any>(() => get("list/changes?limit=10", { byItself: true }), []);
  return (
    <>
      <h1 class="page">Overview</h1>
      <Note>You reach <Text>{scopeText(session.value?.scope)}</Text>, with the policies, keys and clients that belong to it.</Note>
      <div class="two wide-left">
        <Panel title="Your APIs" actions={<LinkButton kind="quiet" href="#/apis">All</LinkButton>}>
          {apis.failure ? <ErrorBox failure={apis.failure} retry={apis.again} /> : apis.value && (apis.value.rows.length === 0 ? <Empty icon="api" title="There is no such API yet." /> : (
            <table class="plain">
              <thead><tr><th scope="col">API</th><th scope="col">Path</th><th scope="col"><span class="sr">Its requests</span></th></tr></thead>
              <tbody>{apis.value.rows.map((one: any) => <tr key={one.id}><th scope="row"><a href={link(["apis", one.id])}><Text>{one.name || one.id}</Text></a></th><td><code>{format.visible(one.listen_path)}</code></td><td class="number"><a href={link(["live"], { api: one.id })}>Live tail</a></td></tr>)}</tbody>
            </table>
          ))}
        </Panel>
        <Panel title="Last changes">
          {changes.failure ? <ErrorBox failure={changes.failure} retry={changes.again} /> : changes.value && (changes.value.rows.length === 0 ? <Empty icon="ok" title="Nothing was changed within 90 days." /> : (
            <ul class="attention">{changes.value.rows.map((one: any, index: number) => <li key={index}><span><Text>{`${one.user || "nobody"}: ${String(one.action).replaceAll("_", " ")} ${one.kind} ${one.target}`}</Text></span><small><Ago at={one.time} /></small></li>)}</ul>
          ))}
        </Panel>
      </div>
    </>
  );
}

function Figure({ name, unit, note, tone, to, children }: { name: string; unit?: string; note?: ComponentChildren; tone?: string; to: string; children: ComponentChildren }) {
  return <a class={`figure panel ${tone ?? ""}`} href={to}><span>{name}</span><strong>{children}{unit && <small>{unit}</small>}</strong><em>{note}</em></a>;
}

/** One sentence: what is wrong and where, or that nothing is. */
function Verdict() {
  const now = live.now.value, { kind, since } = live.state.value;
  if (kind === "lost") return <Line tone="bad" head={`No answer from the gateway since ${format.clock(since / 1000, true)}.`} rest="What is shown is older. Traffic may still be served; this page tries again every 2 s." />;
  if (!now) return <Line tone="muted" head="Waiting for the first sample." />;
  const trouble = now.attention.filter((one) => one.level === "bad");
  const worst = [...live.apis.entries()]
    .map(([id, series]) => ({ id, series, requests: live.latest(series, "requests", RECENT_S) ?? 0, failed: live.latest(series, "server_errors", RECENT_S) ?? 0, upstream: live.latest(series, "upstream_errors", RECENT_S) ?? 0 }))
    .filter((api) => api.requests > 0 && api.failed / api.requests >= FAILING)
    .sort((a, b) => b.failed - a.failed);
  const first = worst[0];
  if (first) {
    const name = format.visible(first.series.name || first.id), from = failingSince(first.series);
    const own = trouble.find((one) => ["store", "reload", "shared_definitions"].includes(one.kind));
    const more = worst.length > 1 ? ` and of ${worst.length - 1} more` : "";
    return <Line tone="bad" head={<>Upstream of <a href={link(["apis", first.id])}>{name}</a>{more} fails{from ? ` since ${format.clock(from)}` : ""}.</>}
      rest={`${format.percent(first.failed / first.requests)} of its requests. ${!own ? "The gateway itself is healthy." : own.kind === "reload" ? "The configuration has problems too." : sentence(own.text)}`} />;
  }
  if (trouble[0]) return <Line tone="bad" head={<Text>{sentence(trouble[0].text)}</Text>} rest={trouble.length > 1 ? `${trouble.length - 1} more below.` : ""} />;
  if (now.missing.length) return <Line tone="warn" head={`${now.missing.length} of ${now.missing.length + now.nodes.length} gateways do not answer.`} rest={now.missing.map(format.visible).join(", ")} />;
  const requests = live.latest(live.totals.value, "requests", RECENT_S) ?? 0, refused = live.latest(live.totals.value, "refused", RECENT_S) ?? 0;
  if (requests > 1 && refused / requests > 0.2) return <Line tone="warn" head={`${format.percent(refused / requests)} of the requests are refused.`} rest="Gateway and upstreams are healthy; the reasons are below." />;
  if (now.attention[0]) return <Line tone="warn" head={<Text>{sentence(now.attention[0].text)}</Text>} rest="Traffic is served." />;
  if (requests === 0) {
    const last = live.lastSeen(live.totals.value);
    return <Line tone="ok" head="Healthy, without traffic." rest={last ? `The last request came at ${format.clock(last, true)}.` : "No request came within the past hour."} />;
  }
  return <Line tone="ok" head="Healthy." rest="Gateway and upstreams answer." />;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

/** The start of the last unbroken run of samples with failures. */
function failingSince(series: live.Series): number | null {
  let from: number | null = null, quiet = 0;
  for (let at = series.times.length - 1; at >= 0 && quiet < 5; at -= 1) {
    const requests = series.columns.requests![at] ?? 0, failed = series.columns.server_errors![at] ?? 0;
    if (requests > 0 && failed / requests >= FAILING) { from = series.times[at]!; quiet = 0; } else if (requests > 0) quiet += 1;
  }
  return from;
}

function Line({ tone, head, rest }: { tone: string; head: ComponentChildren; rest?: string }) {
  const change = [...live.marks.value].reverse().find((mark) => mark.kind.startsWith("config"));
  return (
    <div class={`verdict ${tone}`} role="status">
      <Icon name={tone === "ok" ? "ok" : tone === "muted" ? "clock" : "alert"} />
      <p><strong>{head}</strong> {rest}</p>
      {change && <a class="change" href={link(["system", "changes"])}>Configuration of {format.moment(change.unix_s)}</a>}
    </div>
  );
}

/** The least span of a plot: the first minutes of a gateway would be a line at the edge of an hour. */
const SPAN_S_MIN = 600;

/** The past hour, or what of it there is. */
export function hour(series: live.Series): [number, number] {
  const last = series.times.at(-1) ?? Date.now() / 1000;
  const requests = live.totals.value.columns.requests!;
  const first = live.totals.value.times[requests.findIndex((value) => value != null)] ?? last;
  return [Math.max(last - live.SPAN_S, Math.min(first, last - SPAN_S_MIN)), last];
}

export function TrafficPlot({ series }: { series: live.Series }) {
  const c = series.columns;
  const lines = [
    { name: "all", values: c.requests!, color: "accent", fill: true },
    { name: "failed", values: c.server_errors!, color: "bad" },
    { name: "refused", values: c.refused!, color: "warn" },
  ];
  return <Plot title="Requests by result" unit="/s" times={series.times} span={hour(series)} lines={narrow.value ? lines.slice(0, 1) : lines} show={format.rate} marks={live.marks.value} />;
}

export function LatencyPlot({ series, side = "upstream" }: { series: live.Series; side?: "upstream" | "gateway" }) {
  const [which, set] = useState(side);
  const c = series.columns;
  const lines = [
    { name: "p50", values: c[`${which}_p50_us`]!, color: "accent" },
    { name: "p90", values: c[`${which}_p90_us`]!, color: "violet" },
    { name: "p99", values: c[`${which}_p99_us`]!, color: "warn" },
  ];
  return (
      <Plot key={which} title="Latency" unit="" extra={<div class="segments small" role="group" aria-label="Whose time">{(["upstream", "gateway"] as const).map((one) => <button key={one} type="button" aria-pressed={which === one} onClick={() => set(one)}>{one}</button>)}</div>} log floor={which === "gateway" ? 10 : 100} times={series.times} span={hour(series)} lines={narrow.value ? lines.slice(2) : lines} show={(value) => format.percentile(value, live.ends.value[which])} marks={live.marks.value} />
  );
}

function BusyApis() {
  void live.tick.value;
  const rows = [...live.apis.entries()]
    .map(([id, series]) => ({
      id, series, requests: live.latest(series, "requests", RECENT_S), failed: live.latest(series, "server_errors", RECENT_S), refused: live.latest(series, "refused", RECENT_S),
      p99: live.highest(series, "upstream_p99_us", RECENT_S),
    }))
    .filter((row) => live.lastSeen(row.series) != null)
    .sort((a, b) => (b.failed ?? 0) - (a.failed ?? 0) || (b.requests ?? 0) - (a.requests ?? 0)).slice(0, ROWS);
  const total = live.now.value?.apis_total;
  return (
    <Panel title="APIs by errors, then rate" actions={<LinkButton kind="quiet" href="#/apis">{total != null ? `All ${format.count(total)}` : "All"}</LinkButton>}>
      {rows.length === 0 ? <FirstRequest /> : (
        <table class="plain">
          <thead><tr><th scope="col">API</th>{!narrow.value && <th scope="col">Past minutes</th>}<th scope="col" class="number">/s</th><th scope="col" class="number">failed</th><th scope="col" class="number">refused/s</th><th scope="col" class="number">p99</th></tr></thead>
          <tbody>{rows.map(({ id, series, requests, failed, refused, p99 }) => {
            const share = requests ? (failed ?? 0) / requests : requests === 0 ? 0 : null;
            return (
              <tr key={id}>
                <th scope="row"><a href={link(["apis", id])}><Text>{series.name || id}</Text></a></th>
                {!narrow.value && <td><Spark values={series.columns.requests!} tone={share && share >= FAILING ? "bad" : "accent"} /></td>}
                <td class="number">{format.rate(requests)}</td>
                <td class={`number ${share && share >= FAILING ? "bad" : ""}`}>{format.percent(share)}</td>
                <td class="number">{format.rate(refused)}</td>
                <td class="number">{format.percentile(p99, live.ends.value.upstream)}</td>
              </tr>
            );
          })}</tbody>
        </table>
      )}
    </Panel>
  );
}

/** How to see the first request, with an API that exists. */
function FirstRequest() {
  const [api, set] = useState<any>(null);
  useEffect(() => { void get("list/apis?limit=1").then((page) => set(page.rows[0] ?? false), () => set(false)); }, []);
  if (api === false) return <Empty icon="api" title="There is no API yet."><LinkButton kind="primary" icon="plus" href={link(["apis"], { new: "1" })}>Make the first</LinkButton></Empty>;
  if (!api) return <Empty icon="clock" title="No request within the past hour." />;
  return <Empty icon="clock" title="No request within the past hour.">Send one, and it appears here: <code>curl -i {location.origin}{api.listen_path}</code></Empty>;
}

function NeedsAttention() {
  const now = live.now.value;
  const nodes = useLoaded<any>(() => (live.gateways.value > 1 ? get("nodes", { byItself: true }) : Promise.resolve(null)), [live.gateways.value, Math.floor(live.tick.value / 5)]);
  const differing: live.Attention[] = (nodes.value?.nodes ?? []).filter((one: any) => one.differs.length).map((one: any) => ({ kind: "node", level: "warn", text: `${one.node} runs other ${one.differs.join(", ").replaceAll("_", " ")}` }));
  const rows = [...(now?.attention ?? []), ...differing];
  const where = (one: live.Attention) => one.api_id ? link(["apis", one.api_id]) : one.kind === "certificate" ? link(["certificates"]) : link(["system"]);
  return (
    <Panel title="Needs attention">
      {rows.length === 0 ? <Empty icon="ok" title={now ? "Nothing needs attention." : "Waiting for the first sample."} /> : (
        <ul class="attention">{rows.slice(0, 12).map((one, index) => (
          <li key={index} class={one.level}><Icon name="alert" /><a href={where(one)}><b class="sr">{one.level === "bad" ? "Error: " : "Warning: "}</b><Text>{one.text}</Text></a>{one.unix_s && <small><Ago at={one.unix_s} /></small>}</li>
        ))}</ul>
      )}
      {rows.length > 12 && <p class="list-end">{rows.length - 12} more in <a href="#/system">System</a>.</p>}
    </Panel>
  );
}

/** Requests that no API was for, in words; those of the control API are no trouble. */
export const UNROUTED: Record<string, string> = { not_found: "unknown path", bad_path: "malformed path", too_many: "too many from one address", redirected: "redirected" };

/** Why requests are refused now, busiest first. */
function Refusals() {
  const now = live.now.value;
  if (!now) return null;
  const rows = Object.entries(live.refusals.value).sort((a, b) => b[1] - a[1]);
  const lost = Object.entries(live.unrouted.value ?? {}).filter(([what, rate]) => rate > 0 && what in UNROUTED);
  const busy = now.core_busy.length ? Math.max(...now.core_busy) : null;
  return (
    <p class="strip">
      <span><b>Refusals</b> {rows.length ? rows.slice(0, 6).map(([cause, rate]) => <a key={cause} href={link(["live"], { cause })}>{cause.replaceAll("_", " ")} {format.rate(rate)}/s</a>) : "none in the past 30 s"}</span>
      {lost.length > 0 && <span><b>Without an API</b> {lost.map(([what, rate]) => <span key={what}>{UNROUTED[what]} {format.rate(rate)}/s</span>)}</span>}
      <span><b>Connections</b> {format.count(now.connections.client)} of clients, {format.count(now.connections.upstream)} to upstreams</span>
      {busy != null && <span><b>Busiest core</b> {format.percent(busy)}</span>}
    </p>
  );
}

/** What middlewares, stores and records cost on this gateway. */
function Costs() {
  const found = useLoaded(() => get("live?apis=0", { byItself: true }), [0, Math.floor(live.tick.value / 5)]);
  const at = found.value;
  if (!at) return null;
  const dearest = [...(at.middlewares ?? [])].filter((one: any) => one.mean_ns > 0).sort((a: any, b: any) => b.mean_ns - a.mean_ns).slice(0, 6);
  const lost = (at.sinks ?? []).reduce((sum: number, one: any) => sum + one.dropped + one.failed, 0);
  return (
    <p class="strip">
      <span title={`Means of 1 in 1,024 requests, on ${format.visible(at.node)}`}><b>Cost</b> {dearest.length ? dearest.map((one: any) => <span key={one.middleware}>{one.middleware} {format.duration(one.mean_ns / 1000)}</span>) : "no request was timed yet"}</span>
      {(at.stores ?? []).map((one: any) => <a key={one.store} href={link(["system"])} class={one.up ? "" : "bad"}><b>Store</b> {one.store} {one.up ? format.percentile(one.p50_us, 1e7) : "does not answer"}</a>)}
      <a href={link(["system"])} class={lost ? "bad" : ""}><b>Records</b> {at.sinks?.length ? `${format.count(lost)} lost` : "not kept"}</a>
    </p>
  );
}

/** The first who signs in with the secret is offered names: with them, changes say who made them. */
function FirstUsers() {
  const [gone, set] = useState(localStorage.getItem("no-users") === "yes");
  if (gone) return null;
  return <Note actions={<><LinkButton href={link(["system", "users"], { new: "1" })}>Add a user</LinkButton><Button kind="quiet" icon="close" aria-label="Not now" onClick={() => { localStorage.setItem("no-users", "yes"); set(true); }} /></>}>You are signed in with the control secret. Named users have roles, and changes then say who made them.</Note>;
}
