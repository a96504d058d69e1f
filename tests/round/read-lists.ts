import { problemSchema } from "@pragma/contracts/errors";
import { OrderV1 } from "@pragma/contracts/order-v1";
import { pageOf } from "@pragma/contracts/pagination";
import { ReportV0 } from "@pragma/contracts/report-v0";
import { ReportListItem } from "@pragma/contracts/report-v2";
import { sleep } from "@pragma/runtime/sleep";
import type { Product } from "../harness/product.ts";
import type { Shop } from "../harness/shop.ts";

/** A list, and the time that its items are sorted by. */
interface List<Item extends { id: string }> {
  path: string;
  page: { parse(body: unknown): { data: Item[]; nextPageToken: string | null } };
  timeOf(item: Item): string;
}

const reports: List<ReportListItem> = {
  path: "/v2/reports/?size=7",
  page: pageOf(ReportListItem),
  timeOf: ({ startedAt }) => startedAt,
};
const wholeReports: List<ReportV0> = {
  path: "/v1/reports/?size=3",
  page: pageOf(ReportV0),
  timeOf: ({ startedAt }) => startedAt,
};
const orders: List<OrderV1> = {
  path: "/v1/orders/?size=30",
  page: pageOf(OrderV1),
  timeOf: ({ openedAt }) => openedAt,
};

/** How reads went: how many were answered, put off (503) and cut off. */
export interface ReadTally {
  answered: number;
  putOff: number;
  cutOff: number;
}

interface Reading {
  product: Product;
  shop: Shop;
  tally: ReadTally;
}

/** How long a client waits before it tries again, in milliseconds. */
const patience = 250;

/** A GET as a client in the field does it: again when it is put off or cut off. Throws at any other answer than 200. */
async function read({ product, shop, tally }: Reading, path: string): Promise<unknown> {
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
    await sleep(patience);
  }
}

/** Walks a whole list by its page tokens; throws when a page is malformed, out of order, or repeats anything. */
async function walk<Item extends { id: string }>(
  reading: Reading,
  { path, page, timeOf }: List<Item>,
): Promise<Item[]> {
  const items: Item[] = [];
  const ids = new Set<string>();
  let token: string | null = null;
  do {
    const { data, nextPageToken } = page.parse(await read(reading, token ? `${path}&pageToken=${token}` : path));
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
export async function keepReading(reading: Reading, signal: AbortSignal): Promise<void> {
  const known = { reports: new Set<string>(), orders: new Set<string>() };
  while (!signal.aborted) {
    const listed = await walk(reading, reports);
    stays("/v2/reports", known.reports, listed);
    for (const { id } of listed.slice(0, 3)) await read(reading, `/v2/reports/${id}`);
    stays("/v1/orders", known.orders, await walk(reading, orders));
    await walk(reading, wholeReports);
    await sleep(patience, signal);
  }
}

function stays(what: string, known: Set<string>, items: { id: string }[]): void {
  const now = new Set(items.map(({ id }) => id));
  for (const id of known) if (!now.has(id)) throw new Error(`${what} lost ${id}`);
  for (const id of now) known.add(id);
}

/** The ids of everything that the shop can read. */
export async function readEverything(product: Product, shop: Shop): Promise<{ reports: string[]; orders: string[] }> {
  const reading = { product, shop, tally: { answered: 0, putOff: 0, cutOff: 0 } };
  const ids = async <Item extends { id: string }>(list: List<Item>) => (await walk(reading, list)).map(({ id }) => id);
  return { reports: await ids(reports), orders: await ids(orders) };
}
