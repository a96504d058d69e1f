import { describe, expect, it } from "vitest";
import { CircuitBreaker } from "./circuit-breaker.ts";

const options = { failureThreshold: 3, initialOpenMs: 5_000, maxOpenMs: 60_000 };

function createFailedCircuitBreaker(times: number, at = 0): CircuitBreaker {
  const circuit = new CircuitBreaker(options);
  for (let time = 0; time < times; time += 1) circuit.recordFailure(at);
  return circuit;
}

describe("an endpoint that fails three times in a row", () => {
  it("is spared for a while, then sent one message as a probe", () => {
    expect(createFailedCircuitBreaker(2).maxConcurrentAt(0)).toBe(Number.POSITIVE_INFINITY);
    const circuit = createFailedCircuitBreaker(3);
    expect(circuit.maxConcurrentAt(4_999)).toBe(0);
    expect(circuit.remainingOpenMs(1_000)).toBe(4_000);
    expect(circuit.maxConcurrentAt(5_000)).toBe(1);
  });

  it("is spared twice as long each time that the probe fails, a minute at most", () => {
    const circuit = createFailedCircuitBreaker(3);
    const waits: number[] = [];
    for (let now = 5_000; waits.length < 6; now += circuit.remainingOpenMs(now)) {
      circuit.recordFailure(now);
      waits.push(circuit.remainingOpenMs(now));
    }
    expect(waits).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  it("is not spared longer for failures of messages that were under way already", () => {
    const circuit = createFailedCircuitBreaker(3);
    circuit.recordFailure(1_000);
    circuit.recordFailure(2_000);
    expect(circuit.remainingOpenMs(2_000)).toBe(3_000);
  });

  it("is sent everything again once one message arrives", () => {
    const circuit = createFailedCircuitBreaker(3);
    circuit.recordSuccess();
    expect(circuit.maxConcurrentAt(0)).toBe(Number.POSITIVE_INFINITY);
    expect(circuit.isExpired(0)).toBe(true);
  });
});

it("is forgotten when it has failed no more for twice the longest pause", () => {
  const circuit = createFailedCircuitBreaker(3, 1_000);
  expect(circuit.isExpired(121_000)).toBe(false);
  expect(circuit.isExpired(121_001)).toBe(true);
});

it("is not spared when some arrive in between", () => {
  const circuit = new CircuitBreaker(options);
  for (let time = 0; time < 10; time += 1) {
    circuit.recordFailure(time);
    circuit.recordFailure(time);
    circuit.recordSuccess();
  }
  expect(circuit.maxConcurrentAt(10)).toBe(Number.POSITIVE_INFINITY);
});
