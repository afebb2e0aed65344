// The text editor, on CodeMirror; loaded when a definition is opened. It stands in a shadow root, because the page's policy allows no
// style elements: there CodeMirror's styles are constructed style sheets. Undo belongs to the caller, who has one for form and text.

import { defaultKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface Placed { from: number; to: number; level: "error" | "warning" | "note" | "ignored"; message: string }
export interface Options { text: string; label: string; readOnly: boolean; change: (text: string) => void; undo: () => void; redo: () => void; save: () => void; colour: (name: string) => string }
export interface Editor { set(text: string): void; problems(found: Placed[]): void; reveal(at: number): void; theme(): void; focus(): void; end(): void }

export function open(host: HTMLElement, options: Options): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const look = new Compartment();
  const act = (does: () => void) => () => { does(); return true; };
  let setting = false;
  const view = new EditorView({
    root,
    parent: root as unknown as Element,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(), foldGutter({ openText: "-", closedText: "+" }), lintGutter(), highlightActiveLine(), highlightActiveLineGutter(), drawSelection(), bracketMatching(), highlightSelectionMatches(), search({ top: true }),
        json(), indentUnit.of("  "), EditorState.tabSize.of(2), EditorView.lineWrapping, EditorState.readOnly.of(options.readOnly),
        EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0" }),
        keymap.of([{ key: "Mod-s", run: act(options.save) }, { key: "Mod-z", run: act(options.undo) }, { key: "Mod-Shift-z", run: act(options.redo) }, { key: "Mod-y", run: act(options.redo) }, { key: "Escape", run: (at) => { at.contentDOM.blur(); return true; } }, ...searchKeymap, ...foldKeymap, indentWithTab, ...defaultKeymap]),
        EditorView.updateListener.of((update) => { if (update.docChanged && !setting) options.change(update.state.doc.toString()); }),
        look.of(appearance(options.colour)),
      ],
    }),
  });
  return {
    set(text) {
      const old = view.state.doc.toString();
      if (old === text) return;
      // Only what differs is replaced, so that the cursor and the scroll position stay.
      let head = 0, tail = 0;
      while (head < old.length && head < text.length && old[head] === text[head]) head += 1;
      while (tail < old.length - head && tail < text.length - head && old[old.length - 1 - tail] === text[text.length - 1 - tail]) tail += 1;
      setting = true;
      view.dispatch({ changes: { from: head, to: old.length - tail, insert: text.slice(head, text.length - tail) } });
      setting = false;
    },
    problems(found) {
      const end = view.state.doc.length;
      const shown: Diagnostic[] = found.map(({ from, to, level, message }) => ({ from: Math.min(from, end), to: Math.min(Math.max(to, from), end), severity: level === "ignored" || level === "note" ? "info" : level, message }));
      view.dispatch(setDiagnostics(view.state, shown));
    },
    reveal(at) {
      const to = Math.min(at, view.state.doc.length);
      view.dispatch({ selection: { anchor: to }, effects: EditorView.scrollIntoView(to, { y: "center" }) });
      view.focus();
    },
    theme() { view.dispatch({ effects: look.reconfigure(appearance(options.colour)) }); },
    focus() { view.focus(); },
    end() { view.destroy(); },
  };
}

function appearance(colour: (name: string) => string) {
  const style = HighlightStyle.define([
    { tag: tags.propertyName, color: colour("accent") }, { tag: tags.string, color: colour("ok") }, { tag: tags.number, color: colour("violet") },
    { tag: [tags.bool, tags.null], color: colour("warn") }, { tag: tags.punctuation, color: colour("muted") },
  ]);
  return [
    syntaxHighlighting(style),
    EditorView.theme({
      "&": { color: colour("text"), backgroundColor: colour("panel"), fontSize: "12px", maxHeight: "max(320px, calc(100vh - 400px))" },
      "&.cm-focused": { outline: `2px solid ${colour("accent")}`, outlineOffset: "-2px" },
      ".cm-scroller": { fontFamily: colour("mono"), lineHeight: "19px", overflow: "auto" },
      ".cm-content": { caretColor: colour("text"), padding: "8px 0" }, ".cm-cursor": { borderLeftColor: colour("text") },
      ".cm-gutters": { backgroundColor: colour("panel"), color: colour("muted"), border: "0" }, ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: colour("sunk") },
      "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: colour("accent-soft") },
      ".cm-selectionMatch, .cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: colour("accent-soft") },
      ".cm-panels, .cm-tooltip": { backgroundColor: colour("raised"), color: colour("text"), border: `1px solid ${colour("line")}` },
      ".cm-textfield, .cm-button": { backgroundColor: colour("panel"), backgroundImage: "none", color: colour("text"), border: `1px solid ${colour("edge")}`, borderRadius: "4px" },
      ".cm-lintRange-error": { backgroundImage: "none", borderBottom: `2px dotted ${colour("bad")}` }, ".cm-lintRange-warning": { backgroundImage: "none", borderBottom: `2px dotted ${colour("warn")}` }, ".cm-lintRange-info": { backgroundImage: "none", borderBottom: `1px dotted ${colour("muted")}` },
      ".cm-diagnostic-error": { borderLeftColor: colour("bad") }, ".cm-diagnostic-warning": { borderLeftColor: colour("warn") },
      ".cm-foldPlaceholder": { backgroundColor: colour("sunk"), color: colour("muted"), borderColor: colour("line") },
    }),
  ];
}
