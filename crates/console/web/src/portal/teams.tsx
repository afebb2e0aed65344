// Teams: who is in them, and invitations.

import { useState } from "preact/hooks";
import { call, get } from "../call";
import { Badge, Button, ErrorBox, Field, Panel } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { useLoaded } from "../ui/loaded";
import { say } from "../ui/toast";
import { developer, load, type Team } from "./state";

export function Teams() {
  const found = useLoaded(() => get<{ teams: Team[] }>("teams"), [developer.value?.id]);
  const [asked, setAsked] = useState<Team | "new" | null>(null);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  const run = async (work: () => Promise<unknown>) => {
    try { await work(); found.again(); await load(); } catch (failure) { say("bad", (failure as Error).message); }
  };
  return (
    <>
      <div class="page-head"><h1>Teams</h1><Button icon="plus" onClick={() => setAsked("new")}>New team</Button></div>
      {found.value?.teams.map((team) => (
        <Panel key={team.id} title={team.name} actions={team.role === "owner" && <Button icon="plus" onClick={() => setAsked(team)}>Invite</Button>}>
          <ul class="body rows">{team.members.map((member) => (
            <li key={member.id}>
              <div><strong><bdi>{member.name}</bdi></strong><small>{member.mail}</small></div>
              <Badge tone="muted">{member.role}</Badge>
              {(team.role === "owner" || member.id === developer.value?.id) && team.members.length > 1 && <Button kind="quiet" icon="trash" aria-label={`Remove ${member.name} from ${team.name}`} onClick={() => { if (confirm(`Remove ${member.name} from ${team.name}?`)) void run(() => call("DELETE", `teams/${team.id}/members/${member.id}`)); }} />}
            </li>
          ))}</ul>
        </Panel>
      ))}
      {asked && <Form team={asked} close={() => setAsked(null)} run={run} />}
    </>
  );
}

function Form({ team, close, run }: { team: Team | "new"; close: () => void; run: (work: () => Promise<unknown>) => Promise<void> }) {
  const send = (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? "");
    void run(async () => {
      if (team === "new") await call("POST", "teams", { name: text("name") });
      else { await call("POST", `teams/${team.id}/invitations`, { mail: text("mail"), role: text("role") }); say("ok", "The invitation is on its way."); }
      close();
    });
  };
  return (
    <Dialog title={team === "new" ? "New team" : `Invite to ${team.name}`} close={close}>
      <form class="stack" onSubmit={send}>
        {team === "new" ? <Field label="Name"><input name="name" maxLength={100} required autofocus /></Field> : (
          <>
            <Field label="Mail address"><input name="mail" type="email" required autofocus /></Field>
            <Field label="Role"><select name="role"><option value="member">member</option><option value="owner">owner</option></select></Field>
          </>
        )}
        <p class="row end"><Button type="submit" kind="primary">{team === "new" ? "Create" : "Invite"}</Button></p>
      </form>
    </Dialog>
  );
}
