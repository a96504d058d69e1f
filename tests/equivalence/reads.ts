import { describe, expect, it } from "vitest";
import { addressOf, alike, asAdmin, asShop, both, operations, shop } from "./setting.ts";

/** Everything that can be read: whole and in part, by whom it belongs to and by operators, and by who has it already. */
export function describeReads(): void {
  describe.each(operations.filter(({ method }) => method === "GET"))("GET $path is answered alike", (operation) => {
    const { query, isEndless } = operation;
    const place = () => (query.has("locationId") ? { locationId: shop.locationId } : {});

    it("to a key of the location and to an operator's, page by page, day by day", async () => {
      const pages = [{ size: "1" }, { size: "2", index: "1" }, { size: "100" }, { index: "99" }];
      const days = [{ since: "2026-05-30" }, { until: "2026-05-29" }];
      for (const part of [{}, ...(query.has("size") ? pages : []), ...(query.has("since") ? days : [])]) {
        await alike(operation, { path: addressOf(operation, part), ...asShop() });
        const asked = { ...part, ...place() };
        const { body, status } = await alike(operation, { path: addressOf(operation, asked), ...asAdmin() });
        expect(status).toBe(200);
        const { nextPageToken: pageToken } = isEndless ? {} : JSON.parse(body);
        if (pageToken) await alike(operation, { path: addressOf(operation, { ...asked, pageToken }), ...asAdmin() });
      }
    });

    it("with and without a slash, to HEAD, to pages of other origins, and to who has it already", async () => {
      const path = addressOf(operation, place());
      const { headers } = await alike(operation, { path, ...asAdmin() });
      const origin = "https://portal.example";
      for (const address of [path, path.replace(/(\?|$)/, "/$1")]) {
        if (!isEndless) await both.alike({ method: "HEAD", path: address, ...asAdmin() });
        await alike(operation, { path: address, ...asAdmin({ origin, "accept-encoding": "gzip, br" }) });
      }
      const tag = headers.find(([name]) => name === "etag")?.[1];
      for (const known of [tag ?? '"none"', `"other", W/${tag}`, "*", '"other"', "not a tag"]) {
        const { status } = await alike(operation, { path, ...asAdmin({ "if-none-match": known }) });
        if (known === tag) expect(status).toBe(304);
      }
    });
  });
}
