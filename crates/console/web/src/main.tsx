// The start: who is signed in decides what is shown.

import { render } from "preact";
import { useEffect } from "preact/hooks";
import { ended } from "./call";
import * as live from "./live";
import { SignIn } from "./pages/signin";
import { door, load, session, silent } from "./session";
import { Shell } from "./shell";
import { Toasts } from "./ui/toast";
import "./ui/screen";

function App() {
  useEffect(() => { void load(); }, []);
  const inside = session.value && !ended.value;
  useEffect(() => {
    if (!inside) { live.stop(); if (ended.value) void load(); return; }
    void live.start();
  }, [inside]);
  if (inside) return <><Shell /><Toasts /></>;
  if (door.value || silent.value || ended.value) return <SignIn />;
  return null;
}

const root = document.getElementById("app");
if (root) render(<App />, root);
