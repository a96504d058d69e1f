import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { publishedApiUrl } from "@pragma/contracts/published-urls";
import { type WebhookEventName, webhookEventDescriptions } from "@pragma/contracts/webhook";
import { webhookBodySchemas, webhookMessageHeadersSchema } from "@pragma/contracts/webhook-message";
import { gatewayServedOperations } from "@pragma/gateway/documents/gateway-operations";
import type { RouteAudience } from "@pragma/runtime/http/define-route";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { productVersion } from "@pragma/runtime/process/product-version";
import { deadLetterRoutes } from "@pragma/runtime/service/dead-letter-routes";
import { quotaRoutes } from "@pragma/runtime/service/quota-routes";
import { loadServiceDefinitions } from "../definitions.ts";
import { createAsyncApiDocument } from "./asyncapi-document.ts";
import { updateLimitsTable } from "./limits-table.ts";
import { createOpenApiDocument, toOperationId } from "./openapi-document.ts";

/*
 * Generates the OpenAPI documents from the route definitions: `contracts/openapi.json` for partners and POS apps, and
 * `contracts/openapi.full.json`, which also contains the operators' routes. Also generates the AsyncAPI document of the
 * webhooks, `contracts/asyncapi.json`, and the table of `locationLimits` on the page of limits. With `--check`, writes nothing
 * and fails if a document is out of date.
 */

const openApiInfo = {
  title: "Pragma API",
  version: productVersion,
  description: [
    "Orders, reports, catalogs and tills of restaurants, bars and hotels, from their point-of-sale (POS) systems.",
    "**Authentication.** Send `Authorization: Bearer <key>`. An API key gives access to one location, and the scopes of its consumer define what it can do. If you request a resource of another location by its ID, the response is the same as if the resource did not exist.",
    "**Values.** Bodies are JSON, except the event stream of live orders and the files of exports and accounting exports. You can compress request bodies with gzip if you send `Content-Encoding: gzip`. Amounts are integers in minor currency units: 1400 means 14.00. Tax rates in reports, V1 orders, the catalog and accounting configs are in hundredths of a percent: 1000 means 10%. Tax rates of product rows in tills, live orders, V2 orders and webhooks are in percent: 10 means 10%. Date-times are in RFC 3339 format, but date-times in V1 tills can omit the UTC offset. Date-times in responses are in UTC, except in the body of a till, which is returned as it was pushed. Filters by day use the location's time zone. Unknown body fields are ignored. Send each query parameter at most once, and separate the values of a list with commas: a repeated parameter returns 400. Unknown query parameters are ignored, too, and the response header `x-ignored-parameters` contains their names. If you send `Prefer: handling=strict`, they return 400 instead. Paths can have a trailing slash.",
    "**Lists** are paginated, except for the lists of the catalog and the list of legacy backoffice tills. By default, a page has 10 items. Set `size` to get up to 100 items per page. To read a whole list, send the `nextPageToken` of each page as `pageToken` in the next request. Pagination by token is the fastest way to read a whole list, and neither skips nor repeats items. A page token is valid only with the filters for which it was created.",
    "**Retries.** A POST request with an `Idempotency-Key` takes effect only once, even if you repeat it within 24 hours. If a response has a `Retry-After` header, wait for that number of seconds before you repeat the request.",
    "**Caching.** If a response has an `ETag`, send its value as `If-None-Match` in the next request. If the resource has not changed, the response is 304 and has no body.",
    "**Errors** are RFC 9457 problem details. `code` is a stable identifier that your program can check. If a request is invalid, `errors` lists the issues. Every response has an `x-request-id`. Include it when you contact support.",
  ].join("\n\n"),
  contact: { name: "Pragma", email: "developers@pragma.example" },
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};
const openApiServers = [{ url: publishedApiUrl, description: "Local gateway, started with `npm start`" }];
const openApiTags = [
  { name: "Health", description: "API availability" },
  { name: "Reports", description: "End-of-day reports" },
  { name: "Days", description: "Business days: tills, totals and reconciliation checks" },
  { name: "Metrics", description: "Figures of reports by dimension, such as sales by day, room or product" },
  { name: "Catalog", description: "Products, categories, modifiers, taxes and payment methods of a location" },
  { name: "Orders", description: "Orders of closed shifts" },
  { name: "Live orders", description: "Orders of shifts that are still open, and changes to these orders" },
  { name: "Webhooks", description: "Events of a location, sent to subscribed endpoints" },
  { name: "Changes", description: "A feed of the changes of a location, with which you keep a copy in step" },
  { name: "Tills", description: "Records of closed shifts, pushed by POS systems" },
  { name: "Exports", description: "Bulk exports of reports, orders, products, payments and taxes to files" },
  { name: "Accounting", description: "Exports of reports to accounting software, as journal entries" },
  {
    name: "E-reporting",
    description: "Reports of sales and payments for the French tax administration, for businesses under French VAT",
  },
  { name: "Jobs", description: "Background jobs of a location" },
  { name: "Sandboxes", description: "Locations of your own with generated data, to try the API and its webhooks" },
  { name: "Locations", description: "Restaurants, bars and hotels" },
  { name: "Consumers", description: "Applications that use the API, with their scopes and rate limits" },
  { name: "Keys", description: "API keys, which give consumers access to locations" },
  { name: "Usage", description: "Numbers of requests and failed requests of API keys" },
  { name: "Audit log", description: "Who changed what: keys, consumers, locations, webhooks, exports and erasures" },
  {
    name: "Services",
    description:
      "The services of the API: their health, the events that they could not process, and the use of daily quotas",
  },
  { name: "Erasures", description: "The erasure of personal data in tills, reports, orders and messages" },
  {
    name: "API documents",
    description: "Machine-readable descriptions of this API and its webhooks, in the OpenAPI and AsyncAPI formats",
  },
];

const webhookDocumentation = (Object.keys(webhookBodySchemas) as WebhookEventName[]).map((name) => ({
  method: "post" as const,
  path: name,
  operationId: toOperationId(`receive ${name.replaceAll("_", "")}`),
  tags: ["Webhooks"],
  summary: webhookEventDescriptions[name],
  description:
    "The API sends this message to your endpoint as a POST request. Before you parse the body, verify the signature over its raw bytes. You can receive a message more than once, with the same ID each time. Messages can arrive out of order.",
  security: [],
  request: {
    headers: webhookMessageHeadersSchema,
    body: { required: true, content: { "application/json": { schema: webhookBodySchemas[name] } } },
  },
  responses: {
    "200": { description: "The message is acknowledged. Respond with any 2xx status within 15 seconds." },
    "410": {
      description:
        "The webhook is disabled, and sends no more messages until you resume it. A response to a test message does not disable the webhook.",
    },
    default: {
      description:
        name === "test"
          ? "Any other response, including a redirect, counts as a failed attempt. Test messages are sent only once."
          : "Any other response, including a redirect, counts as a failed attempt. Unless this was the last attempt, the message is sent again later.",
    },
  },
}));

const operations = [
  ...gatewayServedOperations,
  ...(await loadServiceDefinitions()).flatMap(({ routes }) => routes),
  ...deadLetterRoutes,
  ...quotaRoutes,
];

const publicDocument = createDocumentFor(["public"]);
const documents = {
  "openapi.json": publicDocument,
  "openapi.full.json": createDocumentFor(["public", "operator"]),
  "asyncapi.json": createAsyncApiDocument(publicDocument),
};

const operationWithUnknownTag = operations
  .filter(({ audience }) => audience !== "internal")
  .find(({ tag }) => openApiTags.every(({ name }) => name !== tag));
if (operationWithUnknownTag)
  throw new Error(
    `${operationWithUnknownTag.operationId} has a tag without a description: ${operationWithUnknownTag.tag}.`,
  );

function createDocumentFor(audiences: RouteAudience[]) {
  const documented = operations.filter(({ audience }) => audiences.includes(audience));
  return createOpenApiDocument(operations, {
    info: openApiInfo,
    servers: openApiServers,
    tags: openApiTags.filter(({ name }) => documented.some(({ tag }) => tag === name)),
    audiences,
    webhooks: webhookDocumentation,
  });
}

const contractsFolder = findEnclosingPackageFolder(import.meta.resolve("@pragma/contracts/errors"));
const limitsPage = join(contractsFolder, "..", "docs-portal", "docs", "rate-limits.mdx");
const files: Record<string, string> = { [limitsPage]: updateLimitsTable(await readFile(limitsPage, "utf8")) };
for (const [file, document] of Object.entries(documents))
  files[join(contractsFolder, file)] = `${JSON.stringify(document, null, 2)}\n`;
const isCheck = process.argv.includes("--check");
const outdated: string[] = [];
for (const [path, text] of Object.entries(files)) {
  if ((await readFile(path, "utf8").catch(() => "")) === text) continue;
  outdated.push(basename(path));
  if (!isCheck) await writeFile(path, text);
}
if (isCheck && outdated.length > 0) {
  process.stderr.write(`${outdated.join(", ")} differ from the routes or limits. Run \`npm run openapi\`.\n`);
  process.exitCode = 1;
} else {
  process.stdout.write(outdated.length > 0 ? `Wrote ${outdated.join(", ")}.\n` : "The API documents are up to date.\n");
}
