// What the gateways did in the past hour, and what they do now: the kept history, then one sample every two seconds. One stream per
// visible tab; a hidden tab has none, and fetches the history again when it is shown.

import { signal } from "@preact/signals";
import { Failure, ended, get, query } from "./call";
import { session } from "./session";

/** Columns that count; they become rates per second. The others are levels and percentiles. */
const COUNTS = new Set(["requests", "ok", "client_errors", "server_errors", "refused", "upstream_errors", "timeouts", "request_bytes", "response_bytes"]);
export const COLUMNS = [...COUNTS, "in_flight", "upstream_p50_us", "upstream_p90_us", "upstream_p99_us", "gateway_p50_us", "gateway_p90_us", "gateway_p99_us"];
/** When a stream that was refused is tried again. */
const REFUSED_RETRY_MS = 10_000;
/** The span of all plots of live figures. */
export const SPAN_S = 3600;
/** APIs that a sample names at most. */
export const APIS_MAX = 50;
/** APIs whose past is kept here; the stream names the busiest at a time, others over time. */
const SERIES_MAX = 200;

export type Column = (number | null)[];
export interface Series { name: string; times: number[]; columns: Record<string, Column> }
export interface Mark { unix_s: number; kind: string; node: string; text: string }
export interface Attention { kind: string; level: "bad" | "warn"; api_id?: string; node?: string; text: string; unix_s?: number }
export interface Now {
  node: string; nodes: string[]; missing: string[]; unix_ms: number; seconds: number; totals: any; apis: any[]; apis_active: number; apis_total: number;
  connections: { client: number; upstream: number }; core_busy: number[]; attention: Attention[];
  /** Requests that no API was for, since the gateways started. */
  unrouted: Record<string, number>;
}

export const now = signal<Now | null>(null);
export const totals = signal<Series>(empty(""));
export const apis = new Map<string, Series>();
export const marks = signal<Mark[]>([]);
/** Requests per second that no API was for; `null` before the second sample. */
export const unrouted = signal<Record<string, number> | null>(null);
/** Causes of refusals with their rates over the past half minute. */
export const refusals = signal<Record<string, number>>({});
const REFUSALS_S = 30;
let counted: { at: number; seconds: number; causes: Record<string, number> }[] = [];
/** Rises with each sample, for views of `apis`. */
export const tick = signal(0);
/** `closed`: figures of everything are not open to who is signed in; `off`: the gateway keeps no figures; `refused`: it answers, but opens no stream; `lost`: it does not answer. */
export const state = signal<{ kind: "starting" | "live" | "refused" | "lost" | "off" | "closed"; words: string; since: number }>({ kind: "starting", words: "", since: Date.now() });
/** Ends of the scales in microseconds; a percentile there says only that it is longer. */
export const ends = signal({ upstream: 3e7, gateway: 2e6 });
/** Batches of the live tail, for the page that shows them. */
export const tailFilters = signal<Record<string, string> | null>(null);
type Listener = (data: any) => void;
const tailListeners = new Set<Listener>();
const changeListeners = new Set<Listener>();

export function onTail(listener: Listener): () => void { tailListeners.add(listener); return () => tailListeners.delete(listener); }
export function onChange(listener: Listener): () => void { changeListeners.add(listener); return () => changeListeners.delete(listener); }

function empty(name: string): Series { return { name, times: [], columns: Object.fromEntries(COLUMNS.map((column) => [column, []])) }; }

let source: EventSource | null = null;
let retry: ReturnType<typeof setTimeout> | undefined;
/** Whether sums over all gateways are asked for. */
let together = false;
/** All gateways that share the Redis, silent ones too. */
export const gateways = signal(1);

/** Fetches the past hour, then follows. */
export async function start(): Promise<void> {
  stop();
  if (document.hidden) return;
  if (session.value?.scope) {
    state.value = { kind: "closed", words: "", since: Date.now() };
    // The tail of one API is all that they may follow.
    if (tailFilters.value?.api) follow();
    return;
  }
  try {
    const past = await get(`history${query({ apis: APIS_MAX, nodes: "all" })}`, { byItself: true });
    gateways.value = past.nodes.length + past.missing.length;
    together = gateways.value > 1;
    read(past);
  } catch (failure) {
    if (!(failure instanceof Failure) || ended.value) return;
    if (failure.status === 404 || failure.status === 400) {
      state.value = { kind: "off", words: failure.body?.message ?? "This gateway keeps no live figures.", since: Date.now() };
      return;
    }
    lost(failure.message);
    return;
  }
  follow();
}

export function stop(): void {
  clearTimeout(retry);
  source?.close();
  source = null;
}

function follow(): void {
  const filters = tailFilters.value;
  const topics = session.value?.scope ? "tail" : filters ? "live,tail,changes" : "live,changes";
  let opened = false;
  source = new EventSource(`api/stream${query({ topics, nodes: together ? "all" : undefined, idle: 1, ...filters })}`);
  source.onopen = () => { opened = true; };
  source.addEventListener("live", (event) => sample(JSON.parse((event as MessageEvent).data)));
  source.addEventListener("tail", (event) => { const data = JSON.parse((event as MessageEvent).data); tailListeners.forEach((listener) => listener(data)); });
  source.addEventListener("changes", (event) => {
    const data = JSON.parse((event as MessageEvent).data);
    if (["restart", "config", "config_failed"].includes(data.kind)) marks.value = [...marks.value, data];
    // From now on the figures are sums, or are no longer.
    if (["node_joined", "node_left"].includes(data.kind)) void start();
    changeListeners.forEach((listener) => listener(data));
  });
  source.onerror = () => { stop(); if (opened) lost("The gateway does not answer."); else void refused(); };
}

/** A stream that did not open says not why; a short one by another way does. */
async function refused(): Promise<void> {
  try {
    await get(`stream${query({ topics: "changes", events: 0, nodes: together ? "all" : undefined })}`, { byItself: true });
    retry = setTimeout(() => void start(), REFUSED_RETRY_MS);
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.status === 0) { lost("The gateway does not answer."); return; }
    if (ended.value) return;
    // A gateway that knows no sums of streams still has its own figures.
    if (failure.status === 400 && together) { together = false; follow(); return; }
    state.value = { kind: "refused", words: failure.message, since: Date.now() };
    retry = setTimeout(() => void start(), REFUSED_RETRY_MS);
  }
}

function lost(words: string): void {
  if (state.value.kind !== "lost") state.value = { kind: "lost", words, since: Date.now() };
  clearTimeout(retry);
  retry = setTimeout(() => { void get("session", { byItself: true }).then(start, (failure) => { if (failure.kind === "signed_out") ended.value = true; else lost(failure.message); }); }, 2000);
}

function read(past: any): void {
  ends.value = { upstream: past.upstream_bounds_us?.at(-1) ?? 3e7, gateway: past.gateway_bounds_us?.at(-1) ?? 2e6 };
  totals.value = converted(past, "", past.totals);
  apis.clear();
  for (const api of past.apis ?? []) apis.set(api.api_id, converted(past, api.name, api));
  marks.value = past.marks ?? [];
  tick.value += 1;
}

/** The past of an API that is not among the busiest. */
export function adopt(past: any): void {
  const [api] = past.apis ?? [];
  if (!api || apis.has(api.api_id) || apis.size >= SERIES_MAX) return;
  apis.set(api.api_id, converted(past, api.name, api));
  tick.value += 1;
}

function converted({ from_unix_s: from, step_s: step, samples }: any, name: string, columns: any): Series {
  const times = Array.from({ length: samples }, (_, at) => from + (at + 1) * step);
  return {
    name, times,
    columns: Object.fromEntries(COLUMNS.map((column) => [column, (columns[column] ?? times.map(() => null)).map((value: number | null) => (value == null ? null : COUNTS.has(column) ? value / step : value))])),
  };
}

function sample(data: Now): void {
  const before = now.value;
  if (before && before.node === data.node && before.nodes.length === data.nodes.length)
    unrouted.value = Object.fromEntries(Object.entries(data.unrouted).map(([what, count]) => [what, Math.max(0, count - (before.unrouted[what] ?? 0)) / data.seconds]));
  now.value = data;
  const time = data.unix_ms / 1000;
  counted = [...counted.filter(({ at }) => at > time - REFUSALS_S && at < time), { at: time, seconds: data.seconds, causes: data.totals.refusals ?? {} }];
  const lasted = counted.reduce((sum, { seconds }) => sum + seconds, 0), sums: Record<string, number> = {};
  for (const { causes } of counted) for (const [cause, number] of Object.entries(causes)) sums[cause] = (sums[cause] ?? 0) + number / lasted;
  refusals.value = sums;
  const grown = totals.value;
  append(grown, time, data.seconds, data.totals);
  totals.value = { ...grown };
  const named = new Set<string>();
  for (const api of data.apis) {
    named.add(api.api_id);
    let series = apis.get(api.api_id);
    if (!series) {
      if (apis.size >= SERIES_MAX) continue;
      apis.set(api.api_id, series = empty(api.name));
    }
    append(series, time, data.seconds, api);
  }
  // The sample names the busiest; if there were fewer than it may name, the others had none.
  const quiet = data.apis.length < APIS_MAX ? 0 : null;
  for (const [id, series] of apis) if (!named.has(id)) append(series, time, data.seconds, null, quiet);
  state.value = { kind: "live", words: "", since: Date.now() };
  tick.value += 1;
}

function append(series: Series, time: number, seconds: number, from: any, absent: number | null = null): void {
  series.times.push(time);
  for (const column of COLUMNS) {
    const value = from ? from[column] ?? null : COUNTS.has(column) || column === "in_flight" ? absent : null;
    series.columns[column]!.push(value == null ? null : COUNTS.has(column) ? value / seconds : value);
  }
  let old = 0;
  while (old < series.times.length && series.times[old]! < time - SPAN_S) old += 1;
  // Moved in lots: removing one element of 17 columns with each sample would copy all of them.
  if (old > 60) {
    series.times.splice(0, old);
    for (const column of COLUMNS) series.columns[column]!.splice(0, old);
  }
}

document.addEventListener("visibilitychange", () => { if (document.hidden) stop(); else if (!ended.value && state.value.kind !== "starting") void start(); });
tailFilters.subscribe(() => { if (session.value?.scope) void start(); else if (source) { stop(); follow(); } });

/** The mean of the last seconds of a column; `null` without a sample. */
export function latest(series: Series | undefined, column: string, seconds = 10): number | null {
  if (!series) return null;
  const values = series.columns[column]!;
  const last = series.times.at(-1) ?? 0;
  let sum = 0, number = 0;
  for (let at = values.length - 1; at >= 0 && series.times[at]! > last - seconds; at -= 1) {
    const value = values[at];
    if (value != null) { sum += value; number += 1; }
  }
  return number ? sum / number : null;
}

/** The largest of the last seconds; what percentiles of short samples are summed up by. */
export function highest(series: Series | undefined, column: string, seconds = 60): number | null {
  if (!series) return null;
  const values = series.columns[column]!;
  const last = series.times.at(-1) ?? 0;
  let found: number | null = null;
  for (let at = values.length - 1; at >= 0 && series.times[at]! > last - seconds; at -= 1) {
    const value = values[at];
    if (value != null && (found == null || value > found)) found = value;
  }
  return found;
}

/** When anything was last counted in a column; `null` if not within the past hour. */
export function lastSeen(series: Series | undefined, column = "requests"): number | null {
  if (!series) return null;
  const values = series.columns[column]!;
  for (let at = values.length - 1; at >= 0; at -= 1) if ((values[at] ?? 0) > 0) return series.times[at]!;
  return null;
}
