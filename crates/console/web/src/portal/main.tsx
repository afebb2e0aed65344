// The start of the developer portal.

import { render } from "preact";
import { useEffect } from "preact/hooks";
import { ended, own } from "../call";
import { Toasts } from "../ui/toast";
import "../ui/screen";
import { Frame } from "./frame";
import { load } from "./state";

own.header = "X-Tollgate-Portal";

function App() {
  useEffect(() => { void load(); }, [ended.value]);
  return <><Frame /><Toasts /></>;
}

const root = document.getElementById("app");
if (root) render(<App />, root);
