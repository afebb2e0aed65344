// A key that was just made, or a client in its place: shown once, with a first call.

import { useState } from "preact/hooks";
import { Button, Copy, Note } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { base, facts, ownKeys, type Api } from "./state";

/** A key, or the id of a client with its secret. */
export interface Made { key: string; secret: string | null; id: string }

/** Keeps a key for the forms that call an API, until the portal is left. */
export function remember(made: Made, product: string, application: string): Made {
  if (!made.secret) ownKeys.value = [...ownKeys.value, { id: made.id, key: made.key, tail: made.key.slice(-4), product, application }];
  return made;
}

export function forget(id: string): void { ownKeys.value = ownKeys.value.filter((one) => one.id !== id); }

export function NewKey({ made: { key: made, secret }, api, close }: { made: Made; api: Api | undefined; close: () => void }) {
  if (secret) return <NewClient id={made} secret={secret} api={api} close={close} />;
  return (
    <Dialog title="Your key" close={close} footer={<Button onClick={close}>Done</Button>}>
      <Note tone="warn" icon="alert">Keep the key now: it is shown only once.</Note>
      <pre class="line"><code data-key>{made}</code><Copy text={made} label="Copy the key" /></pre>
      {api && <FirstCall api={api} made={made} />}
    </Dialog>
  );
}

function NewClient({ id, secret, api, close }: { id: string; secret: string; api: Api | undefined; close: () => void }) {
  const command = api && `curl -u '${id}:${secret}' -d grant_type=client_credentials '${new URL(api.token_path, base(api)).href}'`;
  return (
    <Dialog title="Your client" close={close} footer={<Button onClick={close}>Done</Button>}>
      <Note tone="warn" icon="alert">Keep the secret now: it is shown only once.</Note>
      <p>Client id</p>
      <pre class="line"><code data-key>{id}</code><Copy text={id} label="Copy the client id" /></pre>
      <p>Secret</p>
      <pre class="line"><code data-secret>{secret}</code><Copy text={secret} label="Copy the secret" /></pre>
      {command && <><p>A token, for the header <code>Authorization: Bearer</code>:</p><pre class="line"><code>{command}</code><Copy text={command} label="Copy the command" /></pre></>}
    </Dialog>
  );
}

function FirstCall({ api, made }: { api: Api; made: string }) {
  const [answer, setAnswer] = useState<string | null>(null);
  const url = base(api);
  const command = `curl ${api.key_header && `-H '${api.key_header}: ${made}' `}'${url}'`;
  const send = async () => {
    try {
      const response = await fetch(url, { headers: api.key_header ? { [api.key_header]: made } : {}, credentials: "omit", referrerPolicy: "no-referrer" });
      setAnswer(`The gateway answered with status ${response.status}.`);
    } catch {
      setAnswer("The browser could not reach the gateway. Try the line above in a terminal.");
    }
  };
  return (
    <>
      <p>A first call of {api.name}:</p>
      <pre class="line"><code>{command}</code><Copy text={command} label="Copy the command" /></pre>
      {facts.value?.try_it && <p class="row"><Button icon="play" kind="primary" onClick={() => void send()}>Call it now</Button><span role="status">{answer}</span></p>}
    </>
  );
}
