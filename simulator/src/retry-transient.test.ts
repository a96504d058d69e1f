import { ApiProblem } from "@pragma/client/api-problem";
import { NoReply } from "@pragma/client/unanswered";
import { describe, expect, it } from "vitest";
import { retryTransient } from "./retry-transient.ts";

function problem(status: number): ApiProblem {
  const code = status === 429 ? "rate_limited" : "invalid_request";
  return new ApiProblem("POST /v1/orders-live", { type: "", title: "No", detail: "No", requestId: "", status, code });
}

function options() {
  const stop = new AbortController();
  const waits: number[] = [];
  const lines: string[] = [];
  const clock = { now: () => 0, wait: async (milliseconds: number) => void waits.push(milliseconds) };
  return { stop, waits, lines, clock, signal: stop.signal, say: (line: string) => void lines.push(line) };
}

/** Fails with each of these in turn, then answers. */
function failing(...errors: Error[]) {
  return async () => {
    const error = errors.shift();
    if (error) throw error;
    return "answered";
  };
}

describe("retryTransient", () => {
  it("asks again for as long as it takes, ever more slowly, and says so once", async () => {
    const given = options();
    const outage = Array.from({ length: 8 }, () => new NoReply("POST /v1/orders-live", new Error("refused")));
    expect(await retryTransient(given, failing(...outage, problem(503), problem(429)))).toBe("answered");
    expect(given.waits).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000, 15_000, 15_000]);
    expect(given.lines).toEqual([expect.stringContaining("got no reply"), "The API answers again"]);
  });

  it("throws what will be refused again", async () => {
    const given = options();
    await expect(retryTransient(given, failing(problem(400)))).rejects.toThrow("answered 400");
    expect(given.waits).toEqual([]);
  });

  it("ends when it is stopped", async () => {
    const given = options();
    given.stop.abort(new Error("enough"));
    await expect(retryTransient(given, failing(problem(503)))).rejects.toThrow("enough");
  });
});
