import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createWebhookSignatureHeaders } from "@pragma/webhooks/messages/sign-message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createWebhookReceiverFolder,
  type RunningWebhookReceiver,
  startWebhookReceiver,
  webhookReceiverPrograms,
} from "./documentation/run-webhook-receiver.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";
import { sendTestPaidLiveOrders } from "./webhooks/send-paid-live-orders.ts";

interface Delivery {
  id: string;
  messageId: string;
  state: string;
  attempts: { status: number | null }[];
}

const installedPrograms = webhookReceiverPrograms.filter(({ commandAt }) => commandAt !== undefined);

let testLocation: TestLocation;
let secret: string;
const receivers = new Map<string, RunningWebhookReceiver>();
const webhookIds = new Map<string, string>();

beforeAll(async () => {
  testLocation = await createTestLocation(await getSharedPragmaUnderTest(), {
    scopes: ["orders:write", "webhooks:write"],
  });
  const recipient = await testLocation.create<{ id: string; hmacSecret: string; signingSecret: string }>(
    "/v1/recipients/",
    { name: "Stock" },
  );
  secret = recipient.hmacSecret;
  await Promise.all(
    installedPrograms.map(async (program, index) => {
      // The same key in both formats: the first program of each language gets the text, and the second one base64.
      const receiver = await startWebhookReceiver(program, index % 2 === 0 ? secret : recipient.signingSecret);
      receivers.set(program.name, receiver);
      const body = { recipientId: recipient.id, endpointUrl: receiver.url, events: ["order.paid"] };
      webhookIds.set(program.name, (await testLocation.create("/v1/webhooks/", body)).id);
    }),
  );
  await sendTestPaidLiveOrders(testLocation, { orders: 1, batchSize: 1, perSecond: 100 });
}, 300_000);
afterAll(async () => {
  await Promise.all([...receivers.values()].map((receiver) => receiver.stop()));
});

describe.each(webhookReceiverPrograms)("the receiver with $name", ({ name, commandAt }) => {
  const getReceiver = () => receivers.get(name) as RunningWebhookReceiver;

  /** Waits until the deliveries of the receiver's webhook have this number of attempts and the last one has succeeded. */
  async function waitForDelivery(attemptCount: number): Promise<Delivery> {
    return eventually(`a delivery with ${attemptCount} attempts`, async () => {
      const { data } = await testLocation.getJson<{ data: Delivery[] }>(
        `/v1/webhooks/${webhookIds.get(name)}/deliveries?event=order.paid`,
      );
      const delivery = data[0] && (await testLocation.getJson(`/v1/webhooks/deliveries/${data[0].id}`));
      const { state, attempts } = (delivery ?? {}) as unknown as Partial<Delivery>;
      return state === "succeeded" && attempts?.length === attemptCount && (delivery as unknown as Delivery);
    });
  }

  it.skipIf(!commandAt)("responds with 204 and processes a message that arrives twice only once", async () => {
    const { id, messageId } = await waitForDelivery(1);
    await testLocation.create(`/v1/webhooks/deliveries/${id}/replay`);
    const { attempts } = await waitForDelivery(2);
    expect(attempts.map(({ status }) => status)).toEqual([204, 204]);
    await eventually("the work after the response", () => getReceiver().countProcessed(messageId) > 0);
    expect(getReceiver().countProcessed(messageId)).toBe(1);
  });

  it.skipIf(!commandAt)("rejects forged, modified and old messages without processing them", async () => {
    const message = createSignedMessage({});
    const rejected = [
      createSignedMessage({ signedBy: randomBytes(32).toString("hex") }),
      createSignedMessage({ signedAt: new Date(Date.now() - 600_000) }),
      { ...message, body: message.body.replace("Stock", "Stocks") },
      { ...message, headers: { "content-type": "application/json" } },
    ];
    for (const { headers, body, id } of rejected) {
      const response = await fetch(getReceiver().url, { method: "POST", headers, body });
      expect(response.status).toBe(401);
      expect(getReceiver().countProcessed(id)).toBe(0);
    }
    const { headers, body, id } = message;
    expect((await fetch(getReceiver().url, { method: "POST", headers, body })).status).toBe(204);
    await eventually("the valid message to be processed", () => getReceiver().countProcessed(id) === 1);
  });
});

function createSignedMessage({ signedBy = secret, signedAt = new Date() }) {
  const id = randomUUID();
  const body = JSON.stringify({
    meta: { id, event: "test", emittedAt: signedAt.toISOString(), sequence: null },
    data: { message: "Stock: crème brûlée" },
  });
  const message = { id, event: "test" as const, body: Buffer.from(body) };
  const headers = {
    "content-type": "application/json; charset=utf-8",
    ...createWebhookSignatureHeaders(message, { secrets: [signedBy], signedAt }),
  };
  return { id, body, headers };
}

it("the receivers in TypeScript compile with strict checks and the types of Node.js", async () => {
  const folder = createWebhookReceiverFolder();
  const tsc = join(findEnclosingPackageFolder(import.meta.url), "..", "node_modules", "typescript", "bin", "tsc");
  const options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--types", "node"];
  try {
    const files = ["express-receiver.ts", "hono-receiver.ts", "verify-webhook.ts"];
    await promisify(execFile)(process.execPath, [tsc, ...options, ...files], { cwd: folder });
  } catch (error) {
    throw new Error((error as { stdout?: string }).stdout ?? String(error));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
