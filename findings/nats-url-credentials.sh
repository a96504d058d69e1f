#!/usr/bin/env bash
# The NATS client for Node.js ignores the user and password of a URL, without an error.
#
# Version: @nats-io/transport-node 3.4.0, Node.js 20.20.2.
# Guess: like the clients for Go and Python, `servers: "nats://app:secret@host:4222"` logs in as app.
# Seen: the client sends CONNECT without `user` and `pass`, so that a server that requires a login refuses it, and one
# with a default user accepts it with other permissions. If the password begins with a digit, the client takes it for the
# port, and reports "connection refused". With the options `user` and `pass`, the login is sent.
# So: parse the URL yourself, and pass its parts as options.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund @nats-io/transport-node@3.4.0
cat >probe.mjs <<'JS'
import { once } from "node:events";
import { createServer } from "node:net";
import { connect } from "@nats-io/transport-node";

/** Returns the login that the client sends to a server that requires one, or the error with which it gives up. */
async function readLogin(buildOptions) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    const info = { server_id: "A", server_name: "a", version: "2.14.5", proto: 1, headers: true, auth_required: true };
    socket.write(`INFO ${JSON.stringify({ ...info, max_payload: 1048576 })}\r\n`);
    socket.on("data", (data) => {
      const [, fields] = String(data).match(/CONNECT (\{.*?\})\r\n/) ?? [];
      if (fields) server.emit("login", JSON.parse(fields));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const login = once(server, "login").then(([{ user, pass }]) => ({ user, pass }));
  const connecting = connect({ ...buildOptions(server.address().port), reconnect: false, timeout: 3_000 });
  const result = await Promise.race([login, connecting.then(() => login, ({ message }) => ({ error: message }))]);
  connecting.catch(() => {});
  server.close();
  return JSON.stringify(result);
}

console.log("password in the URL:", await readLogin((port) => ({ servers: `nats://app:secret@127.0.0.1:${port}` })));
console.log("password with a digit:", await readLogin((port) => ({ servers: `nats://app:4secret@127.0.0.1:${port}` })));
console.log("options:", await readLogin((port) => ({ servers: `127.0.0.1:${port}`, user: "app", pass: "secret" })));
process.exit(0);
JS
node probe.mjs | tee seen
diff seen - <<'SEEN'
password in the URL: {}
password with a digit: {"error":"connection refused"}
options: {"user":"app","pass":"secret"}
SEEN
echo "as recorded"
