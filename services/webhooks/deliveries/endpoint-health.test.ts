import { describe, expect, it } from "vitest";
import { evaluateEndpointHealth } from "./endpoint-health.ts";

const day = 24 * 3_600_000;
const now = new Date("2026-05-29T10:00:00.000Z");
const failingFor = (days: number) => ({
  failingSince: new Date(now.getTime() - days * day),
  warnedAt: null,
  isGone: false,
});

describe("an endpoint that fails", () => {
  it("is let be for two and a half days, then warned of once", () => {
    expect(evaluateEndpointHealth(failingFor(2.49), now)).toBe("nothing");
    expect(evaluateEndpointHealth(failingFor(2.5), now)).toBe("warn");
    expect(evaluateEndpointHealth({ ...failingFor(3), warnedAt: now }, now)).toBe("nothing");
  });

  it("is disabled after five days, warned of or not", () => {
    expect(evaluateEndpointHealth(failingFor(4.99), now)).toBe("warn");
    expect(evaluateEndpointHealth(failingFor(5), now)).toEqual("failing");
    expect(evaluateEndpointHealth({ ...failingFor(5), warnedAt: now }, now)).toEqual("failing");
  });

  it("is disabled at once when it is gone", () => {
    expect(evaluateEndpointHealth({ ...failingFor(0), isGone: true }, now)).toEqual("gone");
  });
});
