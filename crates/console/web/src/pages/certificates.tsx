// Certificates, also those in files, soonest end first, and who uses them. Expired is red.

import { useState } from "preact/hooks";
import { ask, call, get, segment } from "../call";
import * as format from "../format";
import { link, route } from "../route";
import { may } from "../session";
import { Badge, Button, Empty, ErrorBox, Fact, Facts, Field, Panel, Text, type Tone } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { Filter, Table, useList } from "../ui/list";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";

interface CertRow {
  id: string; issuer_cn: string; subject_cn: string; dns_names: string[] | null; has_private: boolean; not_before: string; not_after: string; is_ca: boolean;
  used_by?: { what: string; id: string }[]; file?: string | null;
}
/** Days before its end from which a certificate is pointed out. */
const SOON_DAYS = 30;
const DAY_S = 86400;

/** The state in a word, by the end in seconds since 1970. */
function state(ends: number, starts = 0): [Tone, string] {
  const now = Date.now() / 1000;
  if (!Number.isFinite(ends)) return ["muted", "no end"];
  if (ends <= now) return ["bad", "expired"];
  if (starts > now) return ["warn", "not yet valid"];
  return ends < now + SOON_DAYS * DAY_S ? ["warn", "ends soon"] : ["ok", "valid"];
}
const seconds = (date: string): number => Date.parse(date) / 1000;
const of = (row: CertRow) => state(seconds(row.not_after), seconds(row.not_before));

export function Certificates() {
  const q = route.value.query;
  const list = useList<CertRow>("certs", { q: q.get("q") ?? undefined, sort: q.get("sort") ?? "not_after" });
  const [open, setOpen] = useState<CertRow | null>(null);
  const [adding, setAdding] = useState(false);
  const can = may("editor");
  return (
    <>
      <div class="page-head"><h1>Certificates{list.total != null && <small>{format.count(list.total)}</small>}</h1><Filter label="Filter certificates" placeholder="Name, subject, issuer" />{can && <Button icon="plus" kind="primary" data-key="n" onClick={() => setAdding(true)}>Add certificate</Button>}</div>
      {!can && <p class="list-end">Your role can view certificates, not change them.</p>}
      <Table<CertRow> label="Certificates" list={list} id={(row) => row.id} open={setOpen} order="not_after" tone={(row) => (of(row)[1] === "expired" ? "expired" : undefined)}
        empty={<Empty icon="certificate" title={q.get("q") ? "No certificate matches." : "No certificate was uploaded."}>{q.get("q") ? null : "Upload certificates for TLS, of clients and for upstreams. Those in files are below while they are in use."}</Empty>}
        columns={[
          { id: "subject", name: "For", sort: "subject_cn", grow: true, show: (row) => <a href="#" onClick={(event) => { event.preventDefault(); setOpen(row); }}><Text>{row.dns_names?.join(", ") || row.subject_cn}</Text></a> },
          { id: "state", bare: true, name: "State", show: (row) => <Badge tone={of(row)[0]}>{of(row)[1]}</Badge> },
          { id: "ends", name: "Ends", sort: "not_after", number: true, show: (row) => <span class={of(row)[1] === "expired" ? "bad" : ""} title={format.full(seconds(row.not_after))}>{format.ago(seconds(row.not_after))}</span> },
          { id: "issuer", name: "Issuer", show: (row) => <Text>{row.issuer_cn || "unknown"}</Text> },
          { id: "kind", name: "Holds", show: (row) => row.has_private ? "certificate and key" : "certificate" },
          { id: "used", name: "Used by", show: (row) => <Users row={row} /> },
        ]} />
      <Issued />
      <InService />
      {open && <One row={open} close={() => setOpen(null)} changed={list.reload} can={can} />}
      {adding && <Add close={() => setAdding(false)} changed={list.reload} />}
    </>
  );
}

function Users({ row }: { row: CertRow }) {
  if (!row.used_by) return <small>{format.UNKNOWN}</small>;
  if (!row.used_by.length) return <small title="Keys may name it">no API</small>;
  return <>{row.used_by.map((one, at) => <span key={at}>{at > 0 && ", "}{one.what === "api" ? <a href={link(["apis", one.id])}><Text>{one.id}</Text></a> : <Text>the configuration</Text>}</span>)}</>;
}

interface IssuedRow { name: string; state: "wanted" | "served" | "failing" | "ended"; issuer: string; ends: number; renewal: number; failures: number; error: string; again: number; on_demand: boolean }
const STATES: Record<IssuedRow["state"], Tone> = { wanted: "warn", served: "ok", failing: "warn", ended: "bad" };

/** Certificates that the gateways get by themselves. */
function Issued() {
  const now = useLoaded(() => get("acme", { byItself: true }), [0]);
  const rows: IssuedRow[] = now.value?.certificates ?? [];
  const renew = async (row: IssuedRow) => {
    try { await call("POST", `acme/${segment(row.name)}/renew`); say("ok", "It is renewed within seconds."); } catch (failed) { say("bad", failed instanceof Error ? failed.message : "It was not renewed."); }
    now.again();
  };
  if (!rows.length) return null;
  return (
    <Panel title="From an issuer" note="certificates that the gateways get and renew by themselves">
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Certificates from an issuer"><table class="plain"><thead><tr><th scope="col">For</th><th scope="col">State</th><th scope="col">Issuer</th><th scope="col" class="number">Ends</th><th scope="col" class="number">Renewal</th>{may("admin") && <th scope="col"><span class="sr">Actions</span></th>}</tr></thead>
        <tbody>{rows.map((row) => <tr key={row.name}>
          <th scope="row" class="roomy"><Text>{row.name.split(",").join(", ")}</Text>{row.on_demand && <small> on demand</small>}{row.error && <><br /><small><Text>{row.error}</Text>{row.again > 0 && <>; tried again {format.ago(row.again)}</>}</small></>}</th>
          <td><Badge tone={STATES[row.state]}>{row.state}</Badge></td><td><Text>{row.issuer ? row.issuer.split("/")[2] ?? row.issuer : ""}</Text></td>
          <td class="number" title={row.ends ? format.full(row.ends) : ""}>{row.ends ? format.ago(row.ends) : ""}</td><td class="number" title={row.renewal ? format.full(row.renewal) : ""}>{row.renewal ? format.ago(row.renewal) : ""}</td>
          {may("admin") && <td><Button onClick={() => void renew(row)} aria-label={`Renew ${row.name}`}>Renew</Button></td>}</tr>)}</tbody></table></div>
    </Panel>
  );
}

/** Certificates that this gateway has loaded, from files too. */
function InService() {
  const now = useLoaded(() => get("live?apis=0", { byItself: true }), [0]);
  const rows: { source: string; subject: string; not_after_unix_s: number }[] = now.value?.certificates ?? [];
  if (!rows.length) return null;
  return (
    <Panel class="after" title="In service" note="what this gateway has loaded, from files too">
      <table class="plain"><thead><tr><th scope="col">Source</th><th scope="col">For</th><th scope="col">State</th><th scope="col" class="number">Ends</th></tr></thead>
        <tbody>{rows.map((row, at) => { const [tone, word] = state(row.not_after_unix_s); return <tr key={at}><th scope="row"><Text mono>{row.source}</Text></th><td><Text>{row.subject}</Text></td><td><Badge tone={tone}>{word}</Badge></td><td class={`number ${word === "expired" ? "bad" : ""}`} title={format.full(row.not_after_unix_s)}>{format.ago(row.not_after_unix_s)}</td></tr>; })}</tbody></table>
    </Panel>
  );
}

function One({ row, close, changed, can }: { row: CertRow; close: () => void; changed: () => void; can: boolean }) {
  const [failure, setFailure] = useState<unknown>(null);
  const [sure, setSure] = useState(false);
  const used = row.used_by?.length ?? 0;
  const remove = async () => { try { await call("DELETE", `certs/${segment(row.id)}`); say("ok", "Certificate removed."); changed(); close(); } catch (failed) { setSure(false); setFailure(failed); } };
  if (sure) return <Dialog title="Remove this certificate?" close={() => setSure(false)} footer={<><Button onClick={() => setSure(false)}>Keep it</Button><Button kind="danger" onClick={() => void remove()}>Remove</Button></>}><p><b><Text>{row.dns_names?.[0] ?? row.subject_cn}</Text></b> is removed, with its private key. {used ? `${used} ${used === 1 ? "use" : "uses"} of it fail from then on.` : "APIs that name its id can use it no longer."}</p></Dialog>;
  return (
    <Dialog title={format.visible(row.dns_names?.[0] ?? row.subject_cn)} close={close} footer={can && !row.file ? <Button kind="danger" onClick={() => setSure(true)}>Remove</Button> : undefined}>
      {failure ? <ErrorBox failure={failure} /> : null}
      <Facts><Fact name="State"><Badge tone={of(row)[0]}>{of(row)[1]}</Badge></Fact><Fact name="Valid">{format.full(seconds(row.not_before))} to {format.full(seconds(row.not_after))}</Fact><Fact name="Subject"><Text>{row.subject_cn}</Text></Fact><Fact name="Names"><Text>{row.dns_names?.join(", ") || "none"}</Text></Fact><Fact name="Issuer"><Text>{row.issuer_cn || "unknown"}</Text></Fact><Fact name="May sign others">{row.is_ca ? "yes" : "no"}</Fact><Fact name="Private key">{row.has_private ? "kept with it" : "not kept here"}</Fact><Fact name="Used by"><Users row={row} /></Fact><Fact name="Id"><Text mono>{row.id}</Text></Fact></Facts>
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
