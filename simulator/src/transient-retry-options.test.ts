import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createApiClient } from "@pragma/client/api-client";
import { describe, expect, it } from "vitest";
import { createTransientRetryOptions, systemClock } from "./transient-retry-options.ts";

/** A client of an API whose calls end so, one after the other; then they are answered with 200. */
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
    ...createTransientRetryOptions(options),
  });
  return { stop, waits, lines, call: () => client.GET("/v1/locations/own") };
}

describe("retryTransient", () => {
  it("asks again for as long as it takes, ever more slowly, and says so once", async () => {
    const { call, waits, lines } = createClientWith(...Array<"unreachable">(20).fill("unreachable"), 500, 503, 429);
    await call();
    expect(waits).toHaveLength(23);
    expect(waits[0]).toBeLessThan(waits[8] ?? 0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
    expect(lines).toEqual([expect.stringContaining("got no reply: fetch failed"), "The API answers again"]);
  });

  it("says nothing of a moment's silence", async () => {
    const { call, lines } = createClientWith(429, "unreachable", 503);
    await call();
    expect(lines).toEqual([]);
  });

  it("throws what will be refused again", async () => {
    const { call, waits } = createClientWith(400);
    await expect(call()).rejects.toThrow("answered 400");
    expect(waits).toEqual([]);
  });

  it("ends when it is stopped", async () => {
    const { call, stop, waits } = createClientWith(...Array<503>(20).fill(503));
    stop.abort(new Error("enough"));
    await expect(call()).rejects.toThrow();
    expect(waits).toHaveLength(1);
  });

  it("aborts a call in flight when it is stopped", async () => {
    const server = createServer(() => stop.abort(new Error("enough"))).listen(0);
    await once(server, "listening");
    const stop = new AbortController();
    const lines: string[] = [];
    const client = createApiClient({
      baseUrl: `http://localhost:${(server.address() as AddressInfo).port}`,
      apiKey: "key",
      ...createTransientRetryOptions({ clock: systemClock, signal: stop.signal, log: (line) => lines.push(line) }),
    });
    try {
      await expect(client.GET("/v1/locations/own")).rejects.toThrow("got no reply");
      expect(lines).toEqual([]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }, 5_000);
});
