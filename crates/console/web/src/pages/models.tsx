// What language models cost: by key, team, model and provider, against budgets and to the end of the month; what each fallback did, and why
// requests were refused or cut. All of it can be had as CSV.

import { useState } from "preact/hooks";
import { Failure, ask, get, query } from "../call";
import * as format from "../format";
import * as live from "../live";
import { link, refine, route } from "../route";
import { may } from "../session";
import { Badge, Button, Empty, ErrorBox, Note, Panel, Text, type Tone } from "../ui/bits";
import { Icon } from "../ui/icons";
import { useLoaded } from "../ui/loaded";
import { Plot, type Line } from "../ui/plot";
import { narrow } from "../ui/screen";
import { amount, unitWords } from "./budgets";
import { outcome, usd } from "./llm";
import { Playground } from "./playground";
import { capital } from "./usage";

interface Sums { requests: number; attempts: number; input_tokens: number; output_tokens: number; cached_tokens: number; reasoning_tokens: number; cost_usd: number; estimated: number; first_token_ms: number | null }
interface Row extends Sums { value: string | number; split?: string; alias?: string }
interface Spend { from: number; to: number; step_s: number | null; partial: boolean; missing: string[]; rows: Row[]; total: Sums; month: { from: number; to: number; cost_usd: number; forecast_usd: number } }
interface Standing { unit: string; per: string; soft: boolean; max: number; used: number | null; left: number | null; from: number; to: number; forecast: number | null }
interface Budget { api_id: string; of: string; name: string; refused: number; standing: Standing | null; teams?: { team: string; standing: Standing }[] }

const SPANS: [string, string, number][] = [["24h", "24 h", 86400], ["7d", "7 d", 7 * 86400], ["30d", "30 d", 30 * 86400], ["90d", "90 d", 90 * 86400]];
/** Dimensions, what they are called, and how filters name them. */
const SPLITS: [string, string, string][] = [["model", "model", "model"], ["provider", "provider", "provider"], ["key", "key", "key"], ["team", "team", "team"], ["policy", "policy", "policy"], ["org", "organisation", "org"], ["api", "API", "api_id"]];
const COLORS = ["accent", "warn", "violet", "teal", "pink", "olive", "ok", "muted"];
const ROWS = 50;

export function Models() {
  const q = route.value.query;
  const last = SPANS.some(([id]) => id === q.get("last")) ? q.get("last")! : "30d";
  const seconds = SPANS.find(([id]) => id === last)![2];
  const by = SPLITS.some(([id]) => id === q.get("split")) ? q.get("split")! : "model";
  const filters: Record<string, string> = Object.fromEntries(SPLITS.flatMap(([, , name]) => (q.get(name) ? [[name, q.get(name)!]] : [])));
  const [trying, setTrying] = useState(false);
  const turn = Math.floor(live.tick.value / 15);
  const asked = JSON.stringify([last, by, filters]);
  const of = (members: Record<string, string | number>) => get<Spend>(`llm/spend${query({ last, nodes: "all", ...filters, ...members })}`, { byItself: true });
  const table = useLoaded(() => of({ by, top: ROWS }), [asked, turn]);
  const timed = useLoaded(() => of({ by: "time", split: by, step: seconds > 3 * 86400 ? "1d" : "1h", top: 10_000 }), [asked, turn]);
  const name = SPLITS.find(([id]) => id === by)![1];
  const none = table.failure instanceof Failure && table.failure.status === 404;
  const failure = none ? null : table.failure ?? timed.failure;
  const found = table.value;
  const missing = found?.missing ?? [];
  return (
    <>
      <div class="page-head"><h1 class="page">Models</h1>{may("editor") && <Button kind="primary" icon="play" class="push" onClick={() => setTrying(true)}>Playground</Button>}</div>
      <div class="toolbar">
        <div class="segments" role="group" aria-label="Span">{SPANS.map(([id, title]) => <button key={id} type="button" aria-pressed={last === id} onClick={() => refine({ last: id })}>{title}</button>)}</div>
        <label class="row">by <select aria-label="Split by" value={by} onChange={(event) => refine({ split: event.currentTarget.value })}>{SPLITS.map(([id, title]) => <option key={id} value={id}>{title}</option>)}</select></label>
        {Object.entries(filters).map(([filter, value]) => <span key={filter} class="chip"><bdi>{filter.replace("_id", "")}: {format.visible(value)}</bdi><button type="button" aria-label={`Remove the filter ${filter}`} onClick={() => refine({ [filter]: undefined })}><Icon name="close" /></button></span>)}
        <Button icon="download" class="push" disabled={!found} onClick={() => void download(`llm/spend${query({ last, nodes: "all", ...filters, by, top: 10_000, format: "csv" })}`, `llm-spend-by-${by}.csv`)}>CSV</Button>
      </div>
      {none && <Note tone="warn" icon="alert">What models cost is not recorded. <Text>{(table.failure as Failure).message}</Text></Note>}
      {failure ? <ErrorBox failure={failure} retry={() => { table.again(); timed.again(); }} since={table.at ?? undefined} /> : null}
      {found?.partial && <Note tone="warn" icon="alert">Only part of it was read within 2 s: the figures are too small. Choose a shorter span or filter.</Note>}
      {missing.length > 0 && <Note tone="warn" icon="alert">Without {missing.map(format.visible).join(", ")}.</Note>}
      {found && <Figures found={found} span={SPANS.find(([id]) => id === last)![1]} />}
      <div class="stack">{!none && <>
        <Plot key={asked} title={`Cost by ${name}`} unit={seconds > 3 * 86400 ? "US dollars a day" : "US dollars an hour"} {...plotted(timed.value, seconds > 3 * 86400 ? 86400 : 3600)} show={(value) => usd(value)} height={200} />
        <Table by={by} name={name} found={found} />
      </>}
        <Budgets />
        {!none && <div class="two"><Fallbacks of={of} asked={asked} turn={turn} /><Refused of={of} asked={asked} turn={turn} /></div>}
      </div>
      {trying && <Playground close={() => setTrying(false)} />}
    </>
  );
}

function Figures({ found, span }: { found: Spend; span: string }) {
  const { total, month } = found;
  const figure = (name: string, value: string, note: string) => <div class="panel figure"><span>{name}</span><strong>{value}</strong><small>{note}</small></div>;
  return (
    <div class="figures" role="group" aria-label="In short">
      {figure(`Spent in ${span}`, usd(total.cost_usd), total.estimated ? `${format.count(total.estimated)} answers estimated` : "as providers told")}
      {figure("This month", usd(month.cost_usd), `since ${format.date(month.from)}`)}
      {figure("Forecast", usd(month.forecast_usd), `to ${format.date(month.to - 1)}, as in the past 7 days`)}
      {figure("Requests", format.count(total.requests), `${format.count(total.attempts)} to providers`)}
      {figure("Tokens", format.count(total.input_tokens + total.output_tokens), `${format.count(total.output_tokens)} of answers`)}
      {figure("First token", total.first_token_ms == null ? format.UNKNOWN : format.duration(total.first_token_ms * 1000), "mean of streams")}
    </div>
  );
}

function Table({ by, name, found }: { by: string; name: string; found: Spend | null }) {
  const rows = found?.rows ?? [];
  const all = found?.total.cost_usd ?? 0;
  const filter = SPLITS.find(([id]) => id === by)![2];
  // What a click leads to: who spends on a model, and what a caller spends on.
  const next = by === "model" || by === "provider" ? "key" : "model";
  return (
    <Panel title={`By ${name}`} note={found ? `${usd(all)}${rows.length >= ROWS ? `, the ${ROWS} dearest` : ""}` : "loading"}>
      {rows.length === 0 ? <Empty icon="usage" title={found ? "No request to a model in this span." : "Loading"}>{found && <>An API with <code>tollgate.llm</code> is one endpoint in front of many providers.</>}</Empty> : (
        <div class="scroll-x" tabIndex={0}><table class="plain">
          <thead><tr><th scope="col">{capital(name)}</th><th scope="col" class="number">Cost</th>{!narrow.value && <th scope="col">Share</th>}<th scope="col" class="number">Requests</th><th scope="col" class="number">Prompt</th><th scope="col" class="number">Answers</th>{!narrow.value && <><th scope="col" class="number">Cached</th><th scope="col" class="number">First token</th></>}</tr></thead>
          <tbody>{rows.map((row) => (
            <tr key={row.value}>
              <th scope="row"><button type="button" class="as-link" title={`Only ${format.visible(row.value)}`} onClick={() => refine({ [filter]: String(row.value), split: next })}><Text>{row.alias || row.value || "none"}</Text></button>{by === "key" && row.value && <>{row.alias && <small> <Text mono>{String(row.value).slice(0, 12)}</Text></small>} <a href={link(["keys", String(row.value)], { alias: row.alias })} aria-label="Open the key"><Icon name="right" /></a></>}</th>
              <td class="number">{usd(row.cost_usd)}{row.estimated > 0 && <small title={`${row.estimated} answers are estimated: their providers have not told what they took`}> ~</small>}</td>
              {!narrow.value && <td><span class="share" aria-hidden="true"><span style={{ width: `${all ? (100 * row.cost_usd) / all : 0}%` }} /></span>{format.percent(all ? row.cost_usd / all : 0)}</td>}
              <td class="number">{format.count(row.requests)}</td><td class="number">{format.count(row.input_tokens)}</td><td class="number">{format.count(row.output_tokens)}</td>
              {!narrow.value && <><td class="number">{format.count(row.cached_tokens)}</td><td class="number">{row.first_token_ms == null ? format.UNKNOWN : format.duration(row.first_token_ms * 1000)}</td></>}
            </tr>))}</tbody>
        </table></div>)}
    </Panel>
  );
}

/** How budgets stand: what is used, what is left, and what they will come to. */
function Budgets() {
  const loaded = useLoaded(() => get<{ budgets: Budget[] }>("llm/overview", { byItself: true }), [0, Math.floor(live.tick.value / 15)]);
  const all = loaded.value?.budgets ?? [];
  const shared = all.filter((one) => one.standing || one.teams?.length), own = all.filter((one) => !one.standing && !one.teams?.length);
  const refused = own.reduce((sum, one) => sum + one.refused, 0);
  if (loaded.failure) return <ErrorBox failure={loaded.failure} retry={loaded.again} />;
  return (
    <Panel title="Budgets" note={refused > 0 ? `those of keys and policies have refused ${refused === 1 ? "one request" : `${format.count(refused)} requests`}` : undefined}>
      {shared.length === 0 ? <Empty icon="info" title="No API in front of models has a budget." >Budgets are members of <code>tollgate.llm</code> of an API, and of organisations, policies and keys.</Empty> : (
        <div class="scroll-x" tabIndex={0}><table class="plain">
          <thead><tr><th scope="col">Budget</th>{!narrow.value && <th scope="col">Of</th>}<th scope="col">Used</th><th scope="col" class="number">Left</th><th scope="col" class="number">At its end</th>{!narrow.value && <><th scope="col">Ends</th><th scope="col" class="number">Refused</th></>}</tr></thead>
          <tbody>{shared.flatMap((one) => {
            const key = `${one.api_id} ${one.of} ${one.name}`;
            return one.standing ? [<BudgetRow key={key} budget={one} standing={one.standing} />] : (one.teams ?? []).map(({ team, standing }) => <BudgetRow key={`${key} ${team}`} budget={one} team={team} standing={standing} />);
          })}</tbody>
        </table></div>)}
    </Panel>
  );
}

function BudgetRow({ budget, team, standing }: { budget: Budget; team?: string; standing: Standing }) {
  const { unit, per, max, used, left, to, forecast, soft } = standing;
  const share = used != null && max > 0 ? Math.min(1, used / max) : 0;
  const expected = forecast != null && max > 0 ? Math.min(1, forecast / max) : share;
  const tone: Tone = share >= 1 ? "bad" : expected >= 1 ? "warn" : "ok";
  return (
    <tr>
      <th scope="row"><Text>{budget.name}</Text>{team ? <> <button type="button" class="as-link" title={`Only ${format.visible(team)}`} onClick={() => refine({ team, split: "model" })}><Text>{team}</Text></button></> : team === "" && " no team"} <small>{soft ? "soft" : "hard"}, {unitWords(unit)}a {per}</small></th>
      {!narrow.value && <td>{budget.of === "api" || team !== undefined ? <a href={link(["apis", budget.api_id])}><Text>{budget.api_id}</Text></a> : budget.of}</td>}
      <td><span class={`budget ${tone}`} aria-hidden="true"><i style={{ width: `${expected * 100}%` }} /><span style={{ width: `${share * 100}%` }} /></span>{used == null ? format.UNKNOWN : amount(used, unit)} of {amount(max, unit)}</td>
      <td class="number">{left == null ? format.UNKNOWN : amount(left, unit)}</td>
      <td class={`number ${tone === "ok" ? "" : tone}`}>{forecast == null ? format.UNKNOWN : <>{amount(forecast, unit)}{forecast > max && <small> over by {format.percent(forecast / max - 1)}</small>}</>}</td>
      {!narrow.value && <><td>{format.ago(to)}</td><td class="number">{format.count(budget.refused)}{team !== undefined && budget.refused > 0 && <small> of all teams</small>}</td></>}
    </tr>
  );
}

interface Asking { of: (members: Record<string, string | number>) => Promise<Spend>; asked: string; turn: number }

/** Who was asked in whose place, what came of it, and why. */
function Fallbacks({ of, asked, turn }: Asking) {
  const moves = useLoaded(() => of({ by: "instead_of", split: "provider" }), [asked, turn]);
  const good = useLoaded(() => of({ by: "instead_of", split: "provider", outcome: "ok" }), [asked, turn]);
  const why = useLoaded(() => of({ by: "provider", split: "reason" }), [asked, turn]);
  const rows = (moves.value?.rows ?? []).filter((row) => row.value !== "");
  const answered = (row: Row) => good.value?.rows.find((one) => one.value === row.value && one.split === row.split)?.requests ?? 0;
  const reasons = (from: string | number) => (why.value?.rows ?? []).filter((row) => row.value === from && row.split).slice(0, 3);
  return (
    <Panel title="Fallbacks" note={rows.length ? undefined : "none"}>
      {rows.length === 0 ? <Empty icon="ok" title="No provider was asked in place of another." /> : (
        <table class="plain">
          <thead><tr><th scope="col">In place of</th><th scope="col">was asked</th><th scope="col" class="number">Times</th><th scope="col" class="number">Answered</th></tr></thead>
          <tbody>{rows.map((row) => (
            <tr key={`${row.value} ${row.split}`}>
              <th scope="row"><Text>{row.value}</Text>{reasons(row.value).map((one) => <div key={one.split}><small><Text>{one.split}</Text>{one.attempts > 0 && `, ${format.count(one.attempts)} times`}</small></div>)}</th>
              <td><Text>{row.split}</Text></td><td class="number">{format.count(row.attempts)}</td><td class="number">{format.count(answered(row))}</td>
            </tr>))}</tbody>
        </table>)}
    </Panel>
  );
}

/** Why requests were refused, and answers cut. */
function Refused({ of, asked, turn }: Asking) {
  const found = useLoaded(() => of({ by: "reason", split: "outcome", top: 500 }), [asked, turn]);
  const bounded = useLoaded(() => of({ by: "budget", split: "outcome" }), [asked, turn]);
  const rows = (found.value?.rows ?? []).filter((row) => row.requests > 0 && row.split !== "ok" && row.split !== "cached").sort((a, b) => b.requests - a.requests);
  const ended = (bounded.value?.rows ?? []).filter((row) => row.value && row.requests > 0 && row.split === "ok");
  return (
    <Panel title="Refused or cut" note={<a href={link(["live"])}>single requests</a>}>
      {rows.length + ended.length === 0 ? <Empty icon="ok" title="Every request was answered." /> : (
        <table class="plain">
          <thead><tr><th scope="col">What</th><th scope="col">Why</th><th scope="col" class="number">Requests</th></tr></thead>
          <tbody>
            {rows.slice(0, 20).map((row) => <tr key={`${row.value} ${row.split}`}><td><Badge tone={outcome(row.split ?? "")[0]}>{outcome(row.split ?? "")[1]}</Badge></td><td><Text>{capital(String(row.value))}</Text></td><td class="number">{format.count(row.requests)}</td></tr>)}
            {ended.map((row) => <tr key={`budget ${row.value}`}><td><Badge tone="warn">ended early</Badge></td><td>The answer had its end where the budget <Text>{row.value}</Text> bounds it</td><td class="number">{format.count(row.requests)}</td></tr>)}
          </tbody>
        </table>)}
    </Panel>
  );
}

/** Rows of moments and parts as lines; what no row is for has cost nothing. */
function plotted(found: Spend | null, unit: number): { lines: Line[]; times: number[] } {
  if (!found) return { lines: [], times: [] };
  const times: number[] = [];
  for (let at = Math.floor(found.from / unit) * unit; at < found.to && times.length < 2000; at += unit) times.push(at);
  const place = new Map(times.map((time, at) => [time, at]));
  const sums = new Map<string, number>(), aliases: Record<string, string> = Object.create(null);
  for (const row of found.rows) { sums.set(row.split ?? "", (sums.get(row.split ?? "") ?? 0) + row.cost_usd); if (row.alias && row.split) aliases[row.split] = row.alias; }
  const names = [...sums].filter(([, cost]) => cost > 0).sort((a, b) => Number(a[0] === "_other") - Number(b[0] === "_other") || b[1] - a[1]).slice(0, narrow.value ? 1 : 8).map(([name]) => name);
  const values = new Map(names.map((name) => [name, times.map(() => 0 as number | null)]));
  for (const row of found.rows) {
    const at = place.get(Math.floor(Number(row.value) / unit) * unit), line = values.get(row.split ?? "");
    if (at !== undefined && line) line[at] = (line[at] ?? 0) + row.cost_usd;
  }
  return { times, lines: names.map((name, at) => ({ name: name === "_other" ? "other" : format.visible(aliases[name] ?? name) || "none", values: values.get(name)!, color: COLORS[name === "_other" ? 7 : at % 7]!, fill: names.length === 1 })) };
}

/** What the gateway writes, as a file. */
async function download(path: string, name: string): Promise<void> {
  const { text } = await ask("GET", path);
  const file = document.createElement("a");
  file.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  file.download = name;
  file.click();
  setTimeout(() => URL.revokeObjectURL(file.href), 10_000);
}
