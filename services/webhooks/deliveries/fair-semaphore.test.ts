import { expect, it } from "vitest";
import { FairWebhookEndpointSemaphore } from "./fair-semaphore.ts";

const asNewHolder = (requested: number) => ({ held: 0, requested });

it("grants permits while permits are available", () => {
  const semaphore = new FairWebhookEndpointSemaphore({ maxPermits: 100, maxPermitsPerOrigin: 200 });
  expect(semaphore.acquire("a", asNewHolder(60))).toBe(60);
  expect(semaphore.acquire("b", asNewHolder(30))).toBe(30);
  semaphore.release("a", { held: 50, released: 10 });
  expect(semaphore.activePermits).toBe(80);
});

it("always grants each endpoint its fair share", () => {
  const semaphore = new FairWebhookEndpointSemaphore({ maxPermits: 100, maxPermitsPerOrigin: 200 });
  expect(semaphore.acquire("a", asNewHolder(100))).toBe(100);
  expect(semaphore.acquire("b", asNewHolder(100))).toBe(50);
  expect(semaphore.acquire("c", asNewHolder(100))).toBe(33);
  for (let other = 0; other < 200; other += 1) {
    expect(semaphore.acquire(`other ${other}`, asNewHolder(100))).toBeGreaterThanOrEqual(1);
  }
});

it("grants an endpoint no more than its share until others release permits", () => {
  const semaphore = new FairWebhookEndpointSemaphore({ maxPermits: 10, maxPermitsPerOrigin: 20 });
  expect(semaphore.acquire("a", asNewHolder(10))).toBe(10);
  expect(semaphore.acquire("b", asNewHolder(7))).toBe(5);
  expect(semaphore.acquire("b", { held: 5, requested: 2 })).toBe(0);
  semaphore.release("a", { held: 3, released: 7 });
  expect(semaphore.acquire("b", { held: 5, requested: 7 })).toBe(2);
});

it("never grants one origin all permits, and reserves permits for the origin's endpoints that hold no permits", () => {
  const semaphore = new FairWebhookEndpointSemaphore({ maxPermits: 100, maxPermitsPerOrigin: 25 });
  expect(semaphore.acquire("slow", asNewHolder(100))).toBe(20);
  for (let endpoint = 0; endpoint < 50; endpoint += 1) semaphore.acquire("slow", asNewHolder(20));
  expect(semaphore.activePermits).toBe(25);
  expect(semaphore.acquire("other", asNewHolder(20))).toBe(20);
});
