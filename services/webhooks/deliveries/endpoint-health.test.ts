import { describe, expect, it } from "vitest";
import { chooseEndpointAction } from "./endpoint-health.ts";

const dayMs = 24 * 3_600_000;
const now = new Date("2026-05-29T10:00:00.000Z");
const failingFor = (days: number) => ({
  failingSince: new Date(now.getTime() - days * dayMs),
  warnedAt: null,
  isGone: false,
});

describe("a failing endpoint", () => {
  it("causes one warning after two and a half days", () => {
    expect(chooseEndpointAction(failingFor(2.49), now)).toBe("nothing");
    expect(chooseEndpointAction(failingFor(2.5), now)).toBe("warn");
    expect(chooseEndpointAction({ ...failingFor(3), warnedAt: now }, now)).toBe("nothing");
  });

  it("is disabled after five days, with or without an earlier warning", () => {
    expect(chooseEndpointAction(failingFor(4.99), now)).toBe("warn");
    expect(chooseEndpointAction(failingFor(5), now)).toEqual("failing");
    expect(chooseEndpointAction({ ...failingFor(5), warnedAt: now }, now)).toEqual("failing");
  });

  it("is disabled immediately when it responds that it is gone", () => {
    expect(chooseEndpointAction({ ...failingFor(0), isGone: true }, now)).toEqual("gone");
  });
});
