import { expect, test } from "vitest";
import { compute } from "../testing/compute.ts";
import { makeOrder } from "../testing/make-till.ts";

const salle = { roomName: "Salle", roomType: "room", total: 1100, totalWithoutTax: 1000 } as const;

test("sums the orders that count by room, those with guests apart", () => {
  const orders = [{ ...salle, guestsCount: 2 }, salle, { ...salle, isCanceled: true, guestsCount: 9 }];
  expect(compute(orders.map((order) => makeOrder(order))).reportV2.reportRooms).toEqual([
    {
      name: "Salle",
      type: "room",
      orderCount: 2,
      guestCount: 2,
      total: 2200,
      totalExcludingTax: 2000,
      totalWithGuest: 1100,
    },
  ]);
});

test("rooms are the same by name and type, and null is a value", () => {
  const orders = [
    salle,
    { ...salle, roomType: "bar" as const },
    { ...salle, roomName: null },
    { ...salle, roomType: null },
    salle,
  ];
  const rooms = compute(orders.map((order) => makeOrder(order))).reportV2.reportRooms;
  expect(rooms.map(({ name, type, orderCount }) => [name, type, orderCount])).toEqual([
    ["Salle", "room", 2],
    ["Salle", "bar", 1],
    [null, "room", 1],
    ["Salle", null, 1],
  ]);
});

test("a room whose orders come to nothing is listed", () => {
  expect(compute([makeOrder({ ...salle, total: 0, totalWithoutTax: 0 })]).reportV2.reportRooms).toHaveLength(1);
});
