import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { WebhookRecipientWithSecret } from "@pragma/contracts/webhook-recipient";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOrderEventData } from "../testing/event-publisher.ts";
import { startTestWebhooks, type TestWebhooks } from "../testing/start-test-webhooks.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";
import { signWebhookMessage } from "./sign-message.ts";

const snippetsFolder = join(findPackageFolder(import.meta.url), "..", "..", "docs-portal", "snippets");

interface Message {
  headers: Record<string, string>;
  body: string;
  randomSecret: string;
}

type Verify = (message: Message) => Promise<void>;

/** Runs a program that is given the message as JSON, and fails with what it says. */
const verifyWithCommand =
  (command: string, ...args: string[]): Verify =>
  (message) =>
    new Promise((resolve, reject) => {
      const child = execFile(command, args, (error, _, stderr) => (error ? reject(new Error(stderr)) : resolve()));
      child.stdin?.end(JSON.stringify(message));
    });

const pythonProgram = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("snippet", ${JSON.stringify(join(snippetsFolder, "verify-webhook.py"))})
snippet = importlib.util.module_from_spec(spec)
spec.loader.exec_module(snippet)
message = json.load(sys.stdin)
snippet.verify_webhook(message["headers"], message["body"].encode(), message["secret"])`;

const phpProgram = `
require ${JSON.stringify(join(snippetsFolder, "verify-webhook.php"))};
$message = json_decode(file_get_contents('php://stdin'), true);
verify_webhook($message['headers'], $message['body'], $message['secret']);`;

const languages: { name: string; command: string; verify: Verify }[] = [
  {
    name: "TypeScript",
    command: process.execPath,
    async verify({ headers, body, randomSecret }) {
      const { verifyWebhook } = await import(pathToFileURL(join(snippetsFolder, "verify-webhook.ts")).href);
      verifyWebhook(headers, Buffer.from(body), randomSecret);
    },
  },
  { name: "Python", command: "python3", verify: verifyWithCommand("python3", "-c", pythonProgram) },
  { name: "PHP", command: "php", verify: verifyWithCommand("php", "-d", "display_errors=stderr", "-r", phpProgram) },
];

const installedLanguages = languages.filter(({ command }) => spawnSync(command, ["--version"]).status === 0);

let service: TestWebhooks;
let receiver: WebhookReceiver;
/** As an endpoint got it, while the recipient's secret is rotated: signed with the next secret, and with this one. */
let delivered: Message & { secretBefore: string };

beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestWebhooks(), startWebhookReceiver()]);
  const endpoint = receiver.addEndpoint();
  const { principal, locationId, recipientId, secret: secretBefore } = await service.createSubscription(endpoint.url);
  const { hmacSecret } = await service.sendRequest(
    { method: "POST", path: `/v1/recipients/${recipientId}/rotate`, principal, body: {} },
    { status: 200, schema: WebhookRecipientWithSecret },
  );
  await service.publishEvent("order.paid", createOrderEventData(locationId));
  const { headers, body } = await eventually("the message", () => endpoint.receivedWebhooks[0]);
  delivered = { headers: headers as Record<string, string>, body, randomSecret: hmacSecret ?? "", secretBefore };
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

const secret = () => randomBytes(32).toString("hex");

function signedMessage(secrets: string[], at = new Date()): Message {
  const body = JSON.stringify({ meta: { event: "order.paid" }, data: { name: "Crème brûlée" } });
  const message = { id: "9b0d7a53-5f0e-4f44-9d2e-6a1b8f0c7d94", event: "order.paid" as const, body: Buffer.from(body) };
  return { headers: signWebhookMessage(message, { secrets, signedAt: at }), body, randomSecret: secrets[0] ?? "" };
}

describe.each(installedLanguages)("the snippet in $name", ({ verify }) => {
  it("takes a message as it is delivered, with either secret during a rotation", async () => {
    await verify(delivered);
    await verify({ ...delivered, randomSecret: delivered.secretBefore });
  });

  it("takes one that is not ASCII", async () => {
    await verify(signedMessage([secret()]));
  });

  it("refuses one that was signed with another secret, changed, or not signed", async () => {
    const message = signedMessage([secret()]);
    const refused = "not signed with this secret";
    await expect(verify({ ...message, randomSecret: secret() })).rejects.toThrow(refused);
    await expect(verify({ ...message, body: `${message.body} ` })).rejects.toThrow(refused);
    const { "webhook-signature": signature = "", ...headers } = message.headers;
    await expect(verify({ ...message, headers })).rejects.toThrow(refused);
    const ofAnotherVersion = { ...headers, "webhook-signature": signature.replace("v1,", "v2,") };
    await expect(verify({ ...message, headers: ofAnotherVersion })).rejects.toThrow(refused);
  });

  it("refuses one that is old, or says no time", async () => {
    const old = signedMessage([secret()], new Date(Date.now() - 600_000));
    await expect(verify(old)).rejects.toThrow("too old");
    const message = signedMessage([secret()]);
    await expect(verify({ ...message, headers: { ...message.headers, "webhook-timestamp": "now" } })).rejects.toThrow(
      "too old",
    );
  });
});
