import { problemSchema } from "@pragma/contracts/errors";
import { OrderV1 } from "@pragma/contracts/order-v1";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { ReportV0 } from "@pragma/contracts/report-v0";
import { ReportListItem } from "@pragma/contracts/report-v2";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { ProductUnderTest } from "../harness/product-under-test.ts";
import type { TestLocation } from "../harness/test-location.ts";

/** A list, and the time that its items are sorted by. */
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

/** How reads went: how many were answered, put off (503) and cut off. */
export interface ReadCounts {
  answered: number;
  putOff: number;
  cutOff: number;
}

interface ReadContext {
  product: ProductUnderTest;
  shop: TestLocation;
  tally: ReadCounts;
}

/** How long a client waits before it tries again, in milliseconds. */
const retryDelayMs = 250;

/** A GET as a client in the field does it: again when it is put off or cut off. Throws at any other answer than 200. */
async function readWithRetries({ product, shop, tally }: ReadContext, path: string): Promise<unknown> {
  for (;;) {
    const reply = await fetch(product.url + path, { headers: { authorization: shop.key } })
      .then(async (answer) => ({ answer, text: await answer.text() }))
      .catch(() => undefined);
    if (!reply) tally.cutOff += 1;
    else if (reply.answer.status === 200) {
      tally.answered += 1;
      return JSON.parse(reply.text);
    } else {
      const { status, code } = problemSchema.parse(JSON.parse(reply.text));
      if (status !== 503 || !reply.answer.headers.has("retry-after")) throw new Error(`${path}: ${status} ${code}`);
      tally.putOff += 1;
    }
    await sleep(retryDelayMs);
  }
}

/** Walks a whole list by its page tokens; throws when a page is malformed, out of order, or repeats anything. */
async function readAllPages<Item extends { id: string }>(
  reading: ReadContext,
  { path, page, timeOf }: PaginatedList<Item>,
): Promise<Item[]> {
  const items: Item[] = [];
  const ids = new Set<string>();
  let token: string | null = null;
  do {
    const { data, nextPageToken } = page.parse(
      await readWithRetries(reading, token ? `${path}&pageToken=${token}` : path),
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

/** Reads the shop's reports and orders over and over until told to stop: whatever was in a list stays there. */
export async function readListsUntilAborted(reading: ReadContext, signal: AbortSignal): Promise<void> {
  const known = { reports: new Set<string>(), orders: new Set<string>() };
  while (!signal.aborted) {
    const listed = await readAllPages(reading, reports);
    expectNothingRemoved("/v2/reports", known.reports, listed);
    for (const { id } of listed.slice(0, 3)) await readWithRetries(reading, `/v2/reports/${id}`);
    expectNothingRemoved("/v1/orders", known.orders, await readAllPages(reading, orders));
    await readAllPages(reading, reportsV0);
    await sleep(retryDelayMs, signal);
  }
}

function expectNothingRemoved(what: string, known: Set<string>, items: { id: string }[]): void {
  const now = new Set(items.map(({ id }) => id));
  for (const id of known) if (!now.has(id)) throw new Error(`${what} lost ${id}`);
  for (const id of now) known.add(id);
}

/** The ids of everything that the shop can read. */
export async function readAllIds(
  product: ProductUnderTest,
  shop: TestLocation,
): Promise<{ reports: string[]; orders: string[] }> {
  const reading = { product, shop, tally: { answered: 0, putOff: 0, cutOff: 0 } };
  const ids = async <Item extends { id: string }>(list: PaginatedList<Item>) =>
    (await readAllPages(reading, list)).map(({ id }) => id);
  return { reports: await ids(reports), orders: await ids(orders) };
}
