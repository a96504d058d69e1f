import { setTimeout as sleep } from "node:timers/promises";

/**
 * The settings of an older client. Older clients send a bearer key, use paths without a trailing slash, and send the
 * location and the period as query parameters of every request, even if the API ignores these parameters.
 */
export interface OlderTestClientSettings {
  url: string;
  apiKey: string;
  locationId: string;
  /** The first day of the period, as YYYY-MM-DD. */
  from: string;
  to: string;
}

/** Sends a GET request with retries after status 429, and returns the parsed body. */
export async function fetchAsOlderTestClient<Body>(
  api: OlderTestClientSettings,
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

/** Returns all items of a list. Requests pages of 100 items, up to the number of pages that each response states. */
export async function fetchAllPagesAsOlderTestClient<Item>(
  api: OlderTestClientSettings,
  path: string,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let index = 0, pages = 1; index < pages; index++) {
    const page = await fetchAsOlderTestClient<Page<Item>>(api, path, { size: "100", index: String(index) });
    items.push(...page.data);
    pages = page.meta.totalPage;
  }
  return items;
}
