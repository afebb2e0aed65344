// All APIs with what they do now; and the making of a new one.

import { useState } from "preact/hooks";
import { Failure, call, type Problem } from "../call";
import * as format from "../format";
import * as live from "../live";
import { go, link, refine, route } from "../route";
import { may, reread, session } from "../session";
import { Ago, Badge, Button, Empty, ErrorBox, Field, LinkButton, Note, Text } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Filter, Table, useList } from "../ui/list";
import { Spark } from "../ui/plot";
import { say } from "../ui/toast";

export interface ApiRow {
  id: string; name: string; listen_path: string; host: string | null; target: string; auth: string[]; active: boolean; internal: boolean; versions: number; org_id: string; tags: string[];
  /** Since this gateway started; `null` without a request. */
  requests: number | null; errors: number | null; p99_ms: number | null; file: string | null; problems: { errors: number; warnings: number };
}

export function Apis() {
  const q = route.value.query;
  const list = useList<ApiRow>("apis", { q: q.get("q") ?? undefined, sort: q.get("sort") ?? "name" });
  const writable = session.value?.writable.apis ?? false;
  const can = may("editor") && writable;
  const fresh = <Button icon="plus" kind="primary" data-key="n" onClick={() => refine({ new: "1" })}>New API</Button>;
  return (
    <>
      <div class="page-head"><h1>APIs{list.total != null && <small>{format.count(list.total)}</small>}</h1><Filter label="Filter APIs" placeholder="Name, path, host, target, tag" />{can && fresh}</div>
      {!can && <p class="list-end">{may("editor") ? "Definitions cannot be written here: they come from a read-only place. They can be viewed and copied." : "Your role can view definitions, not change them."}</p>}
      <Table<ApiRow> label="APIs" list={list} id={(row) => row.id} href={(row) => link(["apis", row.id])} order="name"
        empty={q.get("q") ? <Empty icon="search" title="No API matches."><Button onClick={() => refine({ q: undefined })}>Clear the filter</Button></Empty>
          : <Empty icon="api" title="There is no API yet.">An API says which requests go to which upstream.<br />{can && fresh}</Empty>}
        columns={[
          { id: "name", name: "Name", sort: "name", grow: true, show: (row) => <a href={link(["apis", row.id])}><Text>{row.name || row.id}</Text></a> },
          { id: "state", bare: true, name: "State", show: (row) => !row.active ? <Badge tone="muted">inactive</Badge> : row.internal ? <Badge tone="muted">internal</Badge> : row.problems.errors ? <a href="#/system/problems"><Badge tone="bad" title="Its file has errors, so its last good version serves">{counted(row.problems.errors, "error")}</Badge></a> : row.problems.warnings ? <a href="#/system/problems"><Badge tone="warn">{counted(row.problems.warnings, "warning")}</Badge></a> : <Badge tone="ok">served</Badge> },
          { id: "path", bare: true, name: "Listen path", sort: "listen_path", show: (row) => <Text mono>{`${row.host ?? ""}${row.listen_path}`}</Text> },
          { id: "auth", name: "Auth", show: (row) => row.auth.join(", ") },
          { id: "trend", name: "Past minutes", wide: true, show: (row) => { void live.tick.value; const series = live.apis.get(row.id); return series ? <Spark values={series.columns.requests!} /> : null; } },
          { id: "rate", name: "/s", sort: "requests", number: true, show: (row) => format.rate(rate(row)) },
          { id: "error_rate", name: "Failed", sort: "errors", number: true, show: (row) => { const share = failing(row.id); return <span class={share && share >= 0.01 ? "bad" : ""}>{format.percent(share)}</span>; } },
          { id: "p99", name: "p99", sort: "p99_ms", number: true, show: (row) => format.percentile(live.highest(live.apis.get(row.id), "upstream_p99_us", 60) ?? (row.p99_ms == null ? null : row.p99_ms * 1000), live.ends.value.upstream) },
          { id: "last", name: "Last request", number: true, show: (row) => <Last row={row} /> },
        ]} />
      {q.get("new") && can && <NewApi close={() => refine({ new: undefined })} />}
    </>
  );
}

const counted = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;

/** Requests per second. The live figures name the busiest APIs; if they name fewer than they may, all others have none. */
function rate(row: ApiRow): number | null {
  void live.tick.value;
  const known = live.latest(live.apis.get(row.id), "requests", 30);
  return known ?? (live.now.value && live.now.value.apis.length < live.APIS_MAX ? 0 : null);
}

function Last({ row }: { row: ApiRow }) {
  const at = live.lastSeen(live.apis.get(row.id));
  if (at) return <Ago at={at} />;
  return row.requests ? <small>over 1 h ago</small> : <small>none</small>;
}

/** The share of an API's requests that failed in the last half minute; `null` without a request. */
function failing(id: string): number | null {
  const series = live.apis.get(id), requests = live.latest(series, "requests", 30);
  return requests ? (live.latest(series, "server_errors", 30) ?? 0) / requests : null;
}

/** What most APIs begin with; the rest is on the definition's page. */
function NewApi({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const [path, setPath] = useState<string | null>(null);
  const [target, setTarget] = useState("");
  const [auth, setAuth] = useState("token");
  const [failure, setFailure] = useState<unknown>(null);
  const [problems, setProblems] = useState<Problem[]>([]);
  const [busy, setBusy] = useState(false);
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const listen = path ?? (plain ? `/${plain}/` : "");
  const save = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    const id = plain || `api-${Date.now().toString(36)}`;
    const definition = {
      name, api_id: id, org_id: "default", active: true, use_keyless: auth === "keyless", ...(auth === "token" ? { auth: { auth_header_name: "Authorization" } } : {}), ...(auth === "basic" ? { use_basic_auth: true } : {}),
      version_data: { not_versioned: true, versions: { Default: { name: "Default", use_extended_paths: true } } },
      proxy: { listen_path: listen, target_url: target, strip_listen_path: true },
    };
    try {
      const check = await call("POST", "check/api", definition).catch((failed) => { if (failed instanceof Failure && failed.status === 404) return { ok: true, problems: [] }; throw failed; });
      setProblems(check.problems);
      if (!check.ok) return;
      await call("POST", "apis", definition, { headers: { "If-None-Match": "*" } });
      await reread();
      say("ok", <>API <b>{format.visible(name)}</b> serves {format.visible(listen)}. <a href={link(["keys"], { new: "1", api: id })}>Make a key for it</a></>);
      go(link(["apis", id]));
    } catch (failed) { setFailure(failed); } finally { setBusy(false); }
  };
  const at = (part: string) => problems.find((one) => one.path.includes(part))?.message;
  return (
    <Dialog title="New API" close={close}>
      <form id="new-api" class="form" onSubmit={save}>
        {failure ? <div class="field wide"><ErrorBox failure={failure} /></div> : null}
        <Field label="Name" error={at("name")} wide><input autofocus required maxLength={200} value={name} onInput={(event) => setName(event.currentTarget.value)} placeholder="Shop" /></Field>
        <Field label="Listen path" error={at("listen_path")} hint="Requests below this path are this API's."><input required class="mono" value={listen} onInput={(event) => setPath(event.currentTarget.value)} placeholder="/shop/" /></Field>
        <Field label="Upstream" error={at("target_url")} hint="The listen path is removed before."><input required type="text" class="mono" value={target} onInput={(event) => setTarget(event.currentTarget.value)} placeholder="http://127.0.0.1:9090/" /></Field>
        <Field label="Who may call" wide hint={auth === "keyless" ? "Everybody who reaches the gateway." : auth === "token" ? "Callers send a key in the header Authorization." : "Callers send a name and a password."}>
          <select value={auth} onChange={(event) => setAuth(event.currentTarget.value)}><option value="token">Callers with a key</option><option value="basic">Users with a password</option><option value="keyless">Everybody</option></select>
        </Field>
        {problems.filter((one) => one.level === "error" && !/name|listen_path|target_url/.test(one.path)).map((one) => <Note key={one.path} tone="bad" icon="alert"><code>{one.path}</code> {one.message}</Note>)}
        <div class="row" style={{ gridColumn: "1 / -1", justifyContent: "flex-end" }}><Button onClick={close}>Cancel</Button><Button kind="primary" type="submit" disabled={busy}>Make the API</Button></div>
      </form>
    </Dialog>
  );
}

export { LinkButton };
