import { describe, expect, it } from "vitest";
import { apiOperations } from "../contract/api-operations.ts";
import { withHeaders, withQuery } from "../contract/common-error-requests.ts";
import { bothModes, buildOutcomeRequest, fixturesByMode, toRawRequest } from "./equivalence-fixture.ts";

/** Everything that can be read: page by page, by whom it belongs to and by operators, and by who has it already. */
export function describeReads(): void {
  describe.each(apiOperations.filter(({ method }) => method === "GET"))("GET $path is answered alike", (operation) => {
    const takes = (name: string) => operation.queryParameters.includes(name);

    it("page by page and day by day, to a key of the location and to an operator's", async () => {
      const ordinary = await buildOutcomeRequest(operation, "together");
      const pages = [{ size: "1" }, { size: "2", index: "1" }, { size: "100" }, { index: "99" }];
      const days = [{ since: "2026-05-30" }, { until: "2026-05-29" }];
      for (const part of [{}, ...(takes("size") ? pages : []), ...(takes("since") ? days : [])]) {
        const ask = withQuery(ordinary, part);
        const { status, body } = await bothModes.expectSameResponse(toRawRequest(operation, ask));
        expect(status).toBe(200);
        await bothModes.expectSameResponse(
          toRawRequest(operation, { ...ask, key: fixturesByMode.together.product.adminKey }),
        );
        const pageToken = takes("pageToken") && JSON.parse(body).nextPageToken;
        if (pageToken) await bothModes.expectSameResponse(toRawRequest(operation, withQuery(ask, { pageToken })));
      }
    });

    it("with and without a slash, to HEAD, to pages of other origins, and to who has it already", async () => {
      const ask = await buildOutcomeRequest(operation, "together");
      const request = toRawRequest(operation, ask);
      const { headers } = await bothModes.expectSameResponse(request);
      const portal = withHeaders(ask, { origin: "https://portal.example", "accept-encoding": "gzip, br" });
      for (const path of [request.path, request.path.replace(/(\?|$)/, "/$1")]) {
        if (!request.isHeadersOnly) await bothModes.expectSameResponse({ ...request, method: "HEAD", path });
        await bothModes.expectSameResponse({ ...toRawRequest(operation, portal), path });
      }
      const tag = headers.find(([name]) => name === "etag")?.[1];
      for (const known of [tag ?? '"none"', `"other", W/${tag}`, "*", '"other"', "not a tag"]) {
        const { status } = await bothModes.expectSameResponse(
          toRawRequest(operation, withHeaders(ask, { "if-none-match": known })),
        );
        if (known === tag) expect(status).toBe(304);
      }
    });
  });
}
