import { randomUUID } from "node:crypto";
import type { FailedRequest } from "@pragma/contracts/usage";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PragmaInBothModes, startPragmaInBothModes } from "./harness/both-modes.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
let products: PragmaInBothModes;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ USAGE_INTERVAL_SECONDS: "1" });
  products = await startPragmaInBothModes(environment.variables);
}, 300_000);
afterAll(async () => {
  await products?.stop();
  await environment?.remove();
});

describe.each(["singleProcess", "split"] as const)("a failed request (%s)", (mode) => {
  let testLocation: TestLocation;
  beforeAll(async () => {
    testLocation = await createTestLocation(products[mode], { scopes: ["tills:write", "reports:read", "usage:read"] });
  });

  /** Sends a request and returns it as usage stores it. */
  async function recordFailure(method: string, path: string, body?: unknown): Promise<FailedRequest> {
    const requestId = randomUUID();
    const response = await testLocation.request(method, path, { body, headers: { "x-request-id": requestId } });
    expect(response.status).toBeGreaterThanOrEqual(400);
    return eventually("the failed request", async () => {
      const { data } = await testLocation.getJson<{ data: FailedRequest[] }>("/v1/usage/failures?size=100");
      return data.find((failure) => failure.requestId === requestId);
    });
  }

  it("is stored with the issues of its body, and without what the body contained", async () => {
    const body = { id: "jean.dupont@example.com", orderList: "none" };
    const failure = await recordFailure("POST", "/v2/tills", body);
    expect(failure).toMatchObject({
      ...{ route: "/v2/tills", path: "/v2/tills", method: "POST", status: 400, code: "invalid_request" },
      requestBytes: Buffer.byteLength(JSON.stringify(body)),
      locationId: testLocation.locationId,
    });
    expect(failure.issues.map(({ in: part }) => part)).toEqual(Array(5).fill("body"));
    expect(JSON.stringify(failure)).not.toMatch(/dupont|none/);
  });

  it("is stored without values that its messages quote, however long they are", async () => {
    const names = ["", "a", "aa"].map((start) => start + "\u{1f600}".repeat(60));
    for (const name of [...names, "jean.dupont@example.com"]) {
      const filters = encodeURIComponent(JSON.stringify({ [name]: 5 }));
      const path = `/v1/metrics?measures=sales&since=2026-05-01&until=2026-05-02&filters=${filters}`;
      const failure = await recordFailure("GET", path);
      expect(failure).toMatchObject({ code: "invalid_request", issues: [{ in: "query", path: "filters" }] });
      expect(JSON.stringify(failure)).not.toMatch(/dupont|\u{1f600}/u);
    }
  });

  it("is stored with its path, of which values are hidden", async () => {
    const id = randomUUID();
    expect(await recordFailure("GET", `/v2/reports/${id}`)).toMatchObject({
      ...{ path: `/v2/reports/${id}`, code: "report_not_found", issues: [], requestBytes: null },
    });
    expect(await recordFailure("GET", "/v1/order")).toMatchObject({
      ...{ route: "other", path: "/v1/order", code: "route_not_found" },
    });
    expect(await recordFailure("GET", "/openapi.full.json")).toMatchObject({
      ...{ route: "other", path: "/openapi.full.json", code: "scope_missing" },
    });
    expect(await recordFailure("GET", "/v2/reports/jean.dupont?email=jean@example.com")).toMatchObject({
      ...{ path: "/v2/reports/{hidden}", issues: [{ in: "path", path: "id", message: "Must be a UUID" }] },
    });
    expect(await recordFailure("GET", "/v2/reports/?size=jean&until=dupont")).toMatchObject({
      path: "/v2/reports",
      issues: [
        { in: "query", path: "size", code: "invalid_format", message: "Must be an integer" },
        { in: "query", path: "until", message: expect.not.stringContaining("dupont") },
      ],
    });
  });
});
