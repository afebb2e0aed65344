// Usage of all gateways from an hour to a month, split by API, key, path, status, method or gateway. A click on a value filters, dragging in the plot zooms, and
// what is shown can be had as CSV.

import { useState } from "preact/hooks";
import { Failure, get, query } from "../call";
import * as format from "../format";
import * as live from "../live";
import { link, refine, route } from "../route";
import { Button, Empty, ErrorBox, Note, Panel, Text } from "../ui/bits";
import { Icon } from "../ui/icons";
import { useLoaded } from "../ui/loaded";
import { Plot, type Line } from "../ui/plot";
import { saveFile } from "../ui/save_file";
import { narrow } from "../ui/screen";
import { FIELDS, Top } from "./top";

const SPANS: [string, string, number][] = [["1h", "1 h", 3600], ["6h", "6 h", 6 * 3600], ["24h", "24 h", 86400], ["7d", "7 d", 7 * 86400], ["30d", "30 d", 30 * 86400]];
/** Not a span of recorded usage, but what is counted now. */
const NOW = "now";
const SPLITS = ["api", "key", "path", "status", "method", "version", "node"] as const;
const FILTERS = ["api_id", "key", "path", "status", "method", "version"] as const;
const COLORS = ["accent", "warn", "violet", "teal", "pink", "olive", "ok", "muted"];
const ROWS = 50;

const named = (split: string): string => (split === "api" ? "API" : split === "node" ? "gateway" : split);
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The width of a moment, such that a plot has about 60 to 170 of them. */
function step(seconds: number): number {
  for (const one of [60, 300, 900, 3600, 4 * 3600, 86400]) if (seconds / one <= 170) return one;
  return 86400;
}

export function Usage() { return <UsageOf />; }

export function UsageOf({ api }: { api?: string }) {
  const q = route.value.query;
  const last = q.get("last") ?? "24h";
  const split = q.get("split") ?? (api ? "key" : "api");
  const filters = Object.fromEntries(FILTERS.flatMap((name) => (q.get(name) ? [[name, q.get(name)!]] : [])));
  if (api) filters.api_id = api;
  const zoomed = q.get("from") && q.get("to");
  const seconds = zoomed ? Number(q.get("to")) - Number(q.get("from")) : SPANS.find(([id]) => id === last)?.[2] ?? 86400;
  const range: Record<string, string> = zoomed ? { from: q.get("from")!, to: q.get("to")! } : { last };
  const width = step(seconds);
  const asked = JSON.stringify([range, split, filters]);
  const isNow = last === NOW && !zoomed;
  const timed = useLoaded(() => isNow ? Promise.resolve(null) : get(`usage${query({ by: "time", split, step: `${width / 60}m`, nodes: "all", ...range, ...filters })}`), [asked]);
  const table = useLoaded(() => isNow ? Promise.resolve(null) : get(`usage${query({ by: split, top: ROWS, nodes: "all", ...range, ...filters })}`), [asked]);
  const [sort, setSort] = useState("hits");
  const failure = timed.failure ?? table.failure;
  const head = (
    <div class="toolbar">
      <div class="segments" role="group" aria-label="Span"><button type="button" aria-pressed={isNow} onClick={() => refine({ last: NOW, from: undefined, to: undefined })}>Now</button>{SPANS.map(([id, name]) => <button key={id} type="button" aria-pressed={!zoomed && last === id} onClick={() => refine({ last: id, from: undefined, to: undefined })}>{name}</button>)}</div>
      <label class="row">by <select aria-label="Split by" value={split} onChange={(event) => refine({ split: event.currentTarget.value })}>{(isNow ? FIELDS : SPLITS).filter((one) => one !== "node" || live.gateways.value > 1 || split === "node").map((one) => <option key={one} value={one}>{named(one)}</option>)}</select></label>
      {FILTERS.filter((name) => filters[name] && !(api && name === "api_id")).map((name) => <span key={name} class="chip"><bdi>{name.replace("_id", "")}: {format.visible(filters[name])}</bdi><button type="button" aria-label={`Remove the filter ${name}`} onClick={() => refine({ [name]: undefined })}><Icon name="close" /></button></span>)}
      {zoomed && <span class="chip"><bdi>{format.moment(Number(q.get("from")))} to {format.moment(Number(q.get("to")))}</bdi><button type="button" aria-label="Zoom out" onClick={() => refine({ from: undefined, to: undefined })}><Icon name="close" /></button></span>}
      {!isNow && <Button icon="download" class="push" disabled={!table.value} onClick={() => download(split, table.value)}>CSV</Button>}
    </div>
  );
  const title = api ? null : <h1 class="page">Usage</h1>;
  const by = (FIELDS as readonly string[]).includes(split) ? split : "api";
  if (isNow) return <>{title}{head}<Top api={api} by={by} /></>;
  if (failure instanceof Failure && failure.status === 404) return <>{title}{head}<Note tone="warn" icon="alert">Usage is not recorded, so there is only what is counted now. <Text>{failure.message}</Text></Note><Top api={api} by={by} /></>;
  const { lines, times } = timed.value ? plotted(timed.value, width) : { lines: [], times: [] };
  const rows: any[] = [...(table.value?.rows ?? [])].sort((a, b) => (sort === "value" ? String(a.value).localeCompare(String(b.value)) : b[sort] - a[sort]));
  const all = rows.reduce((sum, row) => sum + row.hits, 0);
  const column = (id: string, name: string) => <th scope="col" class="number" aria-sort={sort === id ? "descending" : "none"}><button type="button" class="as-link" onClick={() => setSort(id)}>{name}</button></th>;
  const filter = (value: string) => refine({ [split === "api" ? "api_id" : split]: value, split: split === "api" ? "key" : split === "key" ? "path" : "status" });
  const missing: string[] = table.value?.missing ?? [];
  return (
    <>
      {title}
      {head}
      {failure ? <ErrorBox failure={failure} retry={() => { timed.again(); table.again(); }} since={timed.at ?? undefined} /> : null}
      {(timed.value?.partial || table.value?.partial) && <Note tone="warn" icon="alert">Only part of it was read within 2 s: the figures are too small. Choose a shorter span or filter.</Note>}
      {missing.length > 0 && <Note tone="warn" icon="alert">Without {missing.map(format.visible).join(", ")}: {missing.length === 1 ? "it does not answer, or records" : "they do not answer, or record"} no usage.</Note>}
      <div class="stack">
        <Plot key={asked} title="Requests" unit="/s" times={times} lines={narrow.value ? lines.slice(0, 1) : lines} show={format.rate} height={220} zoom={(from, to) => { if (to - from >= 120) refine({ from: String(Math.floor(from / 60) * 60), to: String(Math.ceil(to / 60) * 60) }); }} />
        <Panel title={`By ${named(split)}`} note={table.value ? `${format.count(all)} requests${rows.length >= ROWS ? `, the ${ROWS} busiest` : ""}` : "loading"}>
          {rows.length === 0 ? <Empty icon="usage" title={table.value ? "No request in this span." : "Loading"} /> : (
            <div class="scroll-x" tabIndex={0}><table class="plain">
              <thead><tr><th scope="col">{capital(named(split))}</th>{column("hits", "Requests")}{!narrow.value && <th scope="col">Share</th>}{column("errors", "Failed")}{column("p50_ms", "p50")}{column("p99_ms", "p99")}{!narrow.value && column("response_bytes", "Sent")}</tr></thead>
              <tbody>{rows.map((row) => (
                <tr key={row.value}><th scope="row">{split === "node" ? <Text mono>{row.value}</Text> : <button type="button" class="as-link" title={`Only ${format.visible(row.value)}`} onClick={() => filter(String(row.value))}><Text>{row.alias || row.value || "none"}</Text></button>}{split === "key" && row.value && <>{row.alias && <small> <Text mono>{String(row.value).slice(0, 12)}</Text></small>} <a href={link(["keys", String(row.value)], { alias: row.alias })} aria-label="Open the key"><Icon name="right" /></a></>}</th>
                  <td class="number">{format.count(row.hits)}</td>{!narrow.value && <td><span class="share" aria-hidden="true"><span style={{ width: `${(100 * row.hits) / Math.max(1, all)}%` }} /></span>{format.percent(row.hits / Math.max(1, all))}</td>}
                  <td class={`number ${row.errors / Math.max(1, row.hits) > 0.05 ? "bad" : ""}`}>{format.percent(row.errors / Math.max(1, row.hits))}</td><td class="number">{format.percentile(row.p50_ms * 1000, 3e7)}</td><td class="number">{format.percentile(row.p99_ms * 1000, 3e7)}</td>{!narrow.value && <td class="number">{format.bytes(row.response_bytes)}</td>}</tr>))}</tbody>
            </table></div>)}
        </Panel>
      </div>
    </>
  );
}

/** Rows of moments and parts as lines; what no row is for had no request. */
function plotted(found: any, width: number): { lines: Line[]; times: number[] } {
  const unit = found.step_s ?? width;
  const first = Math.ceil(found.from / unit) * unit, end = Math.min(found.to, Date.now() / 1000);
  const times: number[] = [];
  for (let at = first; at <= end && times.length < 2000; at += unit) times.push(at);
  const place = new Map(times.map((time, at) => [time, at]));
  const sums = new Map<string, number>();
  const names_: Record<string, string> = Object.create(null);
  for (const row of found.rows) { sums.set(row.split ?? "all", (sums.get(row.split ?? "all") ?? 0) + row.hits); if (row.alias) names_[row.split] = row.alias; }
  const names = [...sums].sort((a, b) => Number(a[0] === "_other") - Number(b[0] === "_other") || b[1] - a[1]).slice(0, 8).map(([name]) => name);
  const values = new Map(names.map((name) => [name, times.map(() => 0 as number | null)]));
  for (const row of found.rows) {
    const at = place.get(Math.floor(row.value / unit) * unit), line = values.get(row.split ?? "all");
    // The last moment is not over yet.
    const lasted = at === undefined ? unit : Math.max(60, Math.min(unit, Date.now() / 1000 - times[at]!));
    if (at !== undefined && line) line[at] = (line[at] ?? 0) + row.hits / lasted;
  }
  return { times, lines: names.map((name, at) => ({ name: name === "_other" ? "other" : format.visible(names_[name] ?? name) || "none", values: values.get(name)!, color: COLORS[name === "_other" ? 7 : at % 7]!, fill: names.length === 1 })) };
}

/** What the table shows, as a file; a spreadsheet must not calculate with what clients wrote. */
function download(split: string, { rows, missing }: { rows: any[]; missing: string[] }): void {
  const names = ["hits", "success", "errors", "mean_ms", "upstream_mean_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms", "request_bytes", "response_bytes"];
  const keyed = split === "key" ? ["alias"] : [];
  const lines = rows.map((row) => [String(row.value), ...keyed.map(() => row.alias ?? ""), ...names.map((name) => row[name])]);
  const text = [[split, ...keyed, ...names], ...lines, ...missing.map((node) => [`without ${node}`])].map((line) => line.map(format.cell).join(",")).join("\r\n");
  saveFile(`usage-by-${split}.csv`, `${text}\r\n`);
}
