// An OpenID provider for operators: `node operator_provider.mjs DIRECTORY PORT LOGOUT REDIRECT...`; with `--userinfo`, its identity tokens have no
// groups. Prints a line when it serves; then reads commands, one JSON document on each line, and prints an answer for each:
// {"sign_in": URL, "user": NAME} goes through the pages as a browser does, and answers where it was sent at the end;
// {"device": URL, "user": NAME} enters a code; {"end": {"user": NAME, "sid": SID}} tells the gateway that sessions have ended.
import { createRequire } from "node:module";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";

// Notices of the package must not stand between the answers.
console.info = console.error;
const [directory, port, logout, ...redirects] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const entry = createRequire(`${directory}/`).resolve("oidc-provider");
const loaded = await import(pathToFileURL(entry));
const Provider = loaded.Provider ?? loaded.default;
const issuer = `http://127.0.0.1:${port}`;
const key = { ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: "RS256" };

const provider = new Provider(issuer, {
  jwks: { keys: [key] },
  clients: [
    { client_id: "console", client_secret: "the secret: of a client", redirect_uris: redirects, backchannel_logout_uri: logout, backchannel_logout_session_required: true, post_logout_redirect_uris: redirects.map((place) => new URL("/tyk/console/", place).href) },
    {
      client_id: "commands", application_type: "native", token_endpoint_auth_method: "none", redirect_uris: ["http://127.0.0.1/callback"],
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    },
  ],
  claims: { openid: ["sub", "sid", "groups"] },
  conformIdTokenClaims: process.argv.includes("--userinfo"),
  cookies: { keys: [randomUUID()] },
  scopes: ["openid", "offline_access"],
  issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
  ttl: { IdToken: 600, AccessToken: 600, Interaction: 600, Session: 600, Grant: 600, RefreshToken: 600, DeviceCode: 600 },
  // A user's name says their group: ann.ops is one of ops.
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, groups: ["everybody", id.split(".")[1] ?? "none"] }) }),
  features: { devInteractions: { enabled: true }, deviceFlow: { enabled: true }, backchannelLogout: { enabled: true }, revocation: { enabled: true } },
});
const server = provider.listen(Number(port), "127.0.0.1");
await new Promise((done) => server.once("listening", done));
console.log(JSON.stringify({ issuer }));

/** Enters the code of a device: the page with the code, signing in, consent. */
async function device(at, user) {
  const browser = new Browser();
  let url = new URL(at);
  for (let step = 0; step < 16; step++) {
    const answer = await browser.visit(url);
    if (answer.status >= 300 && answer.status < 400) { url = new URL(answer.headers.get("location"), url); continue; }
    const page = await answer.text();
    const field = (name) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1];
    const action = /action="([^"]+)"/.exec(page)?.[1];
    if (!action) return page.includes("success") || page.includes("Success");
    const prompt = field("prompt");
    const form = prompt === "login" ? { prompt, login: user, password: "any" } : prompt ? { prompt } : { xsrf: field("xsrf"), user_code: field("user_code") ?? url.searchParams.get("user_code"), confirm: "yes" };
    const next = await browser.visit(new URL(action, url), form);
    const location = next.headers.get("location");
    if (!location) return next.ok;
    url = new URL(location, url);
  }
  throw new Error("the device's code is not taken");
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let answer;
  try {
    if (asked.sign_in) {
      const end = await new Browser().signIn(new URL(asked.sign_in), asked.user, (url) => url.searchParams.has("code"));
      answer = { end: end.href };
    } else if (asked.device) {
      answer = { done: await device(asked.device, asked.user) };
    } else {
      const client = await provider.Client.find("console");
      await client.backchannelLogout(asked.end.user, asked.end.sid);
      answer = { done: true };
    }
  } catch (error) {
    answer = { failure: String(error.stack ?? error) };
  }
  console.log(JSON.stringify(answer));
}
