import { serviceNames } from "@pragma/contracts/service-names";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let environment: IsolatedTestEnvironment;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const inProcessServices = Object.fromEntries(
    serviceNames
      .filter((name) => name !== "accounts")
      .map((name) => [name, ({ url }: Request) => Response.json({ name, path: new URL(url).pathname })]),
  );
  gateway = await startTestGateway(environment, { inProcessServices });
  ({ key } = gateway.accounts.addKey());
});
afterAll(async () => {
  await gateway.stop();
  await environment.remove();
});

describe("a path", () => {
  it.each([
    ["/v1/tills", "till-ingest"],
    ["/v1/tills/", "till-ingest"],
    ["/v2/tills/1/object", "till-ingest"],
    ["/v1/reports/x", "reporting"],
    ["/v2/orders", "reporting"],
    ["/v1/orders/x", "reporting"],
    ["/v1/orders-live", "order-live"],
    ["/v1/orders-live/stream", "order-live"],
    ["/v1/catalog/", "catalog"],
    ["/v1/catalog/taxes", "catalog"],
    ["/v1/webhooks/deliveries/x", "webhooks"],
    ["/v1/changes/?wait=1", "webhooks"],
    ["/v1/erasures", "reporting"],
    ["/v1/services/till-ingest/dead-letters", "till-ingest"],
    ["/v1/services/webhooks/dead-letters/x/retry", "webhooks"],
    ["/v1/tills/../reports/", "reporting"],
    ["/v1/tills/%2E%2e/reports?x=../y", "reporting"],
  ])("%s is routed to %s", async (path, service) => {
    const response = await gateway.request(path, { key });
    expect(await response.json()).toMatchObject({ name: service });
  });

  it.each(["/", "/v1", "/v1/", "/v1/till", "/v1/tillsx", "/v1/orders-livex", "/v2/locations", "/internal/keys/x"])(
    "%s is not routed",
    async (path) => {
      expect((await gateway.request(path, { key })).status).toBe(404);
    },
  );
});
