import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type ApiSchemaTypes, createAdminApiClient } from "./api-client.ts";

/*
 * Each operation of the API is called once, with types. The compiler checks the input and the use of the response, and the
 * test checks that the request is the one of the document.
 */

const requests: Request[] = [];
const client = createAdminApiClient({
  baseUrl: "http://localhost:4000",
  apiKey: "pragma_key",
  fetch: async (request) => {
    requests.push(request);
    return Response.json({});
  },
});

const id = "8a8d3a54-7b86-4d3e-a9f4-12f0f7b3f6d2";
const till: ApiSchemaTypes["TillV2"] = {
  ...{ id, startedAt: "2026-05-29T08:00:00Z", finalizedAt: "2026-05-29T23:00:00Z", reportNumber: 1 },
  ...{ financialMovementList: [], declaredPaymentList: [], clerkShiftList: [], orderList: [] },
};
const tillV1 = { client_id: `s${id}` } as ApiSchemaTypes["TillV1"]["tillJson"];

const eReportPath = { siren: "732829320", kind: "transactions" as const, period: "2027-09-01" };

const calls = {
  getHealth: () => client.GET("/health"),
  getOpenApi: () => client.GET("/openapi.json"),
  getAsyncApi: () => client.GET("/asyncapi.json"),
  getFullOpenApi: () => client.GET("/openapi.full.json"),
  createLocation: () =>
    client.POST("/v1/locations", {
      body: {
        application: "POPINA",
        organizationId: "12",
        agencyId: "3",
        locationSettings: { locationName: "Bistro" },
      },
    }),
  listLocations: () => client.GET("/v1/locations"),
  importLocation: () =>
    client.POST("/v1/locations/import", {
      body: { application: "POPINA", legacyId: 1042, organizationId: "12", agencyId: "3" },
    }),
  getOwnLocation: () => client.GET("/v1/locations/own"),
  getLocation: () => client.GET("/v1/locations/{id}", { params: { path: { id } } }),
  changeLocation: () => client.PATCH("/v1/locations/{id}", { params: { path: { id } }, body: { currencyCode: "CHF" } }),
  createSandbox: () => client.POST("/v1/sandboxes"),
  getCurrentSandbox: () => client.GET("/v1/sandboxes/current"),
  deleteCurrentSandbox: () => client.DELETE("/v1/sandboxes/current"),
  createSandboxEvent: () => client.POST("/v1/sandboxes/current/events", { body: { type: "order.paid" } }),
  listSandboxMessages: () => client.GET("/v1/sandboxes/current/messages"),
  createConsumer: () => client.POST("/v1/consumers", { body: { name: "Acme" } }),
  listConsumers: () => client.GET("/v1/consumers"),
  changeConsumer: () =>
    client.PATCH("/v1/consumers/{id}", { params: { path: { id } }, body: { scopes: ["reports:read"] } }),
  createApiKey: () => client.POST("/v1/auth/keys", { body: { locationId: id, consumerName: "Acme" } }),
  listApiKeys: () => client.GET("/v1/auth/keys"),
  getCurrentApiKey: () => client.GET("/v1/auth/keys/current"),
  rotateApiKey: () => client.POST("/v1/auth/keys/{id}/rotate", { params: { path: { id } }, body: { isLeaked: false } }),
  revokeApiKey: () => client.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } }),
  listAllDeliveries: () => client.GET("/v1/webhooks/deliveries"),
  replayDeliveries: () => client.POST("/v1/webhooks/deliveries/replay", { body: { event: "order.paid" } }),
  listUsage: () => client.GET("/v1/usage"),
  listFailedRequests: () => client.GET("/v1/usage/failures"),
  listAuditEvents: () => client.GET("/v1/audit"),
  exportAuditEvents: () => client.GET("/v1/audit/export", { parseAs: "text" }),
  listServices: () => client.GET("/v1/services"),
  listMostUsedQuotas: () => client.GET("/v1/services/quotas"),
  listDeadLetters: () =>
    client.GET("/v1/services/{service}/dead-letters", { params: { path: { service: "reporting" } } }),
  listQuotaUsage: () => client.GET("/v1/services/{service}/quotas", { params: { path: { service: "till-ingest" } } }),
  retryDeadLetter: () =>
    client.POST("/v1/services/{service}/dead-letters/{eventId}/retry", {
      params: { path: { service: "reporting", eventId: id } },
    }),
  createErasure: () => client.POST("/v1/erasures", { body: { locationId: id, orderIds: [id] } }),
  pushTillV2: () => client.POST("/v2/tills", { body: till }),
  pushTillV1: () => client.POST("/v1/tills", { body: { application: "POPINA", legacyId: 14, tillJson: tillV1 } }),
  listTills: () => client.GET("/v1/tills", { params: { query: { sinceDate: "2026-05-29T00:00:00Z" } } }),
  listLegacyTills: () => client.GET("/v1/tills/legacy"),
  fetchLegacyTills: () => client.POST("/v1/tills/legacy"),
  getTill: () => client.GET("/v1/tills/{id}", { params: { path: { id } } }),
  replaceTill: () => client.PUT("/v1/tills/{id}", { params: { path: { id } }, body: till }),
  getTillObject: () => client.GET("/v1/tills/{id}/object", { params: { path: { id } } }),
  reprocessTill: () => client.POST("/v1/tills/{id}/reprocess", { params: { path: { id } } }),
  reprocessTills: () => client.POST("/v1/tills/reprocess", { params: { query: { lteReportVersion: 1 } } }),
  getReprocessing: () => client.GET("/v1/tills/reprocess/{id}", { params: { path: { id } } }),
  upsertLiveOrders: () => client.POST("/v1/orders-live", { body: [] }),
  listLiveOrders: () => client.GET("/v1/orders-live"),
  streamLiveOrders: () => client.GET("/v1/orders-live/stream", { parseAs: "text" }),
  getLiveOrder: () => client.GET("/v1/orders-live/{id}", { params: { path: { id } } }),
  listReports: () => client.GET("/v2/reports"),
  getReport: () => client.GET("/v2/reports/{id}", { params: { path: { id } } }),
  listReportsV0: () => client.GET("/v1/reports"),
  getReportV0: () => client.GET("/v1/reports/{id}", { params: { path: { id } } }),
  listDays: () => client.GET("/v1/days"),
  getDay: () => client.GET("/v1/days/{date}", { params: { path: { date: "2026-05-29" } } }),
  getMetrics: () =>
    client.GET("/v1/metrics", { params: { query: { measures: "sales", since: "2026-05-01", until: "2026-05-31" } } }),
  getMetricsMeta: () => client.GET("/v1/metrics/meta"),
  listOrders: () => client.GET("/v1/orders"),
  getOrderV1: () => client.GET("/v1/orders/{id}", { params: { path: { id } } }),
  getOrderV2: () => client.GET("/v2/orders/{id}", { params: { path: { id } } }),
  createAccountingConfig: () => client.POST("/v1/accounting/configs", { body: { name: "Cabinet Martin" } }),
  listAccountingConfigs: () => client.GET("/v1/accounting/configs"),
  getAccountingConfig: () => client.GET("/v1/accounting/configs/{id}", { params: { path: { id } } }),
  replaceAccountingConfig: () =>
    client.PUT("/v1/accounting/configs/{id}", { params: { path: { id } }, body: { name: "Cabinet Martin" } }),
  deleteAccountingConfig: () => client.DELETE("/v1/accounting/configs/{id}", { params: { path: { id } } }),
  createAccountingExport: () =>
    client.POST("/v1/accounting/exports", {
      body: [{ tillId: id, accountingConfigId: id, accountingProvider: "FULLL" }],
    }),
  listAccountingExports: () => client.GET("/v1/accounting/exports"),
  getAccountingExport: () => client.GET("/v1/accounting/exports/{id}", { params: { path: { id } } }),
  getAccountingExportFile: () =>
    client.GET("/v1/accounting/exports/{id}/files/{number}", { params: { path: { id, number: 1 } }, parseAs: "text" }),
  putDeclarant: () =>
    client.PUT("/v1/e-reporting/declarants/{siren}", {
      params: { path: { siren: "732829320" } },
      body: { companyName: "Bistro", vatRegime: "monthly", platform: { number: "0123", name: "Plateforme" } },
    }),
  getDeclarant: () => client.GET("/v1/e-reporting/declarants/{siren}", { params: { path: { siren: "732829320" } } }),
  listDeclarants: () => client.GET("/v1/e-reporting/declarants"),
  listWrongSirets: () => client.GET("/v1/e-reporting/wrong-sirets"),
  excludeOrders: () => client.POST("/v1/e-reporting/excluded-orders", { body: { orderIds: [id] } }),
  listExcludedOrders: () => client.GET("/v1/e-reporting/excluded-orders"),
  deleteExcludedOrder: () =>
    client.DELETE("/v1/e-reporting/excluded-orders/{orderId}", { params: { path: { orderId: id } } }),
  listEreports: () => client.GET("/v1/e-reports", { params: { query: { siren: "732829320", kind: "transactions" } } }),
  getEreport: () => client.GET("/v1/e-reports/{siren}/{kind}/{period}", { params: { path: eReportPath } }),
  takeEreport: () =>
    client.POST("/v1/e-reports/{siren}/{kind}/{period}/transmissions", { params: { path: eReportPath }, body: {} }),
  listTransmissions: () =>
    client.GET("/v1/e-reports/{siren}/{kind}/{period}/transmissions", { params: { path: eReportPath } }),
  getTransmissionFile: () =>
    client.GET("/v1/e-reports/{siren}/{kind}/{period}/transmissions/{number}", {
      params: { path: { ...eReportPath, number: 1 } },
      parseAs: "text",
    }),
  createExport: () =>
    client.POST("/v1/exports", { body: { data: "items", format: "csv", since: "2026-05-01", until: "2026-05-31" } }),
  listExports: () => client.GET("/v1/exports"),
  getExport: () => client.GET("/v1/exports/{id}", { params: { path: { id } } }),
  deleteExport: () => client.DELETE("/v1/exports/{id}", { params: { path: { id } } }),
  getExportFile: () =>
    client.GET("/v1/exports/{id}/files/{name}", { params: { path: { id, name: "manifest.json" } }, parseAs: "json" }),
  listProducts: () => client.GET("/v1/catalog"),
  replaceCatalog: () =>
    client.PUT("/v1/catalog", { body: { products: [], payments: [], taxes: [], modifiers: [], categories: [] } }),
  listPayments: () => client.GET("/v1/catalog/payments"),
  listTaxes: () => client.GET("/v1/catalog/taxes"),
  listModifiers: () => client.GET("/v1/catalog/modifiers"),
  listCategories: () => client.GET("/v1/catalog/categories"),
  upsertRecipient: () => client.POST("/v1/recipients", { body: { name: "Stock keeper" } }),
  listRecipients: () => client.GET("/v1/recipients"),
  deleteRecipient: () => client.DELETE("/v1/recipients/{id}", { params: { path: { id } } }),
  rotateRecipientSecret: () =>
    client.POST("/v1/recipients/{id}/rotate", { params: { path: { id } }, body: { isLeaked: false } }),
  upsertWebhook: () =>
    client.POST("/v1/webhooks", {
      body: { recipientId: id, endpointUrl: "https://stock.example/pragma", events: ["order.paid"] },
    }),
  listWebhooks: () => client.GET("/v1/webhooks"),
  getDelivery: () => client.GET("/v1/webhooks/deliveries/{id}", { params: { path: { id } } }),
  replayDelivery: () => client.POST("/v1/webhooks/deliveries/{id}/replay", { params: { path: { id } } }),
  getWebhook: () => client.GET("/v1/webhooks/{id}", { params: { path: { id } } }),
  deleteWebhook: () => client.DELETE("/v1/webhooks/{id}", { params: { path: { id } } }),
  pauseWebhook: () => client.POST("/v1/webhooks/{id}/pause", { params: { path: { id } } }),
  resumeWebhook: () => client.POST("/v1/webhooks/{id}/resume", { params: { path: { id } } }),
  testWebhook: () => client.POST("/v1/webhooks/{id}/test", { params: { path: { id } } }),
  recoverDeliveries: () =>
    client.POST("/v1/webhooks/{id}/recover", { params: { path: { id } }, body: { since: "2026-05-28T00:00:00.000Z" } }),
  getRecovery: () =>
    client.GET("/v1/webhooks/{id}/recoveries/{recoveryId}", { params: { path: { id, recoveryId: id } } }),
  listDeliveries: () => client.GET("/v1/webhooks/{id}/deliveries", { params: { path: { id } } }),
  listChanges: () => client.GET("/v1/changes"),
  createJob: () => client.POST("/v1/jobs", { body: { message: "Close the day" } }),
  getJob: () => client.GET("/v1/jobs/{id}", { params: { path: { id } } }),
};

const document = JSON.parse(readFileSync(new URL("../contracts/openapi.full.json", import.meta.url), "utf8")) as {
  paths: Record<string, Record<string, { operationId: string }>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({ operationId, method: method.toUpperCase(), path })),
);

describe("each operation", () => {
  it.each(operations)("$operationId sends $method $path", async ({ operationId, method, path }) => {
    const call = calls[operationId as keyof typeof calls];
    expect(call, `${operationId} is not called`).toBeDefined();
    requests.length = 0;
    await call();
    const [request] = requests;
    expect(request?.method).toBe(method);
    const pattern = path.replaceAll(/[.]/g, "\\.").replaceAll(/\{\w+\}/g, "[^/]+");
    expect(new URL(request?.url ?? "").pathname).toMatch(new RegExp(`^${pattern}$`));
  });
});

type DataOf<Name extends keyof typeof calls> = Awaited<ReturnType<(typeof calls)[Name]>>["data"];

it("has the JSON of an operation that can also respond with CSV or a file", () => {
  expectTypeOf<DataOf<"getMetrics">>().toEqualTypeOf<ApiSchemaTypes["Metrics"]>();
  expectTypeOf<DataOf<"getExportFile">>().toEqualTypeOf<ApiSchemaTypes["Export"]>();
  expectTypeOf<DataOf<"listReports">["data"]>().toEqualTypeOf<ApiSchemaTypes["ReportListItem"][]>();
  expectTypeOf<DataOf<"deleteExport">>().toEqualTypeOf<undefined>();
  expectTypeOf<DataOf<"getAccountingExportFile">>().toEqualTypeOf<string>();
  const params = { query: { measures: "sales", since: "2026-05-01", until: "2026-05-31" } };
  const readCsv = () => client.GET("/v1/metrics", { params, headers: { accept: "text/csv" }, parseAs: "text" });
  expectTypeOf<Awaited<ReturnType<typeof readCsv>>["data"]>().toEqualTypeOf<string>();
  const file = { path: { id, name: "items-2026-05-01-2026-05-31-0001.parquet" } };
  const readFile = () => client.GET("/v1/exports/{id}/files/{name}", { params: file, parseAs: "arrayBuffer" });
  expectTypeOf<Awaited<ReturnType<typeof readFile>>["data"]>().toEqualTypeOf<ArrayBuffer>();
  // @ts-expect-error: without parseAs, the client would parse the file as JSON
  expectTypeOf(() => client.GET("/v1/exports/{id}/files/{name}", { params: file })).toBeFunction();
  // @ts-expect-error: the stream is not JSON
  expectTypeOf(() => client.GET("/v1/orders-live/stream")).toBeFunction();
  const accountingParams = { path: { id, number: 1 } };
  const accountingPath = "/v1/accounting/exports/{id}/files/{number}";
  // @ts-expect-error: the file is not JSON
  const accountingFile = () => client.GET(accountingPath, { params: accountingParams });
  expectTypeOf(accountingFile).toBeFunction();
});
