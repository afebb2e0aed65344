// Who has an account at the portal, and in which teams: invited, suspended, removed.

import { useState } from "preact/hooks";
import { call, get, segment } from "../call";
import * as format from "../format";
import { link, refine, route } from "../route";
import { may } from "../session";
import { Ago, Badge, Button, Empty, ErrorBox, Fact, Facts, Field, Note, Panel, Text, copy } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { type Invoice, Invoices } from "../ui/invoice";
import { Filter, Table, here } from "../ui/list";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";
import { matching } from "./portal_applications";

interface Developer { id: string; mail: string; name: string; is_suspended: boolean; teams: string[]; created_unix_s: number }
interface Team { id: string; name: string; members: { id: string; mail: string; role: "owner" | "member" }[] }

export function Developers() {
  const developers = useLoaded(() => get<Developer[]>("portal/developers"), [0]);
  const teams = useLoaded(() => get<Team[]>("portal/teams"), [0]);
  const q = route.value.query;
  const can = may("editor");
  const called = (id: string) => teams.value?.find((team) => team.id === id)?.name ?? "";
  const again = () => { developers.again(); teams.again(); };
  const rows = matching(developers.value ?? [], (one) => [one.mail, one.name, ...one.teams.map(called)]);
  const billed = teams.value?.find((team) => team.id === q.get("invoices"));
  const open = developers.value?.find((one) => one.id === q.get("open"));
  return (
    <>
      <div class="toolbar"><Filter label="Filter developers" placeholder="Address, name, team" />{can && <Button icon="plus" kind="primary" class="push" data-key="n" onClick={() => refine({ new: "1" })}>Invite somebody</Button>}</div>
      {!can && <p class="list-end">Your role can view developers, not change them.</p>}
      <Table<Developer> label="Developers" list={{ ...here(rows), done: !!developers.value, failure: developers.failure, reload: developers.again }} id={(one) => one.id} open={(one) => refine({ open: one.id })}
        empty={<Empty icon="client" title={q.get("q") ? "No developer matches." : "Nobody has an account yet."}>{q.get("q") ? null : "They sign up at the portal, or you invite them."}</Empty>}
        columns={[
          { id: "mail", name: "Mail address", grow: true, show: (one) => <a href={link(["portal", "developers"], { open: one.id })}><Text>{one.mail}</Text></a> },
          { id: "state", bare: true, name: "State", show: (one) => one.is_suspended ? <Badge tone="bad">suspended</Badge> : <Badge tone="ok">active</Badge> },
          { id: "since", name: "Since", show: (one) => <Ago at={one.created_unix_s} /> },
          { id: "name", name: "Name", show: (one) => <Text>{one.name}</Text> },
          { id: "teams", name: "Teams", show: (one) => <Text>{one.teams.map(called).filter(Boolean).join(", ")}</Text> },
        ]} />
      {teams.failure ? <ErrorBox failure={teams.failure} retry={teams.again} /> : null}
      {!!teams.value?.length && <Panel title="Teams" note="applications belong to them" class="after">
        <table class="plain"><thead><tr><th scope="col">Team</th><th scope="col">Owners</th><th scope="col">Members</th><th scope="col">Costs</th></tr></thead><tbody>{teams.value.map((team) => {
          const of = (role: string) => team.members.filter((one) => one.role === role).map((one) => one.mail).join(", ");
          return <tr key={team.id}><th scope="row"><a href={link(["portal", "applications"], { q: team.name })}><Text>{team.name}</Text></a></th><td><Text>{of("owner")}</Text></td><td><Text>{of("member")}</Text></td><td><a href={link(["portal", "developers"], { invoices: team.id })} aria-label={`Invoices of ${format.visible(team.name)}`}>Invoices</a></td></tr>;
        })}</tbody></table>
      </Panel>}
      {billed && <TeamInvoices key={billed.id} team={billed} close={() => refine({ invoices: undefined })} />}
      {open && <OneDeveloper key={open.id} developer={open} teams={open.teams.map(called).filter(Boolean)} close={() => refine({ open: undefined })} changed={again} can={can} />}
      {q.get("new") && can && <Invite close={() => { refine({ new: undefined }); again(); }} />}
    </>
  );
}

/** What a team called in a month, and what it costs. */
function TeamInvoices({ team, close }: { team: Team; close: () => void }) {
  const place = `portal/teams/${segment(team.id)}/invoices`;
  return (
    <Dialog title={`Invoices of ${format.visible(team.name)}`} close={close} wide footer={<Button onClick={close}>Close</Button>}>
      <Invoices months={() => get<string[]>(place)} invoice={(month) => get<Invoice>(`${place}/${month}`)} csv={(month) => `${place}/${month}?format=csv`} />
    </Dialog>
  );
}

function OneDeveloper({ developer, teams, close, changed, can }: { developer: Developer; teams: string[]; close: () => void; changed: () => void; can: boolean }) {
  const [failure, setFailure] = useState<unknown>(null);
  const [sure, setSure] = useState<"suspend" | "remove" | null>(null);
  const address = `portal/developers/${segment(developer.id)}`;
  const run = async (does: () => Promise<unknown>, done: string) => {
    setFailure(null);
    setSure(null);
    try { await does(); say("ok", done); changed(); close(); } catch (failed) { setFailure(failed); }
  };
  const suspend = (suspended: boolean) => run(() => call("PATCH", address, { suspended }), suspended ? "Suspended: signed out, and the keys they made are refused from the next request." : "They may sign in again, and their keys are served.");
  if (sure === "suspend") return <Dialog title="Suspend this developer?" close={() => setSure(null)} footer={<><Button onClick={() => setSure(null)}>Cancel</Button><Button kind="danger" onClick={() => void suspend(true)}>Suspend</Button></>}><p><Text>{developer.mail}</Text> is signed out, and the keys that they made are refused from the next request.</p></Dialog>;
  if (sure === "remove") return <Dialog title="Remove this developer?" close={() => setSure(null)} footer={<><Button onClick={() => setSure(null)}>Cancel</Button><Button kind="danger" onClick={() => void run(() => call("DELETE", address), "Removed, with the keys they made.")}>Remove</Button></>}><p>The account of <Text>{developer.mail}</Text> is gone, with the keys that they made and the applications of teams in which nobody else is. Nothing brings them back.</p></Dialog>;
  return (
    <Dialog title={format.visible(developer.name)} close={close} footer={<><Button onClick={close}>Close</Button>{can && <><Button kind="danger" onClick={() => setSure("remove")}>Remove</Button>{developer.is_suspended ? <Button kind="primary" onClick={() => void suspend(false)}>Let them go on</Button> : <Button kind="danger" onClick={() => setSure("suspend")}>Suspend</Button>}</>}</>}>
      {failure ? <ErrorBox failure={failure} /> : null}
      <Facts><Fact name="Mail address"><Text>{developer.mail}</Text></Fact><Fact name="State">{developer.is_suspended ? <Badge tone="bad">suspended</Badge> : <Badge tone="ok">active</Badge>}</Fact><Fact name="Teams"><Text>{teams.join(", ") || "none"}</Text></Fact><Fact name="Since"><Ago at={developer.created_unix_s} /></Fact>
        <Fact name="Applications"><a href={link(["portal", "applications"], { q: developer.mail })}>those with keys or requests of theirs</a></Fact></Facts>
    </Dialog>
  );
}

function Invite({ close }: { close: () => void }) {
  const [form, setForm] = useState({ mail: "", name: "" });
  const [made, setMade] = useState<{ link: string; is_mailed: boolean } | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const set = (name: string) => (event: any) => setForm({ ...form, [name]: event.currentTarget.value });
  const send = async (event: Event) => { event.preventDefault(); setFailure(null); try { setMade(await call("POST", "portal/invitations", form)); } catch (failed) { setFailure(failed); } };
  if (made) return <Dialog title="The invitation" close={close} footer={<Button kind="primary" onClick={close}>Done</Button>}><Note tone={made.is_mailed ? "ok" : "warn"} icon={made.is_mailed ? "ok" : "alert"}>{made.is_mailed ? "A mail with this link is on its way." : "No mail is sent: there is no SMTP server. Pass the link on yourself."} It works once, for seven days.</Note><div class="line"><code class="big-code">{made.link}</code><Button icon="copy" onClick={() => void copy(made.link, "Link copied")}>Copy</Button></div></Dialog>;
  return (
    <Dialog title="Invite somebody" close={close} footer={<><Button onClick={close}>Cancel</Button><Button kind="primary" type="submit" {...{ form: "invite" }} disabled={!form.mail || !form.name}>Invite</Button></>}>
      <form id="invite" class="form" onSubmit={send}>
        {failure ? <div class="field wide"><ErrorBox failure={failure} /></div> : null}
        <Field label="Mail address"><input autofocus type="email" value={form.mail} onInput={set("mail")} /></Field>
        <Field label="Name" hint="They may change it."><input value={form.name} onInput={set("name")} /></Field>
      </form>
    </Dialog>
  );
}
