// The text editor as a part of a page; its code is fetched when it is first needed.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Editor, Placed } from "../editor/editor";
import { ErrorBox } from "./bits";
import { token } from "./plot";
import { dark } from "./screen";

// A name at run time: the file is a bundle of its own.
const FILE = "./editor.js";
let loaded: Promise<typeof import("../editor/editor")> | null = null;

interface Props { text: string; label: string; readOnly?: boolean; problems: Placed[]; change: (text: string) => void; undo: () => void; redo: () => void; save: () => void; reveal?: { at: number; turn: number } }

export function Code(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const current = useRef(props);
  current.current = props;
  const [failure, setFailure] = useState<unknown>(null);
  const [ready, setReady] = useState(false);
  useEffect(() => {
    let gone = false;
    loaded ??= import(FILE);
    loaded.then((code) => {
      if (gone || !host.current) return;
      editor.current = code.open(host.current, {
        text: current.current.text, label: props.label, readOnly: props.readOnly ?? false, colour: token,
        change: (text) => current.current.change(text), undo: () => current.current.undo(), redo: () => current.current.redo(), save: () => current.current.save(),
      });
      editor.current.problems(current.current.problems);
      setReady(true);
    }).catch((error) => { loaded = null; setFailure(error); });
    return () => { gone = true; editor.current?.end(); editor.current = null; };
  }, []);
  useEffect(() => { editor.current?.set(props.text); }, [props.text, ready]);
  useEffect(() => { editor.current?.problems(props.problems); }, [props.problems, ready]);
  useEffect(() => { editor.current?.theme(); }, [dark.value, ready]);
  useEffect(() => { if (props.reveal) editor.current?.reveal(props.reveal.at); }, [props.reveal, ready]);
  if (failure) return <><ErrorBox failure="The editor could not be loaded. The text can be changed here without it." /><textarea aria-label={props.label} rows={24} value={props.text} readOnly={props.readOnly} onInput={(event) => props.change(event.currentTarget.value)} /></>;
  return <div class="code" ref={host} />;
}
