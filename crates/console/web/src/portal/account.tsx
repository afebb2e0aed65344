// One's own account.

import { useState } from "preact/hooks";
import { call } from "../call";
import { Button, ErrorBox, Fact, Facts, Field, Panel } from "../ui/bits";
import { say } from "../ui/toast";
import { NewPassword } from "./doors";
import { developer, enter, signOut } from "./state";

export function Account() {
  const who = developer.value;
  if (!who) return null;
  const send = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    try { enter(await call("PUT", "account", { name: String(form.get("name") ?? "") })); say("ok", "Saved."); } catch (failure) { say("bad", (failure as Error).message); }
  };
  return (
    <>
      <h1 class="page">Account</h1>
      <Panel><div class="body stack">
        <Facts><Fact name="Mail address">{who.mail}</Fact></Facts>
        <form class="stack" onSubmit={send}><Field label="Name"><input name="name" value={who.name} maxLength={100} required /></Field><p class="row"><Button type="submit" kind="primary">Save</Button><Button icon="out" onClick={() => void signOut()}>Sign out</Button></p></form>
      </div></Panel>
      {who.has_password && <PasswordChange mail={who.mail} />}
    </>
  );
}

/** Another password, for whoever has the old one. */
function PasswordChange({ mail }: { mail: string }) {
  const [refused, setRefused] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const send = async (event: Event) => {
    event.preventDefault();
    const element = event.currentTarget as HTMLFormElement, form = new FormData(element);
    setBusy(true);
    setRefused(null);
    try {
      enter(await call("POST", "account/password", { old: String(form.get("old") ?? ""), new: String(form.get("password") ?? "") }));
      element.reset();
      say("ok", "The password is changed. Your other sessions have ended.");
    } catch (failure) { setRefused(failure); } finally { setBusy(false); }
  };
  return (
    <Panel title="Password"><form class="body stack" onSubmit={(event) => void send(event)}>
      {refused !== null && <ErrorBox failure={refused} />}
      <input type="text" autocomplete="username" value={mail} readOnly hidden />
      <Field label="Old password"><input name="old" type="password" autocomplete="current-password" required /></Field>
      <NewPassword label="New password" />
      <p class="row"><Button type="submit" kind="primary" disabled={busy}>Change the password</Button></p>
    </form></Panel>
  );
}
