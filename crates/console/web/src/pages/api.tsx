// One API: what it does now, its definition, its chain with the cost of each step, its keys and usage.

import { useEffect, useState } from "preact/hooks";
import { Failure, ask, call, get, query, segment } from "../call";
import * as format from "../format";
import * as live from "../live";
import { go, link, route } from "../route";
import { isScoped, may, reread, session } from "../session";
import { Badge, Button, Empty, ErrorBox, LinkButton, Note, Panel, Text, type Tone } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";
import { Definition } from "./definition";
import { KeyTable } from "./keys";
import { McpTools } from "./mcp";
import { LatencyPlot, TrafficPlot, hour } from "./overview";
import { Plot } from "../ui/plot";
import { narrow } from "../ui/screen";
import { TryIt } from "./try";
import { UsageOf } from "./usage";

const TABS = [["live", "Live"], ["definition", "Definition"], ["chain", "Chain"], ["versions", "Versions"], ["keys", "Keys"], ["usage", "Usage"]] as const;

/** The tab of proxies for the Model Context Protocol. */
const TOOLS = ["tools", "Tools"] as const;

/** The tabs for whoever is signed in: what the gateway does now concerns more than an operator with a scope may see. */
const tabsOf = (definition: any): (readonly [string, string])[] => {
  const all = definition?.application_protocol === "mcp" ? [TABS[0], TOOLS, ...TABS.slice(1)] : TABS;
  return all.filter(([part]) => part !== "live" || !isScoped());
};

export function ApiPage() {
  const scoped = isScoped();
  const [, id = "", part = ""] = route.value.parts;
  const tab = part && !(scoped && part === "live") ? part : scoped ? "definition" : "live";
  const loaded = useLoaded(() => ask("GET", `apis/${segment(id)}`), [id, tab === "definition"]);
  const [trying, setTrying] = useState(false);
  const [removing, setRemoving] = useState(false);
  const definition = loaded.value?.value;
  useEffect(() => { document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }); }, [tab]);
  if (loaded.failure && !definition) {
    return loaded.failure instanceof Failure && loaded.failure.status === 404
      ? <Empty icon="alert" title="There is no such API."><LinkButton href="#/apis">All APIs</LinkButton></Empty>
      : <ErrorBox failure={loaded.failure} retry={loaded.again} />;
  }
  const proxy = definition?.proxy ?? {};
  const behind = definition?.tollgate?.mcp?.servers?.length;
  const target = behind ? `${behind} ${behind === 1 ? "server" : "servers"}` : proxy.enable_load_balancing && proxy.target_list?.length ? `${proxy.target_list.length} targets` : proxy.target_url;
  const affected: string[] = definition?.tollgate?.route?.affected_by ?? [];
  const can = may("editor") && session.value?.writable.apis;
  const tabs = tabsOf(definition);
  return (
    <>
      <p class="crumbs"><a href="#/apis">APIs</a><Icon name="right" /><span><Text>{id}</Text></span></p>
      <div class="page-head">
        <h1><Text>{definition?.name || id}</Text>{definition && <small class="mono"><Text>{`${definition.domain ?? ""}${proxy.listen_path ?? ""}`}</Text> {"\u2192"} <Text>{target}</Text></small>}</h1>
        {definition?.internal && <Badge tone="muted">internal</Badge>}
        {can && <Button icon="trash" kind="quiet" aria-label="Delete this API" title="Delete this API" onClick={() => setRemoving(true)} />}
        {!scoped && <Button icon="play" onClick={() => setTrying(true)}>Try it</Button>}
        {tab !== "definition" && <LinkButton icon="edit" kind="primary" data-key="e" href={link(["apis", id, "definition"])}>{can ? "Edit" : "View definition"}</LinkButton>}
      </div>
      {affected.length > 0 && <p><small>Policies of the cluster:</small> {affected.map((policy) => <Badge key={policy} tone="muted"><Text>{policy}</Text></Badge>)}</p>}
      <nav class="tabs" aria-label="Parts of this API">{tabs.map(([part, name]) => <a key={part} href={link(part === "live" ? ["apis", id] : ["apis", id, part])} aria-current={part === tab ? "page" : undefined}>{name}</a>)}</nav>
      {tab === "live" && <Live id={id} definition={definition} />}
      {tab === "tools" && definition && <McpTools key={id} id={id} definition={definition} />}
      {tab === "definition" && loaded.value && <Definition key={id} id={id} stored={loaded.value} reload={loaded.again} />}
      {tab === "chain" && <Chain id={id} />}
      {tab === "versions" && definition && <Versions definition={definition} />}
      {tab === "keys" && <KeyTable fixed={{ api: id }} />}
      {tab === "usage" && <UsageOf api={id} />}
      {trying && <TryIt id={id} definition={definition} close={() => setTrying(false)} />}
      {removing && <Remove id={id} name={definition?.name || id} etag={loaded.value?.etag ?? null} close={() => setRemoving(false)} />}
    </>
  );
}

function Remove({ id, name, etag, close }: { id: string; name: string; etag: string | null; close: () => void }) {
  const [failure, setFailure] = useState<unknown>(null);
  const remove = async () => {
    try {
      await call("DELETE", `apis/${segment(id)}`, undefined, etag ? { headers: { "If-Match": etag } } : {});
      await reread();
      say("ok", <>API <b>{format.visible(name)}</b> is deleted. Its path is no longer served.</>);
      go("#/apis");
    } catch (failed) { setFailure(failed); }
  };
  return (
    <Dialog title="Delete this API?" close={close} footer={<><Button onClick={close}>Keep it</Button><Button kind="danger" onClick={() => void remove()}>Delete</Button></>}>
      <p>The definition of <b><Text>{name}</Text></b> is removed. Requests to its path get 404 from then on. Keys keep their other rights.</p>
      {failure ? <ErrorBox failure={failure} /> : null}
    </Dialog>
  );
}

function Live({ id, definition }: { id: string; definition: any }) {
  void live.tick.value;
  const series = live.apis.get(id);
  const past = useLoaded(async () => {
    if (live.state.value.kind === "starting") return null;
    if (!live.apis.has(id)) live.adopt(await get(`history${query({ api: id, nodes: "all" })}`, { byItself: true }));
    return true;
  }, [id, live.state.value.kind === "starting"]);
  const detail = useLoaded(() => get(`live${query({ api: id })}`, { byItself: true }), [id, Math.floor(live.tick.value / 5)]);
  if (past.failure && !series) return <Note tone="warn" icon="alert"><Text>{(past.failure as Error).message}</Text></Note>;
  if (!series && !past.value) return <Empty icon="clock" title="Loading" />;
  if (!series) return (
    <>
      <Empty icon="clock" title="No request within the past hour.">Send one, and it appears here: <code>curl -i {location.origin}{definition?.proxy?.listen_path ?? "/"}</code></Empty>
      <Targets detail={detail.value} id={id} upstream={definition?.proxy?.target_url} />
    </>
  );
  const figure = (column: string) => live.latest(series, column, 30);
  const requests = figure("requests"), failed = figure("server_errors"), timeouts = figure("timeouts");
  const share = requests ? (failed ?? 0) / requests : requests === 0 ? 0 : null;
  const breakers = (detail.value?.breakers ?? []).filter((one: any) => one.api_id === id);
  const open = breakers.filter((one: any) => one.open);
  const now = live.now.value;
  return (
    <>
      <div class="figures">
        <span class="figure panel"><span>Requests</span><strong>{format.rate(requests)}<small>/s</small></strong><em>{format.count(Math.round(figure("in_flight") ?? 0))} in flight</em></span>
        <span class={`figure panel ${share && share >= 0.01 ? "bad" : ""}`}><span>Failed</span><strong>{format.percent(share)}</strong><em>timeouts {format.rate(timeouts)}/s</em></span>
        <span class="figure panel"><span>Refused</span><strong>{format.rate(figure("refused"))}<small>/s</small></strong><em><a href={link(["live"], { api: id })}>why</a></em></span>
        <span class="figure panel"><span>Upstream p99</span><strong>{format.percentile(live.highest(series, "upstream_p99_us", 30), live.ends.value.upstream)}</strong><em>p50 {format.percentile(live.highest(series, "upstream_p50_us", 30), live.ends.value.upstream)}</em></span>
        <span class={`figure panel ${open.length ? "bad" : ""}`}><span>Circuit breakers</span><strong>{open.length ? "open" : breakers.length ? "closed" : "none"}</strong><em>{open[0] ? <Text>{open[0].endpoint}</Text> : now ? `served by ${now.nodes.length}/${now.nodes.length + now.missing.length}` : ""}</em></span>
      </div>
      <div class="two"><TrafficPlot series={series} /><LatencyPlot series={series} /></div>
      <div class="two">
        <Targets detail={detail.value} id={id} upstream={definition?.proxy?.target_url} />
        <Plot title="Transferred" unit="B/s" times={series.times} span={hour(series)} lines={[{ name: "in", values: series.columns.request_bytes!, color: "teal" }, { name: "out", values: series.columns.response_bytes!, color: "accent" }]} show={(value) => (value == null ? format.UNKNOWN : `${format.bytes(value)}/s`)} />
      </div>
      <ChainAndKeys id={id} />
      <Refusals detail={detail.value} id={id} />
    </>
  );
}

/** Seconds over which keys are compared. */
const KEYS_S = 600;

/** The chain in a line with what its steps cost, and who calls most, where requests are recorded. */
function ChainAndKeys({ id }: { id: string }) {
  const turn = Math.floor(live.tick.value / 15);
  const chain = useLoaded(() => get(`apis/${segment(id)}/chain`, { byItself: true }), [id, turn]);
  const keys = useLoaded(() => get(`usage${query({ by: "key", api_id: id, last: `${KEYS_S}s`, top: 6, nodes: "all" })}`, { byItself: true }), [id, turn]);
  const steps: Step[] = chain.value?.middlewares ?? [];
  const callers = (keys.value?.rows ?? []).filter((row: any) => row.value);
  return (
    <p class="strip">
      {steps.length > 0 && <span><b>Chain</b> {steps.map((step, at) => <span key={step.name}>{at > 0 && "\u203a "}{step.name}{step.mean_ns != null && <small> {format.duration(step.mean_ns / 1000)}</small>}</span>)} <a href={link(["apis", id, "chain"])}>all</a></span>}
      {callers.length > 0 && <span><b>Keys, past 10 min</b> {callers.map((row: any) => <span key={row.value}><a href={link(["keys", row.value], { alias: row.alias })}><Text>{row.alias || String(row.value).slice(0, 12)}</Text></a> {format.rate(row.hits / KEYS_S)}/s{row.errors > 0 && `, ${format.percent(row.errors / row.hits)} failed`}</span>)} <a href={link(["apis", id, "usage"])}>all</a></span>}
    </p>
  );
}

/** States of targets: a tone, and a word with what it means. */
const TARGET: Record<string, [Tone, string]> = { available: ["ok", "available"], returning: ["warn", "returning"], ejected: ["bad", "ejected"], down: ["bad", "down"] };

function Targets({ detail, id, upstream }: { detail: any; id: string; upstream: string | undefined }) {
  const api = detail?.apis?.find((one: any) => one.api_id === id);
  const targets: any[] = api?.targets ?? [];
  return (
    <Panel title="Upstream targets">
      {targets.length === 0 ? <div class="empty small">{!detail ? "Loading" : <p>All requests go to <Text mono>{upstream}</Text>. Of several targets, each is listed here with its state.</p>}</div> : (
        <table class="plain"><thead><tr><th scope="col">Target</th><th scope="col">State</th><th scope="col" class="number">Requests</th><th scope="col" class="number">Faults</th><th scope="col" class="number">Sent again</th><th scope="col" class="number">Latency</th></tr></thead>
          <tbody>{targets.map((one) => <tr key={`${one.version} ${one.part} ${one.url}`}><th scope="row"><Text mono>{one.url}</Text>{one.weight !== 1 && one.weight != null && <small> weight {one.weight}</small>}</th><td><Badge tone={TARGET[one.state]?.[0] ?? "muted"}>{TARGET[one.state]?.[1] ?? one.state}</Badge>{one.cause && <small> <Text>{String(one.cause).replaceAll("_", " ")}</Text></small>}{one.ejection_ends_ms > 0 && <small> for {format.span(one.ejection_ends_ms / 1000)}</small>}</td><td class="number">{format.count(one.requests)}</td><td class={`number ${one.faults ? "bad" : ""}`}>{format.count(one.faults)}</td><td class="number">{format.count(one.retries)}</td><td class="number">{one.latency_us ? format.duration(one.latency_us) : format.UNKNOWN}</td></tr>)}</tbody></table>
      )}
    </Panel>
  );
}

function Refusals({ detail, id }: { detail: any; id: string }) {
  const one = detail?.apis?.find((api: any) => api.api_id === id);
  const causes = Object.entries({ ...one?.refusals, ...one?.upstream_errors } as Record<string, number>).filter(([, number]) => number > 0).sort((a, b) => b[1] - a[1]);
  if (!causes.length) return null;
  return <p class="strip"><span><b>Since the start</b> {causes.map(([cause, number]) => <a key={cause} href={link(["live"], { api: id, cause })}>{cause} {format.count(number)}</a>)}</span></p>;
}

interface Step { name: string; phase: "pre_auth" | "auth" | "post_auth"; samples: number; mean_ns: number | null }
const PHASES: Record<Step["phase"], string> = { pre_auth: "before the caller is known", auth: "who calls", post_auth: "once the caller is known" };

/** The middlewares that this API's requests pass, with what a pass costs on this gateway. */
function Chain({ id }: { id: string }) {
  const chain = useLoaded(() => get(`apis/${segment(id)}/chain`), [id]);
  const [version, setVersion] = useState(0);
  if (chain.failure) return <ErrorBox failure={chain.failure} retry={chain.again} />;
  if (!chain.value) return <Empty icon="clock" title="Loading" />;
  const versions: { name: string; middlewares: Step[] }[] = chain.value.versions ?? [{ name: "", middlewares: chain.value.middlewares }];
  const steps = (versions[version] ?? versions[0])?.middlewares ?? [];
  const sum = steps.reduce((all, step) => all + (step.mean_ns ?? 0), 0);
  const note = sum ? `~${format.duration(sum / 1000)} per request. Means of 1 in 1,024 requests of all APIs, since the start of ${format.visible(chain.value.node)}.` : "in the order in which requests pass it; costs appear after some thousand requests";
  return (
    <Panel title="Chain" note={note} actions={versions.length > 1 && <label class="row">version <select aria-label="Version" value={version} onChange={(event) => setVersion(Number(event.currentTarget.value))}>{versions.map((one, at) => <option key={at} value={at}>{format.visible(one.name)}</option>)}</select></label>}>
      {steps.length === 0 ? <div class="empty small">No middleware: requests go straight to the upstream.</div> : (
        <table class="plain"><thead><tr><th scope="col">Middleware</th>{!narrow.value && <th scope="col">When</th>}<th scope="col" class="number">Mean</th><th scope="col">Share</th><th scope="col" class="number">Samples</th></tr></thead>
          <tbody>{steps.map((step, at) => (
            <tr key={step.name}><th scope="row"><small>{at + 1}</small> {step.name}</th>{!narrow.value && <td>{PHASES[step.phase] ?? step.phase}</td>}<td class="number">{step.mean_ns == null ? format.UNKNOWN : format.duration(step.mean_ns / 1000)}</td>
              <td>{step.mean_ns != null && sum ? <><span class="share" aria-hidden="true"><span style={{ width: `${(100 * step.mean_ns) / sum}%` }} /></span>{format.percent(step.mean_ns / sum)}</> : ""}</td><td class="number">{format.count(step.samples)}</td></tr>))}</tbody></table>
      )}
    </Panel>
  );
}

function Versions({ definition }: { definition: any }) {
  const versions: [string, any][] = Object.entries(definition.version_data?.versions ?? {});
  const single = definition.version_data?.not_versioned;
  return (
    <Panel title={single ? "Not versioned" : `${versions.length} versions`} note={single ? "all requests use this one" : `named by ${definition.definition?.location ?? "header"} ${definition.definition?.key ?? ""}`}>
      <table class="plain"><thead><tr><th scope="col">Version</th><th scope="col">Expires</th><th scope="col">Target</th><th scope="col">Rules by path</th></tr></thead>
        <tbody>{versions.map(([name, version]) => (
          <tr key={name}><th scope="row"><Text>{name}</Text></th><td>{version.expires || "never"}</td><td>{version.override_target ? <Text mono>{version.override_target}</Text> : "the API's"}</td>
            <td>{Object.entries(version.extended_paths ?? {}).filter(([, list]) => Array.isArray(list) && list.length).map(([kind, list]) => <Badge key={kind} tone="muted">{kind} {(list as unknown[]).length}</Badge>)}</td></tr>
        ))}</tbody></table>
    </Panel>
  );
}
