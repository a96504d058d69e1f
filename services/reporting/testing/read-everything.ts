import type { Principal } from "@pragma/contracts/principal";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import type { TillV2 } from "@pragma/contracts/till-v2";
import type { TestService } from "@pragma/runtime/testing/test-service";

/** Returns all replies to the location's requests that concern these tills: status, entity tag and body by path. */
export async function readEverything(
  service: Pick<TestService, "request">,
  principal: Principal,
  tills: Pick<TillV2, "id" | "orderList">[],
): Promise<Record<string, unknown>> {
  const replies: Record<string, unknown> = {};
  const read = async (path: string): Promise<string> => {
    const response = await service.request("GET", path, { principal });
    const body = await response.text();
    replies[path] = { status: response.status, etag: response.headers.get("etag"), body };
    return body;
  };
  for (const till of tills) {
    const reportId = computeTillReportId(till.id);
    for (const version of ["v1", "v2"]) {
      await read(`/${version}/reports/${reportId}`);
      for (const { id } of till.orderList) await read(`/${version}/orders/${id}`);
    }
    await read(`/v1/orders/?reportId=${reportId}`);
    await read(`/v1/orders/?reportId=${reportId}&size=7&index=1`);
  }
  for (const filter of ["", "&since=2020-03-02", "&until=2020-03-01", "&since=2020-03-01&until=2020-03-01"]) {
    for (const list of ["/v1/orders/", "/v1/reports/", "/v2/reports/"]) {
      await read(`${list}?size=100${filter}`);
      for (const index of [0, 1, 2, 9]) await read(`${list}?size=5&index=${index}${filter}`);
    }
  }
  for (let pageToken: string | null = null, page = 0; page === 0 || pageToken; page += 1) {
    const body = await read(`/v1/orders/?size=6${pageToken ? `&pageToken=${pageToken}` : ""}`);
    pageToken = (JSON.parse(body) as { nextPageToken?: string }).nextPageToken ?? null;
  }
  return replies;
}
