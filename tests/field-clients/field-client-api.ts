import { setTimeout as sleep } from "node:timers/promises";

/**
 * How programs that were written against the API years ago speak to it: a bearer key, paths without the trailing slash,
 * and on every request the location and a period, whether or not the address knows such parameters.
 */
export interface FieldClientApi {
  url: string;
  apiKey: string;
  locationId: string;
  /** YYYY-MM-DD. */
  from: string;
  to: string;
}

/** Gets an address, and waits when it is told to. */
export async function fetchFieldApi<Body>(
  api: FieldClientApi,
  path: string,
  query: Record<string, string> = {},
): Promise<Body> {
  const { url, apiKey, locationId, from, to } = api;
  const address = `${url}${path}?${new URLSearchParams({ locationId, from, to, ...query })}`;
  for (;;) {
    const response = await fetch(address, { headers: { Authorization: `Bearer ${apiKey}` } });
    if (response.status === 200) return (await response.json()) as Body;
    if (response.status !== 429) throw new Error(`${address} answered ${response.status}: ${await response.text()}`);
    await sleep(1000 * Number(response.headers.get("retry-after") ?? 1));
  }
}

interface Page<Item> {
  data: Item[];
  meta: { totalPage: number };
}

/** Everything in a list, a hundred at a time: the first page says how many there are. */
export async function fetchAllPages<Item>(api: FieldClientApi, path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let index = 0, pages = 1; index < pages; index++) {
    const page = await fetchFieldApi<Page<Item>>(api, path, { size: "100", index: String(index) });
    items.push(...page.data);
    pages = page.meta.totalPage;
  }
  return items;
}
