// The clients of an MCP proxy that registers them: who users have signed in to, and removing one.

import { useState } from "preact/hooks";
import { call, get, segment } from "../call";
import * as format from "../format";
import { may } from "../session";
import { Ago, Badge, Button, Empty, ErrorBox, Panel, Text } from "../ui/bits";
import { Dialog } from "../ui/dialog";
import { useLoaded } from "../ui/loaded";
import { narrow } from "../ui/screen";
import { say } from "../ui/toast";

interface Client { client: string; name: string; url: string | null; redirect_uri: string; first_unix_s: number; last_unix_s: number; removed: boolean }

export function McpClients({ id }: { id: string }) {
  const loaded = useLoaded(() => get<{ clients: Client[] }>(`mcps/${segment(id)}/clients`), [id]);
  const [removing, setRemoving] = useState<Client | null>(null);
  const clients = loaded.value?.clients ?? [];
  const change = async (method: "PUT" | "DELETE", client: Client) => {
    try { await call(method, `mcps/${segment(id)}/clients/${client.client}`); loaded.again(); } catch (failure) { say("bad", (failure as Error).message); }
    setRemoving(null);
  };
  if (loaded.failure) return <ErrorBox failure={loaded.failure} retry={loaded.again} />;
  return (
    <Panel title="Clients" note="that users have signed in to">
      {clients.length === 0 ? <Empty icon="client" title={loaded.value ? "No user has signed in to a client yet." : "Loading"} /> : (
        <div class="scroll-x" tabIndex={0}><table class="plain">
          <thead><tr><th scope="col">Client</th>{!narrow.value && <><th scope="col">Sends users to</th><th scope="col">First</th></>}<th scope="col">Last</th><th scope="col"><span class="sr">Actions</span></th></tr></thead>
          <tbody>{clients.map((one) => (
            <tr key={one.client}>
              <th scope="row"><Text>{one.name || "without a name"}</Text> {one.removed && <Badge tone="bad">removed</Badge>}{one.url && <div><small><Text mono>{one.url}</Text></small></div>}</th>
              {!narrow.value && <><td><Text mono>{one.redirect_uri}</Text></td><td><Ago at={one.first_unix_s} /></td></>}<td><Ago at={one.last_unix_s} /></td>
              <td class="number">{may("editor") && (one.removed ? <Button kind="quiet" onClick={() => void change("PUT", one)}>Let in again</Button> : <Button kind="quiet" onClick={() => setRemoving(one)}>Remove</Button>)}</td>
            </tr>))}</tbody>
        </table></div>)}
      {removing && <Dialog title="Remove the client?" close={() => setRemoving(null)} footer={<><Button onClick={() => setRemoving(null)}>Cancel</Button><Button kind="danger" onClick={() => void change("DELETE", removing)}>Remove</Button></>}>
        <p><b><Text>{removing.name || format.visible(removing.client)}</Text></b> gets no codes and no tokens any more, from any gateway, and cannot renew those that it has. Access tokens that it already has are good until they end.</p>
      </Dialog>}
    </Panel>
  );
}
