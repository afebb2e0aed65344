// The sign-in: at a provider, by a name with a password, or with the control secret, and which file holds it.

import { useEffect, useState } from "preact/hooks";
import { Failure, ended } from "../call";
import { visible } from "../format";
import { door, load, signIn, silent } from "../session";
import { Button, Copy, LinkButton, Note } from "../ui/bits";
import { Logo } from "../ui/icons";

export function SignIn() {
  const at = door.value;
  const [bySecret, setBySecret] = useState<boolean | null>(null);
  const [user, setUser] = useState("");
  const [word, setWord] = useState("");
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const [wait, setWait] = useState(0);
  useEffect(() => {
    if (wait <= 0) return;
    const timer = setTimeout(() => setWait(wait - 1), 1000);
    return () => clearTimeout(timer);
  }, [wait]);
  const secret = bySecret ?? !at?.users;
  const send = async (event: Event) => {
    event.preventDefault();
    if (wait > 0 || busy) return;
    // What the form holds, not what was last drawn: password managers fill and send at once.
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const secretNow = String(form.get("password") ?? ""), userNow = String(form.get("user") ?? "");
    setBusy(true);
    setRefused(null);
    try {
      await signIn(secret ? { secret: secretNow } : { user: userNow, password: secretNow });
    } catch (failure) {
      setWord("");
      if (failure instanceof Failure && failure.status === 429) setWait(Math.max(1, Math.ceil(failure.body.wait_s ?? 1)));
      const left = failure instanceof Failure ? failure.body.tries_left : undefined;
      setRefused((failure as Error).message.replace(/[.]?$/, ".") + (typeof left === "number" && left <= 3 ? ` ${left} ${left === 1 ? "try" : "tries"} left before a wait.` : ""));
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <form class="panel" onSubmit={send}>
        <h1><Logo />Tollgate</h1>
        {silent.value && <Note tone="bad" icon="alert" actions={<Button onClick={() => void load()}>Retry</Button>}>{silent.value}</Note>}
        {ended.value && !refused && <Note>Your session has ended. Sign in to go on where you were.</Note>}
        {at?.insecure ? (
          <>
            <Note tone="warn" icon="alert">This connection is not encrypted, so the secret could be read on its way. Open a tunnel, then the console on your own machine:</Note>
            <pre class="line"><code>{at.ssh}</code>{at.ssh && <Copy text={at.ssh} label="Copy the command" />}</pre>
          </>
        ) : (
          <>
            {at?.providers?.map(([title, href]) => <LinkButton key={href} href={href}>Sign in with {visible(title)}</LinkButton>)}
            {!!at?.providers?.length && <p class="or">or</p>}
            {!secret && <label class="field"><span>Name</span><input name="user" autocomplete="username" autofocus required value={user} onInput={(event) => setUser(event.currentTarget.value)} /></label>}
            <label class="field"><span>{secret ? "Control secret" : "Password"}</span>
              <input name="password" type="password" autocomplete="current-password" autofocus={secret} required value={word} onInput={(event) => setWord(event.currentTarget.value)} />
              {secret && <em>{at?.secret_file ? <>It is in <code>{at.secret_file}</code> on the gateway's machine.</> : <>It is the <code>secret</code> of the gateway's configuration, or <code>TYK_GW_SECRET</code>.</>}</em>}
            </label>
            {refused && <p class="refused bad" role="alert">{refused}</p>}
            <Button kind="primary" type="submit" disabled={busy || wait > 0}>{wait > 0 ? `Wait ${wait} s` : busy ? "Signing in" : "Sign in"}</Button>
            {at?.users && <button type="button" class="as-link" onClick={() => { setBySecret(!secret); setWord(""); setRefused(null); }}>{secret ? "Sign in with a name" : "Sign in with the control secret"}</button>}
          </>
        )}
      </form>
      <p class="version">{at?.version ? `Version ${at.version}` : ""}</p>
    </main>
  );
}
