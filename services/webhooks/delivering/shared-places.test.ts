import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Pace } from "./pace.ts";
import { SharedPlaces } from "./shared-places.ts";

const never = () => false;

describe("the places that all endpoints share", () => {
  it("are given as far as there are any", () => {
    const places = new SharedPlaces({ total: 100, perOrigin: 200 });
    const [a, b] = [places.open("a", never), places.open("b", never)];
    expect(a.take(60)).toBe(60);
    expect(b.take(30)).toBe(30);
    a.giveBack(10);
    expect(places.taken).toBe(80);
  });

  it("are never so taken that an endpoint does not get its fair share", () => {
    const places = new SharedPlaces({ total: 100, perOrigin: 200 });
    expect(places.open("a", never).take(100)).toBe(100);
    expect(places.open("b", never).take(100)).toBe(50);
    expect(places.open("c", never).take(100)).toBe(33);
    for (let other = 0; other < 200; other += 1) {
      expect(places.open(`other ${other}`, never).take(100)).toBeGreaterThanOrEqual(1);
    }
  });

  it("are left to others, once free, by who has more than its share", async () => {
    const places = new SharedPlaces({ total: 10, perOrigin: 20 });
    const greedy = places.open("a", never);
    expect(greedy.take(10)).toBe(10);
    const modest = places.open("b", () => modest.take(2) > 0);
    expect(modest.take(7)).toBe(5);
    greedy.giveBack(7);
    expect(greedy.take(7)).toBe(2);
    greedy.giveBack(2);
    await setImmediate();
    expect(places.taken).toBe(3 + 5 + 2);
  });

  it("are never all taken by one origin, which keeps some for those of its endpoints that have none", () => {
    const places = new SharedPlaces({ total: 100, perOrigin: 25 });
    expect(places.open("dead", never).take(100)).toBe(20);
    for (let endpoint = 0; endpoint < 50; endpoint += 1) places.open("dead", never).take(20);
    expect(places.taken).toBe(25);
    expect(places.open("other", never).take(20)).toBe(20);
  });

  it("are given, once free, to those of an origin first that have none", async () => {
    const places = new SharedPlaces({ total: 100, perOrigin: 10 });
    const called: string[] = [];
    const waiter = (name: string) => () => {
      called.push(name);
      return true;
    };
    const [busy, more, first] = [never, waiter("more"), waiter("first")].map((each) => places.open("a", each));
    expect(busy?.take(5)).toBe(5);
    expect(more?.take(5)).toBe(3);
    expect(first?.take(2)).toBe(1);
    first?.giveBack(1);
    for (const name of ["d", "e"]) expect(places.open("a", waiter(name)).take(1)).toBe(1);
    expect(first?.take(1)).toBe(0);
    busy?.giveBack(1);
    await setImmediate();
    expect(called.slice(0, 1)).toEqual(["first"]);
    busy?.giveBack(1);
    await setImmediate();
    expect(called.slice(1, 2)).toEqual(["more"]);
  });

  it("are offered to the next when one who waited needs them no more, or is closed", async () => {
    const places = new SharedPlaces({ total: 10, perOrigin: 10 });
    const busy = ["a", "a", "a"].map((origin) => places.open(origin, never));
    expect(busy.map((each) => each.take(8))).toEqual([8, 1, 1]);
    places.open("a", never).take(1);
    const closed = places.open("a", () => expect.unreachable());
    closed.take(1);
    closed.close();
    let isServed = false;
    const last = places.open("a", () => {
      isServed = last.take(1) === 1;
      return isServed;
    });
    last.take(1);
    busy[0]?.giveBack(1);
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
