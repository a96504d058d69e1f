import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type WebhookEventName, webhookEventDescriptions } from "@pragma/contracts/webhook";
import { webhookBodySchemas, webhookHeadersSchema } from "@pragma/contracts/webhook-message";
import { gatewayOperations } from "@pragma/gateway/documents/gateway-operations";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";
import { loadServiceDefinitions } from "../definitions.ts";
import { createOpenApiDocument, type OpenApiDocument } from "./openapi-document.ts";

/*
 * Writes the OpenAPI documents from the route definitions: `contracts/openapi.json` for partners and POS apps,
 * `contracts/openapi.full.json` with the operators' routes too. `--check` writes nothing, and fails when they differ.
 */

const openApiInfo = {
  title: "Pragma API",
  version: "1.0.0",
  description: [
    "Orders, reports, catalogue and tills of restaurants, bars and hotels, from their points of sale.",
    "**Key.** Send `Authorization: Bearer <key>`. A key belongs to one location and may do what its scopes allow; what belongs to another location is answered as if it were not there.",
    "**Values.** Bodies are JSON, and may be sent with `Content-Encoding: gzip`. Amounts are integers in minor currency units: 1400 is 14.00. Tax rates of reports, of V1 orders and of the catalogue are hundredths of a percent: 1000 is 10 %; those of product rows, in tills, live orders, V2 orders and webhooks, are plain percent: 10. Date-times are RFC 3339, in replies always in UTC; days in filters are days of the location's time zone. Query parameters and body fields that are not known are ignored. Addresses work with and without the slash at their end.",
    "**Lists** come in pages of 10, or of as many as `size` asks for, 100 at most. `nextPageToken`, given back as `pageToken`, is the fast and exact way through all of them.",
    "**Again.** With `Idempotency-Key` a POST has its effect once, however often it is sent. After 429 and 503 wait as long as `Retry-After` says. A reply with an `ETag` is answered 304, without its body, to who sends it back as `If-None-Match`.",
    "**Errors** are RFC 9457 problem details: `code` is a stable name to decide by, `errors` tells every fault of a request, and `x-request-id`, which every reply has, names the request when you ask for help.",
  ].join("\n\n"),
  contact: { name: "Pragma", email: "developers@pragma.example" },
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};
const openApiServers = [
  { url: "http://127.0.0.1:4000", description: "The gateway on your machine, after `npm start`" },
];
const openApiTags = [
  { name: "Health", description: "Whether the API is up" },
  { name: "Reports", description: "End-of-day reports" },
  { name: "Catalog", description: "What a location sells and how it is paid" },
  { name: "Orders", description: "Orders of shifts that are closed" },
  { name: "Live orders", description: "Orders that are open, and what becomes of them" },
  { name: "Webhooks", description: "What happens at a location, posted to whoever asked for it" },
  { name: "Tills", description: "Shifts pushed by points of sale" },
  { name: "Accounting", description: "Reports as journal entries, in files for accounting software" },
  { name: "Jobs", description: "Work for the queue" },
  { name: "Locations", description: "Restaurants, bars and hotels" },
  { name: "Consumers", description: "Who uses the API, and what they may do" },
  { name: "Keys", description: "API keys" },
  { name: "Description", description: "This API, described" },
];

const webhookDocumentation = (Object.keys(webhookBodySchemas) as WebhookEventName[]).map((name) => ({
  name,
  tag: "Webhooks",
  summary: webhookEventDescriptions[name],
  description:
    "Posted to the endpoints that listen to it. Check the signature over the body as it came, before reading it. It may come more than once, under the same id, and in another order.",
  headers: webhookHeadersSchema,
  body: webhookBodySchemas[name],
  responses: {
    "200": { description: "Any status of 2xx, within 15 seconds: you have it" },
    "410": { description: "You want no more: the webhook is disabled" },
    default: { description: "Anything else, redirects too: it is sent again later" },
  },
}));

const operations = [...gatewayOperations, ...(await loadServiceDefinitions()).flatMap(({ routes }) => routes)];

const documents = {
  "openapi.json": createDocumentFor(["public"]),
  "openapi.full.json": createDocumentFor(["public", "operator"]),
};

const operationWithUnknownTag = operations
  .filter(({ audience }) => audience !== "internal")
  .find(({ tag }) => openApiTags.every(({ name }) => name !== tag));
if (operationWithUnknownTag)
  throw new Error(
    `${operationWithUnknownTag.operationId} has a tag that is not described: ${operationWithUnknownTag.tag}.`,
  );

function createDocumentFor(audiences: ("public" | "operator")[]): OpenApiDocument {
  const used = new Set(
    operations.filter(({ audience }) => audiences.some((each) => each === audience)).map(({ tag }) => tag),
  );
  const usedTags = openApiTags.filter(({ name }) => used.has(name));
  return createOpenApiDocument(operations, {
    info: openApiInfo,
    servers: openApiServers,
    tags: usedTags,
    audiences,
    webhooks: webhookDocumentation,
  });
}

const contractsFolder = findPackageFolder(import.meta.resolve("@pragma/contracts/errors"));
const isCheck = process.argv.includes("--check");
const outdated: string[] = [];
for (const [file, document] of Object.entries(documents)) {
  const path = join(contractsFolder, file);
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if ((await readFile(path, "utf8").catch(() => "")) === text) continue;
  outdated.push(file);
  if (!isCheck) await writeFile(path, text);
}
if (isCheck && outdated.length > 0) {
  process.stderr.write(`${outdated.join(" and ")} in contracts/ differ from the routes: run \`npm run openapi\`.\n`);
  process.exitCode = 1;
} else {
  process.stdout.write(
    outdated.length > 0 ? `Wrote ${outdated.join(" and ")}.\n` : "The OpenAPI documents are up to date.\n",
  );
}
