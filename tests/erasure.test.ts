import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BulkExport } from "@pragma/contracts/bulk-export";
import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import { personalDataFields } from "@pragma/contracts/personal-data";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { createOpsPortClient, runOpsCommand } from "@pragma/services/commands/operator-commands";
import { generateTill } from "@pragma/simulator/generate-till";
import {
  createFixedStatusResponseHandler,
  startTestWebhookReceiver,
  type TestWebhookReceiver,
} from "@pragma/webhooks/testing/webhook-receiver";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { buildContractTestTillV1, createTestLiveOrderInput } from "./contract/order-and-till-inputs.ts";
import { findStoredTexts, type TextLocation } from "./erasure/find-stored-text.ts";
import { backdateTestTills } from "./harness/backdate-tills.ts";
import {
  buildFakeLegacyBackofficeVariables,
  type FakeLegacyBackoffice,
  startFakeLegacyBackoffice,
} from "./harness/fake-legacy-backoffice.ts";
import { packTestTill } from "./harness/packed-till.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** A text in all personal data of the test. */
const mark = `M4RK${randomUUID().slice(0, 8)}`;
/** The value of a personal field. It contains the name of the field. */
const buildValue = (field: string) => `${mark}-${field}`;
const textFields = (...names: string[]) => Object.fromEntries(names.map((name) => [name, buildValue(name)]));

const orderFields = {
  ...textFields("deliveryComment", "extQoodosUserId", "extQoodosUserName"),
  ...textFields("firebaseCustomerName", "firebaseCustomerRefKey"),
  customerInfo: { firstName: buildValue("customerInfo") },
  deliveryCustomerInfo: { phone: buildValue("deliveryCustomerInfo") },
  deliveryAddress: { street: buildValue("deliveryAddress") },
};
const paymentFields = textFields("buyerCardReceipt", "firebaseCustomerRefKey");
const movementFields = textFields("customerId", "customerName");
const ticketFields = textFields("customer_identifier");

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let location: TestLocation;
let backoffice: FakeLegacyBackoffice;
let receiver: TestWebhookReceiver;
let logFolder: string;

beforeAll(async () => {
  logFolder = await mkdtemp(join(tmpdir(), "pragma-logs-"));
  vi.stubEnv("TEST_LOG_FOLDER", logFolder);
  backoffice = await startFakeLegacyBackoffice();
  receiver = await startTestWebhookReceiver();
  environment = await createMigratedTestEnvironment({
    ...buildFakeLegacyBackofficeVariables(backoffice),
    OPS_TOKEN: randomUUID(),
    LOG_LEVEL: "trace",
  });
  product = await startPragmaUnderTest(environment.variables);
  location = await createTestLocation(product, {
    scopes: ["tills:write", "tills:read", "reports:read", "orders:read", "orders:write", "webhooks:write"],
  });
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
  await Promise.all([backoffice?.stop(), receiver?.close()]);
  await rm(logFolder, { recursive: true });
  vi.unstubAllEnvs();
});

const findMark = () => findStoredTexts({ ...environment, logFolder }, [mark]);
const ops = (...words: string[]) =>
  runOpsCommand(words, createOpsPortClient([product.process("all").opsUrl], environment.variables.OPS_TOKEN), {
    log: () => {},
    reportFailure: expect.unreachable,
  });

async function send(path: string, body: unknown, { method = "POST", key = randomUUID() as string } = {}) {
  const response = await location.request(method, path, { body, headers: { "idempotency-key": key } });
  expect(response.status, `${method} ${path}`).toBeLessThan(300);
  return response;
}

function buildTillV2(seed: string, day = "2026-04-01") {
  const till = generateTill({ seed, tillId: randomUUID(), orders: 2, day });
  const { financialMovementList } = tillV2Example;
  return {
    ...till,
    financialMovementList: financialMovementList.map((movement) => ({ ...movement, ...movementFields })),
    orderList: till.orderList.map((order) => ({
      ...order,
      ...orderFields,
      isTraining: false,
      paymentRowList: order.paymentRowList.map((row) => ({ ...row, ...paymentFields })),
    })),
  };
}

function buildTillV1(serverId: number | null) {
  const till = buildContractTestTillV1(location);
  const tickets = till.tillJson.tickets.map((ticket) => ({ ...ticket, ...ticketFields }));
  return { ...till, tillJson: { ...till.tillJson, tickets, server_id: serverId } };
}

/** Pushes personal data in every way that stores it. Returns what the test needs again. */
async function pushPersonalData() {
  const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(200, { body: `You sent ${mark}` }));
  const { data: recipient } = await location.api.POST("/v1/recipients", { body: { name: "Stock" } });
  const webhook = { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["order.paid" as const] };
  await location.api.POST("/v1/webhooks", { body: webhook });

  const [till, packed] = [buildTillV2("till"), buildTillV2("packed", "2020-04-01")];
  await send("/v2/tills/", till);
  await send("/v2/tills/", packed);
  const replaced = { ...till, note: "replaced" };
  await send(`/v1/tills/${till.id}`, replaced, { method: "PUT" });
  await send("/v2/tills/?dryRun=true", buildTillV2("dry run"));
  await send("/v1/tills/", buildTillV1(null));
  backoffice.tills.set(1, buildTillV1(1));
  await send("/v1/tills/legacy", undefined);
  const invalid = await location.request("POST", "/v2/tills/", { body: { ...till, startedAt: mark } });
  expect(invalid.status).toBe(400);

  const live = createTestLiveOrderInput();
  const paid = { ...live, data: { ...live.data, ...orderFields, isPaid: true } };
  const upsertKey = randomUUID();
  const upsert = () =>
    location.request("POST", "/v1/orders-live/", { body: [paid], headers: { "idempotency-key": upsertKey } });
  expect(await (await upsert()).text()).toContain(mark);
  await eventually("the message", () => endpoint.receivedWebhooks.length === 1);
  await location.request("GET", `/v1/orders-live/?customer=${mark}`);

  await location.waitForReports(4);
  await location.waitForTillStates();
  await packTestTill(environment, packed.id);
  const range = { since: "2026-01-01", until: "2026-12-31" };
  const { id: exportId } = await location.create("/v1/exports/", { data: "orders", format: "jsonl", ...range });
  await eventually("the export", async () => {
    const { state } = await location.getJson<BulkExport>(`/v1/exports/${exportId}`);
    return state === "done";
  });
  return { till: replaced, liveId: live.id, upsert };
}

/** What is left of erased data, by its name in the documentation. */
const remains: Record<string, (place: TextLocation) => boolean> = {
  "Order events in NATS": ({ server, name }) => server === "NATS" && name === "orders",
  "Sent order events in PostgreSQL": ({ name }) => name === "order-live.sent_events.body",
  "Objects of packed tills": ({ server, name }) => server === "object store" && name.startsWith("packed/"),
  "Files of bulk exports": ({ server, name }) => server === "object store" && name.startsWith("exports/"),
};

it("erases personal data that came in any way, except what the documentation lists", async () => {
  const pushed = await pushPersonalData();
  const values = [...personalDataFields].map(buildValue);
  const foundValues = new Set<string>();
  const places = await findStoredTexts({ ...environment, logFolder }, [mark, ...values], foundValues);
  expect([...foundValues].sort()).toEqual([mark, ...values].sort());
  const before = places.map(({ server, name }) => `${server} ${name.replace(/\/.*/, "")}`);
  const columns = [
    ...["order-live.idempotent_requests.encrypted_response", "order-live.live_orders.body"],
    ...["order-live.order_revisions.body", "webhooks.attempts.response", "webhooks.webhook_messages.body"],
    ...["reporting.orders.v1", "reporting.orders.v2_deflated", "reporting.reports.v2"],
  ].map((column) => `PostgreSQL ${column}`);
  const others = ["object store tills", "object store packed", "object store exports", "NATS orders"];
  expect(before).toEqual(expect.arrayContaining([...columns, ...others]));

  await backdateTestTills(environment, location.locationId);
  const today = new Date().toISOString().slice(0, 10);
  await ops("erase", "--location", location.locationId, "--orders", pushed.liveId);
  await ops("erase", "--location", location.locationId, "--before", today);
  const isListed = (place: TextLocation) => Object.values(remains).some((matches) => matches(place));
  const findUnlisted = async () => (await findMark()).filter((place) => !isListed(place));
  await eventually("the erasure", async () => (await findUnlisted()).length === 0, { timeoutSeconds: 90 });

  expect((await pushed.upsert()).status).toBe(204);
  await send(`/v1/tills/${pushed.till.id}`, pushed.till, { method: "PUT" });
  const remaining = await findMark();
  expect(remaining.filter((place) => !isListed(place))).toEqual([]);
  const sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1 });
  const unused = await sql<{ key: string }[]>`
    select object_key as key from ${sql(`${environment.namespace}_reporting`)}.unused_objects`;
  await sql.end();
  const objects = remaining.filter(({ server }) => server === "object store").map(({ name }) => name);
  expect(objects).not.toEqual([]);
  expect(unused.map(({ key }) => key)).toEqual(expect.arrayContaining(objects));
  expect(await ops("dead-letters", "list")).toEqual([]);

  const documentation = await readFile(new URL("../docs/operations.md", import.meta.url), "utf8");
  const [, table = ""] = documentation.split("| What stays after an erasure |");
  const listed = [...(table.split("\n\n")[0] ?? "").matchAll(/^\| (?!-)(.+?) \|/gm)].map(([, name]) => name);
  expect(listed).toEqual(Object.keys(remains));
}, 180_000);
