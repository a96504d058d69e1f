#!/usr/bin/env bash
# The `autoSelectFamily` of Node.js gives up an address that takes longer than 250 ms to connect, although no other works.
#
# Version: Node.js 20.20.2.
# Guess: as RFC 8305 ("Happy Eyeballs") asks, a connection to the next address is started after 250 ms while the earlier
# one goes on, so that a name with two addresses connects whenever one of them does, however slowly.
# Seen: after 250 ms the earlier attempt is closed, and never repeated. A name whose first address takes 300 ms to connect
# and whose second one refuses always fails, after about 250 ms, whatever the `timeout` of the caller. Only the last
# address has no limit. With `autoSelectFamilyAttemptTimeout: 5000` the name connects.
# So: set `autoSelectFamilyAttemptTimeout`, or start the attempts yourself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >probe.mjs <<'JS'
import { once } from "node:events";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";

/** A server whose thread is blocked, and whose queue of connections is full, so that connecting takes about a second. */
async function startSlowServer() {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     const server = require("node:net").createServer();
     server.listen({ host: "::1", port: 0, backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       setImmediate(() => Atomics.wait(new Int32Array(workerData), 0, 0));
     });`,
    { eval: true, workerData: gate.buffer },
  );
  const [port] = await once(worker, "message");
  const fillers = Array.from({ length: 4 }, () => connect(port, "::1").on("error", () => {}));
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, "connect")));
  setTimeout(() => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  }, 300);
  return port;
}

/** Connects to a name with a first address that is slow, and a second one that refuses. */
async function connectToName(options) {
  const addresses = [
    { address: "::1", family: 6 },
    { address: "127.0.0.1", family: 4 },
  ];
  const lookup = (_, { all }, callback) => (all ? callback(null, addresses) : callback(null, "::1", 6));
  const socket = connect({ host: "two.example", port: await startSlowServer(), lookup, autoSelectFamily: true, ...options });
  return Promise.race([
    once(socket, "connect").then(() => "connected"),
    new Promise((resolve) => socket.on("error", ({ errors }) => resolve(errors.map(({ code }) => code).join(" ")))),
  ]).catch(({ errors }) => errors.map(({ code }) => code).join(" "));
}

console.log("default:", await connectToName({}));
console.log("5 s for each address:", await connectToName({ autoSelectFamilyAttemptTimeout: 5_000 }));
process.exit(0);
JS
node probe.mjs | tee seen
diff seen - <<'SEEN'
default: ETIMEDOUT ECONNREFUSED
5 s for each address: connected
SEEN
echo "as recorded"
