import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { verifyWebhook, WebhookVerificationError } from "@pragma/client/verify-webhook";
import { ApiError } from "@pragma/contracts/errors";
import { RequestBodyMemoryReservation } from "@pragma/runtime/admission/request-body-memory";
import { TokenBucket } from "@pragma/runtime/admission/token-bucket";
import { createLoggedErrorResponse } from "@pragma/runtime/http/error-response";
import { startHttpServer } from "@pragma/runtime/http/http-server";
import { readRequestBody } from "@pragma/runtime/http/read-body";
import { toFetchResponse } from "@pragma/runtime/http/route-response";
import { LRUCache } from "lru-cache";
import type { SandboxServices } from "../context.ts";
import { insertMessage } from "../queries/messages.ts";
import { findSandboxOfInbox } from "../queries/sandboxes.ts";

/** Messages have a few kilobytes; those about orders with many rows have more. */
const maxMessageBytes = 256 * 1024;
const maxConnections = 200;
const maxTrackedInboxes = 1_000;
const inboxRate = { perSecond: 20, burst: 200 };
const drainTimeoutMs = 2_000;

const tokenPattern = /^[\w-]{43}$/;

type InboxServices = Pick<SandboxServices, "db" | "encryption" | "log"> & { docsUrl: string };

/**
 * Starts the server of the inboxes: it receives the webhook messages of sandboxes at `/<token>`, verifies them and stores
 * them. The token is the only credential, and is known to the sandbox's location only.
 */
export async function startInboxServer(services: InboxServices, { port, host }: { port: number; host: string }) {
  const { log, docsUrl } = services;
  const buckets = new LRUCache<string, TokenBucket>({
    max: maxTrackedInboxes,
    memoMethod: () => new TokenBucket(inboxRate, Date.now()),
  });
  return startHttpServer(
    async (_, { incoming }) => {
      try {
        const status = await receiveMessage(services, incoming, (id) => buckets.memo(id).take(Date.now()));
        return new Response(null, { status });
      } catch (error) {
        const response = createLoggedErrorResponse(error, { requestId: randomUUID(), log, docsUrl });
        return toFetchResponse(response, incoming.method ?? "");
      }
    },
    {
      ...{ port, host, docsUrl, drainTimeoutMs },
      configure(server) {
        server.maxConnections = maxConnections;
      },
    },
  );
}

/** Stores a message, and returns the status of the response. @throws `ApiError` */
async function receiveMessage(
  { db, encryption }: InboxServices,
  incoming: IncomingMessage,
  takeToken: (sandboxId: string) => boolean,
): Promise<number> {
  const token = incoming.url?.slice(1) ?? "";
  const sandbox =
    incoming.method === "POST" && tokenPattern.test(token) ? await findSandboxOfInbox(db, token) : undefined;
  if (!sandbox) throw new ApiError("route_not_found", { detail: "There is no such inbox." });
  if (!takeToken(sandbox.id)) {
    const detail = `An inbox receives ${inboxRate.perSecond} messages per second.`;
    throw new ApiError("rate_limited", { detail, headers: { "retry-after": "5" } });
  }
  const { locationId } = sandbox;
  const memoryReservation = new RequestBodyMemoryReservation(locationId);
  try {
    const body = new Uint8Array(await readRequestBody(incoming, { memoryReservation, maxBytes: maxMessageBytes }));
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
    const secret = encryption.decrypt(sandbox.encryptedInboxSecret);
    const verificationError = await findVerificationError(headers, body, secret);
    return await insertMessage(db, { sandbox, headers, body, verificationError });
  } finally {
    memoryReservation.release();
  }
}

async function findVerificationError(
  headers: Record<string, string>,
  body: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<string | null> {
  try {
    await verifyWebhook({ headers, body }, { secret });
    return null;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message;
    if (error instanceof SyntaxError) return "The body is not valid JSON.";
    throw error;
  }
}
