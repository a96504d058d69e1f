import { describe, expect, it } from "vitest";
import { Circuit } from "./circuit.ts";

const options = { failures: 3, firstMs: 5_000, maxMs: 60_000 };

function failing(times: number, at = 0): Circuit {
  const circuit = new Circuit(options);
  for (let time = 0; time < times; time += 1) circuit.failed(at);
  return circuit;
}

describe("an endpoint that fails three times in a row", () => {
  it("is spared for a while, then sent one message as a probe", () => {
    expect(failing(2).allows(0)).toBe(Number.POSITIVE_INFINITY);
    const circuit = failing(3);
    expect(circuit.allows(4_999)).toBe(0);
    expect(circuit.wait(1_000)).toBe(4_000);
    expect(circuit.allows(5_000)).toBe(1);
  });

  it("is spared twice as long each time that the probe fails, a minute at most", () => {
    const circuit = failing(3);
    const waits: number[] = [];
    for (let now = 5_000; waits.length < 6; now += circuit.wait(now)) {
      circuit.failed(now);
      waits.push(circuit.wait(now));
    }
    expect(waits).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  it("is not spared longer for failures of messages that were under way already", () => {
    const circuit = failing(3);
    circuit.failed(1_000);
    circuit.failed(2_000);
    expect(circuit.wait(2_000)).toBe(3_000);
  });

  it("is sent everything again once one message arrives", () => {
    const circuit = failing(3);
    circuit.succeeded();
    expect(circuit.allows(0)).toBe(Number.POSITIVE_INFINITY);
    expect(circuit.isForgettable(0)).toBe(true);
  });
});

it("is forgotten when it has failed no more for twice the longest pause", () => {
  const circuit = failing(3, 1_000);
  expect(circuit.isForgettable(121_000)).toBe(false);
  expect(circuit.isForgettable(121_001)).toBe(true);
});

it("is not spared when some arrive in between", () => {
  const circuit = new Circuit(options);
  for (let time = 0; time < 10; time += 1) {
    circuit.failed(time);
    circuit.failed(time);
    circuit.succeeded();
  }
  expect(circuit.allows(10)).toBe(Number.POSITIVE_INFINITY);
});
