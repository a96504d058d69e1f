import { describe, expect, it } from "vitest";
import { readTarget } from "./target.ts";
import { routeOf } from "./upstreams.ts";

describe("a path", () => {
  it.each([
    ["/v1/tills", "till-ingest"],
    ["/v1/tills/", "till-ingest"],
    ["/v2/tills/1/object", "till-ingest"],
    ["/v1/reports/x", "reporting"],
    ["/v2/orders", "reporting"],
    ["/v1/orders/x", "reporting"],
    ["/v1/orders-live", "order-live"],
    ["/v1/orders-live/stream", "order-live"],
    ["/v1/catalog/", "catalog"],
    ["/v1/catalog/taxes", "catalog"],
    ["/v1/auth/keys/", "accounts"],
    ["/v1/locations/own", "accounts"],
  ])("%s is answered by %s", (path, service) => {
    expect(routeOf(path)?.service).toBe(service);
  });

  it.each([
    "/",
    "/v1",
    "/v1/",
    "/v1/till",
    "/v1/tillsx",
    "/v1/orders-livex",
    "/v2/locations",
    "/internal/keys/x",
    "/*",
  ])("%s is answered by no service", (path) => {
    expect(routeOf(path)).toBeUndefined();
  });
});

describe("a target", () => {
  it.each([
    ["/v1/tills/?a=b&c=%20", "/v1/tills/", "?a=b&c=%20"],
    ["/v1/tills?", "/v1/tills", "?"],
    ["/v1/tills/../reports/", "/v1/reports/", ""],
    ["/v1/tills/%2E%2e/reports?x=../y", "/v1/reports", "?x=../y"],
    ["/v1/tills\\..\\..\\internal", "/internal", ""],
    ["/v1/t%69lls", "/v1/t%69lls", ""],
    ["//evil.example/v1/tills", "//evil.example/v1/tills", ""],
    ["http://any.example/v1/tills?x", "/v1/tills", "?x"],
    ["*", "/*", ""],
  ])("%s is read as %s", (url, path, search) => {
    expect(readTarget(url)).toEqual({ path, search });
  });

  it.each(["http://[", "nonsense"])("%s is refused", (url) => {
    expect(() => readTarget(url)).toThrow("cannot be read");
  });
});
