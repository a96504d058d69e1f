import { OrderV1 } from "@pragma/contracts/order-v1";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { problemSchema } from "@pragma/contracts/problem";
import { ReportV0 } from "@pragma/contracts/report-v0";
import { ReportListItem } from "@pragma/contracts/report-v2";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { PragmaUnderTest } from "../harness/pragma-under-test.ts";
import type { TestLocation } from "../harness/test-location.ts";

/** A paginated list: its path, the schema of its pages, and the time by which its items are sorted. */
interface PaginatedList<Item extends { id: string }> {
  path: string;
  page: { parse(body: unknown): { data: Item[]; nextPageToken: string | null } };
  timeOf(item: Item): string;
}

const reports: PaginatedList<ReportListItem> = {
  path: "/v2/reports/?size=7",
  page: paginatedSchema(ReportListItem),
  timeOf: ({ startedAt }) => startedAt,
};
const reportsV0: PaginatedList<ReportV0> = {
  path: "/v1/reports/?size=3",
  page: paginatedSchema(ReportV0),
  timeOf: ({ startedAt }) => startedAt,
};
const orders: PaginatedList<OrderV1> = {
  path: "/v1/orders/?size=30",
  page: paginatedSchema(OrderV1),
  timeOf: ({ openedAt }) => openedAt,
};

/** The numbers of reads that succeeded, that were rejected with status 503, and that lost their connection. */
export interface TestApiReadOutcomeCounts {
  succeeded: number;
  unavailable: number;
  disconnected: number;
}

interface ReadContext {
  product: PragmaUnderTest;
  testLocation: TestLocation;
  counts: TestApiReadOutcomeCounts;
}

const retryDelayMs = 250;

/** Sends a GET request. Retries after status 503 and lost connections. @throws Error for any other error. */
async function readWithRetries({ product, testLocation, counts }: ReadContext, path: string): Promise<unknown> {
  for (;;) {
    const result = await fetch(product.url + path, { headers: { authorization: testLocation.key } })
      .then(async (response) => ({ response, text: await response.text() }))
      .catch(() => undefined);
    if (!result) counts.disconnected += 1;
    else if (result.response.status === 200) {
      counts.succeeded += 1;
      return JSON.parse(result.text);
    } else {
      const { status, code } = problemSchema.parse(JSON.parse(result.text));
      if (status !== 503 || !result.response.headers.has("retry-after")) throw new Error(`${path}: ${status} ${code}`);
      counts.unavailable += 1;
    }
    await sleep(retryDelayMs);
  }
}

/** Returns all items of a list. @throws Error if a page is malformed, is not sorted, or repeats an item. */
async function readAllPages<Item extends { id: string }>(
  context: ReadContext,
  { path, page, timeOf }: PaginatedList<Item>,
): Promise<Item[]> {
  const items: Item[] = [];
  const ids = new Set<string>();
  let token: string | null = null;
  do {
    const { data, nextPageToken } = page.parse(
      await readWithRetries(context, token ? `${path}&pageToken=${token}` : path),
    );
    for (const item of data) {
      const last = items.at(-1);
      if (ids.has(item.id)) throw new Error(`${path} repeats ${item.id}`);
      if (last && Date.parse(timeOf(last)) < Date.parse(timeOf(item))) throw new Error(`${path} is out of order`);
      ids.add(item.id);
      items.push(item);
    }
    token = nextPageToken;
  } while (token !== null);
  return items;
}

/** Reads the lists of reports and orders until `signal` is aborted. @throws Error if an item disappears from a list. */
export async function assertDocumentsStayListed(context: ReadContext, signal: AbortSignal): Promise<void> {
  const seen = { reports: new Set<string>(), orders: new Set<string>() };
  while (!signal.aborted) {
    const listed = await readAllPages(context, reports);
    expectNothingRemoved("/v2/reports", seen.reports, listed);
    for (const { id } of listed.slice(0, 3)) await readWithRetries(context, `/v2/reports/${id}`);
    expectNothingRemoved("/v1/orders", seen.orders, await readAllPages(context, orders));
    await readAllPages(context, reportsV0);
    await sleep(retryDelayMs, signal);
  }
}

function expectNothingRemoved(listPath: string, seen: Set<string>, items: { id: string }[]): void {
  const current = new Set(items.map(({ id }) => id));
  for (const id of seen) if (!current.has(id)) throw new Error(`${listPath} lost ${id}`);
  for (const id of current) seen.add(id);
}

/** Returns the ids of all reports and orders of the location. */
export async function fetchAllDocumentIds(
  product: PragmaUnderTest,
  testLocation: TestLocation,
): Promise<{ reports: string[]; orders: string[] }> {
  const context = { product, testLocation, counts: { succeeded: 0, unavailable: 0, disconnected: 0 } };
  const readIds = async <Item extends { id: string }>(list: PaginatedList<Item>) =>
    (await readAllPages(context, list)).map(({ id }) => id);
  return { reports: await readIds(reports), orders: await readIds(orders) };
}
