import { describe, expect, it } from "vitest";
import { CircuitBreaker } from "./circuit-breaker.ts";

const options = { failureThreshold: 3, initialOpenMs: 5_000, maxOpenMs: 60_000 };

function createFailedCircuitBreaker(failures: number, now = 0): CircuitBreaker {
  const circuit = new CircuitBreaker(options);
  for (let count = 0; count < failures; count += 1) circuit.recordFailure(now);
  return circuit;
}

describe("the circuit breaker after three consecutive failures", () => {
  it("allows no messages for a while, then one as a probe", () => {
    expect(createFailedCircuitBreaker(2).maxConcurrentAt(0)).toBe(Number.POSITIVE_INFINITY);
    const circuit = createFailedCircuitBreaker(3);
    expect(circuit.maxConcurrentAt(4_999)).toBe(0);
    expect(circuit.remainingOpenMs(1_000)).toBe(4_000);
    expect(circuit.maxConcurrentAt(5_000)).toBe(1);
  });

  it("doubles the open time after each failed probe, up to a minute", () => {
    const circuit = createFailedCircuitBreaker(3);
    const openTimesMs: number[] = [];
    for (let now = 5_000; openTimesMs.length < 6; now += circuit.remainingOpenMs(now)) {
      circuit.recordFailure(now);
      openTimesMs.push(circuit.remainingOpenMs(now));
    }
    expect(openTimesMs).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  it("does not extend the open time for failures of messages that were already in flight", () => {
    const circuit = createFailedCircuitBreaker(3);
    circuit.recordFailure(1_000);
    circuit.recordFailure(2_000);
    expect(circuit.remainingOpenMs(2_000)).toBe(3_000);
  });

  it("closes after one success", () => {
    const circuit = createFailedCircuitBreaker(3);
    circuit.recordSuccess();
    expect(circuit.maxConcurrentAt(0)).toBe(Number.POSITIVE_INFINITY);
    expect(circuit.isExpired(0)).toBe(true);
  });
});

it("expires after twice the longest open time without a failure", () => {
  const circuit = createFailedCircuitBreaker(3, 1_000);
  expect(circuit.isExpired(121_000)).toBe(false);
  expect(circuit.isExpired(121_001)).toBe(true);
});

it("stays closed when successes interrupt the failures", () => {
  const circuit = new CircuitBreaker(options);
  for (let now = 0; now < 10; now += 1) {
    circuit.recordFailure(now);
    circuit.recordFailure(now);
    circuit.recordSuccess();
  }
  expect(circuit.maxConcurrentAt(10)).toBe(Number.POSITIVE_INFINITY);
});
