// A key that was just made: shown once, with a first call.

import { useState } from "preact/hooks";
import { Button, Copy, Note } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { base, type Api } from "./state";

export function NewKey({ made, api, close }: { made: string; api: Api | undefined; close: () => void }) {
  return (
    <Dialog title="Your key" close={close} footer={<Button onClick={close}>Done</Button>}>
      <Note tone="warn" icon="alert">Keep the key now: it is shown only once.</Note>
      <pre class="line"><code data-key>{made}</code><Copy text={made} label="Copy the key" /></pre>
      {api && <FirstCall api={api} made={made} />}
    </Dialog>
  );
}

function FirstCall({ api, made }: { api: Api; made: string }) {
  const [answer, setAnswer] = useState<string | null>(null);
  const url = base(api);
  const command = `curl -H '${api.key_header || "Authorization"}: ${made}' '${url}'`;
  const send = async () => {
    try {
      const response = await fetch(url, { headers: { [api.key_header || "Authorization"]: made }, credentials: "omit", referrerPolicy: "no-referrer" });
      setAnswer(`The gateway answered with status ${response.status}.`);
    } catch {
      setAnswer("The browser could not reach the gateway.");
    }
  };
  return (
    <>
      <p>A first call of {api.name}:</p>
      <pre class="line"><code>{command}</code><Copy text={command} label="Copy the command" /></pre>
      <p class="row"><Button icon="play" kind="primary" onClick={() => void send()}>Call it now</Button><span role="status">{answer}</span></p>
    </>
  );
}
