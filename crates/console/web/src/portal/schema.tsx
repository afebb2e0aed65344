// A JSON schema for people. It is hostile input: references lead only to places in its document, and everything has a bound. What is deep is made when
// somebody opens it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Badge } from "../ui/bits";
import { Markdown } from "./markdown";
import { type Json, VALUES_MAX, list, members, resolved, text } from "./reference";
import { type Choice, hasInside, kind, limits, ofOthers, shapeOf } from "./shape";

/** How deep a schema is shown at once. */
const DEPTH_MAX = 4;
/** Members that are shown at once, with all that is in them: references multiply. */
const SHOWN_MAX = 1000;
/** Characters of what is said of one of them. */
const WORDS_MAX = 2000;

interface Place { document: Json; schema: Json; depth?: number; budget?: { left: number }; /** Schemas in which this one is: one that is in itself is folded. */ above?: Json[] }

export function Schema({ document, schema, budget = { left: SHOWN_MAX } }: Place) {
  return (
    <div class="stack schema-of">
      <p><code>{kind(document, schema)}</code> <Marks document={document} schema={schema} /></p>
      <Words>{shapeOf(document, schema).words.description}</Words>
      <Inside document={document} schema={schema} budget={budget} />
    </div>
  );
}

/** Members, entries and alternatives of a schema. */
function Inside({ document, schema, depth = 0, budget = { left: SHOWN_MAX }, above = [] }: Place): ComponentChildren {
  if (!schema || typeof schema !== "object" || !hasInside(document, schema)) return null;
  const at = resolved(document, schema);
  if (depth > DEPTH_MAX || budget.left <= 0 || above.includes(at)) return <Folded title="More of it">{() => <Inside document={document} schema={schema} />}</Folded>;
  const shape = shapeOf(document, schema), place = { document, depth, budget, above: [...above, at] };
  if (shape.isList) {
    const first = list(shape.words.prefixItems).slice(0, VALUES_MAX);
    budget.left -= first.length + 1;
    return <>{first.length > 0 && <ul class="schema-members">{first.map((one, index) => <Member key={index} name={String(index)} place={{ ...place, schema: one }} />)}</ul>}<Inside {...place} schema={shape.words.items} depth={depth + 1} /></>;
  }
  const others = ofOthers(shape), patterns = members(shape.words.patternProperties);
  budget.left -= shape.properties.length + patterns.length + 1;
  return (
    <>
      {shape.properties.length + patterns.length > 0 && <ul class="schema-members">
        {shape.properties.map(([name, member]) => <Member key={name} name={name} isRequired={shape.required.has(name)} place={{ ...place, schema: member }} />)}
        {patterns.map(([pattern, member]) => <Member key={`/${pattern}`} name={`/${pattern}/`} place={{ ...place, schema: member }} />)}
      </ul>}
      {others && (shape.properties.length > 0 || hasInside(document, others)) && <ul class="schema-members"><Member name="any name" place={{ ...place, schema: others }} /></ul>}
      {shape.choices.map((choice, index) => <Alternatives key={index} document={document} choice={choice} budget={budget} />)}
    </>
  );
}

function Member({ name, isRequired, place }: { name: string; isRequired?: boolean; place: Place }) {
  const { document, schema, depth = 0 } = place;
  return (
    <li>
      <code>{name}</code>{isRequired && " *"} <small>{kind(document, schema)}</small> <Marks document={document} schema={schema} />
      <Words>{shapeOf(document, schema).words.description}</Words>
      <Inside {...place} depth={depth + 1} />
    </li>
  );
}

function Alternatives({ document, choice, budget }: { document: Json; choice: Choice; budget: { left: number } }) {
  budget.left -= choice.options.length;
  return (
    <div class="schema-members">
      <p>{choice.how}{choice.member && <>, as <code>{choice.member}</code> says</>}:</p>
      {choice.options.map((option, index) => {
        const title = <><code>{kind(document, option)}</code>{choice.values[index] && <small> if it is {choice.values[index]}</small>}</>;
        return hasInside(document, option) || text(shapeOf(document, option).words.description) ? <Folded key={index} title={title}>{() => <Schema document={document} schema={option} />}</Folded> : <p key={index}>{title} <Marks document={document} schema={option} /></p>;
      })}
    </div>
  );
}

function Marks({ document, schema }: Place) {
  const { words } = shapeOf(document, schema);
  return (
    <>
      {words.readOnly === true && <Badge tone="muted">read only</Badge>}
      {words.writeOnly === true && <Badge tone="muted">write only</Badge>}
      {words.deprecated === true && <Badge tone="warn">deprecated</Badge>}
      {limits(document, schema).map((one, index) => <span key={index}> <small class="limit">{one}</small></span>)}
    </>
  );
}

/** What a document says of something: Markdown, if it is short. */
export function Words({ children, most = WORDS_MAX }: { children: Json; most?: number }) {
  const words = text(children);
  if (!words) return null;
  if (words.length > most) return <p class="as-written">{words.slice(0, most)}…</p>;
  return <Markdown text={words} />;
}

/** What is made only when somebody opens it; it goes when it is closed, unless somebody types into it. `isWanted`: a link has led to it. */
export function Folded({ title, isKept, isWanted = false, children }: { title: ComponentChildren; isKept?: boolean; isWanted?: boolean; children: () => ComponentChildren }) {
  const element = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [wasOpen, note] = useState(false);
  useEffect(() => {
    if (!isWanted || !element.current) return;
    element.current.open = true;
    element.current.scrollIntoView({ block: "start" });
    element.current.querySelector("summary")?.focus({ preventScroll: true });
  }, [isWanted]);
  return <details ref={element} onToggle={(event) => { setOpen(event.currentTarget.open); note(true); }}><summary>{title}</summary>{(isOpen || (isKept && wasOpen)) && children()}</details>;
}
