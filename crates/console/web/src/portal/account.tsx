// One's own account.

import { call } from "../call";
import { Button, Fact, Facts, Field, Panel } from "../ui/bits";
import { say } from "../ui/toast";
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
    </>
  );
}
