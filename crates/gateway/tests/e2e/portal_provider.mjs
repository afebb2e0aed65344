// An OpenID provider for developers: `node portal_provider.mjs DIRECTORY PORT REDIRECT`. Prints a line when it serves; then reads questions, one JSON
// document on each line: {"sign_in": URL, "user": NAME} goes through the pages as a browser does, and answers where it was sent at the end. The mail
// address of a user is verified unless their name begins with "new".
import { createRequire } from "node:module";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";

// Notices of the package must not stand between the answers.
console.info = console.error;
const [directory, port, redirect] = process.argv.slice(2);
const entry = createRequire(`${directory}/`).resolve("oidc-provider");
const loaded = await import(pathToFileURL(entry));
const Provider = loaded.Provider ?? loaded.default;
const issuer = `http://127.0.0.1:${port}`;
const key = { ...generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: "ES256" };
const claims = (sub) => ({ sub, name: `Developer ${sub}`, email: `${sub}@example.com`, email_verified: !sub.startsWith("new") });

const provider = new Provider(issuer, {
  jwks: { keys: [key] },
  clients: [{ client_id: "portal", client_secret: "the secret: of a client", redirect_uris: [redirect], post_logout_redirect_uris: [new URL("/", redirect).href], id_token_signed_response_alg: "ES256" }],
  enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  conformIdTokenClaims: false,
  cookies: { keys: [randomUUID()] },
  scopes: ["openid", "email", "profile"],
  ttl: { IdToken: 600, AccessToken: 600, Interaction: 600, Session: 600, Grant: 600 },
  findAccount: (_, id) => ({ accountId: id, claims: () => claims(id) }),
  features: { devInteractions: { enabled: true } },
});
const server = provider.listen(Number(port), "127.0.0.1");
await new Promise((done) => server.once("listening", done));
console.log(JSON.stringify({ issuer }));

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let answer;
  try {
    const end = await new Browser().signIn(new URL(asked.sign_in), asked.user, (url) => url.searchParams.has("code"));
    answer = { end: end.href };
  } catch (error) {
    answer = { failure: String(error.stack ?? error) };
  }
  console.log(JSON.stringify(answer));
}
