import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Pace } from "./pace.ts";
import { SharedPlaces } from "./shared-places.ts";

const never = () => false;

describe("the places that all endpoints share", () => {
  it("are given as far as there are any", () => {
    const places = new SharedPlaces({ total: 100, perOrigin: 100 });
    expect(places.take("a", { wanted: 60, hasNone: true, waiter: never })).toBe(60);
    expect(places.take("b", { wanted: 60, hasNone: true, waiter: never })).toBe(40);
    places.giveBack("a", 10);
    expect(places.taken).toBe(90);
  });

  it("keep some for endpoints that have none", () => {
    const places = new SharedPlaces({ total: 100, perOrigin: 100 });
    expect(places.take("a", { wanted: 100, hasNone: false, waiter: never })).toBe(80);
    expect(places.take("b", { wanted: 20, hasNone: true, waiter: never })).toBe(20);
  });

  it("are never all taken by one origin", () => {
    const places = new SharedPlaces({ total: 100, perOrigin: 25 });
    for (let endpoint = 0; endpoint < 50; endpoint += 1) {
      places.take("dead", { wanted: 20, hasNone: true, waiter: never });
    }
    expect(places.taken).toBe(25);
    expect(places.take("other", { wanted: 20, hasNone: true, waiter: never })).toBe(20);
  });

  it("are given, once free, to those first that have none", async () => {
    const places = new SharedPlaces({ total: 10, perOrigin: 10 });
    places.take("a", { wanted: 10, hasNone: true, waiter: never });
    const called: string[] = [];
    const waiter = (name: string) => () => {
      called.push(name);
      return true;
    };
    places.take("b", { wanted: 1, hasNone: false, waiter: waiter("more") });
    places.take("c", { wanted: 1, hasNone: true, waiter: waiter("first") });
    places.giveBack("a", 1);
    await setImmediate();
    expect(called).toEqual(["first"]);
    places.giveBack("a", 1);
    await setImmediate();
    expect(called).toEqual(["first", "more"]);
  });

  it("are offered to the next when one who waited needs them no more", async () => {
    const places = new SharedPlaces({ total: 10, perOrigin: 10 });
    places.take("a", { wanted: 10, hasNone: true, waiter: never });
    let isServed = false;
    places.take("b", { wanted: 1, hasNone: true, waiter: never });
    places.take("c", {
      wanted: 1,
      hasNone: true,
      waiter: () => {
        isServed = true;
        return true;
      },
    });
    places.giveBack("a", 1);
    await setImmediate();
    expect(isServed).toBe(true);
  });
});

describe("the pace to an endpoint", () => {
  it("is so many a second, with as many at once after a quiet second", () => {
    const pace = new Pace(10);
    expect(pace.take(100, 0)).toBe(10);
    expect(pace.take(100, 0)).toBe(0);
    expect(pace.wait(0)).toBeCloseTo(100);
    expect(pace.take(100, 500)).toBe(5);
    expect(pace.take(100, 60_000)).toBe(10);
  });

  it("does not count what was not used", () => {
    const pace = new Pace(10);
    pace.take(10, 0);
    pace.giveBack(4);
    expect(pace.take(10, 0)).toBe(4);
  });
});
