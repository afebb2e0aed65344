// Certificates, also those in files, soonest end first, and who uses them. Expired is red.

import { useState } from "preact/hooks";
import { ask, call, segment } from "../call";
import * as format from "../format";
import { link, route } from "../route";
import { may } from "../session";
import { Badge, Button, Empty, ErrorBox, Fact, Facts, Field, Text, type Tone } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Filter, Table, useList } from "../ui/list";
import { say } from "../ui/toast";

interface CertRow { id: string; file: string | null; subject: string; issuer: string; names: string[]; starts: number; ends: number; days: number; has_private_key: boolean; used_by: { what: string; id: string }[]; state: "ok" | "soon" | "expired" | "not_yet" | "unreadable" }
const STATES: Record<CertRow["state"], [Tone, string]> = { ok: ["ok", "valid"], soon: ["warn", "ends soon"], expired: ["bad", "expired"], not_yet: ["warn", "not yet valid"], unreadable: ["bad", "unreadable"] };

export function Certificates() {
  const q = route.value.query;
  const list = useList<CertRow>("certs", { q: q.get("q") ?? undefined, sort: q.get("sort") ?? "ends" });
  const [open, setOpen] = useState<CertRow | null>(null);
  const [adding, setAdding] = useState(false);
  const can = may("editor");
  return (
    <>
      <div class="page-head"><h1>Certificates{list.total != null && <small>{format.count(list.total)}</small>}</h1><Filter label="Filter certificates" placeholder="Name, subject, issuer, file" />{can && <Button icon="plus" kind="primary" data-key="n" onClick={() => setAdding(true)}>Add certificate</Button>}</div>
      {!can && <p class="list-end">Your role can view certificates, not change them.</p>}
      <Table<CertRow> label="Certificates" list={list} id={(row) => row.id || row.file || row.subject} open={setOpen} order="ends" tone={(row) => (row.state === "expired" ? "expired" : undefined)}
        empty={<Empty icon="certificate" title={q.get("q") ? "No certificate matches." : "There is no certificate."}>{q.get("q") ? null : "Certificates for TLS, of clients and of upstreams appear here, those in files too."}</Empty>}
        columns={[
          { id: "subject", name: "For", sort: "subject", grow: true, show: (row) => <Text>{row.names.join(", ") || row.subject}</Text> },
          { id: "state", name: "State", show: (row) => <Badge tone={STATES[row.state][0]}>{STATES[row.state][1]}</Badge> },
          { id: "ends", name: "Ends", sort: "ends", number: true, show: (row) => <span class={row.state === "expired" ? "bad" : ""} title={format.full(row.ends)}>{row.days < 0 ? `${-row.days} d ago` : `in ${row.days} d`}</span> },
          { id: "issuer", name: "Issuer", show: (row) => <Text>{row.issuer}</Text> },
          { id: "used", name: "Used by", show: (row) => row.used_by.length ? row.used_by.map((one, at) => <span key={at}>{at > 0 && ", "}{one.what === "api" ? <a href={link(["apis", one.id])}><Text>{one.id}</Text></a> : <Text>{`${one.what} ${one.id}`.trim()}</Text>}</span>) : <small>nobody</small> },
          { id: "where", name: "Kept in", show: (row) => row.file ? <Text mono>{row.file}</Text> : "store" },
        ]} />
      {open && <One row={open} close={() => setOpen(null)} changed={list.reload} can={can} />}
      {adding && <Add close={() => setAdding(false)} changed={list.reload} />}
    </>
  );
}

function One({ row, close, changed, can }: { row: CertRow; close: () => void; changed: () => void; can: boolean }) {
  const [failure, setFailure] = useState<unknown>(null);
  const remove = async () => { try { await call("DELETE", `certs/${segment(row.id)}`); say("ok", "Certificate removed."); changed(); close(); } catch (failed) { setFailure(failed); } };
  return (
    <Dialog title={row.names[0] ?? row.subject} close={close} footer={can && !row.file ? <Button kind="danger" disabled={row.used_by.length > 0} title={row.used_by.length ? "It is in use" : undefined} onClick={() => void remove()}>Remove</Button> : undefined}>
      {failure ? <ErrorBox failure={failure} /> : null}
      <Facts><Fact name="State"><Badge tone={STATES[row.state][0]}>{STATES[row.state][1]}</Badge></Fact><Fact name="Valid">{format.full(row.starts)} to {format.full(row.ends)}</Fact><Fact name="Subject"><Text>{row.subject}</Text></Fact><Fact name="Names"><Text>{row.names.join(", ") || "none"}</Text></Fact><Fact name="Issuer"><Text>{row.issuer}</Text></Fact><Fact name="Private key">{row.has_private_key ? "kept with it" : "not kept here"}</Fact><Fact name="Id"><Text mono>{row.id}</Text></Fact></Facts>
    </Dialog>
  );
}

function Add({ close, changed }: { close: () => void; changed: () => void }) {
  const [pem, setPem] = useState("");
  const [failure, setFailure] = useState<unknown>(null);
  const add = async (event: Event) => { event.preventDefault(); try { await ask("POST", "certs?org_id=default", pem, { headers: { "Content-Type": "text/plain" } }); say("ok", "Certificate added."); changed(); close(); } catch (failed) { setFailure(failed); } };
  return (
    <Dialog title="Add a certificate" close={close} footer={<><Button onClick={close}>Cancel</Button><Button kind="primary" type="submit" {...{ form: "new-cert" }} disabled={!pem.includes("-----BEGIN")}>Add</Button></>}>
      <form id="new-cert" class="stack" onSubmit={add}>{failure ? <ErrorBox failure={failure} /> : null}<Field label="PEM" hint="The certificate, then its private key if the gateway is to use it for TLS. A key is never shown again."><textarea autofocus rows={12} spellcheck={false} value={pem} onInput={(event) => setPem(event.currentTarget.value)} placeholder="-----BEGIN CERTIFICATE-----" /></Field></form>
    </Dialog>
  );
}
