import { createHash } from "node:crypto";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { PragmaUnderTestAccess } from "../harness/pragma-under-test.ts";
import type { LocationWithTills } from "./varied-tills.ts";

/** All responses that a client can read, by the location, the key and the path of the request. */
export type RecordedResponses = Map<string, RecordedResponse>;

interface RecordingOptions {
  /** The accounting export of each location, by the id of the location. */
  exportIds?: ReadonlyMap<string, string>;
  /** Whether entity tags and the times of the last update are left out. */
  omitsVersions?: boolean;
}

interface RecordedResponse {
  status: number;
  headers: Record<string, string>;
  /** The body, or its hash if it is large. */
  body: string;
}

/** Headers that differ between two equal requests. */
const variableHeaders =
  /^(date|x-request-id|traceparent|ratelimit.*|x-ratelimit.*|keep-alive|connection|server-timing)$/;
const maxRecordedBodyLength = 2_000;
const maxConcurrentRequests = 6;

/**
 * Records the responses for all reports, orders and tills of the locations, and their lists: pages of several sizes by
 * index and by page token, days, reports and conditional requests.
 */
export async function recordResponses(
  { url, adminKey }: PragmaUnderTestAccess,
  locations: LocationWithTills[],
  { exportIds = new Map(), omitsVersions = false }: RecordingOptions = {},
): Promise<RecordedResponses> {
  const responses: RecordedResponses = new Map();
  const read = async (
    key: string,
    path: string,
    { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<{ text: string; etag: string | null }> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${key}` },
    });
    const received = await response.text();
    const isIndependentOfUrl = !received.includes(url);
    const withoutUrl = received.replaceAll(url, "http://pragma.test").replace(/"requestId":"[^"]+"/, "");
    const text = omitsVersions ? withoutUrl.replaceAll(/"updatedAt":"[^"]+"/g, "") : withoutUrl;
    // Some entity tags are computed from a body that contains the URL of the installation.
    const isCompared = (name: string) => name !== "etag" || (isIndependentOfUrl && !omitsVersions);
    const kept = [...response.headers].filter(
      ([name]) => !variableHeaders.test(name) && name !== "content-length" && isCompared(name),
    );
    responses.set(`${method} ${path} ${Object.keys(headers)} ${key === adminKey ? "as operator" : ""}`, {
      status: response.status,
      headers: Object.fromEntries(kept),
      body:
        text.length > maxRecordedBodyLength
          ? `${text.length} ${createHash("sha256").update(text).digest("hex")} ${text.slice(0, 100)}`
          : text,
    });
    return { text: received, etag: response.headers.get("etag") };
  };
  const work: (() => Promise<unknown>)[] = [];
  for (const { location, tills } of locations) {
    const { key, locationId } = location;
    await eventually("no pending reports", async () => {
      const path = `/v1/tills?sinceDate=2020-01-01T00:00:00Z&size=100&locationId=${locationId}`;
      const listed = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${adminKey}` } });
      return !(await listed.text()).includes('"reportState":"pending"');
    });
    /** Reads one report or order, its headers, and the response to a client that has it. */
    const readOne = async (path: string) => {
      const { etag } = await read(key, path);
      if (etag) await read(key, path, { headers: { "if-none-match": etag } });
    };
    for (const [index, till] of tills.entries()) {
      const reportId = computeTillReportId(till.id);
      for (const version of ["v1", "v2"]) {
        work.push(() => readOne(`/${version}/reports/${reportId}`));
        for (const id of till.orderIds) work.push(() => readOne(`/${version}/orders/${id}`));
      }
      const [firstId = till.id] = till.orderIds;
      work.push(
        () => read(key, `/v1/orders/${firstId.toUpperCase()}`),
        () => read(key, `/v2/reports/${reportId}`, { method: "HEAD" }),
        () => read(key, `/v2/orders/${firstId}`, { method: "HEAD" }),
        () => read(adminKey, `/v2/reports/${reportId}`),
        () => read(adminKey, `/v1/orders/${firstId}`),
        () => read(key, `/v1/tills/${till.id}`),
        () => read(key, `/v1/tills/${till.id}/object`),
        () => read(key, `/v1/orders/?reportId=${reportId}&size=100`),
        () => read(key, `/v1/orders/?reportId=${reportId}&size=2&index=1`),
        () => read(key, `/v1/orders/?reportId=${reportId}&since=${till.day}`),
        () => read(key, `/v1/orders/?reportId=${reportId}&until=${till.day}`),
      );
      if (index % 3 === 0)
        for (const list of ["/v1/orders/", "/v1/reports/", "/v2/reports/"])
          for (const filter of [`since=${till.day}`, `until=${till.day}`, `since=${till.day}&until=${till.day}`])
            work.push(() => read(key, `${list}?size=20&${filter}`));
    }
    for (const list of ["/v1/orders/", "/v1/reports/", "/v2/reports/"]) {
      for (const size of [3, 10, 100]) {
        const readByToken = async (filter: string) => {
          let pageToken = "";
          for (let page = 0; page === 0 || pageToken; page += 1) {
            const { text } = await read(
              key,
              `${list}?size=${size}${filter}${pageToken && `&pageToken=${encodeURIComponent(pageToken)}`}`,
            );
            pageToken = (JSON.parse(text) as { nextPageToken: string | null }).nextPageToken ?? "";
          }
        };
        const readByIndex = async () => {
          for (let index = 0; ; index += 1) {
            const { text } = await read(key, `${list}?size=${size}&index=${index}`);
            if ((JSON.parse(text) as { data: unknown[] }).data.length === 0) break;
          }
        };
        work.push(
          () => readByToken(""),
          () => readByToken(`&until=${tills[1]?.day}`),
          readByIndex,
        );
      }
      work.push(() => read(adminKey, `${list}?size=5&locationId=${locationId}`));
      work.push(() => read(key, `${list}?size=5&index=1000000`));
    }
    const exportId = exportIds.get(locationId);
    if (exportId !== undefined) {
      work.push(() => read(key, `/v1/accounting/exports/${exportId}`));
      work.push(() => read(key, `/v1/accounting/exports/${exportId}/files/1`));
    }
  }
  const next = work.values();
  const runRest = async () => {
    for (const each of next) await each();
  };
  await Promise.all(Array.from({ length: maxConcurrentRequests }, runRest));
  return responses;
}

/** Returns the differences between two recordings, at most ten. */
export function listDifferences(expected: RecordedResponses, actual: RecordedResponses): unknown[] {
  const paths = new Set([...expected.keys(), ...actual.keys()]);
  return [...paths]
    .filter((path) => JSON.stringify(expected.get(path)) !== JSON.stringify(actual.get(path)))
    .slice(0, 10)
    .map((path) => ({ path, expected: expected.get(path), actual: actual.get(path) }));
}
