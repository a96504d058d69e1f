import { readFileSync } from "node:fs";
import { join } from "node:path";
import specs from "@asyncapi/specs";
import { type WebhookEventName, webhookEventDescriptions, webhookEventNames } from "@pragma/contracts/webhook";
import { webhookBodySchemas, webhookMessageHeadersSchema } from "@pragma/contracts/webhook-message";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { type AsyncApiDocument, createAsyncApiDocument } from "@pragma/services/commands/asyncapi-document";
import { createWebhookSignatureHeaders } from "@pragma/webhooks/messages/sign-message";
import { Ajv, type AnySchema } from "ajv";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";

const contractsFolder = findEnclosingPackageFolder(import.meta.resolve("@pragma/contracts/errors"));
const readContract = (name: string) => readFileSync(join(contractsFolder, name), "utf8");
const text = readContract("asyncapi.json");
const openapi = JSON.parse(readContract("openapi.json"));
const document: AsyncApiDocument = JSON.parse(text);
const { components, channels, operations, servers } = document;

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document as AnySchema, "asyncapi");
const isValidAsyncApi = ajv.compile(specs.schemasWithoutId["3.0.0"] as AnySchema);

function findMismatches({ $ref }: { $ref?: string }, value: unknown): string[] {
  const validate = ajv.getSchema(`asyncapi${$ref}`);
  if (validate === undefined) throw new Error(`The document has no schema ${$ref}.`);
  return validate(value) ? [] : [`${ajv.errorsText(validate.errors)}`];
}

function messageOf(event: WebhookEventName) {
  const message = components.messages[event];
  const [example] = message?.examples ?? [];
  if (message === undefined || example === undefined) throw new Error(`${event} has no message with an example.`);
  return { ...message, example };
}

describe("contracts/asyncapi.json", () => {
  it("is the document that `npm run openapi` generates", () => {
    expect(text).toBe(`${JSON.stringify(createAsyncApiDocument(openapi), null, 2)}\n`);
  });

  it("is valid against the official schema of AsyncAPI 3.0", () => {
    expect(isValidAsyncApi(document), ajv.errorsText(isValidAsyncApi.errors)).toBe(true);
    expect(isValidAsyncApi({ asyncapi: "3.0.0", info: document.info, channels: { endpoint: { address: 1 } } })).toBe(
      false,
    );
  });

  it("has one channel with the address that the subscriber chooses, and an operation for each event", () => {
    expect(channels.endpoint.address).toBeNull();
    expect(servers.endpoint).toMatchObject({ host: "{host}", variables: { host: expect.anything() } });
    expect(Object.keys(channels.endpoint.messages)).toEqual(webhookEventNames);
    expect(Object.keys(components.messages)).toEqual(webhookEventNames);
    const sent = Object.values(operations).map(({ action, messages }) => [action, ...messages.map(({ $ref }) => $ref)]);
    expect(sent).toEqual(webhookEventNames.map((event) => ["send", `#/channels/endpoint/messages/${event}`]));
    expect(Object.keys(operations)).toContain("sendOrderPaid");
  });

  it("describes every field", () => {
    const undescribed = Object.entries(components.schemas).flatMap(([name, schema]) => listUndescribed(schema, name));
    expect(undescribed).toEqual([]);
  });
});

describe.each(webhookEventNames)("the message of %s", (event) => {
  const { summary, headers, payload, example } = messageOf(event);

  it("has an example that matches its schemas, and those with which the API validates messages", () => {
    expect(findMismatches(payload, example.payload)).toEqual([]);
    expect(findMismatches(headers, example.headers)).toEqual([]);
    expect(webhookBodySchemas[event].parse(example.payload)).toEqual(example.payload);
    expect(webhookMessageHeadersSchema.parse(example.headers)).toEqual(example.headers);
  });

  it("has a schema that rejects other events and incomplete messages", () => {
    const { meta, data } = example.payload as { meta: object; data: object };
    const [field = ""] = Object.keys(data);
    expect(findMismatches(payload, { meta: { ...meta, event: "other" }, data })).not.toEqual([]);
    expect(findMismatches(payload, { meta, data: { ...data, [field]: undefined } })).not.toEqual([]);
    expect(findMismatches(payload, { data })).not.toEqual([]);
  });

  it("has the headers of its event, and the schema and description of the OpenAPI document", () => {
    const { meta } = example.payload as { meta: { id: string; event: string } };
    expect(example.headers).toMatchObject({
      "webhook-id": meta.id,
      "x-popina-webhook-id": meta.id,
      "x-popina-webhook-event": meta.event,
    });
    expect(meta.event).toBe(event);
    expect(summary).toBe(webhookEventDescriptions[event]);
    expect(payload).toEqual(openapi.webhooks[event].post.requestBody.content["application/json"].schema);
  });
});

it("requires exactly the headers with which the API signs messages", () => {
  const sent = createWebhookSignatureHeaders(
    { id: "9b0d7a53-5f0e-4f44-9d2e-6a1b8f0c7d94", event: "order.paid", body: Buffer.from("{}") },
    { secrets: ["secret"], signedAt: new Date() },
  );
  const { required } = components.schemas.WebhookMessageHeaders as { required: string[] };
  expect(required.toSorted()).toEqual(Object.keys(sent).toSorted());
  expect(findMismatches({ $ref: "#/components/schemas/WebhookMessageHeaders" }, sent)).toEqual([]);
  expect(Object.values(components.securitySchemes).map(({ name }) => name)).toEqual([
    "webhook-signature",
    "x-popina-hmac-signature",
  ]);
});

/** Returns the paths of the properties that have no description. */
function listUndescribed(part: unknown, path: string): string[] {
  if (typeof part !== "object" || part === null) return [];
  const { properties = {} } = part as { properties?: Record<string, { description?: string; $ref?: string }> };
  const own = Object.entries(properties).filter(
    ([, { description, $ref }]) => description === undefined && $ref === undefined,
  );
  const children = Object.entries(part).filter(([key]) => !["examples", "default", "enum"].includes(key));
  return [
    ...own.map(([name]) => `${path}.${name}`),
    ...children.flatMap(([key, value]) => listUndescribed(value, `${path}/${key}`)),
  ];
}
