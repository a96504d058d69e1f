import { randomUUID } from "node:crypto";
import { MostUsedQuotas, maxMostUsedQuotas } from "@pragma/contracts/quota";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { expect, it } from "vitest";
import { createServiceForwarder } from "../forwarding/service-forwarder.ts";
import { createQuotaList } from "./list-quotas.ts";

const timeouts = { responseTimeoutMs: 2_000, streamIdleTimeoutMs: 2_000, connectWaitMs: 0 };
const request = {
  principal: buildTestPrincipal({ scopes: ["admin"], location: null }),
  ...{ requestId: "test", traceparent: undefined, origin: "http://test", logFields: {} },
};

interface ListedQuota {
  locationId: string;
  used: number;
}

/** Lists the quotas of services that have these rows, 100 on a page. Sandboxes are the locations with this prefix. */
async function listQuotas(rows: Partial<Record<ServiceName, ListedQuota[]>>, removedIds: string[] = []) {
  const registry = createServiceRegistry({});
  for (const service of serviceNames)
    registry.registerLocalService(service, async ({ url }) => {
      const { pathname, searchParams } = new URL(url);
      if (pathname.startsWith("/internal/")) {
        const ids = searchParams.get("ids")?.split(",") ?? [];
        const known = ids.filter((id) => !removedIds.includes(id));
        return Response.json({
          locations: known.map((id) => ({ id, name: id.slice(0, 4), isSandbox: id.startsWith(sandboxPrefix) })),
        });
      }
      const listed = rows[service];
      if (pathname !== `/v1/services/${service}/quotas` || !listed) return Response.json({}, { status: 503 });
      const offset = Number(searchParams.get("pageToken") ?? 0);
      const data = listed.slice(offset, offset + 100).map((row) => ({ ...row, quota: "things", maximum: 1_000 }));
      const next = offset + 100 < listed.length ? String(offset + 100) : null;
      return Response.json({ data, nextPageToken: next });
    });
  return MostUsedQuotas.parse(await createQuotaList(registry, createServiceForwarder(registry, timeouts))(request));
}

const sandboxPrefix = "5a5a";
const sandboxId = () => sandboxPrefix + randomUUID().slice(4);
const locationId = () => `1${randomUUID().slice(1)}`;
const emptyLists = Object.fromEntries(serviceNames.map((service) => [service, []]));

it("lists the rows of all services, the largest share first", async () => {
  const [one, other] = [locationId(), locationId()];
  const { quotas, unreachableServices } = await listQuotas({
    ...emptyLists,
    jobs: [{ locationId: one, used: 10 }],
    webhooks: [
      { locationId: other, used: 900 },
      { locationId: one, used: 5 },
    ],
  });
  expect(quotas.map(({ service, used }) => [service, used])).toEqual([
    ["webhooks", 900],
    ["jobs", 10],
    ["webhooks", 5],
  ]);
  expect(quotas[0]).toMatchObject({ locationId: other, locationName: other.slice(0, 4), isSandbox: false });
  expect(unreachableServices).toEqual([]);
});

it("lists locations even if many sandboxes have used more", async () => {
  const sandboxes = Array.from({ length: 250 }, () => ({ locationId: sandboxId(), used: 900 }));
  const { quotas } = await listQuotas({ ...emptyLists, jobs: [...sandboxes, { locationId: locationId(), used: 10 }] });
  expect(quotas.filter(({ isSandbox }) => isSandbox)).toHaveLength(maxMostUsedQuotas);
  expect(quotas.at(-1)).toMatchObject({ isSandbox: false, used: 10 });
});

it("names a service that does not respond, and lists the quotas of the others", async () => {
  const { reporting: _, ...others } = emptyLists;
  const { quotas, unreachableServices } = await listQuotas({
    ...others,
    jobs: [{ locationId: locationId(), used: 10 }],
  });
  expect(quotas).toHaveLength(1);
  expect(unreachableServices).toEqual(["reporting"]);
});

it("does not list removed locations", async () => {
  const removed = locationId();
  const { quotas } = await listQuotas({ ...emptyLists, jobs: [{ locationId: removed, used: 10 }] }, [removed]);
  expect(quotas).toEqual([]);
});
