import { describe, expect, it } from "vitest";
import { apiOperations } from "../contract/api-operations.ts";
import { contractFixtures, pragmaInBothModes } from "./equivalence-fixture.ts";

const testedMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE"];
const origin = "https://portal.example";

const withKey = (extraHeaders: Record<string, string> = {}) => ({
  headers: { authorization: contractFixtures.singleProcess.testLocation.key, ...extraHeaders },
});

/** Defines tests of the responses to undocumented methods, unknown paths and unused headers. */
export function defineUndocumentedRequestTests(): void {
  const documented = new Set(apiOperations.map(({ method, path }) => `${method} ${path}`));

  const paths = [...new Set(apiOperations.map(({ path }) => path))].map((path, at) => ({ path, at }));
  it.each(paths)("$path has equal responses to other methods", async ({ path, at }) => {
    const requestPath = path.replaceAll(/\{\w+\}/g, "00000000-0000-4000-8000-00000000dead");
    const others = testedMethods.filter((method) => !documented.has(`${method === "HEAD" ? "GET" : method} ${path}`));
    // The same code rejects methods on all paths, so each path is tested with only a third of the methods.
    for (const method of others.filter((_, index) => (index + at) % 3 === 0)) {
      const { status } = await pragmaInBothModes.expectSameResponse({
        method,
        path: requestPath,
        ...withKey(),
      });
      // Status 400 if the path matches a route with a path parameter, such as /v2/reports/{id}, which rejects the id.
      expect(status).toBeOneOf(method === "OPTIONS" ? [204] : [400, 405]);
    }
    const preflightHeaders = {
      origin,
      "access-control-request-method": "PUT",
      "access-control-request-headers": "authorization",
    };
    await pragmaInBothModes.expectSameResponse({
      method: "OPTIONS",
      path: requestPath,
      headers: preflightHeaders,
    });
    await pragmaInBothModes.expectSameResponse({
      method: "OPTIONS",
      path: `${requestPath}/`,
      headers: { origin },
    });
  });

  it.each([
    ...["/", "//", "*", "/v1", "/v3/reports", "/v2/reportsx", "/v2/reports/a/b", "/v2/reports//", "//v2/reports"],
    ...["/v2/./reports", "/v2/x/../reports", "/v2/reports/..", "/v2/%2e%2e/v2/reports", "/v2\\reports", "/V2/Reports"],
    ...[
      "/%",
      "/v2/reports/%",
      "/v2/reports/%00",
      "/v2/reports/%41",
      "/v2/rep%6Frts",
      "/v2/reports;a=b",
      "/v2/reports#x",
    ],
    ...[
      "/v2/reports?",
      "/v2/reports?&&=&size",
      "/v2/reports?size=1&size=0",
      "/v2/reports?size=%31",
      "/v2/reports?size=1%",
    ],
    ...["/v2/reports?since=2026-02-29&x=%ff%00", "/v2/reports?x=é", `/v2/reports?${"a=b&".repeat(2_000)}`],
    ...["/internal/keys/x", "/internal/locations/", "/live", "/metrics", "http://other.example/v2/reports"],
  ])("%s has equal responses", async (path) => {
    for (const method of ["GET", "HEAD", "OPTIONS", "POST"])
      await pragmaInBothModes.expectSameResponse({ method, path, ...withKey() });
  });

  it.each([
    [undefined, 200],
    ["handling=lenient", 200],
    ["handling=strict", 400],
  ])("unknown query parameters have equal responses with the preference %s", async (prefer, expected) => {
    for (const path of ["/v2/reports?untill=2026-05-29&size=1", "/health?x=1"]) {
      const request = { method: "GET", path, ...withKey(prefer === undefined ? {} : { prefer }) };
      const { status, headers } = await pragmaInBothModes.expectSameResponse(request);
      const ignored = headers.find(([name]) => name === "x-ignored-parameters")?.[1];
      const name = path.startsWith("/health") ? "x" : "untill";
      expect([status, ignored]).toEqual([expected, expected === 200 ? name : undefined]);
    }
  });

  describe("unused headers have equal responses", () => {
    it.each([
      ["x-pragma-principal", "e30"],
      ["x-forwarded-host", "evil.example"],
      ["x-forwarded-proto", "https"],
      ["forwarded", "for=1;host=evil.example"],
      ["te", "trailers"],
      ["connection", "close, x-secret"],
      ["x-secret", "\xe9\xff"],
      ["cookie", "a=b"],
      ["range", "bytes=0-1"],
      ["if-modified-since", "Thu, 01 Jan 2099 00:00:00 GMT"],
      ["accept", "text/html"],
      ["traceparent", "no"],
      ["x-request-id", "\xe9"],
    ])("%s: %s", async (name, value) => {
      await pragmaInBothModes.expectSameResponse({
        method: "GET",
        path: "/v2/reports",
        ...withKey({ [name]: value }),
      });
    });

    it("a body of a GET request", async () => {
      for (const isChunked of [false, true])
        await pragmaInBothModes.expectSameResponse({
          method: "GET",
          path: "/v2/reports",
          ...withKey(),
          body: "unexpected",
          isChunked,
        });
    });
  });
}
