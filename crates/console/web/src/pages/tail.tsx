// The live tail: requests as they come, and why one was refused. It opens with the refusals and failures that the gateway keeps, so it is
// never blank while there is something to see.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, get, mayBeKey, query } from "../call";
import * as format from "../format";
import * as live from "../live";
import { link, refine, route } from "../route";
import { Badge, Button, Empty, ErrorBox, Fact, Facts, Note, Text, type Tone } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { Table, here } from "../ui/list";
import { outcome, usd, type TailLlm } from "./llm";

export interface Entry {
  unix_ms: number; node: string; api_id: string; name: string; version: string; method: string; path: string; status: number; cause: string; message: string; middleware: string;
  limit: { what: string; of: string; max: number; per_s: number; left: number; retry_unix_s: number } | null;
  key: string; alias: string; address: string; agent: string; http: string; total_us: number; gateway_us: number | null; upstream_us: number | null; upstream_status: number; target: string; request_id: string; trace_id: string; request_bytes: number; response_bytes: number;
  mcp_method: string; mcp_primitive_type: string; mcp_primitive_name: string; mcp_error_code: number | null;
  /** Gateways of earlier versions tell nothing of it. */
  llm?: TailLlm | null;
}
type Row = Entry & { number: number };

/** Entries that the page keeps. */
const KEPT_MAX = 1000;
/** Kept refusals and failures that it fetches. */
const ROWS_MAX = 500;
/** A whole key that somebody looks for; never in the address. */
const rawKey = signal("");
const FILTERS = ["api", "key", "alias", "status", "cause", "address", "request_id", "trace"] as const;
let numbered = 0;

/** What was typed into the one box: which member it filters by. */
function understood(text: string): Record<string, string> {
  const word = text.trim();
  if (!word) return {};
  if (/^[1-5](xx|\d\d)$/.test(word)) return { status: word };
  if (/^[0-9a-f.:]*[.:][0-9a-f.:]*$/i.test(word) && /\d/.test(word)) return { address: word };
  return { any: word };
}

export function Tail() {
  const q = route.value.query;
  const filters = Object.fromEntries(FILTERS.flatMap((name) => (q.get(name) ? [[name, q.get(name)!]] : [])));
  const asked = JSON.stringify(filters);
  const [rows, setRows] = useState<Row[]>([]);
  const [told, setTold] = useState({ shown: 0, seen: 0, sampled: 1, kept: 0, missing: 0 });
  const [paused, setPaused] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [ready, setReady] = useState(false);
  const [unknown, setUnknown] = useState(false);
  const [box, setBox] = useState(q.get("q") ?? "");
  const held = useRef<Row[]>([]);
  const [waiting, setWaiting] = useState(0);
  const open = q.get("open");
  useEffect(() => { setBox(q.get("q") ?? ""); }, [q.get("q")]);
  const load = () => {
    setFailure(null);
    const { raw, ...plain } = { ...filters, raw: rawKey.value };
    // A whole key is a secret: it travels in a body.
    const question = raw ? call("POST", "tail", { ...plain, raw_key: raw, limit: ROWS_MAX, nodes: "all" }) : get(`tail${query({ ...plain, limit: ROWS_MAX, nodes: "all" })}`, { byItself: true });
    question.then((found) => {
      setRows(found.entries.map((entry: Entry) => ({ ...entry, number: ++numbered })));
      setTold({ shown: 0, seen: 0, sampled: 1, kept: found.kept, missing: found.missing.length });
      if (raw) { const key = found.entries[0]?.key; rawKey.value = ""; setUnknown(!key); if (key) refine({ key }); }
      setReady(true);
    }, setFailure);
  };
  useEffect(load, [asked, rawKey.value !== ""]);
  useEffect(() => {
    const { alias: _, request_id: __, trace: ___, address: ____, ...follow } = filters;
    live.tailFilters.value = follow;
    return () => { live.tailFilters.value = null; };
  }, [asked]);
  useEffect(() => live.onTail((batch) => {
    const match = (entry: Entry) => (!filters.alias || entry.alias === filters.alias) && (!filters.address || entry.address === filters.address) && (!filters.request_id || entry.request_id === filters.request_id) && (!filters.trace || entry.trace_id === filters.trace);
    const fresh: Row[] = batch.entries.filter(match).map((entry: Entry) => ({ ...entry, number: ++numbered })).reverse();
    setTold((old) => ({ ...old, shown: old.shown + fresh.length, seen: old.seen + batch.seen, sampled: batch.sampled }));
    if (paused) { held.current = [...fresh, ...held.current].slice(0, KEPT_MAX); setWaiting(held.current.length); return; }
    setRows((old) => [...fresh, ...old].slice(0, KEPT_MAX));
  }), [paused, asked]);
  const pause = () => { if (paused) { setRows((old) => [...held.current, ...old].slice(0, KEPT_MAX)); held.current = []; setWaiting(0); } setPaused(!paused); };
  const look = (row: Row) => { if (!paused) pause(); refine({ open: String(row.number) }); };
  const any = (understood(box).any ?? "").toLowerCase();
  const shown = any ? rows.filter((row) => [row.path, row.key, row.alias, row.address, row.request_id, row.trace_id, row.cause, row.agent, row.name, row.api_id, row.middleware, row.mcp_method, row.mcp_primitive_name].some((text) => text?.toLowerCase().includes(any))) : rows;
  const picked = open ? rows.find((row) => String(row.number) === open) : undefined;
  const type = (text: string) => {
    setBox(text);
    setUnknown(false);
    if (mayBeKey(text.trim()) && !/^[0-9a-f]{32}$|[/.:]/.test(text.trim())) { rawKey.value = text.trim(); setBox(""); refine({ q: undefined }); return; }
    const known = understood(text);
    if (known.status) refine({ status: known.status, q: undefined }); else if (known.address && text.length > 6) refine({ q: text }); else refine({ q: text || undefined });
  };
  return (
    <>
      <div class="page-head"><h1>Live tail</h1>
        <label class="filter"><Icon name="search" /><input type="search" aria-label="Filter the tail" placeholder="Path, key, alias, address, request id, 429, 5xx" value={box} autocomplete="off" spellcheck={false} onInput={(event) => type(event.currentTarget.value)} /></label>
        <Button icon={paused ? "play" : "pause"} aria-pressed={paused} onClick={pause}>{paused ? `Go on${waiting ? ` (${waiting})` : ""}` : "Pause"}</Button>
      </div>
      <div class="toolbar">
        <select aria-label="Status" value={filters.status ?? ""} onChange={(event) => refine({ status: event.currentTarget.value || undefined })}><option value="">every status</option>{["2xx", "4xx", "401", "403", "404", "429", "5xx", "502", "504"].concat(filters.status && !["2xx", "4xx", "401", "403", "404", "429", "5xx", "502", "504"].includes(filters.status) ? [filters.status] : []).map((one) => <option key={one} value={one}>{one}</option>)}</select>
        {FILTERS.filter((name) => name !== "status" && filters[name]).map((name) => <span key={name} class="chip"><bdi>{name.replace("_", " ")}: {format.visible(filters[name])}</bdi><button type="button" aria-label={`Remove the filter ${name}`} onClick={() => refine({ [name]: undefined })}><Icon name="close" /></button></span>)}
        <small class="push" role="status">{told.seen > 0 ? `${format.count(told.shown)} shown of ${format.count(told.seen)} seen${told.sampled > 1 ? `, 1 in ${told.sampled} sampled` : ""}; ` : ""}{format.count(told.kept)} refusals and failures kept{told.missing > 0 ? `, without those of ${told.missing} silent ${told.missing === 1 ? "gateway" : "gateways"}` : ""}</small>
      </div>
      {failure ? <ErrorBox failure={failure} retry={load} /> : null}
      {unknown && <Note>No request with this key was refused or failed among those that are kept.</Note>}
      {ready && <Table<Row> label="Requests" list={here(shown)} id={(row) => String(row.number)} open={look} tone={(row) => (row.status >= 500 ? "failed" : undefined)}
        empty={<Empty icon="tail" title={any || Object.keys(filters).length ? "Nothing matches among what is kept." : "Nothing was refused, and nothing failed."}>Requests appear here as they come{Object.keys(filters).length ? <>. <Button onClick={() => refine(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}>Clear the filters</Button></> : "."}</Empty>}
        columns={[
          { id: "time", bare: true, name: "Time", show: (row) => <time title={format.full(row.unix_ms / 1000)}>{format.clock(row.unix_ms / 1000, true)}</time> },
          { id: "status", bare: true, name: "Status", show: (row) => <Badge tone={tone(row)}>{row.status || "none"}</Badge> },
          { id: "why", bare: true, name: "Why", show: (row) => row.cause ? <Text>{row.cause.replaceAll("_", " ")}</Text> : row.llm && !["ok", "cached"].includes(row.llm.outcome) ? <Text>{outcome(row.llm.outcome)[1]}</Text> : <small>{row.status >= 400 ? "upstream's answer" : "passed"}</small> },
          { id: "path", name: "Request", grow: true, show: (row) => <button type="button" class="as-link" onClick={() => look(row)}><Text mono>{`${row.method} ${row.path}${row.mcp_method ? `: ${called(row)}` : ""}`}</Text></button> },
          { id: "api", name: "API", show: (row) => <Text>{row.name || row.api_id || "none"}</Text> },
          { id: "key", name: "Key", show: (row) => <Text>{row.alias || row.key.slice(0, 12) || "none"}</Text> },
          { id: "address", name: "Address", show: (row) => <Text mono>{row.address}</Text> },
          { id: "took", name: "Took", number: true, show: (row) => format.duration(row.total_us) },
        ]} />}
      {picked && <Why entry={picked} close={() => refine({ open: undefined })} />}
    </>
  );
}

/** What a call of an MCP proxy calls. Gateways of earlier versions tell nothing of it. */
const called = (entry: Entry) => (entry.mcp_primitive_type ? `${entry.mcp_method} ${entry.mcp_primitive_name}` : entry.mcp_method);

const tone = (entry: Entry): Tone => (entry.status >= 500 || !entry.status ? "bad" : entry.status >= 400 ? "warn" : "ok");

/** One request: why it was refused or failed, and when it passes again. */
function Why({ entry, close }: { entry: Entry; close: () => void }) {
  const { limit } = entry;
  const passes = limit?.retry_unix_s ? limit.retry_unix_s - Date.now() / 1000 : null;
  return (
    <Dialog title={`${entry.status || "No response"}: ${entry.cause ? format.visible(entry.cause.replaceAll("_", " ")) : entry.status >= 400 ? "answered by the upstream" : "passed"}`} close={close} side>
      {entry.cause ? (
        <div class={`why ${tone(entry)}`}>
          <p><b><Text>{sentence(entry)}</Text></b></p>
          {limit && <p>Limit: {format.count(limit.max)} per {format.span(limit.per_s)}, of the {limit.of}. {limit.left > 0 ? `${format.count(limit.left)} left then.` : "Nothing was left."} {passes != null && (passes > 0 ? <>The next request passes at <b>{format.moment(limit.retry_unix_s, true)}</b>, {format.ago(limit.retry_unix_s)}.</> : `It has passed again since ${format.moment(limit.retry_unix_s, true)}.`)}</p>}
        </div>
      ) : null}
      <Facts>
        <Fact name="Request"><Text mono>{`${entry.method} ${entry.path}`}</Text> <small>{entry.http}</small></Fact>
        {entry.mcp_method && <Fact name="Call"><Text mono>{called(entry)}</Text>{entry.mcp_primitive_type && <small> {entry.mcp_primitive_type}</small>}{entry.mcp_error_code != null && <small> error {entry.mcp_error_code}</small>}</Fact>}
        {entry.llm && <ModelFacts llm={entry.llm} />}
        <Fact name="At">{format.full(entry.unix_ms / 1000)}</Fact>
        {entry.middleware && <Fact name="Refused by"><span title="The step of the API's chain">{entry.middleware}</span>{entry.api_id && <> <a href={link(["apis", entry.api_id, "chain"])}><small>the chain</small></a></>}</Fact>}
        {entry.message && <Fact name="The client was told"><Text>{entry.message}</Text></Fact>}
        <Fact name="API">{entry.api_id ? <><a href={link(["apis", entry.api_id])}><Text>{entry.name || entry.api_id}</Text></a>{entry.version && <small> version <Text>{entry.version}</Text></small>}</> : "none matched"}</Fact>
        <Fact name="Key">{entry.key ? <><a href={link(["keys", entry.key], { alias: entry.alias })}><Text>{entry.alias || entry.key}</Text></a> <a href={link(["live"], { key: entry.key })}><small>all of this key</small></a></> : "none"}</Fact>
        <Fact name="Client"><Text mono>{entry.address}</Text> <small><Text>{entry.agent}</Text></small></Fact>
        <Fact name="Took">{format.duration(entry.total_us)}, {format.duration(entry.gateway_us)} of it in the gateway{entry.upstream_us != null && `, ${format.duration(entry.upstream_us)} upstream`}</Fact>
        {entry.target && <Fact name="Upstream"><Text mono>{entry.target}</Text>{entry.upstream_status > 0 && ` answered ${entry.upstream_status}`}</Fact>}
        <Fact name="Bytes">{format.bytes(entry.request_bytes)} in, {format.bytes(entry.response_bytes)} out</Fact>
        <Fact name="Gateway"><Text>{entry.node}</Text></Fact>
        {entry.request_id && <Fact name="Request id"><Text mono>{entry.request_id}</Text></Fact>}
        {entry.trace_id && <Fact name="Trace"><Text mono>{entry.trace_id}</Text></Fact>}
      </Facts>
      {entry.llm?.reason && !entry.cause ? <Note tone={tone(entry)}>The gateway of models says: <Text>{entry.llm.reason}</Text>.</Note> : !entry.cause && (entry.status >= 400 ? <Note tone={tone(entry)}>The gateway let it pass; the status is the upstream's own.</Note> : <Note>The request passed.</Note>)}
    </Dialog>
  );
}

/** What a request to a language model took, and what each provider did. */
function ModelFacts({ llm }: { llm: TailLlm }) {
  return (
    <>
      <Fact name="Model"><Text>{llm.model || "none"}</Text>{llm.provider && <small> <Text>{llm.provider_model}</Text> at <Text>{llm.provider}</Text></small>} <Badge tone={outcome(llm.outcome)[0]}>{outcome(llm.outcome)[1]}</Badge></Fact>
      {llm.team && <Fact name="Team"><a href={link(["models"], { team: llm.team })}><Text>{llm.team}</Text></a></Fact>}
      {llm.budget && <Fact name="Budget"><Text>{llm.budget}</Text></Fact>}
      <Fact name="Tokens">{format.count(llm.input_tokens)} in, {format.count(llm.output_tokens)} out{llm.tokens_per_s != null && `, ${format.rate(llm.tokens_per_s)}/s`}{llm.first_token_ms != null && `, the first after ${format.duration(llm.first_token_ms * 1000)}`}</Fact>
      <Fact name="Cost">{usd(llm.cost_usd)}{llm.estimated && ", estimated"}</Fact>
      {llm.attempts.length > 0 && <Fact name="Providers">{llm.attempts.map((one, at) => <div key={at}><Text>{one.provider}</Text> {outcome(one.outcome)[1]}{one.reason && <>: <Text>{one.reason}</Text></>} <small>{format.duration(one.took_ms * 1000)}</small></div>)}</Fact>}
    </>
  );
}

/** What causes say to a person; others are told by what the client was told. */
const SENTENCES: Record<string, string> = {
  key_rate_limit: "This key has used up its rate.", api_rate_limit: "All callers together have used up this API's rate.", address_rate_limit: "The client's address has used up its rate.", quota_exceeded: "This key's quota is used up.",
  auth_missing: "The request has no key or token.", key_unknown: "There is no such key.", key_expired: "The key has expired.", key_inactive: "The key is inactive: somebody deactivated it.", key_signature: "The request's signature does not fit its key.",
  api_disallowed: "The key has no right to this API.", resource_disallowed: "The key has no right to this path or method.", ip_disallowed: "The client's address is not allowed.", endpoint_forbidden: "The API's rules do not allow this path.",
  basic_refused: "Name or password is wrong.", jwt_refused: "The token was not accepted.", jwt_expired: "The token has expired.", jwt_not_yet: "The token is not valid yet: a clock may be wrong.", jwt_no_policy: "The token names no policy that exists here.",
  oauth_key_unknown: "There is no such access token, or it has expired.", oauth_client_gone: "The OAuth client of this token was deleted.", store_silent: "The store of keys does not answer, so keys cannot be checked.",
  version_missing: "The request names no version.", version_unknown: "There is no such version.", version_expired: "This version has expired.", request_too_large: "The request's body is larger than the API allows.",
  org_disabled: "The organisation is disabled.", org_quota: "The organisation's quota is used up.", org_rate_limit: "The organisation has used up its rate.",
  upstream_connect: "The upstream could not be reached: it refuses connections.", upstream_timeout: "The upstream did not answer in time.", upstream_failed: "The upstream broke the connection off, or its answer was malformed.", upstream_lookup: "The upstream's name could not be resolved.",
  breaker_open: "The circuit breaker is open: the upstream failed too often.", all_hosts_down: "All targets of this API are down.",
};

function sentence(entry: Entry): string {
  return SENTENCES[entry.cause] ?? `${entry.status >= 500 ? "Failed" : "Refused"}: ${entry.message || entry.cause.replaceAll("_", " ")}.`;
}
