#!/usr/bin/env bash
# JetStream acknowledges a message that it does not store, if a purged or deleted message had its id.
#
# Version: nats-server 2.9.10 (Debian 12), @nats-io/jetstream 3.4.0 and @nats-io/transport-node 3.4.0, Node.js 20.20.2.
# Guess: a purge also forgets the ids of the purged messages, so that a publisher that sends them again stores them.
# Seen: within the duplicate window (2 minutes by default), the publisher gets an acknowledgment with `duplicate: true` and
# the sequence of the former message, and the stream stays empty. The same after the deletion of a single message. Only a
# stream that is deleted and created again stores the message.
# So: whoever repairs a stream by publishing again must read the message at the acknowledged sequence, or wait for the window.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download nats-server=2.9.10-1+b3 >/dev/null 2>&1
dpkg -x nats-server_*.deb .
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund @nats-io/jetstream@3.4.0 @nats-io/transport-node@3.4.0
usr/sbin/nats-server --jetstream --store_dir store --port 14299 >server.log 2>&1 &
server=$!
cat >probe.mjs <<'JS'
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

const connection = await connect({ servers: "127.0.0.1:14299", waitOnFirstConnect: true });
const client = jetstream(connection);
const { streams } = await jetstreamManager(connection);
const add = () => streams.add({ name: "orders", subjects: ["orders.>"] });
const publish = () => client.publish("orders.paid", "one", { msgID: "order-1" });
const show = async (step) => {
  const { duplicate, seq } = await publish();
  const { state } = await streams.info("orders");
  console.log(`${step}: duplicate ${duplicate}, sequence ${seq}, messages in the stream ${state.messages}`);
};
await add();
await show("first");
await streams.purge("orders");
await show("after a purge");
await streams.delete("orders");
await add();
await show("after the stream was created again");
await streams.deleteMessage("orders", 1);
await show("after the message was deleted");
await connection.close();
JS
node probe.mjs | tee seen
diff seen - <<'SEEN'
first: duplicate false, sequence 1, messages in the stream 1
after a purge: duplicate true, sequence 1, messages in the stream 0
after the stream was created again: duplicate false, sequence 1, messages in the stream 1
after the message was deleted: duplicate true, sequence 1, messages in the stream 0
SEEN
echo "as recorded"
