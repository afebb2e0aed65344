// An application on Node.js's own HTTP server.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const headers = {};
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      const name = request.rawHeaders[at].toLowerCase().replaceAll("_", "-");
      (headers[name] ??= []).push(request.rawHeaders[at + 1]);
    }
    const body = Buffer.concat(parts).toString("latin1");
    appendFileSync(process.env.RECORD, JSON.stringify({ method: request.method, target: request.url, headers, body }) + "\n");
    response.end("ok");
  });
});
// Upgrades are not wanted: such a request is an ordinary one.
server.on("connect", (request, socket) => socket.destroy());
server.listen(Number(process.argv[2]), "127.0.0.1");
