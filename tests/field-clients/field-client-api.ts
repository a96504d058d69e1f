import { setTimeout as sleep } from "node:timers/promises";

/**
 * Access to the API as older clients use it: with a bearer key, paths without a trailing slash, and location and period
 * as query parameters of every request, even if the API does not define these parameters.
 */
export interface OlderClientApiAccess {
  url: string;
  apiKey: string;
  locationId: string;
  /** YYYY-MM-DD. */
  from: string;
  to: string;
}

/** Sends a GET, with retries after 429. Returns the parsed body. */
export async function fetchAsOlderClient<Body>(
  api: OlderClientApiAccess,
  path: string,
  query: Record<string, string> = {},
): Promise<Body> {
  const { url, apiKey, locationId, from, to } = api;
  const requestUrl = `${url}${path}?${new URLSearchParams({ locationId, from, to, ...query })}`;
  for (;;) {
    const response = await fetch(requestUrl, { headers: { Authorization: `Bearer ${apiKey}` } });
    if (response.status === 200) return (await response.json()) as Body;
    if (response.status !== 429) throw new Error(`${requestUrl} returned ${response.status}: ${await response.text()}`);
    await sleep(1000 * Number(response.headers.get("retry-after") ?? 1));
  }
}

interface Page<Item> {
  data: Item[];
  meta: { totalPage: number };
}

/** Returns all items of a list. Requests pages of 100 items; the first page states the number of pages. */
export async function fetchAllPages<Item>(api: OlderClientApiAccess, path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let index = 0, pages = 1; index < pages; index++) {
    const page = await fetchAsOlderClient<Page<Item>>(api, path, { size: "100", index: String(index) });
    items.push(...page.data);
    pages = page.meta.totalPage;
  }
  return items;
}
