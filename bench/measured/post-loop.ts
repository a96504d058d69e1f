/**
 * The baseline of deliveries: a loop that signs one body with both signature schemes and posts it with undici, without
 * a database, a queue or a log. Arguments: the endpoint, the file of the body, the number of messages, the concurrency.
 */
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Pool } from "undici";

const [endpoint = "", file = "", messages, concurrency] = process.argv.slice(2);
const { origin, pathname: path } = new URL(endpoint);
const body = readFileSync(file);
const secret = randomBytes(32).toString("hex");
const pool = new Pool(origin, { connections: Number(concurrency), pipelining: 1 });

function createSignedHeaders(): Record<string, string> {
  const id = randomUUID();
  const timestamp = Math.floor(Date.now() / 1_000).toString();
  const standard = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest("base64");
  return {
    "content-type": "application/json; charset=utf-8",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${standard}`,
    "x-popina-hmac-signature": createHmac("sha256", secret).update(body).digest("hex"),
    "x-popina-webhook-id": id,
    "x-popina-webhook-event": "order.paid",
  };
}

function postMessage(): Promise<void> {
  return new Promise((resolve, reject) => {
    pool.dispatch(
      { path, method: "POST", headers: createSignedHeaders(), body },
      {
        onRequestStart() {},
        onResponseStart(_controller, status) {
          if (status !== 204) reject(new Error(`The receiver returned ${status}.`));
        },
        onResponseData() {},
        onResponseEnd: () => resolve(),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

async function postMessages(count: number): Promise<void> {
  let remaining = count;
  const worker = async () => {
    while (remaining > 0) {
      remaining -= 1;
      await postMessage();
    }
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, worker));
}

await postMessages(Number(messages) / 4);
const cpuUsageBefore = process.cpuUsage();
await postMessages(Number(messages));
const { user, system } = process.cpuUsage(cpuUsageBefore);
process.stdout.write(JSON.stringify({ perCpuSecond: (Number(messages) * 1e6) / (user + system) }));
await pool.close();
