// What one's teams pay: by month, and for an application in this month.

import { get, segment } from "../call";
import { ErrorBox, Panel } from "../ui/bits";
import { type Invoice, InvoiceLines, Invoices, thisMonth } from "../ui/invoice";
import { useLoaded } from "../ui/loaded";
import { developer, type Application, type Team } from "./state";

const place = (team: string): string => `teams/${segment(team)}/invoices`;

export function InvoicesPage() {
  const found = useLoaded(() => get<{ teams: Team[] }>("teams"), [developer.value?.id]);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  return (
    <>
      <h1 class="page">Invoices</h1>
      {found.value?.teams.map((team) => (
        <Panel key={team.id} title={team.name}>
          <Invoices months={async () => (await get<{ months: string[] }>(place(team.id))).months} invoice={(month) => get<Invoice>(`${place(team.id)}/${month}`)} csv={(month) => `${place(team.id)}/${month}/csv`} />
        </Panel>
      ))}
    </>
  );
}

/** What an application costs in this month; nothing without a plan that has a price. */
export function Costs({ application }: { application: Application }) {
  const found = useLoaded(() => get<Invoice>(`${place(application.team)}/${thisMonth()}`), [application.id]);
  if (found.failure) return <ErrorBox failure={found.failure} retry={found.again} />;
  const lines = found.value?.lines.filter((line) => line.application_id === application.id) ?? [];
  if (!found.value || lines.length === 0) return null;
  return <Panel title="Costs" note="this month until now"><InvoiceLines invoice={{ ...found.value, lines, sums: {} }} /></Panel>;
}
