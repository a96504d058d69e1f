#!/usr/bin/env bash
# A handler of @hono/node-server that has sent its response itself gets an error if the marker that it returns was imported
# after a listener had been created.
#
# Versions: @hono/node-server 2.1.8, hono 4.13.19, Node.js 20.20.2.
# Guess: a handler that writes to Node's response and returns RESPONSE_ALREADY_SENT works in any program.
# Seen: creating a listener replaces the global Response by one that is completed only when it is read. A marker that is
# imported later, such as in a lazily imported part of a program, is such a response, which the adapter sends again:
# ERR_HTTP_HEADERS_SENT is printed, and the connection closes, so that the next request on it fails.
# So: read the body of the marker once (`RESPONSE_ALREADY_SENT.body`), which completes it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund @hono/node-server@2.1.8 hono@4.13.19
cat >serve.mjs <<'JS'
import { once } from "node:events";
import { createServer, request } from "node:http";

const { getRequestListener } = await import("@hono/node-server");
if (process.argv[2] === "listener first") getRequestListener(() => new Response());
const { RESPONSE_ALREADY_SENT } = await import("@hono/node-server/utils/response");
if (process.argv[3] === "read") void RESPONSE_ALREADY_SENT.body;

const codes = [];
console.error = (error) => codes.push(error?.code ?? String(error));
const listener = getRequestListener(async (_request, { outgoing }) => {
  outgoing.writeHead(200, { "content-length": 2 });
  outgoing.end("ok");
  return RESPONSE_ALREADY_SENT;
});
const server = createServer(listener).listen(0, "127.0.0.1");
await once(server, "listening");
const sent = request({ port: server.address().port, host: "127.0.0.1" }).end();
const [response] = await once(sent, "response");
response.resume();
await once(response, "end");
await new Promise((resolve) => setTimeout(resolve, 100));
console.log(`${process.argv.slice(2).join(", ")}: ${response.statusCode}, printed: ${codes.join(" ") || "nothing"}`);
process.exit();
JS
for sequence in "marker first" "listener first"; do node serve.mjs "$sequence"; done | tee seen
node serve.mjs "listener first" read | tee -a seen
diff seen - <<'SEEN'
marker first: 200, printed: nothing
listener first: 200, printed: ERR_HTTP_HEADERS_SENT
listener first, read: 200, printed: nothing
SEEN
echo "as recorded"
