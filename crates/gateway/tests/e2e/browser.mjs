// What a browser does with the pages of oidc-provider and of others: keeps cookies, follows redirects, fills the forms in.
export class Browser {
  jar = new Map();

  async visit(url, form) {
    const cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, {
      method: form ? "POST" : "GET",
      body: form && new URLSearchParams(form),
      headers: form ? { cookie, origin: new URL(url).origin } : { cookie },
      redirect: "manual",
    });
    for (const line of answer.headers.getSetCookie()) {
      const [name, ...value] = line.split(";")[0].split("=");
      this.jar.set(name, value.join("="));
    }
    return answer;
  }

  // Signs a user in, from `url` to where the page of a form leads that has no fields to fill in: the first address for which `ends` holds.
  async signIn(url, user, ends) {
    for (let step = 0; step < 16; step++) {
      let answer = await this.visit(url);
      if (answer.status === 200) {
        const page = await answer.text();
        const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
        const action = /action="([^"]+)"/.exec(page)?.[1] ?? url;
        const request = /name="request" value="([^"]+)"/.exec(page)?.[1];
        const form = request ? { request, decision: "agree" } : prompt === "login" ? { prompt, login: user, password: "any" } : { prompt };
        answer = await this.visit(new URL(action, url), form);
      }
      const location = answer.headers.get("location");
      if (!location) throw new Error(`${answer.status}: ${await answer.text()}`);
      url = new URL(location, url);
      if (ends(url)) return url;
    }
    throw new Error("the sign-in does not end");
  }
}
