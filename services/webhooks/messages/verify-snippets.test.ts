import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { WebhookRecipientWithSecret } from "@pragma/contracts/webhook-recipient";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { buildTestOrderEventData } from "../testing/event-publisher.ts";
import { startTestWebhooksService, type TestWebhooksService } from "../testing/start-test-webhooks.ts";
import { startTestWebhookReceiver, type TestWebhookReceiver } from "../testing/webhook-receiver.ts";
import { createWebhookSignatureHeaders } from "./sign-message.ts";

const portalFolder = join(findEnclosingPackageFolder(import.meta.url), "..", "..", "docs-portal");
const snippetsFolder = join(portalFolder, "snippets");

interface SignedMessage {
  headers: Record<string, string>;
  body: string;
  secret: string;
  /** The time of the verification, in seconds since 1970. Default: the current time. */
  now?: number;
}

type Verify = (message: SignedMessage) => Promise<void>;

/**
 * Returns a function that runs a program with a message as JSON input. If the program fails, the function rejects with
 * the program's error output.
 */
const verifyWithCommand =
  (command: string, ...args: string[]): Verify =>
  (message) =>
    new Promise((resolve, reject) => {
      const child = execFile(command, args, (error, _, stderr) => (error ? reject(new Error(stderr)) : resolve()));
      child.stdin?.end(JSON.stringify(message));
    });

const pythonProgram = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("snippet", ${JSON.stringify(join(snippetsFolder, "verify_webhook.py"))})
snippet = importlib.util.module_from_spec(spec)
spec.loader.exec_module(snippet)
message = json.load(sys.stdin)
snippet.verify_webhook(message["headers"], message["body"].encode(), message["secret"], message.get("now"))`;

const phpProgram = `
require ${JSON.stringify(join(snippetsFolder, "verify-webhook.php"))};
$message = json_decode(file_get_contents('php://stdin'), true);
verify_webhook($message['headers'], $message['body'], $message['secret'], $message['now'] ?? null);`;

const languages: { name: string; command: string; verify: Verify }[] = [
  {
    name: "TypeScript",
    command: process.execPath,
    async verify({ headers, body, secret, now }) {
      const { verifyWebhook } = await import(pathToFileURL(join(snippetsFolder, "verify-webhook.ts")).href);
      verifyWebhook(headers, Buffer.from(body), secret, now === undefined ? undefined : new Date(now * 1_000));
    },
  },
  { name: "Python", command: "python3", verify: verifyWithCommand("python3", "-c", pythonProgram) },
  { name: "PHP", command: "php", verify: verifyWithCommand("php", "-d", "display_errors=stderr", "-r", phpProgram) },
];

const installedLanguages = languages.filter(({ command }) => spawnSync(command, ["--version"]).status === 0);

/** The message that readers use to test their own code. */
const testVector = JSON.parse(readFileSync(join(portalFolder, "examples", "webhook-test-vector.json"), "utf8"));

let service: TestWebhooksService;
let receiver: TestWebhookReceiver;
/** A message that an endpoint received during a rotation. Both the current and the previous secret have signed it. */
let delivered: SignedMessage & { previousSecret: string };

beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestWebhooksService(), startTestWebhookReceiver()]);
  const endpoint = receiver.addEndpoint();
  const { principal, locationId, recipientId, secret: previousSecret } = await service.createSubscription(endpoint.url);
  const { hmacSecret } = await service.sendJson(
    { method: "POST", path: `/v1/recipients/${recipientId}/rotate`, principal, body: {} },
    { status: 200, schema: WebhookRecipientWithSecret },
  );
  await service.publishEvent("order.paid", buildTestOrderEventData(locationId));
  const { headers, body } = await eventually("the message", () => endpoint.receivedWebhooks[0]);
  delivered = { headers: headers as Record<string, string>, body, secret: hmacSecret ?? "", previousSecret };
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

const randomSecret = () => randomBytes(32).toString("hex");

function createSignedMessage(secret: string, signedAt = new Date()): SignedMessage {
  const body = JSON.stringify({ meta: { event: "order.paid" }, data: { name: "Crème brûlée" } });
  const message = { id: "9b0d7a53-5f0e-4f44-9d2e-6a1b8f0c7d94", event: "order.paid" as const, body: Buffer.from(body) };
  return { headers: createWebhookSignatureHeaders(message, { secrets: [secret], signedAt }), body, secret };
}

describe.each(installedLanguages)("the snippet in $name", ({ verify }) => {
  it("accepts a delivered message with either secret during a rotation", async () => {
    await verify(delivered);
    await verify({ ...delivered, secret: delivered.previousSecret });
  });

  it("accepts a message that is not ASCII", async () => {
    await verify(createSignedMessage(randomSecret()));
  });

  it("rejects a message that was signed with another secret, modified, or not signed", async () => {
    const message = createSignedMessage(randomSecret());
    const expectedError = "not signed with this secret";
    await expect(verify({ ...message, secret: randomSecret() })).rejects.toThrow(expectedError);
    await expect(verify({ ...message, body: `${message.body} ` })).rejects.toThrow(expectedError);
    const { "webhook-signature": signature = "", ...headers } = message.headers;
    await expect(verify({ ...message, headers })).rejects.toThrow(expectedError);
    const otherVersion = { ...headers, "webhook-signature": signature.replace("v1,", "v2,") };
    await expect(verify({ ...message, headers: otherVersion })).rejects.toThrow(expectedError);
  });

  it("rejects a message that is old, or has no valid timestamp", async () => {
    const oldMessage = createSignedMessage(randomSecret(), new Date(Date.now() - 600_000));
    await expect(verify(oldMessage)).rejects.toThrow("not within five minutes");
    const message = createSignedMessage(randomSecret());
    await expect(verify({ ...message, headers: { ...message.headers, "webhook-timestamp": "now" } })).rejects.toThrow(
      "not within five minutes",
    );
  });

  it("accepts the published test vector at its time only", async () => {
    const { headers, text: body, secret } = testVector;
    const now = Number(headers["webhook-timestamp"]);
    await verify({ headers, body, secret, now });
    await expect(verify({ headers, body, secret, now: now + 301 })).rejects.toThrow("not within five minutes");
    await expect(verify({ headers, body, secret })).rejects.toThrow("not within five minutes");
    await expect(verify({ headers, body: `${body}\n`, secret, now })).rejects.toThrow("not signed with this secret");
  });
});

it("the published test vector is accepted by the Standard Webhooks library", () => {
  const { headers, text, signingSecret } = testVector;
  vi.useFakeTimers({ now: Number(headers["webhook-timestamp"]) * 1_000, toFake: ["Date"] });
  try {
    expect(new StandardWebhook(signingSecret).verify(text, headers)).toEqual(JSON.parse(text));
  } finally {
    vi.useRealTimers();
  }
});
