// The most frequent values of a field, now: over a sliding window, counted from all requests while somebody looks. It needs no records.

import { useEffect } from "preact/hooks";
import { get, query } from "../call";
import * as format from "../format";
import { link, refine, route } from "../route";
import { ErrorBox, Note, Panel, Text } from "../ui/bits";
import { useLoaded } from "../ui/loaded";
import { narrow } from "../ui/screen";

export const FIELDS = ["api", "key", "path", "status", "address", "agent", "method"] as const;
const WINDOWS: [string, string][] = [["60", "1 min"], ["300", "5 min"], ["600", "10 min"]];
const EVERY_MS = 3000;
const ROWS = 50;

interface Row { value: string; name: string; requests: number; error: number; refused: number; server_errors: number; response_bytes: number; mean_us: number }

export function Top({ api, by }: { api?: string; by: string }) {
  const window_ = route.value.query.get("window") ?? "60";
  const top = useLoaded(() => get(`top${query({ by, window: window_, k: ROWS, nodes: "all", api })}`, { byItself: true }), [`${by} ${window_} ${api}`]);
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) top.again(); }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const at = top.value;
  const rows: Row[] = at?.rows ?? [];
  const seconds = at ? Math.max(1, at.to_unix_s - at.from_unix_s) : 1;
  const to = (row: Row): string | undefined => ({
    api: link(["apis", row.value]), key: row.value && link(["keys", row.value], { alias: row.name }), status: link(["live"], { status: row.value }), address: link(["live"], { address: row.value }), path: link(["live"], { q: row.value, api }), agent: link(["live"], { q: row.value, api }),
  })[by];
  return (
    <>
      {top.failure ? <ErrorBox failure={top.failure} retry={top.again} since={top.at ?? undefined} /> : null}
      {at?.missing.length > 0 && <Note tone="warn" icon="alert">Without {at.missing.map(format.visible).join(", ")}: {at.missing.length === 1 ? "it does" : "they do"} not answer.</Note>}
      <Panel title={`Busiest ${by === "api" ? "APIs" : `by ${by}`}`} note={at ? `${format.count(at.seen)} requests of the past ${format.span(seconds)}${at.error_max ? `; a value that is not listed had at most ${format.count(at.error_max)}` : ""}` : "loading"}
        actions={<div class="segments small" role="group" aria-label="Window">{WINDOWS.map(([id, name]) => <button key={id} type="button" aria-pressed={window_ === id} onClick={() => refine({ window: id })}>{name}</button>)}</div>}>
        {rows.length === 0 ? <div class="empty small">{at ? "Counting begins when somebody looks. Requests appear here as they come." : "Loading"}</div> : (
          <table class="plain">
            <thead><tr><th scope="col">{by === "api" ? "API" : by.charAt(0).toUpperCase() + by.slice(1)}</th><th scope="col" class="number">/s</th>{!narrow.value && <th scope="col">Share</th>}<th scope="col" class="number">Refused</th><th scope="col" class="number">Failed</th>{!narrow.value && <><th scope="col" class="number">Mean</th><th scope="col" class="number">Sent</th></>}</tr></thead>
            <tbody>{rows.map((row) => { const text = <Text>{row.name || row.value || "none"}</Text>, target = to(row); return (
              <tr key={row.value}><th scope="row">{target ? <a href={target}>{text}</a> : text}</th><td class="number" title={row.error ? `${row.requests - row.error} to ${row.requests} requests` : `${row.requests} requests`}>{row.error ? "~" : ""}{format.rate(row.requests / seconds)}</td>
                {!narrow.value && <td><span class="share" aria-hidden="true"><span style={{ width: `${(100 * row.requests) / Math.max(1, at.seen)}%` }} /></span>{format.percent(row.requests / Math.max(1, at.seen))}</td>}
                <td class="number">{format.count(row.refused)}</td><td class={`number ${row.server_errors ? "bad" : ""}`}>{format.count(row.server_errors)}</td>{!narrow.value && <><td class="number">{format.duration(row.mean_us)}</td><td class="number">{format.bytes(row.response_bytes)}</td></>}</tr>); })}</tbody>
          </table>)}
      </Panel>
    </>
  );
}
