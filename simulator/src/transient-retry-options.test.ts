import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createApiClient } from "@pragma/client/api-client";
import { describe, expect, it } from "vitest";
import { createRetryOptions, systemClock } from "./transient-retry-options.ts";

/**
 * Returns a client whose attempts have these outcomes, one after the other. All later attempts have status 200. One
 * call can make several attempts.
 */
function createClientWith(...outcomes: (number | "unreachable")[]) {
  const stop = new AbortController();
  const waits: number[] = [];
  const lines: string[] = [];
  const clock = { now: () => 0, wait: async (milliseconds: number) => void waits.push(milliseconds) };
  const options = {
    clock: {
      ...clock,
      wait: async (ms: number, signal: AbortSignal) => clock.wait(ms).then(() => signal.throwIfAborted()),
    },
    signal: stop.signal,
    log: (line: string) => void lines.push(line),
    fetch: async () => {
      const outcome = outcomes.shift() ?? 200;
      if (outcome === "unreachable") throw new TypeError("fetch failed");
      return Response.json(
        { status: outcome, code: "invalid_request", title: "No", detail: "No" },
        { status: outcome },
      );
    },
  };
  const client = createApiClient({
    baseUrl: "http://localhost:4000",
    apiKey: "key",
    ...createRetryOptions(options),
  });
  return { stop, waits, lines, call: () => client.GET("/v1/locations/own") };
}

describe("createRetryOptions", () => {
  it("retries without limit, with growing delays, and logs the outage once", async () => {
    const { call, waits, lines } = createClientWith(...Array<"unreachable">(20).fill("unreachable"), 500, 503, 429);
    await call();
    expect(waits).toHaveLength(23);
    expect(waits[0]).toBeLessThan(waits[8] ?? 0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
    expect(lines).toEqual([expect.stringContaining("got no response: fetch failed"), "The API is available again"]);
  });

  it("does not log a short outage", async () => {
    const { call, lines } = createClientWith(429, "unreachable", 503);
    await call();
    expect(lines).toEqual([]);
  });

  it("throws an error that a retry would not fix", async () => {
    const { call, waits } = createClientWith(400);
    await expect(call()).rejects.toThrow("responded 400");
    expect(waits).toEqual([]);
  });

  it("stops retrying when the signal is aborted", async () => {
    const { call, stop, waits } = createClientWith(...Array<503>(20).fill(503));
    stop.abort(new Error("stopped"));
    await expect(call()).rejects.toThrow();
    expect(waits).toHaveLength(1);
  });

  it("aborts a call in flight when the signal is aborted", async () => {
    const server = createServer(() => stop.abort(new Error("stopped"))).listen(0);
    await once(server, "listening");
    const stop = new AbortController();
    const lines: string[] = [];
    const client = createApiClient({
      baseUrl: `http://localhost:${(server.address() as AddressInfo).port}`,
      apiKey: "key",
      ...createRetryOptions({ clock: systemClock, signal: stop.signal, log: (line) => lines.push(line) }),
    });
    try {
      await expect(client.GET("/v1/locations/own")).rejects.toThrow("got no");
      expect(lines).toEqual([]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }, 5_000);
});
