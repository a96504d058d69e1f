import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { verifyWebhook } from "./verify-webhook.js";

interface WebhookMessage {
  meta: { id: string; event: string; emittedAt: string; sequence: number | null };
  data: unknown;
}

const secret = process.env.PRAGMA_WEBHOOK_SECRET;
if (!secret)
  throw new Error("Set PRAGMA_WEBHOOK_SECRET to the hmacSecret of your recipient.");

/**
 * Stores a message. Returns false if the message is already stored. In production, insert
 * the message into a database table whose primary key is the message ID.
 */
function storeMessage(id: string, body: Uint8Array): boolean {
  mkdirSync("inbox", { recursive: true });
  // A temporary file, so that a failed write does not look like a stored message.
  const temporary = `inbox/${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, body);
    linkSync(temporary, `inbox/${id}.json`);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

async function processMessage({ meta }: WebhookMessage): Promise<void> {
  // Your code goes here. Messages can be out of order: compare `meta.sequence`.
  console.log(`Processed ${meta.event} ${meta.id}`);
}

const app = new Hono();

app.post("/webhooks/pragma", async (context) => {
  const body = new Uint8Array(await context.req.arrayBuffer());
  try {
    verifyWebhook(context.req.header(), body, secret);
  } catch (error) {
    return context.text(String(error), 401);
  }
  const message: WebhookMessage = JSON.parse(new TextDecoder().decode(body));
  // setImmediate() starts the work after this function has returned the response.
  if (storeMessage(message.meta.id, body))
    setImmediate(() => processMessage(message).catch(console.error));
  return context.body(null, 204);
});

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3001) });
