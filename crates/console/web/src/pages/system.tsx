// The gateways themselves: nodes and how they differ, the process, stores and sinks, problems of the configuration, users, changes.

import { useState } from "preact/hooks";
import { call, get, query, segment } from "../call";
import * as format from "../format";
import * as live from "../live";
import { link, refine, route } from "../route";
import { may, scopeText, session, type Scope } from "../session";
import { Ago, Badge, Button, Copy, Empty, ErrorBox, Fact, Facts, Field, Note, Panel, Text } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Filter, Table, useList } from "../ui/list";
import { useLoaded } from "../ui/loaded";
import { UNROUTED } from "./overview";
import { narrow } from "../ui/screen";
import { say } from "../ui/toast";

const TABS = [["", "Gateways"], ["problems", "Problems"], ["changes", "Changes"], ["users", "Users"]] as const;

export function System() {
  const tab = route.value.parts[1] ?? "";
  return (
    <>
      <h1 class="page">System</h1>
      <nav class="tabs" aria-label="Parts of the system">{TABS.map(([part, name]) => <a key={part} href={link(part ? ["system", part] : ["system"])} aria-current={tab === part ? "page" : undefined}>{name}</a>)}</nav>
      {tab === "" && <Gateways />}{tab === "problems" && <Problems />}{tab === "changes" && <Changes />}{tab === "users" && <Users />}
    </>
  );
}

/** In what a gateway is not as most of the others. */
function differs(node: any) { return node.differs?.length ? <Badge tone="warn">differs: {node.differs.map((part: string) => part.replaceAll("_", " ")).join(", ")}</Badge> : undefined; }

const often = (): number => Math.floor(live.tick.value / 3);

/** The figures of the gateway that the address names, or of the one that answers. */
function useFigures() {
  const node = route.value.query.get("node") ?? "";
  return useLoaded(() => get(`live${query({ apis: 0, node })}`, { byItself: true }), [node, often()]);
}

/** Chooses which gateway's figures are shown. */
function WhichGateway() {
  const nodes = live.now.value?.nodes ?? [];
  const chosen = route.value.query.get("node") ?? live.now.value?.node ?? "";
  if (nodes.length < 2) return null;
  return <div class="toolbar"><label class="row">Figures of <select aria-label="Gateway" value={chosen} onChange={(event) => refine({ node: event.currentTarget.value })}>{[...nodes].sort().map((node) => <option key={node} value={node}>{format.visible(node)}</option>)}</select></label></div>;
}

function Gateways() {
  const nodes = useLoaded(() => get("nodes", { byItself: true }), [0, often()]);
  const now = useFigures();
  const at = now.value;
  const reload = async () => { try { await get("reload?block=true"); say("ok", "The configuration is read anew."); now.again(); } catch (failure) { say("bad", (failure as Error).message); } };
  return (
    <div class="stack">
      {nodes.failure ? <ErrorBox failure={nodes.failure} retry={nodes.again} since={nodes.at ?? undefined} /> : null}
      <Panel title="Gateways" note={nodes.value ? nodes.value.shared ? "that share this Redis" : "this one stands alone: no Redis is configured" : ""} actions={may("editor") && <Button icon="refresh" kind="quiet" onClick={() => void reload()}>Reload configuration</Button>}>
        <table class="plain"><thead><tr><th scope="col">Name</th><th scope="col">State</th>{!narrow.value && <><th scope="col">Version</th><th scope="col">Up since</th><th scope="col" class="number">APIs</th><th scope="col">Configuration</th><th scope="col">Definitions</th></>}</tr></thead>
          <tbody>{(nodes.value?.nodes ?? []).map((node: any) => (
            <tr key={node.node}><th scope="row"><Text mono>{node.node}</Text> {node.self && <small>this one</small>}</th><td>{node.alive ? <Badge tone="ok">serving</Badge> : <Badge tone="bad">silent since {format.clock(node.seen_unix_s, true)}</Badge>}{node.errors > 0 && <Badge tone="warn">{node.errors} {node.errors === 1 ? "error" : "errors"} in its files</Badge>}{narrow.value && differs(node)}</td>{!narrow.value && <><td>{node.version}</td><td><Ago at={node.started_unix_s} /></td><td class="number">{format.count(node.apis)}</td>
              <td>{differs(node) ?? (nodes.value.nodes.length > 1 && <Badge tone="ok">as the others</Badge>)} <Text mono>{node.configuration}</Text></td>
              <td>{node.shared_definitions ? <>revision {format.count(node.shared_definitions.revision)} {!node.shared_definitions.store_up && <Badge tone="bad">store away</Badge>}</> : "its files"}</td></>}</tr>))}</tbody></table>
      </Panel>
      <WhichGateway />
      {now.failure ? <ErrorBox failure={now.failure} retry={now.again} since={now.at ?? undefined} /> : null}
      <div class="two">
        <Panel title="Stores">
          {at?.stores?.length ? <table class="plain"><thead><tr><th scope="col">Store</th><th scope="col">State</th><th scope="col" class="number">p50</th><th scope="col" class="number">p99</th><th scope="col" class="number">Faults</th></tr></thead><tbody>{at.stores.map((one: any) => <tr key={one.store}><th scope="row">{one.store}</th><td>{one.up ? <Badge tone="ok">answers</Badge> : <Badge tone="bad">{one.trouble || "does not answer"}</Badge>}</td><td class="number">{format.percentile(one.p50_us, 1e7)}</td><td class="number">{format.percentile(one.p99_us, 1e7)}</td><td class={`number ${one.faults ? "bad" : ""}`}>{format.count(one.faults)}</td></tr>)}</tbody></table> : <div class="empty small">{at ? "No store is in use." : "Loading"}</div>}
        </Panel>
        <Panel title="Records" note="where requests are recorded">
          {at?.sinks?.length ? <table class="plain"><thead><tr><th scope="col">Sink</th><th scope="col" class="number">Written</th><th scope="col" class="number">Waiting</th><th scope="col" class="number">Lost</th></tr></thead><tbody>{at.sinks.map((one: any) => <tr key={one.sink}><th scope="row">{one.sink}</th><td class="number">{format.count(one.written)}</td><td class="number">{format.count(one.waiting)}</td><td class={`number ${one.dropped + one.failed ? "bad" : ""}`}>{format.count(one.dropped + one.failed)}</td></tr>)}</tbody></table> : <div class="empty small">{at ? "Requests are not recorded: enable_analytics is off." : "Loading"}</div>}
        </Panel>
      </div>
      <div class="two">
        <Panel title="Middlewares" note="mean of sampled requests">
          {at?.middlewares?.length ? <table class="plain"><thead><tr><th scope="col">Middleware</th><th scope="col" class="number">Mean</th><th scope="col" class="number">Samples</th></tr></thead><tbody>{at.middlewares.map((one: any) => <tr key={one.middleware}><th scope="row">{one.middleware}</th><td class="number">{format.duration(one.mean_ns / 1000)}</td><td class="number">{format.count(one.samples)}</td></tr>)}</tbody></table> : <div class="empty small">No sample yet.</div>}
        </Panel>
        <Panel title="Process" note={at ? format.visible(at.node) : ""}><div class="body"><Facts>
          <Fact name="Version">{at?.version ?? session.value?.version}</Fact><Fact name="Up since">{at ? <><Ago at={at.started_unix_ms / 1000} /> <small>{format.full(at.started_unix_ms / 1000)}</small></> : format.UNKNOWN}</Fact>
          <Fact name="Cores busy">{at?.core_busy?.map(format.percent).join(", ") ?? format.UNKNOWN}</Fact><Fact name="Connections">{at ? `${format.count(at.connections.client)} of clients, ${format.count(at.connections.upstream)} to upstreams` : format.UNKNOWN}</Fact>
          <Fact name="Without an API">{at?.unrouted ? Object.entries(at.unrouted).filter(([what]) => what in UNROUTED).map(([what, number]) => `${UNROUTED[what]} ${format.count(number as number)}`).join(", ") : format.UNKNOWN}</Fact>
        </Facts></div></Panel>
      </div>
    </div>
  );
}

function Problems() {
  const now = useFigures();
  const reload = now.value?.reload;
  if (now.failure && !reload) return <><WhichGateway /><ErrorBox failure={now.failure} retry={now.again} /></>;
  if (!reload) return <WhichGateway />;
  return (
    <>
      <WhichGateway />
      {reload.last_failed && <Note tone="bad" icon="alert">The last reload found errors: what is named below is left out. Everything else serves{reload.last_ok_unix_s ? `; the last reload without errors was at ${format.moment(reload.last_ok_unix_s)}` : ""}.</Note>}
      <Panel title="Problems of the configuration" note={`${format.count(reload.errors)} ${reload.errors === 1 ? "error" : "errors"}, ${format.count(reload.warnings)} ${reload.warnings === 1 ? "warning" : "warnings"}; read in ${format.duration(reload.last_us)}`}>
        {reload.problems.length === 0 ? <Empty icon="ok" title="The configuration has no problem." /> : <table class="plain"><thead><tr><th scope="col">Level</th><th scope="col">File</th><th scope="col">Where</th><th scope="col">What</th></tr></thead><tbody>{reload.problems.map((one: any, at: number) => <tr key={at}><td><Badge tone={one.level === "error" ? "bad" : "warn"}>{one.level}</Badge></td><th scope="row"><Text mono>{one.file}</Text></th><td><Text mono>{one.path}</Text></td><td><Text>{one.message}</Text></td></tr>)}</tbody></table>}
      </Panel>
    </>
  );
}

function Changes() {
  const q = route.value.query;
  const list = useList<any>("changes", { q: q.get("q") ?? undefined });
  const [open, setOpen] = useState<any>(null);
  const where = (row: any) => !row.target ? undefined : row.kind === "api" ? link(["apis", row.target]) : row.kind === "key" ? link(["keys", row.target]) : row.kind === "policy" ? link(["policies"], { open: row.target }) : undefined;
  return (
    <>
      <div class="toolbar"><Filter label="Filter changes" placeholder="User, target, action" /><small>Kept for 90 days.</small></div>
      <Table<any> label="Changes" list={list} id={(row) => `${row.time} ${row.action} ${row.target} ${list.rows.indexOf(row)}`} open={setOpen} empty={<Empty icon="clock" title="No change is recorded." />}
        columns={[
          { id: "time", bare: true, name: "Time", show: (row) => <time title={format.full(row.time)}>{format.moment(row.time, true)}</time> }, { id: "user", bare: true, name: "Who", show: (row) => <Text>{row.user || "nobody"}</Text> },
          { id: "action", bare: true, name: "Did", show: (row) => <Badge tone={row.status >= 400 || row.action.includes("failed") ? "bad" : row.action === "delete" ? "warn" : "muted"}>{row.action.replaceAll("_", " ")}</Badge> }, { id: "target", name: "What", grow: true, show: (row) => <><small>{row.kind}</small> {where(row) ? <a href={where(row)}><Text>{row.target}</Text></a> : <Text>{row.target}</Text>}</> },
          { id: "diff", bare: true, name: "Fields", number: true, show: (row) => row.diff?.length ? `${format.count(row.diff.length + (row.diff_more ?? 0))} changed` : "" }, { id: "node", name: "Gateway", show: (row) => <Text mono>{row.node}</Text> }, { id: "address", name: "From", show: (row) => <Text mono>{row.address}</Text> },
        ]} />
      {open && <Dialog title={`${open.action.replaceAll("_", " ")} ${open.kind ?? ""}`} close={() => setOpen(null)} wide>
        <Facts><Fact name="Who"><Text>{open.user}</Text> <small>{open.role}</small></Fact><Fact name="At">{format.full(open.time)}</Fact><Fact name="What">{where(open) ? <a href={where(open)}><Text>{open.target}</Text></a> : <Text>{open.target}</Text>}</Fact><Fact name="From"><Text mono>{open.address}</Text></Fact><Fact name="Gateway"><Text mono>{open.node}</Text></Fact></Facts>
        {open.diff?.length > 0 && <table class="plain"><thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead><tbody>{open.diff.map((one: any) => <tr key={one.path}><th scope="row"><Text mono>{one.path}</Text></th><td><Text mono>{shown(one.old)}</Text></td><td><Text mono>{shown(one.new)}</Text></td></tr>)}</tbody></table>}
        {open.diff_more > 0 && <small>and {format.count(open.diff_more)} more fields</small>}
      </Dialog>}
    </>
  );
}

const shown = (value: unknown): string => (value === undefined || value === null ? "none" : typeof value === "string" ? value : JSON.stringify(value));

function Users() {
  const admin = may("admin");
  const users = useLoaded(() => (admin ? get("users") : Promise.resolve(null)), [0]);
  const [editing, setEditing] = useState<any>(null);
  const [own, setOwn] = useState(false);
  const adding = route.value.query.get("new");
  const remove = async (name: string) => { try { await call("DELETE", `users/${segment(name)}`); say("ok", `${name} is removed and signed out.`); users.again(); setEditing(null); } catch (failure) { say("bad", (failure as Error).message); } };
  return (
    <>
      {!admin && <Note>Only admins see and change users.</Note>}
      <div class="toolbar">{admin && <Button icon="plus" kind="primary" data-key="n" onClick={() => refine({ new: "1" })}>Add a user</Button>}{!session.value?.by_secret && <Button onClick={() => setOwn(true)}>Change my password</Button>}</div>
      {users.failure ? <ErrorBox failure={users.failure} retry={users.again} /> : null}
      {admin && users.value && <Panel title="Users" note="admin: everything; editor: all but users and secrets; viewer: reads">
        {users.value.users.length === 0 ? <Empty icon="client" title="There is no named user.">Everybody who knows the control secret is an admin, and changes do not say who made them.</Empty> : <table class="plain"><thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Reaches</th><th scope="col">Since</th><th scope="col"><span class="sr">Actions</span></th></tr></thead><tbody>{users.value.users.map((one: any) => <tr key={one.name}><th scope="row"><Text>{one.name}</Text></th><td><Badge tone={one.role === "admin" ? "accent" : "muted"}>{one.role}</Badge></td><td><Text>{scopeText(one.scope)}</Text></td><td><Ago at={one.created} /></td><td class="number"><Button kind="quiet" onClick={() => setEditing(one)}>Change</Button></td></tr>)}</tbody></table>}
      </Panel>}
      {admin && <Tokens />}
      {(adding || editing) && admin && <User user={editing} close={() => { setEditing(null); refine({ new: undefined }); }} saved={() => { setEditing(null); refine({ new: undefined }); users.again(); }} remove={remove} />}
      {own && <OwnPassword close={() => setOwn(false)} />}
    </>
  );
}

interface ScopeWords { tags: string; orgs: string }

const wordsOf = (scope?: Scope | null): ScopeWords => ({ tags: (scope?.tags ?? []).join(", "), orgs: (scope?.orgs ?? []).join(", ") });

/** A scope of two lists with commas; null for everything. */
function scopeOf(role: string, words: ScopeWords): Scope | null {
  const list = (text: string) => text.split(",").map((word) => word.trim()).filter(Boolean);
  const [tags, orgs] = [list(words.tags), list(words.orgs)];
  return role === "admin" || tags.length + orgs.length === 0 ? null : { tags, orgs };
}


function ScopeFields({ words, change }: { words: ScopeWords; change: (words: ScopeWords) => void }) {
  return (
    <>
      <Field label="Tags" hint="Only APIs with one of these tags, with commas between them."><input value={words.tags} autocomplete="off" onInput={(event) => change({ ...words, tags: event.currentTarget.value })} /></Field>
      <Field label="Organisations" hint="Only APIs of these organisations. Both empty: everything."><input value={words.orgs} autocomplete="off" onInput={(event) => change({ ...words, orgs: event.currentTarget.value })} /></Field>
    </>
  );
}

/** Tokens for automation. */
function Tokens() {
  const tokens = useLoaded(() => get("tokens"), [0]);
  const [making, setMaking] = useState(false);
  const revoke = async (name: string) => { try { await call("DELETE", `tokens/${segment(name)}`); say("ok", `${name} is revoked.`); tokens.again(); } catch (failure) { say("bad", (failure as Error).message); } };
  return (
    <>
      {tokens.failure ? <ErrorBox failure={tokens.failure} retry={tokens.again} /> : null}
      {tokens.value && <Panel class="after" title="Tokens" note="for scripts, in place of the control secret" actions={<Button icon="plus" onClick={() => setMaking(true)}>Make a token</Button>}>
        {tokens.value.tokens.length === 0 ? <Empty icon="key" title="There is no token.">A script with a token may do what its role may, until it ends or is revoked.</Empty> : <table class="plain"><thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Reaches</th><th scope="col">Last used</th><th scope="col">Ends</th><th scope="col"><span class="sr">Actions</span></th></tr></thead><tbody>{tokens.value.tokens.map((one: any) => <tr key={one.id}><th scope="row"><Text>{one.name}</Text></th><td><Badge tone={one.role === "admin" ? "accent" : "muted"}>{one.role}</Badge></td><td><Text>{scopeText(one.scope)}</Text></td><td>{one.last_used ? <Ago at={one.last_used} /> : "never"}</td><td><Ago at={one.expires} /></td><td class="number"><Button kind="quiet" onClick={() => revoke(one.name)}>Revoke</Button></td></tr>)}</tbody></table>}
      </Panel>}
      {making && <NewToken close={() => { setMaking(false); tokens.again(); }} />}
    </>
  );
}

function NewToken({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("editor");
  const [scope, setScope] = useState<ScopeWords>(wordsOf());
  const [days, setDays] = useState("90");
  const [made, setMade] = useState<any>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const save = async (event: Event) => {
    event.preventDefault();
    try { setMade(await call("POST", "tokens", { name, role, scope: scopeOf(role, scope), expires_in_s: Math.round(Number(days) * 86400) })); setFailure(null); } catch (failed) { setFailure(failed); }
  };
  if (made) return <Dialog title={made.name} close={close} footer={<Button kind="primary" onClick={close}>Done</Button>}><p>This is the token. It is shown this once.</p><pre class="line"><code>{made.token}</code><Copy text={made.token} label="Copy the token" /></pre></Dialog>;
  return (
    <Dialog title="Make a token" close={close} footer={<><Button onClick={close}>Cancel</Button><Button kind="primary" type="submit" {...{ form: "token" }}>Make it</Button></>}>
      <form id="token" class="form" onSubmit={save}>
        {failure ? <div class="field wide"><ErrorBox failure={failure} /></div> : null}
        <Field label="Name"><input autofocus required value={name} autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} /></Field>
        <Field label="Role"><select value={role} onChange={(event) => setRole(event.currentTarget.value)}><option value="viewer">viewer: reads</option><option value="editor">editor: all but users and secrets</option><option value="admin">admin: everything</option></select></Field>
        {role !== "admin" && <ScopeFields words={scope} change={setScope} />}
        <Field label="Days" hint="At most 366."><input type="number" min="1" max="366" required value={days} onInput={(event) => setDays(event.currentTarget.value)} /></Field>
      </form>
    </Dialog>
  );
}

/** Shortest password that is accepted. */
const PASSWORD_MIN = 12;

function User({ user, close, saved, remove }: { user: any; close: () => void; saved: () => void; remove: (name: string) => void }) {
  const [name, setName] = useState(user?.name ?? "");
  const [role, setRole] = useState(user?.role ?? "editor");
  const [scope, setScope] = useState<ScopeWords>(wordsOf(user?.scope));
  const [password, setPassword] = useState("");
  const [failure, setFailure] = useState<unknown>(null);
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      const reached = scopeOf(role, scope);
      if (user) {
        await call("PUT", `users/${segment(user.name)}`, { role, scope: reached });
        if (password) await call("POST", `users/${segment(user.name)}/password`, { new: password });
      } else await call("POST", "users", { name, role, scope: reached, password });
      say("ok", user ? "Saved." : `${name} can sign in.`);
      saved();
    } catch (failed) { setFailure(failed); }
  };
  return (
    <Dialog title={user ? user.name : "Add a user"} close={close} footer={<><span>{user && <Button icon="trash" kind="quiet" onClick={() => remove(user.name)}>Remove</Button>}</span><Button onClick={close}>Cancel</Button><Button kind="primary" type="submit" {...{ form: "user" }}>{user ? "Save" : "Add"}</Button></>}>
      <form id="user" class="form" onSubmit={save}>
        {failure ? <div class="field wide"><ErrorBox failure={failure} /></div> : null}
        {!user && <Field label="Name"><input autofocus required value={name} autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} /></Field>}
        <Field label="Role"><select value={role} onChange={(event) => setRole(event.currentTarget.value)}><option value="viewer">viewer: reads</option><option value="editor">editor: all but users and secrets</option><option value="admin">admin: everything</option></select></Field>
        {role !== "admin" && <ScopeFields words={scope} change={setScope} />}
        <Field label={user ? "New password" : "Password"} hint={`At least ${PASSWORD_MIN} characters.${user ? " Empty: as it is." : ""}`}><input type="password" autocomplete="new-password" required={!user} minLength={PASSWORD_MIN} value={password} onInput={(event) => setPassword(event.currentTarget.value)} /></Field>
      </form>
    </Dialog>
  );
}

function OwnPassword({ close }: { close: () => void }) {
  const [old, setOld] = useState("");
  const [fresh, setFresh] = useState("");
  const [failure, setFailure] = useState<unknown>(null);
  const save = async (event: Event) => { event.preventDefault(); try { await call("POST", `users/${segment(session.value?.user ?? "")}/password`, { old, new: fresh }); say("ok", "Password changed."); close(); } catch (failed) { setFailure(failed); } };
  return <Dialog title="Change my password" close={close} footer={<><Button onClick={close}>Cancel</Button><Button kind="primary" type="submit" {...{ form: "own" }}>Change</Button></>}><form id="own" class="form" onSubmit={save}>{failure ? <div class="field wide"><ErrorBox failure={failure} /></div> : null}<Field label="Old password"><input type="password" autofocus required autocomplete="current-password" value={old} onInput={(event) => setOld(event.currentTarget.value)} /></Field><Field label="New password" hint={`At least ${PASSWORD_MIN} characters.`}><input type="password" required minLength={PASSWORD_MIN} autocomplete="new-password" value={fresh} onInput={(event) => setFresh(event.currentTarget.value)} /></Field></form></Dialog>;
}
