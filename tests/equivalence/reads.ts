import { describe, expect, it } from "vitest";
import { withHeaders, withQuery } from "../contract/any-operation.ts";
import { operations } from "../contract/operations.ts";
import { askFor, both, rawOf, worlds } from "./setting.ts";

/** Everything that can be read: page by page, by whom it belongs to and by operators, and by who has it already. */
export function describeReads(): void {
  describe.each(operations.filter(({ method }) => method === "GET"))("GET $path is answered alike", (operation) => {
    const takes = (name: string) => operation.queryParameters.includes(name);

    it("page by page and day by day, to a key of the location and to an operator's", async () => {
      const ordinary = await askFor(operation, "together");
      const pages = [{ size: "1" }, { size: "2", index: "1" }, { size: "100" }, { index: "99" }];
      const days = [{ since: "2026-05-30" }, { until: "2026-05-29" }];
      for (const part of [{}, ...(takes("size") ? pages : []), ...(takes("since") ? days : [])]) {
        const ask = withQuery(ordinary, part);
        const { status, body } = await both.alike(rawOf(operation, ask));
        expect(status).toBe(200);
        await both.alike(rawOf(operation, { ...ask, key: worlds.together.product.adminKey }));
        const pageToken = takes("pageToken") && JSON.parse(body).nextPageToken;
        if (pageToken) await both.alike(rawOf(operation, withQuery(ask, { pageToken })));
      }
    });

    it("with and without a slash, to HEAD, to pages of other origins, and to who has it already", async () => {
      const ask = await askFor(operation, "together");
      const request = rawOf(operation, ask);
      const { headers } = await both.alike(request);
      const portal = withHeaders(ask, { origin: "https://portal.example", "accept-encoding": "gzip, br" });
      for (const path of [request.path, request.path.replace(/(\?|$)/, "/$1")]) {
        if (!request.headOnly) await both.alike({ ...request, method: "HEAD", path });
        await both.alike({ ...rawOf(operation, portal), path });
      }
      const tag = headers.find(([name]) => name === "etag")?.[1];
      for (const known of [tag ?? '"none"', `"other", W/${tag}`, "*", '"other"', "not a tag"]) {
        const { status } = await both.alike(rawOf(operation, withHeaders(ask, { "if-none-match": known })));
        if (known === tag) expect(status).toBe(304);
      }
    });
  });
}
