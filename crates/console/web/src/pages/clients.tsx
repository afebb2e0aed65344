// OAuth clients by API: made with a secret that is shown once, rotated, their tokens revoked.

import { useEffect, useState } from "preact/hooks";
import { call, get, segment } from "../call";
import { count } from "../format";
import { link, refine, route } from "../route";
import { may } from "../session";
import { Badge, Button, Empty, ErrorBox, Fact, Facts, Field, Note, Text, copy } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Filter, Table, useList } from "../ui/list";
import { say } from "../ui/toast";

interface ClientRow { id: string; api_id: string; description: string; redirect_uri: string; policy_id: string; public: boolean }

export function Clients() {
  const q = route.value.query;
  const list = useList<ClientRow>("clients", { q: q.get("q") ?? undefined, sort: q.get("sort") ?? "id" });
  const [open, setOpen] = useState<ClientRow | null>(null);
  const can = may("editor");
  return (
    <>
      <div class="page-head"><h1>OAuth clients{list.total != null && <small>{count(list.total)}</small>}</h1><Filter label="Filter clients" placeholder="Client, description, API" />{can && <Button icon="plus" kind="primary" data-key="n" onClick={() => refine({ new: "1" })}>New client</Button>}</div>
      {!can && <p class="list-end">Your role can view clients, not change them.</p>}
      <Table<ClientRow> label="OAuth clients" list={list} id={(row) => `${row.api_id} ${row.id}`} open={setOpen} order="id"
        empty={<Empty icon="client" title={q.get("q") ? "No client matches." : "There is no OAuth client yet."}>{q.get("q") ? null : "A client is a program that gets access tokens from an API with OAuth 2.0."}</Empty>}
        columns={[
          { id: "id", name: "Client", sort: "id", grow: true, show: (row) => <Text mono>{row.id}</Text> },
          { id: "kind", bare: true, name: "Kind", show: (row) => <Badge tone="muted">{row.public ? "public" : "confidential"}</Badge> },
          { id: "api", name: "API", show: (row) => <a href={link(["apis", row.api_id])}><Text>{row.api_id}</Text></a> },
          { id: "description", name: "Description", show: (row) => <Text>{row.description}</Text> },
          { id: "policy", name: "Policy", show: (row) => row.policy_id ? <a href={link(["policies"], { open: row.policy_id })}><Text>{row.policy_id}</Text></a> : "none" },
          { id: "redirect", name: "Redirect", show: (row) => <Text mono>{row.redirect_uri}</Text> },
        ]} />
      {open && <Client row={open} close={() => setOpen(null)} changed={list.reload} can={can} />}
      {q.get("new") && can && <NewClient close={() => refine({ new: undefined })} changed={list.reload} />}
    </>
  );
}

function Once({ id, secret }: { id: string; secret: string }) {
  return <><Note tone="warn" icon="alert">This is the only time the secret is shown.</Note><Facts><Fact name="Client"><code>{id}</code></Fact></Facts><div class="line"><code class="big-code">{secret}</code><Button icon="copy" onClick={() => void copy(secret, "Secret copied")}>Copy</Button></div></>;
}

function Client({ row, close, changed, can }: { row: ClientRow; close: () => void; changed: () => void; can: boolean }) {
  const [secret, setSecret] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [sure, setSure] = useState<"rotate" | "tokens" | "delete" | null>(null);
  const base = `oauth/clients/${segment(row.api_id)}/${segment(row.id)}`;
  const does = {
    rotate: async () => { const found = await call("PUT", `${base}/rotate`); setSecret(found.secret ?? found.client_secret); },
    tokens: async () => { await call("DELETE", `${base}/tokens`); say("ok", "All its tokens are revoked."); close(); },
    delete: async () => { await call("DELETE", base); say("ok", "Client deleted, with its tokens."); changed(); close(); },
  };
  const ask = { rotate: ["Rotate the secret?", "The old secret stops working now. Tokens stay valid.", "Rotate"], tokens: ["Revoke all its tokens?", "Requests with them are refused from now on.", "Revoke"], delete: ["Delete this client?", "It gets no tokens any more, and those it has are revoked.", "Delete"] } as const;
  const run = async () => { const what = sure!; setSure(null); setFailure(null); try { await does[what](); } catch (failed) { setFailure(failed); } };
  if (secret) return <Dialog title="New secret" close={close} footer={<Button kind="primary" onClick={close}>Done</Button>}><Once id={row.id} secret={secret} /></Dialog>;
  if (sure) return <Dialog title={ask[sure][0]} close={() => setSure(null)} footer={<><Button onClick={() => setSure(null)}>Cancel</Button><Button kind="danger" onClick={() => void run()}>{ask[sure][2]}</Button></>}><p>{ask[sure][1]}</p></Dialog>;
  return (
    <Dialog title={row.id} close={close} footer={can ? <>{!row.public && <Button onClick={() => setSure("rotate")}>Rotate secret</Button>}<Button onClick={() => setSure("tokens")}>Revoke tokens</Button><Button kind="danger" onClick={() => setSure("delete")}>Delete</Button></> : undefined}>
      {failure ? <ErrorBox failure={failure} /> : null}
      <Facts><Fact name="API"><a href={link(["apis", row.api_id])}><Text>{row.api_id}</Text></a></Fact><Fact name="Description"><Text>{row.description || "none"}</Text></Fact><Fact name="Kind">{row.public ? "public: without a secret, with PKCE" : "confidential"}</Fact><Fact name="Policy"><Text>{row.policy_id || "none"}</Text></Fact><Fact name="Redirect"><Text mono>{row.redirect_uri || "none"}</Text></Fact></Facts>
    </Dialog>
  );
}

function NewClient({ close, changed }: { close: () => void; changed: () => void }) {
  const [apis, setApis] = useState<any[]>([]);
  const [policies, setPolicies] = useState<any[]>([]);
  const [form, setForm] = useState({ api_id: "", client_id: "", description: "", redirect_uri: "", policy_id: "" });
  const [made, setMade] = useState<any>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    get("list/apis?limit=500").then((page) => { const rows = page.rows.filter((one: any) => one.auth.includes("oauth")); setApis(rows); if (rows[0]) setForm((old) => ({ ...old, api_id: old.api_id || rows[0].id })); }, setFailure);
    get("list/policies?limit=200").then((page) => setPolicies(page.rows), () => {});
  }, []);
  const set = (name: string) => (event: any) => setForm({ ...form, [name]: event.currentTarget.value });
  const make = async (event: Event) => { event.preventDefault(); setFailure(null); try { setMade(await call("POST", "oauth/clients/create", form)); changed(); } catch (failed) { setFailure(failed); } };
  if (made) return <Dialog title="The client is made" close={close} footer={<Button kind="primary" onClick={close}>Done</Button>}><Once id={made.client_id} secret={made.secret ?? made.client_secret} /></Dialog>;
  return (
    <Dialog title="New OAuth client" close={close} footer={<><Button onClick={close}>Cancel</Button><Button kind="primary" type="submit" {...{ form: "new-client" }} disabled={!form.api_id}>Make the client</Button></>}>
      <form id="new-client" class="form" onSubmit={make}>
        {failure ? <div class="field wide"><ErrorBox failure={failure} /></div> : null}
        {apis.length === 0 && <div class="field wide"><Note tone="warn" icon="alert">No API uses OAuth 2.0. Switch it on in the definition of one first (<code>use_oauth2</code>).</Note></div>}
        <Field label="API" wide><select value={form.api_id} onChange={set("api_id")}>{apis.map((one) => <option key={one.id} value={one.id}>{one.name || one.id}</option>)}</select></Field>
        <Field label="Client id" hint="Empty: random."><input class="mono" value={form.client_id} onInput={set("client_id")} /></Field>
        <Field label="Policy"><select value={form.policy_id} onChange={set("policy_id")}><option value="">none</option>{policies.map((one) => <option key={one.id} value={one.id}>{one.name || one.id}</option>)}</select></Field>
        <Field label="Redirect" wide hint="Where the browser returns with a code."><input class="mono" value={form.redirect_uri} onInput={set("redirect_uri")} placeholder="https://app.example/callback" /></Field>
        <Field label="Description" wide><input value={form.description} onInput={set("description")} /></Field>
      </form>
    </Dialog>
  );
}
