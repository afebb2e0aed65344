// Forms for people who are not signed in: sign in, sign up, choose a password.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Failure, call } from "../call";
import { go, route } from "../route";
import { Button, Field, LinkButton, Note } from "../ui/bits";
import { developer, enter, facts } from "./state";

/** A form in the middle of the page; `send` gets what its fields hold. */
function Door({ title, action, send, children, above, below }: { title: string; action: string; send: (form: FormData) => Promise<void>; children: ComponentChildren; above?: ComponentChildren; below?: ComponentChildren }) {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setRefused(null);
    try { await send(form); } catch (failure) { setRefused(`${(failure as Error).message.replace(/[.]?$/, ".")}`); } finally { setBusy(false); }
  };
  return (
    <div class="door">
      <form class="panel" onSubmit={submit}>
        <h1>{title}</h1>
        {above}
        {children}
        {refused && <p class="bad" role="alert">{refused}</p>}
        <Button kind="primary" type="submit" disabled={busy}>{action}</Button>
        {below}
      </form>
    </div>
  );
}

const text = (form: FormData, name: string) => String(form.get(name) ?? "");

function Mail() { return <Field label="Mail address"><input name="mail" type="email" autocomplete="username" required autofocus /></Field>; }

export function NewPassword({ label = "Password" }: { label?: string }) { return <Field label={label} hint="At least 12 characters."><input name="password" type="password" autocomplete="new-password" minLength={12} required /></Field>; }

/** Why somebody who comes back from a provider is not let in. */
const REFUSED: Record<string, string> = {
  refused: "The provider's answer is no proof of who you are. Try again.",
  unreachable: "The provider can't be asked at the moment. Try again later.",
  no_mail: "The provider does not say that it has verified a mail address of yours.",
  suspended: "An operator has suspended this account.",
  invitation: "An account needs an invitation.",
  domain: "Accounts are for mail addresses of some domains, and yours is not one of them.",
  too_many: "Too many tries. Wait a while, then try again.",
};

/** Where somebody comes from a provider whose mail address has an account already. */
export function Connect({ token }: { token: string }) {
  const send = async (form: FormData) => {
    enter(await call("POST", "connection", { token, password: text(form, "password") }));
    go("#/");
  };
  return (
    <Door title="Connect your account" action="Connect" send={send}>
      <p>There is an account with your mail address. Give its password once; from then on, the provider's sign-in leads into it.</p>
      <Field label="Password"><input name="password" type="password" autocomplete="current-password" required autofocus /></Field>
    </Door>
  );
}

export function SignIn() {
  const send = async (form: FormData) => {
    enter(await call("POST", "session", { mail: text(form, "mail"), password: text(form, "password") }));
    if (location.hash.startsWith("#/sign-in")) go("#/");
  };
  const refused = route.value.query.get("refused");
  const providers = facts.value?.providers ?? [];
  return (
    <Door title="Sign in" action="Sign in" send={send} above={<>
      {refused && <Note tone="bad" icon="alert">{REFUSED[refused] ?? REFUSED.refused}</Note>}
      {providers.map((one) => <LinkButton key={one.name} href={`sign-in/${one.name}`}>Sign in with {one.title}</LinkButton>)}
      {providers.length > 0 && <p>Or with a password:</p>}
    </>} below={<p class="row">{facts.value?.has_mail && <a href="#/forgotten">Forgotten the password?</a>}{facts.value?.signs_up && <a href="#/sign-up">Sign up</a>}</p>}>
      <Mail />
      <Field label="Password"><input name="password" type="password" autocomplete="current-password" required /></Field>
    </Door>
  );
}

export function SignUp() {
  const [sent, setSent] = useState(false);
  if (sent) return <div class="door"><div class="panel"><h1>Look into your mail</h1><p>We have sent you a link to go on with. It works for 24 hours.</p></div></div>;
  const send = async (form: FormData) => {
    await call("POST", "accounts", { mail: text(form, "mail"), name: text(form, "name") });
    setSent(true);
  };
  const domains = facts.value?.domains ?? [];
  return (
    <Door title="Sign up" action="Send the link" send={send} below={<p><a href="#/sign-in">Sign in instead</a></p>}>
      {domains.length > 0 && <Note>Accounts are for addresses of {domains.join(", ")}.</Note>}
      <Field label="Your name"><input name="name" autocomplete="name" required maxLength={100} autofocus /></Field>
      <Field label="Mail address"><input name="mail" type="email" autocomplete="username" required /></Field>
    </Door>
  );
}

export function Forgotten() {
  const [sent, setSent] = useState(false);
  if (sent) return <div class="door"><div class="panel"><h1>Look into your mail</h1><p>If there is an account with this address, a link is on its way. It works for an hour.</p></div></div>;
  const send = async (form: FormData) => {
    await call("POST", "password/forgotten", { mail: text(form, "mail") });
    setSent(true);
  };
  return <Door title="Forgotten password" action="Send a link" send={send}><Mail /></Door>;
}

/** Where the link of an invitation or of a sign-up leads. */
export function Welcome({ token }: { token: string }) {
  const [known, setKnown] = useState(false);
  const accept = async () => {
    await call("POST", "invitations", { token });
    go("#/teams");
  };
  if (developer.value) return <Door title="Accept the invitation" action="Accept" send={accept}><p>You are signed in as {developer.value.mail}.</p></Door>;
  if (known) return <><div class="door"><Note>There is an account with this address. Sign in to go on.</Note></div><SignIn /></>;
  const send = async (form: FormData) => {
    const name = text(form, "name");
    try {
      enter(await call("POST", "password", { token, password: text(form, "password"), ...(name ? { name } : {}) }));
      go("#/");
    } catch (failure) {
      if (failure instanceof Failure && failure.kind === "has_account") setKnown(true);
      else throw failure;
    }
  };
  return <Door title="Welcome" action="Create the account" send={send}><p>Choose a password for your account.</p><NewPassword /><Field label="Your name" hint="Empty to keep the one you signed up with."><input name="name" autocomplete="name" maxLength={100} /></Field></Door>;
}

export function Password({ token }: { token: string }) {
  const send = async (form: FormData) => {
    enter(await call("POST", "password", { token, password: text(form, "password") }));
    go("#/");
  };
  return <Door title="New password" action="Save" send={send}><NewPassword /></Door>;
}
