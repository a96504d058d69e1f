import { paginatedSchema } from "@pragma/contracts/pagination";
import { maxNamedLocations, NamedLocations } from "@pragma/contracts/principal";
import { type MostUsedQuotas, maxMostUsedQuotas, QuotaUsage, type ServiceQuotaUsage } from "@pragma/contracts/quota";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import type { RequestPrincipalAndMetadata } from "@pragma/runtime/http/request-identity";
import type { ServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import type { createServiceForwarder } from "../forwarding/service-forwarder.ts";

const timeoutMs = 3_000;
/** The most pages that are read of a service, because those of many sandboxes can come first. */
const maxPages = 10;
const QuotaPage = paginatedSchema(QuotaUsage).pick({ data: true, nextPageToken: true });

/** Returns a function that reads, as the client of a request, of which daily quotas of all services most has been used. */
export function createQuotaList(
  registry: ServiceRegistry,
  forwarder: Pick<ReturnType<typeof createServiceForwarder>, "get">,
): (request: RequestPrincipalAndMetadata) => Promise<MostUsedQuotas> {
  async function findNames(rows: QuotaUsage[], { requestId, traceparent }: RequestPrincipalAndMetadata) {
    if (rows.length === 0) return new Map();
    const ids = [...new Set(rows.map(({ locationId }) => locationId))].join();
    const path = `/internal/location-names/?ids=${ids}`;
    const response = await registry.request("accounts", { from: "gateway", path, timeoutMs, requestId, traceparent });
    const { locations } = NamedLocations.parse(await response.json());
    return new Map(locations.map((location) => [location.id, location]));
  }

  async function readService(service: ServiceName, client: RequestPrincipalAndMetadata): Promise<ServiceQuotaUsage[]> {
    const signal = AbortSignal.timeout(timeoutMs);
    const found: ServiceQuotaUsage[] = [];
    let pageToken = "";
    for (let page = 0; page < maxPages; page += 1) {
      const target = `/v1/services/${service}/quotas?size=${maxNamedLocations}${pageToken && `&pageToken=${pageToken}`}`;
      const response = await forwarder.get(service, client, { target, signal });
      const { data, nextPageToken } = QuotaPage.parse(await response.json());
      const names = await findNames(data, client);
      for (const row of data) {
        const location = names.get(row.locationId);
        // Others are removed locations, such as sandboxes, and operators' keys.
        if (location) found.push({ ...row, service, locationName: location.name, isSandbox: location.isSandbox });
      }
      const isFull = found.filter(({ isSandbox }) => !isSandbox).length >= maxMostUsedQuotas;
      if (nextPageToken === null || isFull) break;
      pageToken = encodeURIComponent(nextPageToken);
    }
    return found;
  }

  return async (request) => {
    const { principal, requestId, traceparent, origin, client: address } = request;
    const client = { principal, requestId, traceparent, origin, client: address, logFields: {} };
    const lists = await Promise.allSettled(serviceNames.map((service) => readService(service, client)));
    const rows = lists
      .flatMap((list) => (list.status === "fulfilled" ? list.value : []))
      .sort((one, other) => other.used / other.maximum - one.used / one.maximum);
    const rowsOfSandboxes = (areSandboxes: boolean) =>
      rows.filter(({ isSandbox }) => isSandbox === areSandboxes).slice(0, maxMostUsedQuotas);
    const listed = new Set([...rowsOfSandboxes(false), ...rowsOfSandboxes(true)]);
    return {
      quotas: rows.filter((row) => listed.has(row)),
      unreachableServices: serviceNames.filter((_, index) => lists[index]?.status === "rejected"),
    };
  };
}
