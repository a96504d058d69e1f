import { describe, expect, it } from "vitest";
import { apiOperations } from "../contract/api-operations.ts";
import { addContractTestRequestQuery, mergeRequestHeaders } from "../contract/common-error-requests.ts";
import { buildRequestCausing, contractFixtures, pragmaInBothModes, toRawHttpRequest } from "./equivalence-fixture.ts";

/** The use of quotas by all locations changes at any time, also between the two requests that are compared. */
const comparableReads = apiOperations.filter(({ method, id }) => method === "GET" && id !== "listMostUsedQuotas");

/** Defines tests of all reads, with pages, date filters, keys of locations and operators, and conditional requests. */
export function defineReadTests(): void {
  describe.each(comparableReads)("GET $path has equal responses", (operation) => {
    const hasParameter = (name: string) => operation.queryParameters.includes(name);

    it("for pages and days, with an API key of the location and an admin key", async () => {
      const successRequest = await buildRequestCausing(operation, "singleProcess");
      const pages = [{ size: "1" }, { size: "2", index: "1" }, { size: "100" }, { index: "99" }];
      const days: Record<string, string>[] = hasParameter("granularity")
        ? [{ granularity: "day", since: "2026-05-29T00:00:00Z", until: "2026-05-30T00:00:00Z" }]
        : [{ since: "2026-05-30" }, { until: "2026-05-29" }];
      for (const part of [{}, ...(hasParameter("size") ? pages : []), ...(hasParameter("since") ? days : [])]) {
        const operationRequest = addContractTestRequestQuery(successRequest, part);
        const { status, body } = await pragmaInBothModes.expectSameResponse(
          toRawHttpRequest(operation, operationRequest),
        );
        expect(status).toBe(200);
        await pragmaInBothModes.expectSameResponse(
          toRawHttpRequest(operation, {
            ...operationRequest,
            key: contractFixtures.singleProcess.product.adminKey,
          }),
        );
        const pageToken = hasParameter("pageToken") && JSON.parse(body).nextPageToken;
        if (pageToken)
          await pragmaInBothModes.expectSameResponse(
            toRawHttpRequest(operation, addContractTestRequestQuery(operationRequest, { pageToken })),
          );
      }
    });

    it("with and without a trailing slash, for HEAD, for other origins, and for conditional requests", async () => {
      const operationRequest = await buildRequestCausing(operation, "singleProcess");
      const request = toRawHttpRequest(operation, operationRequest);
      const { headers } = await pragmaInBothModes.expectSameResponse(request);
      const crossOriginRequest = mergeRequestHeaders(operationRequest, {
        origin: "https://portal.example",
        "accept-encoding": "gzip, br",
      });
      for (const path of [request.path, request.path.replace(/(\?|$)/, "/$1")]) {
        if (!request.isHeadersOnly) await pragmaInBothModes.expectSameResponse({ ...request, method: "HEAD", path });
        await pragmaInBothModes.expectSameResponse({
          ...toRawHttpRequest(operation, crossOriginRequest),
          path,
        });
      }
      const tag = headers.find(([name]) => name === "etag")?.[1];
      for (const ifNoneMatch of [tag ?? '"none"', `"other", W/${tag}`, "*", '"other"', "not a tag"]) {
        const { status } = await pragmaInBothModes.expectSameResponse(
          toRawHttpRequest(operation, mergeRequestHeaders(operationRequest, { "if-none-match": ifNoneMatch })),
        );
        if (ifNoneMatch === tag) expect(status).toBe(304);
      }
    });
  });
}
