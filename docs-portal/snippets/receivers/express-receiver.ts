import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import express from "express";
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

const app = express();

// express.raw() does not parse the body, because its exact bytes are signed.
app.post(
  "/webhooks/pragma",
  express.raw({ type: "application/json", limit: "10mb" }),
  (request, response) => {
    const body: Buffer = request.body;
    try {
      verifyWebhook(request.headers, body, secret);
    } catch (error) {
      response.status(401).send(String(error));
      return;
    }
    const message: WebhookMessage = JSON.parse(body.toString("utf8"));
    const isNew = storeMessage(message.meta.id, body);
    response.status(204).end();
    if (isNew) processMessage(message).catch(console.error);
  },
);

app.listen(Number(process.env.PORT ?? 3001));
