import { expect, it } from "vitest";
import { FairSemaphore } from "./fair-semaphore.ts";

const none = (wanted: number) => ({ held: 0, wanted });

it("gives places as far as there are any", () => {
  const semaphore = new FairSemaphore({ total: 100, perOrigin: 200 });
  expect(semaphore.acquire("a", none(60))).toBe(60);
  expect(semaphore.acquire("b", none(30))).toBe(30);
  semaphore.release("a", { held: 50, released: 10 });
  expect(semaphore.active).toBe(80);
});

it("always gives each endpoint its fair share", () => {
  const semaphore = new FairSemaphore({ total: 100, perOrigin: 200 });
  expect(semaphore.acquire("a", none(100))).toBe(100);
  expect(semaphore.acquire("b", none(100))).toBe(50);
  expect(semaphore.acquire("c", none(100))).toBe(33);
  for (let other = 0; other < 200; other += 1) {
    expect(semaphore.acquire(`other ${other}`, none(100))).toBeGreaterThanOrEqual(1);
  }
});

it("gives an endpoint no more than its share until others have released theirs", () => {
  const semaphore = new FairSemaphore({ total: 10, perOrigin: 20 });
  expect(semaphore.acquire("a", none(10))).toBe(10);
  expect(semaphore.acquire("b", none(7))).toBe(5);
  expect(semaphore.acquire("b", { held: 5, wanted: 2 })).toBe(0);
  semaphore.release("a", { held: 3, released: 7 });
  expect(semaphore.acquire("b", { held: 5, wanted: 7 })).toBe(2);
});

it("never gives one origin all places, and keeps some for those of its endpoints that have none", () => {
  const semaphore = new FairSemaphore({ total: 100, perOrigin: 25 });
  expect(semaphore.acquire("dead", none(100))).toBe(20);
  for (let endpoint = 0; endpoint < 50; endpoint += 1) semaphore.acquire("dead", none(20));
  expect(semaphore.active).toBe(25);
  expect(semaphore.acquire("other", none(20))).toBe(20);
});
